#include "errors.h"

#include "aivops/cann/error_names.h"
#include "machine/report_file.h"

#include <deque>

namespace aivops::acl {
namespace {

constexpr size_t kKeptMessages = 32;

struct ThreadErrors {
    std::deque<std::string> pending;
    std::string handed_out;
    aclError last = ACL_SUCCESS;
};

ThreadErrors& thread_errors() {
    thread_local ThreadErrors errors;
    return errors;
}

// ACL's own checks are not recorded as a last error, the runtime's are.
bool from_runtime(aclError code) {
    const int family = code / 1000;
    return family == 107 || family == 207 || family == 507;
}

} // namespace

void keep_message(const std::string& message) {
    ThreadErrors& errors = thread_errors();
    errors.pending.push_front(message);
    if (errors.pending.size() > kKeptMessages) {
        errors.pending.pop_back();
    }
}

std::string describe_code(aclError code) {
    return std::to_string(code) + " " + cann::error_name(code);
}

aclError fail(const char* function, aclError code, const std::string& message) {
    keep_message(std::string(function) + ": " + message + " [" + describe_code(code) + "]");
    if (from_runtime(code)) {
        thread_errors().last = code;
    }
    return code;
}

aclError fail_check(const char* function, aclError code, const char* category, const std::string& message) {
    machine::report_finding(machine::Severity::kError, {code, category, std::string(function) + ": " + message},
                            nullptr);
    return fail(function, code, message);
}

void note(const char* function, const std::string& message) {
    keep_message(std::string(function) + ": warning: " + message);
}

aclError null_argument(const char* function, const char* name) {
    return fail(function, ACL_ERROR_INVALID_PARAM, std::string(name) + " is NULL");
}

aclError no_context(const char* function) {
    return fail(function, ACL_ERROR_RT_CONTEXT_NULL,
                "this thread has no context; call aclrtSetDevice or aclrtSetCurrentContext in it first");
}

aclError bad_handle(const char* function, const char* what) {
    return fail(function, ACL_ERROR_RT_INVALID_HANDLE,
                std::string("the ") + what + " handle is none, or what it named was destroyed");
}

aclError not_provided(const char* function) {
    return fail(function, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "the emulated toolkit does not provide this function");
}

const char* take_messages() {
    ThreadErrors& errors = thread_errors();
    if (errors.pending.empty()) {
        return nullptr;
    }
    errors.handed_out.clear();
    for (const std::string& message : errors.pending) {
        errors.handed_out += (errors.handed_out.empty() ? "" : "\n") + message;
    }
    errors.pending.clear();
    return errors.handed_out.c_str();
}

aclError last_error(bool clear) {
    aclError code = thread_errors().last;
    if (clear) {
        thread_errors().last = ACL_SUCCESS;
    }
    return code;
}

} // namespace aivops::acl
