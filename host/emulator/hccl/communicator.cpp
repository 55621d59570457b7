#include "communicator.h"

#include "acl/acl.h"
#include "acl/library_interface.h"
#include "environment.h"
#include "error.h"

#include <algorithm>
#include <chrono>
#include <cstring>
#include <map>
#include <unistd.h>

namespace aivops::hccl {
namespace {

using Clock = std::chrono::steady_clock;

constexpr uint32_t kLookMilliseconds = 50; // between looks at whether the others still live

void copy_text(char* to, size_t bytes, const std::string& text) {
    std::memset(to, 0, bytes);
    text.copy(to, bytes - 1);
}

std::string text_of(const char* text, size_t bytes) {
    return {text, strnlen(text, bytes)};
}

std::vector<uint32_t> devices_of(const std::vector<Member>& members) {
    std::vector<uint32_t> devices;
    for (const Member& member : members) {
        devices.push_back(member.device);
    }
    return devices;
}

} // namespace

Communicator::Communicator(std::shared_ptr<Board> board, uint32_t rank, uint32_t size, uint32_t device,
                           Settings settings)
    : board_(std::move(board)), rank_(rank), device_(device), settings_(std::move(settings)),
      mail_((board_->agree_on_size(size), board_), rank), windows_(device, settings_.buffer_bytes), contexts_(device),
      channels_(*this), lanes_(size) {
    Slot& slot = board_->slot(rank);
    SlotState empty = SlotState::kEmpty;
    require(slot.state.compare_exchange_strong(empty, SlotState::kClaimed), HCCL_E_PARA,
            "rank " + std::to_string(rank) +
                " has joined this communicator already; every rank calls once, and a root "
                "info makes one communicator");
    slot.member = {};
    slot.member.process = getpid();
    slot.member.device = device;
    slot.member.process_identity = process_identity();
    slot.member.settings = settings_.digest();
    copy_text(slot.member.soc, sizeof slot.member.soc, aclrtGetSocName());
    board_->hold_place(rank);
    slot.state.store(SlotState::kJoined, std::memory_order_release);
    board_->ring_bell();
    name_ = settings_.name.empty() ? board_->generated_name() : settings_.name;
}

Communicator::~Communicator() {
    board_->leave_place(rank_);
}

std::vector<uint32_t> Communicator::others() const {
    std::vector<uint32_t> ranks;
    for (uint32_t rank = 0; rank < size(); ++rank) {
        if (rank != rank_) {
            ranks.push_back(rank);
        }
    }
    return ranks;
}

void Communicator::assemble() {
    auto missing = [this] {
        std::vector<uint32_t> ranks;
        for (uint32_t rank : others()) {
            const SlotState state = board_->slot(rank).state.load(std::memory_order_acquire);
            if (state == SlotState::kEmpty || state == SlotState::kClaimed) {
                ranks.push_back(rank);
            }
        }
        return ranks;
    };
    wait(
        others(), [&] { return missing().empty(); },
        [&] {
            std::string text = "the communicator was not assembled: missing";
            const std::vector<uint32_t> ranks = missing();
            for (size_t index = 0; index < std::min<size_t>(ranks.size(), 8); ++index) {
                text += (index == 0 ? " rank " : ", ") + std::to_string(ranks[index]);
            }
            return text + " of " + std::to_string(size());
        });
    for (uint32_t rank = 0; rank < size(); ++rank) {
        members_.push_back(board_->slot(rank).member);
    }
    check_members();
    graph_ = std::make_unique<RankGraph>(devices_of(members_));
}

void Communicator::check_members() const {
    const Member& own = members_[rank_];
    for (uint32_t rank : others()) {
        const Member& other = members_[rank];
        const std::string name = "rank " + std::to_string(rank);
        const std::string soc = text_of(other.soc, sizeof other.soc);
        require(soc == own.soc, HCCL_E_PARA,
                name + " runs on " + soc + ", this rank on " + own.soc + "; set the same AIVOPS_EMU_SOC");
        require(other.settings == own.settings, HCCL_E_PARA,
                name + " has other settings than this rank; HcclCommConfig and HCCL_* variables must be equal on all "
                       "ranks");
        require(other.device < acl::library_interface::device_count(), HCCL_E_PARA,
                name + " is on device " + std::to_string(other.device) +
                    ", which this process does not have; set the "
                    "same AIVOPS_EMU_DEVICES");
    }
}

void Communicator::wait(const std::vector<uint32_t>& needed, const std::function<bool()>& done,
                        const std::function<std::string()>& what) {
    const uint32_t seconds = connect_seconds();
    const Clock::time_point deadline = Clock::now() + std::chrono::seconds(seconds);
    Clock::time_point next_look = Clock::now() + std::chrono::milliseconds(kLookMilliseconds);
    while (true) {
        const uint32_t bell = board_->bell();
        if (done()) {
            return;
        }
        if (Clock::now() >= next_look) {
            next_look = Clock::now() + std::chrono::milliseconds(kLookMilliseconds);
            // Who ends because another one did comes soon after it, so all are told.
            std::string ends;
            for (uint32_t rank : needed) {
                if (std::optional<std::string> end = board_->end_of(rank)) {
                    ends += "; " + *end;
                }
            }
            require(ends.empty() || done(), HCCL_E_REMOTE, what() + ends);
            require(Clock::now() < deadline, HCCL_E_TIMEOUT,
                    what() + " after " + std::to_string(seconds) + " s (HCCL_CONNECT_TIMEOUT and 20)");
        }
        board_->sleep(bell, kLookMilliseconds);
    }
}

void Communicator::fail(const std::string& message) {
    std::call_once(failed_, [&] {
        Slot& slot = board_->slot(rank_);
        copy_text(slot.failure, sizeof slot.failure, message);
        slot.failed.store(1, std::memory_order_release);
        board_->ring_bell();
    });
}

namespace handles {
namespace {

struct Table {
    std::mutex mutex;
    std::map<HcclComm, std::shared_ptr<Communicator>> communicators;
};

Table& table() {
    // Never destroyed: programs may call from their own destructors.
    static Table& instance = *new Table;
    return instance;
}

} // namespace

HcclComm add(std::shared_ptr<Communicator> communicator) {
    HcclComm handle = communicator.get();
    std::lock_guard lock(table().mutex);
    table().communicators[handle] = std::move(communicator);
    return handle;
}

std::shared_ptr<Communicator> find(HcclComm handle) {
    require_pointer(handle, "comm");
    std::lock_guard lock(table().mutex);
    auto found = table().communicators.find(handle);
    require(found != table().communicators.end(), HCCL_E_PARA,
            "the communicator handle is none, or the communicator was destroyed");
    return found->second;
}

HcclComm find_name(const std::string& name, std::optional<uint32_t> device) {
    std::lock_guard lock(table().mutex);
    for (const auto& [handle, communicator] : table().communicators) {
        if (communicator->name() == name && (!device || communicator->device() == *device)) {
            return handle;
        }
    }
    return nullptr;
}

void remove(HcclComm handle) {
    std::shared_ptr<Communicator> last;
    std::lock_guard lock(table().mutex);
    auto found = table().communicators.find(handle);
    if (found != table().communicators.end()) {
        last = std::move(found->second);
        table().communicators.erase(found);
    }
}

} // namespace handles

} // namespace aivops::hccl
