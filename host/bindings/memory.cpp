// Device memory as bytes. aivops.Buffer adds shape, type, numpy and DLPack on top.
#include "register.h"

#include "aivops/dispatch/buffer.h"
#include "dlpack.h"

#include <nanobind/ndarray.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/tuple.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

namespace {

using HostInput = nb::ndarray<nb::ro, nb::c_contig, nb::device::cpu>;
using HostOutput = nb::ndarray<nb::c_contig, nb::device::cpu>;

} // namespace

void register_memory(nb::module_& m) {
    nb::class_<Buffer>(m, "Memory", "Device memory, or a part of it.")
        .def(nb::init<const Device&, std::size_t>(), "device"_a, "nbytes"_a)
        .def(nb::init<const Buffer&>(), "memory"_a)
        .def_static(
            "at_address",
            [](const Device& device, std::uintptr_t pointer, std::size_t bytes, nb::object owner) {
                // The owner is dropped wherever the last copy goes, so the reference is given back under the GIL.
                std::shared_ptr<void> kept(owner.release().ptr(), [](void* object) {
                    const nb::gil_scoped_acquire gil;
                    if (gil.is_valid()) {
                        nb::handle(static_cast<PyObject*>(object)).dec_ref();
                    }
                });
                return Buffer::borrow(device, reinterpret_cast<void*>(pointer), bytes, std::move(kept));
            },
            "device"_a, "pointer"_a, "nbytes"_a, "owner"_a.none(), "Use memory of `owner`, which is kept alive.")
        .def_prop_ro("device", &Buffer::device)
        .def_prop_ro(
            "pointer", [](const Buffer& self) { return reinterpret_cast<std::uintptr_t>(self.pointer()); },
            "Address on the device.")
        .def_prop_ro("nbytes", &Buffer::bytes)
        .def("part", &Buffer::slice, "offset"_a, "nbytes"_a, "A range of the same memory.")
        .def(
            "read_host",
            [](const Buffer& self, const HostInput& source) {
                const void* data = source.data();
                const std::size_t bytes = source.nbytes();
                const nb::gil_scoped_release release;
                self.copy_from_host(data, bytes);
            },
            "source"_a, "Copy from a contiguous host array of the same number of bytes.")
        .def(
            "write_host",
            [](const Buffer& self, const HostOutput& destination) {
                void* data = destination.data();
                const std::size_t bytes = destination.nbytes();
                const nb::gil_scoped_release release;
                self.copy_to_host(data, bytes);
            },
            "destination"_a, "Copy to a contiguous host array of the same number of bytes.")
        .def(
            "read_device",
            [](const Buffer& self, const Buffer& source, const Stream* stream) {
                const nb::gil_scoped_release release;
                if (stream != nullptr) {
                    self.copy_from(source, *stream);
                } else {
                    self.copy_from(source);
                }
            },
            "source"_a, "stream"_a = nb::none(), "Copy from device memory of the same number of bytes.")
        .def("fill_bytes", &Buffer::fill, "value"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("make_dlpack", &make_dlpack, "shape"_a, "code"_a, "bits"_a, "versioned"_a,
             "A DLPack capsule of this memory; it does not synchronise any stream.");

    m.attr("DLPACK_DEVICE_TYPE") = kDlpackDeviceType;
    m.def("open_dlpack", &open_dlpack, "device"_a, "array"_a,
          "Memory, shape, type code and bits of a DLPack array that lives on `device`.");
    m.def("open_host_dlpack", &open_host_dlpack, "capsule"_a,
          "Bytes, shape, strides in elements, type code and bits of an array in host memory.");
}

} // namespace aivops::bindings
