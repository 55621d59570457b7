"""Sources of one binary that give one name to different inline code: each keeps its own, as on the device."""

import subprocess
from pathlib import Path

import numpy as np
import pytest
from emulator.acl_api import Acl, pack
from emulator.ccec.records import Binary
from emulator.conftest import KernelCompiler

COUNT = 64
NAMES = ("Add", "Sub", "Mul")

# One class in each source, and one name for its members: only the instruction differs.
SOURCE = """
#include "kernel_operator.h"
#include "aivops/export.h"
using namespace AscendC;
class KernelOp {
  public:
    __aicore__ inline KernelOp(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
        in0.SetGlobalBuffer((__gm__ float*)x);
        in1.SetGlobalBuffer((__gm__ float*)y);
        out.SetGlobalBuffer((__gm__ float*)z);
        pipe.InitBuffer(inputs, 2, 256);
        pipe.InitBuffer(outputs, 1, 256);
    }
    __aicore__ inline void Process() {
        CopyIn(in0);
        CopyIn(in1);
        Compute();
        auto result = outputs.DeQue<float>();
        DataCopy(out, result, 64);
        outputs.FreeTensor(result);
    }
    __aicore__ inline void CopyIn(GlobalTensor<float>& in) {
        auto tensor = inputs.AllocTensor<float>();
        DataCopy(tensor, in, 64);
        inputs.EnQue(tensor);
    }
    __aicore__ inline void Compute() {
        auto a = inputs.DeQue<float>();
        auto b = inputs.DeQue<float>();
        auto c = outputs.AllocTensor<float>();
        @(c, a, b, 64);
        outputs.EnQue(c);
        inputs.FreeTensor(a);
        inputs.FreeTensor(b);
    }
  private:
    TPipe pipe;
    TQue<QuePosition::VECIN, 2> inputs;
    TQue<QuePosition::VECOUT, 1> outputs;
    GlobalTensor<float> in0, in1, out;
};
inline int calls; // data of one name is one, as the language has it
extern "C" __global__ __aicore__ void run_@(GM_ADDR x, GM_ADDR y, GM_ADDR z) {
    KernelOp op(x, y, z);
    op.Process();
    ++calls;
}
AIVOPS_EXPORT_KERNEL(run_@);
"""


def objects_of(
    compiler: KernelCompiler, folder: Path, repository: Path, *options: str, names: tuple[str, ...] = NAMES
) -> list[Path]:
    objects = []
    for name in names:
        source = folder / f"{name}.asc"
        source.write_text(SOURCE.replace("@", name))
        objects.append(source.with_suffix(".o"))
        step = compiler.compile(source, objects[-1], "-I", repository / "device/include", *options)
        assert step.returncode == 0, step.stderr
    return objects


@pytest.mark.parametrize("level", ["-O0", "-O2"])
@pytest.mark.parametrize("cxx", ["g++", "clang++"])
def test_each_source_runs_its_own_code(
    acl: Acl, compiler: KernelCompiler, repository: Path, tmp_path: Path, cxx: str, level: str
) -> None:
    compiler = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    objects = objects_of(compiler, tmp_path, repository, level, "-g")
    before = [path.read_bytes() for path in objects]
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    compiler = KernelCompiler(compiler.toolkit, {**compiler.environment, "TMPDIR": str(scratch)})
    binaries = []
    for name in ("joined", "again"):
        # Two of them become one object first: what was renamed once is renamed again.
        part = tmp_path / f"{name}.part.o"
        for step in (
            compiler.run(compiler.ld_lld, "-m", "aicorelinux", "-Ttext=0", "-r", *objects[:2], "-o", part),
            compiler.link(tmp_path / f"{name}.o", part, objects[2]),
        ):
            assert step.returncode == 0, step.stderr
            assert step.stderr == ""
        binaries.append(tmp_path / f"{name}.o")
    assert binaries[0].read_bytes() == binaries[1].read_bytes()
    assert [path.read_bytes() for path in objects] == before
    assert not list(scratch.iterdir())

    binary = Binary(binaries[0])
    assert binary.global_functions == {f"run_{name}" for name in NAMES}
    assert len(binary.contracts()) == len(NAMES)
    assert {name for name in binary.sections if name.startswith((".aivops.layout", ".ascend.meta"))} == {
        f"{prefix}.run_{name}" for prefix in (".aivops.layout", ".ascend.meta") for name in NAMES
    }

    rng = np.random.default_rng(11)
    x, y = (rng.integers(-99, 99, COUNT).astype(np.float32) for _ in range(2))
    with acl.device(0):
        loaded = acl.load(binaries[0])
        places = [acl.malloc(x.nbytes) for _ in range(3)]
        acl.write(places[0], x.tobytes())
        acl.write(places[1], y.tobytes())
        for name, expected in zip(NAMES, (x + y, x - y, x * y), strict=True):
            acl.ok(acl.launch(acl.function(loaded, f"run_{name}"), 1, pack("QQQ", *places)))
            acl.ok(acl.synchronize())
            assert (np.frombuffer(acl.read(places[2], x.nbytes), np.float32) == expected).all(), name


@pytest.mark.parametrize("cxx", ["g++", "clang++"])
def test_code_that_another_source_relies_on_keeps_its_name(
    compiler: KernelCompiler, tmp_path: Path, cxx: str
) -> None:
    compiler = KernelCompiler(compiler.toolkit, {"AIVOPS_EMU_CXX": cxx})
    template = (
        '#include "kernel_operator.h"\ntemplate <typename T> struct Box { void f(T*); };\n'
        "template <typename T> void Box<T>::f(T* p) { *p = 3; }\n"
    )
    objects = []
    for name, instance in (("has", "template"), ("asks", "extern template")):
        source = tmp_path / f"{name}.asc"
        source.write_text(
            f"{template}{instance} struct Box<int>;\n"
            f'extern "C" __global__ __aicore__ void {name}(int* p) {{ Box<int>().f(p); }}\n'
        )
        objects.append(source.with_suffix(".o"))
        step = compiler.compile(source, objects[-1], "-O0")
        assert step.returncode == 0, step.stderr
    step = compiler.link(tmp_path / "joined.o", *objects)
    assert step.returncode == 0, step.stderr
    assert Binary(tmp_path / "joined.o").global_functions == {"has", "asks"}


def test_a_failed_link_names_the_objects_and_leaves_nothing(
    compiler: KernelCompiler, repository: Path, tmp_path: Path
) -> None:
    first, second = objects_of(compiler, tmp_path, repository, names=("Add", "Sub"))
    third = tmp_path / "copy of Add.o"
    third.write_bytes(first.read_bytes())
    scratch = tmp_path / "scratch"
    scratch.mkdir()
    compiler = KernelCompiler(compiler.toolkit, {"TMPDIR": str(scratch), "LC_ALL": "C"})
    folder = set(tmp_path.iterdir())
    step = compiler.link(tmp_path / "joined.o", first, second, third)
    assert step.returncode != 0
    assert "multiple definition of `run_Add'" in step.stderr
    assert str(first) in step.stderr
    assert str(third) in step.stderr
    assert str(scratch) not in step.stderr
    assert not list(scratch.iterdir())
    assert set(tmp_path.iterdir()) == folder


def test_source_lines_are_those_of_each_source(
    compiler: KernelCompiler, repository: Path, tmp_path: Path
) -> None:
    objects = objects_of(compiler, tmp_path, repository, "-O0", "-g", names=("Add", "Sub"))
    binary = tmp_path / "joined.o"
    assert compiler.link(binary, *objects).returncode == 0
    symbols = subprocess.run(["nm", binary], check=True, capture_output=True, text=True).stdout
    computing = [line.split() for line in symbols.splitlines() if "KernelOp7Compute" in line]
    assert len(computing) == 2
    line = SOURCE[: SOURCE.index("inline void Compute")].count("\n") + 1
    for address, _, name in computing:
        demangled = subprocess.run(["c++filt", name], check=True, capture_output=True, text=True).stdout
        assert demangled.startswith("KernelOp::Compute()")
        shown = subprocess.run(
            ["addr2line", "-e", binary, address], check=True, capture_output=True, text=True
        ).stdout
        source = {"1": "Add.asc", "2": "Sub.asc"}[name.rpartition(".")[2]]
        assert shown.strip().endswith(f"{source}:{line}")
