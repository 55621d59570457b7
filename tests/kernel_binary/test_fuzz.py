"""The fuzz targets: a short run always, and one CPU hour in `make test-long`."""

from __future__ import annotations

import fcntl
import re
import resource
import shutil
import subprocess
from pathlib import Path

import pytest

from kernel_binary.fuzz.make_seeds import write_seeds

SEEDS = {"reader": "binary", "printer": "binary", "manifest": "manifest"}


@pytest.fixture(scope="module")
def fuzzers(repository: Path, build_dir: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Built with clang's sanitizers; kept in the build tree, so only the first run pays."""
    compiler = shutil.which("clang++")
    if compiler is None:
        pytest.skip("clang++ is not installed: libFuzzer comes with it")
    probe = tmp_path_factory.mktemp("probe") / "probe.cpp"
    probe.write_text(
        'extern "C" int LLVMFuzzerTestOneInput(const unsigned char*, unsigned long) { return 0; }'
    )
    sanitizers = "-fsanitize=fuzzer,address,undefined"
    linked = subprocess.run(
        [compiler, sanitizers, probe, "-o", probe.with_suffix("")], capture_output=True, check=False
    )
    if linked.returncode != 0:
        pytest.skip(
            "clang++ cannot link libFuzzer with the sanitizers: their run-time libraries are not installed"
        )
    folder = build_dir / "fuzz"
    source = repository / "tests" / "kernel_binary" / "fuzz"
    configure = ["cmake", "-S", source, "-B", folder, "-G", "Ninja", f"-DCMAKE_CXX_COMPILER={compiler}"]
    if shutil.which("ccache"):
        configure.append("-DCMAKE_CXX_COMPILER_LAUNCHER=ccache")
    with (build_dir / "fuzz.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # test processes that run side by side share the folder
        for command in (configure, ["cmake", "--build", folder, "--parallel", "2"]):
            run = subprocess.run(command, capture_output=True, text=True, check=False)
            assert run.returncode == 0, run.stdout + run.stderr
    return folder


def fuzz(fuzzers: Path, repository: Path, tmp_path: Path, target: str, cpu_seconds: float) -> None:
    """Runs until so much processor time is spent: on a busy machine a run of fixed length tries little."""
    seeds = repository / "tests" / "kernel_binary" / "fuzz" / "seeds" / SEEDS[target]
    found = tmp_path / "found"
    found.mkdir()
    command = [fuzzers / f"fuzz_{target}", "-max_len=4096", "-timeout=20", "-print_final_stats=1"]
    executions = 0
    spent = 0.0
    while spent < cpu_seconds:
        before = resource.getrusage(resource.RUSAGE_CHILDREN)
        # Every run begins by trying what is known, so none is so short that it does little else.
        seconds = round(max(cpu_seconds - spent, cpu_seconds / 4))
        limits = [f"-max_total_time={seconds}", f"-artifact_prefix={tmp_path}/"]
        run = subprocess.run(
            [*command, *limits, found, seeds],
            capture_output=True,
            text=True,
            errors="replace",
            check=False,
        )
        after = resource.getrusage(resource.RUSAGE_CHILDREN)
        assert run.returncode == 0, run.stderr[-8000:]
        executions += int(re.findall(r"stat::number_of_executed_units:\s+(\d+)", run.stderr)[0])
        spent += after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime
    print(f"{target}: {executions} executions in {spent:.0f} s of processor time, nothing found")
    assert executions > 0


@pytest.mark.parametrize("target", SEEDS)
def test_short_run(fuzzers: Path, repository: Path, tmp_path: Path, target: str) -> None:
    fuzz(fuzzers, repository, tmp_path, target, 4)


@pytest.mark.long
@pytest.mark.parametrize("target", SEEDS)
def test_long_run(fuzzers: Path, repository: Path, tmp_path: Path, target: str) -> None:
    """One CPU hour, shared by the targets."""
    fuzz(fuzzers, repository, tmp_path, target, 3600 // len(SEEDS))


def test_seeds_are_current(repository: Path, tmp_path: Path) -> None:
    """Otherwise: PYTHONPATH=tests python -m kernel_binary.fuzz.make_seeds"""
    for kind in ("binary", "manifest"):
        (tmp_path / kind).mkdir()
    write_seeds(tmp_path)
    seeds = repository / "tests" / "kernel_binary" / "fuzz" / "seeds"
    made = {path.relative_to(tmp_path): path.read_bytes() for path in tmp_path.rglob("*.*")}
    assert {path.relative_to(seeds): path.read_bytes() for path in seeds.rglob("*.*")} == made
