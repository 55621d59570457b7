// aivops.Event.
#include "register.h"

#include "aivops/dispatch/event.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

void register_event(nb::module_& m) {
    nb::class_<Event>(m, "Event", "A point in a stream.")
        .def(nb::init<const Device&>(), "device"_a)
        .def_prop_ro("device", &Event::device)
        .def_prop_ro("handle", [](const Event& self) { return reinterpret_cast<std::uintptr_t>(self.handle()); })
        .def("query", &Event::query, "Whether the stream has come past it.")
        .def("synchronize", &Event::synchronize, "timeout"_a = nb::none(), nb::call_guard<nb::gil_scoped_release>(),
             "Wait until the stream has come past it.")
        .def("elapsed_since", &Event::elapsed_since, "start"_a, "Seconds from `start` to this event.")
        .def("__repr__",
             [](const Event& self) { return "<aivops.Event on device " + std::to_string(self.device().id()) + ">"; });
}

} // namespace aivops::bindings
