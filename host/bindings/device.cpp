// aivops.Device.
#include "misuse.h"
#include "register.h"

#include "aivops/dispatch/device.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/pair.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

namespace {

/// The toolkit that this process uses when a caller names none.
const Toolkit& current_toolkit() {
    return nb::cast<const Toolkit&>(nb::module_::import_("aivops._toolkit").attr("current")());
}

} // namespace

void register_device(nb::module_& m) {
    nb::class_<Device>(m, "Device", "One device of a toolkit.")
        .def(
            "__init__",
            [](Device* self, std::int32_t id, const Toolkit* toolkit) {
                new (self) Device(toolkit != nullptr ? *toolkit : current_toolkit(), id);
            },
            "id"_a = 0, nb::kw_only(), "toolkit"_a = nb::none())
        .def_prop_ro("id", &Device::id)
        .def_prop_ro("toolkit", &Device::toolkit, nb::rv_policy::reference)
        .def_prop_ro("soc_name", &Device::soc_name)
        .def_prop_ro("architecture", &Device::architecture, "Compiler architecture of the vector cores.")
        .def_prop_ro("vector_cores", &Device::vector_cores, "Vector cores of the hardware.")
        .def_prop_rw(
            "vector_core_limit", &Device::vector_core_limit,
            [](const Device& self, nb::handle count) {
                self.set_vector_core_limit(require_count("Device: vector_core_limit", count));
            },
            nb::for_setter("count"_a.none()),
            nb::for_setter(nb::sig("def vector_core_limit(self, count: int, /) -> None")),
            "Vector cores that launches of this process may use.")
        .def("reset_vector_core_limit", &Device::reset_vector_core_limit)
        .def_prop_ro("memory", &Device::memory, "Free and total bytes of device memory.")
        .def_prop_ro("max_timeout", &Device::max_timeout, "Longest time limit of a kernel, in seconds.")
        .def("effective_timeout", &Device::effective_timeout, "timeout"_a = nb::none(),
             "Seconds that a launch with this time limit gets: rounded up to the device's units, 4.29 s as a rule.")
        .def("synchronize", &Device::synchronize, "timeout"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
             "Wait for everything on this device and raise what failed.")
        .def(
            "__eq__",
            [](const Device& self, nb::handle other) {
                return nb::isinstance<Device>(other) && self == nb::cast<const Device&>(other);
            },
            "other"_a.none())
        .def("__hash__", [](const Device& self) { return reinterpret_cast<std::uintptr_t>(self.context()) >> 4; })
        .def("__repr__", [](const Device& self) {
            return "<aivops.Device " + std::to_string(self.id()) + ": " + self.soc_name() + ", " +
                   self.toolkit().name() + ">";
        });
}

} // namespace aivops::bindings
