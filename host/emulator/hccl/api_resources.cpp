// Resources of hccl_res.h and hccl_channel.h, for the AIV engine. Where device families differ, this is A2 and A3.
#include "communicator.h"
#include "error.h"
#include "hccl/hccl_res.h"

#include <span>

using namespace aivops::hccl;

HcclResult HcclGetHcclBuffer(HcclComm comm, void** buffer, uint64_t* size) {
    return guarded("HcclGetHcclBuffer", [&] {
        require_pointer(buffer, "buffer");
        require_pointer(size, "size");
        const Window& window = handles::find(comm)->windows().buffer();
        *buffer = window.memory;
        *size = window.bytes;
    });
}

HcclResult HcclEngineCtxCreate(HcclComm comm, const char* ctxTag, CommEngine engine, uint64_t size, void** ctx) {
    return guarded("HcclEngineCtxCreate", [&] {
        require_pointer(ctx, "ctx");
        *ctx = handles::find(comm)->contexts().create(ctxTag, engine, size);
    });
}

HcclResult HcclEngineCtxGet(HcclComm comm, const char* ctxTag, CommEngine engine, void** ctx, uint64_t* size) {
    return guarded("HcclEngineCtxGet", [&] {
        require_pointer(ctx, "ctx");
        require_pointer(size, "size");
        const EngineContexts::Context context = handles::find(comm)->contexts().get(ctxTag, engine);
        *ctx = context.memory;
        *size = context.bytes;
    });
}

HcclResult HcclEngineCtxCopy(HcclComm comm, CommEngine engine, const char* ctxTag, const void* srcCtx, uint64_t size,
                             uint64_t dstCtxOffset) {
    return guarded("HcclEngineCtxCopy", [&] {
        require_pointer(srcCtx, "srcCtx");
        handles::find(comm)->contexts().copy(ctxTag, engine, srcCtx, size, dstCtxOffset);
    });
}

HcclResult HcclEngineCtxDestroy(HcclComm comm, const char* ctxTag, CommEngine engine) {
    return guarded("HcclEngineCtxDestroy", [&] { handles::find(comm)->contexts().destroy(ctxTag, engine); });
}

HcclResult HcclCommMemReg(HcclComm comm, const char* memTag, const CommMem* mem, HcclMemHandle* memHandle) {
    return guarded("HcclCommMemReg", [&] {
        require_pointer(memTag, "memTag");
        require_pointer(mem, "mem");
        require_pointer(memHandle, "memHandle");
        *memHandle = handles::find(comm)->windows().register_memory(memTag, *mem);
    });
}

HcclResult HcclChannelAcquire(HcclComm comm, CommEngine engine, const HcclChannelDesc* channelDescs,
                              uint32_t channelNum, ChannelHandle* channels) {
    return guarded("HcclChannelAcquire", [&] {
        require_pointer(channelDescs, "channelDescs");
        require_pointer(channels, "channels");
        handles::find(comm)->channels().acquire(engine, std::span(channelDescs, channelNum), channels);
    });
}

HcclResult HcclChannelGetHcclBuffer(HcclComm comm, ChannelHandle channel, void** buffer, uint64_t* size) {
    return guarded("HcclChannelGetHcclBuffer", [&] {
        require_pointer(buffer, "buffer");
        require_pointer(size, "size");
        const Channel& found = handles::find(comm)->channels().find(channel);
        *buffer = found.buffer.addr;
        *size = found.buffer.size;
    });
}

HcclResult HcclChannelGetRemoteMems(HcclComm comm, ChannelHandle channel, uint32_t* memNum, CommMem** remoteMems,
                                    char*** memTags) {
    return guarded("HcclChannelGetRemoteMems", [&] {
        require_pointer(memNum, "memNum");
        require_pointer(remoteMems, "remoteMems");
        require_pointer(memTags, "memTags");
        Channel& found = handles::find(comm)->channels().find(channel);
        *memNum = static_cast<uint32_t>(found.memories.size());
        *remoteMems = found.memories.data();
        *memTags = found.tags.data();
    });
}

HcclResult HcclChannelDestroy(HcclComm comm, const ChannelHandle* channels, uint32_t channelNum) {
    return guarded("HcclChannelDestroy", [&] {
        require_pointer(channels, "channels");
        std::shared_ptr<Communicator> communicator = handles::find(comm);
        for (ChannelHandle channel : std::span(channels, channelNum)) {
            communicator->channels().find(channel);
        }
        throw Error(HCCL_E_NOT_SUPPORT, "channels of the AIV engine live as long as the communicator");
    });
}
