"""One rank of a group: how it is made, what it shares with the others, and how it ends."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Sequence
from types import TracebackType
from typing import Any, NoReturn, SupportsIndex

from . import _core, _toolkit
from ._binary import load_kernels
from ._bootstrap import MEETING_SECONDS, Bootstrap, MpiBootstrap
from ._buffer import Buffer
from ._collectives import Collectives
from ._launchers import find_local_rank, find_place
from ._misuse import refuse_copy, require_kind, require_seconds, require_whole, shown
from ._rendezvous import Rendezvous
from ._terms import require_terms
from .errors import Error, InvalidTypeError, describe

_CLOSED = "the communicator was closed"
_MOST = 2**31 - 1  # of what nobody has so many of


class Communicator(Collectives):
    """One rank of a group; every rank makes the same calls in the same order.

    `LocalGroup` makes one per rank in this process, `Communicator(bootstrap)` one of ranks that meet through
    a `Bootstrap` of any kind. All ranks make theirs together, on a device each: `device` is a number or a
    `Device`, by default the rank's number. `window_bytes` is the memory per rank through which messages pass
    (longer ones pass in pieces), `blocks` fixes the number of blocks of every launch; both are equal on all
    ranks. `timeout` (seconds) bounds every wait for a peer: None is the smaller of 1 800 s and what the
    device can, `inf` never; the device rounds it up to units of its own (`Device.effective_timeout()`).
    `kernels` names the package that ships the collectives.
    """

    def __init__(
        self,
        bootstrap: Bootstrap,
        *,
        device: int | _core.Device | None = None,
        window_bytes: int = 16 << 20,
        blocks: int | None = None,
        timeout: float | None = None,
        kernels: str = "aivops",
    ) -> None:
        require_terms("Communicator", device, window_bytes, blocks, timeout)
        require_kind(
            "Communicator: bootstrap", bootstrap, Bootstrap, "one with rank, size, all_gather() and barrier()"
        )
        require_whole("Bootstrap: size", bootstrap.size, 0, _MOST)
        rank = require_whole("Bootstrap: rank", bootstrap.rank, 0, _MOST)
        toolkit = _toolkit.current()
        if not isinstance(device, _core.Device):
            device = _core.Device(rank if device is None else device)
        super().__init__(
            _core.Communicator(
                device, bootstrap, window_bytes, blocks or 0, timeout, load_kernels(kernels, toolkit=toolkit)
            )
        )
        windows = [self._core.window(rank) for rank in range(self.size)]
        self._windows = [Buffer._over(window, (window.nbytes,), "uint8") for window in windows]
        self._rendezvous: Rendezvous | None = None

    @classmethod
    def from_env(
        cls,
        *,
        device: int | _core.Device | None = None,
        window_bytes: int = 16 << 20,
        blocks: int | None = None,
        timeout: float | None = None,
        kernels: str = "aivops",
        join_timeout: float = 120.0,
    ) -> Communicator:
        """This process's rank of a job that `aivops run`, torchrun, mpirun or srun started on this machine.

        Every process of the job calls it, as often as the others; it waits `join_timeout` seconds for them,
        with `inf` for ever.
        `device` is the local rank unless given. MASTER_PORT only tells jobs apart, it stays free.
        """
        require_seconds("Communicator.from_env(): join_timeout", join_timeout)
        # Before the others wait for this rank.
        require_terms("Communicator.from_env()", device, window_bytes, blocks, timeout)
        place = find_place(os.environ)
        rendezvous = Rendezvous(place, join_timeout, MEETING_SECONDS if timeout is None else timeout)
        try:
            comm = cls(
                rendezvous,
                device=place.local_rank if device is None else device,
                window_bytes=window_bytes,
                blocks=blocks,
                timeout=timeout,
                kernels=kernels,
            )
        except BaseException as error:
            rendezvous.abort(f"Communicator: rank {place.rank} failed: {describe(error)}")
            raise
        comm._rendezvous = rendezvous
        return comm

    @classmethod
    def from_mpi(
        cls,
        comm: Any,
        *,
        device: int | _core.Device | None = None,
        window_bytes: int = 16 << 20,
        blocks: int | None = None,
        timeout: float | None = None,
        kernels: str = "aivops",
    ) -> Communicator:
        """The ranks of a communicator of mpi4py, all on this machine.

        `device` is the local rank unless given.
        """
        if not hasattr(comm, "Get_rank"):
            raise InvalidTypeError(
                f"Communicator.from_mpi(): comm is {shown(comm)}, expected a communicator of mpi4py"
            )
        bootstrap = MpiBootstrap(comm)
        if device is None:
            device = find_local_rank(os.environ)
        return cls(
            bootstrap,
            device=device,
            window_bytes=window_bytes,
            blocks=blocks,
            timeout=timeout,
            kernels=kernels,
        )

    def close(self) -> None:
        """Gives the memory back; all ranks call it, and wait for each other. Later calls fail.

        Raises `PeerFailedError` when another rank fails or ends meanwhile, and has closed it all the same.
        Without it, or when a rank has failed, the windows stay until the process ends.
        """
        if self._ended:
            return
        self._ended = _CLOSED
        try:
            self._core.close()
        finally:
            if self._rendezvous is not None:
                self._rendezvous.close()

    def abort(self, reason: str) -> None:
        """Makes every call of every rank fail with `PeerFailedError`, those that wait at once.

        `reason` completes "rank 2 …".
        """
        reason = f"rank {self.rank} {reason}"
        self._ended = self._ended or reason
        if self._rendezvous is not None:
            self._rendezvous.abort(f"Communicator: {reason}")
        self._core.abort(reason)

    def __enter__(self) -> Communicator:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        """Closes, or makes the other ranks fail when this one does."""
        if error is None:
            self.close()
            return
        with contextlib.suppress(Error):  # `error` says more
            self.abort(f"raised {describe(error)}")

    @property
    def windows(self) -> Sequence[Buffer]:
        """The windows of all ranks, as kernels on this rank's device reach them; see aivops/window_layout.h.

        A kernel that uses aivops/lane.h takes `windows[rank]`, the own one, as argument.
        """
        self._require_open()
        return self._windows

    def _close_alone(self, reason: str) -> None:
        """When the ranks are stopped already."""
        self._ended = self._ended or reason
        self._core.close()

    def _is_closed(self) -> bool:
        return self._ended == _CLOSED

    def _recover(self) -> None:
        """Makes it usable again, if done on all ranks while none is in a call."""
        self._ended = ""
        self._core.recover()

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        refuse_copy(self, "every rank makes its own, see from_env()")

    def __repr__(self) -> str:
        return f"<aivops.Communicator rank {self.rank} of {self.size}>"
