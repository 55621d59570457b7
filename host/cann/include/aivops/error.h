// Exceptions of the host API, all under aivops::Error. A message begins with the entity, says what failed and what was
// expected and found, and ends with what to do.
#ifndef AIVOPS_ERROR_H
#define AIVOPS_ERROR_H

#include <stdexcept>
#include <string>
#include <utility>

namespace aivops {

class Error : public std::runtime_error {
  public:
    using std::runtime_error::runtime_error;
};

/// A toolkit that is missing, incomplete, without devices, or not the one this process already uses.
class ToolkitError : public Error {
  public:
    using Error::Error;
};

/// A kernel binary or manifest that cannot be used: damaged, changed, for another machine or architecture.
class BinaryError : public Error {
  public:
    using Error::Error;
};

/// An argument of the right type with a value that cannot be used.
class InvalidValueError : public Error {
  public:
    using Error::Error;
};

/// An argument of a kind that does not fit the parameter.
class InvalidTypeError : public Error {
  public:
    using Error::Error;
};

/// A device object used in a process forked after the runtime started.
class ForkError : public Error {
  public:
    using Error::Error;
};

/// A call of the runtime that failed.
class AclError : public Error {
  public:
    AclError(const std::string& text, int code, std::string name, std::string runtime_message)
        : Error(text), code_(code), name_(std::move(name)), runtime_message_(std::move(runtime_message)) {}

    int code() const { return code_; }
    /// As the headers of ACL spell it, e.g. ACL_ERROR_RT_PARAM_INVALID.
    const std::string& name() const { return name_; }
    /// What aclGetRecentErrMsg said right after the failure; may be empty.
    const std::string& runtime_message() const { return runtime_message_; }

  private:
    int code_;
    std::string name_;
    std::string runtime_message_;
};

/// A wait or a kernel that ran out of time.
class AclTimeoutError : public AclError {
  public:
    using AclError::AclError;
};

} // namespace aivops

#endif // AIVOPS_ERROR_H
