// Binaries, functions, launches and timeouts, with the kernels of conformance.asc.
#include "fact.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

static double seconds(void) {
    struct timespec now;
    clock_gettime(CLOCK_MONOTONIC, &now);
    return (double)now.tv_sec + (double)now.tv_nsec * 1e-9;
}

static void ask_about_files(void) {
    aclrtBinHandle binary;
    char garbage[256];
    memset(garbage, 0x3c, sizeof garbage);
    CODE("binary.file.null", "aclrtBinaryLoadFromFile(NULL)", 100000, aclrtBinaryLoadFromFile, NULL, NULL, NULL);
    CODE("binary.file.missing", "aclrtBinaryLoadFromFile of a file that is not there", 107000, aclrtBinaryLoadFromFile,
         "/no/such/file.o", NULL, &binary);
    CODE("binary.data.empty", "aclrtBinaryLoadFromData of 0 bytes", 107000, aclrtBinaryLoadFromData, garbage, 0, NULL,
         &binary);
    CODE("binary.data.garbage", "aclrtBinaryLoadFromData of something else", 107000, aclrtBinaryLoadFromData, garbage,
         sizeof garbage, NULL, &binary);
}

static void ask_about_attributes(aclrtFuncHandle function, aclrtStream stream) {
    uint64_t argument = 0;
    aclrtLaunchKernelAttr attributes[2];
    aclrtLaunchKernelCfg config = {attributes, 1};
    aclrtLaunchKernelCfg empty = {NULL, 0};
    memset(attributes, 0, sizeof attributes);
#define LAUNCH(id, what, expected, config)                                                                             \
    CODE(id, what, expected, aclrtLaunchKernelWithHostArgs, function, 1, stream, config, &argument, sizeof argument,   \
         NULL, 0)
    LAUNCH("launch.config.null_list", "a launch with no list of 0 attributes", 107000, &empty);
    attributes[0].id = (aclrtLaunchKernelAttrId)77;
    LAUNCH("launch.attribute.unknown", "a launch with attribute 77", 107000, &config);
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = 2;
    LAUNCH("launch.mode.2", "a launch with schedule mode 2", 107000, &config);
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = 0;
    attributes[1].value.schemMode = 1;
    config.numAttrs = 2;
    LAUNCH("launch.attribute.twice", "a launch with one attribute twice", 0, &config);
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attributes[0].value.timeout = 5;
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    LAUNCH("launch.timeout.both", "a launch with both kinds of timeout", 107000, &config);
#undef LAUNCH
    CALL(aclrtSynchronizeStream, stream);
}

static void ask_about_launches(aclrtFuncHandle function, aclrtStream stream) {
    uint64_t arguments[4] = {0, 0, 0, 0};
    aclrtPlaceHolderInfo outside = {sizeof arguments, 0};
    void* launch_arguments = arguments;
#define LAUNCH(id, what, expected, ...) CODE(id, what, expected, aclrtLaunchKernelWithHostArgs, __VA_ARGS__)
    LAUNCH("launch", "a launch", 0, function, 1, stream, NULL, arguments, 8, NULL, 0);
    LAUNCH("launch.function.null", "a launch of NULL", 100000, NULL, 1, stream, NULL, arguments, 8, NULL, 0);
    LAUNCH("launch.arguments.null", "a launch without arguments", 100000, function, 1, stream, NULL, NULL, 8, NULL, 0);
    LAUNCH("launch.arguments.empty", "a launch with 0 bytes of arguments", 107000, function, 1, stream, NULL, arguments,
           0, NULL, 0);
    LAUNCH("launch.blocks.0", "a launch of 0 blocks", 107000, function, 0, stream, NULL, arguments, 8, NULL, 0);
    LAUNCH("launch.placeholder.null", "a launch with one placeholder and no array", 107000, function, 1, stream, NULL,
           arguments, 8, NULL, 1);
    LAUNCH("launch.placeholder.outside", "a launch with a placeholder behind its arguments", 107000, function, 1,
           stream, NULL, arguments, sizeof arguments, &outside, 1);
#undef LAUNCH
    CODE("launch.array.blocks.0", "aclrtLaunchKernelWithArgsArray of 0 blocks", 100000, aclrtLaunchKernelWithArgsArray,
         function, 0, stream, NULL, &launch_arguments);
    CALL(aclrtSynchronizeStream, stream);
}

// A kernel that never ends, with a timeout of one unit.
static void ask_about_timeouts(aclrtBinHandle binary, aclrtStream stream) {
    aclrtFuncHandle function;
    uint64_t interval = 0;
    void* flag;
    aclrtLaunchKernelAttr attribute;
    aclrtLaunchKernelCfg config = {&attribute, 1};
    CALL(aclrtMalloc, &flag, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    CALL(aclrtMemset, flag, 64, 0, 64);
    CALL(aclrtBinaryGetFunction, binary, "conformance_endless", &function);
    CALL(aclrtGetOpTimeOutInterval, &interval);
    memset(&attribute, 0, sizeof attribute);
    attribute.id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    attribute.value.timeoutUs.timeoutLow = 1;
    CALL(aclrtLaunchKernelWithHostArgs, function, 1, stream, &config, &flag, sizeof flag, NULL, 0);
    CODE("sync.timeout", "aclrtSynchronizeStreamWithTimeout of a kernel that does not end", 507046,
         aclrtSynchronizeStreamWithTimeout, stream, 1);
    const double begin = seconds();
    CODE("timeout.code", "what the stream says when the kernel has run into its timeout", 507034,
         aclrtSynchronizeStream, stream);
    open_question("timeout.units", "hundredths of a unit that a timeout of 1 us took",
                  (long long)((seconds() - begin) * 1e8 / (double)interval));
    CODE("timeout.cleared", "aclrtSynchronizeStream after that", 0, aclrtSynchronizeStream, stream);
    CALL(aclrtFree, flag);
}

void ask_about_kernels(const char* path, const char* endless) {
    aclrtBinHandle binary = NULL;
    aclrtFuncHandle function = NULL, other = NULL;
    aclrtStream stream;
    char name[64] = {0};
    ask_about_files();
    if (path == NULL) {
        not_asked("launch", "kernels and launches",
                  "run with --kernels FILE.o, conformance.asc compiled for the device");
        return;
    }
    CALL(aclrtCreateStream, &stream);
    CODE("binary.file", "aclrtBinaryLoadFromFile", 0, aclrtBinaryLoadFromFile, path, NULL, &binary);
    CODE("function.null", "aclrtBinaryGetFunction into NULL", 100000, aclrtBinaryGetFunction, binary,
         "conformance_nothing", NULL);
    CODE("function.unknown", "aclrtBinaryGetFunction of a name that is not there", 107000, aclrtBinaryGetFunction,
         binary, "no_such_kernel", &function);
    CODE("function", "aclrtBinaryGetFunction", 0, aclrtBinaryGetFunction, binary, "conformance_nothing", &function);
    CODE("function.again", "aclrtBinaryGetFunction once more", 0, aclrtBinaryGetFunction, binary, "conformance_nothing",
         &other);
    fact("function.same", "1 when the handle is the same", 1, function == other);
    CODE("function.name.short", "aclrtGetFunctionName into 3 bytes", 107000, aclrtGetFunctionName, function, 3, name);
    CODE("function.name", "aclrtGetFunctionName", 0, aclrtGetFunctionName, function, sizeof name, name);
    fact("function.name.equal", "0 when it is the kernel's name", 0, strcmp(name, "conformance_nothing") != 0);
    ask_about_launches(function, stream);
    ask_about_attributes(function, stream);
    if (endless != NULL) {
        ask_about_timeouts(binary, stream);
    } else {
        not_asked("timeout", "timeouts", "run with --endless");
    }
    CODE("binary.unload", "aclrtBinaryUnLoad", 0, aclrtBinaryUnLoad, binary);
    CALL(aclrtDestroyStream, stream);
}
