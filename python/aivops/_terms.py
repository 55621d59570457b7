"""What a communicator is made with, checked before anybody waits for this rank."""

from __future__ import annotations

from . import _core
from ._misuse import MOST_BYTES, require_blocks, require_kind, require_seconds, require_whole


def require_terms(
    call: str, device: object, window_bytes: int, blocks: int | None, timeout: float | None
) -> None:
    if device is not None and not hasattr(device, "__index__"):
        require_kind(f"{call}: device", device, _core.Device, "a number or a Device")
    require_whole(f"{call}: window_bytes", window_bytes, 1, MOST_BYTES)
    if blocks is not None:
        require_blocks(f"{call}: blocks", blocks)
    if timeout is not None:
        require_seconds(f"{call}: timeout", timeout)
