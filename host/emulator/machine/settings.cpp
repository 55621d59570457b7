#include "settings.h"

#include "soc.h"

#include <algorithm>
#include <atomic>
#include <cctype>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>
#include <string_view>
#include <unistd.h>

namespace aivops::machine {
namespace {

constexpr uint32_t kMaxDevices = 64;
constexpr uint64_t kHbmBytes = 64ull << 30;

constexpr Variable kVariables[] = {
    {"AIVOPS_EMU_SOC", "Ascend910B1", "the SoC that every device is; its name, cores, UB size and architecture"},
    {"AIVOPS_EMU_DEVICES", "8", "how many devices the process sees, 1 to 64"},
    {"AIVOPS_EMU_MEMORY", "half the machine's memory, divided by the devices",
     "bytes of memory of each device; a suffix K, M or G multiplies by 1024"},
    {"AIVOPS_EMU_CHECK", "on",
     "off: no checks; on: checks that cost little; late: these, while pipes work as late and blocks take turns as "
     "hardware may; strict: late, with races, flags and warnings as faults"},
    {"AIVOPS_EMU_SEED", "0", "seed of everything that late and strict choose"},
    {"AIVOPS_EMU_SCHEDULE", "seed",
     "seed: as the seed says; sweep:K: the Kth device, or behind the last device the next instruction, is held back as "
     "long as it may be"},
    {"AIVOPS_EMU_TIMEOUT_INTERVAL_US", "4294967.296",
     "microseconds of one unit of kernel timeouts, which last 1 to 254 units"},
    {"AIVOPS_EMU_TRACE", "none",
     "folder that each process writes the timeline of its devices to; `aivops trace` sets it"},
    {"AIVOPS_EMU_REPORT", "none",
     "folder that each process writes its findings to, as JSON lines; `aivops sanitize` sets it"},
    {"AIVOPS_EMU_CXX", "CXX, else c++, g++ or clang++", "host compiler behind the emulated ccec; read by that driver"},
};

const char* environment(const char* name) {
    const char* value = std::getenv(name);
    return value != nullptr && *value != '\0' ? value : nullptr;
}

// The memory that this process may count on: the machine's, or less where a control group says so.
uint64_t machine_memory() {
    uint64_t bytes = static_cast<uint64_t>(sysconf(_SC_PHYS_PAGES)) * static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    for (const char* path : {"/sys/fs/cgroup/memory.max", "/sys/fs/cgroup/memory/memory.limit_in_bytes"}) {
        uint64_t limit = 0;
        if (std::ifstream file(path); file >> limit && limit != 0) {
            bytes = std::min(bytes, limit);
        }
    }
    return bytes;
}

class Reader {
  public:
    explicit Reader(std::string& error) : error_(error) {}

    uint64_t integer(const char* name, uint64_t fallback, uint64_t low, uint64_t high, bool sizes = false) {
        const char* text = environment(name);
        if (text == nullptr) {
            return fallback;
        }
        errno = 0;
        char* end = nullptr;
        uint64_t value = std::strtoull(text, &end, 0);
        uint64_t factor = 1;
        if (sizes && *end != '\0') {
            const char* suffix = std::strchr("KMG", *end);
            if (suffix != nullptr) {
                factor = 1ull << (10 * (suffix - std::strchr("KMG", 'K') + 1));
                ++end;
            }
        }
        if (*end != '\0' || errno != 0 || *text == '-' || value > high / factor || value * factor < low) {
            complain(name, text,
                     "a whole number from " + std::to_string(low) + " to " + std::to_string(high) +
                         (sizes ? ", with or without one of K, M and G behind it" : ""));
            return fallback;
        }
        return value * factor;
    }

    double positive(const char* name, double fallback) {
        const char* text = environment(name);
        if (text == nullptr) {
            return fallback;
        }
        char* end = nullptr;
        double value = std::strtod(text, &end);
        if (*end != '\0' || !(value >= 1.0 && value <= 1e12)) {
            complain(name, text, "a number of microseconds, at least 1");
            return fallback;
        }
        return value;
    }

    // A name that is spelt wrong would change nothing, and nobody would know.
    void names() {
        constexpr std::string_view kPrefix = "AIVOPS_EMU_";
        for (char** entry = environ; entry != nullptr && *entry != nullptr; ++entry) {
            const std::string_view variable(*entry);
            const std::string_view name = variable.substr(0, variable.find('='));
            const auto is_it = [name](const Variable& known) { return name == known.name; };
            if (name.substr(0, kPrefix.size()) == kPrefix &&
                std::none_of(std::begin(kVariables), std::end(kVariables), is_it)) {
                std::string all;
                for (const Variable& known : kVariables) {
                    all += (all.empty() ? "" : ", ") + std::string(known.name);
                }
                error_ +=
                    (error_.empty() ? "" : "; ") + std::string(name) + ": there is no such variable; there are " + all;
            }
        }
    }

    void check(Settings& settings) {
        const char* text = environment("AIVOPS_EMU_CHECK");
        settings.check = Check::kOn;
        settings.late = false;
        if (text == nullptr || std::strcmp(text, "on") == 0) {
            return;
        }
        if (std::strcmp(text, "off") == 0) {
            settings.check = Check::kOff;
            return;
        }
        settings.late = true;
        if (std::strcmp(text, "late") == 0) {
            return;
        }
        settings.check = Check::kStrict;
        if (std::strcmp(text, "strict") != 0) {
            complain("AIVOPS_EMU_CHECK", text, "off, on, late or strict");
        }
    }

    std::optional<uint64_t> sweep() {
        constexpr const char* kPrefix = "sweep:";
        const char* text = environment("AIVOPS_EMU_SCHEDULE");
        if (text == nullptr || std::strcmp(text, "seed") == 0) {
            return std::nullopt;
        }
        if (std::strncmp(text, kPrefix, std::strlen(kPrefix)) == 0) {
            const char* number = text + std::strlen(kPrefix);
            errno = 0;
            char* end = nullptr;
            const uint64_t held = std::strtoull(number, &end, 10);
            if (std::isdigit(static_cast<unsigned char>(*number)) != 0 && *end == '\0' && errno == 0) {
                return held;
            }
        }
        complain("AIVOPS_EMU_SCHEDULE", text, "seed, or sweep:K with K from 0 on");
        return std::nullopt;
    }

    std::string soc() {
        const char* text = environment("AIVOPS_EMU_SOC");
        std::string name = text != nullptr ? text : "Ascend910B1";
        if (find_soc(name) == nullptr) {
            complain("AIVOPS_EMU_SOC", name.c_str(), "one of: " + soc_names());
            return "Ascend910B1";
        }
        return name;
    }

    std::string folder(const char* name) {
        const char* path = environment(name);
        if (path == nullptr) {
            return "";
        }
        std::error_code ignored;
        if (!std::filesystem::is_directory(path, ignored) || access(path, W_OK | X_OK) != 0) {
            complain(name, path, "a folder that exists and can be written to");
            return "";
        }
        return path;
    }

  private:
    void complain(const char* name, const char* found, const std::string& expected) {
        error_ += (error_.empty() ? "" : "; ") + std::string(name) + "='" + found + "': expected " + expected;
    }

    std::string& error_;
};

std::atomic<bool> fixed{false};

Settings read_settings() {
    Settings settings{};
    Reader reader(settings.error);
    reader.names();
    settings.soc = reader.soc();
    settings.devices = static_cast<uint32_t>(reader.integer("AIVOPS_EMU_DEVICES", 8, 1, kMaxDevices));
    uint64_t share = std::min(kHbmBytes, machine_memory() / 2 / settings.devices);
    settings.memory_bytes = reader.integer("AIVOPS_EMU_MEMORY", share, 1ull << 20, 1ull << 40, true);
    reader.check(settings);
    settings.seed = reader.integer("AIVOPS_EMU_SEED", 0, 0, UINT64_MAX);
    settings.sweep = reader.sweep();
    settings.timeout_interval_us = reader.positive("AIVOPS_EMU_TIMEOUT_INTERVAL_US", 4294967.296);
    settings.trace = reader.folder("AIVOPS_EMU_TRACE");
    settings.report = reader.folder("AIVOPS_EMU_REPORT");
    return settings;
}

} // namespace

Settings fix_settings() {
    fixed.store(true);
    return read_settings();
}

Settings settings_so_far() {
    return fixed.load() ? settings() : read_settings();
}

std::span<const Variable> variables() {
    return kVariables;
}

} // namespace aivops::machine
