#include "board.h"

#include "acl/library_interface.h"
#include "aivops/kernel_binary/counted.h"
#include "error.h"
#include "machine/ipc_life.h"

#include <algorithm>
#include <bit>
#include <cerrno>
#include <climits>
#include <cstring>
#include <ctime>
#include <fcntl.h>
#include <linux/futex.h>
#include <map>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

namespace aivops::hccl {
namespace {

namespace runtime = acl::library_interface;

constexpr uint64_t kMagic = 0x3144524f42564941; // "AIVBORD1": everything below
constexpr uint64_t kHeaderBytes = 4096;

// Queues shrink as their number grows with the square of the ranks.
uint64_t data_bytes(uint64_t pairs) {
    return std::clamp<uint64_t>(std::bit_floor((8u << 20) / pairs), 1024, 64 << 10);
}
uint64_t message_bytes(uint64_t pairs) {
    return std::clamp<uint64_t>(std::bit_floor((1u << 20) / pairs), 512, 4096);
}

// Where things are, for a number of ranks: slots, counters of all queues, then their bytes.
struct Layout {
    explicit Layout(uint64_t ranks)
        : pairs(ranks * ranks), counters(kHeaderBytes + ranks * sizeof(Slot)),
          messages(counters + 2 * pairs * sizeof(RingCounters)), data(messages + pairs * message_bytes(pairs)),
          bytes(data + pairs * data_bytes(pairs)) {}
    uint64_t pairs;
    uint64_t counters;
    uint64_t messages;
    uint64_t data;
    uint64_t bytes;
};

struct OpenBoards {
    std::mutex mutex;
    std::map<std::string, std::weak_ptr<Board>> by_key;
};

OpenBoards& open_boards() {
    static OpenBoards& instance = *new OpenBoards;
    return instance;
}

std::string system_error() {
    return std::strerror(errno);
}

} // namespace

struct Board::Header {
    uint64_t magic;
    uint64_t identity; // random
    std::atomic<uint32_t> size;
    std::atomic<uint32_t> bell;
};

uint64_t process_identity() {
    static const uint64_t identity = [] {
        uint64_t value = 0;
        require(getrandom(&value, sizeof value, 0) == static_cast<ssize_t>(sizeof value), HCCL_E_SYSCALL,
                "the system has no random bits");
        return value;
    }();
    return identity;
}

Board::Board(std::string key, int descriptor, bool owner)
    : key_(std::move(key)), descriptor_(descriptor), owner_(owner), meeting_(runtime::make_meeting()) {
    map(kHeaderBytes);
}

Board::~Board() {
    close_entrance();
    munmap(base_, mapped_);
    close(descriptor_);
}

void Board::map(uint64_t bytes) {
    void* memory = mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, descriptor_, 0);
    require(memory != MAP_FAILED, HCCL_E_MEMORY,
            "the shared memory of the communicator cannot be mapped: " + system_error());
    if (base_ != nullptr) {
        munmap(base_, mapped_);
    }
    base_ = static_cast<std::byte*>(memory);
    mapped_ = bytes;
    header_ = static_cast<Header*>(memory);
}

std::shared_ptr<Board> Board::create() {
    int descriptor = memfd_create("aivops-communicator", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    require(descriptor >= 0, HCCL_E_MEMORY, "no shared memory for a communicator: " + system_error());
    if (posix_fallocate(descriptor, 0, kHeaderBytes) != 0 || fcntl(descriptor, F_ADD_SEALS, F_SEAL_SHRINK) != 0) {
        close(descriptor);
        throw Error(HCCL_E_MEMORY, "no shared memory for a communicator");
    }
    Header header{};
    header.magic = kMagic;
    if (getrandom(&header.identity, sizeof header.identity, 0) != sizeof header.identity ||
        pwrite(descriptor, &header, sizeof header, 0) != sizeof header) {
        close(descriptor);
        throw Error(HCCL_E_SYSCALL, "the shared memory of a communicator cannot be prepared");
    }
    std::string key = runtime::offer(descriptor, {});
    std::shared_ptr<Board> board(new Board(key, descriptor, true));
    std::lock_guard lock(open_boards().mutex);
    open_boards().by_key[key] = board;
    return board;
}

std::shared_ptr<Board> Board::open(const std::string& key) {
    std::lock_guard lock(open_boards().mutex);
    std::erase_if(open_boards().by_key, [](const auto& entry) { return entry.second.expired(); });
    if (auto found = open_boards().by_key.find(key); found != open_boards().by_key.end()) {
        if (std::shared_ptr<Board> board = found->second.lock()) {
            return board;
        }
    }
    machine::IpcReceived received = runtime::fetch(key);
    require(received.descriptor >= 0, HCCL_E_PARA, "the root info is of a communicator that has ended");
    struct stat file{};
    const int seals = fcntl(received.descriptor, F_GET_SEALS);
    if (seals < 0 || (seals & F_SEAL_SHRINK) == 0 || fstat(received.descriptor, &file) != 0 ||
        file.st_size < static_cast<off_t>(kHeaderBytes)) {
        close(received.descriptor);
        throw Error(HCCL_E_PARA, "the root info leads to memory that is no communicator's");
    }
    std::shared_ptr<Board> board(new Board(key, received.descriptor, false));
    require(board->header_->magic == kMagic, HCCL_E_PARA,
            "the root info was made by another version of the emulated toolkit");
    open_boards().by_key[key] = board;
    return board;
}

std::string Board::generated_name() const {
    char text[32];
    std::snprintf(text, sizeof text, "hccl_%016llx", static_cast<unsigned long long>(header_->identity));
    return text;
}

void Board::agree_on_size(uint32_t ranks) {
    std::lock_guard lock(mutex_);
    uint32_t decided = 0;
    if (!header_->size.compare_exchange_strong(decided, ranks) && decided != ranks) {
        throw Error(HCCL_E_PARA, "nRanks is " + std::to_string(ranks) + ", another rank said " +
                                     std::to_string(decided) + "; all ranks must pass the same");
    }
    if (size_ != 0) {
        return;
    }
    const Layout layout(ranks);
    int error = posix_fallocate(descriptor_, 0, static_cast<off_t>(layout.bytes));
    require(error == 0, HCCL_E_MEMORY,
            "no " + aivops::kernel_binary::counted(layout.bytes, "byte") + " of shared memory for a communicator of " +
                aivops::kernel_binary::counted(ranks, "rank") + ": " + std::strerror(error));
    map(layout.bytes);
    size_ = ranks;
}

Slot& Board::slot(uint32_t rank) const {
    return reinterpret_cast<Slot*>(base_ + kHeaderBytes)[rank];
}

Ring Board::ring(Queue queue, uint32_t from, uint32_t to) const {
    const Layout layout(size_);
    const uint64_t pair = static_cast<uint64_t>(from) * size_ + to;
    const bool data = queue == Queue::kData;
    auto* counters = reinterpret_cast<RingCounters*>(base_ + layout.counters) + 2 * pair + (data ? 1 : 0);
    const uint64_t capacity = data ? data_bytes(layout.pairs) : message_bytes(layout.pairs);
    return {counters, base_ + (data ? layout.data : layout.messages) + pair * capacity, capacity};
}

void Board::hold_place(uint32_t rank) {
    machine::hold_life(descriptor_, rank);
}

void Board::leave_place(uint32_t rank) {
    slot(rank).state.store(SlotState::kLeft, std::memory_order_release);
    machine::drop_life(descriptor_, rank);
    ring_bell();
}

std::optional<std::string> Board::failure_of(uint32_t rank) const {
    const Slot& other = slot(rank);
    if (other.failed.load(std::memory_order_acquire) == 0) {
        return std::nullopt;
    }
    return "rank " + std::to_string(rank) +
           " failed: " + std::string(other.failure, strnlen(other.failure, sizeof other.failure));
}

std::optional<std::string> Board::breakdown_of(uint32_t rank) const {
    if (std::optional<std::string> failure = failure_of(rank)) {
        return failure;
    }
    const Slot& other = slot(rank);
    auto is_joined = [&other] { return other.state.load(std::memory_order_acquire) == SlotState::kJoined; };
    // Asked twice: it may leave in good order while its lock is looked at.
    if (is_joined() && other.member.process_identity != process_identity() &&
        !machine::is_life_held(descriptor_, rank) && is_joined()) {
        return "rank " + std::to_string(rank) + " (process " + std::to_string(other.member.process) + ") has ended";
    }
    return std::nullopt;
}

std::optional<std::string> Board::end_of(uint32_t rank) const {
    std::optional<std::string> breakdown = breakdown_of(rank);
    if (!breakdown && slot(rank).state.load(std::memory_order_acquire) == SlotState::kLeft) {
        return "rank " + std::to_string(rank) + " has destroyed its communicator";
    }
    return breakdown;
}

uint32_t Board::bell() const {
    return header_->bell.load(std::memory_order_acquire);
}

void Board::ring_bell() {
    header_->bell.fetch_add(1, std::memory_order_acq_rel);
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&header_->bell), FUTEX_WAKE, INT_MAX, nullptr, nullptr, 0);
}

void Board::sleep(uint32_t bell, uint32_t milliseconds) const {
    timespec timeout{milliseconds / 1000, static_cast<long>(milliseconds % 1000) * 1000000};
    syscall(SYS_futex, reinterpret_cast<uint32_t*>(&header_->bell), FUTEX_WAIT, bell, &timeout, nullptr, 0);
}

void Board::close_entrance() {
    if (owner_.exchange(false)) {
        runtime::withdraw(key_);
    }
}

} // namespace aivops::hccl
