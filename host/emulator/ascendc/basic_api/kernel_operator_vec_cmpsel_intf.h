// Compare writes a bit per element; Select chooses by such bits.
#ifndef AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_CMPSEL_INTF_H
#define AIVOPS_ASCENDC_KERNEL_OPERATOR_VEC_CMPSEL_INTF_H
#pragma GCC system_header

#include "../aivops_emulator/elementwise.h"

namespace AscendC {

enum class CMPMODE : uint8_t { LT = 0, GT, EQ, LE, GE, NE };

enum class SELMODE : uint8_t { VSEL_CMPMASK_SPR = 0, VSEL_TENSOR_SCALAR_MODE, VSEL_TENSOR_TENSOR_MODE };

} // namespace AscendC

namespace aivops_emulator {

template <typename T>
bool compares(T a, T b, AscendC::CMPMODE mode) {
    switch (mode) {
    case AscendC::CMPMODE::LT:
        return a < b;
    case AscendC::CMPMODE::GT:
        return a > b;
    case AscendC::CMPMODE::EQ:
        return a == b;
    case AscendC::CMPMODE::LE:
        return a <= b;
    case AscendC::CMPMODE::GE:
        return a >= b;
    case AscendC::CMPMODE::NE:
        return a != b;
    }
    return false;
}

AIVOPS_EMU_INLINE bool bit_of(const uint8_t* ub, uint32_t offset, uint32_t index) {
    return (ub[offset + index / 8] >> index % 8 & 1) != 0;
}

AIVOPS_EMU_INLINE void set_bit(uint8_t* ub, uint32_t offset, uint32_t index, bool value) {
    uint8_t& byte = ub[offset + index / 8];
    byte = static_cast<uint8_t>((byte & ~(1u << index % 8)) | (value ? 1u : 0u) << index % 8);
}

// The number of an element among all lanes of an instruction: bits are packed in that order.
AIVOPS_EMU_INLINE uint32_t bit_index(RowPosition position, uint32_t) {
    return position.index;
}
AIVOPS_EMU_INLINE uint32_t bit_index(LanePosition position, uint32_t per_repeat) {
    return position.repeat * per_repeat + position.lane;
}

template <typename T>
AIVOPS_EMU_INLINE uint64_t bit_bytes(const Lanes& lanes) {
    return lanes.repeats == 0 ? (lanes.count + 7) / 8 : lanes.repeats * (kLanesPerRepeat<T> / 8);
}

template <typename T>
struct CompareParameters {
    Operand destination; // bits in a row
    Operand first;
    Operand second;
    Lanes lanes;
    T scalar;
    AscendC::CMPMODE mode;
    bool with_scalar;
};

template <typename T>
void execute_compare(uint8_t* ub, const void* parameters) {
    const CompareParameters<T> p = *static_cast<const CompareParameters<T>*>(parameters);
    for_each_lane(p.lanes, kLanesPerRepeat<T>, [&](auto position) {
        const Wide<T> first = ub_load<T>(ub, position.template of<T>(p.first));
        const Wide<T> second = p.with_scalar ? p.scalar : ub_load<T>(ub, position.template of<T>(p.second));
        set_bit(ub, p.destination.offset, bit_index(position, kLanesPerRepeat<T>),
                compares<Wide<T>>(first, second, p.mode));
    });
}

template <typename T>
AIVOPS_EMU_INLINE void compare(const char* name, const CompareParameters<T>& parameters) {
    static_assert(kIsAnyOf<T, half, float, int32_t> || (kIsC310 && (kIsWideType<T> || kIsByte<T>)),
                  "Compare: half, float and int32_t; dav-c310-vec also the other types");
    if (!kIsC310 && std::is_same_v<T, int32_t> && parameters.mode != AscendC::CMPMODE::EQ)
        fault(AIVOPS_EMU_ASSERT, "Compare: dav-c220-vec compares int32_t with CMPMODE::EQ only");
    if (parameters.lanes.repeats == 0 && parameters.lanes.count * sizeof(T) % kRepeatBytes != 0)
        fault(AIVOPS_EMU_MEMCHECK, "Compare: count elements must fill whole repeats of 256 bytes");
    Ranges ranges;
    ranges.add(parameters.first, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, false);
    if (!parameters.with_scalar)
        ranges.add(parameters.second, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, false);
    ranges.push(parameters.destination, bit_bytes<T>(parameters.lanes), true);
    issue_vector(name, &execute_compare<T>, parameters, ranges);
}

template <typename T>
struct SelectParameters {
    Operand destination;
    Operand bits; // in a row
    Operand first;
    Operand second;
    Lanes lanes;
    T scalar;
    bool with_scalar;
    bool same_bits; // for every repeat
};

template <typename T>
void execute_select(uint8_t* ub, const void* parameters) {
    const SelectParameters<T> p = *static_cast<const SelectParameters<T>*>(parameters);
    for_each_lane(p.lanes, kLanesPerRepeat<T>, [&](auto position) {
        uint32_t index = bit_index(position, kLanesPerRepeat<T>);
        if (p.same_bits)
            index %= kLanesPerRepeat<T>;
        const T other = p.with_scalar ? p.scalar : ub_load<T>(ub, position.template of<T>(p.second));
        const T chosen = bit_of(ub, p.bits.offset, index) ? ub_load<T>(ub, position.template of<T>(p.first)) : other;
        ub_store<T>(ub, position.template of<T>(p.destination), chosen);
    });
}

template <typename T>
AIVOPS_EMU_INLINE void select(const SelectParameters<T>& parameters) {
    static_assert(kIsAnyOf<T, half, float> || (kIsC310 && (kIsWideType<T> || kIsByte<T>)),
                  "Select: half and float; dav-c310-vec also the other types");
    Ranges ranges;
    ranges.push(parameters.bits, parameters.same_bits ? kLanesPerRepeat<T> / 8 : bit_bytes<T>(parameters.lanes), false);
    ranges.add(parameters.first, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, false);
    if (!parameters.with_scalar)
        ranges.add(parameters.second, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, false);
    ranges.add(parameters.destination, parameters.lanes, sizeof(T), kLanesPerRepeat<T>, true);
    issue_vector("Select", &execute_select<T>, parameters, ranges);
}

} // namespace aivops_emulator

// The forms with a mask of bits and with a number of leading lanes.
#define AIVOPS_EMU_COMPARE(mask_type)                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AIVOPS_EMU_INLINE void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,  \
                                   CMPMODE cmpMode, mask_type, uint8_t repeatTime,                                     \
                                   const BinaryRepeatParams& repeatParams) {                                           \
        aivops_emulator::compare<T>(                                                                                   \
            "Compare", {aivops_emulator::operand(dst),                                                                 \
                        aivops_emulator::operand(src0, repeatParams.src0BlkStride, repeatParams.src0RepStride),        \
                        aivops_emulator::operand(src1, repeatParams.src1BlkStride, repeatParams.src1RepStride),        \
                        aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), T(0), cmpMode, false});             \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AIVOPS_EMU_INLINE void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,    \
                                         CMPMODE cmpMode, mask_type, uint8_t repeatTime,                               \
                                         const UnaryRepeatParams& repeatParams) {                                      \
        const auto source = aivops_emulator::operand(src0, repeatParams.srcBlkStride, repeatParams.srcRepStride);      \
        aivops_emulator::compare<T>("CompareScalar", {aivops_emulator::operand(dst), source, source,                   \
                                                      aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime),       \
                                                      src1Scalar, cmpMode, true});                                     \
    }

#define AIVOPS_EMU_SELECT(mask_type)                                                                                   \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AIVOPS_EMU_INLINE void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,                            \
                                  const LocalTensor<T>& src0, const LocalTensor<T>& src1, SELMODE selMode, mask_type,  \
                                  uint8_t repeatTime, const BinaryRepeatParams& repeatParams) {                        \
        aivops_emulator::select<T>(                                                                                    \
            {aivops_emulator::operand(dst, repeatParams.dstBlkStride, repeatParams.dstRepStride),                      \
             aivops_emulator::operand(selMask),                                                                        \
             aivops_emulator::operand(src0, repeatParams.src0BlkStride, repeatParams.src0RepStride),                   \
             aivops_emulator::operand(src1, repeatParams.src1BlkStride, repeatParams.src1RepStride),                   \
             aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), T(0), false,                                   \
             selMode == SELMODE::VSEL_CMPMASK_SPR});                                                                   \
    }                                                                                                                  \
    template <typename T, typename U, bool isSetMask = true>                                                           \
    AIVOPS_EMU_INLINE void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask,                            \
                                  const LocalTensor<T>& src0, T src1, SELMODE selMode, mask_type, uint8_t repeatTime,  \
                                  const BinaryRepeatParams& repeatParams) {                                            \
        const auto source = aivops_emulator::operand(src0, repeatParams.src0BlkStride, repeatParams.src0RepStride);    \
        aivops_emulator::select<T>(                                                                                    \
            {aivops_emulator::operand(dst, repeatParams.dstBlkStride, repeatParams.dstRepStride),                      \
             aivops_emulator::operand(selMask), source, source,                                                        \
             aivops_emulator::lanes_of<T, isSetMask>(mask, repeatTime), src1, true,                                    \
             selMode == SELMODE::VSEL_CMPMASK_SPR});                                                                   \
    }

namespace AscendC {

template <typename T, typename U>
AIVOPS_EMU_INLINE void Compare(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const LocalTensor<T>& src1,
                               CMPMODE cmpMode, uint32_t count) {
    aivops_emulator::compare<T>("Compare",
                                {aivops_emulator::operand(dst), aivops_emulator::operand(src0),
                                 aivops_emulator::operand(src1), aivops_emulator::row(count), T(0), cmpMode, false});
}

template <typename T, typename U>
AIVOPS_EMU_INLINE void CompareScalar(const LocalTensor<U>& dst, const LocalTensor<T>& src0, const T src1Scalar,
                                     CMPMODE cmpMode, uint32_t count) {
    aivops_emulator::compare<T>("CompareScalar", {aivops_emulator::operand(dst), aivops_emulator::operand(src0),
                                                  aivops_emulator::operand(src0), aivops_emulator::row(count),
                                                  src1Scalar, cmpMode, true});
}

template <typename T, typename U>
AIVOPS_EMU_INLINE void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                              const LocalTensor<T>& src1, SELMODE selMode, uint32_t count) {
    aivops_emulator::select<T>({aivops_emulator::operand(dst), aivops_emulator::operand(selMask),
                                aivops_emulator::operand(src0), aivops_emulator::operand(src1),
                                aivops_emulator::row(count), T(0), false, selMode == SELMODE::VSEL_CMPMASK_SPR});
}

template <typename T, typename U>
AIVOPS_EMU_INLINE void Select(const LocalTensor<T>& dst, const LocalTensor<U>& selMask, const LocalTensor<T>& src0,
                              T src1, SELMODE selMode, uint32_t count) {
    aivops_emulator::select<T>({aivops_emulator::operand(dst), aivops_emulator::operand(selMask),
                                aivops_emulator::operand(src0), aivops_emulator::operand(src0),
                                aivops_emulator::row(count), src1, true, selMode == SELMODE::VSEL_CMPMASK_SPR});
}

AIVOPS_EMU_COMPARE(const uint64_t mask[])
AIVOPS_EMU_COMPARE(const uint64_t mask)
AIVOPS_EMU_SELECT(const uint64_t mask[])
AIVOPS_EMU_SELECT(const uint64_t mask)

} // namespace AscendC

#undef AIVOPS_EMU_COMPARE
#undef AIVOPS_EMU_SELECT

#endif
