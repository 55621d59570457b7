// Tensors: LocalTensor names bytes of the unified buffer by offset, GlobalTensor elements of global memory by address.
#ifndef AIVOPS_ASCENDC_KERNEL_TENSOR_H
#define AIVOPS_ASCENDC_KERNEL_TENSOR_H
#pragma GCC system_header

#include "../aivops_emulator/ub_buffer.h"
#include "common_types.h"

namespace aivops_emulator {

struct QueueBuffer;

template <typename Operation, typename T>
struct BinaryExpression;

} // namespace aivops_emulator

namespace AscendC {

using TBufHandle = aivops_emulator::QueueBuffer*;

// Public, because kernels without TPipe fill it themselves.
struct TBuffAddr {
    uint32_t dataLen = 0;              // bytes
    uint32_t bufferAddr = 0;           // offset in the unified buffer
    TBufHandle bufferHandle = nullptr; // the queue buffer the tensor belongs to
    uint8_t logicPos = static_cast<uint8_t>(TPosition::VECCALC);
    aivops_emulator::UbBuffer buffer_; // what InitBuffer gave it; the emulator's own
};

// What `tensor(i)` is: reads and writes go through the scalar unit.
template <typename Tensor, typename T>
class ScalarReference {
  public:
    AIVOPS_EMU_INLINE ScalarReference(const Tensor& tensor, uint64_t index) : tensor_(tensor), index_(index) {}

    AIVOPS_EMU_INLINE operator T() const { return tensor_.GetValue(index_); }
    AIVOPS_EMU_INLINE const ScalarReference& operator=(T value) const {
        const_cast<Tensor&>(tensor_).SetValue(index_, value);
        return *this;
    }
    AIVOPS_EMU_INLINE const ScalarReference& operator=(const ScalarReference& other) const {
        return *this = static_cast<T>(other);
    }
    AIVOPS_EMU_INLINE const ScalarReference& operator+=(T value) const { return *this = T(*this) + value; }
    AIVOPS_EMU_INLINE const ScalarReference& operator-=(T value) const { return *this = T(*this) - value; }

  private:
    Tensor tensor_;
    uint64_t index_;
};

template <typename T>
class LocalTensor {
  public:
    using PrimType = T;
    TBuffAddr address_;

    AIVOPS_EMU_INLINE LocalTensor() { address_.bufferAddr = AIVOPS_EMU_NO_UB; }
    // `address` in bytes from the start of the unified buffer; `count` elements.
    AIVOPS_EMU_INLINE LocalTensor(TPosition position, uint32_t address, uint32_t count) {
        address_.logicPos = static_cast<uint8_t>(position);
        address_.bufferAddr = address;
        address_.dataLen = count * sizeof(T);
    }
    AIVOPS_EMU_INLINE explicit LocalTensor(const TBuffAddr& address) : address_(address) {}
    LocalTensor(const LocalTensor&) = default;
    LocalTensor& operator=(const LocalTensor&) = default;

    AIVOPS_EMU_INLINE T GetValue(uint32_t index) const {
        T value;
        aivops_emulator::check_buffer("GetValue", address_.buffer_, offset_of(index), sizeof(T));
        __builtin_memcpy(&value,
                         aivops_emulator::table()->ub_scalar(aivops_emulator::block(), offset_of(index), sizeof(T), 0),
                         sizeof(T));
        return value;
    }

    template <typename S>
    AIVOPS_EMU_INLINE void SetValue(uint32_t index, S value) const {
        const T converted = static_cast<T>(value);
        aivops_emulator::check_buffer("SetValue", address_.buffer_, offset_of(index), sizeof(T));
        __builtin_memcpy(aivops_emulator::table()->ub_scalar(aivops_emulator::block(), offset_of(index), sizeof(T), 1),
                         &converted, sizeof(T));
    }

    AIVOPS_EMU_INLINE ScalarReference<LocalTensor, T> operator()(uint32_t index) const { return {*this, index}; }

    // Computes `src0 + src1` and the like into this tensor.
    template <typename Operation>
    AIVOPS_EMU_INLINE void operator=(const aivops_emulator::BinaryExpression<Operation, T>& expression) const {
        expression.assign_to(*this);
    }

    // The tensor from element `offset` on.
    AIVOPS_EMU_INLINE LocalTensor operator[](uint32_t offset) const {
        LocalTensor part = *this;
        const uint32_t bytes = offset * sizeof(T);
        part.address_.bufferAddr += bytes;
        part.address_.dataLen = bytes < address_.dataLen ? address_.dataLen - bytes : 0;
        return part;
    }

    template <typename U>
    AIVOPS_EMU_INLINE LocalTensor<U> ReinterpretCast() const {
        return LocalTensor<U>(address_);
    }

    // An address of the unified buffer, which is no address of the host.
    AIVOPS_EMU_INLINE uint64_t GetPhyAddr() const { return address_.bufferAddr; }
    AIVOPS_EMU_INLINE uint64_t GetPhyAddr(uint32_t index) const { return offset_of(index); }

    AIVOPS_EMU_INLINE uint32_t GetSize() const { return address_.dataLen / sizeof(T); }
    AIVOPS_EMU_INLINE void SetSize(uint32_t count) { address_.dataLen = count * sizeof(T); }
    AIVOPS_EMU_INLINE uint32_t GetLength() const { return address_.dataLen; }
    AIVOPS_EMU_INLINE void SetBufferLen(uint32_t bytes) { address_.dataLen = bytes; }
    AIVOPS_EMU_INLINE int32_t GetPosition() const { return address_.logicPos; }
    AIVOPS_EMU_INLINE void SetAddr(const TBuffAddr& address) { address_ = address; }
    AIVOPS_EMU_INLINE void SetAddrWithOffset(LocalTensor& base, uint32_t offset) { *this = base[offset]; }

  private:
    AIVOPS_EMU_INLINE uint32_t offset_of(uint32_t index) const {
        return address_.bufferAddr + index * static_cast<uint32_t>(sizeof(T));
    }
};

template <typename T>
class GlobalTensor {
  public:
    using PrimType = T;

    AIVOPS_EMU_INLINE GlobalTensor() {}

    AIVOPS_EMU_INLINE void SetGlobalBuffer(__gm__ T* address) {
        address_ = address;
        count_ = 0;
    }
    AIVOPS_EMU_INLINE void SetGlobalBuffer(__gm__ T* address, uint64_t count) {
        address_ = address;
        count_ = count;
    }

    // Loads and stores of the scalar unit, through the data cache of the core.
    AIVOPS_EMU_INLINE T GetValue(uint64_t index) const {
        T value;
        aivops_emulator::table()->gm_load(aivops_emulator::block(), address_ + index, &value, sizeof(T));
        return value;
    }
    AIVOPS_EMU_INLINE void SetValue(uint64_t index, T value) {
        aivops_emulator::table()->gm_store(aivops_emulator::block(), address_ + index, &value, sizeof(T));
    }
    AIVOPS_EMU_INLINE ScalarReference<GlobalTensor, T> operator()(uint64_t index) const { return {*this, index}; }

    AIVOPS_EMU_INLINE GlobalTensor operator[](uint64_t offset) const {
        GlobalTensor part = *this;
        part.address_ += offset;
        part.count_ = offset < count_ ? count_ - offset : 0;
        return part;
    }

    template <typename U>
    AIVOPS_EMU_INLINE GlobalTensor<U> ReinterpretCast() const {
        static_assert(aivops_emulator::kIsC310 || sizeof(U) == 0,
                      "GlobalTensor::ReinterpretCast: dav-c310-vec has it, dav-c220-vec has not");
        GlobalTensor<U> other;
        other.SetGlobalBuffer(reinterpret_cast<__gm__ U*>(address_), count_ * sizeof(T) / sizeof(U));
        return other;
    }

    AIVOPS_EMU_INLINE __gm__ T* GetPhyAddr() const { return address_; }
    AIVOPS_EMU_INLINE __gm__ T* GetPhyAddr(uint64_t index) const { return address_ + index; }
    AIVOPS_EMU_INLINE uint64_t GetSize() const { return count_; }

    // A hint about the shared cache, which does not change what is read or written.
    template <CacheRwMode rwMode = CacheRwMode::RW>
    AIVOPS_EMU_INLINE void SetL2CacheHint(CacheMode) {}

  private:
    __gm__ T* address_ = nullptr;
    uint64_t count_ = 0; // 0: not told
};

} // namespace AscendC

#endif
