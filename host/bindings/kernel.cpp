// aivops.Kernel and aivops.PreparedLaunch. Queueing holds the GIL, which is cheaper than giving it up, unless the
// stream is so full that the call may have to wait.
#include "register.h"

#include "aivops/dispatch/prepared_launch.h"
#include "arguments.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <optional>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

namespace {

const LaunchConfig& config_or_default(const LaunchConfig* config) {
    static const LaunchConfig kDefault;
    return config != nullptr ? *config : kDefault;
}

/// Gives up the GIL while `queue` runs if the stream may be full.
template <class Queue>
void queue_on(const Stream& stream, Queue&& queue) {
    std::optional<nb::gil_scoped_release> release;
    if (stream.may_block()) {
        release.emplace();
    }
    queue();
}

/// A PreparedLaunch that refuses to be used by two threads at once, which only a full stream makes possible.
class SharedLaunch {
  public:
    explicit SharedLaunch(PreparedLaunch launch) : launch_(std::move(launch)) {}

    PreparedLaunch& get() {
        if (busy_) {
            throw InvalidValueError("PreparedLaunch of kernel " + launch_.kernel().name() +
                                    ": another thread is launching it; prepare one per thread");
        }
        return launch_;
    }

    void launch() {
        PreparedLaunch& launch = get();
        if (!launch.stream().may_block()) {
            launch.launch();
            return;
        }
        const Busy busy(busy_); // ends after the GIL is back
        const nb::gil_scoped_release release;
        launch.launch();
    }

  private:
    struct Busy {
        explicit Busy(bool& flag) : flag(flag) { flag = true; }
        ~Busy() { flag = false; }
        bool& flag;
    };

    PreparedLaunch launch_;
    bool busy_ = false; // guarded by the GIL
};

void launch_kernel(const Kernel& kernel, const Stream& stream, const nb::args& arguments, const LaunchConfig* config) {
    PackedArguments packed = pack_python_arguments(kernel, arguments);
    queue_on(stream, [&] {
        kernel.launch_block(stream, config_or_default(config), packed.block.data(), packed.block.bytes());
    });
    retain_buffers(stream, packed.buffers);
}

SharedLaunch prepare_launch(const Kernel& kernel, const Stream& stream, const nb::args& arguments,
                            const LaunchConfig* config) {
    PackedArguments packed = pack_python_arguments(kernel, arguments);
    return SharedLaunch(
        PreparedLaunch(kernel, stream, config_or_default(config), std::move(packed.block), std::move(packed.buffers)));
}

void set_argument(SharedLaunch& self, const nb::object& which, nb::handle value) {
    PreparedLaunch& launch = self.get();
    const std::size_t index = find_parameter(launch.kernel(), which);
    write_python_argument(launch, index, value);
}

void call_prepared(SharedLaunch& self, const nb::args& arguments) {
    if (arguments.size() != 0) {
        write_python_arguments(self.get(), arguments);
    }
    self.launch();
}

} // namespace

void register_kernel(nb::module_& m) {
    nb::class_<Parameter>(m, "Parameter", "One parameter of a kernel, as `Kernel.parameters` lists them.")
        .def_ro("name", &Parameter::name, "Empty when the source does not name it.")
        .def_ro("offset", &Parameter::offset)
        .def_ro("size", &Parameter::bytes)
        .def_prop_ro(
            "kind", [](const Parameter& self) { return std::string(kind_name(self.kind)); },
            "struct, pointer, int, uint, float, bool, half or bfloat16.")
        .def("__repr__", [](const Parameter& self) {
            return "Parameter(name='" + self.name + "', offset=" + std::to_string(self.offset) +
                   ", size=" + std::to_string(self.bytes) + ", kind='" + std::string(kind_name(self.kind)) + "')";
        });

    nb::class_<SharedLaunch>(m, "PreparedLaunch",
                             "A launch made ready once by `Kernel.prepare()` and queued many times.")
        .def("__call__", &call_prepared, nb::sig("def __call__(self, *args: object) -> None"),
             "Queue it. Arguments, when given, replace all of the prepared ones.")
        .def("__setitem__", &set_argument, "parameter"_a, "value"_a.none(), "Replace one argument, by index or name.")
        .def_prop_ro("blocks", [](SharedLaunch& self) { return self.get().blocks(); })
        .def_prop_ro("kernel", [](SharedLaunch& self) { return self.get().kernel(); })
        .def_prop_ro("stream", [](SharedLaunch& self) { return self.get().stream(); })
        .def("__repr__", [](SharedLaunch& self) {
            return "<aivops.PreparedLaunch of " + self.get().kernel().name() + " on " +
                   kernel_binary::counted(self.get().blocks(), "block") + ">";
        });

    nb::class_<Kernel>(m, "Kernel",
                       "A kernel of a binary, from `Binary.get_kernel()` or `load_kernels(package).get_kernel()`.")
        .def_prop_ro("name", &Kernel::name)
        .def_prop_ro("type", &Kernel::type, "K_TYPE_AIV, ...; empty when the binary does not say.")
        .def_prop_ro(
            "parameters",
            [](const Kernel& self) -> std::optional<std::vector<Parameter>> {
                return self.layout() ? std::optional(self.layout()->parameters) : std::nullopt;
            },
            "None when the binary does not describe them.")
        .def_prop_ro(
            "args_size",
            [](const Kernel& self) -> std::optional<std::size_t> {
                return self.layout() ? std::optional(self.layout()->bytes) : std::nullopt;
            },
            "Bytes of the argument block; None when the binary does not describe it.")
        .def_prop_ro("origin", &Kernel::origin, "The binary's path.")
        .def("launch", &launch_kernel, "stream"_a, "args"_a, "config"_a = nb::none(),
             nb::sig("def launch(self, stream: Stream, *args: object, config: LaunchConfig | None = None) -> None"),
             "Queue one launch. Everything is checked before anything is queued.")
        .def("prepare", &prepare_launch, "stream"_a, "args"_a, "config"_a = nb::none(),
             nb::sig("def prepare(self, stream: Stream, *args: object, config: LaunchConfig | None = None) -> "
                     "PreparedLaunch"),
             "Make a launch ready to be queued many times.")
        .def("__repr__",
             [](const Kernel& self) { return "<aivops.Kernel " + self.name() + " of " + self.origin() + ">"; });
}

} // namespace aivops::bindings
