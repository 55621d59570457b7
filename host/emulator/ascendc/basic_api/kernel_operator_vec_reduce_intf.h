// Reductions of a tensor, or of each repeat of it, to one value.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_REDUCE_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_REDUCE_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/elementwise.h"

namespace AscendC {

enum class ReduceOrder : uint8_t {
    ORDER_VALUE_INDEX = 0,
    ORDER_INDEX_VALUE = 1,
    ORDER_ONLY_VALUE = 2,
    ORDER_ONLY_INDEX = 3
};

} // namespace AscendC

namespace aivops_emulator {

enum class Reduction : uint8_t { sum, max, min };

struct ReduceParameters {
    uint32_t destination;
    uint32_t destination_stride; // bytes between the results of repeats; 0: one result for all
    Operand source;
    Lanes lanes;
    Reduction reduction;
    AscendC::ReduceOrder order;
    bool saturate;
};

// Sums in a tree of neighbours, as the vector unit does; the largest and the smallest keep the first position.
template <typename T>
class Reducer {
  public:
    void start() { count_ = 0; }

    void add(T element, uint32_t index, Reduction reduction) {
        const Wide<T> value = element;
        if (reduction == Reduction::sum) {
            // Partial sums of 1, 2, 4, … elements; two of one size become one of the next.
            Wide<T> carry = value;
            uint32_t level = 0;
            for (; (count_ >> level & 1) != 0; ++level)
                carry = partial_[level] + carry;
            partial_[level] = carry;
        } else if (count_ == 0 || (reduction == Reduction::max ? value > best_ : value < best_)) {
            best_ = value;
            index_ = index;
        }
        ++count_;
    }

    T value(Reduction reduction, bool saturate) const {
        if (reduction != Reduction::sum)
            return narrow<T>(best_, saturate);
        Wide<T> sum = 0;
        for (uint32_t level = 0; level < 32; ++level) {
            if ((count_ >> level & 1) != 0)
                sum = partial_[level] + sum;
        }
        return narrow<T>(sum, saturate);
    }

    uint32_t index() const { return index_; }

  private:
    Wide<T> partial_[32];
    Wide<T> best_ = 0;
    uint32_t index_ = 0;
    uint32_t count_ = 0;
};

// The position of the extreme, as an integer of the element's width.
template <typename T>
void store_index(uint8_t* ub, uint32_t offset, uint32_t index) {
    if constexpr (sizeof(T) == 2)
        ub_store<uint16_t>(ub, offset, static_cast<uint16_t>(index));
    else
        ub_store<uint32_t>(ub, offset, index);
}

template <typename T>
void store_result(uint8_t* ub, uint32_t offset, const Reducer<T>& reducer, const ReduceParameters& p) {
    const uint32_t second = offset + sizeof(T);
    const T value = reducer.value(p.reduction, p.saturate);
    switch (p.order) {
    case AscendC::ReduceOrder::ORDER_VALUE_INDEX:
        ub_store<T>(ub, offset, value);
        store_index<T>(ub, second, reducer.index());
        break;
    case AscendC::ReduceOrder::ORDER_INDEX_VALUE:
        store_index<T>(ub, offset, reducer.index());
        ub_store<T>(ub, second, value);
        break;
    case AscendC::ReduceOrder::ORDER_ONLY_VALUE:
        ub_store<T>(ub, offset, value);
        break;
    case AscendC::ReduceOrder::ORDER_ONLY_INDEX:
        store_index<T>(ub, offset, reducer.index());
        break;
    }
}

// One result for all elements. Positions count from the start of the tensor.
template <typename T>
void execute_reduce(uint8_t* ub, const void* parameters) {
    const ReduceParameters p = *static_cast<const ReduceParameters*>(parameters);
    Reducer<T> reducer;
    for_each_lane(p.lanes, kLanesPerRepeat<T>, [&](auto position) {
        const uint32_t offset = position.template of<T>(p.source);
        reducer.add(ub_load<T>(ub, offset), (offset - p.source.offset) / sizeof(T), p.reduction);
    });
    store_result(ub, p.destination, reducer, p);
}

// One result per repeat. Positions count from the start of the repeat.
template <typename T>
void execute_whole_reduce(uint8_t* ub, const void* parameters) {
    const ReduceParameters p = *static_cast<const ReduceParameters*>(parameters);
    for (uint32_t repeat = 0; repeat < p.lanes.repeats; ++repeat) {
        Reducer<T> reducer;
        for (uint32_t lane = 0; lane < kLanesPerRepeat<T>; ++lane) {
            if (is_selected(p.lanes, lane))
                reducer.add(ub_load<T>(ub, LanePosition{repeat, lane}.of<T>(p.source)), lane, p.reduction);
        }
        store_result(ub, p.destination + repeat * p.destination_stride, reducer, p);
    }
}

template <typename T>
constexpr uint32_t result_bytes(AscendC::ReduceOrder order) {
    const bool pair =
        order == AscendC::ReduceOrder::ORDER_VALUE_INDEX || order == AscendC::ReduceOrder::ORDER_INDEX_VALUE;
    return (pair ? 2 : 1) * sizeof(T);
}

template <typename T>
AIVOPS_EMU_INLINE void check_reduction_type() {
    static_assert(kIsAnyOf<T, half, float>, "reductions: half and float");
}

template <typename T>
AIVOPS_EMU_INLINE void reduce(const char* name, Reduction reduction, const AscendC::LocalTensor<T>& dst,
                              const Operand& source, const AscendC::LocalTensor<T>& work, const Lanes& lanes,
                              AscendC::ReduceOrder order) {
    check_reduction_type<T>();
    Ranges ranges;
    ranges.add(source, lanes, sizeof(T), kLanesPerRepeat<T>, false);
    ranges.push(operand(work), kUbBlockBytes, true); // its content is unspecified afterwards
    ranges.push(operand(dst), result_bytes<T>(order), true);
    issue_vector(name, &execute_reduce<T>,
                 ReduceParameters{dst.address_.bufferAddr, 0, source, lanes, reduction, order, saturates<T>()}, ranges);
}

// `stride` in results.
template <typename T>
AIVOPS_EMU_INLINE void whole_reduce(const char* name, Reduction reduction, const AscendC::LocalTensor<T>& dst,
                                    const Operand& source, const Lanes& lanes, int32_t stride,
                                    AscendC::ReduceOrder order) {
    check_reduction_type<T>();
    if (lanes.count != 0)
        fault(AIVOPS_EMU_ASSERT, "WholeReduce*: the counter mode of masks is not emulated");
    const uint32_t bytes = result_bytes<T>(order);
    const uint32_t stride_bytes = static_cast<uint32_t>(stride) * bytes;
    Ranges ranges;
    ranges.add(source, lanes, sizeof(T), kLanesPerRepeat<T>, false);
    if (lanes.repeats > 0)
        ranges.push(operand(dst), static_cast<uint64_t>(lanes.repeats - 1) * stride_bytes + bytes, true);
    issue_vector(
        name, &execute_whole_reduce<T>,
        ReduceParameters{dst.address_.bufferAddr, stride_bytes, source, lanes, reduction, order, saturates<T>()},
        ranges);
}

constexpr AscendC::ReduceOrder order_of(bool with_index) {
    return with_index ? AscendC::ReduceOrder::ORDER_VALUE_INDEX : AscendC::ReduceOrder::ORDER_ONLY_VALUE;
}

} // namespace aivops_emulator

// Whole tensors; `extreme` says whether positions can be asked for.
#define AIVOPS_EMU_REDUCE(name, kind)                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                  \
                                const LocalTensor<T>& sharedTmpBuffer, const int32_t count, bool calIndex = false) {   \
        aivops_emulator::reduce<T>(#name, aivops_emulator::Reduction::kind, dst, aivops_emulator::operand(src),        \
                                   sharedTmpBuffer, aivops_emulator::row(count), aivops_emulator::order_of(calIndex)); \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                  \
                                const LocalTensor<T>& sharedTmpBuffer, const int32_t mask, const int32_t repeatTime,   \
                                const int32_t srcRepStride, bool calIndex = false) {                                   \
        aivops_emulator::reduce<T>(#name, aivops_emulator::Reduction::kind, dst,                                       \
                                   aivops_emulator::operand(src, 1, static_cast<uint32_t>(srcRepStride)),              \
                                   sharedTmpBuffer,                                                                    \
                                   aivops_emulator::lanes_of<T, isSetMask>(static_cast<uint64_t>(mask), repeatTime),   \
                                   aivops_emulator::order_of(calIndex));                                               \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src,                                  \
                                const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[],                          \
                                const int32_t repeatTime, const int32_t srcRepStride, bool calIndex = false) {         \
        aivops_emulator::reduce<T>(#name, aivops_emulator::Reduction::kind, dst,                                       \
                                   aivops_emulator::operand(src, 1, static_cast<uint32_t>(srcRepStride)),              \
                                   sharedTmpBuffer, aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime),         \
                                   aivops_emulator::order_of(calIndex));                                               \
    }

// The forms with a number of leading lanes and with a mask of bits.
#define AIVOPS_EMU_WHOLE_REDUCE(name, kind)                                                                            \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,              \
                                const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,      \
                                const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {      \
        aivops_emulator::whole_reduce<T>(                                                                              \
            #name, aivops_emulator::Reduction::kind, dst, aivops_emulator::operand(src, srcBlkStride, srcRepStride),   \
            aivops_emulator::lanes_of<T, isSetMask>(static_cast<uint64_t>(mask), repeatTime), dstRepStride, order);    \
    }                                                                                                                  \
    template <typename T, bool isSetMask = true>                                                                       \
    AIVOPS_EMU_INLINE void name(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],           \
                                const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,      \
                                const int32_t srcRepStride, ReduceOrder order = ReduceOrder::ORDER_VALUE_INDEX) {      \
        aivops_emulator::whole_reduce<T>(                                                                              \
            #name, aivops_emulator::Reduction::kind, dst, aivops_emulator::operand(src, srcBlkStride, srcRepStride),   \
            aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), dstRepStride, order);                           \
    }

namespace AscendC {

AIVOPS_EMU_REDUCE(ReduceMax, max)
AIVOPS_EMU_REDUCE(ReduceMin, min)
AIVOPS_EMU_WHOLE_REDUCE(WholeReduceMax, max)
AIVOPS_EMU_WHOLE_REDUCE(WholeReduceMin, min)

template <typename T, bool isSetMask = true>
AIVOPS_EMU_INLINE void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const int32_t count) {
    aivops_emulator::reduce<T>("ReduceSum", aivops_emulator::Reduction::sum, dst, aivops_emulator::operand(src),
                               sharedTmpBuffer, aivops_emulator::row(count), ReduceOrder::ORDER_ONLY_VALUE);
}

template <typename T, bool isSetMask = true>
AIVOPS_EMU_INLINE void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const int32_t mask, const int32_t repeatTime,
                                 const int32_t srcRepStride) {
    aivops_emulator::reduce<T>("ReduceSum", aivops_emulator::Reduction::sum, dst,
                               aivops_emulator::operand(src, 1, static_cast<uint32_t>(srcRepStride)), sharedTmpBuffer,
                               aivops_emulator::lanes_of<T, isSetMask>(static_cast<uint64_t>(mask), repeatTime),
                               ReduceOrder::ORDER_ONLY_VALUE);
}

template <typename T, bool isSetMask = true>
AIVOPS_EMU_INLINE void ReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src,
                                 const LocalTensor<T>& sharedTmpBuffer, const uint64_t mask[], const int32_t repeatTime,
                                 const int32_t srcRepStride) {
    aivops_emulator::reduce<T>("ReduceSum", aivops_emulator::Reduction::sum, dst,
                               aivops_emulator::operand(src, 1, static_cast<uint32_t>(srcRepStride)), sharedTmpBuffer,
                               aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime),
                               ReduceOrder::ORDER_ONLY_VALUE);
}

template <typename T, bool isSetMask = true>
AIVOPS_EMU_INLINE void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const int32_t mask,
                                      const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                                      const int32_t srcRepStride) {
    aivops_emulator::whole_reduce<T>("WholeReduceSum", aivops_emulator::Reduction::sum, dst,
                                     aivops_emulator::operand(src, srcBlkStride, srcRepStride),
                                     aivops_emulator::lanes_of<T, isSetMask>(static_cast<uint64_t>(mask), repeatTime),
                                     dstRepStride, ReduceOrder::ORDER_ONLY_VALUE);
}

template <typename T, bool isSetMask = true>
AIVOPS_EMU_INLINE void WholeReduceSum(const LocalTensor<T>& dst, const LocalTensor<T>& src, const uint64_t mask[],
                                      const int32_t repeatTime, const int32_t dstRepStride, const int32_t srcBlkStride,
                                      const int32_t srcRepStride) {
    aivops_emulator::whole_reduce<T>("WholeReduceSum", aivops_emulator::Reduction::sum, dst,
                                     aivops_emulator::operand(src, srcBlkStride, srcRepStride),
                                     aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), dstRepStride,
                                     ReduceOrder::ORDER_ONLY_VALUE);
}

} // namespace AscendC

#undef AIVOPS_EMU_REDUCE
#undef AIVOPS_EMU_WHOLE_REDUCE

#endif
