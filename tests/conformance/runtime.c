// Devices, contexts, streams, events, memory, limits, errors.
#include "fact.h"

#include <stdlib.h>
#include <string.h>

static void without_context(void* unused) {
    int32_t device;
    void* memory;
    uint32_t cores;
    (void)unused;
    CODE("context.none.get_device", "aclrtGetDevice in a thread without context", 107002, aclrtGetDevice, &device);
    CODE("context.none.malloc", "aclrtMalloc in a thread without context", 107002, aclrtMalloc, &memory, 64,
         ACL_MEM_MALLOC_HUGE_FIRST);
    CODE("context.none.limit", "aclrtGetResInCurrentThread in a thread without context", 107002,
         aclrtGetResInCurrentThread, ACL_RT_DEV_RES_VECTOR_CORE, &cores);
}

static void ask_about_devices(void) {
    uint32_t count = 0;
    int32_t can = 0;
    CODE("device.count.null", "aclrtGetDeviceCount(NULL)", 100000, aclrtGetDeviceCount, NULL);
    CALL(aclrtGetDeviceCount, &count);
    CODE("device.set.invalid", "aclrtSetDevice of a device that is not there", 107001, aclrtSetDevice,
         (int32_t)count + 1000);
    CODE("device.peer.self", "aclrtDeviceCanAccessPeer of a device and itself", 100000, aclrtDeviceCanAccessPeer, &can,
         0, 0);
    if (count > 1) {
        int32_t device = 0;
        CALL(aclrtGetDevice, &device);
        CODE("device.peer.flags", "aclrtDeviceEnablePeerAccess with flags 1", 200006, aclrtDeviceEnablePeerAccess,
             device == 0 ? 1 : 0, 1);
    }
    in_new_thread(without_context, NULL);
}

static void ask_about_memory(void) {
    void *memory, *other;
    char host[64] = {0};
    const aclrtMemcpyKind to_device = ACL_MEMCPY_HOST_TO_DEVICE;
    CODE("memory.malloc.zero", "aclrtMalloc of 0 bytes", 100000, aclrtMalloc, &memory, 0, ACL_MEM_MALLOC_HUGE_FIRST);
    CODE("memory.malloc.null", "aclrtMalloc into NULL", 100000, aclrtMalloc, NULL, 64, ACL_MEM_MALLOC_HUGE_FIRST);
    CODE("memory.malloc.large", "aclrtMalloc of 1 EiB", 207001, aclrtMalloc, &memory, (size_t)1 << 60,
         ACL_MEM_MALLOC_HUGE_FIRST);
    CODE("memory.free.null", "aclrtFree(NULL)", 100000, aclrtFree, NULL);
    CALL(aclrtMalloc, &memory, 1, ACL_MEM_MALLOC_HUGE_FIRST);
    CALL(aclrtMalloc, &other, 33, ACL_MEM_MALLOC_NORMAL_ONLY);
    fact("memory.alignment", "the address of an allocation modulo 64", 0,
         (long long)(((uintptr_t)memory | (uintptr_t)other) % 64));
    CODE("memory.copy.nothing", "aclrtMemcpy of 0 bytes from and to NULL", 0, aclrtMemcpy, NULL, 0, NULL, 0, to_device);
    CODE("memory.copy.null", "aclrtMemcpy to NULL", 100000, aclrtMemcpy, NULL, 32, host, 32, to_device);
    CODE("memory.copy.long", "aclrtMemcpy of more bytes than the target has", 107000, aclrtMemcpy, memory, 16, host, 32,
         to_device);
    CODE("memory.copy.kind", "aclrtMemcpy with kind 9", 100000, aclrtMemcpy, memory, 32, host, 32, (aclrtMemcpyKind)9);
    CODE("memory.copy.kind6", "aclrtMemcpy with kind 6", 100000, aclrtMemcpy, memory, 32, host, 32, (aclrtMemcpyKind)6);
    CODE("memory.copy.self", "aclrtMemcpy of memory onto itself", 0, aclrtMemcpy, memory, 32, memory, 32,
         ACL_MEMCPY_DEVICE_TO_DEVICE);
    CODE("memory.set", "aclrtMemset", 0, aclrtMemset, memory, 32, 0x5a, 32);
    CALL(aclrtMemcpy, host, 32, memory, 32, ACL_MEMCPY_DEVICE_TO_HOST);
    fact("memory.set.value", "a byte after aclrtMemset with 0x5a", 0x5a, host[31]);
    CODE("memory.set.long", "aclrtMemset of more bytes than it says there are", 107000, aclrtMemset, memory, 16, 0, 32);
    CALL(aclrtFree, memory);
    CALL(aclrtFree, other);
}

static void ask_about_streams(void) {
    aclrtStream stream;
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    CODE("stream.create.null", "aclrtCreateStream(NULL)", 100000, aclrtCreateStream, NULL);
    CALL(aclrtCreateStream, &stream);
    CODE("stream.sync.empty", "aclrtSynchronizeStream of an empty stream", 0, aclrtSynchronizeStream, stream);
    CODE("stream.sync.default", "aclrtSynchronizeStream(NULL): the default stream", 0, aclrtSynchronizeStream, NULL);
    CODE("stream.sync.negative", "aclrtSynchronizeStreamWithTimeout with -2 ms", 107000,
         aclrtSynchronizeStreamWithTimeout, stream, -2);
    CODE("stream.sync.forever", "aclrtSynchronizeStreamWithTimeout with -1 ms", 0, aclrtSynchronizeStreamWithTimeout,
         stream, -1);
    CODE("stream.query", "aclrtStreamQuery", 0, aclrtStreamQuery, stream, &status);
    fact("stream.query.status", "the status of an empty stream", ACL_STREAM_STATUS_COMPLETE, status);
    CALL(aclrtDestroyStream, stream);
}

static void ask_about_events(void) {
    aclrtStream stream;
    aclrtEvent first, second;
    float milliseconds = -1;
    CALL(aclrtCreateStream, &stream);
    CALL(aclrtCreateEvent, &first);
    CALL(aclrtCreateEvent, &second);
    CALL(aclrtRecordEvent, first, stream);
    CALL(aclrtRecordEvent, second, stream);
    CALL(aclrtSynchronizeStream, stream);
    CODE("event.elapsed", "aclrtEventElapsedTime of two recorded events", 0, aclrtEventElapsedTime, &milliseconds,
         first, second);
    fact("event.elapsed.sign", "1 when that time is not negative", 1, milliseconds >= 0);
    CALL(aclrtDestroyEvent, first);
    CALL(aclrtDestroyEvent, second);
    CALL(aclrtDestroyStream, stream);
}

static void ask_about_limits(void) {
    uint32_t cores = 0, limited = 0;
    int32_t device = 0;
    uint64_t interval = 0;
    CALL(aclrtGetDevice, &device);
    CODE("limit.get.type", "aclrtGetResInCurrentThread of type 2", 107000, aclrtGetResInCurrentThread,
         (aclrtDevResLimitType)2, &cores);
    CODE("limit.get.null", "aclrtGetResInCurrentThread into NULL", 100000, aclrtGetResInCurrentThread,
         ACL_RT_DEV_RES_VECTOR_CORE, NULL);
    CALL(aclrtGetResInCurrentThread, ACL_RT_DEV_RES_VECTOR_CORE, &cores);
    CODE("limit.set.more", "aclrtSetDeviceResLimit above what the hardware has", 107000, aclrtSetDeviceResLimit, device,
         ACL_RT_DEV_RES_VECTOR_CORE, cores + 1);
    CODE("limit.set.zero", "aclrtSetDeviceResLimit to 0", 0, aclrtSetDeviceResLimit, device, ACL_RT_DEV_RES_VECTOR_CORE,
         0);
    CALL(aclrtGetResInCurrentThread, ACL_RT_DEV_RES_VECTOR_CORE, &limited);
    fact("limit.zero", "the limit then", 0, limited);
    CODE("limit.reset", "aclrtResetDeviceResLimit", 0, aclrtResetDeviceResLimit, device);
    CALL(aclrtGetResInCurrentThread, ACL_RT_DEV_RES_VECTOR_CORE, &limited);
    fact("limit.after_reset", "the limit after that, less the hardware's", 0, (long long)limited - cores);
    CODE("timeout.interval.null", "aclrtGetOpTimeOutInterval(NULL)", 100000, aclrtGetOpTimeOutInterval, NULL);
    CALL(aclrtGetOpTimeOutInterval, &interval);
    open_question("timeout.interval", "aclrtGetOpTimeOutInterval in microseconds (4294967 where firmware says none)",
                  (long long)interval);
}

static void ask_about_errors(void) {
    const char* text;
    RESULT_OF(aclrtGetLastError, ACL_RT_THREAD_LEVEL);
    CODE("error.level", "aclrtGetLastError of level 1", 100000, aclrtGetLastError, (aclrtLastErrLevel)1);
    RESULT_OF(aclrtSetDevice, 100000);
    CODE("error.peek", "aclrtPeekAtLastError after a wrong device", 107001, aclrtPeekAtLastError, ACL_RT_THREAD_LEVEL);
    CODE("error.get", "aclrtGetLastError after that", 107001, aclrtGetLastError, ACL_RT_THREAD_LEVEL);
    CODE("error.cleared", "aclrtGetLastError once more", 0, aclrtGetLastError, ACL_RT_THREAD_LEVEL);
    RESULT_OF(aclrtFree, NULL);
    CODE("error.acl_layer", "aclrtGetLastError after an error of ACL's own checks", 0, aclrtGetLastError,
         ACL_RT_THREAD_LEVEL);
    text = RESULT_OF(aclGetRecentErrMsg);
    open_question("error.message", "1 when aclGetRecentErrMsg has text after these errors", text != NULL);
    text = RESULT_OF(aclGetRecentErrMsg);
    open_question("error.message.again", "1 when it has text again at once", text != NULL);
}

void ask_about_runtime(void) {
    ask_about_devices();
    ask_about_memory();
    ask_about_streams();
    ask_about_events();
    ask_about_limits();
    ask_about_errors();
}
