"""The tags of lanes, which count steps in device memory; see aivops/window_layout.h."""

from __future__ import annotations

import aivops
import numpy as np

LANES_OFFSET = 4096  # 32 bytes per lane, the tag first
LANE_BYTES = 32
MAX_LANES = 80
MAX_RANKS = 64
FLAGS_OFFSET = LANES_OFFSET + 2 * MAX_LANES * LANE_BYTES  # behind as many reports: [lane][tag % 2][peer]
FLAG_BYTES = 32
FLAGS_BYTES = MAX_LANES * 2 * MAX_RANKS * FLAG_BYTES
# Behind the abort word: [lane][peer], the tags of the last pieces sent and received in the last two of four flags.
CHANNELS_OFFSET = FLAGS_OFFSET + FLAGS_BYTES + FLAG_BYTES
CHANNEL_BYTES = 4 * FLAG_BYTES


def flag_place(lane: int, tag: int, peer: int) -> int:
    """Offset in a rank's window of what `peer` writes in a step."""
    return FLAGS_OFFSET + ((lane * 2 + tag % 2) * MAX_RANKS + peer) * FLAG_BYTES


def set_channel_tags(group: aivops.LocalGroup, tag: int) -> None:
    """Lets every message between two ranks go on from `tag`. No call may run. Flags are taken back, as in set_tags()."""
    start = np.array([tag], np.uint32).view(np.uint8)
    none = np.zeros(2 * FLAG_BYTES, np.uint8)
    for comm in group.communicators:
        for lane in range(MAX_LANES):
            for peer in range(group.size):
                channel = CHANNELS_OFFSET + (lane * MAX_RANKS + peer) * CHANNEL_BYTES
                comm.windows[comm.rank][channel : channel + 2 * FLAG_BYTES].copy_from(none)
                for place in (channel + 2 * FLAG_BYTES, channel + 3 * FLAG_BYTES):
                    comm.windows[comm.rank][place : place + 4].copy_from(start)


def channel_tags(comm: aivops.Communicator, peer: int) -> list[int]:
    """Of the last piece sent to `peer` and the last received from it, in lane 0."""
    channel = CHANNELS_OFFSET + peer * CHANNEL_BYTES
    places = (channel + 2 * FLAG_BYTES, channel + 3 * FLAG_BYTES)
    return [int(comm.windows[comm.rank][at : at + 4].to_numpy().view(np.uint32)[0]) for at in places]


def set_tags(group: aivops.LocalGroup, tag: int) -> None:
    """Lets every lane of every rank go on from `tag`. No call may run.

    Flags are taken back: tags that go back would find those of the calls that had these tags before.
    """
    start = np.array([tag], np.uint32).view(np.uint8)
    none = np.zeros(FLAGS_BYTES, np.uint8)
    for comm in group.communicators:
        comm.windows[comm.rank][FLAGS_OFFSET : FLAGS_OFFSET + FLAGS_BYTES].copy_from(none)
        for lane in range(MAX_LANES):
            place = LANES_OFFSET + lane * LANE_BYTES
            comm.windows[comm.rank][place : place + 4].copy_from(start)


def tag_of(comm: aivops.Communicator, lane: int) -> int:
    """How far a lane has come."""
    place = LANES_OFFSET + lane * LANE_BYTES
    return int(comm.windows[comm.rank][place : place + 4].to_numpy().view(np.uint32)[0])
