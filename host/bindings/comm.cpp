// Communicators of aivops; aivops._communicator wraps them for arrays.
#include "register.h"

#include "aivops/kernel_binary/counted.h"
#include "communicator.h"
#include "python_bootstrap.h"
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
    } catch (const PeerDiedError& error) {
        const nb::object type = error_type("PeerDiedError");
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
               std::string algorithm, uint32_t blocks, const Timeout& timeout, std::string type_name) {
                new (self) Collective{require_operator(operation),
                                      require_type(type),
                                      require_reduction(reduction),
                                      root,
                                      peer,
                                      count,
                                      std::move(counts),
                                      Wish{std::move(algorithm), blocks},
                                      timeout,
                                      std::move(type_name)};
            },
            "operation"_a, "type"_a, "count"_a, nb::kw_only(), "reduction"_a, "root"_a, "peer"_a, "counts"_a,
            "algorithm"_a, "blocks"_a, "timeout"_a.none(), "type_name"_a);

    nb::class_<Plan>(m, "Plan", "How a call runs: `Communicator.plan()` and `Communicator.last_plan` tell it.")
        .def_prop_ro(
            "algorithm", [](const Plan& self) { return self.algorithm->name; }, "E.g. \"two_shots\".")
        .def_ro("blocks", &Plan::blocks, "Vector cores that it takes on every rank.")
        .def("__repr__", [](const Plan& self) {
            return "<aivops.Plan " + self.algorithm->name + " on " + kernel_binary::counted(self.blocks, "block") + ">";
        });

    nb::class_<Communicator>(m, "Communicator", "One rank of a group.")
        .def(
            "__init__",
            [](Communicator* self, const Device& device, nb::object bootstrap, uint64_t window_bytes, uint32_t blocks,
               const Timeout& timeout, const KernelSet& kernels) {
                auto transport = std::make_shared<PythonBootstrap>(std::move(bootstrap));
                const nb::gil_scoped_release released;
                new (self) Communicator(device, std::move(transport), Terms{window_bytes, blocks, timeout}, kernels);
            },
            "device"_a, "bootstrap"_a, "window_bytes"_a, "blocks"_a, "timeout"_a.none(), "kernels"_a)
        .def_prop_ro("rank", &Communicator::rank)
        .def_prop_ro("size", &Communicator::size)
        .def_prop_ro("device", &Communicator::device)
        .def_prop_ro("stream", &Communicator::stream, "Where launches go that name no stream.")
        .def(
            "window", [](const Communicator& self, uint32_t rank) { return self.window().shared().of(rank); }, "rank"_a,
            "The window of a rank, as this rank's device reaches it.")
        .def(
            "run",
            [](Communicator& self, const Collective& call, std::uintptr_t input, std::uintptr_t output) {
                self.run(call, reinterpret_cast<const void*>(input), reinterpret_cast<void*>(output));
            },
            "call"_a, "input"_a, "output"_a, nb::call_guard<nb::gil_scoped_release>(),
            "Run a collective on arrays at host addresses and wait for it.")
        .def(
            "repeat",
            [](Communicator& self, const Collective& call, const Buffer& input, const Buffer& output) {
                self.run(call, input, output);
            },
            "call"_a, "input"_a, "output"_a, nb::call_guard<nb::gil_scoped_release>(),
            "Run a collective on arrays in device memory that are like those it was made for.")
        .def_prop_ro("last_plan", &Communicator::last_plan)
        .def("launch", &Communicator::launch, "call"_a, "input"_a, "output"_a, "stream"_a,
             nb::call_guard<nb::gil_scoped_release>(), "Queue a collective on arrays in device memory.")
        .def(
            "plan",
            [](const Communicator& self, const std::string& operation, const std::string& type, uint64_t bytes,
               bool registered, const std::string& algorithm, uint32_t blocks) {
                return self.plan(require_operator(operation), require_type(type), bytes, registered,
                                 Wish{algorithm, blocks});
            },
            "operation"_a, "type"_a, "bytes"_a, "registered"_a, "algorithm"_a, "blocks"_a)
        .def("allocate", &Communicator::allocate, "bytes"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("register_memory", &Communicator::register_memory, "buffer"_a, nb::call_guard<nb::gil_scoped_release>())
        .def("unregister_memory", &Communicator::unregister_memory, "buffer"_a,
             nb::call_guard<nb::gil_scoped_release>())
        .def(
            "launch_and_wait",
            [](Communicator& self, const Collective& call, const Buffer& input, const Buffer& output,
               const Stream& stream, const Timeout& timeout) {
                self.launch(call, input, output, stream);
                self.wait(stream, timeout);
            },
            "call"_a, "input"_a, "output"_a, "stream"_a, "timeout"_a.none(), nb::call_guard<nb::gil_scoped_release>(),
            "Both; ranks that are threads hand the GIL to each other once instead of twice.")
        .def("wait", &Communicator::wait, "stream"_a, "timeout"_a.none(), nb::call_guard<nb::gil_scoped_release>(),
             "Wait for what is queued and raise what failed.")
        .def("is_idle", &Communicator::is_idle, "Whether everything that was launched has been waited for.")
        .def("find_awaited", &Communicator::find_awaited, "peers"_a, nb::call_guard<nb::gil_scoped_release>(),
             "The first of `peers` that a kernel of this rank waits for at this moment.")
        .def("stop", &Communicator::stop, "reason"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Make every call of this rank fail, those that wait at once.")
        .def("abort", &Communicator::abort, "reason"_a, nb::call_guard<nb::gil_scoped_release>(),
             "Make every call of every rank fail, those that wait at once.")
        .def("recover", &Communicator::recover, nb::call_guard<nb::gil_scoped_release>(),
             "Make it usable again, if done on all ranks while none is in a call.")
        .def("close", &Communicator::close, nb::call_guard<nb::gil_scoped_release>(),
             "Give the windows back, together with all other ranks.");
}

} // namespace aivops::bindings
