"""Ranks of one process: a thread and a device for each."""

from __future__ import annotations

import contextlib
import inspect
import os
import threading
from collections.abc import Callable, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from types import TracebackType
from typing import NoReturn, SupportsIndex, TypeVar

from . import _core, _toolkit
from ._bootstrap import MEETING_SECONDS, LocalBootstrap, LocalMeeting
from ._communicator import Communicator
from ._misuse import refuse_copy, require_whole, shown
from ._numbers import MOST_RANKS
from ._terms import require_terms
from ._words import counted
from .errors import ForkError, InvalidTypeError, InvalidValueError, PeerFailedError, describe

Result = TypeVar("Result")

_SECONDS_BETWEEN_LOOKS = 0.2


class LocalGroup:
    """`size` ranks in this process, rank r on device r.

    `window_bytes` is the memory per rank through which messages pass (longer ones pass in pieces), `blocks`
    fixes the number of blocks of every launch, and `timeout` (seconds) bounds every wait for a peer: None is
    the smaller of 1 800 s and what the device can, `inf` never; the device rounds it up to units of its own
    (`Device.effective_timeout()`). `kernels` names the package that ships the collectives.
    """

    def __init__(
        self,
        size: int,
        *,
        window_bytes: int = 16 << 20,
        blocks: int | None = None,
        timeout: float | None = None,
        kernels: str = "aivops",
    ) -> None:
        require_terms("LocalGroup", None, window_bytes, blocks, timeout)
        size = require_whole("LocalGroup: size", size, 1, MOST_RANKS)
        toolkit = _toolkit.current()
        if size > toolkit.device_count:
            more = "; AIVOPS_EMU_DEVICES gives more" if toolkit.machine.startswith("emulated-") else ""
            raise InvalidValueError(
                f"LocalGroup: size is {size}, expected 1 to {toolkit.device_count}, the number of devices: "
                f"every rank needs a device of its own{more}"
            )
        devices = [_core.Device(rank) for rank in range(size)]
        self._meeting = LocalMeeting(size)
        self._threads = ThreadPoolExecutor(size, thread_name_prefix="aivops-rank")

        def join(bootstrap: LocalBootstrap) -> Communicator:
            try:
                return Communicator(
                    bootstrap,
                    device=devices[bootstrap.rank],
                    window_bytes=window_bytes,
                    blocks=blocks,
                    timeout=timeout,
                    kernels=kernels,
                )
            except BaseException as error:
                self._meeting.abort(f"rank {bootstrap.rank} failed: {describe(error)}")
                raise

        joining = [self._threads.submit(join, bootstrap) for bootstrap in self._meeting.bootstraps]
        try:
            self._communicators = _results(joining)
        except BaseException:
            self._meeting.abort("the maker of the group was interrupted")
            self._threads.shutdown()
            raise
        self._meeting.timeout = min(MEETING_SECONDS if timeout is None else timeout, threading.TIMEOUT_MAX)
        self._process = os.getpid()
        self._running = threading.Lock()  # held by run(): a second one would take ranks' threads away
        self._rank_threads: set[int] = set()

    @property
    def size(self) -> int:
        """The number of ranks."""
        return len(self._communicators)

    @property
    def communicators(self) -> Sequence[Communicator]:
        """One per rank, in rank order, for programs that bring their own threads."""
        return self._communicators

    def run(self, function: Callable[[Communicator], Result]) -> list[Result]:
        """Calls `function(communicator)` once per rank, all at once, and returns the results in rank order.

        A rank that raises aborts the others, which get `PeerFailedError` at once; its exception is raised
        here, with its number in a note and in the attribute `rank`. A rank that returns while another waits
        for it makes that one raise `PeerFailedError` within a second. Then the group is ready for another
        run.
        """
        if not callable(function) or inspect.iscoroutinefunction(function):
            what = "a coroutine function" if callable(function) else shown(function)
            raise InvalidTypeError(
                f"LocalGroup.run(): function is {what}, expected one that takes a communicator"
            )
        self._require_outside("run()")
        if not self._communicators:
            raise InvalidValueError("LocalGroup: it is closed; make another one")
        with self._running:
            return self._run(function)

    def _run(self, function: Callable[[Communicator], Result]) -> list[Result]:
        ranks = [self._threads.submit(self._run_rank, function, comm) for comm in self._communicators]
        try:
            reason = self._watch(ranks)
            results = _results(ranks)
            if reason:  # a rank that only closed its communicator, or went on in spite of it
                raise PeerFailedError(f"LocalGroup: {reason}")
            return results
        except BaseException:
            # A rank that raised has stopped the others already; anything else interrupted the caller.
            self._abort("the caller of run() was interrupted")
            wait(ranks)
            self._recover()
            raise

    def _watch(self, ranks: Sequence[Future[Result]]) -> str:
        """Until all have ended. A rank that has returned calls no more, so nobody may go on waiting.

        Returns why some were stopped, if they were.
        """
        suspected = None
        reason = ""
        while wait(ranks, timeout=_SECONDS_BETWEEN_LOOKS).not_done:
            found = self._find_wait_in_vain(ranks)
            if found is not None and found == suspected:
                waiting, returned = found
                reason = (
                    f"rank {returned} returned from the function of run() while rank {waiting} waits for it; "
                    "all ranks must make the same calls"
                )
                self._abort(reason)
            suspected = found
        return reason

    def _find_wait_in_vain(self, ranks: Sequence[Future[Result]]) -> tuple[int, int] | None:
        """A rank that waits, and one that it waits for and that has returned with nothing left to do."""
        returned = [rank for rank, future in enumerate(ranks) if future.done()]
        waiting = sorted(self._meeting.waiting)
        if returned and waiting:
            return waiting[0], returned[0]  # there nobody waits for what is queued
        idle = [rank for rank in returned if self._communicators[rank]._is_idle()]
        for rank, future in enumerate(ranks):
            if idle and not future.done():
                awaited = self._communicators[rank]._core.find_awaited(idle)
                if awaited is not None:
                    return rank, awaited
        return None

    def _run_rank(self, function: Callable[[Communicator], Result], comm: Communicator) -> Result:
        self._rank_threads.add(threading.get_ident())
        try:
            return function(comm)
        except BaseException as error:
            self._abort(f"rank {comm.rank} raised {describe(error)}")
            raise

    def _abort(self, reason: str) -> None:
        self._meeting.abort(reason)
        for comm in self._communicators:
            comm._core.stop(reason)

    def _recover(self) -> None:
        if all(comm._is_closed() for comm in self._communicators):
            return
        # All are closed or none is: that of a rank which closed it alone is as good as those of the others.
        self._meeting.recover()
        for comm in self._communicators:
            comm._recover()

    def _require_outside(self, call: str) -> None:
        if os.getpid() != self._process:
            raise ForkError(
                f"LocalGroup.{call}: this process was forked after the group was made, and threads and "
                "devices stayed with the parent; make the group after the fork, or spawn processes"
            )
        if threading.get_ident() in self._rank_threads:
            raise InvalidValueError(
                f"LocalGroup.{call}: called by one of the group's own ranks; call it where the group was made"
            )

    def close(self) -> None:
        """Gives threads and device memory back; the latter once nobody holds a communicator any more.

        Communicators that somebody still holds raise `PeerFailedError` from here on.
        """
        self._require_outside("close()")
        self._threads.shutdown()
        self._rank_threads.clear()
        if self._communicators:
            reason = "the group was closed"
            self._abort(reason)
            for comm in self._communicators:
                comm._close_alone(reason)
            self._communicators.clear()

    def __repr__(self) -> str:
        return (
            f"<aivops.LocalGroup of {counted(self.size, 'rank')}>"
            if self.size
            else "<aivops.LocalGroup, closed>"
        )

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        refuse_copy(self, "every process makes its own")

    def __enter__(self) -> LocalGroup:
        return self

    def __exit__(
        self,
        kind: type[BaseException] | None,
        error: BaseException | None,
        traceback: TracebackType | None,
    ) -> None:
        self.close()


def _results(ranks: Sequence[Future[Result]]) -> list[Result]:
    """What the ranks returned, once all have; or the cause of their failure."""
    wait(ranks)
    failures = {rank: error for rank, future in enumerate(ranks) if (error := future.exception()) is not None}
    if failures:
        raise _first_cause(failures)
    return [future.result() for future in ranks]


def _first_cause(failures: dict[int, BaseException]) -> BaseException:
    """The lowest rank's exception that did not merely follow another failure, with the rank noted on it."""
    causes = {rank: error for rank, error in failures.items() if not isinstance(error, PeerFailedError)}
    rank, error = min((causes or failures).items(), key=lambda item: item[0])
    with contextlib.suppress(Exception):  # some exceptions take neither; they are raised as they are
        notes: list[str] = getattr(error, "__notes__", None) or []
        error.__notes__ = [*notes, f"raised by rank {rank}"]  # type: ignore[attr-defined]
        error.rank = rank  # type: ignore[attr-defined]
    return error
