// One collective call on one rank: a task on a stream that moves bytes through the data queues of the communicator and
// never blocks. Ranks tell each other what they were called for; calls that do not match end with an error on both.
#ifndef AIVOPS_EMULATOR_HCCL_OPERATION_H
#define AIVOPS_EMULATOR_HCCL_OPERATION_H

#include "communicator.h"
#include "data_type.h"
#include "machine/task.h"

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace aivops::hccl {

/// What the ranks of one call must agree on. Members that a call does not have are 0.
struct Call {
    uint32_t kind = 0; // HcclCMDType
    uint32_t data_type = 0;
    uint32_t reduction = 0;
    uint32_t root = 0;
    uint64_t count = 0;
};

class Operation : public machine::Task {
  public:
    Operation(std::shared_ptr<Communicator> communicator, const Call& call);

    // What this rank has to do, told before it is submitted. Ranges are device memory.
    void send(uint32_t peer, const void* from, uint64_t bytes);
    void receive(uint32_t peer, void* to, uint64_t bytes);
    void copy(const void* from, void* to, uint64_t bytes);
    /// Elements of all ranks, in rank order: this one's are at `own`, the others send theirs.
    void fold(const void* own, void* to, uint64_t count, HcclDataType type, HcclReduceOp op);

    /// Transfers that carry another call than the operation's own: those of a batch.
    void set_call(const Call& call) { call_ = call; }

    Step step(machine::Device& device) override;
    void abandon(machine::Device& device) override;
    std::optional<machine::Failure> failure() override { return std::move(failure_); }
    machine::Activity activity() const override;

  private:
    struct Header {
        Call call;
        uint64_t bytes; // that follow
    };
    struct Outgoing {
        uint32_t peer;
        Lanes::Place place;
        Header header;
        const std::byte* from;
        uint64_t header_sent = 0;
        uint64_t sent = 0;
        bool done = false;
    };
    struct Incoming {
        uint32_t peer;
        Lanes::Place place;
        Header expected;
        std::byte* to; // NULL: for the fold
        bool matched = false;
        uint64_t received = 0;
        bool done = false;
    };
    struct Copy {
        const std::byte* from;
        std::byte* to;
        uint64_t bytes;
    };
    struct Folding {
        Fold functions;
        const std::byte* own;
        std::byte* to;
        uint64_t count;
        uint64_t element_bytes;
        uint64_t folded = 0;
        uint32_t next_rank = 0;
        std::vector<std::byte> wide{};
        std::vector<std::byte> elements{};
    };

    void begin();
    void check_memory() const;
    bool overwrites_what_it_sends() const;
    void keep_copies_of_inputs();
    bool advance();
    bool advance(Outgoing& outgoing);
    bool advance(Incoming& incoming);
    bool advance_fold();
    bool match(Incoming& incoming);
    bool is_done() const;
    void look_for_trouble();
    void fail(int code, const std::string& message);

    std::shared_ptr<Communicator> communicator_;
    Call call_;
    std::vector<Outgoing> outgoing_;
    std::vector<Incoming> incoming_;
    std::vector<Copy> copies_;
    std::optional<Folding> folding_;
    std::vector<std::vector<std::byte>> kept_; // inputs that outputs would overwrite
    bool begun_ = false;
    int64_t stalled_since_ = 0;
    int64_t next_look_ = 0;
    std::optional<machine::Failure> failure_;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_OPERATION_H
