// The standard collectives of hccl.h. Each says what this rank sends, receives and folds; all of them run on
// operation.h.
#include "acl/library_interface.h"
#include "aivops/kernel_binary/counted.h"
#include "communicator.h"
#include "error.h"
#include "hccl/hccl.h"
#include "operation.h"

#include <span>

using namespace aivops::hccl;

namespace {

namespace runtime = aivops::acl::library_interface;

constexpr uint64_t kMostBytes = uint64_t{1} << 48;

// One call while its operation is put together.
class Builder {
  public:
    Builder(const char* function, HcclComm handle, aclrtStream stream)
        : function_(function), stream_(stream), communicator_(handles::find(handle)) {
        require_pointer(stream, "stream");
    }

    Communicator& communicator() { return *communicator_; }
    uint32_t rank() const { return communicator_->rank(); }
    uint32_t size() const { return communicator_->size(); }

    Operation& start(const Call& call) {
        operation_ = std::make_unique<Operation>(communicator_, call);
        return *operation_;
    }

    void submit() {
        const aclError error = runtime::submit(function_, stream_, communicator_->device(), std::move(operation_),
                                               communicator_->board().meeting());
        require(error == ACL_SUCCESS, HCCL_E_RUNTIME, "the stream refuses with " + std::to_string(error));
    }

    void check_root(uint32_t root) const { check_rank("root", root); }

    void check_rank(const char* what, uint32_t rank) const {
        require(rank < size(), HCCL_E_PARA,
                std::string(what) + " is " + std::to_string(rank) + "; below " + std::to_string(size()));
    }

    void check_peer(const char* what, uint32_t peer) const {
        check_rank(what, peer);
        require(peer != rank(), HCCL_E_PARA, std::string(what) + " is this rank itself");
    }

  private:
    const char* function_;
    aclrtStream stream_;
    std::shared_ptr<Communicator> communicator_;
    std::unique_ptr<Operation> operation_;
};

uint64_t bytes_of(uint64_t count, HcclDataType type) {
    const uint64_t bytes = element_bytes(type);
    require(count <= kMostBytes / bytes, HCCL_E_PARA,
            "a count of " + aivops::kernel_binary::counted(count, "element") + " is too large");
    return count * bytes;
}

// `bytes` of device memory at `buffer`; nothing is asked of a buffer that is not used.
void check_buffer(const char* name, const void* buffer, uint64_t bytes) {
    if (bytes == 0) {
        return;
    }
    require_pointer(buffer, name);
    const auto address = reinterpret_cast<aivops::machine::Address>(buffer);
    const std::optional<aivops::machine::Range> range = runtime::find_memory(address);
    require(range.has_value(), HCCL_E_PARA, std::string(name) + " is not device memory");
    require(range->contains(address, bytes), HCCL_E_PARA,
            std::string(name) + " has " + aivops::kernel_binary::counted(range->end - address, "byte") +
                ", the call needs " + std::to_string(bytes));
}

const std::byte* at(const void* buffer, uint64_t bytes) {
    return static_cast<const std::byte*>(buffer) + bytes;
}
std::byte* at(void* buffer, uint64_t bytes) {
    return static_cast<std::byte*>(buffer) + bytes;
}

// Lengths and offsets by rank, in bytes; programs hand them over as arrays of uint64_t in host memory.
struct Parts {
    std::vector<uint64_t> bytes;
    std::vector<uint64_t> offsets;
    uint64_t extent = 0; // that the buffer must have

    void add(uint64_t part, uint64_t offset) {
        bytes.push_back(part);
        offsets.push_back(offset);
        extent = part == 0 ? extent : std::max(extent, offset + part);
    }
};

Parts read_parts(const char* name, const void* counts, const void* displacements, uint32_t ranks, HcclDataType type) {
    require_pointer(counts, name);
    require_pointer(displacements, name);
    Parts parts;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        parts.add(bytes_of(static_cast<const uint64_t*>(counts)[rank], type),
                  bytes_of(static_cast<const uint64_t*>(displacements)[rank], type));
    }
    return parts;
}

Parts equal_parts(uint64_t bytes, uint32_t ranks) {
    Parts parts;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        parts.add(bytes, rank * bytes);
    }
    return parts;
}

// A part to and from everybody, this rank included.
void exchange(Builder& builder, const Call& call, const void* send_buffer, const Parts& sent, void* receive_buffer,
              const Parts& received) {
    check_buffer("sendBuf", send_buffer, sent.extent);
    check_buffer("recvBuf", receive_buffer, received.extent);
    const uint32_t own = builder.rank();
    require(sent.bytes[own] == received.bytes[own], HCCL_E_PARA,
            "this rank sends itself " + aivops::kernel_binary::counted(sent.bytes[own], "byte") + " and receives " +
                std::to_string(received.bytes[own]));
    Operation& operation = builder.start(call);
    operation.copy(at(send_buffer, sent.offsets[own]), at(receive_buffer, received.offsets[own]), sent.bytes[own]);
    for (uint32_t peer : builder.communicator().others()) {
        operation.send(peer, at(send_buffer, sent.offsets[peer]), sent.bytes[peer]);
        operation.receive(peer, at(receive_buffer, received.offsets[peer]), received.bytes[peer]);
    }
    builder.submit();
}

// The same input to everybody, and everybody's part into its place.
void gather_everywhere(Builder& builder, const Call& call, const void* send_buffer, uint64_t sent, void* receive_buffer,
                       const Parts& received) {
    Parts inputs;
    for (uint32_t rank = 0; rank < builder.size(); ++rank) {
        inputs.add(sent, 0);
    }
    exchange(builder, call, send_buffer, inputs, receive_buffer, received);
}

// Everybody folds the part that is its own; `sent` are the parts of this rank's input.
void fold_parts(Builder& builder, const Call& call, const void* send_buffer, const Parts& sent, void* receive_buffer,
                uint64_t count, HcclDataType type, HcclReduceOp op) {
    const uint32_t own = builder.rank();
    require(sent.bytes[own] == bytes_of(count, type), HCCL_E_PARA,
            "recvCount does not equal what this rank's own entry of sendCounts says");
    check_buffer("sendBuf", send_buffer, sent.extent);
    check_buffer("recvBuf", receive_buffer, sent.bytes[own]);
    Operation& operation = builder.start(call);
    for (uint32_t peer : builder.communicator().others()) {
        operation.send(peer, at(send_buffer, sent.offsets[peer]), sent.bytes[peer]);
    }
    operation.fold(at(send_buffer, sent.offsets[own]), receive_buffer, count, type, op);
    builder.submit();
}

void require_equal_types(HcclDataType sent, HcclDataType received) {
    require(sent == received, HCCL_E_PARA,
            "sendType " + type_name(sent) + " and recvType " + type_name(received) + " differ");
}

} // namespace

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                         HcclComm comm, aclrtStream stream) {
    return guarded("HcclAllReduce", [&] {
        Builder builder("HcclAllReduce", comm, stream);
        find_fold(dataType, op);
        const uint64_t bytes = bytes_of(count, dataType);
        check_buffer("sendBuf", sendBuf, bytes);
        check_buffer("recvBuf", recvBuf, bytes);
        if (count == 0) {
            return;
        }
        Operation& operation = builder.start({HCCL_CMD_ALLREDUCE, dataType, op, 0, count});
        for (uint32_t peer : builder.communicator().others()) {
            operation.send(peer, sendBuf, bytes);
        }
        operation.fold(sendBuf, recvBuf, count, dataType, op);
        builder.submit();
    });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType, HcclReduceOp op,
                      uint32_t root, HcclComm comm, aclrtStream stream) {
    return guarded("HcclReduce", [&] {
        Builder builder("HcclReduce", comm, stream);
        find_fold(dataType, op);
        builder.check_root(root);
        const uint64_t bytes = bytes_of(count, dataType);
        check_buffer("sendBuf", sendBuf, bytes);
        check_buffer("recvBuf", recvBuf, builder.rank() == root ? bytes : 0);
        if (count == 0) {
            return;
        }
        Operation& operation = builder.start({HCCL_CMD_REDUCE, dataType, op, root, count});
        if (builder.rank() == root) {
            operation.fold(sendBuf, recvBuf, count, dataType, op);
        } else {
            operation.send(root, sendBuf, bytes);
        }
        builder.submit();
    });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, HcclReduceOp op,
                             HcclComm comm, aclrtStream stream) {
    return guarded("HcclReduceScatter", [&] {
        Builder builder("HcclReduceScatter", comm, stream);
        find_fold(dataType, op);
        if (recvCount == 0) {
            return;
        }
        fold_parts(builder, {HCCL_CMD_REDUCE_SCATTER, dataType, op, 0, recvCount}, sendBuf,
                   equal_parts(bytes_of(recvCount, dataType), builder.size()), recvBuf, recvCount, dataType, op);
    });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls, void* recvBuf,
                              uint64_t recvCount, HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                              aclrtStream stream) {
    return guarded("HcclReduceScatterV", [&] {
        Builder builder("HcclReduceScatterV", comm, stream);
        find_fold(dataType, op);
        const Parts parts = read_parts("sendCounts and sendDispls", sendCounts, sendDispls, builder.size(), dataType);
        fold_parts(builder, {HCCL_CMD_REDUCE_SCATTER_V, dataType, op, 0, 0}, sendBuf, parts, recvBuf, recvCount,
                   dataType, op);
    });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType, HcclComm comm,
                         aclrtStream stream) {
    return guarded("HcclAllGather", [&] {
        Builder builder("HcclAllGather", comm, stream);
        const uint64_t bytes = bytes_of(sendCount, dataType);
        if (sendCount == 0) {
            return;
        }
        gather_everywhere(builder, {HCCL_CMD_ALLGATHER, dataType, 0, 0, sendCount}, sendBuf, bytes, recvBuf,
                          equal_parts(bytes, builder.size()));
    });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm, aclrtStream stream) {
    return guarded("HcclAllGatherV", [&] {
        Builder builder("HcclAllGatherV", comm, stream);
        gather_everywhere(builder, {HCCL_CMD_ALLGATHER_V, dataType, 0, 0, 0}, sendBuf, bytes_of(sendCount, dataType),
                          recvBuf,
                          read_parts("recvCounts and recvDispls", recvCounts, recvDispls, builder.size(), dataType));
    });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root, HcclComm comm,
                         aclrtStream stream) {
    return guarded("HcclBroadcast", [&] {
        Builder builder("HcclBroadcast", comm, stream);
        builder.check_root(root);
        const uint64_t bytes = bytes_of(count, dataType);
        check_buffer("buf", buf, bytes);
        if (count == 0) {
            return;
        }
        Operation& operation = builder.start({HCCL_CMD_BROADCAST, dataType, 0, root, count});
        if (builder.rank() != root) {
            operation.receive(root, buf, bytes);
        } else {
            for (uint32_t peer : builder.communicator().others()) {
                operation.send(peer, buf, bytes);
            }
        }
        builder.submit();
    });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType, uint32_t root,
                       HcclComm comm, aclrtStream stream) {
    return guarded("HcclScatter", [&] {
        Builder builder("HcclScatter", comm, stream);
        builder.check_root(root);
        const uint64_t bytes = bytes_of(recvCount, dataType);
        const bool is_root = builder.rank() == root;
        check_buffer("sendBuf", sendBuf, is_root ? bytes * builder.size() : 0);
        check_buffer("recvBuf", recvBuf, bytes);
        if (recvCount == 0) {
            return;
        }
        Operation& operation = builder.start({HCCL_CMD_SCATTER, dataType, 0, root, recvCount});
        if (is_root) {
            operation.copy(at(sendBuf, root * bytes), recvBuf, bytes);
            for (uint32_t peer : builder.communicator().others()) {
                operation.send(peer, at(sendBuf, peer * bytes), bytes);
            }
        } else {
            operation.receive(root, recvBuf, bytes);
        }
        builder.submit();
    });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType, const void* recvBuf,
                        uint64_t recvCount, HcclDataType recvType, HcclComm comm, aclrtStream stream) {
    return guarded("HcclAlltoAll", [&] {
        Builder builder("HcclAlltoAll", comm, stream);
        require_equal_types(sendType, recvType);
        require(sendBuf == nullptr || sendBuf != recvBuf, HCCL_E_PARA, "sendBuf and recvBuf must differ");
        require(sendCount == recvCount, HCCL_E_PARA, "sendCount and recvCount differ");
        if (sendCount == 0) {
            return;
        }
        exchange(builder, {HCCL_CMD_ALLTOALL, sendType, 0, 0, sendCount}, sendBuf,
                 equal_parts(bytes_of(sendCount, sendType), builder.size()), const_cast<void*>(recvBuf),
                 equal_parts(bytes_of(recvCount, recvType), builder.size()));
    });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls, HcclDataType sendType,
                         const void* recvBuf, const void* recvCounts, const void* rdispls, HcclDataType recvType,
                         HcclComm comm, aclrtStream stream) {
    return guarded("HcclAlltoAllV", [&] {
        Builder builder("HcclAlltoAllV", comm, stream);
        require_equal_types(sendType, recvType);
        require(sendBuf == nullptr || sendBuf != recvBuf, HCCL_E_PARA, "sendBuf and recvBuf must differ");
        exchange(builder, {HCCL_CMD_ALLTOALLV, sendType, 0, 0, 0}, sendBuf,
                 read_parts("sendCounts and sdispls", sendCounts, sdispls, builder.size(), sendType),
                 const_cast<void*>(recvBuf),
                 read_parts("recvCounts and rdispls", recvCounts, rdispls, builder.size(), recvType));
    });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType, const void* recvBuf,
                          HcclDataType recvType, HcclComm comm, aclrtStream stream) {
    return guarded("HcclAlltoAllVC", [&] {
        Builder builder("HcclAlltoAllVC", comm, stream);
        require_equal_types(sendType, recvType);
        require(sendBuf == nullptr || sendBuf != recvBuf, HCCL_E_PARA, "sendBuf and recvBuf must differ");
        require_pointer(sendCountMatrix, "sendCountMatrix");
        // Element (i, j) is what rank i sends to rank j; parts lie one behind the other.
        const auto* matrix = static_cast<const uint64_t*>(sendCountMatrix);
        Parts sent;
        Parts received;
        uint64_t send_offset = 0;
        uint64_t receive_offset = 0;
        for (uint32_t peer = 0; peer < builder.size(); ++peer) {
            sent.add(bytes_of(matrix[builder.rank() * builder.size() + peer], sendType), send_offset);
            received.add(bytes_of(matrix[peer * builder.size() + builder.rank()], recvType), receive_offset);
            send_offset += sent.bytes.back();
            receive_offset += received.bytes.back();
        }
        exchange(builder, {HCCL_CMD_ALLTOALLVC, sendType, 0, 0, 0}, sendBuf, sent, const_cast<void*>(recvBuf),
                 received);
    });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank, HcclComm comm,
                    aclrtStream stream) {
    return guarded("HcclSend", [&] {
        Builder builder("HcclSend", comm, stream);
        builder.check_peer("destRank", destRank);
        const uint64_t bytes = bytes_of(count, dataType);
        check_buffer("sendBuf", sendBuf, bytes);
        builder.start({HCCL_CMD_SEND, dataType, 0, 0, count}).send(destRank, sendBuf, bytes);
        builder.submit();
    });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank, HcclComm comm,
                    aclrtStream stream) {
    return guarded("HcclRecv", [&] {
        Builder builder("HcclRecv", comm, stream);
        builder.check_peer("srcRank", srcRank);
        const uint64_t bytes = bytes_of(count, dataType);
        check_buffer("recvBuf", recvBuf, bytes);
        builder.start({HCCL_CMD_SEND, dataType, 0, 0, count}).receive(srcRank, recvBuf, bytes);
        builder.submit();
    });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm, aclrtStream stream) {
    return guarded("HcclBatchSendRecv", [&] {
        Builder builder("HcclBatchSendRecv", comm, stream);
        require_pointer(sendRecvInfo, "sendRecvInfo");
        require(itemNum != 0, HCCL_E_PARA, "itemNum is 0");
        const std::span<HcclSendRecvItem> items(sendRecvInfo, itemNum);
        std::vector<const HcclSendRecvItem*> to_self;
        std::vector<const HcclSendRecvItem*> from_self;
        for (const HcclSendRecvItem& item : items) {
            require(item.sendRecvType == HCCL_SEND || item.sendRecvType == HCCL_RECV, HCCL_E_PARA,
                    "an item neither sends nor receives");
            builder.check_rank("remoteRank", item.remoteRank);
            check_buffer("buf", item.buf, bytes_of(item.count, item.dataType));
            if (item.remoteRank == builder.rank()) {
                (item.sendRecvType == HCCL_SEND ? to_self : from_self).push_back(&item);
            }
        }
        require(to_self.size() == from_self.size(), HCCL_E_PARA,
                "this rank sends itself " + std::to_string(to_self.size()) + " times and receives " +
                    std::to_string(from_self.size()) + " times");
        Operation& operation = builder.start({HCCL_CMD_SEND, 0, 0, 0, 0});
        for (size_t index = 0; index < to_self.size(); ++index) {
            require(to_self[index]->count == from_self[index]->count &&
                        to_self[index]->dataType == from_self[index]->dataType,
                    HCCL_E_PARA, "what this rank sends itself is not what it receives");
            operation.copy(to_self[index]->buf, from_self[index]->buf,
                           bytes_of(to_self[index]->count, to_self[index]->dataType));
        }
        for (const HcclSendRecvItem& item : items) {
            const uint64_t bytes = bytes_of(item.count, item.dataType);
            operation.set_call({HCCL_CMD_SEND, item.dataType, 0, 0, item.count});
            if (item.remoteRank == builder.rank()) {
                continue;
            }
            if (item.sendRecvType == HCCL_SEND) {
                operation.send(item.remoteRank, item.buf, bytes);
            } else {
                operation.receive(item.remoteRank, item.buf, bytes);
            }
        }
        builder.submit();
    });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
    return guarded("HcclBarrier", [&] {
        Builder builder("HcclBarrier", comm, stream);
        Operation& operation = builder.start({HCCL_CMD_BARRIER, 0, 0, 0, 0});
        for (uint32_t peer : builder.communicator().others()) {
            operation.send(peer, nullptr, 0);
            operation.receive(peer, nullptr, 0);
        }
        builder.submit();
    });
}
