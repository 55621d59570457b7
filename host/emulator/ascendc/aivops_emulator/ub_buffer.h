// The buffers of the unified buffer that TPipe::InitBuffer hands out. Every tensor carries the one that it was taken
// from, so that an operand which leaves it, and is in its neighbour, is known without a look anywhere else.
#ifndef AIVOPS_EMULATOR_UB_BUFFER_H
#define AIVOPS_EMULATOR_UB_BUFFER_H
#pragma GCC system_header

#include "core.h"

namespace aivops_emulator {

struct UbBuffer {
    uint32_t begin = 0;            // offset in the unified buffer
    uint32_t bytes = ~uint32_t(0); // this many: a tensor that was taken from no buffer may be anywhere

    AIVOPS_EMU_INLINE bool holds(uint32_t ub, uint64_t length) const {
        return length == 0 || static_cast<uint32_t>(ub - begin) + length <= bytes;
    }
};

// What a tensor has once FreeTensor took its buffer back.
constexpr UbBuffer kFreed = {~uint32_t(0), 0};

// The bytes from `ub` on of an instruction that leave the buffer they belong to.
struct Overrun {
    UbBuffer buffer;
    uint32_t ub;
    uint64_t bytes;
};

// Not inlined, as all that words and finds overruns: instructions stay small where kernels call them, and the warning
// has the place of that call. Null for what ends behind the unified buffer, which is the machine's to report.
__attribute__((noinline, visibility("hidden"))) inline const char* overrun_text(const char* name,
                                                                                const Overrun& overrun) {
    const UbBuffer buffer = overrun.buffer;
    const auto bytes = static_cast<unsigned long long>(overrun.bytes);
    if (overrun.ub + overrun.bytes > block()->ub_bytes)
        return nullptr;
    if (buffer.begin == kFreed.begin)
        return worded("%s: %llu bytes at UB offset %u are of a tensor that FreeTensor gave back; the next AllocTensor "
                      "may hand them out again",
                      name, bytes, overrun.ub);
    return worded("%s: %llu bytes at UB offset %u leave their buffer of %u bytes at offset %u; %s", name, bytes,
                  overrun.ub, buffer.bytes, buffer.begin,
                  buffer.bytes != 0 ? "what lies there is another buffer's, or nobody's"
                                    : "InitBuffer was not called for it, or with a length of 0");
}

AIVOPS_EMU_INLINE void warn_of_overrun(const char* text) {
    if (__builtin_expect(text != nullptr, false))
        warn(AIVOPS_EMU_MEMCHECK, text);
}

AIVOPS_EMU_INLINE void check_buffer(const char* name, UbBuffer buffer, uint32_t ub, uint32_t bytes) {
    if (__builtin_expect(!buffer.holds(ub, bytes), false))
        warn_of_overrun(overrun_text(name, {buffer, ub, bytes}));
}

} // namespace aivops_emulator

#endif
