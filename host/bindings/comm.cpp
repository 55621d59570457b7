// Groups and communicators of aivops; aivops._local_group and aivops._communicator wrap them for arrays.
#include "register.h"

#include "local_group.h"
#include "types.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

namespace {

nb::object error_type(const char* name) {
    return nb::module_::import_("aivops.errors").attr(name);
}

void translate(const std::exception_ptr& pointer, void*) {
    try {
        std::rethrow_exception(pointer);
    } catch (const PeerTimeoutError& error) {
        const nb::object type = error_type("PeerTimeoutError");
        const nb::object instance = type(error.what());
        instance.attr("rank") = error.rank;
        instance.attr("peer") = error.peer;
        instance.attr("block") = error.block;
        instance.attr("flag") = error.flag;
        instance.attr("expected") = error.expected;
        instance.attr("found") = error.found;
        PyErr_SetObject(type.ptr(), instance.ptr());
    } catch (const CallMismatchError& error) {
        const nb::object type = error_type("CallMismatchError");
        const nb::object instance = type(error.what());
        instance.attr("rank") = error.rank;
        instance.attr("peer") = error.peer;
        PyErr_SetObject(type.ptr(), instance.ptr());
    } catch (const PeerFailedError& error) {
        PyErr_SetString(error_type("PeerFailedError").ptr(), error.what());
    }
}

} // namespace

void register_comm(nb::module_& m) {
    nb::register_exception_translator(translate);

    nb::class_<Collective>(m, "Collective", "What a rank asks for.")
        .def(
            "__init__",
            [](Collective* self, const std::string& operation, const std::string& type, uint64_t count,
               const std::string& reduction, uint32_t root, uint32_t peer, std::vector<uint64_t> counts,
               std::string algorithm, const Timeout& timeout) {
                new (self) Collective{require_operator(operation),
                                      require_type(type),
                                      require_reduction(reduction),
                                      root,
                                      peer,
                                      count,
                                      std::move(counts),
                                      std::move(algorithm),
                                      timeout};
            },
            "operation"_a, "type"_a, "count"_a, nb::kw_only(), "reduction"_a, "root"_a, "peer"_a, "counts"_a,
            "algorithm"_a, "timeout"_a.none());

    nb::class_<Communicator>(m, "Communicator", "One rank of a group.")
        .def_prop_ro("rank", &Communicator::rank)
        .def_prop_ro("size", &Communicator::size)
        .def_prop_ro("device", &Communicator::device)
        .def_prop_ro("stream", &Communicator::stream, "Where launches go that name no stream.")
        .def_prop_ro("window", [](const Communicator& self) { return self.window().memory(); })
        .def(
            "run",
            [](Communicator& self, const Collective& call, std::uintptr_t input, std::uintptr_t output) {
                self.run(call, reinterpret_cast<const void*>(input), reinterpret_cast<void*>(output));
            },
            "call"_a, "input"_a, "output"_a, nb::call_guard<nb::gil_scoped_release>(),
            "Run a collective on arrays at host addresses and wait for it.")
        .def("launch", &Communicator::launch, "call"_a, "input"_a, "output"_a, "stream"_a,
             nb::call_guard<nb::gil_scoped_release>(), "Queue a collective on arrays in device memory.")
        .def("wait", &Communicator::wait, "stream"_a, "timeout"_a.none(), nb::call_guard<nb::gil_scoped_release>(),
             "Wait for what is queued and raise what failed.");

    nb::class_<LocalGroup>(m, "LocalGroup", "Ranks of this process, one per device.")
        .def(nb::init<const std::vector<Device>&, uint64_t, uint32_t, const Timeout&, const KernelSet&>(), "devices"_a,
             "window_bytes"_a, "blocks"_a, "timeout"_a, "kernels"_a)
        .def("communicator", &LocalGroup::communicator, "rank"_a, nb::rv_policy::reference_internal)
        .def("abort", &LocalGroup::abort, "reason"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Make every call of every rank fail, those that wait at once.")
        .def("recover", &LocalGroup::recover, nb::call_guard<nb::gil_scoped_release>(),
             "Make an aborted group usable again; no rank may be in a call.");
}

} // namespace aivops::bindings
