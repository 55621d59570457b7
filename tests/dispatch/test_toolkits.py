"""Which toolkit a process uses, and what it says when there is none that works. Each case is a process of its own."""

import json
import platform
import shutil
import subprocess
from pathlib import Path

import pytest
from aivops._locations import get_toolkit_dir
from fixtures.python_process import run_python

USE_DEVICE = """
import sys, aivops, aivops._toolkit
aivops._toolkit.search.device_nodes = [sys.argv[1]]
aivops._toolkit.search.standard_roots = [sys.argv[2]]
try:
    device = aivops.Device(0)
except aivops.ToolkitError as error:
    sys.exit(f"ToolkitError: {error}")
print(device.toolkit.name, device.toolkit.root, device.toolkit.machine)
"""


@pytest.fixture
def no_npu(tmp_path: Path) -> tuple[Path, Path]:
    """Places of a device node and a CANN installation that are not there."""
    return tmp_path / "dev/davinci_manager", tmp_path / "Ascend/cann"


def make_toolkit(root: Path, source: str) -> Path:
    """A toolkit whose runtime library is compiled from C source."""
    (root / "lib64").mkdir(parents=True)
    command = ["cc", "-shared", "-fPIC", "-x", "c", "-", "-o", str(root / "lib64/libacl_rt.so")]
    subprocess.run(command, input=source, text=True, check=True)
    return root


def test_the_emulated_toolkit_is_the_default_and_says_so_once(no_npu: tuple[Path, Path]) -> None:
    done = run_python(USE_DEVICE + "aivops.Device(1)", *no_npu)
    assert done.returncode == 0
    assert done.stdout.split() == [
        "aivops-emulator",
        str(get_toolkit_dir()),
        f"emulated-{platform.machine()}",
    ]
    lines = done.stderr.splitlines()
    assert len(lines) == 1
    assert lines[0].startswith("aivops: no NPU here, using emulated devices (Ascend910B1 x 8)")


@pytest.mark.parametrize("value", ["emulator", str(get_toolkit_dir())])
def test_a_chosen_emulated_toolkit_is_used_without_a_word(no_npu: tuple[Path, Path], value: str) -> None:
    done = run_python(USE_DEVICE, *no_npu, AIVOPS_TOOLKIT=value, ASCEND_HOME_PATH="/nowhere")
    assert (done.returncode, done.stderr) == (0, "")


def test_ascend_home_path_may_name_the_emulated_toolkit(no_npu: tuple[Path, Path]) -> None:
    done = run_python(USE_DEVICE, *no_npu, ASCEND_HOME_PATH=get_toolkit_dir())
    assert (done.returncode, done.stderr) == (0, "")


@pytest.mark.parametrize("sign", ["device node", "standard root"])
def test_a_machine_with_an_npu_must_say_what_it_wants(no_npu: tuple[Path, Path], sign: str) -> None:
    node, root = no_npu
    if sign == "device node":
        node.parent.mkdir()
        node.touch()
    else:
        root.mkdir(parents=True)
    done = run_python(USE_DEVICE, node, root)
    assert done.returncode == 1
    assert str(node if sign == "device node" else root) in done.stderr
    assert "neither ASCEND_HOME_PATH nor AIVOPS_TOOLKIT is set" in done.stderr
    assert "AIVOPS_TOOLKIT=emulator" in done.stderr
    chosen = run_python(USE_DEVICE, node, root, AIVOPS_TOOLKIT="emulator")
    assert (chosen.returncode, chosen.stderr) == (0, "")


@pytest.mark.parametrize("variable", ["ASCEND_HOME_PATH", "AIVOPS_TOOLKIT"])
def test_a_variable_that_points_nowhere(no_npu: tuple[Path, Path], variable: str) -> None:
    done = run_python(USE_DEVICE, *no_npu, **{variable: "/no/such/toolkit"})
    assert done.returncode == 1
    assert f"Toolkit /no/such/toolkit: {variable} names it, but it is not a directory" in done.stderr


def test_cann_is_asked_for_and_nowhere(no_npu: tuple[Path, Path]) -> None:
    done = run_python(USE_DEVICE, *no_npu, AIVOPS_TOOLKIT="cann")
    assert done.returncode == 1
    assert "AIVOPS_TOOLKIT asks for CANN, but ASCEND_HOME_PATH is not set" in done.stderr
    assert "set_env.sh" in done.stderr


def test_half_a_toolkit(no_npu: tuple[Path, Path], tmp_path: Path) -> None:
    root = tmp_path / "half"
    shutil.copytree(get_toolkit_dir() / "share", root / "share")
    done = run_python(USE_DEVICE, *no_npu, ASCEND_HOME_PATH=root)
    assert done.returncode == 1
    assert f"Toolkit {root}: has neither lib64/libacl_rt.so nor lib64/libascendcl.so" in done.stderr


def test_a_runtime_that_does_not_load(no_npu: tuple[Path, Path], tmp_path: Path) -> None:
    (tmp_path / "toolkit/lib64").mkdir(parents=True)
    (tmp_path / "toolkit/lib64/libascendcl.so").write_bytes(b"\x7fELF")
    done = run_python(USE_DEVICE, *no_npu, ASCEND_HOME_PATH=tmp_path / "toolkit")
    assert done.returncode == 1
    assert "libascendcl.so does not load" in done.stderr
    assert "set_env.sh" in done.stderr


def test_a_runtime_without_the_functions_it_takes(no_npu: tuple[Path, Path], tmp_path: Path) -> None:
    root = make_toolkit(tmp_path / "old", "int aclInit(const char* config) { return 0; }")
    done = run_python(USE_DEVICE, *no_npu, ASCEND_HOME_PATH=root)
    assert done.returncode == 1
    assert "libacl_rt.so lacks aclGetRecentErrMsg, " in done.stderr
    assert "aclrtLaunchKernelWithHostArgs" in done.stderr
    assert "aclInit," not in done.stderr


def test_a_damaged_record(no_npu: tuple[Path, Path], tmp_path: Path) -> None:
    record = tmp_path / "toolkit/share/info/aivops/toolkit.json"
    record.parent.mkdir(parents=True)
    record.write_text('{"name": 3}')
    done = run_python(USE_DEVICE, *no_npu, AIVOPS_TOOLKIT=tmp_path / "toolkit")
    assert done.returncode == 1
    assert 'toolkit.json has no text "name"; reinstall the toolkit' in done.stderr


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        ("AIVOPS_EMU_DEVICES", "0", "AIVOPS_EMU_DEVICES"),
        ("AIVOPS_EMU_SOC", "Ascend910B", "one of: Ascend910B1"),
        ("AIVOPS_EMU_CHECK", "foo", "off, on, late or strict"),
    ],
)
def test_wrong_settings_of_the_emulator_are_named(
    no_npu: tuple[Path, Path], variable: str, value: str, words: str
) -> None:
    done = run_python(USE_DEVICE, *no_npu, AIVOPS_TOOLKIT="emulator", **{variable: value})
    assert done.returncode == 1
    assert variable in done.stderr
    assert words in done.stderr
    assert "npu-smi" not in done.stderr
    assert "chip" not in done.stderr


def test_errors_carry_their_own_message_only() -> None:
    program = """
import aivops
try:
    aivops.Buffer(aivops.Device(0), 1 << 30)
except aivops.AclError as error:
    print(error)
"""
    done = run_python(program, AIVOPS_TOOLKIT="emulator", AIVOPS_EMU_MEMORY="1M")
    assert "207001" in done.stdout
    assert "aclrtGetCurrentContext" not in done.stdout


def test_cann_is_recognised_by_its_missing_record(tmp_path: Path) -> None:
    version = tmp_path / "share/info/runtime/version.info"
    version.parent.mkdir(parents=True)
    version.write_text("# comment\nVersion=9.0.0-beta.2\n")
    program = """
import sys
from aivops import _core
info = _core.read_toolkit_info(sys.argv[1])
print(info.name, info.version, info.machine)
"""
    assert run_python(program, tmp_path).stdout.split() == ["cann", "9.0.0-beta.2", "ascend"]


def test_another_runtime_is_mapped_already(no_npu: tuple[Path, Path], tmp_path: Path) -> None:
    other = make_toolkit(tmp_path / "other", "int aclInit(const char* config) { return 0; }")
    library = other / "lib64/libacl_rt.so"
    done = run_python(
        f"import ctypes; ctypes.CDLL({str(library)!r})\n" + USE_DEVICE, *no_npu, AIVOPS_TOOLKIT="emulator"
    )
    assert done.returncode == 1
    assert f"this process already uses the runtime {library}, which belongs to another toolkit" in done.stderr


def test_the_same_runtime_may_be_mapped_already(no_npu: tuple[Path, Path]) -> None:
    library = get_toolkit_dir() / "lib64/libascendcl.so"
    done = run_python(
        f"import ctypes; ctypes.CDLL({str(library)!r})\n" + USE_DEVICE, *no_npu, AIVOPS_TOOLKIT="emulator"
    )
    assert (done.returncode, done.stderr) == (0, "")


def test_doctor_names_the_toolkit_and_its_devices() -> None:
    program = "import sys; from aivops.cli import main; sys.exit(main(['doctor', '--format', 'json']))"
    done = run_python(program, AIVOPS_TOOLKIT="emulator", AIVOPS_EMU_SOC="Ascend910B3")
    checks = {check["name"]: check for check in json.loads(done.stdout)["checks"]}
    assert done.returncode == 0, done.stdout
    assert checks["toolkit"]["value"].startswith(f"aivops-emulator 0.1.0 at {get_toolkit_dir()}")
    assert checks["devices"]["value"].startswith(
        "8 x Ascend910B3, 40 vector cores each, architecture dav-c220-vec"
    )


def test_doctor_reports_what_does_not_work() -> None:
    program = "import sys; from aivops.cli import main; sys.exit(main(['doctor']))"
    done = run_python(program, ASCEND_HOME_PATH="/no/such/toolkit")
    assert done.returncode == 1
    assert "!!  toolkit" in done.stdout
    assert "ASCEND_HOME_PATH names it, but it is not a directory" in done.stdout


@pytest.mark.parametrize(
    ("command", "file"),
    [("toolkit-dir", "tools/ccec_compiler/bin/ccec"), ("cmake-dir", "AivOpsConfig.cmake")],
)
def test_the_command_line_prints_directories(command: str, file: str) -> None:
    done = run_python(f"import sys; from aivops.cli import main; sys.exit(main(['{command}']))")
    assert done.returncode == 0
    assert (Path(done.stdout.strip()) / file).is_file()


def test_wrong_usage_is_exit_status_2() -> None:
    assert run_python("from aivops.cli import main; main(['no-such-command'])").returncode == 2
    assert run_python("import sys; from aivops.cli import main; sys.exit(main([]))").returncode == 2
