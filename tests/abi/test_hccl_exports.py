"""The libraries have every function of the interface; those that are not provided return 5 and say their name."""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import pytest
from abi.abi_program import load

ROOT = Path(__file__).parents[2]
NOT_PROVIDED = re.findall(
    r"^AIVOPS_NOT_PROVIDED\((\w+)\)$",
    (ROOT / "host/emulator/hccl/api_not_provided.cpp").read_text(),
    re.MULTILINE,
)
CALL_ALL = """
import ctypes, sys
folder, names = sys.argv[1], sys.argv[2:]
acl = ctypes.CDLL(folder + "/libacl_rt.so")
acl.aclGetRecentErrMsg.restype = ctypes.c_char_p
hccl = ctypes.CDLL(folder + "/libhcomm.so")
for name in names:
    code = getattr(hccl, name)()
    message = acl.aclGetRecentErrMsg().decode()
    if code != 5 or not message.startswith(name + ": "):
        print(name, code, message)
"""


def functions() -> set[str]:
    return {function["name"] for function in load("hccl-abi.json")["functions"] if not function["inline"]}


@pytest.mark.parametrize("library", ["hccl", "hcomm"])
def test_every_function_is_there_and_no_other(build_dir: Path, library: str) -> None:
    path = build_dir / f"toolkit/lib64/lib{library}.so"
    table = subprocess.run(
        ["nm", "-D", "--defined-only", path], check=True, capture_output=True, text=True
    ).stdout
    names = {line.split()[2] for line in table.splitlines()}
    assert {name for name in names if not name.startswith("aivops_far_")} == functions()


def test_what_is_not_provided_says_so(build_dir: Path) -> None:
    assert set(NOT_PROVIDED) < functions()
    command = [sys.executable, "-c", CALL_ALL, str(build_dir / "toolkit/lib64"), *NOT_PROVIDED]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    assert done.stdout == ""
