/* The least that a launch can cost: a loop in C over the very function pointer that the host calls. */
#include "acl/acl.h"

#include <time.h>

typedef aclError (*Launch)(aclrtFuncHandle, uint32_t, aclrtStream, aclrtLaunchKernelCfg*, void*, size_t,
                           aclrtPlaceHolderInfo*, size_t);

/* Seconds of `calls` launches. */
double time_launches(Launch launch, long calls) {
    aclrtLaunchKernelAttr attributes[3] = {{0}};
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = 1;
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    attributes[1].value.timeoutUs.timeoutLow = 1000000;
    attributes[2].id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE;
    attributes[2].value.engineType = ACL_RT_ENGINE_TYPE_AIV;
    aclrtLaunchKernelCfg config = {attributes, 3};
    char block[16] = {0};
    struct timespec start, end;
    clock_gettime(CLOCK_MONOTONIC, &start);
    for (long i = 0; i < calls; ++i) {
        launch(block, 48, block, &config, block, sizeof block, NULL, 0);
    }
    clock_gettime(CLOCK_MONOTONIC, &end);
    return (double)(end.tv_sec - start.tv_sec) + (double)(end.tv_nsec - start.tv_nsec) / 1e9;
}
