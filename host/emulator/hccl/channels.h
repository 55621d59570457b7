// Channels for the AIV engine: each end learns where the other one's windows are in its own process.
#ifndef AIVOPS_EMULATOR_HCCL_CHANNELS_H
#define AIVOPS_EMULATOR_HCCL_CHANNELS_H

#include "hccl/hccl_channel.h"
#include "mail.h"

#include <cstdint>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

namespace aivops::hccl {

class Communicator;

struct Channel {
    Channel(uint32_t peer, CommEngine engine, CommProtocol protocol) : peer(peer), engine(engine), protocol(protocol) {}
    ~Channel();
    Channel(const Channel&) = delete;
    Channel& operator=(const Channel&) = delete;

    const uint32_t peer;
    const CommEngine engine;
    const CommProtocol protocol;
    std::vector<HcclMemHandle> handles; // what this end shows; a different list is a different channel
    CommMem buffer{};                   // the peer's HCCL buffer
    std::vector<CommMem> memories;      // what the peer shows besides
    std::vector<char*> tags;
    std::vector<std::string> imported; // keys
};

class Channels {
  public:
    explicit Channels(Communicator& communicator) : communicator_(communicator) {}
    /// Finds or builds one channel per descriptor. Blocks until the other ends have built theirs.
    void acquire(CommEngine engine, std::span<const HcclChannelDesc> descriptors, ChannelHandle* out);

    /// Throws when the handle is none of this communicator's.
    Channel& find(ChannelHandle handle);

  private:
    std::unique_ptr<Channel> prepare(CommEngine engine, const HcclChannelDesc& descriptor) const;
    Channel* find_equal(const Channel& wanted);
    MessageBytes describe(const Channel& channel);
    void complete(Channel& channel, const MessageBytes& message);
    CommMem reach(Channel& channel, const struct RemoteWindow& window);

    Communicator& communicator_;
    std::mutex mutex_;
    std::vector<std::unique_ptr<Channel>> channels_;
};

} // namespace aivops::hccl

#endif // AIVOPS_EMULATOR_HCCL_CHANNELS_H
