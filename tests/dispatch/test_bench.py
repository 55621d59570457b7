"""`aivops bench`: its tables, JSON documents, and comparing two of them."""

import json
from pathlib import Path

import aivops.cli
import pytest
from fixtures.python_process import run_python

MAIN = "import sys; from aivops.cli import main; sys.exit(main(sys.argv[1:]))"


@pytest.mark.parametrize(
    ("what", "names"),
    [
        ("launch", ["launch and wait, 1 block", "prepared, 256 in a row, 48 blocks"]),
        ("copies", ["host to device, 4 KiB", "device to device, on a stream, 16 MiB"]),
    ],
)
def test_figures_of_a_device(what: str, names: list[str]) -> None:
    done = run_python(MAIN, "bench", what, "--seconds", "0.01", "--format", "json", AIVOPS_TOOLKIT="emulator")
    assert (done.returncode, done.stderr) == (0, "")
    document = json.loads(done.stdout)
    assert (document["schema"], document["bench"]) == (1, what)
    figures = {figure["name"]: figure for figure in document["figures"]}
    assert set(names) <= set(figures)
    for figure in figures.values():
        assert 0 < figure["fastest"] <= figure["median"] <= figure["slowest"]
        assert figure["calls"] >= 5


def test_a_table_for_people() -> None:
    done = run_python(
        MAIN, "bench", "copies", "--seconds", "0.01", "--sizes", "4K", AIVOPS_TOOLKIT="emulator"
    )
    assert (done.returncode, done.stderr) == (0, "")
    assert done.stdout.count("4 KiB") == 4
    title, head, *rows = done.stdout.splitlines()
    assert title == "copies on Ascend910B1 (aivops-emulator), until they are done"
    assert head.split() == ["copy", "median", "fastest", "…", "slowest", "calls", "GB/s"]
    assert len(rows) == 4


@pytest.mark.parametrize(
    ("size", "words"),
    [*((size, "expected") for size in ("4k5", "K", "1.5M", "0", "-1K")), ("9999999999G", "is too large")],
)
def test_sizes_that_make_no_sense(size: str, words: str) -> None:
    done = run_python(MAIN, "bench", "copies", f"--sizes={size}", AIVOPS_TOOLKIT="emulator")
    assert done.returncode == 2
    assert size in done.stderr.splitlines()[-1]
    assert words in done.stderr


def write(path: Path, **medians: float) -> Path:
    figures = [{"name": name, "median": median} for name, median in medians.items()]
    path.write_text(json.dumps({"schema": 1, "bench": "launch", "figures": figures}))
    return path


def compare(capsys: pytest.CaptureFixture[str], *arguments: object) -> tuple[int, str]:
    status = aivops.cli.main(["bench", "compare", *map(str, arguments)])
    return status, capsys.readouterr().out


def test_only_slower_is_bad(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    before = write(tmp_path / "before.json", a=1e-6, b=1e-3)
    faster = write(tmp_path / "faster.json", a=0.2e-6, b=1.05e-3, c=1.0)
    status, output = compare(capsys, before, faster)
    assert status == 0
    assert "-80.0%" in output
    assert "new" in output
    status, output = compare(capsys, faster, before)
    assert status == 1
    assert "+400.0%  slower" in output
    assert "missing" in output
    assert compare(capsys, before, faster, "--limit", "4")[0] == 1
    assert compare(capsys, before, before)[0] == 0


@pytest.mark.parametrize(
    "content", ["", "{}", '{"schema": 2}', '{"schema": 1, "figures": [{"name": "a"}]}', "[1]"]
)
def test_what_is_no_document(tmp_path: Path, capsys: pytest.CaptureFixture[str], content: str) -> None:
    good, bad = write(tmp_path / "good.json", a=1.0), tmp_path / "bad.json"
    bad.write_text(content)
    assert aivops.cli.main(["bench", "compare", str(good), str(bad)]) == 2
    assert f"aivops bench compare: {bad}: cannot be read" in capsys.readouterr().err
    assert aivops.cli.main(["bench", "compare", str(tmp_path / "gone.json"), str(good)]) == 2
