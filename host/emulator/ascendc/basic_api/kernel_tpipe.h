// Who owns which bytes of the unified buffer, and the queues that order the pipes working on them.
#ifndef AIVOPS_ASCENDC_KERNEL_TPIPE_H
#define AIVOPS_ASCENDC_KERNEL_TPIPE_H
#pragma GCC system_header

#include "kernel_event.h"
#include "kernel_operator_set_atomic_intf.h"
#include "kernel_tensor.h"

namespace aivops_emulator {

enum class BufferState : uint8_t { free, occupied, enqueued, dequeued };

struct QueueBuffer {
    uint32_t address;
    uint32_t bytes;
    BufferState state;
    uint8_t event_id;       // events 8 and up belong to queues: one per buffer
    bool free_event;        // FreeTensor has set the event that AllocTensor waits for
    PipePair used_by;       // pipes of that event
    PipePair enqueue_event; // pipes of the event that EnQue has set
};

constexpr uint32_t kFirstQueueEvent = kUserEvents;
constexpr uint32_t kMaxBuffers = kIsC310 ? 63 : 64;               // of one TPipe
constexpr uint32_t kMaxQueueBuffers = kIsC310 ? 28 : kMaxBuffers; // dav-c310-vec has as many locks for them

// Longer ones, and whole reservations, count as so many: beyond any unified buffer, and offsets into them do not wrap.
constexpr uint32_t kMostBufferBytes = 1u << 30;
constexpr uint32_t round_to_block(uint32_t bytes) {
    return bytes > kMostBufferBytes ? kMostBufferBytes : (bytes + 31) / 32 * 32;
}

AIVOPS_EMU_INLINE void set_queue_event(PipePair pipes, uint32_t id) {
    table()->set_flag(block(), pipes.source, pipes.destination, id);
}

AIVOPS_EMU_INLINE void wait_queue_event(PipePair pipes, uint32_t id) {
    table()->wait_flag(block(), pipes.source, pipes.destination, id);
}

// What AllocTensor would wait for next.
AIVOPS_EMU_INLINE void wait_until_free(QueueBuffer& buffer) {
    if (buffer.free_event)
        wait_queue_event(buffer.used_by, buffer.event_id);
    buffer.free_event = false;
}

} // namespace aivops_emulator

namespace AscendC {

class TPipe;

template <TPosition pos = TPosition::LCM>
class TBuf {
    static_assert(aivops_emulator::is_unified_buffer(pos), "TBuf: a vector core has VECIN, VECOUT and VECCALC only");

  public:
    template <typename T>
    AIVOPS_EMU_INLINE LocalTensor<T> Get() {
        return Get<T>(bytes_ / sizeof(T));
    }
    template <typename T>
    AIVOPS_EMU_INLINE LocalTensor<T> Get(uint32_t count) {
        return GetWithOffset<T>(count, 0);
    }
    // `offset` in bytes.
    template <typename T>
    AIVOPS_EMU_INLINE LocalTensor<T> GetWithOffset(uint32_t count, uint32_t offset) {
        if (offset % 32 != 0)
            aivops_emulator::fault(AIVOPS_EMU_MEMCHECK, "TBuf::GetWithOffset: the offset is no multiple of 32 bytes");
        const uint64_t bytes = static_cast<uint64_t>(count) * sizeof(T);
        if (offset + bytes > bytes_)
            aivops_emulator::fault(
                AIVOPS_EMU_MEMCHECK,
                aivops_emulator::worded(
                    "TBuf: a tensor of %llu bytes at offset %u reaches beyond the %u bytes that InitBuffer gave it",
                    static_cast<unsigned long long>(bytes), offset, bytes_));
        TBuffAddr address;
        address.dataLen = static_cast<uint32_t>(bytes);
        address.bufferAddr = address_ + offset;
        address.logicPos = static_cast<uint8_t>(pos);
        address.buffer_ = {address_, bytes_};
        return LocalTensor<T>(address);
    }
    AIVOPS_EMU_INLINE uint32_t GetBufLen() const { return bytes_; }

  private:
    friend class TPipe;
    uint32_t address_ = 0;
    uint32_t bytes_ = 0;
};

template <TPosition src, TPosition dst, int32_t depth, auto mask = 0>
class TQueBind {
    static_assert(aivops_emulator::is_vector_queue(src, dst),
                  "TQueBind: a vector core moves tensors between GM, VECIN, VECOUT and VECCALC only");

  public:
    static constexpr TPosition srcPosition = src;
    static constexpr TPosition dstPosition = dst;

    template <typename T>
    AIVOPS_EMU_INLINE LocalTensor<T> AllocTensor() {
        for (uint32_t tried = 0; tried < count_; ++tried) {
            aivops_emulator::QueueBuffer& buffer = buffers_[next_];
            next_ = next_ + 1 == count_ ? 0 : next_ + 1;
            if (buffer.state != aivops_emulator::BufferState::free)
                continue;
            aivops_emulator::wait_until_free(buffer);
            buffer.state = aivops_emulator::BufferState::occupied;
            aivops_emulator::table()->ub_invalidate(aivops_emulator::block(), buffer.address, buffer.bytes);
            return tensor_of<T>(buffer);
        }
        aivops_emulator::fault(AIVOPS_EMU_DEADLOCK,
                               count_ == 0
                                   ? "AllocTensor: the queue has no buffers; InitBuffer was not called"
                                   : "AllocTensor: every buffer of the queue is in use; the hardware waits forever");
        return LocalTensor<T>();
    }
    template <typename T>
    AIVOPS_EMU_INLINE void AllocTensor(LocalTensor<T>& tensor) {
        tensor = AllocTensor<T>();
    }

    template <typename T>
    AIVOPS_EMU_INLINE void FreeTensor(LocalTensor<T>& tensor) {
        aivops_emulator::QueueBuffer* buffer = own_buffer(tensor.address_);
        if (buffer == nullptr || buffer->state == aivops_emulator::BufferState::free) {
            aivops_emulator::fault(AIVOPS_EMU_MEMCHECK,
                                   buffer == nullptr ? "FreeTensor: the tensor belongs to no buffer of this queue"
                                                     : "FreeTensor: the tensor is free already (double free)");
            return;
        }
        if (buffer->state == aivops_emulator::BufferState::enqueued)
            forget(buffer);
        constexpr aivops_emulator::PipePair pipes = aivops_emulator::pipes_of_queue(src, dst);
        buffer->used_by = {pipes.destination, pipes.source};
        buffer->free_event = true;
        buffer->state = aivops_emulator::BufferState::free;
        aivops_emulator::table()->ub_invalidate(aivops_emulator::block(), buffer->address, buffer->bytes);
        aivops_emulator::set_queue_event(buffer->used_by, buffer->event_id);
        tensor.address_.buffer_ = aivops_emulator::kFreed;
    }

    template <typename T>
    AIVOPS_EMU_INLINE bool EnQue(const LocalTensor<T>& tensor) {
        return EnQue<src, dst>(tensor);
    }
    template <TPosition srcPos, TPosition dstPos, typename T>
    AIVOPS_EMU_INLINE bool EnQue(const LocalTensor<T>& tensor) {
        static_assert(aivops_emulator::is_vector_queue(srcPos, dstPos), "EnQue: not a way a vector core has");
        aivops_emulator::QueueBuffer* buffer = own_buffer(tensor.address_);
        const char* wrong = nullptr;
        if (buffer == nullptr)
            wrong = "EnQue: the tensor belongs to no buffer of this queue";
        else if (buffer->state != aivops_emulator::BufferState::occupied &&
                 buffer->state != aivops_emulator::BufferState::dequeued)
            wrong = "EnQue: the tensor is not in the kernel's hands (it was freed or enqueued before)";
        else if (depth > 0 && length_ >= depth)
            wrong = "EnQue: the queue holds as many tensors as its depth allows";
        if (wrong != nullptr) {
            aivops_emulator::fault(AIVOPS_EMU_SYNCCHECK, wrong);
            return false;
        }
        buffer->enqueue_event = aivops_emulator::pipes_of_queue(srcPos, dstPos);
        buffer->state = aivops_emulator::BufferState::enqueued;
        aivops_emulator::set_queue_event(buffer->enqueue_event, buffer->event_id);
        order_[(first_ + length_) % aivops_emulator::kMaxBuffers] = static_cast<uint8_t>(buffer - buffers_);
        ++length_;
        return true;
    }

    template <typename T>
    AIVOPS_EMU_INLINE LocalTensor<T> DeQue() {
        if (length_ == 0) {
            aivops_emulator::fault(AIVOPS_EMU_SYNCCHECK, "DeQue: the queue is empty");
            return LocalTensor<T>();
        }
        aivops_emulator::QueueBuffer& buffer = buffers_[order_[first_]];
        first_ = (first_ + 1) % aivops_emulator::kMaxBuffers;
        --length_;
        aivops_emulator::wait_queue_event(buffer.enqueue_event, buffer.event_id);
        buffer.state = aivops_emulator::BufferState::dequeued;
        return tensor_of<T>(buffer);
    }
    template <typename T>
    AIVOPS_EMU_INLINE void DeQue(LocalTensor<T>& tensor) {
        tensor = DeQue<T>();
    }
    template <TPosition srcPos, TPosition dstPos, typename T>
    AIVOPS_EMU_INLINE LocalTensor<T> DeQue() {
        static_assert(aivops_emulator::is_vector_queue(srcPos, dstPos), "DeQue: not a way a vector core has");
        constexpr aivops_emulator::PipePair pipes = aivops_emulator::pipes_of_queue(srcPos, dstPos);
        if (length_ > 0) {
            const aivops_emulator::PipePair set = buffers_[order_[first_]].enqueue_event;
            if (set.source != pipes.source || set.destination != pipes.destination)
                aivops_emulator::fault(AIVOPS_EMU_SYNCCHECK, "DeQue: the tensor was enqueued for other positions");
        }
        return DeQue<T>();
    }

    AIVOPS_EMU_INLINE bool VacantInQue() const { return depth <= 0 || length_ < depth; }
    AIVOPS_EMU_INLINE bool HasTensorInQue() const { return length_ > 0; }
    AIVOPS_EMU_INLINE int32_t GetTensorCountInQue() const { return length_; }
    AIVOPS_EMU_INLINE bool HasIdleBuffer() const {
        for (uint32_t i = 0; i < count_; ++i) {
            if (buffers_[i].state == aivops_emulator::BufferState::free)
                return true;
        }
        return false;
    }
    AIVOPS_EMU_INLINE void FreeAllEvent() {
        for (uint32_t i = 0; i < count_; ++i)
            aivops_emulator::wait_until_free(buffers_[i]);
    }

  private:
    friend class TPipe;

    template <typename T>
    AIVOPS_EMU_INLINE LocalTensor<T> tensor_of(aivops_emulator::QueueBuffer& buffer) {
        TBuffAddr address;
        address.dataLen = buffer.bytes;
        address.bufferAddr = buffer.address;
        address.bufferHandle = &buffer;
        address.logicPos = static_cast<uint8_t>(dst == TPosition::GM ? src : dst);
        address.buffer_ = {buffer.address, buffer.bytes};
        return LocalTensor<T>(address);
    }

    AIVOPS_EMU_INLINE aivops_emulator::QueueBuffer* own_buffer(const TBuffAddr& address) {
        for (uint32_t i = 0; i < count_; ++i) {
            if (address.bufferHandle == &buffers_[i])
                return &buffers_[i];
        }
        return nullptr;
    }

    // Takes a tensor that is freed while it waits in the queue out of it.
    AIVOPS_EMU_INLINE void forget(aivops_emulator::QueueBuffer* buffer) {
        aivops_emulator::wait_queue_event(buffer->enqueue_event, buffer->event_id);
        int32_t kept = 0;
        for (int32_t i = 0; i < length_; ++i) {
            const uint8_t index = order_[(first_ + i) % aivops_emulator::kMaxBuffers];
            if (&buffers_[index] != buffer)
                order_[(first_ + kept++) % aivops_emulator::kMaxBuffers] = index;
        }
        length_ = kept;
    }

    aivops_emulator::QueueBuffer* buffers_ = nullptr; // in the TPipe
    uint32_t count_ = 0;
    uint32_t next_ = 0;
    int32_t first_ = 0;
    int32_t length_ = 0;
    uint8_t order_[aivops_emulator::kMaxBuffers] = {};
};

// VECIN is filled from global memory, VECOUT goes back to it, VECCALC stays.
template <TPosition pos, int32_t depth, auto mask = 0>
class TQue : public TQueBind<pos == TPosition::VECIN ? TPosition::GM : pos,
                             pos == TPosition::VECOUT ? TPosition::GM : pos, depth, mask> {};

// An event of its own between two pipes.
template <pipe_t src, pipe_t dst>
class TQueSync {
  public:
    AIVOPS_EMU_INLINE void SetFlag(TEventID id) { set_flag(src, dst, id); }
    AIVOPS_EMU_INLINE void WaitFlag(TEventID id) { wait_flag(src, dst, id); }
};

class TPipe {
  public:
    AIVOPS_EMU_INLINE TPipe() { Init(); }
    AIVOPS_EMU_INLINE ~TPipe() { Destroy(); }
    TPipe(const TPipe&) = delete;
    TPipe& operator=(const TPipe&) = delete;

    AIVOPS_EMU_INLINE void Init() {
        Reset();
        aivops_emulator::block()->pipe_object = this;
    }

    // Gives every buffer back and takes the core's modes to their defaults.
    AIVOPS_EMU_INLINE void Reset() {
        settle_queues();
        used_ = 0;
        buffer_count_ = 0;
        plain_count_ = 0;
        aivops_emulator::core_register(AIVOPS_EMU_REGISTER_CONTROL) |= aivops_emulator::kControlReset;
        for (uint8_t& events : events_)
            events = 0;
        SetAtomicNone();
        aivops_emulator::core_register(AIVOPS_EMU_REGISTER_MASK_LOW) = 0;
        aivops_emulator::core_register(AIVOPS_EMU_REGISTER_MASK_HIGH) = 0;
        aivops_emulator::core_register(AIVOPS_EMU_REGISTER_MASK_MODE) = 0;
    }

    AIVOPS_EMU_INLINE void Destroy() {
        settle_queues();
        pipe_barrier(PIPE_ALL);
        if (aivops_emulator::block()->pipe_object == this)
            aivops_emulator::block()->pipe_object = nullptr;
    }

    // `num` buffers of `len` bytes each.
    template <TPosition src, TPosition dst, int32_t depth, auto mask>
    AIVOPS_EMU_INLINE bool InitBuffer(TQueBind<src, dst, depth, mask>& queue, uint8_t num, uint32_t len) {
        if (!has_room(num))
            return false;
        if (num > aivops_emulator::kMaxQueueBuffers - buffer_count_) {
            aivops_emulator::fault(AIVOPS_EMU_MEMCHECK,
                                   "TPipe::InitBuffer: more than 28 buffers of queues in one TPipe");
            return false;
        }
        queue.buffers_ = &buffers_[buffer_count_];
        queue.count_ = num;
        queue.next_ = 0;
        queue.first_ = 0;
        queue.length_ = 0;
        for (uint32_t i = 0; i < num; ++i) {
            aivops_emulator::QueueBuffer& buffer = buffers_[buffer_count_];
            buffer.bytes = aivops_emulator::round_to_block(len);
            buffer.address = take(len);
            buffer.state = aivops_emulator::BufferState::free;
            buffer.event_id = static_cast<uint8_t>(aivops_emulator::kFirstQueueEvent + buffer_count_);
            buffer.free_event = false;
            ++buffer_count_;
        }
        return true;
    }

    template <TPosition pos>
    AIVOPS_EMU_INLINE bool InitBuffer(TBuf<pos>& buffer, uint32_t len) {
        if (!has_room(1))
            return false;
        ++plain_count_;
        buffer.bytes_ = aivops_emulator::round_to_block(len);
        buffer.address_ = take(len);
        return true;
    }

    template <HardEvent event>
    AIVOPS_EMU_INLINE TEventID AllocEventID() {
        const TEventID id = FetchEventID<event>();
        if (id != INVALID_TEVENTID)
            events_[static_cast<uint8_t>(event)] |= static_cast<uint8_t>(1u << id);
        return id;
    }
    template <HardEvent event>
    AIVOPS_EMU_INLINE void ReleaseEventID(TEventID id) {
        events_[static_cast<uint8_t>(event)] &= static_cast<uint8_t>(~(1u << id));
    }
    template <HardEvent event>
    AIVOPS_EMU_INLINE TEventID FetchEventID() {
        return FetchEventID(event);
    }
    AIVOPS_EMU_INLINE TEventID FetchEventID(HardEvent event) {
        for (uint32_t id = 0; id < aivops_emulator::kUserEvents; ++id) {
            if ((events_[static_cast<uint8_t>(event)] >> id & 1) == 0)
                return static_cast<TEventID>(id);
        }
        aivops_emulator::fault(AIVOPS_EMU_SYNCCHECK, "TPipe: all eight event ids of this pair of pipes are taken");
        return INVALID_TEVENTID;
    }

  private:
    // No event of a queue stays set. What AllocTensor gave and nobody freed has none, and its bytes come back anyway.
    AIVOPS_EMU_INLINE void settle_queues() {
        for (uint32_t i = 0; i < buffer_count_; ++i) {
            aivops_emulator::QueueBuffer& buffer = buffers_[i];
            if (buffer.state == aivops_emulator::BufferState::enqueued) {
                aivops_emulator::warn(
                    AIVOPS_EMU_SYNCCHECK,
                    aivops_emulator::worded(
                        "EnQue: the tensor of %u bytes at UB offset %u was never taken from its queue; without a DeQue "
                        "the event of EnQue stays set, for what uses the queue's place next, in this kernel or another",
                        buffer.bytes, buffer.address));
                aivops_emulator::wait_queue_event(buffer.enqueue_event, buffer.event_id);
            }
            aivops_emulator::wait_until_free(buffer);
        }
    }

    AIVOPS_EMU_INLINE bool has_room(uint32_t more) {
        if (buffer_count_ + plain_count_ + more <= aivops_emulator::kMaxBuffers)
            return true;
        aivops_emulator::fault(AIVOPS_EMU_MEMCHECK, aivops_emulator::kIsC310
                                                        ? "TPipe::InitBuffer: more than 63 buffers in one TPipe"
                                                        : "TPipe::InitBuffer: more than 64 buffers in one TPipe");
        return false;
    }

    // Reserving more than there is harms nobody: real kernels do it and never touch the rest, so accesses are checked.
    AIVOPS_EMU_INLINE uint32_t take(uint32_t len) {
        const uint32_t address = used_;
        const uint32_t bytes = aivops_emulator::round_to_block(len);
        used_ = bytes > aivops_emulator::kMostBufferBytes - used_ ? aivops_emulator::kMostBufferBytes : used_ + bytes;
        if (used_ > aivops_emulator::block()->ub_bytes)
            aivops_emulator::warn(
                AIVOPS_EMU_MEMCHECK,
                aivops_emulator::worded(
                    "TPipe::InitBuffer: a buffer of %u bytes does not fit: %u of the unified buffer's %u are in use",
                    len, address, aivops_emulator::block()->ub_bytes));
        return address;
    }

    uint32_t used_ = 0;
    uint32_t buffer_count_ = 0; // of queues
    uint32_t plain_count_ = 0;  // of TBuf
    aivops_emulator::QueueBuffer buffers_[aivops_emulator::kMaxQueueBuffers];
    uint8_t events_[static_cast<uint8_t>(HardEvent::MAX)] = {};
};

AIVOPS_EMU_INLINE TPipe* GetTPipePtr() {
    return static_cast<TPipe*>(aivops_emulator::block()->pipe_object);
}

} // namespace AscendC

#endif
