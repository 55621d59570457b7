// Random numbers of one chooser. The same seed gives the same ones on every machine.
#ifndef AIVOPS_MACHINE_DICE_H
#define AIVOPS_MACHINE_DICE_H

#include <cstdint>

namespace aivops::machine {

class Dice {
  public:
    Dice() = default;
    /// Choosers of one seed differ by their number.
    Dice(uint64_t seed, uint64_t chooser) : state_(seed * 0x9e3779b97f4a7c15u + chooser * 0xd1342543de82ef95u) {
        draw();
    }

    uint64_t draw() {
        uint64_t mixed = state_ += 0x9e3779b97f4a7c15u;
        mixed = (mixed ^ (mixed >> 30)) * 0xbf58476d1ce4e5b9u;
        mixed = (mixed ^ (mixed >> 27)) * 0x94d049bb133111ebu;
        return mixed ^ (mixed >> 31);
    }
    uint64_t below(uint64_t limit) { return draw() % limit; }
    bool one_in(uint64_t chances) { return below(chances) == 0; }

  private:
    uint64_t state_ = 0;
};

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_DICE_H
