// A communicator of one rank, and what HCCL says to mistakes. Device families differ; the SoC's name tells which.
#include "fact.h"

#include <string.h>

static int is_a5(void) {
    const char* soc = RESULT_OF(aclrtGetSocName);
    return soc != NULL && strstr(soc, "Ascend950") == soc;
}

static void ask_about_contexts(HcclComm comm) {
    void* memory;
    uint64_t bytes;
    char long_tag[257];
    memset(long_tag, 'x', 256);
    long_tag[256] = '\0';
    CODE("hccl.context.miss", "HcclEngineCtxGet of a tag that is not there", is_a5() ? HCCL_E_NOT_FOUND : HCCL_E_PARA,
         HcclEngineCtxGet, comm, "conformance", COMM_ENGINE_AIV, &memory, &bytes);
    CODE("hccl.context.zero", "HcclEngineCtxCreate of 0 bytes", HCCL_E_PARA, HcclEngineCtxCreate, comm, "conformance",
         COMM_ENGINE_AIV, 0, &memory);
    CODE("hccl.context.long", "HcclEngineCtxCreate with a tag of 256 characters", HCCL_E_PARA, HcclEngineCtxCreate,
         comm, long_tag, COMM_ENGINE_AIV, 64, &memory);
    CODE("hccl.context.create", "HcclEngineCtxCreate", 0, HcclEngineCtxCreate, comm, "conformance", COMM_ENGINE_AIV, 64,
         &memory);
    CODE("hccl.context.twice", "HcclEngineCtxCreate with the same tag", HCCL_E_PARA, HcclEngineCtxCreate, comm,
         "conformance", COMM_ENGINE_AIV, 64, &memory);
    CODE("hccl.context.get", "HcclEngineCtxGet", 0, HcclEngineCtxGet, comm, "conformance", COMM_ENGINE_AIV, &memory,
         &bytes);
    CODE("hccl.context.destroy", "HcclEngineCtxDestroy", 0, HcclEngineCtxDestroy, comm, "conformance", COMM_ENGINE_AIV);
    CODE("hccl.context.destroy.twice", "HcclEngineCtxDestroy once more", HCCL_E_PARA, HcclEngineCtxDestroy, comm,
         "conformance", COMM_ENGINE_AIV);
}

static void ask_about_topology(HcclComm comm) {
    uint32_t *layers = NULL, count = 0;
    CommLink* links = NULL;
    CODE("hccl.layers", "HcclRankGraphGetLayers", 0, HcclRankGraphGetLayers, comm, &layers, &count);
    open_question("hccl.layers.count", "how many layers a communicator of one rank has", count);
    CODE("hccl.links.layer", "HcclRankGraphGetLinks on layer 3", HCCL_E_PARA, HcclRankGraphGetLinks, comm, 3, 0, 0,
         &links, &count);
    if (find_function("HcclRankGraphGetLinks") != NULL) {
        open_question("hccl.links.self", "HcclRankGraphGetLinks of a rank and itself",
                      (long long)RESULT_OF(HcclRankGraphGetLinks, comm, 0, 0, 0, &links, &count));
    }
}

static void ask_about_channels(HcclComm comm) {
    HcclChannelDesc descriptor;
    ChannelHandle channel;
    HcclChannelDescInit(&descriptor, 1);
    descriptor.remoteRank = 0;
    descriptor.channelProtocol = COMM_PROTOCOL_HCCS;
    CODE("hccl.channel.none", "HcclChannelAcquire of no channel", HCCL_E_PARA, HcclChannelAcquire, comm,
         COMM_ENGINE_AIV, &descriptor, 0, &channel);
    CODE("hccl.channel.self", "HcclChannelAcquire to this rank itself", HCCL_E_PARA, HcclChannelAcquire, comm,
         COMM_ENGINE_AIV, &descriptor, 1, &channel);
    descriptor.header.magicWord = 0;
    CODE("hccl.channel.magic", "HcclChannelAcquire with a descriptor that was not initialised", HCCL_E_PARA,
         HcclChannelAcquire, comm, COMM_ENGINE_AIV, &descriptor, 1, &channel);
    if (!is_a5()) {
        HcclChannelDescInit(&descriptor, 1);
        CODE("hccl.channel.query", "HcclChannelQuery on A2 and A3", HCCL_E_NOT_SUPPORT, HcclChannelQuery, comm,
             COMM_ENGINE_AIV, &descriptor, 1, &channel);
    }
}

static void ask_about_buffer(HcclComm comm) {
    void *buffer = NULL, *again = NULL;
    uint64_t bytes = 0;
    CODE("hccl.buffer", "HcclGetHcclBuffer", 0, HcclGetHcclBuffer, comm, &buffer, &bytes);
    CODE("hccl.buffer.again", "HcclGetHcclBuffer once more", 0, HcclGetHcclBuffer, comm, &again, &bytes);
    fact("hccl.buffer.same", "1 when the address is the same", 1, buffer == again);
    fact("hccl.buffer.odd", "its bytes modulo 2 MiB (twice HCCL_BUFFSIZE)", 0, (long long)(bytes % (2 << 20)));
    if (!is_a5()) {
        CODE("hccl.buffer.cleared", "HcclGetHcclBufferCleared on A2 and A3", HCCL_E_NOT_SUPPORT,
             HcclGetHcclBufferCleared, comm, &buffer, &bytes);
    }
}

void ask_about_communicators(void) {
    HcclRootInfo root;
    HcclComm comm = NULL;
    HcclResult error = HCCL_E_RESERVED;
    char name[COMM_NAME_MAX_LENGTH] = {0};
    uint32_t number = 7;
    if (find_function("HcclGetRootInfo") == NULL) {
        not_asked("hccl", "communicators", "the toolkit has no HcclGetRootInfo");
        return;
    }
    CODE("hccl.destroy.null", "HcclCommDestroy(NULL)", 0, HcclCommDestroy, NULL);
    CODE("hccl.root.null", "HcclGetRootInfo(NULL)", HCCL_E_PTR, HcclGetRootInfo, NULL);
    CODE("hccl.root", "HcclGetRootInfo", 0, HcclGetRootInfo, &root);
    CODE("hccl.init.none", "HcclCommInitRootInfo of 0 ranks", HCCL_E_PARA, HcclCommInitRootInfo, 0, &root, 0, &comm);
    CODE("hccl.init.rank", "HcclCommInitRootInfo of rank 1 of 1", HCCL_E_PARA, HcclCommInitRootInfo, 1, &root, 1,
         &comm);
    CODE("hccl.init", "HcclCommInitRootInfo of rank 0 of 1", 0, HcclCommInitRootInfo, 1, &root, 0, &comm);
    if (comm == NULL) {
        not_asked("hccl.rest", "everything that needs a communicator", "there is none");
        return;
    }
    CODE("hccl.size", "HcclGetRankSize", 0, HcclGetRankSize, comm, &number);
    fact("hccl.size.value", "ranks", 1, number);
    CODE("hccl.rank", "HcclGetRankId", 0, HcclGetRankId, comm, &number);
    fact("hccl.rank.value", "the rank", 0, number);
    CODE("hccl.name", "HcclGetCommName", 0, HcclGetCommName, comm, name);
    fact("hccl.name.empty", "1 when the name is empty", 0, name[0] == '\0');
    CODE("hccl.async", "HcclGetCommAsyncError", 0, HcclGetCommAsyncError, comm, &error);
    fact("hccl.async.value", "what it tells", HCCL_SUCCESS, error);
    ask_about_buffer(comm);
    ask_about_contexts(comm);
    ask_about_topology(comm);
    ask_about_channels(comm);
    CODE("hccl.destroy", "HcclCommDestroy", 0, HcclCommDestroy, comm);
}
