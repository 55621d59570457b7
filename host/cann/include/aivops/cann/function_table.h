// The functions of the ACL runtime that AivOps calls, as pointers taken from a toolkit. Nothing links the runtime: the
// types come from the declarations, so a wrong call does not compile.
#ifndef AIVOPS_CANN_FUNCTION_TABLE_H
#define AIVOPS_CANN_FUNCTION_TABLE_H

#include "acl/acl.h"

// Without these no kernel can be launched.
#define AIVOPS_CANN_REQUIRED_FUNCTIONS(X)                                                                              \
    X(aclInit)                                                                                                         \
    X(aclGetRecentErrMsg)                                                                                              \
    X(aclrtGetSocName)                                                                                                 \
    X(aclrtGetDeviceCount)                                                                                             \
    X(aclrtSetDevice)                                                                                                  \
    X(aclrtResetDevice)                                                                                                \
    X(aclrtSetCurrentContext)                                                                                          \
    X(aclrtGetCurrentContext)                                                                                          \
    X(aclrtSynchronizeDeviceWithTimeout)                                                                               \
    X(aclrtGetDeviceInfo)                                                                                              \
    X(aclrtCreateStream)                                                                                               \
    X(aclrtDestroyStream)                                                                                              \
    X(aclrtSynchronizeStreamWithTimeout)                                                                               \
    X(aclrtStreamQuery)                                                                                                \
    X(aclrtStreamWaitEvent)                                                                                            \
    X(aclrtCreateEventExWithFlag)                                                                                      \
    X(aclrtDestroyEvent)                                                                                               \
    X(aclrtRecordEvent)                                                                                                \
    X(aclrtQueryEventStatus)                                                                                           \
    X(aclrtSynchronizeEventWithTimeout)                                                                                \
    X(aclrtEventElapsedTime)                                                                                           \
    X(aclrtMalloc)                                                                                                     \
    X(aclrtFree)                                                                                                       \
    X(aclrtMemcpy)                                                                                                     \
    X(aclrtMemcpyAsync)                                                                                                \
    X(aclrtMemset)                                                                                                     \
    X(aclrtMemsetAsync)                                                                                                \
    X(aclrtBinaryLoadFromData)                                                                                         \
    X(aclrtBinaryUnLoad)                                                                                               \
    X(aclrtBinaryGetFunction)                                                                                          \
    X(aclrtLaunchKernelWithHostArgs)                                                                                   \
    X(aclrtGetOpTimeOutInterval)                                                                                       \
    X(aclrtGetResInCurrentThread)                                                                                      \
    X(aclrtUseStreamResInCurrentThread)                                                                                \
    X(aclrtUnuseStreamResInCurrentThread)

// Asked for where they are needed; older toolkits lack some.
#define AIVOPS_CANN_OPTIONAL_FUNCTIONS(X)                                                                              \
    X(aclrtGetMemInfo)                                                                                                 \
    X(aclrtSetDeviceResLimit)                                                                                          \
    X(aclrtGetDeviceResLimit)                                                                                          \
    X(aclrtResetDeviceResLimit)                                                                                        \
    X(aclrtSetStreamResLimit)                                                                                          \
    X(aclrtGetStreamResLimit)                                                                                          \
    X(aclrtResetStreamResLimit)                                                                                        \
    X(aclrtDeviceCanAccessPeer)                                                                                        \
    X(aclrtDeviceEnablePeerAccess)                                                                                     \
    X(aclrtDeviceDisablePeerAccess)                                                                                    \
    X(aclrtDeviceGetBareTgid)                                                                                          \
    X(aclrtIpcMemGetExportKey)                                                                                         \
    X(aclrtIpcMemSetImportPid)                                                                                         \
    X(aclrtIpcMemImportByKey)                                                                                          \
    X(aclrtIpcMemClose)

namespace aivops::cann {

struct FunctionTable {
#define AIVOPS_CANN_MEMBER(name) decltype(&::name) name = nullptr;
    AIVOPS_CANN_REQUIRED_FUNCTIONS(AIVOPS_CANN_MEMBER)
    AIVOPS_CANN_OPTIONAL_FUNCTIONS(AIVOPS_CANN_MEMBER)
#undef AIVOPS_CANN_MEMBER
};

} // namespace aivops::cann

#endif // AIVOPS_CANN_FUNCTION_TABLE_H
