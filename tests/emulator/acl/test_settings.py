"""Settings that are wrong, and when they are read."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest
from emulator.own_process import TESTS, run_in_process

START = """
import ctypes, os, sys
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from emulator.acl_api import Acl
acl = Acl(Path(sys.argv[2]))
acl.library.aclrtGetSocName.restype = ctypes.c_char_p
"""


@pytest.mark.parametrize(
    ("variable", "value", "words"),
    [
        (
            "AIVOPS_EMU_CHEK",
            "strict",
            "AIVOPS_EMU_CHEK: there is no such variable; there are AIVOPS_EMU_SOC, ",
        ),
        ("AIVOPS_EMU_MEMORY", "1X", "AIVOPS_EMU_MEMORY='1X': expected a whole number from "),
        ("AIVOPS_EMU_MEMORY", "1X", ", with or without one of K, M and G behind it"),
        ("AIVOPS_EMU_DEVICES", "65", "AIVOPS_EMU_DEVICES='65': expected a whole number from 1 to 64 ["),
    ],
)
def test_a_setting_that_is_wrong(toolkit: Path, variable: str, value: str, words: str) -> None:
    script = START + "print(acl.aclrtSetDevice(0), acl.message()); print(acl.library.aclrtGetSocName())"
    printed = run_in_process(script, toolkit, **{variable: value})
    assert printed.startswith("507033 ")
    assert words in printed
    assert printed.endswith("\nNone\n")


def test_settings_are_read_when_a_device_is_first_used(toolkit: Path) -> None:
    script = (
        START
        + """
count = ctypes.c_uint32()
for soc, devices in (("Ascend910B4", 3), ("Ascend950PR_9599", 2)):
    os.environ["AIVOPS_EMU_SOC"], os.environ["AIVOPS_EMU_DEVICES"] = soc, str(devices)
    assert acl.library.aclrtGetSocName().decode() == soc
    acl.ok(acl.aclrtGetDeviceCount(ctypes.byref(count)))
    assert count.value == devices
acl.set_device(0)
os.environ["AIVOPS_EMU_SOC"], os.environ["AIVOPS_EMU_DEVICES"] = "Ascend910B1", "5"
acl.ok(acl.aclrtGetDeviceCount(ctypes.byref(count)))
print(acl.library.aclrtGetSocName().decode(), count.value)
"""
    )
    assert run_in_process(script, toolkit) == "Ascend950PR_9599 2\n"


def test_a_toolkit_that_is_none() -> None:
    ran = subprocess.run(
        [sys.executable, "-c", "import aivops; aivops.Device(0)"],
        env={**os.environ, "AIVOPS_TOOLKIT": "foo", "PYTHONPATH": str(TESTS)},
        capture_output=True,
        text=True,
        check=False,
    )
    assert "Toolkit foo: AIVOPS_TOOLKIT names it, but it is not a directory" in ran.stderr
    assert "it may be emulator, cann, or the root of a toolkit" in ran.stderr
