"""How fast the verifier is, beside pyelftools, LIEF and readelf on the same files in one run. `-s` shows the figures."""

from __future__ import annotations

import resource
import shutil
import subprocess
import time
from collections.abc import Callable
from pathlib import Path

import pytest
from aivops._core import KernelBinary
from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from kernel_binary.builder import NOTE, Section, ascend

pytestmark = pytest.mark.long


def processor_time() -> float:
    children = resource.getrusage(resource.RUSAGE_CHILDREN)
    return time.process_time() + children.ru_utime + children.ru_stime


def best(run: Callable[[], object], repeats: int, rounds: int = 7) -> float:
    """Seconds of processor time of one call, with that of its processes: the best of some rounds. Other processes
    disturb it far less than they do the time on the wall."""
    times = []
    for _ in range(rounds):
        started = processor_time()
        for _ in range(repeats):
            run()
        times.append((processor_time() - started) / repeats)
    return min(times)


def list_with_pyelftools(path: Path) -> int:
    """Sections and symbols with their names, which is a part of what the rules look at."""
    with path.open("rb") as file:
        count = 0
        for section in ELFFile(file).iter_sections():
            count += bool(section.name)
            if isinstance(section, SymbolTableSection):
                count += sum(bool(symbol.name) for symbol in section.iter_symbols())
        return count


def test_beside_pyelftools_and_lief(corpus: Path) -> None:
    lief = pytest.importorskip("lief", reason="LIEF is not installed: there is nothing to compare with")
    total = {"verify": 0.0, "LIEF": 0.0, "pyelftools": 0.0}
    print(f"\n{'file':34} {'bytes':>7} {'verify':>9} {'LIEF':>9} {'pyelftools':>11}  (microseconds)")
    for path in sorted(corpus.glob("*.o")):
        name = str(path)
        times = {
            "verify": best(lambda name=name: KernelBinary.open(name).verify(name), 100),
            "LIEF": best(lambda name=name: lief.ELF.parse(name), 20),
            "pyelftools": best(lambda path=path: list_with_pyelftools(path), 3),
        }
        shown = "".join(
            f" {1e6 * times[key]:>{width}.1f}" for key, width in zip(times, (9, 9, 11), strict=True)
        )
        print(f"{path.name:34} {path.stat().st_size:>7}{shown}")
        assert times["pyelftools"] >= 50 * times["verify"], path.name
        assert times["verify"] <= 1.1 * times["LIEF"], path.name  # a tenth for noise
        for key, value in times.items():
            total[key] += value
    print(
        f"verify is {total['pyelftools'] / total['verify']:.0f} times as fast as pyelftools, "
        f"{total['LIEF'] / total['verify']:.1f} times as fast as LIEF"
    )


def test_beside_readelf(corpus: Path, build_dir: Path, tmp_path: Path) -> None:
    """One call on 1 000 files each."""
    samples = sorted(corpus.glob("*.o"))
    files = [tmp_path / f"{number}.o" for number in range(1000)]
    for number, file in enumerate(files):
        shutil.copy(samples[number % len(samples)], file)

    def call(*command: str | Path) -> None:
        subprocess.run([*command, *files], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL, check=False)

    ours = best(lambda: call(build_dir / "host" / "tools" / "aivops-verify"), 1)
    theirs = best(lambda: call("readelf", "-SsW"), 1)
    print(f"\n1000 files: aivops-verify {1e3 * ours:.1f} ms, readelf -SsW {1e3 * theirs:.1f} ms")
    assert ours <= theirs


def test_time_grows_with_size(tmp_path: Path) -> None:
    """Nanoseconds per byte stay what they are from 1 to 64 MiB."""
    print(f"\n{'MiB':>5} {'milliseconds':>13} {'ns per byte':>12}")
    slopes = []
    for mebibytes in (1, 4, 16, 64):
        elf = ascend()
        elf.sections.append(Section(".note.x", NOTE, data=b"some text / and a slash;" * (mebibytes * 43690)))
        path = tmp_path / f"{mebibytes}.o"
        path.write_bytes(elf.build())
        size = path.stat().st_size
        seconds = best(lambda name=str(path): KernelBinary.open(name).verify(name), 1)
        slopes.append(1e9 * seconds / size)
        print(f"{mebibytes:>5} {1e3 * seconds:>13.2f} {slopes[-1]:>12.3f}")
    assert max(slopes) < 3 * min(slopes)
