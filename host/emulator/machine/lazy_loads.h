// Loads into the unified buffer that are put off: what only passes through it on its way to GM is then copied once.
// Whatever could tell the difference makes them happen first: an instruction that uses their bytes of the buffer, every
// other access to GM, what orders the scalar unit behind them, what others can see, and waiting. A store of more than
// kSmallBytes tells others nothing: flags are smaller, and strict mode reports kernels that poll a part of such a
// store.
#ifndef AIVOPS_MACHINE_LAZY_LOADS_H
#define AIVOPS_MACHINE_LAZY_LOADS_H

#include <array>
#include <cstdint>

namespace aivops::machine {

struct Block;

class LazyLoads {
  public:
    static constexpr uint32_t kLeastBytes = 1024; // less is copied faster than it is remembered

    explicit LazyLoads(Block& block) : block_(block) {}

    void clear() { count_ = 0; }

    /// The bytes of the buffer from `ub` on are to become those at `from`.
    void put_off(uint32_t ub, const uint8_t* from, uint32_t bytes);

    /// Where to read the content of these bytes of the buffer: there, or at the source when all were put off.
    const uint8_t* read(uint32_t ub, uint32_t bytes);

    /// These bytes of the buffer are about to be used where they are.
    void settle(uint32_t ub, uint32_t bytes) {
        if (count_ != 0) {
            settle_overlapping(ub, bytes);
        }
    }
    void settle_all() {
        if (count_ != 0) {
            settle_overlapping(0, ~uint32_t{0});
        }
    }

    /// These bytes of the buffer get another content, or none.
    void forget(uint32_t ub, uint32_t bytes);

    /// GM is about to be written there.
    void settle_sources(const uint8_t* gm, uint64_t bytes);

  private:
    struct Load {
        uint32_t ub;
        uint32_t bytes;
        const uint8_t* from;

        bool overlaps(uint32_t begin, uint32_t length) const {
            return begin < uint64_t{ub} + bytes && ub < uint64_t{begin} + length;
        }
    };

    void settle_overlapping(uint32_t ub, uint32_t bytes);
    template <typename Condition>
    void settle_if(Condition condition);
    void happen(const Load& load);
    void drop(uint32_t index) { loads_[index] = loads_[--count_]; }

    Block& block_;
    std::array<Load, 4> loads_; // of separate bytes of the buffer
    uint32_t count_ = 0;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_LAZY_LOADS_H
