// What value a poll waits for that nothing will end any more: the block is asked. It is shown one value after the other
// until it goes on, and stopped before it does anything that others can see; its launch has failed already.
#ifndef AIVOPS_MACHINE_INQUIRY_H
#define AIVOPS_MACHINE_INQUIRY_H

#include "block.h"

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace aivops::machine {

class Inquiry {
  public:
    /// Of a block that polls.
    explicit Inquiry(Block& block);
    ~Inquiry();
    Inquiry(const Inquiry&) = delete;
    Inquiry& operator=(const Inquiry&) = delete;

    bool over() const { return over_; }
    /// "and goes on with 0x2", or that nothing is known to end the wait.
    std::string answer() const;

    // For the instructions of the table below.
    bool is_flag(Address gm, uint64_t bytes) const { return gm == flag_ && bytes == bytes_; }
    /// The block looks at the flag: the next value takes the place of what it finds.
    void show(uint8_t* content);
    [[noreturn]] void went_on() { stop(shown_); }
    [[noreturn]] void stop(std::optional<uint32_t> expected);

  private:
    Block& block_;
    const Polls polls_; // what it found before it was asked
    Address flag_;
    uint64_t bytes_;
    std::vector<uint32_t> values_; // to be shown
    size_t next_ = 0;
    std::optional<uint32_t> shown_;
    std::optional<uint32_t> expected_;
    bool over_ = false;
};

/// Instructions for a block that is asked: they act at once, and those that others can see end the inquiry.
extern const AivEmuTable kInquiryTable;

} // namespace aivops::machine

#endif // AIVOPS_MACHINE_INQUIRY_H
