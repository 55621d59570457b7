"""aivops-verify as the last step of a build: the only writer of the output, of its record and of the manifest."""

from __future__ import annotations

import hashlib
import json
import os
import stat
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from kernel_binary.builder import LOCAL, NOTE, Section, ascend, dfx, emulated, layout, meta, word

Tool = Callable[..., Any]


@pytest.fixture
def linked(tmp_path: Path) -> Path:
    """What a linker wrote."""
    return tmp_path / "set.o.unverified"


def move(tool: Tool, linked: Path, *options: str) -> tuple[Any, Path]:
    output = linked.with_suffix("")
    record = f"{output}.json"
    run = tool("--profile", "aiv", *options, "--move-to", output, "--record", record, linked)
    return run, output


def test_a_good_binary_gets_its_name_and_record(aivops_verify: Tool, linked: Path) -> None:
    data = emulated("copy_0", "copy_1").build()
    linked.write_bytes(data)
    options = ["--target", "set", "--toolkit-name", "emulator", "--toolkit-version", "1.2"]
    run, output = move(aivops_verify, linked, "--architecture=dav-c220-vec", "--kernel=copy_*", *options)
    assert (run.returncode, run.stdout, run.stderr) == (0, "", "")
    assert output.read_bytes() == data
    assert not linked.exists()
    parameters = [
        {"name": "x", "offset": 0, "size": 8, "kind": "pointer"},
        {"name": "count", "offset": 8, "size": 4, "kind": "uint"},
    ]
    assert json.loads(Path(f"{output}.json").read_text()) == {
        "target": "set",
        "sha256": hashlib.sha256(data).hexdigest(),
        "size": len(data),
        "machine": "emulated-x86_64",
        "architecture": "dav-c220-vec",
        "toolkit": {"name": "emulator", "version": "1.2"},
        "kernels": [
            {"name": name, "type": "K_TYPE_AIV", "args_size": 12, "parameters": parameters}
            for name in ("copy_0", "copy_1")
        ],
    }


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        pytest.param(b"", (), ["META105", "the file is empty"], id="empty"),
        pytest.param(ascend().build()[:300], (), ["META008", "the file is cut"], id="truncated"),
        pytest.param(
            Path("/bin/sh").read_bytes(),
            (),
            ["META004", "object of the host", "toolkit's ccec"],
            id="foreign",
        ),
        pytest.param(
            ascend().build(),
            ("--kernel", "copy_0", "--kernel", "copi_0"),
            ["META030", "kernel copi_0 is not there", "correct the name: the binary has copy_0"],
            id="misspelt",
        ),
        pytest.param(
            ascend().build(),
            ("--kernel", "copy_0", "--kernel", "x*"),
            ["META030", "pattern x* matches no kernel"],
            id="glob",
        ),
        pytest.param(
            ascend("copy_0", "helper_1").build(),
            ("--kernel", "copy_0"),
            ["META036", "kernel helper_1 was not asked for", "static"],
            id="extra",
        ),
    ],
)
def test_a_bad_binary_leaves_nothing(
    aivops_verify: Tool, linked: Path, data: bytes, options: tuple[str, ...], words: list[str]
) -> None:
    linked.write_bytes(data)
    for old in (linked.with_suffix(""), Path(f"{linked.with_suffix('')}.json")):
        old.write_text("an older good one")
    run, output = move(aivops_verify, linked, *options)
    assert run.returncode == 1
    for expected in [f"{linked}: error {words[0]}: ", *words, "fix: "]:
        assert expected in run.stderr
    assert not output.exists()
    assert not Path(f"{output}.json").exists()


def mangled() -> bytes:
    """A source without extern "C": the macro wrote the plain name, the symbol is a C++ one."""
    elf = ascend("_Z4copyPhi")
    elf.section(".ascend.meta._Z4copyPhi").name = ".ascend.meta.copy"
    return elf.build()


def hidden() -> bytes:
    elf = ascend("copy_0", "copy_1")
    elf.symbol("copy_1").binding = LOCAL
    elf.drop(".ascend.meta.copy_1")
    return elf.build()


def misspelt_section() -> bytes:
    elf = ascend()
    elf.section(".ascend.meta.copy_0").name = ".ascend.meta.cpoy_0"
    return elf.build()


@pytest.mark.parametrize(
    ("data", "options", "words"),
    [
        (mangled(), (), ["META050", "META051", 'extern "C" __global__ __aicore__ void copy(...)']),
        (mangled(), ("--kernel", "copy"), ["META030", "only the C++ symbol _Z4copyPhi", 'extern "C"']),
        (hidden(), ("--kernel", "copy_?", "--kernel", "copy_1"), ["META030", "a local function"]),
        (
            misspelt_section(),
            (),
            ["META050", "META051", ".ascend.meta.cpoy_0, which names no kernel", "write .ascend.meta.copy_0"],
        ),
    ],
    ids=["mangled", "mangled, asked for", "local", "section"],
)
def test_messages_help(
    aivops_verify: Tool, linked: Path, data: bytes, options: tuple[str, ...], words: list[str]
) -> None:
    linked.write_bytes(data)
    run, output = move(aivops_verify, linked, *options)
    assert run.returncode == 1
    assert not output.exists()
    for expected in words:
        assert expected in run.stderr


def test_the_layout_comes_from_the_emulated_twin(aivops_verify: Tool, linked: Path, tmp_path: Path) -> None:
    twin = tmp_path / "twin.o"
    twin.write_bytes(emulated().build())
    linked.write_bytes(ascend().build())
    run, output = move(aivops_verify, linked, f"--layout-from={twin}")
    assert run.returncode == 0, run.stderr
    (kernel,) = json.loads(Path(f"{output}.json").read_text())["kernels"]
    assert kernel["args_size"] == 12
    assert [parameter["name"] for parameter in kernel["parameters"]] == ["x", "count"]

    # 12 bytes of arguments are passed as 16; 24 are a host side of another source.
    elf = emulated()
    elf.section(".aivops.layout.copy_0").data = layout(("x", 0, 24, 0), args_size=24)
    twin.write_bytes(elf.build())
    linked.write_bytes(ascend().build())
    run, _ = move(aivops_verify, linked, f"--layout-from={twin}")
    assert run.returncode == 1
    assert "META091: kernel copy_0 has another argument size than the layout of the host's side" in run.stderr

    twin.write_bytes(emulated("other_0").build())
    linked.write_bytes(ascend().build())
    run, _ = move(aivops_verify, linked, f"--layout-from={twin}")
    assert run.returncode == 1
    assert "META091: kernel copy_0 is not in the emulated build of its source" in run.stderr


def test_warnings_are_shown_and_do_not_fail(aivops_verify: Tool, linked: Path) -> None:
    elf = ascend()
    elf.sections.append(Section(".note.x", NOTE, data=b"\0/home/someone/kernel.asc"))
    linked.write_bytes(elf.build())
    run, output = move(aivops_verify, linked)
    assert run.returncode == 0
    assert "warning META101" in run.stderr
    assert output.exists()
    output.rename(linked)
    run, output = move(aivops_verify, linked, "--fail-on", "warning")
    assert run.returncode == 1
    assert not output.exists()


def test_manifest(aivops_verify: Tool, tmp_path: Path) -> None:
    entries = []
    for name in ("a", "b"):
        linked = tmp_path / f"{name}.o.unverified"
        linked.write_bytes(ascend(f"{name}_0").build())
        run, output = move(aivops_verify, linked, "--target", name)
        assert run.returncode == 0
        entries.append(f"{output}.json={name}.o")
    manifest = tmp_path / "manifest.json"
    run = aivops_verify("--write-manifest", manifest, "--base", tmp_path, *entries)
    assert (run.returncode, run.stderr) == (0, "")
    document = json.loads(manifest.read_text())
    assert document["schema"] == 1
    assert document["generator"]["name"] == "aivops"
    assert [binary["path"] for binary in document["binaries"]] == ["a.o", "b.o"]
    for binary in document["binaries"]:
        data = (tmp_path / binary["path"]).read_bytes()
        assert (binary["sha256"], binary["size"]) == (hashlib.sha256(data).hexdigest(), len(data))

    for word_, expected in [
        (f"{tmp_path / 'a.o.json'}=../a.o", "stays inside"),
        (f"{tmp_path / 'a.o.json'}=/a.o", "stays inside"),
        (f"{tmp_path / 'a.o.json'}", "ENTRY.json=PATH"),
        (f"{tmp_path / 'a.o.json'}=b.o", "is not the file that"),
        (f"{tmp_path / 'missing.json'}=a.o", "cannot be read"),
    ]:
        manifest.unlink(missing_ok=True)
        run = aivops_verify("--write-manifest", manifest, "--base", tmp_path, word_)
        assert run.returncode == 2
        assert expected in run.stderr
        assert not manifest.exists()
    run = aivops_verify("--write-manifest", manifest, entries[0], entries[0])
    assert run.returncode == 2
    assert "two binaries have the path a.o" in run.stderr


@pytest.mark.parametrize("architecture", ["dav-c220-vec", "dav-c310-vec"])
def test_a_manifest_has_each_kernel_once(aivops_verify: Tool, tmp_path: Path, architecture: str) -> None:
    """Where loaders look for it: among the binaries of one machine and architecture."""
    entries = []
    for name, of in (("a", "dav-c220-vec"), ("b", architecture)):
        linked = tmp_path / f"{name}.o.unverified"
        linked.write_bytes(ascend("copy_0").build())
        run, output = move(aivops_verify, linked, "--target", name)
        assert run.returncode == 0
        entry = Path(f"{output}.json")
        entry.write_text(json.dumps(json.loads(entry.read_text()) | {"architecture": of}))
        entries.append(f"{entry}={name}.o")
    manifest = tmp_path / "manifest.json"
    run = aivops_verify("--write-manifest", manifest, *entries)
    same = architecture == "dav-c220-vec"
    assert run.returncode == (2 if same else 0)
    assert manifest.exists() != same
    told = (
        f"{manifest}: kernel copy_0 is in two binaries, a.o and b.o; rename one of them, or give each its own"
    )
    assert (told in run.stderr) == same


def test_outputs_that_are_there_and_no_files(aivops_verify: Tool, tmp_path: Path) -> None:
    """As root a build must not replace /dev/null by a file."""
    linked, pipe, folder, output = (tmp_path / name for name in ("linked.o", "pipe", "folder", "out.o"))
    os.mkfifo(pipe)
    folder.mkdir()
    data = emulated("copy_0").build()
    linked.write_bytes(data)
    for words, message in (
        (["--move-to", pipe, linked], f"{pipe}: is there and no file"),
        (["--move-to", folder, linked], f"{folder}: is there and no file"),
        (["--move-to", output, "--record", pipe, linked], f"{pipe}: is there and no file"),
        (["--move-to", linked, linked], f"{linked}: is the binary to verify; name another file"),
        (["--move-to", output, "--record", linked, linked], f"{linked}: is the binary to verify"),
    ):
        run = aivops_verify(*words)
        assert run.returncode == 2
        assert message in run.stderr
        assert linked.read_bytes() == data
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert folder.is_dir()


def test_usage(aivops_verify: Tool, tmp_path: Path) -> None:
    good = tmp_path / "good.o"
    good.write_bytes(ascend().build())
    assert aivops_verify(good).stdout == "1 file, 1 kernel: 0 errors, 0 warnings\n"
    assert aivops_verify("--help").stdout.startswith("usage: aivops-verify")
    for words, expected in [
        ([], "no PATH is given"),
        (["--profile", "x", good], "--profile x: expected one of aiv, any"),
        (["--architecture", "x", good], "--architecture x: expected dav-c220-vec"),
        (["--machine", "x", good], "--machine x: expected ascend"),
        (["--unknown", good], "--unknown: no such option"),
        (["--kernel"], "--kernel: needs a value"),
        ([tmp_path / "missing.o"], "missing.o: cannot be read (No such file or directory)"),
        (["--move-to", "x", good, good], "--move-to x: expected one PATH, found 2"),
        (["--record", "x", good], "--record x: needs --move-to"),
        (["--base", "x", good], "--base x: needs --write-manifest"),
        (["--layout-from", good, good], "expected an emulated binary, found one for ascend"),
    ]:
        run = aivops_verify(*words)
        assert run.returncode == 2, words
        assert expected in run.stderr
    (tmp_path / "folder").mkdir()
    assert "has no *.o file to verify" in aivops_verify(tmp_path / "folder").stderr
    (tmp_path / "folder" / "loop").symlink_to(tmp_path / "folder")
    (tmp_path / "folder" / "x.o").write_bytes(ascend().build())
    assert aivops_verify(tmp_path / "folder").stdout == "1 file, 1 kernel: 0 errors, 0 warnings\n"


def test_a_cube_kernel(aivops_verify: Tool, linked: Path) -> None:
    elf = ascend()
    elf.drop(".ascend.meta.copy_0")
    elf.sections.append(meta("copy_0", word(1, 2) + dfx(2)))
    linked.write_bytes(elf.build())
    run, output = move(aivops_verify, linked)
    assert run.returncode == 1
    assert "error META061: kernel copy_0 is not of the type for vector cores" in run.stderr
    assert "expected: K_TYPE_AIV (3)" in run.stderr
    assert "found:    K_TYPE_AIC (2)" in run.stderr
    assert not output.exists()
