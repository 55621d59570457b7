// A communication kernel in the style of the field's own, which the emulated compiler must take as it is: no include
// guard, `using namespace`, tensors and queues as members, more unified buffer than there is, entries made by X-macros.
#include "kernel_common.h"
#include "kernel_operator.h"

using namespace AscendC;

#define FLAG_SIZE 128
#define UB_FLAG_BYTES 2560
#define UB_DATA_BYTES (190 * 1024)

#define EXPORT_AIV_META_INFO(kernel_name)                                                                              \
    static const struct FunLevelKType kernel_name##_kernel_type_section __attribute__((                                \
        used, section(".ascend.meta." #kernel_name))) = {{F_TYPE_KTYPE, sizeof(unsigned int), K_TYPE_AIV}}

#define KERNEL_ARGS GM_ADDR buffer, GM_ADDR input, GM_ADDR output, uint64_t length, uint32_t reduceOp, int32_t tag
#define KERNEL_CALL buffer, input, output, length, reduceOp, tag

class CommBase {
  public:
    __aicore__ inline CommBase() {}

    __aicore__ inline void Init(GM_ADDR buffer) {
        GM_ADDR_BASE = buffer;
        pipe.InitBuffer(flagBuf, UB_FLAG_BYTES);
        pipe.InitBuffer(inOutQue, 1, UB_DATA_BYTES);
        pipe.InitBuffer(secondQue, 1, UB_DATA_BYTES / 4);
        pipe.InitBuffer(thirdQue, 1, UB_DATA_BYTES / 4);
        localSet = flagBuf.GetWithOffset<int32_t>(8, 0);
        localCheck = flagBuf.GetWithOffset<int32_t>(8, FLAG_SIZE);
        for (uint32_t i = 0; i < 512; ++i) {
            slots[i] = reinterpret_cast<uint64_t>(buffer) + i * FLAG_SIZE;
        }
    }

    __aicore__ inline void Record(uint32_t slot, int32_t value) {
        localSet.SetValue(0, value);
        GlobalTensor<int32_t> flag;
        flag.SetGlobalBuffer((__gm__ int32_t*)((GM_ADDR)slots[slot]));
        pipe_barrier(PIPE_ALL);
        DataCopy(flag, localSet, FLAG_SIZE / sizeof(int32_t));
        pipe_barrier(PIPE_ALL);
    }

    __aicore__ inline void WaitFlag(uint32_t slot, int32_t value) {
        GlobalTensor<int32_t> flag;
        flag.SetGlobalBuffer((__gm__ int32_t*)slots[slot], FLAG_SIZE / sizeof(int32_t));
        while (true) {
            DataCopy(localCheck, flag, FLAG_SIZE / sizeof(int32_t));
            pipe_barrier(PIPE_ALL);
            if (localCheck.GetValue(0) == value) {
                break;
            }
        }
    }

    template <typename T>
    __aicore__ inline void CopyChunk(__gm__ T* dst, __gm__ T* src, uint32_t count) {
        GlobalTensor<T> srcTensor;
        srcTensor.SetGlobalBuffer(src, count);
        GlobalTensor<T> dstTensor;
        dstTensor.SetGlobalBuffer(dst, count);
        LocalTensor<T> localIn = inOutQue.AllocTensor<T>();
        DataCopyExtParams copyParams{1, (uint32_t)(count * sizeof(T)), 0, 0, 0};
        DataCopyPadExtParams<T> padParams{true, 0, 1, 0};
        DataCopyPad(localIn, srcTensor, copyParams, padParams);
        inOutQue.EnQue(localIn);
        LocalTensor<T> localOut = inOutQue.DeQue<T>();
        DataCopyPad(dstTensor, localOut, copyParams);
        inOutQue.FreeTensor(localOut);
    }

    template <typename T>
    __aicore__ inline void Copy(__gm__ T* dst, __gm__ T* src, uint64_t count, uint32_t op, bool atomic) {
        if (atomic) {
            return SetAtomicOp<T>(op), CopyAll(dst, src, count), SetAtomicNone();
        }
        return CopyAll(dst, src, count);
    }

    template <typename T>
    __aicore__ inline void CopyAll(__gm__ T* dst, __gm__ T* src, uint64_t count) {
        const uint64_t chunk = UB_DATA_BYTES / 2 / sizeof(T);
        for (uint64_t done = 0; done < count; done += chunk) {
            CopyChunk(dst + done, src + done, min(chunk, count - done));
        }
    }

    template <typename T>
    __aicore__ inline void SetAtomicOp(uint32_t op) {
        if constexpr (!Std::is_same<T, int64_t>::value) {
            switch (op) {
            case HcclReduceOp::HCCL_REDUCE_SUM:
                SetAtomicAdd<T>();
                break;
            case HcclReduceOp::HCCL_REDUCE_MAX:
                SetAtomicMax<T>();
                break;
            case HCCL_REDUCE_MIN:
                SetAtomicMin<T>();
                break;
            default:
                SetAtomicNone();
            }
        }
    }

    TPipe pipe;
    TBuf<> flagBuf;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> inOutQue;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> secondQue;
    TQueBind<QuePosition::VECIN, QuePosition::VECOUT, 1> thirdQue;
    LocalTensor<int32_t> localSet;
    LocalTensor<int32_t> localCheck;
    GM_ADDR GM_ADDR_BASE;
    uint64_t slots[512] = {};
    uint32_t blockIdx_ = GetBlockIdx();
    uint32_t numBlocks_ = GetBlockNum();
};

template <typename T>
class CopyKernel : public CommBase {
  public:
    __aicore__ inline void Process(KERNEL_ARGS) {
        uint64_t share = length / numBlocks_;
        uint64_t begin = share * blockIdx_;
        uint64_t count = blockIdx_ == numBlocks_ - 1 ? length - begin : share;
        Copy<T>((__gm__ T*)output + begin, (__gm__ T*)input + begin, count, reduceOp, tag > 1);
        Record(blockIdx_, tag);
        SyncAll<true>();
        WaitFlag(blockIdx_, tag);
    }
};

template <typename T>
__aicore__ inline void copy_kernel(KERNEL_ARGS) {
    CopyKernel<T> op;
    op.Init(buffer);
    op.Process(KERNEL_CALL);
}

#define COPY_KERNEL(type)                                                                                              \
    extern "C" __global__ __aicore__ void vendor_copy_##type(KERNEL_ARGS) {                                            \
        return copy_kernel<type>(KERNEL_CALL);                                                                         \
    }                                                                                                                  \
    EXPORT_AIV_META_INFO(vendor_copy_##type);

#define FOR_EACH_TYPE(func)                                                                                            \
    func(half);                                                                                                        \
    func(int16_t);                                                                                                     \
    func(float);                                                                                                       \
    func(int32_t);                                                                                                     \
    func(int8_t);                                                                                                      \
    func(bfloat16_t);                                                                                                  \
    func(int64_t)

FOR_EACH_TYPE(COPY_KERNEL);
