"""What ranks need before they have windows: who is there, and a way to pass bytes around."""

from __future__ import annotations

import threading
from collections.abc import Iterable, Sequence
from typing import Any, Protocol, runtime_checkable

from .errors import BootstrapTimeoutError, PeerFailedError

MEETING_SECONDS = 1800.0  # for ranks to meet outside of collectives, as long as their processes live


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
    """Where the ranks of one process meet; `bootstraps` has one for each.

    Either all who came go on from here or none does, so that they always agree on what has been done.
    """

    def __init__(self, size: int) -> None:
        self.parts = [b""] * size
        self.timeout: float | None = None  # seconds to wait for the others
        self.waiting: set[int] = set()
        self.bootstraps = [LocalBootstrap(self, rank) for rank in range(size)]
        self._rounds = 0
        self._failure = ""
        self._changed = threading.Condition()

    def wait(self, rank: int) -> None:
        with self._changed:
            self.waiting.add(rank)
            round_ = self._rounds
            if len(self.waiting) == len(self.parts) and not self._failure:
                self.waiting.clear()
                self._rounds += 1
                self._changed.notify_all()
                return
            self._changed.wait_for(lambda: self._rounds != round_ or self._failure, self.timeout)
            if self._rounds != round_:
                return
            missing = name_ranks(set(range(len(self.parts))) - self.waiting)
            self.waiting.remove(rank)
            if self._failure:
                raise PeerFailedError(f"Communicator: rank {rank} stopped because {self._failure}")
            self.abort(f"rank {rank} waited for {missing} in vain")
            raise BootstrapTimeoutError(
                f"Communicator: rank {rank} waited for {missing} for {self.timeout:g} s in vain; "
                "all ranks must make the same calls"
            )

    def abort(self, reason: str) -> None:
        """Makes all who wait here or come here fail. The first reason stays."""
        with self._changed:
            self._failure = self._failure or reason
            self._changed.notify_all()

    def recover(self) -> None:
        with self._changed:
            self._failure = ""


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
        self.barrier()
        parts = list(self._meeting.parts)
        self.barrier()  # nobody may bring the next part before all have this one
        return parts

    def barrier(self) -> None:
        self._meeting.wait(self.rank)


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


def name_ranks(numbers: Iterable[int]) -> str:
    """E.g. "ranks 1, 3"."""
    ordered = sorted(numbers)
    named = ", ".join(map(str, ordered))
    return f"rank {named}" if len(ordered) == 1 else f"ranks {named}"
