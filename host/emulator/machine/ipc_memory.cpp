#include "ipc_memory.h"

#include "doorbell.h"
#include "ipc_life.h"
#include "ipc_offers.h"
#include "machine.h"
#include "settings.h"

#include <atomic>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fcntl.h>
#include <map>
#include <memory>
#include <mutex>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

namespace aivops::machine {
namespace {

constexpr uint32_t kDescriptionVersion = 2;
constexpr int64_t kLookIntervalNs = 100 * 1000 * 1000;

struct MemoryDescription {
    uint32_t version;
    uint32_t device;
    int32_t rank;    // of the process in its job, -1 when its environment does not tell
    uint32_t lock;   // the byte of the file that the owner holds
    uint64_t offset; // of the memory in the file
    uint64_t bytes;
    char doorbell[kIpcKeyDigits]; // key of the owner's
};
static_assert(sizeof(MemoryDescription) <= kIpcDescriptionBytes);

// What launchers of jobs tell their processes.
int32_t rank_of_process() {
    for (const char* name : {"RANK", "OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
        const char* text = std::getenv(name);
        if (text != nullptr && *text != '\0') {
            char* end = nullptr;
            long rank = std::strtol(text, &end, 10);
            if (*end == '\0' && rank >= 0 && rank <= INT32_MAX) {
                return static_cast<int32_t>(rank);
            }
        }
    }
    return -1;
}

std::string process_name(pid_t process, int32_t rank) {
    std::string name = "process " + std::to_string(process);
    return rank < 0 ? name : "rank " + std::to_string(rank) + " (" + name + ")";
}

// The processes that share memory with this one, one descriptor each to ask after them.
class Peers {
  public:
    // Takes over `descriptor`; returns what `forget` is told.
    ino_t remember(int descriptor, const MemoryDescription& memory, pid_t process) {
        struct stat file{};
        fstat(descriptor, &file);
        std::lock_guard lock(mutex_);
        Peer& peer = peers_[file.st_ino];
        if (peer.imports++ != 0) {
            close(descriptor);
        } else {
            peer.descriptor = descriptor;
            peer.lock = memory.lock;
            peer.name = process_name(process, memory.rank);
        }
        return file.st_ino;
    }

    void forget(ino_t id) {
        std::lock_guard lock(mutex_);
        auto found = peers_.find(id);
        if (found != peers_.end() && --found->second.imports == 0) {
            close(found->second.descriptor);
            peers_.erase(found);
        }
    }

    std::optional<std::string> describe_ended() {
        const int64_t now = now_ns();
        int64_t next = next_look_.load(std::memory_order_relaxed);
        std::lock_guard lock(mutex_);
        if (now >= next) {
            next_look_.store(now + kLookIntervalNs, std::memory_order_relaxed);
            for (auto& [id, peer] : peers_) {
                peer.ended = peer.ended || (!is_life_held(peer.descriptor, peer.lock) && is_in_use(peer.descriptor));
            }
        }
        std::string ended;
        for (const auto& [id, peer] : peers_) {
            if (peer.ended) {
                ended += (ended.empty() ? "" : ", ") + peer.name + " has ended";
            }
        }
        return ended.empty() ? std::nullopt : std::optional(ended);
    }

  private:
    struct Peer {
        int descriptor = -1;
        uint32_t lock = 0;
        uint32_t imports = 0;
        bool ended = false;
        std::string name;
    };
    std::mutex mutex_;
    std::map<ino_t, Peer> peers_; // by the file that holds the memory
    std::atomic<int64_t> next_look_{0};
};

struct Mapping {
    Address begin; // of the reserved range; 0 for memory of this process
    uint64_t reserved;
    Address memory;
    ino_t peer;
};

// What this process exports, and how much of it from each device.
class Exports {
  public:
    void add(const std::string& key, uint32_t device) {
        std::lock_guard lock(mutex_);
        devices_[key] = device;
        if (counts_[device]++ == 0) {
            hold_life(memory_space().arena(device).descriptor(), device);
            mark_in_use(memory_space().arena(device).descriptor(), true);
        }
    }

    void remove(const std::string& key) {
        std::lock_guard lock(mutex_);
        auto found = devices_.find(key);
        if (found != devices_.end()) {
            if (--counts_[found->second] == 0) {
                mark_in_use(memory_space().arena(found->second).descriptor(), false);
            }
            devices_.erase(found);
        }
    }

  private:
    std::mutex mutex_;
    std::map<std::string, uint32_t> devices_; // by key
    std::map<uint32_t, uint32_t> counts_;     // by device
};

struct Imports {
    std::mutex mutex;
    std::map<std::string, std::deque<Mapping>> by_key; // oldest first
};

Peers& peers() {
    static Peers& instance = *new Peers;
    return instance;
}

Exports& exports() {
    static Exports& instance = *new Exports;
    return instance;
}

Imports& imports() {
    static Imports& instance = *new Imports;
    return instance;
}

// The key under which this process offers its doorbell, to whoever may write into its memory.
std::string doorbell_key() {
    static std::mutex mutex;
    static std::string key;
    static pid_t process = 0; // a forked child offers anew
    std::lock_guard lock(mutex);
    if (process != getpid()) {
        key = ipc_offer(doorbell().descriptor(), {}, true);
        process = getpid();
    }
    return key;
}

// Imports of one process's memory share its doorbell.
std::shared_ptr<Doorbell> import_doorbell(const std::string& key) {
    static std::mutex mutex;
    static auto& known = *new std::map<std::string, std::weak_ptr<Doorbell>>;
    std::lock_guard lock(mutex);
    std::erase_if(known, [](const auto& entry) { return entry.second.expired(); });
    std::shared_ptr<Doorbell> bell = known[key].lock();
    if (!bell) {
        const IpcReceived received = ipc_fetch(key);
        try {
            bell = std::make_shared<Doorbell>(received.descriptor);
        } catch (...) {
            close(received.descriptor);
            throw;
        }
        close(received.descriptor);
        known[key] = bell;
    }
    return bell;
}

MemoryDescription checked(const IpcReceived& received) {
    MemoryDescription memory;
    std::memcpy(&memory, received.description.data(), sizeof memory);
    if (memory.version != kDescriptionVersion) {
        throw IpcError("the key is not one of device memory, or one of another version of the emulator");
    }
    if (memory.device >= settings().devices) {
        throw IpcError("the memory is on device " + std::to_string(memory.device) + ", and this process has " +
                       std::to_string(settings().devices) + "; give all processes the same AIVOPS_EMU_DEVICES");
    }
    return memory;
}

// The file may be anybody's, so its size is checked and must not shrink later.
void check_file(int descriptor, const MemoryDescription& memory) {
    struct stat file{};
    const int seals = fcntl(descriptor, F_GET_SEALS);
    if (fstat(descriptor, &file) != 0 || seals < 0 || (seals & F_SEAL_SHRINK) == 0 || file.st_size <= 0 ||
        memory.bytes == 0 || memory.offset > static_cast<uint64_t>(file.st_size) ||
        memory.bytes > static_cast<uint64_t>(file.st_size) - memory.offset) {
        throw IpcError("the memory that came with the key is not what its description says");
    }
}

Mapping map(const IpcReceived& received, const MemoryDescription& memory) {
    const uint64_t page = static_cast<uint64_t>(sysconf(_SC_PAGESIZE));
    const uint64_t first = memory.offset / page * page;
    const uint64_t bytes = (memory.offset + memory.bytes - first + page - 1) / page * page;
    // A page on either side that nothing may touch, as around memory of this process.
    const uint64_t reserved = bytes + 2 * page;
    void* range = mmap(nullptr, reserved, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (range == MAP_FAILED) {
        throw IpcError(std::string("no address range for imported memory: ") + std::strerror(errno));
    }
    const Address begin = reinterpret_cast<Address>(range);
    if (mmap(reinterpret_cast<void*>(begin + page), bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED,
             received.descriptor, static_cast<off_t>(first)) == MAP_FAILED) {
        std::string why = std::strerror(errno);
        munmap(range, reserved);
        throw IpcError("imported memory cannot be mapped: " + why);
    }
    return {begin, reserved, begin + page + (memory.offset - first), 0};
}

} // namespace

std::string export_memory(Address address, uint64_t bytes, bool everyone) {
    const std::optional<uint32_t> device = memory_space().owner(address);
    const std::optional<Range> range = device ? memory_space().arena(*device).find(address) : std::nullopt;
    if (!range || bytes == 0 || !range->contains(address, bytes)) {
        throw IpcError("only memory inside one allocation of a device of this very process can be exported");
    }
    const Arena& arena = memory_space().arena(*device);
    MemoryDescription memory{
        kDescriptionVersion, *device, rank_of_process(), *device, address - arena.base(), bytes, {}};
    doorbell_key().copy(memory.doorbell, sizeof memory.doorbell);
    IpcDescription description{};
    std::memcpy(description.data(), &memory, sizeof memory);
    std::string key = ipc_offer(arena.descriptor(), description, everyone);
    exports().add(key, *device);
    return key;
}

ImportedMemory import_memory(const std::string& key) {
    IpcReceived received = ipc_fetch(key);
    MemoryDescription memory;
    Mapping mapping{};
    std::shared_ptr<Doorbell> bell;
    if (received.owned >= 0) {
        memory = checked(received);
        mapping.memory = memory_space().arena(memory.device).base() + memory.offset;
    } else {
        try {
            memory = checked(received);
            check_file(received.descriptor, memory);
            bell = import_doorbell({memory.doorbell, sizeof memory.doorbell});
            mapping = map(received, memory);
        } catch (...) {
            close(received.descriptor);
            throw;
        }
        mapping.peer = peers().remember(received.descriptor, memory, received.owner);
        memory_space().add_import({{mapping.memory, mapping.memory + memory.bytes}, memory.device, std::move(bell)});
    }
    std::lock_guard lock(imports().mutex);
    imports().by_key[key].push_back(mapping);
    return {mapping.memory, memory.device};
}

bool close_memory(const std::string& key) {
    std::unique_lock lock(imports().mutex);
    auto found = imports().by_key.find(key);
    if (found == imports().by_key.end()) {
        lock.unlock();
        exports().remove(key);
        return ipc_withdraw(key);
    }
    const Mapping mapping = found->second.front();
    found->second.pop_front();
    if (found->second.empty()) {
        imports().by_key.erase(found);
    }
    lock.unlock();
    if (mapping.begin != 0) {
        memory_space().remove_import(mapping.memory);
        munmap(reinterpret_cast<void*>(mapping.begin), mapping.reserved);
        peers().forget(mapping.peer);
    }
    return true;
}

std::optional<std::string> describe_ended_peers() {
    return peers().describe_ended();
}

} // namespace aivops::machine
