// Makes every rank stop waiting: raises the abort words of all windows.
#ifndef AIVOPS_ABORT_H
#define AIVOPS_ABORT_H

#include "kernel_operator.h"

#include "aivops/window_layout.h"

namespace aivops {

// `header` is that of this rank's window; `flag` is room for one flag. The words are added to, because lanes and ranks
// may raise them at the same time.
__aicore__ inline void raise_abort_words(const AscendC::GlobalTensor<uint64_t>& header,
                                         AscendC::LocalTensor<uint32_t>& flag) {
    flag.SetValue(0, 1u);
    for (uint32_t i = 1; i < kFlagBytes / sizeof(uint32_t); ++i) {
        flag.SetValue(i, 0u);
    }
    AscendC::PipeBarrier<PIPE_ALL>();
    AscendC::SetAtomicAdd<int32_t>();
    AscendC::LocalTensor<int32_t> one = flag.ReinterpretCast<int32_t>();
    const uint64_t size = header.GetValue(kHeaderSize);
    for (uint64_t rank = 0; rank < size; ++rank) {
        AscendC::GlobalTensor<int32_t> word;
        word.SetGlobalBuffer(reinterpret_cast<__gm__ int32_t*>(header.GetValue(kHeaderWindows + rank) + kAbortOffset));
        AscendC::DataCopy(word, one, kFlagBytes / sizeof(int32_t));
    }
    AscendC::SetAtomicNone();
    AscendC::PipeBarrier<PIPE_ALL>();
}

} // namespace aivops

#endif // AIVOPS_ABORT_H
