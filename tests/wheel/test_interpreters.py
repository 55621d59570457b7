"""One wheel for every CPython from 3.10 on: installed in each that this machine has, and used there."""

import json
import os
import shutil
import subprocess
import sys
import zipfile
from pathlib import Path

import pytest
from fixtures.wheels import FreshEnvironment, Wheelhouse, run

pytestmark = [pytest.mark.long, pytest.mark.xdist_group("wheel")]

OLDEST = (3, 10)

DESCRIBE = """
import json, platform, sys, sysconfig
usable = platform.python_implementation() == "CPython" and not sysconfig.get_config_var("Py_GIL_DISABLED")
print(json.dumps([usable, list(sys.version_info[:3]), sys.base_prefix]))
"""

LAUNCH = """
import sys, aivops, numpy as np
with aivops.LocalGroup(2) as group:
    rows = [np.arange(1003, dtype=np.float32) + rank for rank in range(2)]
    for result in group.run(lambda comm: comm.all_reduce(rows[comm.rank])):
        assert np.array_equal(result, rows[0] + rows[1])
print(*sys.version_info[:3], sep=".")
"""


def interpreters() -> dict[str, Path]:
    """Every CPython that the wheel claims, by version and place: those on the path and those of pyenv."""
    candidates = [Path(sys.executable)]
    for minor in range(OLDEST[1], 30):
        candidates += map(Path, filter(None, [shutil.which(f"python3.{minor}")]))
    candidates += [Path("/usr/bin/python3")]
    root = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    candidates += sorted(root.glob("versions/3.*/bin/python3"))
    found: dict[str, Path] = {}
    for candidate in candidates:
        # pyenv's stand-ins fail for versions that are not chosen.
        described = subprocess.run([candidate, "-c", DESCRIBE], capture_output=True, text=True, check=False)
        if described.returncode != 0:
            continue
        usable, version, prefix = json.loads(described.stdout)
        if usable and tuple(version) >= OLDEST:
            found.setdefault(f"{'.'.join(map(str, version))} in {prefix}", candidate)
    return found


INTERPRETERS = interpreters()


@pytest.mark.parametrize("name", INTERPRETERS)
def test_install_and_launch(name: str, aivops_wheel: Path, wheelhouse: Wheelhouse, tmp_path: Path) -> None:
    folder = tmp_path / "venv"
    run(INTERPRETERS[name], "-m", "venv", "--without-pip", folder)
    # numpy comes from the index: every version of Python has its own.
    pip = [sys.executable, "-m", "pip", "--python", folder / "bin/python"]
    run(*pip, "install", "--quiet", "--only-binary=:all:", aivops_wheel)
    environment = FreshEnvironment(folder, wheelhouse)
    output = environment.python(LAUNCH, AIVOPS_TOOLKIT="emulator")
    assert output.strip() == name.partition(" ")[0]
    assert "numpy" in environment.run("aivops", "doctor", AIVOPS_TOOLKIT="emulator")


def test_sizes(aivops_wheel: Path) -> None:
    with zipfile.ZipFile(aivops_wheel) as archive:
        module = archive.getinfo("aivops/_core.abi3.so")
    wheel_bytes = aivops_wheel.stat().st_size
    print(f"wheel {wheel_bytes} bytes; module {module.file_size} bytes, {module.compress_size} in the wheel")
    assert wheel_bytes < 8 << 20
    assert module.file_size < 2 << 20
