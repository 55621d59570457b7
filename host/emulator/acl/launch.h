// What every launching call comes to, whatever its family.
#ifndef AIVOPS_EMULATOR_ACL_LAUNCH_H
#define AIVOPS_EMULATOR_ACL_LAUNCH_H

#include "objects.h"

#include <cstddef>
#include <vector>

namespace aivops::acl {

struct LaunchAttributes {
    bool batch = false;
    int64_t timeout_ns = 0;
};

/// Reads and checks attributes; kernels' own settings and the process's are the defaults.
aclError read_attributes(const char* function, const machine::KernelInfo& kernel, const aclrtLaunchKernelCfg* cfg,
                         LaunchAttributes& attributes);

/// Submits. `arguments` are bytes to keep, or, with `device_arguments`, memory that is read when the kernel starts.
aclError launch(const char* function, const std::shared_ptr<FunctionObject>& kernel, uint32_t blocks,
                aclrtStream stream, const aclrtLaunchKernelCfg* cfg, std::vector<std::byte> arguments,
                const void* device_arguments = nullptr, size_t device_arguments_size = 0);

/// Tells the registered exception callbacks of a kernel that failed.
struct ExceptionInfo {
    uint32_t task = 0;
    uint32_t stream = 0;
    uint32_t thread = 0;
    uint32_t device = 0;
    aclError code = ACL_SUCCESS;
    std::vector<std::byte> arguments;
    aclrtFuncHandle function = nullptr;
    aclrtOpExceptionCallback binary_callback = nullptr;
    void* binary_callback_data = nullptr;
};
void report_exception(ExceptionInfo& info);

} // namespace aivops::acl

#endif // AIVOPS_EMULATOR_ACL_LAUNCH_H
