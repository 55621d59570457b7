// The layout of a window: the piece of device memory through which one rank meets its peers.
// Plain constants without Ascend C, because the host that sets windows up and the kernels that use them read this file
// alike.
#ifndef AIVOPS_WINDOW_LAYOUT_H
#define AIVOPS_WINDOW_LAYOUT_H

#include <stdint.h>

// A launch runs in *lanes*: block b of every rank forms lane b, and lanes share nothing. A lane has its own tag, flags
// and part of the data area, so blocks need no barrier among themselves and launches may use any number of blocks.
//
// A lane works in *steps*. In each step a rank fills its own stage, publishes a flag to every peer and waits for the
// flag of every peer it reads. There are two stages and two rows of flags, used in turn. One of each would not do: a
// peer may publish step t+1 before this rank has looked at step t. Three are not needed: nobody can reach step t+2
// before this rank has published t+1, and it does so only when it has read all of step t. In a *rooted* step ranks tell
// root and root, once it has heard them all, tells them: whoever hears root knows as much with fewer signals.
//
// Besides their stages ranks can read memory that its owner registered: see kRegionsOffset.

namespace aivops {

constexpr uint32_t kMaxRanks = 64;
constexpr uint32_t kNobody = kMaxRanks; // in place of a rank
constexpr uint32_t kMaxLanes = 80;      // the largest chip has 72 vector cores
constexpr uint32_t kStages = 2;
constexpr uint32_t kFlagBytes = 32; // the unit in which copies reach memory whole

// ---- Header: 64-bit words, written by the host before the first launch and constant from then on. ----
constexpr uint32_t kHeaderRank = 0;
constexpr uint32_t kHeaderSize = 1;
constexpr uint32_t kHeaderLaneBytes = 2;  // bytes of one lane in one stage, a multiple of kGrainBytes
constexpr uint32_t kHeaderStageBytes = 3; // bytes of one stage: all lanes
constexpr uint32_t kHeaderWindows = 8;    // addresses of the windows of rank 0, 1, …, this rank's own included
constexpr uint64_t kHeaderBytes = 4096;

// ---- Control area: zeroed by the host when the communicator is made. ----

// Per lane, written by the lane's own block only: {tag of its last step, kBusy*, fingerprint low, high} and, while it
// waits for one flag only, {peer, offset of the flag in this window, tag it expects there}; while it waits for the
// flags of a step, {peer it does not wait for}.
constexpr uint64_t kLanesOffset = kHeaderBytes;

// Per lane: why the lane gave up, in the words kReport*; kind 0 means it did not.
constexpr uint64_t kReportsOffset = kLanesOffset + kMaxLanes * kFlagBytes;

// Flags that peers write here: [lane][tag % 2][peer], each {tag, 0, fingerprint low, high, region, offset low, high,
// 0}. No call has fingerprint 0, so a flag that was never written matches no tag.
constexpr uint64_t kFlagsOffset = kReportsOffset + kMaxLanes * kFlagBytes;
constexpr uint32_t kFlagRowBytes = kMaxRanks * kFlagBytes;
constexpr uint32_t kFlagLaneBytes = kStages * kFlagRowBytes;

// Every poll also brings this word: a lane, a peer or the host adds to it, and whoever waits here gives up.
constexpr uint64_t kAbortOffset = kFlagsOffset + kMaxLanes * kFlagLaneBytes;

// Channels between two ranks, for messages that concern nobody else: [lane][peer], four flags each, with tags of their
// own. The peer writes that a piece is ready, with the stage it lies in, and that it has taken one; the rank itself
// keeps the tags of the last piece it sent and the last it received.
constexpr uint64_t kChannelsOffset = kAbortOffset + kFlagBytes;
constexpr uint32_t kChannelReady = 0;
constexpr uint32_t kChannelTaken = kFlagBytes;
constexpr uint32_t kChannelSent = 2 * kFlagBytes;
constexpr uint32_t kChannelReceived = 3 * kFlagBytes;
constexpr uint32_t kChannelBytes = 4 * kFlagBytes;
constexpr uint32_t kChannelLaneBytes = kMaxRanks * kChannelBytes;

// Why a rank failed, in words with a zero at the end: [rank]. Each rank's host writes into its own window, and the
// kernel that raises the abort words copies it to the others.
constexpr uint64_t kReasonsOffset = kChannelsOffset + kMaxLanes * kChannelLaneBytes;
constexpr uint32_t kReasonBytes = 512;

constexpr uint64_t kControlEnd = kReasonsOffset + kMaxRanks * kReasonBytes;

// ---- Regions: memory that ranks registered, written by the host when they do. A region has the same number on all
// ranks, from 0 on; number 0 bytes long is none. Kernels look for their own arrays in the first table and publish
// {number + 1, offset} beside a flag; peers find in the second one where that region of a rank lies for them. ----
constexpr uint32_t kMaxRegions = 64;
constexpr uint64_t kRegionsOffset = kControlEnd; // 64-bit words: how many numbers are in use; three of padding
constexpr uint64_t kOwnRegionsOffset = kRegionsOffset + kFlagBytes; // {address, bytes} of each own region
constexpr uint32_t kOwnRegionBytes = 16;
constexpr uint64_t kPeerRegionsOffset = kOwnRegionsOffset + kMaxRegions * kOwnRegionBytes; // [region][rank]: address
constexpr uint32_t kPeerRegionBytes = 8;
constexpr uint64_t kRegionsEnd = kPeerRegionsOffset + uint64_t(kMaxRegions) * kMaxRanks * kPeerRegionBytes;

// ---- Data area: [stage][lane][lane bytes]. ----
constexpr uint64_t kDataOffset = (kRegionsEnd + 4095) / 4096 * 4096;

// Lanes split messages at multiples of this, so that all but the last copy are whole bursts.
constexpr uint32_t kGrainBytes = 512;

// ---- 32-bit words of a flag and of a lane's record ----
constexpr uint32_t kWordTag = 0;
constexpr uint32_t kWordBusy = 1;
constexpr uint32_t kWordFingerprint = 2; // and 3
constexpr uint32_t kWordStage = 4;       // and 5; offset in the sender's window of what a channel's pieces lie in
constexpr uint32_t kWordRegion = 4;      // number + 1 of the region that the flag speaks of; 0: of none
constexpr uint32_t kWordOffset = 5;      // and 6; in that region
constexpr uint32_t kWordPeer = 4;        // 4, 5 and 6: in a lane's record
constexpr uint32_t kWordFlag = 5;
constexpr uint32_t kWordExpected = 6;

constexpr uint32_t kBusyWithAll = 1; // waits for the flags of its tag
constexpr uint32_t kBusyWithOne = 2; // waits for the one flag that its record names

// ---- 32-bit words of a report ----
constexpr uint32_t kReportKind = 0;
constexpr uint32_t kReportPeer = 1;
constexpr uint32_t kReportExpectedTag = 2;
constexpr uint32_t kReportFoundTag = 3;
constexpr uint32_t kReportOwnFingerprint = 4;   // and 5
constexpr uint32_t kReportFoundFingerprint = 6; // and 7

constexpr uint32_t kKindMismatch = 1;     // the peer published another call under the same tag
constexpr uint32_t kKindAborted = 2;      // the abort word was raised while the lane waited for the peer
constexpr uint32_t kKindUnregistered = 3; // the peer's array was to be read where it lies, and no region holds it

} // namespace aivops

#endif // AIVOPS_WINDOW_LAYOUT_H
