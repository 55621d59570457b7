// aivops.Binary and the kernel sets of packages.
#include "register.h"

#include "aivops/dispatch/kernel_set.h"

#include <nanobind/stl/filesystem.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

void register_binary(nb::module_& m) {
    nb::class_<Binary>(m, "Binary", "A kernel binary: read once, checked, and loaded from those very bytes.")
        .def(nb::init<const Binary&>(), "binary"_a)
        .def_static("load", &Binary::load, "toolkit"_a, "path"_a, "sha256"_a = "",
                    nb::call_guard<nb::gil_scoped_release>())
        .def_static(
            "from_bytes",
            [](const Toolkit& toolkit, const nb::bytes& image, const std::string& origin, const std::string& sha256) {
                return Binary::from_bytes(toolkit, std::string(image.c_str(), image.size()), origin, sha256);
            },
            "toolkit"_a, "image"_a, "origin"_a, "sha256"_a = "")
        .def_prop_ro("toolkit", &Binary::toolkit, nb::rv_policy::reference)
        .def_prop_ro("origin", &Binary::origin, "The path it came from.")
        .def_prop_ro("sha256", &Binary::sha256)
        .def_prop_ro("machine", &Binary::machine)
        .def_prop_ro("architecture", &Binary::architecture)
        .def_prop_ro("kernel_names", &Binary::kernel_names)
        .def("get_kernel", &Binary::get_kernel, "name"_a);

    nb::class_<KernelSet>(m, "KernelSet", "The kernels that a package ships, from `load_kernels()`.")
        .def_static("open", &KernelSet::open, "toolkit"_a, "folder"_a, nb::rv_policy::reference)
        .def_prop_ro("folder", [](const KernelSet& self) { return self.folder(); })
        .def_prop_ro("kernel_names", &KernelSet::kernel_names)
        .def("get_kernel", &KernelSet::get_kernel, "name"_a)
        .def("__repr__", [](const KernelSet& self) {
            return "<aivops.KernelSet of " + kernel_binary::counted(self.kernel_names().size(), "kernel") + " at " +
                   self.folder().string() + ">";
        });
}

} // namespace aivops::bindings
