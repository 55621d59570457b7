// Turns a failed call of the runtime into an exception, with the runtime's own message copied before anything else can
// replace it.
#ifndef AIVOPS_DISPATCH_CHECK_H
#define AIVOPS_DISPATCH_CHECK_H

#include "aivops/cann/error_names.h"
#include "aivops/cann/function_table.h"
#include "aivops/error.h"

#include <algorithm>
#include <string>

namespace aivops {

namespace detail {

/// Codes of waits and kernels that ran out of time.
inline bool is_timeout(aclError code) {
    return code == ACL_ERROR_RT_STREAM_SYNC_TIMEOUT || code == ACL_ERROR_RT_EVENT_SYNC_TIMEOUT ||
           code == ACL_ERROR_RT_AICORE_TIMEOUT || code == ACL_ERROR_RT_VECTOR_CORE_TIMEOUT;
}

/// The runtime's message without the call at its begin and the code at its end, which the exception's text has already.
/// The first line is about this failure; others are about earlier ones.
inline std::string without_repetition(const std::string& message, const std::string& call, const std::string& code) {
    const std::size_t end = std::min(message.find('\n'), message.size());
    const std::string begin = call + ": ";
    const std::string tail = " [" + code + "]";
    std::string line = message.substr(0, end);
    if (line.compare(0, begin.size(), begin) == 0) {
        line.erase(0, begin.size());
    }
    if (line.size() >= tail.size() && line.compare(line.size() - tail.size(), tail.size(), tail) == 0) {
        line.erase(line.size() - tail.size());
    }
    return line + message.substr(end);
}

[[noreturn]] inline void throw_acl_error(const cann::FunctionTable& acl, aclError code, const char* call,
                                         const std::string& entity) {
    const char* pending = acl.aclGetRecentErrMsg();
    const std::string message = pending != nullptr ? pending : "";
    const std::string name = cann::error_name(code);
    const std::string failed = std::string(call) + " failed with " + std::to_string(code) + " (" + name + ")";
    const std::string said = without_repetition(message, call, std::to_string(code) + " " + name);
    std::string text = entity + ": " + failed + (said.empty() ? "" : ": " + said);
    if (code >= ACL_ERROR_RT_INTERNAL_ERROR && !said.empty()) {
        // What a kernel did comes first: test reports show the begin of a line.
        const std::size_t end = std::min(said.find('\n'), said.size());
        text = entity + ": " + said.substr(0, end) + "; " + failed + said.substr(end);
    }
    if (is_timeout(code)) {
        throw AclTimeoutError(text, code, name, message);
    }
    throw AclError(text, code, name, message);
}

} // namespace detail

/// `describe()` names the entity; it is called on failure only.
template <class Describe>
void check(const cann::FunctionTable& acl, aclError code, const char* call, Describe&& describe) {
    if (code != ACL_SUCCESS) {
        detail::throw_acl_error(acl, code, call, describe());
    }
}

} // namespace aivops

#endif // AIVOPS_DISPATCH_CHECK_H
