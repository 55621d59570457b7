// The host of mesh_gather.asc, call by call as CANN documents it: bootstrap, windows, channels, address table, launch.
// usage: mesh_gather_host KERNEL.o BYTES CALLS ROOT_FILE
// Rank and size come from the environment of a launcher, or from MPI when built with USE_MPI; ROOT_FILE is for the
// former. CALLS may be "forever": until a call fails.
#include <acl/acl.h>
#include <hccl/hccl.h>
#include <hccl/hccl_rank_graph.h>
#include <hccl/hccl_res.h>
#ifdef USE_MPI
#include <mpi.h>
#endif
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#define MOST_RANKS 64
#define WINDOW_BYTES (64 * 1024)
#define WINDOW_TAG "mesh_gather"

#define CHECK(call)                                                                                                    \
    do {                                                                                                               \
        int code_ = (int)(call);                                                                                       \
        if (code_ != 0) {                                                                                              \
            const char* text_ = aclGetRecentErrMsg();                                                                  \
            fprintf(stderr, "rank %d: %s returned %d: %s\n", rank, #call, code_, text_ != NULL ? text_ : "");          \
            exit(3);                                                                                                   \
        }                                                                                                              \
    } while (0)

static int rank = -1;
static int size = 0;

#ifdef USE_MPI
static void begin(int* argc, char*** argv) {
    MPI_Init(argc, argv);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
}
static void broadcast(HcclRootInfo* root, const char* path) {
    (void)path;
    MPI_Bcast(root, sizeof *root, MPI_BYTE, 0, MPI_COMM_WORLD);
}
static void end(void) {
    MPI_Finalize();
}
#else
static int from_environment(const char* torchrun, const char* mpi) {
    const char* text = getenv(torchrun);
    text = text != NULL ? text : getenv(mpi);
    if (text == NULL) {
        fprintf(stderr, "neither %s nor %s is set: start this with a launcher\n", torchrun, mpi);
        exit(2);
    }
    return atoi(text);
}

static void begin(int* argc, char*** argv) {
    (void)argc, (void)argv;
    rank = from_environment("RANK", "OMPI_COMM_WORLD_RANK");
    size = from_environment("WORLD_SIZE", "OMPI_COMM_WORLD_SIZE");
}
static void broadcast(HcclRootInfo* root, const char* path) {
    char written[4096];
    FILE* file;
    snprintf(written, sizeof written, "%s.new", path);
    if (rank == 0) {
        file = fopen(written, "wb");
        if (file == NULL || fwrite(root, sizeof *root, 1, file) != 1 || fclose(file) != 0 ||
            rename(written, path) != 0) {
            exit(4);
        }
        return;
    }
    while ((file = fopen(path, "rb")) == NULL) {
        usleep(1000);
    }
    if (fread(root, sizeof *root, 1, file) != 1) {
        exit(4);
    }
    fclose(file);
}
static void end(void) {
}
#endif

static int is_load_store(CommProtocol protocol) {
    return protocol == COMM_PROTOCOL_HCCS || protocol == COMM_PROTOCOL_HCCS_ONLY || protocol == COMM_PROTOCOL_SIO ||
           protocol == COMM_PROTOCOL_UB_MEM;
}

// The first link to `peer` over which kernels load and store.
static CommLink find_link(HcclComm comm, uint32_t peer) {
    uint32_t *layers, layer_count, kept[8];
    CHECK(HcclRankGraphGetLayers(comm, &layers, &layer_count));
    if (layer_count > 8) {
        layer_count = 8;
    }
    memcpy(kept, layers, layer_count * sizeof *layers);
    for (uint32_t i = 0; i < layer_count; ++i) {
        CommLink* links;
        uint32_t count;
        CHECK(HcclRankGraphGetLinks(comm, kept[i], (uint32_t)rank, peer, &links, &count));
        for (uint32_t j = 0; j < count; ++j) {
            if (is_load_store(links[j].linkAttr.linkProtocol)) {
                return links[j];
            }
        }
    }
    fprintf(stderr, "rank %d: kernels cannot reach rank %u\n", rank, peer);
    exit(5);
}

static uint64_t table[2 * MOST_RANKS]; // {data, window} by rank

static void reach_peers(HcclComm comm, void* window) {
    CommMem memory = {COMM_MEM_TYPE_DEVICE, window, WINDOW_BYTES};
    HcclMemHandle handle;
    HcclChannelDesc descriptors[MOST_RANKS];
    ChannelHandle channels[MOST_RANKS];
    uint32_t peers[MOST_RANKS], count = 0;
    CHECK(HcclCommMemReg(comm, WINDOW_TAG, &memory, &handle));
    CHECK(HcclChannelDescInit(descriptors, (uint32_t)size));
    for (uint32_t peer = 0; peer < (uint32_t)size; ++peer) {
        if (peer == (uint32_t)rank) {
            continue;
        }
        CommLink link = find_link(comm, peer);
        HcclChannelDesc* descriptor = &descriptors[count];
        descriptor->remoteRank = peer;
        descriptor->channelProtocol = link.linkAttr.linkProtocol;
        descriptor->localEndpoint = link.srcEndpointDesc;
        descriptor->remoteEndpoint = link.dstEndpointDesc;
        descriptor->memHandles = &handle;
        descriptor->memHandleNum = 1;
        peers[count++] = peer;
    }
    if (count != 0) {
        CHECK(HcclChannelAcquire(comm, COMM_ENGINE_AIV, descriptors, count, channels));
    }
    for (uint32_t i = 0; i < count; ++i) {
        void* data;
        uint64_t bytes;
        CommMem* memories;
        char** tags;
        uint32_t memory_count;
        CHECK(HcclChannelGetHcclBuffer(comm, channels[i], &data, &bytes));
        CHECK(HcclChannelGetRemoteMems(comm, channels[i], &memory_count, &memories, &tags));
        table[2 * peers[i]] = (uint64_t)data;
        table[2 * peers[i] + 1] = (uint64_t)memories[memory_count - 1].addr;
    }
}

typedef struct Arguments {
    uint64_t window, input, output, bytes, half;
    uint32_t rank, size, tag;
} Arguments;

static unsigned char element(int from, size_t index, int call) {
    return (unsigned char)(from * 37 + (int)(index * 13 % 251) + call);
}

int main(int argc, char** argv) {
    begin(&argc, &argv);
    if (argc != 5 || size < 1 || size > MOST_RANKS) {
        fprintf(stderr, "usage: mesh_gather_host KERNEL.o BYTES CALLS ROOT_FILE\n");
        return 2;
    }
    const size_t bytes = strtoull(argv[2], NULL, 10);
    const int forever = strcmp(argv[3], "forever") == 0;
    const int calls = forever ? 1 << 30 : atoi(argv[3]);

    CHECK(aclInit(NULL));
    CHECK(aclrtSetDevice(rank));
    aclrtStream stream;
    CHECK(aclrtCreateStream(&stream));

    HcclRootInfo root;
    HcclComm comm;
    if (rank == 0) {
        CHECK(HcclGetRootInfo(&root));
    }
    broadcast(&root, argv[4]);
    CHECK(HcclCommInitRootInfo((uint32_t)size, &root, (uint32_t)rank, &comm));

    void *data, *window;
    uint64_t data_bytes, window_bytes;
    CHECK(HcclGetHcclBuffer(comm, &data, &data_bytes));
    if (bytes > data_bytes / 2) {
        fprintf(stderr, "rank %d: a message of %zu bytes does not fit into %llu\n", rank, bytes,
                (unsigned long long)data_bytes / 2);
        return 2;
    }
    HcclResult found = HcclEngineCtxGet(comm, WINDOW_TAG, COMM_ENGINE_AIV, &window, &window_bytes);
    if (found == HCCL_E_NOT_FOUND || found == HCCL_E_PARA) {
        (void)aclGetRecentErrMsg();
        CHECK(HcclEngineCtxCreate(comm, WINDOW_TAG, COMM_ENGINE_AIV, WINDOW_BYTES, &window));
    }
    CHECK(aclrtMemset(window, WINDOW_BYTES, 0, WINDOW_BYTES));
    reach_peers(comm, window);
    table[2 * rank] = (uint64_t)data;
    table[2 * rank + 1] = (uint64_t)window;
    CHECK(HcclEngineCtxCopy(comm, COMM_ENGINE_AIV, WINDOW_TAG, table, sizeof table, 0));

    aclrtBinHandle binary;
    aclrtFuncHandle function;
    uint32_t cores;
    CHECK(aclrtBinaryLoadFromFile(argv[1], NULL, &binary));
    CHECK(aclrtBinaryGetFunction(binary, "mesh_gather", &function));
    CHECK(aclrtGetResInCurrentThread(ACL_RT_DEV_RES_VECTOR_CORE, &cores));
    if (cores < 1) {
        return 6;
    }

    void *input, *output;
    unsigned char* sent = malloc(bytes);
    unsigned char* received = malloc(bytes * (size_t)size);
    CHECK(aclrtMalloc(&input, bytes, ACL_MEM_MALLOC_HUGE_FIRST));
    CHECK(aclrtMalloc(&output, bytes * (size_t)size, ACL_MEM_MALLOC_HUGE_FIRST));
    aclrtLaunchKernelAttr attributes[3];
    memset(attributes, 0, sizeof attributes);
    attributes[0].id = ACL_RT_LAUNCH_KERNEL_ATTR_SCHEM_MODE;
    attributes[0].value.schemMode = 1;
    attributes[1].id = ACL_RT_LAUNCH_KERNEL_ATTR_TIMEOUT_US;
    attributes[1].value.timeoutUs.timeoutLow = 600u * 1000 * 1000;
    attributes[2].id = ACL_RT_LAUNCH_KERNEL_ATTR_ENGINE_TYPE;
    attributes[2].value.engineType = ACL_RT_ENGINE_TYPE_AIV;
    aclrtLaunchKernelCfg config = {attributes, 3};
    for (int call = 1; call <= calls; ++call) {
        for (size_t i = 0; i < bytes; ++i) {
            sent[i] = element(rank, i, call);
        }
        CHECK(aclrtMemcpy(input, bytes, sent, bytes, ACL_MEMCPY_HOST_TO_DEVICE));
        Arguments arguments = {(uint64_t)window, (uint64_t)input, (uint64_t)output, bytes,
                               data_bytes / 2,   (uint32_t)rank,  (uint32_t)size,   (uint32_t)call};
        CHECK(aclrtLaunchKernelWithHostArgs(function, 1, stream, &config, &arguments, sizeof arguments, NULL, 0));
        CHECK(aclrtSynchronizeStream(stream));
        CHECK(aclrtMemcpy(received, bytes * (size_t)size, output, bytes * (size_t)size, ACL_MEMCPY_DEVICE_TO_HOST));
        for (int from = 0; from < size; ++from) {
            for (size_t i = 0; i < bytes; ++i) {
                if (received[(size_t)from * bytes + i] != element(from, i, call)) {
                    fprintf(stderr, "rank %d: call %d: byte %zu of rank %d is wrong\n", rank, call, i, from);
                    return 7;
                }
            }
        }
        if (forever && call == 3) {
            printf("rank %d is under way\n", rank);
            fflush(stdout);
        }
    }
    // Nobody frees what a peer may still read.
    CHECK(HcclBarrier(comm, stream));
    CHECK(aclrtSynchronizeStream(stream));
    CHECK(aclrtBinaryUnLoad(binary));
    CHECK(aclrtFree(input));
    CHECK(aclrtFree(output));
    CHECK(HcclEngineCtxDestroy(comm, WINDOW_TAG, COMM_ENGINE_AIV));
    CHECK(HcclCommDestroy(comm));
    CHECK(aclrtDestroyStream(stream));
    CHECK(aclrtResetDevice(rank));
    CHECK(aclFinalize());
    printf("rank %d of %d gathered %d times\n", rank, size, calls);
    free(sent);
    free(received);
    end();
    return 0;
}
