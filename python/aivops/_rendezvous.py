"""A bootstrap for processes of one machine: ranks connect to rank 0 through a socket named after their job.

The socket lies in the abstract namespace: it leaves no file, takes no port, and is gone with its process.
Both ends must be of the same user. Its name is free again as soon as all ranks have come.
"""

from __future__ import annotations

import contextlib
import errno
import hashlib
import itertools
import json
import os
import selectors
import socket
import struct
import time
import weakref
from collections.abc import Collection, Iterator, Sequence
from typing import NoReturn

from . import _core
from ._bootstrap import name_ranks
from ._launchers import Place
from .errors import BootstrapError, BootstrapTimeoutError, Error, PeerDiedError, PeerFailedError

_RETRY_SECONDS = 0.02
_HELLO_SECONDS = 10.0  # from the connection to the first word
_SELECT_SECONDS = 86400.0  # selectors take no more than some weeks at once
_GRACE_SECONDS = 5.0  # for rank 0 to say itself who is missing
_HEADER = struct.Struct("<cQ")  # kind and length of what follows
_LENGTH = struct.Struct("<Q")
_DATA = b"d"
_FAILURES: dict[bytes, type[Error]] = {
    b"t": BootstrapTimeoutError,
    b"b": BootstrapError,
    b"f": PeerFailedError,
}
_CREDENTIALS = struct.Struct("3i")

_generations: dict[str, itertools.count[int]] = {}  # a job may make one communicator after the other
_open: weakref.WeakSet[Rendezvous] = weakref.WeakSet()


class Rendezvous:
    """All ranks of `place.job`; making one waits for all of them.

    `timeout` bounds later calls: whoever does not come in that time, though its process lives, is an error.
    """

    def __init__(self, place: Place, join_timeout: float, timeout: float) -> None:
        self.rank = place.rank
        self.size = place.size
        self._timeout = timeout
        self._links: dict[int, _Link] = {}  # rank 0 has one to everybody, the others have one to rank 0
        _open.add(self)
        generation = next(_generations.setdefault(place.job, itertools.count()))
        digest = hashlib.sha256(f"{place.job}\n{generation}".encode()).hexdigest()[:32]
        address = f"\0aivops-{os.geteuid()}-{digest}"
        deadline = time.monotonic() + join_timeout
        try:
            if self.rank == 0:
                self._receive_ranks(address, deadline, join_timeout)
            else:
                self._join(address, deadline, join_timeout)
        except BaseException:
            self.close()
            raise

    def all_gather(self, data: bytes, /) -> Sequence[bytes]:
        deadline = time.monotonic() + self._timeout
        if self.rank != 0:
            root = self._links[0]
            root.send(_DATA, data)
            return _split(self._receive([root], deadline)[0])
        parts = {0: data, **self._receive(self._links.values(), deadline)}
        everything = b"".join(_LENGTH.pack(len(parts[rank])) + parts[rank] for rank in range(self.size))
        self._send(everything)
        return [parts[rank] for rank in range(self.size)]

    def barrier(self) -> None:
        self.all_gather(b"")

    def abort(self, reason: str) -> None:
        """Makes what others wait for here fail, and leaves."""
        self._tell(PeerFailedError(reason))
        self.close()

    def close(self) -> None:
        for link in self._links.values():
            link.socket.close()
        self._links.clear()

    def _tell(self, failure: Error) -> None:
        kind = next(kind for kind, error in _FAILURES.items() if isinstance(failure, error))
        for link in self._links.values():
            with contextlib.suppress(PeerDiedError):
                link.send(kind, str(failure).encode("utf-8", "replace"))

    @contextlib.contextmanager
    def _telling(self) -> Iterator[None]:
        """Rank 0 tells the others what fails here: they hear of nobody else."""
        try:
            yield
        except Error as error:
            if isinstance(error, PeerDiedError):
                error.rank = self.rank
            if self.rank == 0:
                self._tell(error)
            raise

    def _send(self, data: bytes) -> None:
        with self._telling():
            for link in self._links.values():
                link.send(_DATA, data)

    def _receive_ranks(self, address: str, deadline: float, seconds: float) -> None:
        """Rank 0's part of the beginning."""
        if self.size == 1:
            return
        with socket.socket(socket.AF_UNIX) as listener, selectors.DefaultSelector() as selector:
            _listen(listener, address)
            selector.register(listener, selectors.EVENT_READ)
            while len(self._links) < self.size - 1:
                ready = selector.select(_seconds_until(deadline))
                if not ready and time.monotonic() >= deadline:
                    missing = set(range(1, self.size)) - set(self._links)
                    self._refuse(
                        BootstrapTimeoutError(
                            f"Communicator: {name_ranks(missing)} did not come "
                            f"within {seconds:g} s; see why, and raise join_timeout= if it takes that long"
                        )
                    )
                for key, _ in ready:
                    if key.fileobj is not listener:
                        # Nobody has anything to say yet.
                        early: _Link = key.data
                        self._refuse(BootstrapError(f"Communicator: {early.name} left before all had come"))
                    link = self._welcome(listener.accept()[0])
                    if link is not None:
                        selector.register(link.socket, selectors.EVENT_READ, link)
        self._send(b"")

    def _welcome(self, connection: socket.socket) -> _Link | None:
        """A link to whoever connected; nothing when it is none of this user's processes, or no rank."""
        process, user = _peer_of(connection)
        link = _Link(connection, -1, process)
        try:
            if user != os.geteuid():
                raise ValueError
            connection.settimeout(_HELLO_SECONDS)
            hello = json.loads(link.receive())
            rank, size, version = int(hello["rank"]), int(hello["size"]), str(hello["version"])
        except (OSError, ValueError, KeyError, TypeError, PeerFailedError):
            connection.close()
            return None
        link.rank = rank
        first = self._links.get(rank)
        # Kept under a number that no rank has, so that it is told as well.
        self._links[rank if first is None and 0 < rank < self.size else -1] = link
        own = f"rank 0 (process {os.getpid()})"
        if version != _core.__version__:
            self._refuse(
                BootstrapError(
                    f"Communicator: {link.name} has AivOps {version}, {own} has {_core.__version__}; "
                    "all ranks must have the same"
                )
            )
        if size != self.size:
            self._refuse(
                BootstrapError(
                    f"Communicator: {link.name} says that there are {size} ranks, {own} says {self.size}; "
                    "give all ranks the same size"
                )
            )
        if -1 in self._links:
            other = f"process {first.process}" if first is not None else own
            self._refuse(
                BootstrapError(
                    f"Communicator: {other} and process {process} both say that they are rank {rank} of the "
                    "job; give each process a rank of its own, and each job its own MASTER_PORT"
                )
            )
        return link

    def _refuse(self, error: BootstrapError) -> NoReturn:
        self._tell(error)
        raise error

    def _join(self, address: str, deadline: float, seconds: float) -> None:
        """The other ranks' part of the beginning."""
        root = _Link(_connect(address, deadline, seconds), 0, 0)
        self._links[0] = root
        root.process, user = _peer_of(root.socket)
        if user != os.geteuid():
            raise BootstrapError(
                f"Communicator: process {root.process} of another user (id {user}) waits in rank 0's place; "
                "choose another MASTER_PORT"
            )
        hello = {"rank": self.rank, "size": self.size, "version": _core.__version__}
        root.send(_DATA, json.dumps(hello).encode())
        try:
            self._receive([root], deadline + _GRACE_SECONDS)
        except PeerDiedError as error:
            raise BootstrapError(f"Communicator: {root.name} ended before all ranks had come") from error

    def _receive(self, links: Collection[_Link], deadline: float) -> dict[int, bytes]:
        """What the ranks behind `links` send, by rank."""
        waiting = {link.rank for link in links}
        parts: dict[int, bytes] = {}
        with self._telling(), selectors.DefaultSelector() as selector:
            for link in links:
                selector.register(link.socket, selectors.EVENT_READ, link)
            while waiting:
                ready = selector.select(_seconds_until(deadline))
                if not ready and time.monotonic() >= deadline:
                    raise BootstrapTimeoutError(
                        f"Communicator: rank {self.rank} waited for {name_ranks(waiting)} for "
                        f"{self._timeout:g} s in vain; all ranks must make the same calls"
                    )
                for key, _ in ready:
                    sender: _Link = key.data
                    parts[sender.rank] = sender.receive()
                    selector.unregister(sender.socket)
                    waiting.remove(sender.rank)
        return parts


class _Link:
    """A connection to another rank."""

    def __init__(self, connection: socket.socket, rank: int, process: int) -> None:
        self.socket = connection
        self.rank = rank
        self.process = process

    @property
    def name(self) -> str:
        return f"rank {self.rank} (process {self.process})"

    def send(self, kind: bytes, data: bytes) -> None:
        try:
            self.socket.sendall(_HEADER.pack(kind, len(data)) + data)
        except OSError as error:
            raise self._lost() from error

    def receive(self) -> bytes:
        kind, length = _HEADER.unpack(self._read(_HEADER.size))
        data = self._read(length)
        if kind in _FAILURES:
            raise _FAILURES[kind](data.decode("utf-8", "replace"))
        return data

    def _read(self, length: int) -> bytes:
        data = bytearray()
        while len(data) < length:
            try:
                piece = self.socket.recv(min(length - len(data), 1 << 20))
            except OSError as error:
                raise self._lost() from error
            if not piece:
                raise self._lost()
            data += piece
        return bytes(data)

    def _lost(self) -> PeerDiedError:
        error = PeerDiedError(f"Communicator: {self.name} has ended, or closed its communicator")
        error.peer = self.rank
        return error


def _seconds_until(deadline: float) -> float:
    """For one select, which may end before `deadline`."""
    return min(max(deadline - time.monotonic(), 0), _SELECT_SECONDS)


def _listen(listener: socket.socket, address: str) -> None:
    try:
        listener.bind(address)
    except OSError as error:
        if error.errno != errno.EADDRINUSE:
            raise
        owner = "another process"
        with socket.socket(socket.AF_UNIX) as probe, contextlib.suppress(OSError):
            probe.connect(address)
            owner = f"process {_peer_of(probe)[0]}"
        raise BootstrapError(
            f"Communicator: {owner} and process {os.getpid()} both say that they are rank 0 of the job; "
            "give each process a rank of its own, and each job its own MASTER_PORT"
        ) from None
    listener.listen(socket.SOMAXCONN)


def _connect(address: str, deadline: float, seconds: float) -> socket.socket:
    while True:
        connection = socket.socket(socket.AF_UNIX)
        try:
            connection.connect(address)
        except OSError as error:
            connection.close()
            if error.errno not in (errno.ECONNREFUSED, errno.EAGAIN):
                raise
        else:
            return connection
        if time.monotonic() >= deadline:
            raise BootstrapTimeoutError(
                f"Communicator: rank 0 did not come within {seconds:g} s, or all ranks of the job have come "
                "already; see why, and raise join_timeout= if it takes that long"
            )
        time.sleep(_RETRY_SECONDS)


def _peer_of(connection: socket.socket) -> tuple[int, int]:
    """Process and user at the other end."""
    credentials = connection.getsockopt(socket.SOL_SOCKET, socket.SO_PEERCRED, _CREDENTIALS.size)
    process, user, _ = _CREDENTIALS.unpack(credentials)
    return process, user


def _split(everything: bytes) -> list[bytes]:
    parts, place = [], 0
    while place < len(everything):
        (length,) = _LENGTH.unpack_from(everything, place)
        place += _LENGTH.size
        parts.append(everything[place : place + length])
        place += length
    return parts


def _forget_in_child() -> None:
    # A child must not keep its parent's connections open: their end tells that the parent has ended.
    for rendezvous in list(_open):
        rendezvous.close()


os.register_at_fork(after_in_child=_forget_in_child)
