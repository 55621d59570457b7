#include "channels.h"

#include "acl/library_interface.h"
#include "communicator.h"
#include "error.h"

#include <algorithm>
#include <cstring>
#include <set>

namespace aivops::hccl {

// What one end tells the other: this header, then one RemoteWindow for the HCCL buffer and one per handle.
struct ChannelOffer {
    int32_t engine;
    int32_t protocol;
    uint32_t notify_count;
    uint32_t memory_count;
};

struct RemoteWindow {
    uint64_t address; // in the process of the end that tells
    uint64_t bytes;
    uint32_t device;
    char key[machine::kIpcKeyDigits]; // all zero between ranks of one process
    uint32_t reserved;
};

namespace {

namespace runtime = acl::library_interface;

constexpr uint32_t kMostChannels = 1048576;
constexpr uint32_t kMostNotifies = 64;
constexpr uint32_t kMostMemories = 256;

// All tags read the same on A2 and A3.
char kTag[] = "HcclBuffer";

template <typename T>
void append(MessageBytes& message, const T& part) {
    const auto* bytes = reinterpret_cast<const std::byte*>(&part);
    message.insert(message.end(), bytes, bytes + sizeof part);
}

} // namespace

Channel::~Channel() {
    for (const std::string& key : imported) {
        runtime::close_memory(key);
    }
}

Channel& Channels::find(ChannelHandle handle) {
    std::lock_guard lock(mutex_);
    auto found = std::find_if(channels_.begin(), channels_.end(), [handle](const auto& channel) {
        return reinterpret_cast<ChannelHandle>(channel.get()) == handle;
    });
    require(found != channels_.end(), HCCL_E_PARA, "the channel handle is none of this communicator's");
    return **found;
}

std::unique_ptr<Channel> Channels::prepare(CommEngine engine, const HcclChannelDesc& given) const {
    require(given.header.magicWord == HCCL_CHANNEL_MAGIC_WORD, HCCL_E_PARA,
            "a channel descriptor was not initialised; call HcclChannelDescInit first");
    HcclChannelDesc descriptor;
    HcclChannelDescInit(&descriptor, 1);
    std::memcpy(&descriptor, &given, std::min<size_t>(given.header.size, sizeof descriptor));
    const uint32_t peer = descriptor.remoteRank;
    require(peer < communicator_.size() && peer != communicator_.rank(), HCCL_E_PARA,
            "remoteRank is " + std::to_string(peer) + "; a rank below " + std::to_string(communicator_.size()) +
                " other than this one's " + std::to_string(communicator_.rank()));
    require(is_load_store(descriptor.channelProtocol), HCCL_E_NOT_SUPPORT,
            "channelProtocol " + std::to_string(descriptor.channelProtocol) +
                " is none that AIV kernels load and store over: HCCS, HCCS_ONLY, SIO, UB_MEM");
    require(!communicator_.graph().links(0, communicator_.rank(), peer).empty(), HCCL_E_PARA,
            "there is no link to rank " + std::to_string(peer));
    require(descriptor.notifyNum <= kMostNotifies, HCCL_E_PARA,
            "notifyNum is " + std::to_string(descriptor.notifyNum) + "; at most 64");
    require(descriptor.memHandleNum <= kMostMemories, HCCL_E_PARA,
            "memHandleNum is " + std::to_string(descriptor.memHandleNum) + "; at most 256");
    auto channel = std::make_unique<Channel>(peer, engine, descriptor.channelProtocol);
    for (uint32_t index = 0; index < descriptor.memHandleNum; ++index) {
        require_pointer(descriptor.memHandles, "memHandles");
        communicator_.windows().find(descriptor.memHandles[index]);
        channel->handles.push_back(descriptor.memHandles[index]);
    }
    return channel;
}

Channel* Channels::find_equal(const Channel& wanted) {
    for (const auto& channel : channels_) {
        if (channel->peer == wanted.peer && channel->engine == wanted.engine && channel->protocol == wanted.protocol &&
            channel->handles == wanted.handles) {
            return channel.get();
        }
    }
    return nullptr;
}

MessageBytes Channels::describe(const Channel& channel) {
    MessageBytes message;
    append(message, ChannelOffer{channel.engine, channel.protocol, 0, static_cast<uint32_t>(channel.handles.size())});
    auto add = [&](Window& window) {
        RemoteWindow remote{reinterpret_cast<uint64_t>(window.memory), window.bytes, communicator_.device(), {}, 0};
        if (!communicator_.in_this_process(channel.peer)) {
            std::vector<pid_t> processes;
            for (uint32_t rank : communicator_.others()) {
                processes.push_back(communicator_.member(rank).process);
            }
            const std::string& key = communicator_.windows().key(window, processes);
            std::memcpy(remote.key, key.data(), sizeof remote.key);
        }
        append(message, remote);
    };
    add(communicator_.windows().buffer());
    for (HcclMemHandle handle : channel.handles) {
        add(communicator_.windows().find(handle));
    }
    return message;
}

CommMem Channels::reach(Channel& channel, const RemoteWindow& window) {
    machine::Address address = window.address;
    if (!communicator_.in_this_process(channel.peer)) {
        std::string key(window.key, sizeof window.key);
        address = runtime::import_memory(key);
        channel.imported.push_back(key);
    }
    const std::optional<machine::Range> range = runtime::find_memory(address);
    const std::optional<uint32_t> owner = runtime::owner_of(address);
    require(range && owner && window.bytes != 0 && range->contains(address, window.bytes), HCCL_E_REMOTE,
            "rank " + std::to_string(channel.peer) + " shows memory that it does not have");
    runtime::allow_peer(communicator_.device(), *owner);
    return {COMM_MEM_TYPE_DEVICE, reinterpret_cast<void*>(address), window.bytes};
}

void Channels::complete(Channel& channel, const MessageBytes& message) {
    const std::string peer = "rank " + std::to_string(channel.peer);
    ChannelOffer offer{};
    require(message.size() >= sizeof offer, HCCL_E_REMOTE, peer + " sent no channel description");
    std::memcpy(&offer, message.data(), sizeof offer);
    require(offer.memory_count <= kMostMemories &&
                message.size() == sizeof offer + (1 + offer.memory_count) * sizeof(RemoteWindow),
            HCCL_E_REMOTE, peer + " sent a damaged channel description");
    require(offer.engine == channel.engine && offer.protocol == channel.protocol, HCCL_E_PARA,
            peer + " asks for engine " + std::to_string(offer.engine) + " and protocol " +
                std::to_string(offer.protocol) + ", this rank for " + std::to_string(channel.engine) + " and " +
                std::to_string(channel.protocol));
    for (uint32_t index = 0; index <= offer.memory_count; ++index) {
        RemoteWindow window;
        std::memcpy(&window, message.data() + sizeof offer + index * sizeof window, sizeof window);
        CommMem memory = reach(channel, window);
        if (index == 0) {
            channel.buffer = memory;
        } else {
            channel.memories.push_back(memory);
            channel.tags.push_back(kTag);
        }
    }
}

void Channels::acquire(CommEngine engine, std::span<const HcclChannelDesc> descriptors, ChannelHandle* out) {
    require(engine == COMM_ENGINE_AIV, HCCL_E_NOT_SUPPORT,
            "the emulated toolkit has channels for the AIV engine only, not for engine " + std::to_string(engine));
    require(!descriptors.empty() && descriptors.size() <= kMostChannels, HCCL_E_PARA,
            "channelNum is " + std::to_string(descriptors.size()) + "; 1 to 1048576");
    std::lock_guard lock(mutex_);
    std::vector<std::unique_ptr<Channel>> made;
    std::vector<uint32_t> peers;
    std::set<uint32_t> seen;
    std::vector<Channel*> wanted;
    for (const HcclChannelDesc& descriptor : descriptors) {
        std::unique_ptr<Channel> channel = prepare(engine, descriptor);
        require(seen.insert(channel->peer).second, HCCL_E_PARA,
                "two descriptors are for rank " + std::to_string(channel->peer));
        Channel* known = find_equal(*channel);
        if (known == nullptr) {
            known = channel.get();
            peers.push_back(channel->peer);
            made.push_back(std::move(channel));
        }
        wanted.push_back(known);
    }
    for (const auto& channel : made) {
        communicator_.mail().send(channel->peer, MessageKind::kChannel, describe(*channel));
    }
    size_t completed = 0;
    communicator_.wait(
        peers,
        [&] {
            const bool sent = communicator_.mail().move();
            while (completed < made.size()) {
                std::optional<MessageBytes> message =
                    communicator_.mail().take(made[completed]->peer, MessageKind::kChannel);
                if (!message) {
                    return false;
                }
                complete(*made[completed++], *message);
            }
            return sent;
        },
        [&] { return "rank " + std::to_string(peers[completed]) + " has not built its end of the channel"; });
    for (size_t index = 0; index < wanted.size(); ++index) {
        out[index] = reinterpret_cast<ChannelHandle>(wanted[index]);
    }
    std::move(made.begin(), made.end(), std::back_inserter(channels_));
}

} // namespace aivops::hccl
