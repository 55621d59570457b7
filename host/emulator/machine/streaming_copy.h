// Copies whose destination passes the caches by, for more than they would keep until somebody reads it; meanwhile they
// fetch what a block is going to load next, since a core waits for memory in one direction at a time otherwise.
#ifndef AIVOPS_MACHINE_STREAMING_COPY_H
#define AIVOPS_MACHINE_STREAMING_COPY_H

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>

namespace aivops::machine {

/// What a block has loaded since its last store. It will probably load what lies behind it in memory: a guess that
/// costs little when it is wrong, and may point to where nothing is.
class RecentLoads {
  public:
    struct Piece {
        const uint8_t* behind;
        size_t bytes;
    };

    void clear() { count_ = 0; }
    void add(const void* from, size_t bytes) {
        if (count_ < pieces_.size()) {
            pieces_[count_++] = {static_cast<const uint8_t*>(from) + bytes, bytes};
        }
    }
    std::span<const Piece> pieces() const { return {pieces_.data(), count_}; }

  private:
    std::array<Piece, 8> pieces_;
    size_t count_ = 0;
};

/// As memcpy, with the loads to come fetched ahead. Where the CPU cannot do better it is memcpy.
void streaming_copy(void* to, const void* from, size_t bytes, std::span<const RecentLoads::Piece> ahead);

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_STREAMING_COPY_H
