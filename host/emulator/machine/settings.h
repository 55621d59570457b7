// What the emulator may be told from outside, read once from the environment and then never changed: at
// the first use of a device.
// The same table serves the reader, the error messages and the documentation.
#ifndef AIVOPS_MACHINE_SETTINGS_H
#define AIVOPS_MACHINE_SETTINGS_H

#include <cstdint>
#include <optional>
#include <span>
#include <string>

namespace aivops::machine {

enum class Check { kOff, kOn, kStrict };

struct Settings {
    std::string soc;
    uint32_t devices;
    uint64_t memory_bytes; // per device
    Check check;
    bool late; // pipes work late and everything takes turns, as the seed says or the sweep
    uint64_t seed;
    std::optional<uint64_t> sweep; // what is held back: a device, or an instruction behind the last device
    double timeout_interval_us;
    std::string trace;  // folder for timelines; empty = none
    std::string report; // folder for findings; empty = none
    std::string error;  // empty, or which variable holds what it must not; devices then refuse to start
};

struct Variable {
    const char* name;
    const char* default_value;
    const char* meaning;
};

/// The same, and from now on they stay.
Settings fix_settings();

/// The settings of this process, fixed when they are first asked for. Instructions ask, so that much is inlined.
inline const Settings& settings() {
    static const Settings instance = fix_settings();
    return instance;
}

/// For what may be asked before any device is used: as they are, and they may still change until they are fixed.
Settings settings_so_far();

/// Every AIVOPS_EMU_* variable, for the documentation.
std::span<const Variable> variables();

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_SETTINGS_H
