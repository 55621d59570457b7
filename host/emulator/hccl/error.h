// How calls of this library fail: inside with an exception that carries code and message, outside with the code, and
// the message in aclGetRecentErrMsg.
#ifndef AIVOPS_EMULATOR_HCCL_ERROR_H
#define AIVOPS_EMULATOR_HCCL_ERROR_H

#include "hccl/hccl_types.h"

#include <stdexcept>
#include <string>

namespace aivops::hccl {

class Error : public std::runtime_error {
  public:
    Error(HcclResult code, const std::string& message) : std::runtime_error(message), code_(code) {}
    HcclResult code() const { return code_; }

  private:
    HcclResult code_;
};

const char* result_name(HcclResult code);

/// Reports "function: message [3 HCCL_E_MEMORY]" and returns the code.
HcclResult report(const char* function, HcclResult code, const std::string& message);

/// For functions that the emulated toolkit has in name only.
int not_provided(const char* function);

/// Reports the exception in flight.
HcclResult report_current(const char* function);

inline void require(bool condition, HcclResult code, const std::string& message) {
    if (!condition) {
        throw Error(code, message);
    }
}

inline void require_pointer(const void* pointer, const char* name) {
    require(pointer != nullptr, HCCL_E_PTR, std::string(name) + " is NULL");
}

/// What every function of the C interface is: `body`, with its exceptions turned into a result.
template <typename Body>
HcclResult guarded(const char* function, Body body) {
    try {
        body();
        return HCCL_SUCCESS;
    } catch (...) {
        return report_current(function);
    }
}

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_ERROR_H
