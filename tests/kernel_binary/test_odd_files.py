"""Files and streams that are not what they seem: cut, piped, huge, full or closed. Nothing waits, nothing is lost."""

from __future__ import annotations

import os
import subprocess
import zipfile
from pathlib import Path

import aivops
from aivops.cli import main

from kernel_binary.builder import ascend


def bare() -> bytes:
    elf = ascend()
    elf.drop(".ascend.meta.copy_0")
    return elf.build()


def test_a_wheel_that_is_cut(tmp_path: Path) -> None:
    wheel = tmp_path / "x.whl"
    with zipfile.ZipFile(wheel, "w") as archive:
        archive.writestr("x.o", ascend().build())
    wheel.write_bytes(wheel.read_bytes()[:-40])
    (finding,) = aivops.verify(wheel).findings
    assert (finding.rule, finding.message) == (
        "META110",
        "the archive is cut: the directory at its end is missing",
    )


def test_a_file_of_a_terabyte_is_not_read(tmp_path: Path) -> None:
    huge = tmp_path / "x.o"
    huge.write_bytes(ascend().build())
    os.truncate(huge, 1 << 40)
    for path in (huge, tmp_path):
        (finding,) = aivops.verify(path).findings
        assert (finding.rule, finding.message) == ("META105", "the file is far larger than any image")


def test_fix_waits_for_no_pipe(tmp_path: Path) -> None:
    source, pipe = tmp_path / "x.o", tmp_path / "pipe"
    source.write_bytes(bare())
    os.mkfifo(pipe)
    assert main(["verify", "--fix", str(pipe), str(source)]) == 2
    assert main(["verify", "--fix", str(tmp_path / "out.o"), str(pipe)]) == 2
    assert sorted(path.name for path in tmp_path.iterdir()) == ["pipe", "x.o"]


def test_the_native_verifier_needs_its_output(tmp_path: Path) -> None:
    source = tmp_path / "x.o"
    source.write_bytes(ascend().build())
    tool = Path(aivops.__file__).parent / "bin/aivops-verify"
    for redirection, status in ((">/dev/full", 2), (">&-", 0), ("2>&-", 0)):
        command = f"'{tool}' '{source}' {redirection}"
        done = subprocess.run(["sh", "-c", command], stderr=subprocess.PIPE, text=True, check=False)
        assert done.returncode == status, (redirection, done.stderr)
        assert ("No space left on device" in done.stderr) == (status == 2)
