#include "environment.h"

#include "error.h"
#include "hccl/hccl_comm.h"

#include <cstdlib>
#include <cstring>
#include <string>

namespace aivops::hccl {
namespace {

constexpr uint32_t kConnectExtraSeconds = 20;

const char* variable(const char* name) {
    const char* text = std::getenv(name);
    return text != nullptr && *text != '\0' ? text : nullptr;
}

uint32_t number(const char* name, uint32_t fallback, uint32_t low, uint32_t high) {
    const char* text = variable(name);
    if (text == nullptr) {
        return fallback;
    }
    char* end = nullptr;
    const unsigned long long value = std::strtoull(text, &end, 10);
    require(*end == '\0' && *text != '-' && value >= low && value <= high, HCCL_E_PARA,
            std::string(name) + "='" + text + "': expected a whole number from " + std::to_string(low) + " to " +
                std::to_string(high));
    return static_cast<uint32_t>(value);
}

} // namespace

uint32_t buffer_megabytes() {
    return number("HCCL_BUFFSIZE", 200, 1, UINT32_MAX);
}

uint32_t connect_seconds() {
    return number("HCCL_CONNECT_TIMEOUT", 120, 120, 7200) + kConnectExtraSeconds;
}

uint32_t execution_seconds() {
    return number("HCCL_EXEC_TIMEOUT", 1836, 0, INT32_MAX);
}

int32_t expansion_mode() {
    const char* text = variable("HCCL_OP_EXPANSION_MODE");
    if (text == nullptr) {
        return HCCL_OP_EXPANSION_MODE_HOST;
    }
    if (std::strcmp(text, "AIV") == 0) {
        return HCCL_OP_EXPANSION_MODE_AIV;
    }
    if (std::strcmp(text, "AI_CPU") == 0) {
        return HCCL_OP_EXPANSION_MODE_AI_CPU;
    }
    if (std::strcmp(text, "HOST_TS") == 0) {
        return HCCL_OP_EXPANSION_MODE_HOST_TS;
    }
    return HCCL_OP_EXPANSION_MODE_HOST; // also for values that A2 does not know
}

} // namespace aivops::hccl
