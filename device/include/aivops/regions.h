// Memory that ranks registered, as kernels find it: the owner says beside a flag where its array lies, and whoever
// waits for the flag reads it there, without a copy in between. The tables are read when the launch runs, so nothing of
// them is frozen in its arguments.
#ifndef AIVOPS_REGIONS_H
#define AIVOPS_REGIONS_H

#include "aivops/lane.h"

namespace aivops {

class Regions {
  public:
    __aicore__ inline Regions(AscendC::TPipe& pipe, Lane& lane) : lane_(lane) {
        pipe.InitBuffer(words_, kFlagBytes + kOwnBytes);
        row_ = words_.GetWithOffset<uint32_t>(Lane::kWordsPerFlag, 0);
        own_ = words_.GetWithOffset<uint32_t>(kOwnBytes / sizeof(uint32_t), kFlagBytes);
        AscendC::GlobalTensor<uint32_t> table;
        table.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(lane_.own(kOwnRegionsOffset)));
        AscendC::DataCopy(own_, table, kOwnBytes / sizeof(uint32_t));
        lane_.load(row_, lane_.own(kRegionsOffset));
        AscendC::PipeBarrier<PIPE_ALL>();
        used_ = row_.GetValue(0);
    }

    // Lets the flag of this step say where `array` lies. False when that is in no region: then the flag says nothing.
    __aicore__ inline bool announce(GM_ADDR array) {
        const uint64_t address = reinterpret_cast<uint64_t>(array);
        for (uint32_t region = 0; region < used_; ++region) {
            const uint32_t entry = region * kOwnRegionBytes / sizeof(uint32_t);
            const uint64_t begin = Lane::word(own_, entry);
            if (address >= begin && address - begin < Lane::word(own_, entry + 2)) {
                lane_.region_ = region + 1;
                lane_.offset_ = address - begin;
                return true;
            }
        }
        return false;
    }

    // Whether the flag of the peer that was waited for last says where an array lies.
    __aicore__ inline bool has_announced() const { return lane_.poll_.GetValue(kWordRegion) != 0; }

    // Waits for `peer` and finds the array that it announced. Null when the call cannot go on.
    template <typename T>
    __aicore__ inline __gm__ T* wait(uint32_t peer) {
        return lane_.wait(peer) ? find<T>(peer) : nullptr;
    }

    // The array that `peer` announced beside the flag that was waited for last. Null, and the call cannot go on, when
    // there is none.
    template <typename T>
    __aicore__ inline __gm__ T* find(uint32_t peer) {
        if (!has_announced()) {
            lane_.give_up(kKindUnregistered, peer, lane_.tag_);
            return nullptr;
        }
        const uint32_t region = lane_.poll_.GetValue(kWordRegion) - 1;
        const uint64_t offset = Lane::word(lane_.poll_, kWordOffset);
        const uint64_t place = (region * kMaxRanks + peer) * kPeerRegionBytes;
        lane_.load(row_, lane_.own(kPeerRegionsOffset + place / kFlagBytes * kFlagBytes));
        AscendC::PipeBarrier<PIPE_ALL>();
        const uint64_t address = Lane::word(row_, static_cast<uint32_t>(place % kFlagBytes / sizeof(uint32_t)));
        return reinterpret_cast<__gm__ T*>(address + offset);
    }

  private:
    static constexpr uint32_t kOwnBytes = kMaxRegions * kOwnRegionBytes;

    Lane& lane_;
    uint32_t used_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> words_;
    AscendC::LocalTensor<uint32_t> row_;
    AscendC::LocalTensor<uint32_t> own_;
};

} // namespace aivops

#endif // AIVOPS_REGIONS_H
