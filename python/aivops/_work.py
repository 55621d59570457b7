"""Handles of collectives that have been queued and not waited for."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


class Work:
    """What a collective with `async_op=True` returns. It keeps the inputs alive until it is waited for."""

    def __init__(self, finish: Callable[[], Any]) -> None:
        self._finish: Callable[[], Any] | None = finish
        self._result: Any = None
        self._error: BaseException | None = None

    def wait(self) -> Any:
        """The result, once it is there; raises what the call failed with. Waiting again gives the same."""
        if self._finish is not None:
            finish, self._finish = self._finish, None
            try:
                self._result = finish()
            except BaseException as error:
                self._error = error
        if self._error is not None:
            raise self._error
        return self._result
