// Folds the same elements of several ranks in rank order: x0 op x1 op x2 …, one tile at a time in the unified buffer.
// half and bfloat16 are folded in float and rounded once; integers wrap. The order never depends on who folds or how a
// message is cut, so a result is the same for every algorithm, block count and window.
#ifndef AIVOPS_FOLD_H
#define AIVOPS_FOLD_H

#include "kernel_operator.h"

#include "aivops/fingerprint.h"

namespace aivops {

// The type that elements are folded in. int8 goes through int16, whose sums and products agree with int8's in the low
// byte.
template <typename T>
struct AccumulatorOf {
    using Type = T;
};
template <>
struct AccumulatorOf<half> {
    using Type = float;
};
template <>
struct AccumulatorOf<bfloat16_t> {
    using Type = float;
};
template <>
struct AccumulatorOf<int8_t> {
    using Type = int16_t;
};

template <typename T>
class Fold {
  public:
    __aicore__ inline Fold(AscendC::TPipe& pipe, uint32_t reduction) : reduction_(static_cast<Reduction>(reduction)) {
        pipe.InitBuffer(loaded_, 2, kTileCount * sizeof(T));
        pipe.InitBuffer(folded_, 2, kTileCount * sizeof(T));
        if constexpr (kWidens) {
            pipe.InitBuffer(wide_, 2 * kWideBytes);
            accumulator_ = wide_.GetWithOffset<Accumulator>(kTileCount, 0);
            operand_ = wide_.GetWithOffset<Accumulator>(kTileCount, kWideBytes);
        }
        if constexpr (kThroughHalf) {
            pipe.InitBuffer(halves_, kTileCount * sizeof(half));
            half_ = halves_.Get<half>();
        }
    }

    // Folds `count` elements of each of `ranks` places, `source(rank)`, and writes them to `first` and, unless null, to
    // `second`. Either may be one of the sources.
    template <typename Sources>
    __aicore__ inline void fold(__gm__ T* first, __gm__ T* second, const Sources& source, uint32_t ranks,
                                uint64_t count) {
        for (uint64_t done = 0; done < count; done += kTileCount) {
            const uint64_t rest = count - done;
            const uint32_t length = static_cast<uint32_t>(rest < kTileCount ? rest : kTileCount);
            AscendC::LocalTensor<T> result = folded_.template AllocTensor<T>();
            for (uint32_t rank = 0; rank < ranks; ++rank) {
                load(source(rank) + done, length);
                AscendC::LocalTensor<T> tile = loaded_.template DeQue<T>();
                take(result, tile, length, rank == 0);
                loaded_.FreeTensor(tile);
            }
            if constexpr (kWidens) {
                narrow(result, length);
            }
            folded_.EnQue(result);
            result = folded_.template DeQue<T>();
            store(first + done, result, length);
            if (second != nullptr) {
                store(second + done, result, length);
            }
            folded_.FreeTensor(result);
        }
    }

  private:
    using Accumulator = typename AccumulatorOf<T>::Type;
    static constexpr bool kWidens = !AscendC::Std::is_same<T, Accumulator>::value;
    static constexpr bool kThroughHalf = AscendC::Std::is_same<T, int8_t>::value;
    // The vector unit of the 2201 architecture has no 64-bit integers.
    static constexpr bool kScalar = AscendC::Std::is_same<T, int64_t>::value && __NPU_ARCH__ == 2201;
    static constexpr uint32_t kTileCount = sizeof(T) == 8 ? 4096 : 8192;
    static constexpr uint32_t kWideBytes = kTileCount * sizeof(Accumulator);

    __aicore__ inline void load(__gm__ T* source, uint32_t length) {
        AscendC::LocalTensor<T> tile = loaded_.template AllocTensor<T>();
        AscendC::GlobalTensor<T> global;
        global.SetGlobalBuffer(source);
        AscendC::DataCopyPad(tile, global, AscendC::DataCopyExtParams(1, length * sizeof(T), 0, 0, 0),
                             AscendC::DataCopyPadExtParams<T>(false, 0, 0, 0));
        loaded_.EnQue(tile);
    }

    __aicore__ inline void store(__gm__ T* destination, AscendC::LocalTensor<T>& tile, uint32_t length) {
        AscendC::GlobalTensor<T> global;
        global.SetGlobalBuffer(destination);
        AscendC::DataCopyPad(global, tile, AscendC::DataCopyExtParams(1, length * sizeof(T), 0, 0, 0));
    }

    // Puts the first tile in place, or folds the next one onto what is there.
    __aicore__ inline void take(AscendC::LocalTensor<T>& result, AscendC::LocalTensor<T>& tile, uint32_t length,
                                bool first) {
        if constexpr (kScalar) {
            take_scalar(result, tile, length, first);
        } else if constexpr (kWidens) {
            AscendC::LocalTensor<Accumulator>& target = first ? accumulator_ : operand_;
            widen(target, tile, length);
            if (!first) {
                AscendC::PipeBarrier<PIPE_V>();
                combine(accumulator_, operand_, length);
            }
            AscendC::PipeBarrier<PIPE_V>();
        } else {
            if (first) {
                // Whole 32-byte units; what lies behind the last element is never stored.
                constexpr uint32_t kUnit = 32 / sizeof(T);
                AscendC::DataCopy(result, tile, (length + kUnit - 1) / kUnit * kUnit);
            } else {
                combine(result, tile, length);
            }
            AscendC::PipeBarrier<PIPE_V>();
        }
    }

    __aicore__ inline void take_scalar(AscendC::LocalTensor<T>& result, AscendC::LocalTensor<T>& tile, uint32_t length,
                                       bool first) {
        AscendC::PipeBarrier<PIPE_ALL>();
        for (uint32_t i = 0; i < length; ++i) {
            const T value = tile.GetValue(i);
            result.SetValue(i, first ? value : combine(result.GetValue(i), value));
        }
        AscendC::PipeBarrier<PIPE_ALL>();
    }

    __aicore__ inline T combine(T a, T b) const {
        switch (reduction_) {
        case Reduction::kSum:
            return static_cast<T>(static_cast<uint64_t>(a) + static_cast<uint64_t>(b));
        case Reduction::kProd:
            return static_cast<T>(static_cast<uint64_t>(a) * static_cast<uint64_t>(b));
        case Reduction::kMax:
            return a > b ? a : b;
        default:
            return a < b ? a : b;
        }
    }

    __aicore__ inline void combine(AscendC::LocalTensor<Accumulator>& accumulator,
                                   AscendC::LocalTensor<Accumulator>& operand, uint32_t length) const {
        const int32_t count = static_cast<int32_t>(length);
        switch (reduction_) {
        case Reduction::kSum:
            AscendC::Add(accumulator, accumulator, operand, count);
            break;
        case Reduction::kProd:
            AscendC::Mul(accumulator, accumulator, operand, count);
            break;
        case Reduction::kMax:
            AscendC::Max(accumulator, accumulator, operand, count);
            break;
        default:
            AscendC::Min(accumulator, accumulator, operand, count);
            break;
        }
    }

    __aicore__ inline void widen(AscendC::LocalTensor<Accumulator>& target, AscendC::LocalTensor<T>& tile,
                                 uint32_t length) {
        if constexpr (kThroughHalf) {
            AscendC::Cast(half_, tile, AscendC::RoundMode::CAST_NONE, length);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(target, half_, AscendC::RoundMode::CAST_RINT, length);
        } else {
            AscendC::Cast(target, tile, AscendC::RoundMode::CAST_NONE, length);
        }
    }

    __aicore__ inline void narrow(AscendC::LocalTensor<T>& result, uint32_t length) {
        if constexpr (kThroughHalf) {
            // Casts to int8 saturate, sums are to wrap: times 256 keeps the low byte, and the way back is exact in
            // half.
            const int32_t count = static_cast<int32_t>(length);
            AscendC::Muls(accumulator_, accumulator_, static_cast<int16_t>(256), count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(half_, accumulator_, AscendC::RoundMode::CAST_NONE, length);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Muls(half_, half_, static_cast<half>(1.0f / 256), count);
            AscendC::PipeBarrier<PIPE_V>();
            AscendC::Cast(result, half_, AscendC::RoundMode::CAST_RINT, length);
        } else {
            AscendC::Cast(result, accumulator_, AscendC::RoundMode::CAST_RINT, length);
        }
        AscendC::PipeBarrier<PIPE_V>();
    }

    Reduction reduction_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> loaded_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> folded_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> wide_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> halves_;
    AscendC::LocalTensor<Accumulator> accumulator_;
    AscendC::LocalTensor<Accumulator> operand_;
    AscendC::LocalTensor<half> half_;
};

} // namespace aivops

#endif // AIVOPS_FOLD_H
