// One rank's side of a communicator: how it comes about, and what it owns until it is destroyed.
#ifndef AIVOPS_EMULATOR_HCCL_COMMUNICATOR_H
#define AIVOPS_EMULATOR_HCCL_COMMUNICATOR_H

#include "board.h"
#include "channels.h"
#include "engine_contexts.h"
#include "lanes.h"
#include "mail.h"
#include "rank_graph.h"
#include "settings.h"
#include "windows.h"

#include <cstdint>
#include <functional>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

namespace aivops::hccl {

class Communicator {
  public:
    /// Takes the place of `rank` on the board; the others may still be missing.
    Communicator(std::shared_ptr<Board> board, uint32_t rank, uint32_t size, uint32_t device, Settings settings);
    ~Communicator();
    Communicator(const Communicator&) = delete;
    Communicator& operator=(const Communicator&) = delete;

    /// Waits for the other ranks and checks that all want the same.
    void assemble();

    uint32_t rank() const { return rank_; }
    uint32_t size() const { return board_->size(); }
    uint32_t device() const { return device_; }
    const std::string& name() const { return name_; }
    const Settings& settings() const { return settings_; }
    Board& board() { return *board_; }
    const Member& member(uint32_t rank) const { return members_[rank]; }
    bool in_this_process(uint32_t rank) const { return members_[rank].process_identity == process_identity(); }

    Mail& mail() { return mail_; }
    Windows& windows() { return windows_; }
    EngineContexts& contexts() { return contexts_; }
    Channels& channels() { return channels_; }
    RankGraph& graph() { return *graph_; }
    Lanes& lanes() { return lanes_; }

    /// Waits in the calling thread until `done`, which may move mail. Throws when one of `needed` is gone, or after the
    /// time that HCCL_CONNECT_TIMEOUT gives; `what` then says what was waited for.
    void wait(const std::vector<uint32_t>& needed, const std::function<bool()>& done,
              const std::function<std::string()>& what);

    /// For all ranks to see: this one cannot go on.
    void fail(const std::string& message);

    std::vector<uint32_t> others() const;

    /// A communicator that a split made cannot be split again.
    bool is_split() const { return is_split_; }
    void mark_as_split() { is_split_ = true; }

  private:
    void check_members() const;

    std::shared_ptr<Board> board_;
    const uint32_t rank_;
    const uint32_t device_;
    const Settings settings_;
    std::string name_;
    std::vector<Member> members_;
    Mail mail_;
    Windows windows_;
    EngineContexts contexts_;
    Channels channels_;
    std::unique_ptr<RankGraph> graph_; // once assembled
    Lanes lanes_;
    std::once_flag failed_;
    bool is_split_ = false;
};

/// The communicators of this process, by the handles that programs hold.
namespace handles {

HcclComm add(std::shared_ptr<Communicator> communicator);
/// Throws when the handle is none.
std::shared_ptr<Communicator> find(HcclComm handle);
/// The one of this name on `device`, or any where `device` is none; NULL when there is none.
HcclComm find_name(const std::string& name, std::optional<uint32_t> device);
void remove(HcclComm handle);

} // namespace handles

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_COMMUNICATOR_H
