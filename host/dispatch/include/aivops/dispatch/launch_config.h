// How a launch runs: blocks, schedule, time limit; and the attributes that the runtime takes for it.
#ifndef AIVOPS_DISPATCH_LAUNCH_CONFIG_H
#define AIVOPS_DISPATCH_LAUNCH_CONFIG_H

#include "aivops/dispatch/stream.h"
#include "aivops/kernel_binary/counted.h"

#include <array>

namespace aivops {

enum class Schedule {
    kNormal, // blocks start as cores become free
    kBatch,  // all blocks start together, so they may wait for each other
};

struct LaunchConfig {
    /// 0: every vector core that the stream may use.
    std::uint32_t blocks = 0;
    Schedule schedule = Schedule::kBatch;
    /// Seconds; nothing = the smaller of 1800 s and the device's maximum, infinity = never.
    Timeout timeout = std::nullopt;
};

namespace detail {

/// The runtime keeps 16 bits of the block count and drops the rest without a word.
inline constexpr std::uint32_t kMaxBlocks = 65535;

/// A LaunchConfig checked against one stream, in the runtime's terms. Everything the runtime reads is set or zero.
class LaunchSettings {
  public:
    LaunchSettings(const Stream& stream, const LaunchConfig& config, const std::string& kernel)
        : blocks_(choose_blocks(stream, config, kernel)) {
        const std::uint64_t timeout_us = launch_timeout_us(config.timeout, stream.device().timeout_interval_us());
        attributes_[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
        attributes_[0].value.schemMode = config.schedule == Schedule::kBatch ? 1 : 0;
        attributes_[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
        attributes_[1].value.timeoutUs.timeoutLow = static_cast<std::uint32_t>(timeout_us);
        attributes_[1].value.timeoutUs.timeoutHigh = static_cast<std::uint32_t>(timeout_us >> 32);
        attributes_[2].id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE;
        attributes_[2].value.engineType = ACL_RT_ENGINE_TYPE_AIV;
    }

    std::uint32_t blocks() const { return blocks_; }
    /// Valid while this object stays where it is.
    aclrtLaunchKernelCfg config() { return {attributes_.data(), attributes_.size()}; }

  private:
    static std::uint32_t choose_blocks(const Stream& stream, const LaunchConfig& config, const std::string& kernel) {
        if (config.blocks > kMaxBlocks) {
            throw InvalidValueError("Kernel " + kernel + ": " + kernel_binary::counted(config.blocks, "block") +
                                    "; a launch takes at most " + std::to_string(kMaxBlocks));
        }
        if (config.blocks != 0 && config.schedule == Schedule::kNormal) {
            return config.blocks;
        }
        const std::uint32_t cores = stream.vector_cores();
        if (config.blocks > cores) {
            throw InvalidValueError(
                "Kernel " + kernel + ": " + kernel_binary::counted(config.blocks, "block") +
                " in batch mode, but its stream may use " + kernel_binary::counted(cores, "vector core") +
                ", so they could never start together; give at most " + kernel_binary::counted(cores, "block") +
                ", or the normal schedule if no block waits for another");
        }
        return config.blocks != 0 ? config.blocks : cores;
    }

    std::uint32_t blocks_;
    std::array<aclrtLaunchKernelAttr, 3> attributes_{};
};

} // namespace detail

} // namespace aivops

#endif // AIVOPS_DISPATCH_LAUNCH_CONFIG_H
