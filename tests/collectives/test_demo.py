"""`aivops demo` and `aivops bench`, as a person runs them."""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

from collectives.mutants import PACKAGE, build, replace_kernel

# Every entry of all_gather, and nothing but a constant in its output.
CONSTANT = """
#include "kernel_operator.h"
#include "aivops/export.h"
#include "aivops/types.h"

__aicore__ inline void write_constant(GM_ADDR window, GM_ADDR output, uint64_t bytes) {
    AscendC::TPipe pipe;
    AscendC::TBuf<AscendC::TPosition::VECCALC> buffer;
    pipe.InitBuffer(buffer, 1024);
    AscendC::LocalTensor<uint8_t> tile = buffer.Get<uint8_t>();
    for (uint32_t i = 0; i < 1024; ++i) {
        tile.SetValue(i, static_cast<uint8_t>(0x5A));
    }
    AscendC::PipeBarrier<PIPE_ALL>();
    const uint64_t size = reinterpret_cast<__gm__ uint64_t*>(window)[1];
    for (uint64_t done = 0; done < size * bytes && AscendC::GetBlockIdx() == 0; done += 1024) {
        const uint64_t rest = size * bytes - done;
        AscendC::GlobalTensor<uint8_t> place;
        place.SetGlobalBuffer(reinterpret_cast<__gm__ uint8_t*>(output) + done);
        AscendC::DataCopyPad(place, tile,
                             AscendC::DataCopyExtParams(1, static_cast<uint32_t>(rest < 1024 ? rest : 1024), 0, 0, 0));
    }
}

#define CONSTANT(type, width)                                                                          \\
    extern "C" __global__ __aicore__ void aiv_all_gather_##type(GM_ADDR window, GM_ADDR input,         \\
                                                                GM_ADDR output, uint64_t count,        \\
                                                                uint64_t fingerprint) {                \\
        write_constant(window, output, count * width);                                                 \\
    }                                                                                                  \\
    AIVOPS_EXPORT_KERNEL(aiv_all_gather_##type);

AIVOPS_FOR_EACH_TYPE(CONSTANT)
"""


def aivops_command(*arguments: str, path: Path | None = None) -> subprocess.CompletedProcess[str]:
    environment = os.environ | ({"PYTHONPATH": str(path)} if path else {})
    return subprocess.run(
        [sys.executable, "-m", "aivops", *arguments],
        capture_output=True,
        text=True,
        check=False,
        env=environment,
    )


def test_demo_compares_types_and_counts_with_numpy() -> None:
    done = aivops_command("demo", "--counts", "0", "7", "1000")
    assert done.returncode == 0, done.stderr
    lines = [line for line in done.stdout.splitlines() if line.endswith("  equal")]
    assert len(lines) == 17 * 3
    assert "all 51 lines equal numpy's, bit for bit" in done.stdout
    assert sum(line.startswith("bool ") for line in lines) == 3
    assert "\r" not in done.stdout  # nothing for terminals in a pipe
    ratios = {line.split()[-2] for line in lines}
    assert ratios == {"-", "1.000"}


def test_demo_reports_a_kernel_that_writes_a_constant(tmp_path: Path, repository: Path) -> None:
    package = tmp_path / "site" / "aivops"
    shutil.copytree(PACKAGE, package)
    shutil.copytree(repository / "device", tmp_path / "device")
    kernel = tmp_path / "device" / "kernels" / "all_gather.asc"
    kernel.write_text(CONSTANT)
    build(kernel, tmp_path / "all_gather.o")
    replace_kernel(package, tmp_path / "all_gather.o")
    done = aivops_command("demo", "--types", "float32", "int8", "--counts", "0", "1000", path=package.parent)
    assert done.returncode == 1, done.stderr
    assert done.stdout.count("WRONG on rank 0, 1, 2, 3, 4, 5, 6, 7") == 2
    assert "2 of 4 lines differ from numpy" in done.stdout


def test_bench_writes_json() -> None:
    done = aivops_command(
        *("bench", "all_gather", "--ranks", "2", "--sizes", "4096", "--seconds", "0.01", "--format", "json")
    )
    assert done.returncode == 0, done.stderr
    (figure,) = json.loads(done.stdout)["figures"]
    assert (figure["ranks"], figure["bytes"]) == (2, 4096)
    assert 0 < figure["fastest"] <= figure["median"] <= figure["slowest"]
