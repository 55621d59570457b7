// Choosing and opening a toolkit. aivops._toolkit decides when.
#include "register.h"

#include "aivops/dispatch/toolkit.h"
#include "aivops/dispatch/toolkit_selection.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

void register_toolkit(nb::module_& m) {
    nb::class_<ToolkitSearch>(m, "ToolkitSearch", "Where to look for the emulated toolkit and for signs of an NPU.")
        .def(nb::init<>())
        .def_rw("emulated_root", &ToolkitSearch::emulated_root)
        .def_rw("device_nodes", &ToolkitSearch::device_nodes)
        .def_rw("standard_roots", &ToolkitSearch::standard_roots);

    nb::class_<ToolkitChoice>(m, "ToolkitChoice", "A toolkit's root and what decided for it, from `select_toolkit()`.")
        .def_ro("root", &ToolkitChoice::root)
        .def_ro("reason", &ToolkitChoice::reason);

    nb::class_<ToolkitInfo>(m, "ToolkitInfo", "What a toolkit says of itself on disk: `Toolkit.info`.")
        .def_ro("root", &ToolkitInfo::root)
        .def_ro("name", &ToolkitInfo::name)
        .def_ro("version", &ToolkitInfo::version)
        .def_ro("machine", &ToolkitInfo::machine);

    m.def("select_toolkit", &select_toolkit, "search"_a,
          "AIVOPS_TOOLKIT, else ASCEND_HOME_PATH, else the emulated toolkit.");
    m.def("read_toolkit_info", &read_toolkit_info, "root"_a);

    nb::class_<Toolkit>(m, "Toolkit",
                        "A toolkit in use by this process: `Toolkit.open()` and `Device.toolkit` give it.")
        .def_static("open", &Toolkit::open, "root"_a, nb::rv_policy::reference,
                    "Open the toolkit at `root`, or return it when it is open.")
        .def_prop_ro("root", [](const Toolkit& self) { return self.root(); })
        .def_prop_ro("name", [](const Toolkit& self) { return self.name(); })
        .def_prop_ro("version", [](const Toolkit& self) { return self.version(); })
        .def_prop_ro(
            "machine", [](const Toolkit& self) { return self.machine(); },
            "Machine of the binaries it runs: ascend, emulated-x86_64 or emulated-aarch64.")
        .def_prop_ro("library", [](const Toolkit& self) { return self.library(); })
        .def_prop_ro("device_count", &Toolkit::device_count)
        .def_prop_ro("soc_name", &Toolkit::soc_name)
        .def_prop_ro("architecture", &Toolkit::architecture, "Compiler architecture of its vector cores.")
        .def("__repr__", [](const Toolkit& self) { return "<aivops." + self.describe() + ">"; });

    m.def("open_selected_toolkit", &open_selected_toolkit, "search"_a, nb::rv_policy::reference,
          "Select and open; emulated devices that nobody asked for are announced on stderr once.");
}

} // namespace aivops::bindings
