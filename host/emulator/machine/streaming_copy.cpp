#include "streaming_copy.h"

#include <cstdint>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace aivops::machine {

#if defined(__SSE2__)

void streaming_copy(void* to, const void* from, size_t bytes) {
    constexpr size_t kLine = 64;
    auto* target = static_cast<uint8_t*>(to);
    auto* source = static_cast<const uint8_t*>(from);
    const size_t head = -reinterpret_cast<uintptr_t>(target) % kLine;
    if (bytes < head + kLine) {
        std::memcpy(target, source, bytes);
        return;
    }
    std::memcpy(target, source, head);
    target += head;
    source += head;
    bytes -= head;
    for (; bytes >= kLine; bytes -= kLine, target += kLine, source += kLine) {
        const auto* read = reinterpret_cast<const __m128i*>(source);
        auto* written = reinterpret_cast<__m128i*>(target);
        const __m128i line[] = {_mm_loadu_si128(read), _mm_loadu_si128(read + 1), _mm_loadu_si128(read + 2),
                                _mm_loadu_si128(read + 3)};
        for (int part = 0; part < 4; ++part) {
            _mm_stream_si128(written + part, line[part]);
        }
    }
    _mm_sfence(); // such stores are in no order with others until here
    std::memcpy(target, source, bytes);
}

#else

void streaming_copy(void* to, const void* from, size_t bytes) {
    std::memcpy(to, from, bytes);
}

#endif

} // namespace aivops::machine
