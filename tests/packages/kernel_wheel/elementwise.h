// What the element-wise kernels share: tiles through the unified buffer, one instruction per tile.
#ifndef ELEMENTWISE_H
#define ELEMENTWISE_H

#include "kernel_operator.h"

#include "aivops/export.h"

#ifndef ELEMENTWISE_TILE
#define ELEMENTWISE_TILE 1024
#endif

template <typename T, typename Operation>
class Elementwise {
  public:
    __aicore__ inline Elementwise(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint64_t count) : count_(count) {
        a_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(a));
        b_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(b));
        c_.SetGlobalBuffer(reinterpret_cast<__gm__ T*>(c));
        pipe_.InitBuffer(inputs_, 2, 2 * kTile * sizeof(T));
        pipe_.InitBuffer(outputs_, 2, kTile * sizeof(T));
    }

    __aicore__ inline void run() {
        for (uint64_t tile = AscendC::GetBlockIdx(); tile * kTile < count_; tile += AscendC::GetBlockNum()) {
            const uint64_t begin = tile * kTile;
            const uint64_t rest = count_ - begin;
            run_tile(begin, static_cast<uint32_t>(rest < kTile ? rest : kTile));
        }
    }

  private:
    static constexpr uint32_t kTile = ELEMENTWISE_TILE;

    __aicore__ inline void run_tile(uint64_t begin, uint32_t count) {
        const AscendC::DataCopyExtParams copy(1, count * sizeof(T), 0, 0, 0);
        const AscendC::DataCopyPadExtParams<T> pad(false, 0, 0, 0);
        AscendC::LocalTensor<T> inputs = inputs_.template AllocTensor<T>();
        AscendC::DataCopyPad(inputs, a_[begin], copy, pad);
        AscendC::DataCopyPad(inputs[kTile], b_[begin], copy, pad);
        inputs_.EnQue(inputs);

        inputs = inputs_.template DeQue<T>();
        AscendC::LocalTensor<T> output = outputs_.template AllocTensor<T>();
        Operation::run(output, inputs, inputs[kTile], count);
        outputs_.EnQue(output);
        inputs_.FreeTensor(inputs);

        output = outputs_.template DeQue<T>();
        AscendC::DataCopyPad(c_[begin], output, copy);
        outputs_.FreeTensor(output);
    }

    AscendC::TPipe pipe_;
    AscendC::TQue<AscendC::TPosition::VECIN, 1> inputs_;
    AscendC::TQue<AscendC::TPosition::VECOUT, 1> outputs_;
    AscendC::GlobalTensor<T> a_, b_, c_;
    uint64_t count_;
};

#define ELEMENTWISE_OPERATION(Name, Instruction)                                                                       \
    struct Name {                                                                                                      \
        template <typename Tensor>                                                                                     \
        __aicore__ static inline void run(const Tensor& c, const Tensor& a, const Tensor& b, uint32_t count) {         \
            AscendC::Instruction(c, a, b, count);                                                                      \
        }                                                                                                              \
    }

#define ELEMENTWISE_KERNEL(name, Type, Operation)                                                                      \
    extern "C" __global__ __aicore__ void name(GM_ADDR a, GM_ADDR b, GM_ADDR c, uint64_t count) {                      \
        Elementwise<Type, Operation>(a, b, c, count).run();                                                            \
    }                                                                                                                  \
    AIVOPS_EXPORT_KERNEL(name)

#endif // ELEMENTWISE_H
