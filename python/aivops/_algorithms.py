"""Algorithms of other packages."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

from . import _core, _toolkit
from ._binary import load_kernels
from ._misuse import require_kind, require_whole, shown
from ._numbers import MOST_RANKS
from .errors import InvalidTypeError, InvalidValueError

_ANY_BYTES = 2**64 - 1
_LONGEST_NAME = 64  # messages of all ranks name it
_ARCHITECTURES = ("dav-c220-vec", "dav-c310-vec")


def register_algorithm(
    operation: str,
    name: str,
    *,
    kernels: str,
    kernel: str,
    types: Sequence[str],
    ranks: tuple[int, int] = (1, MOST_RANKS),
    nbytes: tuple[int, int | None] = (0, None),
    architectures: Sequence[str] = (),
    registered: bool = False,
    in_place: bool = False,
    preferred: bool = False,
) -> None:
    """Gives `operation` ("all_reduce") another algorithm, for all communicators of this process.

    Every process of a program registers the same algorithms in the same order.

    :param name: what `algorithm=` and `Work.algorithm` call it
    :param kernels: the package that ships its kernels, as in `load_kernels`
    :param kernel: what their names begin with; an underscore and the type follow, as Ascend C spells it
        (`my_all_reduce_bfloat16_t`). They take the arguments that docs/collectives.md lists
    :param types: the element types that it has kernels for
    :param ranks: the fewest and the most ranks it is for
    :param nbytes: the fewest and the most bytes of input per rank; None is any number
    :param architectures: those it is for; none means all
    :param registered: it reads other ranks' arrays where they lie (aivops/regions.h)
    :param in_place: its input and output may share memory
    :param preferred: it is chosen wherever all this holds, without being asked for
    :raises InvalidValueError: the name is taken or none, a kernel is missing, or no call could use it
    """
    require_kind("register_algorithm(): operation", operation, str, "the name of a collective")
    require_kind("register_algorithm(): name", name, str, "a name")
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise InvalidValueError(
            f"register_algorithm({operation!r}): the name is {reprlib.repr(name)}, expected 1 to "
            f"{_LONGEST_NAME} printable characters"
        )
    what = f"register_algorithm({operation!r}, {name!r})"
    require_kind(f"{what}: kernel", kernel, str, "what the names of kernels begin with")
    types = _names(f"{what}: types", types)
    architectures = _names(f"{what}: architectures", architectures)
    fewest, most = _range(f"{what}: ranks", ranks)
    least, longest = _range(f"{what}: nbytes", nbytes)
    for flag, value in (("registered", registered), ("in_place", in_place), ("preferred", preferred)):
        require_kind(f"{what}: {flag}", value, bool, "True or False")
    if fewest < 1 or most > MOST_RANKS:
        raise InvalidValueError(f"{what}: ranks are {ranks}, expected 1 to {MOST_RANKS}")
    if least < 0 or max(least, longest) > _ANY_BYTES:
        raise InvalidValueError(f"{what}: nbytes are {nbytes}, expected 0 to 2**64-1, or None for any number")
    if not types or fewest > most or least > longest:
        raise InvalidValueError(
            f"{what}: no call could ever use it: types are {types}, ranks {ranks}, nbytes {nbytes}"
        )
    unknown = [name for name in architectures if name not in _ARCHITECTURES]
    if unknown:
        raise InvalidValueError(
            f"{what}: there is no architecture {unknown[0]!r}, expected {' or '.join(_ARCHITECTURES)}"
        )
    kernel_set = load_kernels(kernels, toolkit=_toolkit.current())
    has = set(kernel_set.kernel_names)
    missing = [entry for entry in _core.algorithm_kernels(operation, kernel, types) if entry not in has]
    if missing:
        raise InvalidValueError(
            f"{what}: kernels at {kernel_set.folder} have no {', '.join(missing)}; "
            f"they have {', '.join(sorted(has))}"
        )
    _core.register_algorithm(
        operation,
        name,
        kernels=kernel_set,
        kernel=kernel,
        types=types,
        ranks=(fewest, most),
        bytes=(least, longest),
        architectures=architectures,
        registered=registered,
        in_place=in_place,
        preferred=preferred,
    )


def _names(what: str, names: Sequence[str]) -> list[str]:
    if isinstance(names, str) or not hasattr(names, "__iter__"):
        raise InvalidTypeError(f"{what} is {shown(names)}, expected a list of names")
    for name in names:
        require_kind(f"an entry of {what}", name, str, "a name")
    return list(names)


def _range(what: str, given: tuple[int, int | None]) -> tuple[int, int]:
    """Fewest and most; None as the latter is any number of bytes."""
    if isinstance(given, str) or not hasattr(given, "__len__") or len(given) != 2:
        raise InvalidTypeError(f"{what} is {reprlib.repr(given)}, expected the fewest and the most")
    fewest, most = given
    return require_whole(what, fewest), _ANY_BYTES if most is None else require_whole(what, most)
