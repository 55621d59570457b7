#include "streaming_copy.h"

#include <algorithm>
#include <cstring>

#if defined(__SSE2__)
#include <emmintrin.h>
#endif

namespace aivops::machine {
namespace {

constexpr size_t kLine = 64;

void fetch(const RecentLoads::Piece& piece, size_t from, size_t to) {
    for (to = std::min(to, piece.bytes); from < to; from += kLine) {
        __builtin_prefetch(piece.behind + from, 0, 2);
    }
}

void copy_lines(uint8_t* target, const uint8_t* source, size_t bytes) {
#if defined(__SSE2__)
    for (; bytes != 0; bytes -= kLine, target += kLine, source += kLine) {
        const auto* read = reinterpret_cast<const __m128i*>(source);
        auto* written = reinterpret_cast<__m128i*>(target);
        const __m128i line[] = {_mm_loadu_si128(read), _mm_loadu_si128(read + 1), _mm_loadu_si128(read + 2),
                                _mm_loadu_si128(read + 3)};
        for (int part = 0; part < 4; ++part) {
            _mm_stream_si128(written + part, line[part]);
        }
    }
#else
    std::memcpy(target, source, bytes);
#endif
}

void end_stream() {
#if defined(__SSE2__)
    _mm_sfence(); // such stores are in no order with others until here
#endif
}

} // namespace

void streaming_copy(void* to, const void* from, size_t bytes, std::span<const RecentLoads::Piece> ahead) {
    constexpr size_t kStep = 4 * kLine; // short, so that loads and stores are under way together
    auto* target = static_cast<uint8_t*>(to);
    auto* source = static_cast<const uint8_t*>(from);
    const size_t head = std::min(bytes, -reinterpret_cast<uintptr_t>(target) % kLine);
    std::memcpy(target, source, head);
    size_t done = head;
    for (; bytes - done >= kStep; done += kStep) {
        for (const RecentLoads::Piece& piece : ahead) {
            fetch(piece, done, done + kStep);
        }
        copy_lines(target + done, source + done, kStep);
    }
    end_stream();
    std::memcpy(target + done, source + done, bytes - done);
}

} // namespace aivops::machine
