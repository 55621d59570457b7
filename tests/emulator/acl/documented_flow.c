// A host program in the order that the documentation of the runtime gives: initialise, set a device, make a stream,
// load a binary, get a function, launch, unload, destroy, reset, finalise; with what can be asked on the way. usage:
// documented_flow KERNELS.o Ends at the first call that fails or tells something else, and names it.
#include <acl/acl.h>
#include <acl/acl_rt.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define BYTES 64

static void must(int holds, const char* what, int line) {
    if (!holds) {
        const char* message = aclGetRecentErrMsg();
        printf("line %d: %s: %s\n", line, what, message != NULL ? message : "");
        exit(1);
    }
}

#define OK(call) must((call) == ACL_SUCCESS, #call, __LINE__)
#define THAT(condition) must((condition), #condition, __LINE__)

static int hooks;

static aclError on_init(const char* config, size_t length, void* counter) {
    THAT(config != NULL && length == 0);
    ++*(int*)counter;
    return ACL_SUCCESS;
}

static aclError on_finalize(void* counter) {
    *(int*)counter += 10;
    return ACL_SUCCESS;
}

static void initialise(void) {
    aclrtRunMode mode = ACL_DEVICE;
    int32_t major = 0, minor = 0, patch = 0;
    OK(aclInitCallbackRegister(ACL_REG_TYPE_OTHER, on_init, &hooks));
    OK(aclFinalizeCallbackRegister(ACL_REG_TYPE_OTHER, on_finalize, &hooks));
    OK(aclInit(NULL));
    THAT(hooks == 1);
    OK(aclInitCallbackUnRegister(ACL_REG_TYPE_OTHER, on_init));
    OK(aclrtGetRunMode(&mode));
    THAT(mode == ACL_HOST);
    OK(aclrtGetVersion(&major, &minor, &patch));
    THAT(major == ACL_MAJOR_VERSION && minor == ACL_MINOR_VERSION && patch == ACL_PATCH_VERSION);
}

static void set_device(void) {
    uint32_t count = 0, flags = 1;
    int32_t device = -1, active = -1, number = -1, compatible = 0, supported = 0;
    int64_t cores = 0, architecture = 0, capability = 0;
    uint64_t topology = 0;
    aclrtDeviceStatus status = ACL_RT_DEVICE_STATUS_END;
    OK(aclrtGetDeviceCount(&count));
    THAT(count == 8);
    OK(aclrtGetPrimaryCtxState(0, &flags, &active));
    THAT(active == 0);
    OK(aclrtSetDevice(0));
    OK(aclrtGetDevice(&device));
    THAT(device == 0);
    OK(aclrtGetPrimaryCtxState(0, &flags, &active));
    THAT(active == 1 && flags == 0);
    THAT(strcmp(aclrtGetSocName(), "Ascend910B1") == 0);
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_VECTOR_CORE_NUM, &cores));
    OK(aclrtGetDeviceInfo(0, ACL_DEV_ATTR_NPU_ARCH, &architecture));
    OK(aclGetDeviceCapability(0, ACL_DEVICE_INFO_VECTOR_CORE_NUM, &capability));
    THAT(cores == 48 && capability == 48 && architecture == 2201);
    OK(aclrtGetDeviceCapability(0, ACL_FEATURE_SYSTEM_MEMQ_EVENT_CROSS_DEV, &supported));
    THAT(supported == ACL_DEV_FEATURE_NOT_SUPPORT);
    OK(aclrtQueryDeviceStatus(0, &status));
    THAT(status == ACL_RT_DEVICE_STATUS_NORMAL);
    OK(aclrtCheckArchCompatibility("Ascend910B3", &compatible));
    THAT(compatible == 1);
    OK(aclrtCheckArchCompatibility("Ascend950PR_9599", &compatible));
    THAT(compatible == 0);
    OK(aclrtGetDevicesTopo(0, 1, &topology));
    THAT(topology == ACL_RT_DEVS_TOPOLOGY_HCCS);
    OK(aclrtGetUserDevIdByLogicDevId(3, &number));
    OK(aclrtGetLogicDevIdByUserDevId(number, &number));
    OK(aclrtGetPhyDevIdByLogicDevId(number, &number));
    OK(aclrtGetLogicDevIdByPhyDevId(number, &number));
    OK(aclrtGetPhyDevIdByUserDevId(number, &number));
    OK(aclrtGetUserDevIdByPhyDevId(number, &number));
    THAT(number == 3);
}

static aclrtStream make_stream(void) {
    aclrtStream stream = NULL, of_context = NULL;
    uint32_t priority = 9, flags = 9, before = 0, after = 0;
    int32_t id = -1;
    aclrtStreamAttrValue value;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    OK(aclrtGetStreamAvailableNum(&before));
    OK(aclrtCreateStreamWithConfig(&stream, 3, ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtGetStreamAvailableNum(&after));
    THAT(before == 1983 && after == 1982); // of 1984; the default stream is one
    OK(aclrtStreamGetId(stream, &id));
    OK(aclrtStreamGetPriority(stream, &priority));
    OK(aclrtStreamGetFlags(stream, &flags));
    THAT(id >= 0 && priority == 3 && flags == (ACL_STREAM_FAST_LAUNCH | ACL_STREAM_FAST_SYNC));
    OK(aclrtGetStreamAttribute(stream, ACL_STREAM_ATTR_FAILURE_MODE, &value));
    THAT(value.failureMode == ACL_CONTINUE_ON_FAILURE);
    value.streamPriority = 5;
    OK(aclrtSetStreamAttribute(stream, ACL_STREAM_ATTR_PRIORITY, &value));
    OK(aclrtStreamGetPriority(stream, &priority));
    THAT(priority == 5);
    OK(aclrtCtxGetCurrentDefaultStream(&of_context));
    THAT(of_context != NULL && of_context != stream);
    OK(aclrtStreamQuery(stream, &status));
    THAT(status == ACL_STREAM_STATUS_COMPLETE);
    return stream;
}

static aclrtFuncHandle get_function(aclrtBinHandle binary, const char* name) {
    aclrtFuncHandle function = NULL;
    aclrtBinHandle of_function = NULL;
    char found[64] = "";
    void *cube = NULL, *vector = NULL;
    size_t cube_size = 1, vector_size = 0;
    int64_t type = -1, schedule = -1;
    OK(aclrtBinaryGetFunction(binary, name, &function));
    OK(aclrtGetFunctionName(function, sizeof found, found));
    THAT(strcmp(found, name) == 0);
    OK(aclrtFunctionGetBinary(function, &of_function));
    THAT(of_function == binary);
    OK(aclrtGetFunctionAddr(function, &cube, &vector));
    THAT(cube == NULL && vector != NULL);
    OK(aclrtGetFunctionSize(function, &cube_size, &vector_size));
    THAT(cube_size == 0 && vector_size != 0);
    OK(aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_TYPE, &type));
    OK(aclrtGetFunctionAttribute(function, ACL_FUNC_ATTR_KERNEL_SCHED_MODE, &schedule));
    THAT(type == ACL_KERNEL_TYPE_VECTOR && schedule == 0);
    return function;
}

// The parameters of copy(GM_ADDR to, GM_ADDR from, uint32_t bytes), as the kernel reads them.
typedef struct Arguments {
    void *to, *from;
    uint32_t bytes;
} Arguments;

static char *source, *target;

static void expect_copy(aclrtStream stream, char content) {
    char host[BYTES];
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtMemcpy(host, BYTES, target, BYTES, ACL_MEMCPY_DEVICE_TO_HOST));
    for (int i = 0; i < BYTES; ++i) {
        THAT(host[i] == content);
    }
    OK(aclrtMemset(target, BYTES, 0, BYTES));
}

static void launch_each_way(aclrtFuncHandle copy, aclrtStream stream) {
    Arguments arguments = {target, source, BYTES};
    void* parameters[] = {&arguments.to, &arguments.from, &arguments.bytes};
    size_t count = 0, offset = 0, size = 0, handle_size = 0, arguments_size = 0;
    aclrtArgsHandle handle;
    aclrtParamHandle last;
    void* on_device;
    aclrtLaunchKernelAttr attributes[2];
    aclrtLaunchKernelCfg cfg = {attributes, 2};
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = 1;
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    attributes[1].value.timeoutUs.timeoutHigh = 1;
    OK(aclrtFunctionGetParamCount(copy, &count));
    OK(aclrtFunctionGetParamInfo(copy, 2, &offset, &size));
    THAT(count == 3 && offset == 16 && size == 4);

    OK(aclrtMemset(source, BYTES, 'a', BYTES));
    OK(aclrtLaunchKernelWithHostArgs(copy, 1, stream, &cfg, &arguments, sizeof arguments, NULL, 0));
    expect_copy(stream, 'a');

    OK(aclrtMemsetAsync(source, BYTES, 'b', BYTES, stream));
    OK(aclrtLaunchKernelWithArgsArray(copy, 1, stream, &cfg, parameters));
    expect_copy(stream, 'b');

    OK(aclrtMemset(source, BYTES, 'c', BYTES));
    OK(aclrtMalloc(&on_device, sizeof arguments, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtMemcpy(on_device, sizeof arguments, &arguments, sizeof arguments, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtLaunchKernelV2(copy, 1, on_device, sizeof arguments, &cfg, stream));
    expect_copy(stream, 'c');
    OK(aclrtLaunchKernel(copy, 1, on_device, sizeof arguments, stream));
    expect_copy(stream, 'c');
    OK(aclrtFreeWithDevSync(on_device));

    OK(aclrtMemset(source, BYTES, 'd', BYTES));
    OK(aclrtKernelArgsGetHandleMemSize(copy, &handle_size));
    OK(aclrtKernelArgsGetMemSize(copy, sizeof arguments, &arguments_size));
    THAT(handle_size != 0 && arguments_size >= sizeof arguments);
    handle = aligned_alloc(64, (handle_size + 63) / 64 * 64);
    void* buffer = malloc(arguments_size);
    OK(aclrtKernelArgsInitByUserMem(copy, handle, buffer, arguments_size));
    OK(aclrtKernelArgsAppend(handle, &arguments.to, sizeof arguments.to, &last));
    OK(aclrtKernelArgsAppend(handle, &arguments.from, sizeof arguments.from, &last));
    uint32_t bytes = 32;
    OK(aclrtKernelArgsAppend(handle, &bytes, sizeof bytes, &last));
    bytes = BYTES;
    OK(aclrtKernelArgsParaUpdate(handle, last, &bytes, sizeof bytes));
    OK(aclrtKernelArgsFinalize(handle));
    OK(aclrtLaunchKernelWithConfig(copy, 1, stream, &cfg, handle, NULL));
    expect_copy(stream, 'd');
    OK(aclrtKernelArgsInit(copy, &handle)); // the thread's own; those above stay the caller's
    free(buffer);
}

static void load_each_way(const char* path, aclrtStream stream) {
    static char file[1 << 22];
    FILE* opened = fopen(path, "rb");
    THAT(opened != NULL);
    const size_t size = fread(file, 1, sizeof file, opened);
    THAT(size != 0 && size < sizeof file);
    fclose(opened);
    aclrtBinaryLoadOption lazy = {ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, {.isLazyLoad = 1}};
    aclrtBinaryLoadOptions options = {&lazy, 1};
    aclrtBinHandle binary;
    OK(aclrtBinaryLoadFromFile(path, &options, &binary));
    launch_each_way(get_function(binary, "copy"), stream);
    OK(aclrtBinaryUnLoad(binary));

    OK(aclrtBinaryLoadFromData(file, size, NULL, &binary));
    launch_each_way(get_function(binary, "copy"), stream);
    OK(aclrtBinaryUnLoad(binary));

    aclrtBinary described = aclrtCreateBinary(file, size);
    THAT(described != NULL);
    OK(aclrtBinaryLoad(described, &binary));
    OK(aclrtDestroyBinary(described));
    launch_each_way(get_function(binary, "copy"), stream);
    OK(aclrtBinaryUnLoad(binary));
}

static void copy_each_kind(aclrtStream stream) {
    void *pinned, *again;
    aclrtPtrAttributes attributes;
    aclrtMemUsageInfo usage;
    size_t kinds = 0, size = 0;
    void* begin = NULL;
    char host[BYTES], rows[4][8];
    OK(aclrtMallocHost(&pinned, BYTES));
    OK(aclrtMallocHostWithCfg(&again, BYTES, NULL));
    memset(pinned, 'p', BYTES);
    OK(aclrtMemcpy(again, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_HOST));
    OK(aclrtMemcpy(source, BYTES, again, BYTES, ACL_MEMCPY_HOST_TO_BUF_TO_DEVICE));
    OK(aclrtMemcpy(target, BYTES, source, BYTES, ACL_MEMCPY_DEVICE_TO_DEVICE));
    OK(aclrtMemcpy(host, BYTES, target, BYTES, ACL_MEMCPY_DEFAULT));
    THAT(memcmp(host, pinned, BYTES) == 0);
    OK(aclrtMemcpy(NULL, 0, NULL, 0, ACL_MEMCPY_DEFAULT)); // nothing to copy
    memset(pinned, 'q', BYTES);
    OK(aclrtMemcpyAsync(target, BYTES, pinned, BYTES, ACL_MEMCPY_HOST_TO_DEVICE, stream));
    expect_copy(stream, 'q');
    // Two rows of four bytes into the middle of rows of eight.
    memset(rows, '.', sizeof rows);
    OK(aclrtMemcpy2d(target, 4, pinned, 16, 4, 2, ACL_MEMCPY_HOST_TO_DEVICE));
    OK(aclrtMemcpy2dAsync(rows[1], 8, target, 4, 4, 2, ACL_MEMCPY_DEVICE_TO_HOST, stream));
    OK(aclrtSynchronizeStream(stream));
    THAT(memcmp(rows, "........qqqq....qqqq............", sizeof rows) == 0);
    OK(aclrtPointerGetAttributes(source, &attributes));
    THAT(attributes.location.type == ACL_MEM_LOCATION_TYPE_DEVICE && attributes.location.id == 0);
    OK(aclrtPointerGetAttributes(pinned, &attributes));
    THAT(attributes.location.type == ACL_MEM_LOCATION_TYPE_HOST);
    OK(aclrtPointerGetAttributes(host, &attributes));
    THAT(attributes.location.type == ACL_MEM_LOCATION_TYPE_UNREGISTERED);
    OK(aclrtMemGetAddressRange(source + 5, &begin, &size));
    THAT(begin == source && size >= BYTES);
    OK(aclrtGetMemUsageInfo(0, &usage, 1, &kinds));
    THAT(kinds == 1 && usage.curMemSize >= 2 * BYTES && usage.memPeakSize >= usage.curMemSize);
    OK(aclrtFreeHost(pinned));
    OK(aclrtFreeHostWithDevSync(again));
}

static void order_by_events(aclrtStream stream) {
    aclrtEvent first, second;
    aclrtStream other;
    aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
    aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    uint64_t begin = 0, end = 0;
    uint32_t ids[2] = {0, 0};
    float milliseconds = -1;
    OK(aclrtCreateStream(&other));
    OK(aclrtCreateEventWithFlag(&first, ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE));
    OK(aclrtCreateEventExWithFlag(&second, ACL_EVENT_TIME_LINE));
    OK(aclrtGetEventId(first, &ids[0]));
    OK(aclrtGetEventId(second, &ids[1]));
    THAT(ids[0] != ids[1]);
    OK(aclrtStreamWaitEventWithTimeout(stream, first, -1));
    OK(aclrtQueryEventWaitStatus(first, &waited));
    THAT(waited == ACL_EVENT_WAIT_STATUS_NOT_READY);
    OK(aclrtRecordEventWithFlag(second, stream, ACL_EVENT_RECORD_DEFAULT));
    OK(aclrtQueryEvent(second, &status));
    THAT(status == ACL_EVENT_STATUS_NOT_READY);
    OK(aclrtRecordEvent(first, other));
    OK(aclrtSynchronizeEvent(second));
    OK(aclrtQueryEvent(second, &status));
    THAT(status == ACL_EVENT_STATUS_COMPLETE);
    OK(aclrtQueryEventWaitStatus(first, &waited));
    THAT(waited == ACL_EVENT_WAIT_STATUS_COMPLETE);
    OK(aclrtEventGetTimestamp(first, &begin));
    OK(aclrtEventGetTimestamp(second, &end));
    OK(aclrtEventElapsedTime(&milliseconds, first, second));
    THAT(end >= begin && milliseconds >= 0);
    OK(aclrtStreamWaitEventWithFlag(other, second, 0, ACL_EVENT_WAIT_DEFAULT));
    OK(aclrtSynchronizeDevice());
    OK(aclrtResetEvent(second, stream));
    OK(aclrtSynchronizeStream(stream));
    OK(aclrtQueryEvent(second, &status));
    THAT(status == ACL_EVENT_STATUS_NOT_READY);
    // A wait may have a limit of its own, or the one of the process.
    OK(aclrtStreamWaitEventWithTimeout(other, second, 5));
    THAT(aclrtSynchronizeStream(other) == ACL_ERROR_RT_WAIT_TIMEOUT);
    OK(aclrtSetOpWaitTimeout(1));
    OK(aclrtStreamWaitEvent(other, second));
    THAT(aclrtSynchronizeStream(other) == ACL_ERROR_RT_WAIT_TIMEOUT);
    OK(aclrtSetOpWaitTimeout(0));
    // Work that never comes to an end goes with its stream, or with all work of its device.
    OK(aclrtStreamWaitEvent(other, second));
    OK(aclrtDeviceTaskAbort(0, 0));
    OK(aclrtSynchronizeStream(other));
    OK(aclrtStreamWaitEvent(other, second));
    OK(aclrtDestroyStreamForce(other));
    OK(aclrtDestroyEvent(first));
    OK(aclrtDestroyEvent(second));
}

static uint32_t told_stream, told_thread, told_by_binary;

static void on_exception(aclrtExceptionInfo* info) {
    told_stream = aclrtGetStreamIdFromExceptionInfo(info);
    told_thread = aclrtGetThreadIdFromExceptionInfo(info);
}

static void on_exception_of_binary(aclrtExceptionInfo* info, void* count) {
    *(uint32_t*)count += aclrtGetErrorCodeFromExceptionInfo(info);
}

static void survive_a_failure(const char* path, aclrtStream stream) {
    aclrtBinHandle binary;
    uint64_t argument = 0;
    int32_t id = -1;
    uint32_t* seen = NULL;
    size_t size = 0;
    OK(aclrtBinaryLoadFromFile(path, NULL, &binary));
    OK(aclrtSetExceptionInfoCallback(on_exception));
    OK(aclrtBinarySetExceptionCallback(binary, on_exception_of_binary, &told_by_binary));
    OK(aclrtLaunchKernelWithHostArgs(get_function(binary, "trap_here"), 1, stream, NULL, &argument, 8, NULL, 0));
    THAT(aclrtSynchronizeStream(stream) == ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION);
    OK(aclrtStreamGetId(stream, &id));
    THAT(told_stream == (uint32_t)id && told_thread != 0);
    THAT(told_by_binary == (uint32_t)ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION);
    OK(aclrtSetExceptionInfoCallback(NULL));
    OK(aclrtSynchronizeStream(stream));
    // The kernels' global variables are there to be read and set.
    Arguments count = {target, NULL, 0};
    aclrtFuncHandle counting = get_function(binary, "count_launches");
    OK(aclrtBinaryGetGlobal(binary, "launches_seen", (void**)&seen, &size));
    THAT(size == sizeof *seen);
    *seen = 41;
    OK(aclrtLaunchKernelWithHostArgs(counting, 1, stream, NULL, &count, sizeof count, NULL, 0));
    OK(aclrtSynchronizeStream(stream));
    uint32_t found = 0;
    OK(aclrtMemcpy(&found, sizeof found, target, sizeof found, ACL_MEMCPY_DEVICE_TO_HOST));
    THAT(found == 42);
    OK(aclrtBinaryUnLoad(binary));
}

int main(int argc, char** argv) {
    void *first, *second, *third;
    THAT(argc == 2);
    initialise();
    set_device();
    aclrtStream stream = make_stream();
    OK(aclrtMallocAlign32(&first, BYTES, ACL_MEM_MALLOC_NORMAL_ONLY));
    OK(aclrtMallocWithCfg(&second, BYTES, ACL_MEM_MALLOC_HUGE_FIRST, NULL));
    OK(aclrtMallocCached(&third, BYTES, ACL_MEM_MALLOC_HUGE_FIRST));
    OK(aclrtFree(third));
    source = first;
    target = second;
    load_each_way(argv[1], stream);
    copy_each_kind(stream);
    order_by_events(stream);
    survive_a_failure(argv[1], stream);
    OK(aclrtFree(source));
    OK(aclrtFree(target));
    OK(aclrtDestroyStream(stream));
    OK(aclrtResetDevice(0));
    OK(aclFinalize());
    THAT(hooks == 11);
    OK(aclFinalizeCallbackUnRegister(ACL_REG_TYPE_OTHER, on_finalize));
    puts("done");
    return 0;
}
