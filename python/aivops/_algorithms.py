"""Algorithms of other packages."""

from __future__ import annotations

import reprlib
from collections.abc import Sequence

from . import _core, _toolkit
from ._binary import load_kernels
from .errors import InvalidValueError

_ANY_BYTES = 2**64 - 1
_MOST_RANKS = 64
_LONGEST_NAME = 64  # messages of all ranks name it
_ARCHITECTURES = ("dav-c220-vec", "dav-c310-vec")


def register_algorithm(
    operation: str,
    name: str,
    *,
    kernels: str,
    kernel: str,
    types: Sequence[str],
    ranks: tuple[int, int] = (1, 64),
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
    if not name.strip() or not name.isprintable() or len(name) > _LONGEST_NAME:
        raise InvalidValueError(
            f"register_algorithm({operation!r}): the name is {reprlib.repr(name)}, expected 1 to "
            f"{_LONGEST_NAME} printable characters"
        )
    what = f"register_algorithm({operation!r}, {name!r})"
    least, most = nbytes
    if not types or ranks[0] > ranks[1] or (most is not None and least > most):
        raise InvalidValueError(
            f"{what}: no call could ever use it: types are {list(types)}, ranks {ranks}, nbytes {nbytes}"
        )
    if ranks[0] < 1 or ranks[1] > _MOST_RANKS:
        raise InvalidValueError(f"{what}: ranks are {ranks}, expected 1 to {_MOST_RANKS}")
    if least < 0 or max(least, most or 0) > _ANY_BYTES:
        raise InvalidValueError(f"{what}: nbytes are {nbytes}, expected 0 to 2**64-1, or None for any number")
    unknown = [name for name in architectures if name not in _ARCHITECTURES]
    if unknown:
        raise InvalidValueError(
            f"{what}: there is no architecture {unknown[0]!r}, expected {' or '.join(_ARCHITECTURES)}"
        )
    kernel_set = load_kernels(kernels, toolkit=_toolkit.current())
    has = set(kernel_set.kernel_names)
    missing = [entry for entry in _core.algorithm_kernels(operation, kernel, list(types)) if entry not in has]
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
        types=list(types),
        ranks=ranks,
        bytes=(least, _ANY_BYTES if most is None else most),
        architectures=list(architectures),
        registered=registered,
        in_place=in_place,
        preferred=preferred,
    )
