"""Handles of collectives that have been queued and not waited for."""

from __future__ import annotations

import threading
from collections.abc import Callable
from typing import Any, NoReturn, SupportsIndex

from . import _core
from ._misuse import refuse_copy
from ._words import counted


class Work:
    """What a collective with `async_op=True` returns. It keeps the inputs alive until it is waited for."""

    def __init__(self, finish: Callable[[], Any], plan: _core.Plan) -> None:
        self._finish: Callable[[], Any] | None = finish
        self._result: Any = None
        self._error: Exception | None = None
        self._waiting = threading.Lock()  # threads may share a handle, and all get the same
        self._plan = plan

    @property
    def algorithm(self) -> str:
        """What the call runs, e.g. "two_shots"."""
        return self._plan.algorithm

    @property
    def blocks(self) -> int:
        """How many vector cores it takes on every rank."""
        return self._plan.blocks

    def wait(self) -> Any:
        """The result, once it is there; raises what the call failed with. Waiting again gives the same."""
        with self._waiting:
            if self._finish is not None:
                try:
                    self._result = self._finish()
                except Exception as error:
                    self._error = error
                self._finish = None  # not when a wait is interrupted: the next one goes on
        if self._error is not None:
            raise self._error
        return self._result

    def __reduce_ex__(self, protocol: SupportsIndex) -> NoReturn:
        refuse_copy(self, "pass on what wait() returns")

    def __repr__(self) -> str:
        state = "waited for" if self._finish is None else "not waited for yet"
        return f"<aivops.Work: {self.algorithm} on {counted(self.blocks, 'block')}, {state}>"
