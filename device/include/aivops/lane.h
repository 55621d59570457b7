// One block's side of the meeting with the same block of every other rank: steps, stages, flags, mismatch and abort.
// See window_layout.h for why two stages and two rows of flags are enough and why lanes need no barrier among each
// other.
#ifndef AIVOPS_LANE_H
#define AIVOPS_LANE_H

#include "kernel_operator.h"

#include "aivops/abort.h"
#include "aivops/window_layout.h"

namespace aivops {

// What one lane does of a message: `count` elements from `begin` on, in `steps` pieces of at most `step_count`.
struct Share {
    uint64_t begin;
    uint64_t count;
    uint64_t step_count;
    uint64_t steps;

    __aicore__ inline uint64_t offset(uint64_t step) const { return begin + step * step_count; }
    __aicore__ inline uint64_t length(uint64_t step) const {
        const uint64_t rest = count - step * step_count;
        return rest < step_count ? rest : step_count;
    }

    // Of a message of `shorter` elements, when the share is of a longer one.
    __aicore__ inline uint64_t length(uint64_t step, uint64_t shorter) const {
        const uint64_t rest = offset(step) < shorter ? shorter - offset(step) : 0;
        return rest < length(step) ? rest : length(step);
    }
};

class Lane {
  public:
    // `window` is this rank's own window; `fingerprint` tells this call from any other.
    __aicore__ inline Lane(AscendC::TPipe& pipe, GM_ADDR window, uint64_t fingerprint)
        : window_(window), fingerprint_(fingerprint), index_(static_cast<uint32_t>(AscendC::GetBlockIdx())),
          lanes_(static_cast<uint32_t>(AscendC::GetBlockNum())) {
        header_.SetGlobalBuffer(reinterpret_cast<__gm__ uint64_t*>(window));
        rank_ = static_cast<uint32_t>(header_.GetValue(kHeaderRank));
        size_ = static_cast<uint32_t>(header_.GetValue(kHeaderSize));
        lane_bytes_ = header_.GetValue(kHeaderLaneBytes);
        stage_bytes_ = header_.GetValue(kHeaderStageBytes);
        pipe.InitBuffer(words_, kUnifiedBytes);
        flag_ = words_.GetWithOffset<uint32_t>(kWordsPerFlag, 0);
        record_ = words_.GetWithOffset<uint32_t>(kWordsPerFlag, kFlagBytes);
        poll_ = words_.GetWithOffset<uint32_t>(kWordsPerFlag, 2 * kFlagBytes);
        abort_ = words_.GetWithOffset<uint32_t>(kWordsPerFlag, 3 * kFlagBytes);
        report_ = words_.GetWithOffset<uint32_t>(kWordsPerFlag, 4 * kFlagBytes);
        tag_ = load_tag(kLanesOffset + index_ * kFlagBytes);
    }

    __aicore__ inline uint32_t rank() const { return rank_; }
    __aicore__ inline uint32_t size() const { return size_; }

    // The part of `count` elements that this lane moves when each element takes `stage_elements` places of type T in a
    // stage. Lane 0 always takes part, so that even an empty call meets its peers and a mismatch is noticed.
    template <typename T>
    __aicore__ inline Share share(uint64_t count, uint32_t stage_elements = 1) const {
        constexpr uint64_t kGrain = kGrainBytes / sizeof(T);
        const uint64_t grains = (count + kGrain - 1) / kGrain;
        const uint64_t per_lane = (grains + lanes_ - 1) / lanes_ * kGrain;
        const uint64_t begin = per_lane * index_;
        Share share;
        share.begin = begin < count ? begin : count;
        share.count = count - share.begin < per_lane ? count - share.begin : per_lane;
        share.step_count = lane_bytes_ / kGrainBytes / stage_elements * kGrain;
        share.steps = (share.count + share.step_count - 1) / share.step_count;
        if (index_ == 0 && share.steps == 0) {
            share.steps = 1;
        }
        return share;
    }

    // The same part in one piece, for kernels that pass nothing through stages. It may be empty: see idle().
    template <typename T>
    __aicore__ inline Share whole_share(uint64_t count) const {
        Share share = this->share<T>(count);
        share.step_count = share.count;
        share.steps = 1;
        return share;
    }

    // The peer to visit in turn `turn` (1 … size-1): every rank starts at another one, so that no peer is asked by all.
    __aicore__ inline uint32_t peer(uint32_t turn) const { return (rank_ + turn) % size_; }

    __aicore__ inline void next_step() { ++tag_; }

    // This lane's part of `rank`'s stage in this step. Only `rank` itself writes there, after the last next_step() and
    // before it publishes; peers read it until they publish the next step.
    template <typename T>
    __aicore__ inline __gm__ T* stage(uint32_t rank) const {
        return reinterpret_cast<__gm__ T*>(window(rank) + kDataOffset + tag_ % kStages * stage_bytes_ +
                                           index_ * lane_bytes_);
    }

    // The own stage of the step to come. It is free as soon as all peers have been waited for in this one.
    template <typename T>
    __aicore__ inline __gm__ T* next_stage() const {
        return reinterpret_cast<__gm__ T*>(window_ + kDataOffset + (tag_ + 1) % kStages * stage_bytes_ +
                                           index_ * lane_bytes_);
    }

    // Tells every peer that the own stage is filled. Copies issued before are complete when a peer sees the flag.
    // `silent` is a peer that tells nothing in this step and is not to be waited for.
    __aicore__ inline void publish(uint32_t silent = kNobody) {
        enter_with_all(silent);
        signal_all();
    }

    // For the rank that is silent in a step: it tells nothing, and waits for the others.
    __aicore__ inline bool listen() {
        enter_with_all(kNobody);
        AscendC::PipeBarrier<PIPE_ALL>();
        return wait_all();
    }

    // A rooted step: everybody tells root that the own stage is filled, and root tells everybody when it has heard them
    // all. As after wait_all(), no rank is still in an earlier step. False as in wait().
    __aicore__ inline bool meet(uint32_t root) {
        if (rank_ == root) {
            if (!listen()) {
                return false;
            }
            signal_all();
            return true;
        }
        prepare_flag();
        note_one(root, flag_offset(root), tag_);
        enter();
        signal(root);
        AscendC::PipeBarrier<PIPE_ALL>();
        return wait(root);
    }

    // Waits until `peer` has published this step. False when the call cannot go on: then the block returns at once, and
    // the host finds the reason in this lane's report.
    __aicore__ inline bool wait(uint32_t peer) { return wait(peer, flag_offset(peer), tag_, 0); }

    // Waits for every peer. A step that is not rooted and does not read from everybody ends with this: the stage is
    // reused on the grounds that all peers have come this far.
    __aicore__ inline bool wait_all() {
        for (uint32_t turn = 1; turn < size_; ++turn) {
            if (!wait(peer(turn))) {
                return false;
            }
        }
        return true;
    }

    // A step without data: all ranks have come here when it ends. It closes what reads memory of peers that is no
    // stage, so that its owner may write there again.
    __aicore__ inline bool join() {
        next_step();
        publish();
        return wait_all();
    }

    // What a lane with nothing of a whole share does: lane 0 meets its peers, the others have no part in the call.
    __aicore__ inline void idle() {
        if (index_ != 0 || join()) {
            finish();
        }
    }

    // Ends the launch: the lane is idle and its tag kept for the next one.
    __aicore__ inline void finish() {
        if (busy_) {
            note(0);
            AscendC::PipeBarrier<PIPE_ALL>();
            store_record();
        }
    }

  private:
    friend class Channel;
    friend class Regions;

    static constexpr uint32_t kWordsPerFlag = kFlagBytes / sizeof(uint32_t);
    static constexpr uint32_t kUnifiedBytes = 5 * kFlagBytes;

    __aicore__ inline GM_ADDR own(uint64_t offset) const { return window_ + offset; }

    __aicore__ inline GM_ADDR window(uint32_t rank) const {
        return reinterpret_cast<GM_ADDR>(header_.GetValue(kHeaderWindows + rank));
    }

    __aicore__ inline uint64_t flag_offset(uint32_t peer) const {
        return kFlagsOffset + index_ * kFlagLaneBytes + tag_ % kStages * kFlagRowBytes + peer * kFlagBytes;
    }

    __aicore__ inline static uint64_t word(const AscendC::LocalTensor<uint32_t>& words, uint32_t index) {
        return words.GetValue(index) | static_cast<uint64_t>(words.GetValue(index + 1)) << 32;
    }

    // Begins a step in which this rank waits for every peer but one.
    __aicore__ inline void enter_with_all(uint32_t silent) {
        prepare_flag();
        note(kBusyWithAll);
        record_.SetValue(kWordPeer, silent);
        enter();
    }

    __aicore__ inline void enter() {
        AscendC::PipeBarrier<PIPE_ALL>();
        store_record();
    }

    __aicore__ inline void prepare_flag() {
        fill(flag_, tag_, 0);
        flag_.SetValue(kWordRegion, region_);
        flag_.SetValue(kWordOffset, static_cast<uint32_t>(offset_));
        flag_.SetValue(kWordOffset + 1, static_cast<uint32_t>(offset_ >> 32));
        region_ = 0;
    }

    __aicore__ inline void signal(uint32_t peer) { store(window(peer) + flag_offset(rank_), flag_); }

    __aicore__ inline void signal_all() {
        for (uint32_t turn = 1; turn < size_; ++turn) {
            signal(peer(turn));
        }
        AscendC::PipeBarrier<PIPE_ALL>();
    }

    // Prepares the lane's record.
    __aicore__ inline void note(uint32_t busy) {
        busy_ = busy != 0;
        fill(record_, tag_, busy);
    }

    // The same for waiting until the flag at `offset` of the own window, which `peer` writes, comes to `tag`.
    __aicore__ inline void note_one(uint32_t peer, uint64_t offset, uint32_t tag) {
        note(kBusyWithOne);
        record_.SetValue(kWordPeer, peer);
        record_.SetValue(kWordFlag, static_cast<uint32_t>(offset));
        record_.SetValue(kWordExpected, tag);
    }

    __aicore__ inline void store_record() { store(own(kLanesOffset + index_ * kFlagBytes), record_); }

    __aicore__ inline void fill(AscendC::LocalTensor<uint32_t>& words, uint32_t tag, uint32_t busy) {
        words.SetValue(kWordTag, tag);
        words.SetValue(kWordBusy, busy);
        words.SetValue(kWordFingerprint, static_cast<uint32_t>(fingerprint_));
        words.SetValue(kWordFingerprint + 1, static_cast<uint32_t>(fingerprint_ >> 32));
        for (uint32_t i = kWordFingerprint + 2; i < kWordsPerFlag; ++i) {
            words.SetValue(i, 0u);
        }
    }

    __aicore__ inline void store(GM_ADDR destination, AscendC::LocalTensor<uint32_t>& words) {
        AscendC::GlobalTensor<uint32_t> global;
        global.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(destination));
        AscendC::DataCopy(global, words, kWordsPerFlag);
    }

    __aicore__ inline void load(AscendC::LocalTensor<uint32_t>& words, GM_ADDR source) {
        AscendC::GlobalTensor<uint32_t> global;
        global.SetGlobalBuffer(reinterpret_cast<__gm__ uint32_t*>(source));
        AscendC::DataCopy(words, global, kWordsPerFlag);
    }

    __aicore__ inline uint32_t load_tag(uint64_t offset) {
        load(record_, own(offset));
        AscendC::PipeBarrier<PIPE_ALL>();
        return record_.GetValue(kWordTag);
    }

    // Waits until the flag at `offset` of the own window has come to `tag`, or at most `ahead` further. Flags of a step
    // are never ahead: their peer enters the next but one after this lane has entered the next. Not taking others keeps
    // flags of long ago, which rooted steps leave as they are, from passing for new ones when tags wrap around.
    __aicore__ inline bool wait(uint32_t peer, uint64_t offset, uint32_t tag, uint32_t ahead) {
        for (;;) {
            load(poll_, own(offset));
            AscendC::PipeBarrier<PIPE_ALL>();
            const uint64_t found = word(poll_, kWordFingerprint);
            if (found != 0 && poll_.GetValue(kWordTag) - tag <= ahead) {
                if (found == fingerprint_) {
                    AscendC::PipeBarrier<PIPE_ALL>();
                    return true;
                }
                give_up(kKindMismatch, peer, tag);
                return false;
            }
            load(abort_, own(kAbortOffset));
            AscendC::PipeBarrier<PIPE_ALL>();
            if (abort_.GetValue(0) != 0) {
                give_up(kKindAborted, peer, tag);
                return false;
            }
        }
    }

    // Writes the report and raises the abort word of every rank, so that nobody goes on waiting for this one. What an
    // earlier launch has left is the cause, and stays.
    __aicore__ inline void give_up(uint32_t kind, uint32_t peer, uint32_t tag) {
        GM_ADDR report = own(kReportsOffset + index_ * kFlagBytes);
        load(report_, report);
        AscendC::PipeBarrier<PIPE_ALL>();
        if (report_.GetValue(kReportKind) != 0) {
            return;
        }
        report_.SetValue(kReportKind, kind);
        report_.SetValue(kReportPeer, peer);
        report_.SetValue(kReportExpectedTag, tag);
        report_.SetValue(kReportFoundTag, poll_.GetValue(kWordTag));
        report_.SetValue(kReportOwnFingerprint, static_cast<uint32_t>(fingerprint_));
        report_.SetValue(kReportOwnFingerprint + 1, static_cast<uint32_t>(fingerprint_ >> 32));
        report_.SetValue(kReportFoundFingerprint, poll_.GetValue(kWordFingerprint));
        report_.SetValue(kReportFoundFingerprint + 1, poll_.GetValue(kWordFingerprint + 1));
        AscendC::PipeBarrier<PIPE_ALL>();
        store(report, report_);
        AscendC::PipeBarrier<PIPE_ALL>();
        raise_abort_words(header_, flag_);
    }

    GM_ADDR window_;
    uint64_t fingerprint_;
    uint32_t index_;
    uint32_t lanes_;
    uint32_t rank_;
    uint32_t size_;
    uint64_t lane_bytes_;
    uint64_t stage_bytes_;
    uint32_t tag_;
    bool busy_ = false;
    uint32_t region_ = 0; // of the array that the next flag speaks of, as flags carry it
    uint64_t offset_ = 0;
    AscendC::GlobalTensor<uint64_t> header_;
    AscendC::TBuf<AscendC::TPosition::VECCALC> words_;
    AscendC::LocalTensor<uint32_t> flag_;
    AscendC::LocalTensor<uint32_t> record_;
    AscendC::LocalTensor<uint32_t> poll_;
    AscendC::LocalTensor<uint32_t> abort_;
    AscendC::LocalTensor<uint32_t> report_;
};

} // namespace aivops

#endif // AIVOPS_LANE_H
