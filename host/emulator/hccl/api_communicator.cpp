// Communicators of hccl_comm.h: made, asked about, split, destroyed.
#include "acl/library_interface.h"
#include "communicator.h"
#include "error.h"
#include "hccl/hccl_comm.h"
#include "machine/ipc_offers.h"

#include <algorithm>
#include <array>
#include <atomic>
#include <cstring>
#include <set>
#include <span>

using namespace aivops::hccl;

namespace {

namespace runtime = aivops::acl::library_interface;

// What the bytes of a root info are: where the board of the communicator is.
struct RootRecord {
    char magic[8];
    char key[aivops::machine::kIpcKeyDigits];
};
constexpr char kRootMagic[8] = {'A', 'I', 'V', 'R', 'O', 'O', 'T', '1'};
constexpr uint32_t kStaysOut = 0xffffffff;

uint32_t this_device() {
    const std::optional<uint32_t> device = runtime::current_device();
    require(device.has_value(), HCCL_E_RUNTIME, "this thread has no device; call aclrtSetDevice first");
    return *device;
}

// Boards that the process has made for others and that no communicator of its own holds yet.
class NewBoards {
  public:
    std::shared_ptr<Board> create() {
        std::shared_ptr<Board> board = Board::create();
        std::lock_guard lock(mutex_);
        boards_.insert(board);
        return board;
    }
    void release(const std::shared_ptr<Board>& board) {
        std::lock_guard lock(mutex_);
        boards_.erase(board);
    }

  private:
    std::mutex mutex_;
    std::set<std::shared_ptr<Board>> boards_;
};

NewBoards& new_boards() {
    static NewBoards& instance = *new NewBoards;
    return instance;
}

HcclComm join(const std::shared_ptr<Board>& board, uint32_t size, uint32_t rank, const HcclCommConfig* config) {
    require(size != 0 && size <= kMostRanks, HCCL_E_PARA,
            "nRanks is " + std::to_string(size) + "; 1 to " + std::to_string(kMostRanks));
    require(rank < size, HCCL_E_PARA,
            "rank is " + std::to_string(rank) + "; below nRanks, which is " + std::to_string(size));
    auto communicator = std::make_shared<Communicator>(board, rank, size, this_device(), read_settings(config));
    communicator->assemble();
    board->close_entrance();
    new_boards().release(board);
    return handles::add(communicator);
}

HcclResult init_from_root(const char* function, uint32_t size, const HcclRootInfo* root, uint32_t rank,
                          const HcclCommConfig* config, HcclComm* comm) {
    return guarded(function, [&] {
        require_pointer(root, "rootInfo");
        require_pointer(comm, "comm");
        RootRecord record;
        std::memcpy(&record, root->internal, sizeof record);
        require(std::memcmp(record.magic, kRootMagic, sizeof kRootMagic) == 0, HCCL_E_PARA,
                "the root info is not what HcclGetRootInfo of this toolkit wrote; broadcast all of its bytes");
        *comm = join(Board::open(std::string(record.key, sizeof record.key)), size, rank, config);
    });
}

void destroy(HcclComm handle) {
    std::shared_ptr<Communicator> communicator = handles::find(handle);
    require(communicator->lanes().idle(), HCCL_E_AGAIN,
            "calls of the communicator are still on their streams; synchronise them first");
    handles::remove(handle);
}

// What the leader of a split tells the other members.
std::shared_ptr<Board> meet_members(Communicator& parent, std::span<const uint32_t> members, uint32_t index) {
    std::shared_ptr<Board> board;
    if (index == 0) {
        board = new_boards().create();
        const auto* key = reinterpret_cast<const std::byte*>(board->key().data());
        for (uint32_t member : members.subspan(1)) {
            parent.mail().send(member, MessageKind::kSplit, {key, key + board->key().size()});
        }
    }
    const std::vector<uint32_t> needed(members.begin(), members.end());
    std::string key;
    std::vector<uint32_t> peers = needed;
    std::erase(peers, parent.rank());
    parent.wait(
        index == 0 ? peers : std::vector<uint32_t>{members[0]},
        [&] {
            const bool sent = parent.mail().move();
            if (index == 0) {
                return sent;
            }
            std::optional<MessageBytes> message = parent.mail().take(members[0], MessageKind::kSplit);
            if (message) {
                key.assign(reinterpret_cast<const char*>(message->data()), message->size());
            }
            return message.has_value();
        },
        [&] { return "rank " + std::to_string(members[0]) + " has not split the communicator"; });
    return index == 0 ? board : Board::open(key);
}

std::atomic<int32_t> deterministic{0};

} // namespace

HcclResult HcclGetRootInfo(HcclRootInfo* rootInfo) {
    return guarded("HcclGetRootInfo", [&] {
        require_pointer(rootInfo, "rootInfo");
        this_device();
        RootRecord record;
        std::memcpy(record.magic, kRootMagic, sizeof record.magic);
        std::memcpy(record.key, new_boards().create()->key().data(), sizeof record.key);
        std::memset(rootInfo->internal, 0, sizeof rootInfo->internal);
        std::memcpy(rootInfo->internal, &record, sizeof record);
    });
}

HcclResult HcclCommInitRootInfo(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank, HcclComm* comm) {
    return init_from_root("HcclCommInitRootInfo", nRanks, rootInfo, rank, nullptr, comm);
}

HcclResult HcclCommInitRootInfoConfig(uint32_t nRanks, const HcclRootInfo* rootInfo, uint32_t rank,
                                      const HcclCommConfig* config, HcclComm* comm) {
    if (config == nullptr) {
        return report("HcclCommInitRootInfoConfig", HCCL_E_PTR, "config is NULL");
    }
    return init_from_root("HcclCommInitRootInfoConfig", nRanks, rootInfo, rank, config, comm);
}

HcclResult HcclCommInitAll(uint32_t ndev, int32_t* devices, HcclComm* comms) {
    return guarded("HcclCommInitAll", [&] {
        require_pointer(devices, "devices");
        require_pointer(comms, "comms");
        require(ndev != 0 && ndev <= kMostRanks, HCCL_E_PARA, "ndev is " + std::to_string(ndev));
        const std::span<const int32_t> all(devices, ndev);
        for (int32_t device : all) {
            require(device >= 0 && static_cast<uint32_t>(device) < runtime::device_count(), HCCL_E_PARA,
                    "there is no device " + std::to_string(device));
            require(std::count(all.begin(), all.end(), device) == 1, HCCL_E_PARA,
                    "device " + std::to_string(device) + " is listed twice");
        }
        std::shared_ptr<Board> board = Board::create();
        const Settings settings = read_settings(nullptr);
        std::vector<std::shared_ptr<Communicator>> made;
        for (uint32_t rank = 0; rank < ndev; ++rank) {
            made.push_back(
                std::make_shared<Communicator>(board, rank, ndev, static_cast<uint32_t>(devices[rank]), settings));
        }
        for (const auto& communicator : made) {
            communicator->assemble();
        }
        board->close_entrance();
        std::transform(made.begin(), made.end(), comms, handles::add);
    });
}

HcclResult HcclCreateSubCommConfig(HcclComm* comm, uint32_t rankNum, uint32_t* rankIds, uint64_t subCommId,
                                   uint32_t subCommRankId, HcclCommConfig* config, HcclComm* subComm) {
    return guarded("HcclCreateSubCommConfig", [&] {
        require_pointer(comm, "comm");
        std::shared_ptr<Communicator> parent = handles::find(*comm);
        require(!parent->is_split(), HCCL_E_PARA, "a communicator made by a split cannot be split again");
        if (rankIds == nullptr) {
            require(subCommId == kStaysOut, HCCL_E_PARA,
                    "rankIds is NULL; a rank that stays out also passes subCommId 0xFFFFFFFF");
            return;
        }
        require_pointer(config, "config");
        require_pointer(subComm, "subComm");
        const std::span<const uint32_t> members(rankIds, rankNum);
        require(rankNum != 0 &&
                    std::adjacent_find(members.begin(), members.end(), std::greater_equal<>()) == members.end() &&
                    members.back() < parent->size(),
                HCCL_E_PARA, "rankIds are ranks of the communicator, each once and in rising order");
        require(subCommRankId < rankNum && members[subCommRankId] == parent->rank(), HCCL_E_PARA,
                "subCommRankId is not this rank's place in rankIds");
        HcclComm made = join(meet_members(*parent, members, subCommRankId), rankNum, subCommRankId, config);
        handles::find(made)->mark_as_split();
        *subComm = made;
    });
}

HcclResult HcclCommDestroy(HcclComm comm) {
    return guarded("HcclCommDestroy", [&] {
        if (comm != nullptr) {
            destroy(comm);
        }
    });
}

HcclResult HcclGetRankSize(HcclComm comm, uint32_t* rankSize) {
    return guarded("HcclGetRankSize", [&] {
        require_pointer(rankSize, "rankSize");
        *rankSize = handles::find(comm)->size();
    });
}

HcclResult HcclGetRankId(HcclComm comm, uint32_t* rank) {
    return guarded("HcclGetRankId", [&] {
        require_pointer(rank, "rank");
        *rank = handles::find(comm)->rank();
    });
}

HcclResult HcclGetCommName(HcclComm comm, char* commName) {
    return guarded("HcclGetCommName", [&] {
        require_pointer(commName, "commName");
        const std::string name = handles::find(comm)->name();
        std::memcpy(commName, name.c_str(), name.size() + 1);
    });
}

HcclResult HcclCommGetHandleWithName(const char* commName, HcclComm* comm) {
    return guarded("HcclCommGetHandleWithName", [&] {
        require_pointer(commName, "commName");
        require_pointer(comm, "comm");
        HcclComm found = handles::find_name(commName, runtime::current_device());
        require(found != nullptr, HCCL_E_NOT_FOUND, "there is no communicator named '" + std::string(commName) + "'");
        *comm = found;
    });
}

HcclResult HcclGetCommAsyncError(HcclComm comm, HcclResult* asyncError) {
    return guarded("HcclGetCommAsyncError", [&] {
        require_pointer(asyncError, "asyncError");
        std::shared_ptr<Communicator> communicator = handles::find(comm);
        *asyncError = HCCL_SUCCESS;
        for (uint32_t rank : communicator->others()) {
            if (std::optional<std::string> breakdown = communicator->board().breakdown_of(rank)) {
                report("HcclGetCommAsyncError", HCCL_E_REMOTE, *breakdown);
                *asyncError = HCCL_E_REMOTE;
            }
        }
    });
}

const char* HcclGetErrorString(HcclResult code) {
    constexpr std::array<const char*, 25> kTexts = {
        "no error",        "parameter error",   "empty pointer",      "memory error",        "internal error",
        "not supported",   "not found",         "unavailable",        "system call error",   "timeout",
        "file not opened", "tcp not connected", "roce not connected", "tcp transfer failed", "roce transfer failed",
        "runtime error",   "driver error",      "profiling error",    "cce error",           "network error",
        "try again",       "remote error",      "suspending",         "retry failed",        "out of memory"};
    return code < kTexts.size() ? kTexts[code] : "unknown err";
}

uint32_t HcclGetCommConfigCapability() {
    return HCCL_COMM_CONFIG_RESERVED;
}

HcclResult HcclSetConfig(HcclConfig config, HcclConfigValue configValue) {
    return guarded("HcclSetConfig", [&] {
        require(config == HCCL_DETERMINISTIC, HCCL_E_PARA, "there is no setting " + std::to_string(config));
        require(configValue.value >= 0 && configValue.value <= 2, HCCL_E_PARA,
                "HCCL_DETERMINISTIC is 0, 1 or 2, not " + std::to_string(configValue.value));
        deterministic = configValue.value; // results are deterministic whatever it is
    });
}

HcclResult HcclGetConfig(HcclConfig config, HcclConfigValue* configValue) {
    return guarded("HcclGetConfig", [&] {
        require_pointer(configValue, "configValue");
        require(config == HCCL_DETERMINISTIC, HCCL_E_PARA, "there is no setting " + std::to_string(config));
        configValue->value = deterministic;
    });
}

HcclResult HcclConfigGetInfo(HcclComm comm, HcclConfigType cfgType, uint32_t infoLen, void* info) {
    return guarded("HcclConfigGetInfo", [&] {
        require_pointer(info, "info");
        std::shared_ptr<Communicator> communicator = handles::find(comm);
        require(cfgType == HCCL_CONFIG_TYPE_OP_EXPANSION_MODE, HCCL_E_PARA,
                "there is nothing to say of config type " + std::to_string(cfgType));
        const int32_t mode = communicator->settings().expansion_mode;
        require(infoLen >= sizeof mode, HCCL_E_PARA, "infoLen is " + std::to_string(infoLen) + "; at least 4");
        std::memcpy(info, &mode, sizeof mode);
    });
}

HcclResult HcclCommGetStatus(const char* commId, HcclCommStatus* status) {
    return guarded("HcclCommGetStatus", [&] {
        require_pointer(commId, "commId");
        require_pointer(status, "status");
        *status =
            handles::find_name(commId, std::nullopt) != nullptr ? HCCL_COMM_STATUS_READY : HCCL_COMM_STATUS_INVALID;
    });
}

HcclResult HcclGroupStatusGet(bool* isGroupEnabled) {
    return guarded("HcclGroupStatusGet", [&] {
        require_pointer(isGroupEnabled, "isGroupEnabled");
        *isGroupEnabled = false;
    });
}
