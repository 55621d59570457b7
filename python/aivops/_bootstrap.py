"""What ranks need before they have windows: who is there, and a way to pass bytes around."""

from __future__ import annotations

import threading
from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from .errors import PeerFailedError


@runtime_checkable
class Bootstrap(Protocol):
    """How the ranks of a `Communicator` find each other; bring your own for any transport.

    It is used while the communicator is made, when memory is shared, and when it is closed, never by the
    collectives themselves. Calls come from one thread at a time, on all ranks in the same order. When a call
    raises, so does what needed it.
    """

    @property
    def rank(self) -> int:
        """This rank's number, 0 … size-1."""

    @property
    def size(self) -> int:
        """The number of ranks."""

    def all_gather(self, data: bytes, /) -> Sequence[bytes]:
        """Every rank's `data`, in rank order; lengths may differ."""

    def barrier(self) -> None:
        """Returns when all ranks have called it."""


class LocalMeeting:
    """Where the ranks of one process meet; `bootstraps` has one for each."""

    def __init__(self, size: int) -> None:
        self.parts = [b""] * size
        self.barrier = threading.Barrier(size)
        self.bootstraps = [LocalBootstrap(self, rank) for rank in range(size)]

    def wait(self) -> None:
        try:
            self.barrier.wait()
        except threading.BrokenBarrierError:
            raise PeerFailedError("LocalGroup: another rank failed before it came here") from None

    def abort(self) -> None:
        """Makes all who wait here or come here fail."""
        self.barrier.abort()

    def recover(self) -> None:
        self.barrier.reset()


class LocalBootstrap:
    """A bootstrap for threads of one process."""

    def __init__(self, meeting: LocalMeeting, rank: int) -> None:
        self._meeting = meeting
        self.rank = rank

    @property
    def size(self) -> int:
        return len(self._meeting.parts)

    def all_gather(self, data: bytes, /) -> Sequence[bytes]:
        self._meeting.parts[self.rank] = data
        self._meeting.wait()
        parts = list(self._meeting.parts)
        self._meeting.wait()  # nobody may bring the next part before all have this one
        return parts

    def barrier(self) -> None:
        self._meeting.wait()


class MpiBootstrap:
    """A bootstrap over a communicator of mpi4py."""

    def __init__(self, comm: Any) -> None:
        self._comm = comm
        self.rank: int = comm.Get_rank()
        self.size: int = comm.Get_size()

    def all_gather(self, data: bytes, /) -> Sequence[bytes]:
        parts: Sequence[bytes] = self._comm.allgather(data)
        return parts

    def barrier(self) -> None:
        self._comm.Barrier()
