"""Programs link with whatever libraries people name, and find one state however many of them a process holds."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

PROGRAM = """
#include <acl/acl.h>
#include <hccl/hccl.h>
int main(void) {
    HcclRootInfo root;
    HcclComm comm;
    return aclInit(NULL) != 0 || aclrtSetDevice(0) != 0 || HcclGetRootInfo(&root) != 0 ||
           HcclCommInitRootInfo(1, &root, 0, &comm) != 0 || HcclCommDestroy(comm) != 0;
}
"""

# One library hands out a handle and each of the others knows it.
ONE_STATE = """
#include <dlfcn.h>
#include <hccl/hccl.h>
#include <stdio.h>
static void* open_library(const char* folder, const char* name) {
    char path[4096];
    snprintf(path, sizeof path, "%s/%s", folder, name);
    return dlopen(path, RTLD_NOW | RTLD_LOCAL);
}
#define CALL(library, function) ((__typeof__(&function))dlsym(library, #function))
int main(int argc, char** argv) {
    void* acl = open_library(argv[argc - 1], "libascendcl.so");
    void* rt = open_library(argv[argc - 1], "libacl_rt.so");
    void* hcomm = open_library(argv[argc - 1], "libhcomm.so");
    void* hccl = open_library(argv[argc - 1], "libhccl.so");
    HcclRootInfo root;
    HcclComm comm;
    aclrtStream stream;
    uint32_t size = 0;
    return CALL(acl, aclrtSetDevice)(0) != 0 || CALL(rt, aclrtCreateStream)(&stream) != 0 ||
           CALL(acl, aclrtSynchronizeStream)(stream) != 0 || CALL(hcomm, HcclGetRootInfo)(&root) != 0 ||
           CALL(hccl, HcclCommInitRootInfo)(1, &root, 0, &comm) != 0 ||
           CALL(hcomm, HcclGetRankSize)(comm, &size) != 0 || size != 1 || CALL(hccl, HcclBarrier)(comm, stream) != 0 ||
           CALL(rt, aclrtSynchronizeStream)(stream) != 0 || CALL(hcomm, HcclCommDestroy)(comm) != 0 ||
           CALL(hccl, HcclCommDestroy)(comm) != HCCL_E_PARA || CALL(hcomm, HcclGetRankSize)(comm, &size) != HCCL_E_PARA;
}
"""

LINK_LINES = [
    ["-lascendcl", "-lhccl"],
    ["-lacl_rt", "-lhccl"],
    ["-lhcomm", "-lascendcl"],
    ["-lascendcl", "-lacl_rt", "-lhccl", "-lhcomm"],
    [
        "-lascendcl",
        "-lhccl",
        "-lruntime",
        "-lascendalog",
        "-lc_sec",
        "-lplatform",
        "-ltiling_api",
        "-lregister",
    ],
]


def build(folder: Path, text: str, toolkit: Path, *libraries: str) -> Path:
    source, program = folder / "program.c", folder / "program"
    source.write_text(text)
    search = [f"-L{toolkit / 'lib64'}", f"-Wl,-rpath,{toolkit / 'lib64'}"] if libraries else []
    command = ["gcc", f"-I{toolkit / 'include'}", str(source), "-o", str(program), *search, *libraries]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    return program


@pytest.mark.parametrize("libraries", LINK_LINES, ids=" ".join)
def test_link_lines(toolkit: Path, tmp_path: Path, libraries: list[str]) -> None:
    program = build(tmp_path, PROGRAM, toolkit, "-Wl,--no-as-needed", *libraries)
    assert subprocess.run([program], timeout=60, check=False).returncode == 0


def test_all_libraries_are_one(toolkit: Path, tmp_path: Path) -> None:
    program = build(tmp_path, ONE_STATE, toolkit)
    assert subprocess.run([program, str(toolkit / "lib64")], timeout=60, check=False).returncode == 0


def test_each_library_is_a_file_of_its_own(toolkit: Path) -> None:
    names = ["acl_rt", "ascendcl", "hccl", "hcomm", "runtime"]
    files = [toolkit / f"lib64/lib{name}.so" for name in names]
    assert all(file.is_file() and not file.is_symlink() for file in files)
