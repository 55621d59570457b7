"""Arguments that cannot be used, refused in words: what was given for what, and what was expected."""

from __future__ import annotations

import ast
import inspect
import math
import operator
import os
import re
import reprlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, NoReturn, SupportsIndex

from . import _core
from ._numbers import MOST_BLOCKS
from .errors import InvalidTypeError, InvalidValueError

MOST_BYTES = 2**63 - 1
_Parameter = inspect.Parameter


def shown(value: object) -> str:
    """A value as messages show it: whole when it is short, else what it is."""
    if value is None or isinstance(value, (bool, int, float, str, bytes)):
        return reprlib.repr(value)
    kind = type(value).__name__
    return f"{'an' if kind[0] in 'aeiouAEIOU' else 'a'} {kind}"


def require_whole(what: str, value: SupportsIndex, least: float = -math.inf, most: float = math.inf) -> int:
    """`value` as an int; numpy's are welcome."""
    try:
        number = operator.index(value)
    except TypeError:
        raise InvalidTypeError(f"{what} is {shown(value)}, expected a whole number") from None
    if not least <= number <= most:
        raise InvalidValueError(f"{what} is {shown(number)}, expected {least} to {most}")
    return number


def require_blocks(what: str, value: SupportsIndex) -> int:
    """A number of blocks that a launch can have, as an int."""
    return require_whole(what, value, 1, MOST_BLOCKS)


def require_seconds(what: str, value: float) -> None:
    """A time limit."""
    try:
        number = math.nan if isinstance(value, (str, bytes)) else float(value)
    except OverflowError:
        raise InvalidValueError(
            f"{what} is {shown(value)}, expected seconds above 0, or inf for never"
        ) from None
    except (TypeError, ValueError):
        number = math.nan
    if math.isnan(number) and not isinstance(value, float):
        raise InvalidTypeError(f"{what} is {shown(value)}, expected seconds")
    if not number > 0:
        raise InvalidValueError(
            f"{what}: {number:g} s is not a time limit; give seconds above 0, infinity for never, or "
            "nothing for the default"
        )


def require_kind(what: str, value: object, kinds: type | tuple[type, ...], expected: str) -> None:
    if not isinstance(value, kinds):
        raise InvalidTypeError(f"{what} is {shown(value)}, expected {expected}")


def refuse_copy(owner: object, instead: str) -> NoReturn:
    """Raises for what copy and pickle would make a second owner of."""
    raise InvalidTypeError(f"{type(owner).__name__}: it can be neither copied nor pickled; {instead}")


def refuse_call(
    scope: Any, name: str, owner: object, arguments: Sequence[object], keywords: Mapping[str, object]
) -> NoReturn:
    """Raises what is wrong with the arguments of a native function, as its signatures tell."""
    overloads = getattr(scope, name).__nb_signature__[:-1]  # the last one has called this
    call = _name_call(scope, name, owner)
    reason: TypeError | None = None
    for text, *_ in overloads:
        parameters = _parameters(text, skip_first=owner is not None)
        try:
            bound = inspect.Signature(parameters).bind(*arguments, **keywords)
        except TypeError as error:
            reason = error
            continue
        for parameter in parameters:
            if parameter.kind not in (_Parameter.VAR_POSITIONAL, _Parameter.VAR_KEYWORD):
                _require_fit(call, parameter, bound.arguments.get(parameter.name, parameter.default))
        for title, value in bound.arguments.items():
            if isinstance(value, (int, float)) and not 0 <= value < 2**31:
                raise InvalidValueError(f"{call}: {title} is {shown(value)}, which is out of range")
        reason = TypeError("its arguments do not fit together")
    takes = ", ".join(_name_parameter(parameter) for parameter in parameters) or "nothing"
    raise InvalidTypeError(f"{call}: {reason}; it takes {takes}")


def refuse_making(kind: type) -> NoReturn:
    """Raises where objects come from that a call of their class does not give."""
    raise InvalidTypeError(f"{kind.__name__}(): this does not make one. {kind.__doc__}")


def _name_call(scope: Any, name: str, owner: object) -> str:
    if inspect.ismodule(scope):
        return f"{name}()"
    kind = scope.__name__ if owner is None else type(owner).__name__
    return f"{kind}()" if name == "__init__" else f"{kind}.{name}()"


def _name_parameter(parameter: _Parameter) -> str:
    if parameter.kind is _Parameter.VAR_POSITIONAL:
        return f"*{parameter.name}"
    return parameter.name + ("=" if parameter.kind is _Parameter.KEYWORD_ONLY else "")


def _parameters(signature: str, skip_first: bool) -> list[_Parameter]:
    """From e.g. r"def f(self, id: int = \0, *, toolkit: aivops._core.Toolkit | None = None) -> None"."""
    plain = re.sub(r"\bndarray\[[^]]*\]", "ndarray", signature)  # what stands in these brackets is no Python
    source = re.sub(r"\\=?\d+", "...", plain) + ": ..."
    function = ast.parse(source).body[0]
    assert isinstance(function, ast.FunctionDef)
    given = function.args
    positional = [*given.posonlyargs, *given.args]
    defaults = [None] * (len(positional) - len(given.defaults)) + list(given.defaults)
    made = [
        _parameter(argument, _Parameter.POSITIONAL_OR_KEYWORD, default)
        for argument, default in zip(positional, defaults, strict=True)
    ][skip_first:]
    if given.vararg is not None:
        made.append(_parameter(given.vararg, _Parameter.VAR_POSITIONAL, None))
    made += [
        _parameter(argument, _Parameter.KEYWORD_ONLY, default)
        for argument, default in zip(given.kwonlyargs, given.kw_defaults, strict=True)
    ]
    return made


def _parameter(argument: ast.arg, kind: Any, default: ast.expr | None) -> _Parameter:
    annotation = "object" if argument.annotation is None else ast.unparse(argument.annotation)
    return _Parameter(
        argument.arg, kind, default=_Parameter.empty if default is None else ..., annotation=annotation
    )


def _require_fit(call: str, parameter: _Parameter, value: Any) -> None:
    if value is ... or value is _Parameter.empty:
        return
    kinds = parameter.annotation.split(" | ")
    if not any(_fits(kind, value) for kind in kinds):
        expected = " or ".join(kind.rpartition(".")[2] for kind in kinds)
        raise InvalidTypeError(f"{call}: {parameter.name} is {shown(value)}, expected {expected}")
    text = os.fspath(value) if isinstance(value, os.PathLike) else value
    if isinstance(text, str) and ("\0" in text or not _is_unicode(text)):
        raise InvalidValueError(f"{call}: {parameter.name} is {reprlib.repr(text)}, which is no usable text")


def _fits(kind: str, value: Any) -> bool:
    """Whether a value is of the kind that an annotation names; True where that cannot be told."""
    if kind in _TESTS:
        return _TESTS[kind](value)
    if kind.startswith(("collections.abc.Sequence", "tuple", "list")):
        return hasattr(value, "__len__") and not isinstance(value, (str, bytes))
    named = getattr(_core, kind.rpartition(".")[2], None)
    return isinstance(value, named) if isinstance(named, type) else True


_TESTS: Mapping[str, Callable[[Any], bool]] = {
    "None": lambda value: value is None,
    "int": lambda value: hasattr(value, "__index__"),
    "float": lambda value: hasattr(value, "__float__") or hasattr(value, "__index__"),
    "str": lambda value: isinstance(value, str),
    "bool": lambda value: isinstance(value, bool),
    "bytes": lambda value: isinstance(value, bytes),
    "os.PathLike": lambda value: isinstance(value, os.PathLike),
}


def _is_unicode(text: str) -> bool:
    """Not so for what the file system has in no encoding."""
    try:
        text.encode()
    except UnicodeEncodeError:
        return False
    return True
