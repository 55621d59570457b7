// aivops.LaunchConfig.
#include "register.h"

#include "aivops/dispatch/launch_config.h"

#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>

namespace nb = nanobind;
using namespace nb::literals;

namespace aivops::bindings {

namespace {

Schedule parse_schedule(const std::string& name) {
    if (name == "batch") {
        return Schedule::kBatch;
    }
    if (name == "normal") {
        return Schedule::kNormal;
    }
    throw InvalidValueError("LaunchConfig: schedule is \"" + name + "\"; give \"batch\" or \"normal\"");
}

std::string schedule_name(const LaunchConfig& config) {
    return config.schedule == Schedule::kBatch ? "batch" : "normal";
}

} // namespace

void register_launch(nb::module_& m) {
    nb::class_<LaunchConfig>(m, "LaunchConfig", "How a launch runs: blocks, schedule, time limit.")
        .def(
            "__init__",
            [](LaunchConfig* self, std::optional<std::int64_t> blocks, const std::string& schedule, Timeout timeout) {
                if (blocks && (*blocks < 1 || *blocks > detail::kMaxBlocks)) {
                    throw InvalidValueError("LaunchConfig: blocks is " + std::to_string(*blocks) + "; give 1 to " +
                                            std::to_string(detail::kMaxBlocks) + ", or None for every vector core");
                }
                if (timeout) {
                    detail::require_positive(*timeout);
                }
                new (self)
                    LaunchConfig{static_cast<std::uint32_t>(blocks.value_or(0)), parse_schedule(schedule), timeout};
            },
            nb::kw_only(), "blocks"_a = nb::none(), "schedule"_a = "batch", "timeout"_a = nb::none())
        .def_prop_ro(
            "blocks",
            [](const LaunchConfig& self) -> std::optional<std::uint32_t> {
                return self.blocks != 0 ? std::optional(self.blocks) : std::nullopt;
            },
            "None: every vector core that the stream may use.")
        .def_prop_ro("schedule", &schedule_name)
        .def_ro("timeout", &LaunchConfig::timeout,
                "Seconds, rounded up by the device; None: the smaller of 1800 and its maximum; inf: never.")
        .def("__repr__", [](const LaunchConfig& self) {
            const std::string timeout = self.timeout ? std::to_string(*self.timeout) : "None";
            return "LaunchConfig(blocks=" + (self.blocks != 0 ? std::to_string(self.blocks) : "None") + ", schedule='" +
                   schedule_name(self) + "', timeout=" + timeout + ")";
        });
}

} // namespace aivops::bindings
