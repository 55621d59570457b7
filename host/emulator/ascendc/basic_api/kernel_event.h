// Which pipes a queue orders, by where its tensors come from and go to.
#ifndef AIVOPS_ASCENDC_KERNEL_EVENT_H
#define AIVOPS_ASCENDC_KERNEL_EVENT_H
#pragma GCC system_header

#include "common_types.h"

namespace aivops_emulator {

// EnQue and DeQue order `source` before `destination`; FreeTensor and AllocTensor order the other way round.
constexpr PipePair pipes_of_queue(AscendC::TPosition source, AscendC::TPosition destination) {
    if (source == AscendC::TPosition::GM)
        return {PIPE_MTE2, PIPE_V};
    if (destination == AscendC::TPosition::GM)
        return {PIPE_V, PIPE_MTE3};
    return {PIPE_MTE2, PIPE_MTE3};
}

constexpr bool is_vector_queue(AscendC::TPosition source, AscendC::TPosition destination) {
    const bool global_source = source == AscendC::TPosition::GM;
    const bool global_destination = destination == AscendC::TPosition::GM;
    return (global_source || is_unified_buffer(source)) && (global_destination || is_unified_buffer(destination)) &&
           !(global_source && global_destination);
}

} // namespace aivops_emulator

#endif
