// Each documented mistake of a host program, and the code that the documentation of the runtime gives it.
// usage: documented_mistakes KERNELS.o CONFIG.json
// Prints the mistakes whose code is another one; returns 0 when there are none.
#include <acl/acl.h>
#include <acl/acl_rt.h>
#include <pthread.h>
#include <stdio.h>
#include <string.h>

static int mistakes, wrong;

static void check(const char* call, aclError expected, aclError found) {
    ++mistakes;
    if (found != expected) {
        ++wrong;
        const char* message = aclGetRecentErrMsg();
        printf("%s returned %d instead of %d: %s\n", call, found, expected, message != NULL ? message : "");
    }
}

#define MISTAKE(expected, call) check(#call, expected, call)
#define FINE(call) MISTAKE(ACL_SUCCESS, call)

static const char* kernels;
static const char* other_config;
static aclrtBinHandle binary;
static aclrtFuncHandle empty, trap;
static aclrtStream stream;
static uint64_t arguments[4];
static void* nowhere = &mistakes; // an address that is no handle of the runtime
static char host[64];

static void initialisation(void) {
    uint64_t left = 0;
    MISTAKE(ACL_ERROR_REPEAT_FINALIZE, aclFinalize());
    FINE(aclInit(NULL));
    MISTAKE(ACL_ERROR_REPEAT_INITIALIZE, aclInit(NULL));
    FINE(aclFinalizeReference(&left));
    FINE(aclFinalizeReference(&left));
    MISTAKE(ACL_ERROR_REPEAT_FINALIZE, aclFinalizeReference(&left));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclInit(other_config));
    FINE(aclInit(NULL));
}

// What a thread that has set no device cannot do.
static void* no_context(void* unused) {
    void* memory = NULL;
    int32_t device = 0;
    uint32_t cores = 0;
    uint64_t interval = 0;
    aclrtContext context;
    aclrtStream made;
    aclrtEvent event;
    aclrtFuncHandle function = nowhere;
    char key[65] = {0};
    (void)unused;
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetDevice(&device));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetCurrentContext(&context));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateStream(&made));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtCreateEvent(&event));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(NULL));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeDevice());
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtMalloc(&memory, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtGetOpTimeOutInterval(&interval));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtBinaryGetFunctionByEntry(binary, 0, &function));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunction(binary, "empty", &function));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL,
            aclrtLaunchKernelWithHostArgs(empty, 1, NULL, NULL, arguments, sizeof arguments, NULL, 0));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtIpcMemGetExportKey(nowhere, 64, key, sizeof key, 1));
    aclrtBinary source = aclrtCreateBinary(host, sizeof host);
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtBinaryLoad(source, &function));
    FINE(aclrtDestroyBinary(source));
    return NULL;
}

static void devices_and_contexts(void) {
    int64_t value = 0;
    aclrtContext context, own;
    aclrtStream foreign;
    MISTAKE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(-1));
    MISTAKE(ACL_ERROR_RT_INVALID_DEVICEID, aclrtSetDevice(4096));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclGetDeviceCapability(0, (aclDeviceInfo)99, &value));
    FINE(aclrtGetCurrentContext(&own));
    FINE(aclrtCreateContext(&context, 0));
    FINE(aclrtCreateStream(&foreign));
    FINE(aclrtSetCurrentContext(own));
    MISTAKE(ACL_ERROR_RT_STREAM_CONTEXT,
            aclrtLaunchKernelWithHostArgs(empty, 1, foreign, NULL, arguments, sizeof arguments, NULL, 0));
    FINE(aclrtDestroyContext(context));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtSetCurrentContext(context));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtSynchronizeStream(foreign));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtDeviceEnablePeerAccess(0, 0));
    MISTAKE(ACL_ERROR_FEATURE_UNSUPPORTED, aclrtDeviceEnablePeerAccess(1, 1));
}

static void binaries(void) {
    aclrtBinHandle loaded;
    aclrtFuncHandle function;
    aclrtBinaryLoadOption option = {ACL_RT_BINARY_LOAD_OPT_LAZY_LOAD, {.isLazyLoad = 2}};
    aclrtBinaryLoadOptions options = {&option, 1}, no_list = {NULL, 0};
    char name[64];
    int64_t value = 0;
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromFile(NULL, NULL, &loaded));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromFile(kernels, NULL, NULL));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile("/no/such/file.o", NULL, &loaded));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile(kernels, &options, &loaded));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile(kernels, &no_list, &loaded));
    option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    option.value.magic = ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile(kernels, &options, &loaded));
    option.type = (aclrtBinaryLoadOptionType)77;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromFile(kernels, &options, &loaded));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtBinaryLoadFromData(NULL, 64, NULL, &loaded));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromData(host, 0, NULL, &loaded));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryLoadFromData(host, sizeof host, NULL, &loaded));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtBinaryGetFunction(NULL, "empty", &function));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtBinaryGetFunction(binary, NULL, &function));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryGetFunction(nowhere, "empty", &function));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryGetFunction(empty, "empty", &function));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunction(binary, "no_such_kernel", &function));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtBinaryGetFunctionByEntry(binary, 12345, &function));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtGetFunctionName(empty, 5, name)); // no room for the terminator
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtGetFunctionAttribute(empty, (aclrtFuncAttribute)4, &value));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtBinaryGetGlobal(binary, "launches_seen", NULL, NULL));
    MISTAKE(ACL_ERROR_RT_SYMBOL_NOT_FOUND, aclrtBinaryGetGlobal(binary, "no_such_variable", &nowhere, NULL));
    nowhere = &mistakes;
    FINE(aclrtBinaryLoadFromFile(kernels, NULL, &loaded));
    FINE(aclrtBinaryGetFunction(loaded, "empty", &function));
    FINE(aclrtBinaryUnLoad(loaded));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtBinaryUnLoad(loaded));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE,
            aclrtLaunchKernelWithHostArgs(function, 1, stream, NULL, arguments, sizeof arguments, NULL, 0));
}

static void launches(void) {
    aclrtPlaceHolderInfo address_outside = {sizeof arguments, 0}, data_outside = {0, sizeof arguments};
    aclrtLaunchKernelAttr attributes[2];
    aclrtLaunchKernelCfg cfg = {attributes, 1}, no_list = {NULL, 0};
    void* array[1] = {arguments};
#define LAUNCH(...) aclrtLaunchKernelWithHostArgs(__VA_ARGS__)
    MISTAKE(ACL_ERROR_INVALID_PARAM, LAUNCH(NULL, 1, stream, NULL, arguments, 8, NULL, 0));
    MISTAKE(ACL_ERROR_INVALID_PARAM, LAUNCH(empty, 1, stream, NULL, NULL, 8, NULL, 0));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, LAUNCH(binary, 1, stream, NULL, arguments, 8, NULL, 0));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, LAUNCH(empty, 1, nowhere, NULL, arguments, 8, NULL, 0));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, NULL, arguments, 0, NULL, 0));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 0, stream, NULL, arguments, 8, NULL, 0));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, NULL, arguments, 8, NULL, 1));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID,
            LAUNCH(empty, 1, stream, NULL, arguments, sizeof arguments, &address_outside, 1));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, NULL, arguments, sizeof arguments, &data_outside, 1));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, &no_list, arguments, 8, NULL, 0));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernel(empty, 0, NULL, 0, stream));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtLaunchKernelWithArgsArray(empty, 0, stream, NULL, array));
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = (aclrtLaunchKernelAttrId)10;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, &cfg, arguments, 8, NULL, 0));
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = 2;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, &cfg, arguments, 8, NULL, 0));
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_BLOCK_TASK_PREFETCH;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, &cfg, arguments, 8, NULL, 0));
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_DATA_DUMP;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, &cfg, arguments, 8, NULL, 0));
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_ENABLE_PROFILING;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, &cfg, arguments, 8, NULL, 0));
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT;
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    cfg.numAttrs = 2;
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, LAUNCH(empty, 1, stream, &cfg, arguments, 8, NULL, 0));
#undef LAUNCH
}

static void argument_handles(void) {
    static char large[64 * 1024 + 1];
    aclrtArgsHandle handle;
    aclrtParamHandle parameter;
    FINE(aclrtKernelArgsInit(empty, &handle));
    for (int i = 0; i < 128; ++i) {
        FINE(aclrtKernelArgsAppend(handle, arguments, 8, &parameter));
    }
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtKernelArgsAppend(handle, arguments, 8, &parameter));
    FINE(aclrtKernelArgsInit(empty, &handle));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtKernelArgsAppend(handle, large, sizeof large, &parameter));
    FINE(aclrtKernelArgsAppend(handle, arguments, 8, &parameter));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernelWithConfig(empty, 1, stream, NULL, handle, NULL));
    FINE(aclrtKernelArgsFinalize(handle));
    MISTAKE(ACL_ERROR_RT_FEATURE_NOT_SUPPORT, aclrtKernelArgsAppend(handle, arguments, 8, &parameter));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtLaunchKernelWithConfig(empty, 0, stream, NULL, handle, NULL));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtLaunchKernelWithConfig(empty, 1, stream, NULL, handle, arguments));
    FINE(aclrtKernelArgsParaUpdate(handle, parameter, arguments, 8));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtLaunchKernelWithConfig(empty, 1, stream, NULL, handle, NULL));
}

static void limits(void) {
    uint32_t cores = 0;
    FINE(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtGetResInCurrentThread((aclrtDevResLimitType)2, &cores));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, NULL));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtSetDeviceResLimit(0, ACL_RT_DEV_RES_VECTOR_CORE, cores + 1));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtSetStreamResLimit(stream, ACL_RT_DEV_RES_VECTOR_CORE, cores + 1));
    MISTAKE(ACL_ERROR_RT_DEV_SETUP_ERROR, aclrtSetDeviceResLimit(1, ACL_RT_DEV_RES_VECTOR_CORE, 1)); // not set
}

static void streams_and_events(void) {
    aclrtStream waiting;
    aclrtEvent event;
    FINE(aclrtCreateStream(&waiting));
    FINE(aclrtCreateEvent(&event));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeStreamWithTimeout(stream, -2));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeDeviceWithTimeout(-2));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtSynchronizeEventWithTimeout(event, -2));
    FINE(aclrtStreamWaitEvent(waiting, event)); // nobody has recorded it
    MISTAKE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeStreamWithTimeout(waiting, 5));
    MISTAKE(ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, aclrtSynchronizeDeviceWithTimeout(5));
    aclrtEvent behind;
    FINE(aclrtCreateEvent(&behind));
    FINE(aclrtRecordEvent(behind, waiting));
    MISTAKE(ACL_ERROR_RT_EVENT_SYNC_TIMEOUT, aclrtSynchronizeEventWithTimeout(behind, 5));
    FINE(aclrtRecordEvent(event, stream));
    FINE(aclrtSynchronizeStream(waiting));
    FINE(aclrtDestroyEvent(event));
    FINE(aclrtDestroyEvent(behind));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtRecordEvent(event, stream));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyEvent(behind));
    FINE(aclrtDestroyStream(waiting));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyStream(waiting));
}

static void failures(void) {
    FINE(aclrtLaunchKernelWithHostArgs(trap, 1, stream, NULL, arguments, 8, NULL, 0));
    MISTAKE(ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, aclrtSynchronizeStream(stream));
    FINE(aclrtSynchronizeStream(stream)); // it is returned once
    MISTAKE(ACL_ERROR_RT_VECTOR_CORE_TRAP_EXCEPTION, aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    FINE(aclrtGetLastError(ACL_RT_THREAD_LEVEL));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtGetLastError((aclrtLastErrLevel)1));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtPeekAtLastError((aclrtLastErrLevel)1));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtExceptionInfoCallbackRegister(NULL));
}

static void memory(void) {
    void *block, *too_much;
    char key[65];
    int32_t pid = 0;
    aclrtMallocConfig no_attributes = {NULL, 1};
    const aclrtMemcpyKind to_device = ACL_MEMCPY_HOST_TO_DEVICE;
    FINE(aclrtMalloc(&block, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtMalloc(NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtMalloc(&too_much, 0, ACL_MEM_MALLOC_HUGE_FIRST));
    MISTAKE(ACL_ERROR_RT_MEMORY_ALLOCATION, aclrtMalloc(&too_much, (size_t)1 << 50, ACL_MEM_MALLOC_HUGE_FIRST));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtMallocWithCfg(&too_much, 64, ACL_MEM_MALLOC_HUGE_FIRST, &no_attributes));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtFree(NULL));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(NULL, 64, host, 64, to_device));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(block, 64, NULL, 64, to_device));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(block, 64, host, 64, ACL_MEMCPY_INNER_DEVICE_TO_DEVICE));
    MISTAKE(ACL_ERROR_INVALID_PARAM, aclrtMemcpy(block, 64, host, 64, ACL_MEMCPY_INTER_DEVICE_TO_DEVICE));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemcpy(block, 32, host, 64, to_device));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtMemset(block, 32, 0, 64));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(block, 64, key, 64, 0));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemGetExportKey(block, 64, key, 65, 2));
    FINE(aclrtIpcMemGetExportKey(block, 64, key, 65, 0));
    MISTAKE(ACL_ERROR_RT_PARAM_INVALID, aclrtIpcMemSetImportPid(key, &pid, 0));
    FINE(aclrtIpcMemClose(key));
    FINE(aclrtFree(block));
}

// A binary of the old calls belongs to the device that it was loaded on.
static void old_binaries(void) {
    static char file[1 << 22];
    FILE* opened = fopen(kernels, "rb");
    aclrtBinHandle loaded;
    const size_t size = opened != NULL ? fread(file, 1, sizeof file, opened) : 0;
    aclrtBinary source = aclrtCreateBinary(file, size);
    fclose(opened);
    FINE(aclrtBinaryLoad(source, &loaded));
    FINE(aclrtDestroyBinary(source));
    FINE(aclrtSetDevice(1));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtBinaryUnLoad(loaded));
    MISTAKE(ACL_ERROR_RT_INVALID_HANDLE, // `empty` is registered on device 0 only
            aclrtLaunchKernelWithHostArgs(empty, 1, NULL, NULL, arguments, sizeof arguments, NULL, 0));
    FINE(aclrtResetDevice(1));
    FINE(aclrtSetDevice(0));
    FINE(aclrtBinaryUnLoad(loaded));
    FINE(aclrtResetDevice(0));
}

int main(int argc, char** argv) {
    pthread_t thread;
    if (argc != 3) {
        return 2;
    }
    kernels = argv[1];
    other_config = argv[2];
    initialisation();
    FINE(aclrtSetDevice(0));
    FINE(aclrtCreateStream(&stream));
    FINE(aclrtBinaryLoadFromFile(kernels, NULL, &binary));
    FINE(aclrtBinaryGetFunction(binary, "empty", &empty));
    FINE(aclrtBinaryGetFunction(binary, "trap_here", &trap));
    pthread_create(&thread, NULL, no_context, NULL);
    pthread_join(thread, NULL);
    devices_and_contexts();
    binaries();
    launches();
    argument_handles();
    limits();
    streams_and_events();
    failures();
    memory();
    old_binaries();
    FINE(aclrtBinaryUnLoad(binary));
    FINE(aclrtDestroyStream(stream));
    FINE(aclrtResetDevice(0));
    MISTAKE(ACL_ERROR_RT_CONTEXT_NULL, aclrtSynchronizeStream(NULL));
    FINE(aclFinalize());
    printf("%d calls, %d wrong\n", mistakes, wrong);
    return wrong != 0;
}
