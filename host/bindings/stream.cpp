// aivops.Stream.
#include "misuse.h"
#include "register.h"

#include "aivops/dispatch/stream.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

void register_stream(nb::module_& m) {
    nb::class_<Stream>(m, "Stream", "A queue of work on one device.")
        .def(nb::init<const Device&>(), "device"_a)
        .def_static(
            "borrow",
            [](const Device& device, std::uintptr_t handle) {
                return Stream::borrow(device, reinterpret_cast<aclrtStream>(handle));
            },
            "device"_a, "handle"_a, "Use a stream that someone else owns; 0 is the device's default stream.")
        .def_prop_ro("device", &Stream::device)
        .def_prop_ro(
            "handle", [](const Stream& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); },
            "The aclrtStream, as a number.")
        .def("synchronize", &Stream::synchronize, "timeout"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
             "Wait for everything queued so far and raise what failed.")
        .def("query", &Stream::query, "True when everything queued so far is done.")
        .def("record", &Stream::record, "event"_a)
        .def("wait", &Stream::wait, "event"_a, "What is queued from here on starts after `event`.")
        .def_prop_rw(
            "vector_cores", &Stream::vector_cores,
            [](Stream& self, nb::handle count) {
                self.set_vector_core_limit(require_count("Stream: vector_cores", count));
            },
            nb::for_setter("count"_a.none()), nb::for_setter(nb::sig("def vector_cores(self, count: int, /) -> None")),
            "Vector cores that a launch may use; set to limit them for this stream.")
        .def("reset_vector_core_limit", &Stream::reset_vector_core_limit)
        .def("__repr__", [](const Stream& self) { return "<aivops." + self.describe() + ">"; });
}

} // namespace aivops::bindings
