"""What the driver costs above the host command that it prints."""

import resource
import shlex
import statistics
from pathlib import Path

import pytest
from emulator.conftest import KernelCompiler

KERNEL = """
extern "C" __global__ __aicore__ void copy_{0}(GM_ADDR in, GM_ADDR out, uint32_t bytes, uint64_t unused) {{
    AscendC::TPipe pipe;
    AscendC::TQueBind<AscendC::TPosition::VECIN, AscendC::TPosition::VECOUT, 1> queue;
    pipe.InitBuffer(queue, 1, 4096);
    AscendC::GlobalTensor<uint8_t> from, to;
    from.SetGlobalBuffer(in);
    to.SetGlobalBuffer(out);
    AscendC::LocalTensor<uint8_t> tile = queue.AllocTensor<uint8_t>();
    AscendC::DataCopyPad(tile, from, {{1, bytes, 0, 0, 0}}, {{false, 0, 0, 0}});
    queue.EnQue(tile);
    tile = queue.DeQue<uint8_t>();
    AscendC::DataCopyPad(to, tile, {{1, bytes, 0, 0, 0}});
    queue.FreeTensor(tile);
}}
"""


def processor_seconds(compiler: KernelCompiler, command: list[object]) -> float:
    """User and system time of a command and what it starts: wall time would measure the machine's other work too."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    assert compiler.run(*command).returncode == 0
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


@pytest.mark.long
@pytest.mark.parametrize("kernels", [1, 15])
def test_cost_above_the_host_command(compiler: KernelCompiler, tmp_path: Path, kernels: int) -> None:
    source = tmp_path / "kernels.asc"
    source.write_text('#include "kernel_operator.h"\n' + "".join(KERNEL.format(i) for i in range(kernels)))
    output = tmp_path / "kernels.o"
    line: list[object] = [compiler.ccec, "-c", "-x", "cce", "-O2", "--npu-arch=dav-2201", "--cce-aicore-only"]
    line += [source, "-o", output]
    host: list[object] = list(shlex.split(compiler.run(*line, "-###").stderr))
    pairs = [(processor_seconds(compiler, host), processor_seconds(compiler, line)) for _ in range(9)]
    plain, driver = (statistics.median(times) for times in zip(*pairs, strict=True))
    print(f"{kernels} kernels: host {plain * 1000:.0f} ms, ccec {driver * 1000:.0f} ms")
    assert driver - plain <= max(0.15 * plain, 0.05)
