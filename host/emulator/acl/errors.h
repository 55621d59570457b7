// How every ACL function here fails: a code, and a message that waits in the calling thread for aclGetRecentErrMsg.
#ifndef AIVOPS_EMULATOR_ACL_ERRORS_H
#define AIVOPS_EMULATOR_ACL_ERRORS_H

#include "acl/acl.h"

#include <string>

namespace aivops::acl {

/// Records the message and returns the code. Runtime codes also become the thread's last error.
aclError fail(const char* function, aclError code, const std::string& message);

/// The same, of a mistake that the checks look for: it goes into the process's report as well.
aclError fail_check(const char* function, aclError code, const char* category, const std::string& message);

/// Keeps a message for the calling thread.
void keep_message(const std::string& message);

/// A diagnostic of a call that succeeds all the same.
void note(const char* function, const std::string& message);

aclError null_argument(const char* function, const char* name);
aclError no_context(const char* function);
aclError bad_handle(const char* function, const char* what);
aclError not_provided(const char* function);

/// "107000 ACL_ERROR_RT_PARAM_INVALID" for the codes that the emulator returns.
std::string describe_code(aclError code);

/// The pending messages, newest first; NULL when there is none.
const char* take_messages();

aclError last_error(bool clear);

} // namespace aivops::acl

#endif // AIVOPS_EMULATOR_ACL_ERRORS_H
