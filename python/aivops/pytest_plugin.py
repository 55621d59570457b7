"""pytest plugin: ``@pytest.mark.aiv(ranks=8, seeds=100)`` runs a test on emulated ranks by many schedules.

Every pytest of the environment loads it, so it imports nothing that does any work before a test has the mark.
PYTEST_DONT_REWRITE
"""

from __future__ import annotations

import contextlib
import inspect
import os
import shlex
import warnings
from collections.abc import Generator, Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest
from _pytest.runner import runtestprotocol

from . import _standstill
from ._numbers import DEVICES_OF_EMULATOR, MOST_RANKS, whole_number

if TYPE_CHECKING:
    from ._local_group import LocalGroup

CHECK = "AIVOPS_EMU_CHECK"
CHECKS = ["off", "on", "late", "strict"]
INI_CHECK = "aiv_check"
CHECKS_BY_SCHEDULES = {"late", "strict"}
SEED = "AIVOPS_EMU_SEED"
DEVICES = "AIVOPS_EMU_DEVICES"
MOST_SEED = 2**64 - 1
GROUP_OPTIONS = {"blocks", "kernels", "timeout", "window_bytes"}

_seed_of_item = pytest.StashKey[int]()
_unexpected_pass = pytest.StashKey[str | None]()  # the phase that a strict xfail failed because it passed


@dataclass(frozen=True)
class _Mark:
    """What ``@pytest.mark.aiv(...)`` says."""

    ranks: tuple[int, ...]
    is_list: bool
    seeds: int
    group: dict[str, Any]

    @classmethod
    def of(cls, item: pytest.Item) -> _Mark | None:
        mark = item.get_closest_marker("aiv")
        if mark is None:
            return None
        options = dict(mark.kwargs)
        ranks, seeds = options.pop("ranks", 1), options.pop("seeds", 1)
        is_list = isinstance(ranks, Iterable)
        counts = tuple(ranks) if is_list else (ranks,)
        unknown = sorted(set(options) - GROUP_OPTIONS)
        if mark.args or unknown:
            found = ", ".join([*map(repr, mark.args), *unknown])
            raise pytest.UsageError(
                f"{item.nodeid}: aiv({found}): expected ranks=, seeds=, {'=, '.join(sorted(GROUP_OPTIONS))}="
            )
        if not counts or not all(isinstance(count, int) and 1 <= count <= MOST_RANKS for count in counts):
            raise pytest.UsageError(
                f"{item.nodeid}: aiv(ranks={ranks!r}): expected a number from 1 to {MOST_RANKS}, or a list "
                "of them"
            )
        if not isinstance(seeds, int) or seeds < 1:
            raise pytest.UsageError(
                f"{item.nodeid}: aiv(seeds={seeds!r}): expected the number of schedules, from 1 on"
            )
        return cls(counts, is_list, seeds, options)


def pytest_addoption(parser: pytest.Parser) -> None:
    options = parser.getgroup("aiv", "tests with the mark aiv, on emulated devices")
    options.addoption(
        "--aiv-seeds", type=lambda text: whole_number(text, 1), metavar="N", help="run each by N schedules"
    )
    options.addoption(
        "--aiv-seed",
        type=lambda text: whole_number(text, 0, MOST_SEED),
        metavar="S",
        help="run each by this schedule only",
    )
    options.addoption(
        "--aiv-check",
        choices=CHECKS,
        help=f"what the emulator checks; late and strict have schedules (default: {CHECK}, else strict)",
    )
    parser.addini(INI_CHECK, "what the emulator checks, as --aiv-check does", default="")


def pytest_configure(config: pytest.Config) -> None:
    # Modules that use a device when they are collected use it under the check that was asked for.
    if check := config.getoption("--aiv-check") or config.getini(INI_CHECK):
        if check not in CHECKS:
            raise pytest.UsageError(f"{INI_CHECK} = {check}: expected {', '.join(CHECKS)}")
        os.environ[CHECK] = check
    config.addinivalue_line(
        "markers",
        "aiv(ranks=1, seeds=1, blocks=, kernels=, timeout=, window_bytes=): run the test on so many ranks "
        "(given a list, on each of these numbers) and by so many schedules of the emulator. The other "
        "arguments are those of aivops.LocalGroup. Fixtures: aiv_group, aiv_comm, aiv_ranks, aiv_seed.",
    )


def pytest_generate_tests(metafunc: pytest.Metafunc) -> None:
    try:
        mark = _Mark.of(metafunc.definition)
    except pytest.UsageError as error:
        raise pytest.fail.Exception(str(error), pytrace=False) from None
    if mark is None or not mark.is_list:
        return
    if "aiv_ranks" not in metafunc.fixturenames:
        pytest.fail(
            f"{metafunc.definition.nodeid}: aiv(ranks={list(mark.ranks)}): the test takes none of aiv_group, "
            "aiv_comm and aiv_ranks, so it cannot tell them apart",
            pytrace=False,
        )
    ids = [f"ranks{count}" for count in mark.ranks]
    metafunc.parametrize("aiv_ranks", mark.ranks, ids=ids, indirect=True)


def pytest_collection_finish(session: pytest.Session) -> None:
    """The emulator reads its settings when the first test uses it."""
    marks = [mark for item in session.items if (mark := _Mark.of(item)) is not None]
    if not marks:
        return
    os.environ.setdefault(CHECK, "strict")
    os.environ.setdefault(_standstill.VARIABLE, _standstill.INTERVAL_US)
    most = max(max(mark.ranks) for mark in marks)
    if most > DEVICES_OF_EMULATOR:
        os.environ.setdefault(DEVICES, str(most))


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_protocol(item: pytest.Item, nextitem: pytest.Item | None) -> bool | None:
    """Runs a marked test by one schedule after the other, with fresh fixtures, until one fails.

    One that fails as expected (xfail) ends it, too; it passes unexpectedly only when all schedules do.
    """
    mark = _Mark.of(item)
    if mark is None:
        return None
    item.ihook.pytest_runtest_logstart(nodeid=item.nodeid, location=item.location)
    reports: list[pytest.TestReport] = []
    spent = 0.0
    for seed in _seeds(item.config, mark):
        item.stash[_seed_of_item] = seed
        item.stash[_unexpected_pass] = None
        with _environment(SEED, str(seed)):
            # What the test shares with others stays: as if one of its siblings came next.
            reports = runtestprotocol(item, log=False, nextitem=item.parent)  # type: ignore[arg-type]
        spent += sum(report.duration for report in reports if report.when == "call")
        if not all(report.passed or report.when == item.stash[_unexpected_pass] for report in reports):
            break
    for report in [*reports, *_tear_down_shared(item, nextitem)]:
        if report.when == "call":
            report.duration = spent
        item.ihook.pytest_runtest_logreport(report=report)
    item.ihook.pytest_runtest_logfinish(nodeid=item.nodeid, location=item.location)
    return True


def _tear_down_shared(item: pytest.Item, nextitem: pytest.Item | None) -> list[pytest.TestReport]:
    """What the next test does not share with this one; a report if that fails."""
    stopping = item.session.shouldfail or item.session.shouldstop
    call = pytest.CallInfo.from_call(
        lambda: item.session._setupstate.teardown_exact(None if stopping else nextitem), when="teardown"
    )
    if call.excinfo is None:
        return []
    return [item.ihook.pytest_runtest_makereport(item=item, call=call)]


def _seeds(config: pytest.Config, mark: _Mark) -> Sequence[int]:
    only: int | None = config.getoption("--aiv-seed")
    if only is not None:
        return [only]
    if os.environ.get(CHECK) not in CHECKS_BY_SCHEDULES:
        return [0]
    return range(config.getoption("--aiv-seeds") or mark.seeds)


@contextlib.contextmanager
def _environment(variable: str, value: str) -> Iterator[None]:
    """For the programs that a test starts."""
    previous = os.environ.get(variable)
    os.environ[variable] = value
    try:
        yield
    finally:
        if previous is None:
            del os.environ[variable]
        else:
            os.environ[variable] = previous


@pytest.hookimpl(tryfirst=True)
def pytest_runtest_setup(item: pytest.Item) -> None:
    if _seed_of_item in item.stash and os.environ.get(CHECK) in CHECKS_BY_SCHEDULES:
        from ._schedule import begin_schedule  # noqa: PLC0415 - only now is AivOps wanted

        begin_schedule(item.stash[_seed_of_item])


@pytest.hookimpl(wrapper=True)
def pytest_runtest_makereport(
    item: pytest.Item, call: pytest.CallInfo[None]
) -> Generator[None, pytest.TestReport, pytest.TestReport]:
    report = yield
    seed = item.stash.get(_seed_of_item, None)
    if not report.failed or seed is None:
        return report
    check = os.environ.get(CHECK)
    if call.excinfo is None:
        item.stash[_unexpected_pass] = call.when
    elif check in CHECKS_BY_SCHEDULES:
        other = [] if check == "strict" else [f"--aiv-check={check}"]
        command = shlex.join(["pytest", item.nodeid, f"--aiv-seed={seed}", *other])
        report.sections.append(
            ("aiv", f"It failed by schedule {seed}, which this command replays:\n{command}")
        )
    return report


@pytest.hookimpl(tryfirst=True)
def pytest_pyfunc_call(pyfuncitem: pytest.Function) -> bool | None:
    """A test that takes aiv_comm is what every rank runs."""
    names = inspect.signature(pyfuncitem.obj).parameters
    if "aiv_comm" not in names or _seed_of_item not in pyfuncitem.stash:
        return None
    arguments = {name: value for name, value in pyfuncitem.funcargs.items() if name in names}
    group = cast("LocalGroup", pyfuncitem.funcargs["aiv_group"])
    returned = group.run(lambda comm: pyfuncitem.obj(**{**arguments, "aiv_comm": comm}))
    for value in returned:
        _require_nothing(pyfuncitem.nodeid, value)
    return True


def _require_nothing(nodeid: str, value: object) -> None:
    """As pytest does with what a test returns: a coroutine is a test that has not run."""
    if hasattr(value, "__await__") or hasattr(value, "__aiter__"):
        pytest.fail(
            "async def functions cannot take aiv_comm: every rank runs the test in a thread of its own; "
            "call asyncio.run() in it",
            pytrace=False,
        )
    if value is not None:
        warnings.warn(
            pytest.PytestReturnNotNoneWarning(
                f"Test functions should return None, but {nodeid} returned {type(value)!r}.\n"
                "Did you mean to use `assert` instead of `return`?"
            ),
            stacklevel=2,
        )


@pytest.fixture
def aiv_ranks(request: pytest.FixtureRequest) -> int:
    """How many ranks the test runs on."""
    count: int = getattr(request, "param", _mark_of(request).ranks[0])
    return count


@pytest.fixture
def aiv_seed(request: pytest.FixtureRequest) -> int:
    """The schedule: for a test's own random numbers, say."""
    _mark_of(request)
    seed: int = request.node.stash[_seed_of_item]
    return seed


@pytest.fixture
def aiv_group(request: pytest.FixtureRequest, aiv_ranks: int) -> Iterator[LocalGroup]:
    """A fresh `aivops.LocalGroup` of so many ranks."""
    from ._local_group import LocalGroup  # noqa: PLC0415 - only now is AivOps wanted

    with LocalGroup(aiv_ranks, **_mark_of(request).group) as group:
        yield group


@pytest.fixture
def aiv_comm(aiv_group: LocalGroup) -> None:
    """The communicator of each rank, for a test that every rank runs. Of no use to other fixtures."""


def _mark_of(request: pytest.FixtureRequest) -> _Mark:
    mark = _Mark.of(request.node)
    if mark is None:
        pytest.fail(
            f"{request.fixturename}: the test is not marked; put @pytest.mark.aiv(ranks=2) before it",
            pytrace=False,
        )
    return mark
