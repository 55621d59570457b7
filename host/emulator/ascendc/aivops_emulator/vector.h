// Instructions of the vector pipe: operands with strides, lanes chosen by a count or by masks and repeats.
// Parameters hold offsets in the unified buffer, never pointers, because the machine may run an instruction late.
#ifndef AIVOPS_EMULATOR_VECTOR_H
#define AIVOPS_EMULATOR_VECTOR_H
#pragma GCC system_header

#include "../basic_api/kernel_struct_repeat.h"
#include "../basic_api/kernel_tensor.h"

namespace aivops_emulator {

constexpr uint32_t kUbBlockBytes = 32;
constexpr uint32_t kRepeatBytes = 256;

template <typename T>
constexpr uint32_t kLanesPerRepeat = kRepeatBytes / sizeof(T);

struct Operand {
    UbBuffer buffer;
    uint32_t offset;
    uint32_t block_stride;  // bytes between 32-byte blocks of a repeat
    uint32_t repeat_stride; // bytes between repeats
};

// The elements an instruction works on: `count` in a row, or, when `repeats` is not 0, the lanes of `mask` in each
// repeat. `asked` is how far a mask reaches that was given for a repeat of `per_repeat` lanes, 0 for other masks.
struct Lanes {
    uint64_t mask[2];
    uint32_t count;
    uint32_t repeats;
    uint64_t asked;
    uint32_t per_repeat;
};

template <typename T>
AIVOPS_EMU_INLINE T ub_load(const uint8_t* ub, uint32_t offset) {
    T value;
    __builtin_memcpy(&value, ub + offset, sizeof(T));
    return value;
}

template <typename T>
AIVOPS_EMU_INLINE void ub_store(uint8_t* ub, uint32_t offset, T value) {
    __builtin_memcpy(ub + offset, &value, sizeof(T));
}

// Where element number `index` of a row lies.
struct RowPosition {
    uint32_t index;

    template <typename T>
    AIVOPS_EMU_INLINE uint32_t of(const Operand& operand) const {
        return operand.offset + index * static_cast<uint32_t>(sizeof(T));
    }
};

// Where lane `lane` of repeat `repeat` lies.
struct LanePosition {
    uint32_t repeat;
    uint32_t lane;

    template <typename T>
    AIVOPS_EMU_INLINE uint32_t of(const Operand& operand) const {
        constexpr uint32_t per_block = kUbBlockBytes / sizeof(T);
        return operand.offset + repeat * operand.repeat_stride + lane / per_block * operand.block_stride +
               lane % per_block * static_cast<uint32_t>(sizeof(T));
    }
};

AIVOPS_EMU_INLINE bool is_selected(const Lanes& lanes, uint32_t lane) {
    return (lanes.mask[lane / 64] >> lane % 64 & 1) != 0;
}

// Calls `function` with the position of every selected element. `per_repeat` lanes make a repeat.
template <typename Function>
AIVOPS_EMU_INLINE void for_each_lane(const Lanes& lanes, uint32_t per_repeat, Function function) {
    if (lanes.repeats == 0) {
        for (uint32_t i = 0; i < lanes.count; ++i)
            function(RowPosition{i});
        return;
    }
    for (uint32_t repeat = 0; repeat < lanes.repeats; ++repeat) {
        for (uint32_t lane = 0; lane < per_repeat; ++lane) {
            if (is_selected(lanes, lane))
                function(LanePosition{repeat, lane});
        }
    }
}

// ---- Lanes and operands as the API's overloads give them ----

AIVOPS_EMU_INLINE Lanes row(int64_t count) {
    return Lanes{{0, 0}, static_cast<uint32_t>(count), 0, 0, 0};
}

// A mask of bits. Up to 64 lanes it is one word long.
AIVOPS_EMU_INLINE Lanes masked(const uint64_t mask[], uint32_t repeats, uint32_t per_repeat) {
    const uint64_t high = per_repeat > 64 ? mask[1] : 0;
    const uint64_t word = high != 0 ? high : mask[0];
    const uint64_t reach = word == 0 ? 0 : 64 - static_cast<uint64_t>(__builtin_clzll(word));
    return Lanes{{mask[0], high}, 0, repeats, high != 0 ? 64 + reach : reach, per_repeat};
}

// The first `leading` lanes of every repeat.
AIVOPS_EMU_INLINE Lanes masked(uint64_t leading, uint32_t repeats, uint32_t per_repeat) {
    const uint64_t all = ~uint64_t(0);
    const uint64_t low = leading >= 64 ? all : (uint64_t(1) << leading) - 1;
    const uint64_t high = leading <= 64 ? 0 : leading >= 128 ? all : (uint64_t(1) << (leading - 64)) - 1;
    return Lanes{{low, high}, 0, repeats, leading, per_repeat};
}

// The lanes of SetVectorMask. In counter mode the mask is a number of elements and the repeats do not count.
AIVOPS_EMU_INLINE Lanes by_register(uint32_t repeats) {
    const uint64_t low = ~core_register(AIVOPS_EMU_REGISTER_MASK_LOW);
    const uint64_t high = ~core_register(AIVOPS_EMU_REGISTER_MASK_HIGH);
    if (core_register(AIVOPS_EMU_REGISTER_MASK_MODE) != 0)
        return row(static_cast<int64_t>(low));
    return Lanes{{low, high}, 0, repeats, 0, 0};
}

// The lanes of the forms with a mask of bits, or with a number of leading lanes; without isSetMask the register's. A
// repeat has as many lanes as elements of T.
template <typename T, bool isSetMask, typename Mask>
AIVOPS_EMU_INLINE Lanes lanes_of(Mask mask, uint32_t repeats) {
    return isSetMask ? masked(mask, repeats, kLanesPerRepeat<T>) : by_register(repeats);
}

// What a mask may be. One that selects nothing is harmless, and most likely not what was meant.
AIVOPS_EMU_INLINE void check_mask(const char* name, const Lanes& lanes) {
    if (__builtin_expect(lanes.asked > lanes.per_repeat, false))
        fault(AIVOPS_EMU_MEMCHECK,
              worded("%s: the mask is for %lld lanes, but a repeat of 256 bytes has %u, of %u bytes each; what is more "
                     "takes more repeats",
                     name, static_cast<long long>(lanes.asked), lanes.per_repeat, kRepeatBytes / lanes.per_repeat));
    if (__builtin_expect(lanes.repeats != 0 && (lanes.mask[0] | lanes.mask[1]) == 0, false))
        warn(AIVOPS_EMU_MEMCHECK, worded("%s: the mask selects no lane, so nothing is computed", name));
}

template <typename T>
AIVOPS_EMU_INLINE Operand operand(const AscendC::LocalTensor<T>& tensor, uint32_t block_stride = 1,
                                  uint32_t repeat_stride = 8) {
    return Operand{tensor.address_.buffer_, tensor.address_.bufferAddr, block_stride * kUbBlockBytes,
                   repeat_stride * kUbBlockBytes};
}

// ---- Issuing ----

// What the machine is told about the bytes an instruction touches: a row, or the blocks of each repeat that have
// selected lanes. The list is long enough for most; an operand that needs more leaves one range to each that follows,
// and its last one then reaches to the end of its last repeat. Not inlined: it would be the largest part of every
// instruction, in the binary and in the time to compile it.
class Ranges {
  public:
    __attribute__((noinline)) void add(const Operand& operand, const Lanes& lanes, uint32_t element_bytes,
                                       uint32_t per_repeat, bool write) {
        if (lanes.repeats == 0) {
            push(operand, static_cast<uint64_t>(lanes.count) * element_bytes, write);
            return;
        }
        const uint32_t per_block = kUbBlockBytes / element_bytes;
        uint32_t used = 0; // blocks of a repeat, one bit each
        uint32_t last = 0;
        for (uint32_t lane = 0; lane < per_repeat; ++lane) {
            if (is_selected(lanes, lane)) {
                used |= 1u << lane / per_block;
                last = lane;
            }
        }
        if (used == 0)
            return;
        // Of very many pieces the gaps within a repeat count as touched.
        const bool apart = lanes.repeats * static_cast<uint32_t>(__builtin_popcount(used)) <= kLimit / kMostOperands;
        const uint32_t own = count_;
        uint32_t end = operand.offset;
        for (uint32_t repeat = 0; repeat < lanes.repeats; ++repeat) {
            const uint32_t start = operand.offset + repeat * operand.repeat_stride;
            uint32_t begin = start + static_cast<uint32_t>(__builtin_ctz(used)) * operand.block_stride;
            for (uint32_t block = 0; block <= last / per_block; ++block) {
                if ((used >> block & 1) == 0)
                    continue;
                const uint32_t at = start + block * operand.block_stride;
                const uint32_t lanes_there = block == last / per_block ? last % per_block + 1 : per_block;
                const uint32_t piece_end = at + lanes_there * element_bytes;
                begin = apart ? at : begin;
                end = piece_end > end ? piece_end : end;
                if (apart || block == last / per_block)
                    add_piece(own, begin, piece_end, write);
            }
        }
        keep_within(operand, end - operand.offset);
        ++operands_;
    }

    __attribute__((noinline)) void push(const Operand& operand, uint64_t bytes, bool write) {
        if (bytes != 0)
            append(operand.offset, bytes, write);
        keep_within(operand, bytes);
        ++operands_;
    }

    const AivEmuRange* data() const { return ranges_; }
    uint8_t count() const { return static_cast<uint8_t>(count_); }
    // Of the first operand that leaves its buffer; no bytes when none does.
    const Overrun& overrun() const { return overrun_; }

  private:
    static constexpr uint32_t kLimit = 255;
    static constexpr uint32_t kMostOperands = 4; // of one instruction: Select's

    // Behind the pieces of the same operand, which begin at number `own`: without a gap it belongs to the one before,
    // and so does what finds no room.
    void add_piece(uint32_t own, uint32_t begin, uint32_t end, bool write) {
        const uint32_t room = kLimit - (kMostOperands - operands_ - 1);
        if (count_ > own) {
            AivEmuRange& before = ranges_[count_ - 1];
            if ((begin >= before.ub && begin <= before.ub + before.bytes) || count_ == room) {
                before.bytes = end > before.ub + before.bytes ? end - before.ub : before.bytes;
                return;
            }
        }
        append(begin, end - begin, write);
    }

    __attribute__((noinline)) void append(uint32_t offset, uint64_t bytes, bool write) {
        AivEmuRange& range = ranges_[count_++];
        range = AivEmuRange{};
        range.ub = offset;
        range.bytes = static_cast<uint32_t>(bytes);
        range.write = write;
        range.align = kUbBlockBytes;
    }

    void keep_within(const Operand& operand, uint64_t bytes) {
        if (overrun_.bytes == 0 && !operand.buffer.holds(operand.offset, bytes))
            overrun_ = {operand.buffer, operand.offset, bytes};
    }

    Overrun overrun_ = {};
    AivEmuRange ranges_[kLimit];
    uint32_t count_ = 0;
    uint32_t operands_ = 0;
};

template <typename Parameters>
AIVOPS_EMU_INLINE void issue_vector(const char* name, void (*execute)(uint8_t*, const void*),
                                    const Parameters& parameters, const Ranges& ranges) {
    static_assert(sizeof(Parameters) <= 256, "the machine copies at most 256 bytes");
    check_mask(name, parameters.lanes);
    if (__builtin_expect(ranges.overrun().bytes != 0, false))
        warn_of_overrun(overrun_text(name, ranges.overrun()));
    AivEmuCompute compute{};
    compute.name = name;
    compute.pipe = AIVOPS_EMU_PIPE_V;
    compute.range_count = ranges.count();
    compute.parameter_bytes = sizeof(Parameters);
    compute.ranges = ranges.data();
    compute.execute = execute;
    compute.parameters = &parameters;
    table()->compute(block(), &compute);
}

// ---- Element arithmetic ----

// Narrow floats compute in float; integers as they are.
template <typename T>
using Wide = std::conditional_t<kIsAnyOf<T, half, bfloat16_t, fp8_e4m3fn_t, fp8_e5m2_t, fp8_e8m0_t>, float, T>;

// Signed integers wrap, so they add, subtract and multiply as unsigned ones of at least 32 bits.
template <typename T>
struct Wrapping {
    using Type = T;
};
template <>
struct Wrapping<int8_t> {
    using Type = uint32_t;
};
template <>
struct Wrapping<uint8_t> {
    using Type = uint32_t;
};
template <>
struct Wrapping<int16_t> {
    using Type = uint32_t;
};
template <>
struct Wrapping<uint16_t> {
    using Type = uint32_t;
};
template <>
struct Wrapping<int32_t> {
    using Type = uint32_t;
};
template <>
struct Wrapping<int64_t> {
    using Type = uint64_t;
};
template <typename T>
using WrappingType = typename Wrapping<T>::Type;

// Bit 48 of CTRL off, the reset value, means saturating arithmetic of half (and on dav-c220-vec of bfloat16_t too):
// infinities become the largest number and NaN becomes 0.
constexpr uint32_t kControlNarrowFloats = 48;

template <typename T>
AIVOPS_EMU_INLINE bool saturates() {
    if constexpr (std::is_same_v<T, half> || (std::is_same_v<T, bfloat16_t> && !kIsC310))
        return (core_register(AIVOPS_EMU_REGISTER_CONTROL) >> kControlNarrowFloats & 1) == 0;
    else
        return false;
}

template <typename T>
AIVOPS_EMU_INLINE T narrow(Wide<T> value, bool saturate) {
    if constexpr (std::is_same_v<T, Wide<T>>) {
        return value;
    } else {
        if (saturate && value != value)
            return T::from_bits(0);
        return T::from_bits(static_cast<typename T::Bits>(T::Format::encode(value, Rounding::rint, saturate)));
    }
}

} // namespace aivops_emulator

#endif
