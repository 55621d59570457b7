// A message from one rank to another over a lane: pieces pass through the sender's free stage, two on their way at a
// time. The sender leaves only when the last piece has been taken, so the stage is free again for whatever comes next.
#ifndef AIVOPS_CHANNEL_H
#define AIVOPS_CHANNEL_H

#include "aivops/lane.h"

namespace aivops {

class Channel {
  public:
    // Pieces that share a stage.
    static constexpr uint32_t kPieces = 2;

    __aicore__ inline Channel(Lane& lane, uint32_t peer, bool sends)
        : lane_(lane), peer_(peer), record_(sends ? kChannelSent : kChannelReceived),
          tag_(lane.load_tag(local(record_))), first_tag_(tag_) {}

    // Where the next piece goes, `capacity` elements at most; null when the call cannot go on.
    template <typename T>
    __aicore__ inline __gm__ T* next_piece(uint64_t capacity) {
        ++tag_;
        if (tag_ - first_tag_ > kPieces && !wait(kChannelTaken, tag_ - kPieces)) {
            return nullptr;
        }
        return piece(lane_.next_stage<T>(), capacity);
    }

    // Tells the peer that the piece is there.
    __aicore__ inline void publish() { post(kChannelReady, offset(lane_.next_stage<uint8_t>())); }

    // Waits until the peer has taken everything.
    __aicore__ inline bool drain() { return tag_ == first_tag_ || wait(kChannelTaken, tag_); }

    // The next piece of the peer; null when the call cannot go on.
    template <typename T>
    __aicore__ inline __gm__ T* wait_piece(uint64_t capacity) {
        ++tag_;
        if (!wait(kChannelReady, tag_)) {
            return nullptr;
        }
        // The flag may speak of the piece after this one already; the stage is the same.
        const uint64_t stage = Lane::word(lane_.poll_, kWordStage);
        return piece(reinterpret_cast<__gm__ T*>(lane_.window(peer_) + stage), capacity);
    }

    // Tells the peer that the piece has been taken.
    __aicore__ inline void release() { post(kChannelTaken, 0); }

    // Keeps the tag for the next message.
    __aicore__ inline void finish() {
        lane_.fill(lane_.flag_, tag_, 0);
        AscendC::PipeBarrier<PIPE_ALL>();
        lane_.store(lane_.own(local(record_)), lane_.flag_);
        AscendC::PipeBarrier<PIPE_ALL>();
        lane_.finish();
    }

  private:
    // Offset of a flag of this channel in the own window, and in the peer's.
    __aicore__ inline uint64_t local(uint32_t flag) const { return place(peer_) + flag; }
    __aicore__ inline uint64_t place(uint32_t other) const {
        return kChannelsOffset + lane_.index_ * kChannelLaneBytes + other * kChannelBytes;
    }

    // Ranks may reach a window at different addresses.
    __aicore__ inline uint64_t offset(GM_ADDR stage) const {
        return reinterpret_cast<uint64_t>(stage) - reinterpret_cast<uint64_t>(lane_.window_);
    }

    template <typename T>
    __aicore__ inline __gm__ T* piece(__gm__ T* stage, uint64_t capacity) const {
        return stage + tag_ % kPieces * capacity;
    }

    __aicore__ inline void post(uint32_t flag, uint64_t stage) {
        lane_.fill(lane_.flag_, tag_, 0);
        lane_.flag_.SetValue(kWordStage, static_cast<uint32_t>(stage));
        lane_.flag_.SetValue(kWordStage + 1, static_cast<uint32_t>(stage >> 32));
        AscendC::PipeBarrier<PIPE_ALL>();
        lane_.store(lane_.window(peer_) + place(lane_.rank_) + flag, lane_.flag_);
        AscendC::PipeBarrier<PIPE_ALL>();
    }

    // The other side may be further by the pieces that share a stage.
    __aicore__ inline bool wait(uint32_t flag, uint32_t tag) {
        lane_.note_one(peer_, local(flag), tag);
        AscendC::PipeBarrier<PIPE_ALL>();
        lane_.store_record();
        AscendC::PipeBarrier<PIPE_ALL>();
        return lane_.wait(peer_, local(flag), tag, kPieces);
    }

    Lane& lane_;
    uint32_t peer_;
    uint32_t record_;
    uint32_t tag_;
    uint32_t first_tag_;
};

} // namespace aivops

#endif // AIVOPS_CHANNEL_H
