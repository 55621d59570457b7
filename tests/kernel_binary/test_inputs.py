"""What can be named to `aivops verify`: folders, wheels, shared objects, manifests, and what may be wrong there."""

from __future__ import annotations

import hashlib
import json
import os
import stat
import struct
import time
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import aivops
import pytest
from aivops.verification import Report, UnreadableError, _archive
from aivops.verification._inputs import DOCUMENT_LIMIT

from kernel_binary.builder import X86_64, Elf, Section, ascend, dfx, emulated, record, word

GOOD = ascend().build()


def rules(report: Report) -> dict[str, list[str]]:
    """Rules by path, without files that have none."""
    return {file.path: [f.rule for f in file.findings] for file in report.files if file.findings}


def test_folder(tmp_path: Path) -> None:
    (tmp_path / "b").mkdir()
    (tmp_path / "b" / "x.o").write_bytes(GOOD)
    (tmp_path / "a.o").write_bytes(ascend("other_0").build())
    (tmp_path / "notes.txt").write_text("no binary")
    (tmp_path / "loop").symlink_to(tmp_path, target_is_directory=True)
    (tmp_path / "b" / "self.o").symlink_to("self.o")
    (tmp_path / "outside.o").symlink_to("/bin/sh")
    report = aivops.verify(tmp_path)
    assert [file.path for file in report.files] == [f"{tmp_path}/a.o", f"{tmp_path}/b/x.o"]
    assert rules(report) == {}
    assert report.kernel_count == 2

    (tmp_path / "b" / "y.o").write_bytes(GOOD)
    assert rules(aivops.verify(tmp_path)) == {f"{tmp_path}/b/y.o": ["META102"]}


def test_paths_that_cannot_be_read(tmp_path: Path) -> None:
    with pytest.raises(UnreadableError, match=r"missing\.o: cannot be read \(No such file"):
        aivops.verify(tmp_path / "missing.o")
    with pytest.raises(UnreadableError, match="has no kernel binary"):
        aivops.verify(tmp_path)
    with pytest.raises(UnreadableError, match=r"'': is no path; the current folder is \."):
        aivops.verify("")
    os.mkfifo(tmp_path / "fifo.o")
    with pytest.raises(UnreadableError, match="cannot be read"):
        aivops.verify(tmp_path / "fifo.o")
    (tmp_path / "broken.whl").write_bytes(b"PK\x05\x06" + bytes(18))
    with pytest.raises(UnreadableError, match="has no kernel binary"):
        aivops.verify(tmp_path / "broken.whl")
    with pytest.raises(ValueError, match="architecture x: expected"):
        aivops.verify(write(tmp_path / "x.o", GOOD), architecture="x")


def write(path: Path, data: bytes) -> Path:
    path.write_bytes(data)
    return path


def sidecar(data: bytes, **more: Any) -> bytes:
    return json.dumps({"sha256": hashlib.sha256(data).hexdigest(), "magic": "x", "w": 1.5e3, **more}).encode()


def mixed() -> bytes:
    elf = ascend("a_0_mix_aiv")
    elf.section(".ascend.meta.a_0_mix_aiv").data = word(1, 5) + record(3, struct.pack("<HH", 0, 1)) + dfx(2)
    return elf.build()


@pytest.mark.parametrize(
    ("data", "text", "severities", "words"),
    [
        (GOOD, sidecar(GOOD), [], ""),
        (GOOD, sidecar(GOOD + b"x"), ["error"], "is for other bytes"),
        (GOOD, sidecar(GOOD, debugOptions="printf,assert"), ["error"], "asks for printf"),
        (GOOD, sidecar(GOOD, kernelList=[{"kernelName": "copy_0"}], intercoreSync=0), [], ""),
        (GOOD, sidecar(GOOD, kernelList=[{"kernelName": "other"}]), ["warning"], "names kernel other"),
        (GOOD, sidecar(GOOD, intercoreSync=1), ["warning"], "disagrees about synchronisation"),
        (mixed(), sidecar(mixed(), intercoreSync=1, kernelList=[{"kernelName": "a_0"}]), [], ""),
        (mixed(), sidecar(mixed(), intercoreSync=0), ["warning"], "disagrees about synchronisation"),
        (GOOD, b"{", ["error"], "cannot be read: line 1, column 2"),
        (GOOD, b'{"sha256": "a", "sha256": "b"}', ["error"], 'the key "sha256" is there twice'),
        (GOOD, b"[" * 100000, ["error"], "nested deeper than 64 levels"),
        (GOOD, b'{"a": "\xff"}', ["error"], "not UTF-8"),
    ],
)
def test_sidecar(tmp_path: Path, data: bytes, text: bytes, severities: list[str], words: str) -> None:
    path = write(tmp_path / "x.o", data)
    write(tmp_path / "x.json", text)
    found = [finding for finding in aivops.verify(path).findings if finding.rule == "META104"]
    assert [finding.severity for finding in found] == severities
    assert all(words in finding.message for finding in found)


# ---- wheels and zips ----


def make_zip(path: Path, *members: tuple[str | zipfile.ZipInfo, bytes]) -> Path:
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in members:
            archive.writestr(name, data)
    return path


def test_wheel(tmp_path: Path) -> None:
    wheel = make_zip(
        tmp_path / "x-1-py3-none-any.whl",
        ("pkg/kernels/a.o", GOOD),
        ("pkg/kernels/a.json", sidecar(GOOD + b"!")),
        ("pkg/kernels/b.o", b"not a binary at all"),
        ("pkg/kernels/c.o", GOOD),
        ("pkg/__init__.py", b"raise SystemExit"),
    )
    before = sorted(tmp_path.iterdir())
    assert rules(aivops.verify(wheel)) == {
        f"{wheel}/pkg/kernels/a.o": ["META104"],
        f"{wheel}/pkg/kernels/b.o": ["META001"],
        f"{wheel}/pkg/kernels/c.o": ["META102"],
    }
    assert sorted(tmp_path.iterdir()) == before
    assert wheel.suffix == ".whl"


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_members_that_installers_disagree_about(tmp_path: Path) -> None:
    link = zipfile.ZipInfo("pkg/link.o")
    link.external_attr = (stat.S_IFLNK | 0o777) << 16
    archive = make_zip(
        tmp_path / "x.whl",
        ("pkg/a.o", GOOD),
        ("pkg/twice.o", GOOD),
        ("pkg/twice.o", GOOD + bytes(8)),
        ("../outside.o", GOOD),
        ("/absolute.o", GOOD),
        (link, b"/etc/passwd"),
    )
    report = aivops.verify(archive)
    (container,) = [file for file in report.files if file.path == str(archive)]
    messages = [finding.message for finding in container.findings]
    assert {finding.rule for finding in container.findings} == {"META110"}
    assert messages == [
        "member pkg/twice.o is there twice",
        "member ../outside.o leaves the archive's root",
        "member /absolute.o leaves the archive's root",
        "member pkg/link.o is a link",
    ]


def edit_headers(path: Path, edit: Callable[[bytearray, int, int], None]) -> Path:
    """Edits the central and local header of the first member."""
    data = bytearray(path.read_bytes())
    edit(data, data.index(b"PK\x01\x02"), data.index(b"PK\x03\x04"))
    return write(path, bytes(data))


def encrypted(data: bytearray, central: int, local: int) -> None:
    data[central + 8] |= 1
    data[local + 6] |= 1


def unknown_method(data: bytearray, central: int, local: int) -> None:
    struct.pack_into("<H", data, central + 10, 99)
    struct.pack_into("<H", data, local + 8, 99)


def wrong_checksum(data: bytearray, central: int, _local: int) -> None:
    data[central + 16] ^= 0xFF


def far_too_large(data: bytearray, central: int, _local: int) -> None:
    struct.pack_into("<I", data, central + 24, 0xFFFFFFF0)


@pytest.mark.parametrize(
    ("edit", "words"),
    [
        (encrypted, "is encrypted"),
        (unknown_method, "cannot be unpacked"),
        (wrong_checksum, "is damaged"),
        (far_too_large, "would unpack to 4294967280 bytes"),
    ],
)
def test_damaged_members(tmp_path: Path, edit: Callable[[bytearray, int, int], None], words: str) -> None:
    archive = edit_headers(make_zip(tmp_path / "x.zip", ("a.o", GOOD)), edit)
    (finding,) = aivops.verify(archive).findings
    assert finding.rule == "META110"
    assert words in finding.message


def test_damaged_lzma(tmp_path: Path) -> None:
    path = tmp_path / "x.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_LZMA) as archive:
        archive.writestr("a.o", GOOD)
    data = bytearray(path.read_bytes())
    data[50:90] = b"\xff" * 40
    (finding,) = aivops.verify(write(path, bytes(data))).findings
    assert finding.rule == "META110"
    assert "member a.o is damaged (Corrupt input data)" in finding.message


def test_member_without_a_name(tmp_path: Path) -> None:
    def drop_name(data: bytearray, central: int, local: int) -> None:
        # The name's bytes become an extra field: four of them are the smallest that is whole.
        for place, length, extra in ((central, 28, 46), (local, 26, 30)):
            struct.pack_into("<HH", data, place + length, 0, 4)
            struct.pack_into("<HH", data, place + extra, 0xCAFE, 0)

    archive = edit_headers(make_zip(tmp_path / "x.zip", ("ab.o", GOOD)), drop_name)
    (finding,) = aivops.verify(archive).findings
    assert (finding.rule, finding.message) == ("META110", "a member has no name")


@pytest.mark.parametrize("everywhere", [True, False])
def test_member_whose_name_is_no_text(tmp_path: Path, everywhere: bool) -> None:
    archive = make_zip(tmp_path / "x.zip", ("é.o", GOOD))
    data = archive.read_bytes().replace("é".encode(), b"\xff\xfe", -1 if everywhere else 1)
    write(archive, data)
    if everywhere:
        with pytest.raises(UnreadableError, match=r"x\.zip: is no zip that can be read \('utf-8' codec"):
            aivops.verify(archive)
    else:
        (finding,) = aivops.verify(archive).findings
        assert finding.rule == "META110"
        assert "is damaged" in finding.message


def test_a_zip_behind_a_binary_does_not_hide_it(tmp_path: Path) -> None:
    elf = ascend()
    elf.drop(".ascend.meta.copy_0")
    archive = make_zip(tmp_path / "x.zip", ("a.o", GOOD))
    path = write(tmp_path / "x.o", elf.build() + archive.read_bytes())
    assert zipfile.is_zipfile(path)
    assert "META050" in rules(aivops.verify(path))[str(path)]


def test_zip_bomb(tmp_path: Path) -> None:
    """Members that share one run of bytes are refused unread, however many there are."""
    path = make_zip(tmp_path / "x.zip", ("a.o", bytes(50 << 20)))
    with zipfile.ZipFile(path) as archive:
        (info,) = archive.infolist()
        with zipfile.ZipFile(tmp_path / "bomb.zip", "w") as bomb:
            bomb.fp.write(path.read_bytes()[: archive.start_dir])
            for number in range(1000):
                copy = zipfile.ZipInfo(f"{number}.o")
                copy.compress_type, copy.compress_size = info.compress_type, info.compress_size
                copy.file_size, copy.CRC, copy.header_offset = info.file_size, info.CRC, 0
                bomb.filelist.append(copy)
            bomb.start_dir = archive.start_dir
            bomb._didModify = True
    started = time.monotonic()
    findings = aivops.verify(tmp_path / "bomb.zip").findings
    assert time.monotonic() - started < 2
    assert len(findings) == 1000
    assert all(finding.message.endswith("overlaps another one") for finding in findings)


def test_total_size_is_bounded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(_archive, "TOTAL_LIMIT", 2 * len(GOOD))
    archive = make_zip(tmp_path / "x.zip", *((f"{name}.o", GOOD) for name in "abc"))
    assert rules(aivops.verify(archive))[str(archive)] == ["META110"]


def test_names_are_data(tmp_path: Path) -> None:
    kernel = "k\x1b[31mred\u202e_0"
    bad = tmp_path / "x\n\x1b]0;title\x07.o"
    elf = ascend(kernel)
    elf.drop(f".ascend.meta.{kernel}")
    bad.write_bytes(elf.build())
    raw = os.fsencode(tmp_path) + b"/\xff.o"
    Path(os.fsdecode(raw)).write_bytes(b"x")
    text = json.dumps(aivops.verify([tmp_path, bad]).document(), ensure_ascii=False)
    assert "\\\\x1b[31mred\\\\xe2\\\\x80\\\\xae_0" in text
    assert "x\\\\x0a\\\\x1b]0;title\\\\x07.o" in text
    assert "/\\\\xff.o" in text
    assert not any(ord(letter) < 32 or letter in "\x7f\u202e" for letter in text)


# ---- kernels inside shared objects ----


def stub(*binaries: bytes, version: int = 1, count: int | None = None) -> bytes:
    data = struct.pack("<II", version, len(binaries) if count is None else count)
    for binary in binaries:
        data += struct.pack("<III", 1, len(binary), len(binary)) + binary
    return data


def shared_object(*sections: Section) -> bytes:
    return Elf(machine=X86_64, type=3, flags=0, sections=list(sections)).build()


def test_embedded_kernels(tmp_path: Path) -> None:
    other = ascend("other_0").build()
    broken = ascend("third_0")
    broken.drop(".ascend.meta.third_0")
    path = write(
        tmp_path / "libx.so",
        shared_object(
            Section(".ascend.kernel.ascend910b.x", data=stub(GOOD, other), flags=3),
            Section(".aicore_binary", data=GOOD + bytes(8) + broken.build(), flags=3),
            Section("__aicore_rel_binary", data=b"never read"),
        ),
    )
    for where in (path, tmp_path):
        report = aivops.verify(where)
        assert [file.path.removeprefix(f"{tmp_path}/") for file in report.files] == [
            "libx.so:.ascend.kernel.ascend910b.x[0]",
            "libx.so:.ascend.kernel.ascend910b.x[1]",
            "libx.so:.aicore_binary[0]",
            "libx.so:.aicore_binary[1]",
        ]
        assert [kernel.name for file in report.files for kernel in file.kernels] == [
            "copy_0",
            "other_0",
            "copy_0",
            "third_0",
        ]
        assert [finding.rule for finding in report.findings if finding.rule != "META102"] == ["META050"]
    wheel = make_zip(tmp_path / "x.whl", ("pkg/libx.so", path.read_bytes()))
    assert len(aivops.verify(wheel).files) == 4


@pytest.mark.parametrize(
    ("section", "words"),
    [
        (Section(".ascend.kernel.x.y", data=stub(GOOD, count=2), flags=3), "is cut"),
        (Section(".ascend.kernel.x.y", data=stub(GOOD, version=2), flags=3), "is of an unknown version"),
        (Section(".ascend.kernel.x.y", data=b"", flags=3), "is of an unknown version"),
        (Section(".ascend.kernel.x.y", data=stub(GOOD)[:-1], flags=3), "is cut"),
        (Section(".aicore_binary", data=GOOD + b"trailing", flags=3), "holds bytes that are no ELF"),
        (
            Section(".aicore_binary", data=GOOD, header={"sh_size": 2**40}),
            "leaves the file or overlaps another one",
        ),
    ],
)
def test_damaged_embedding(tmp_path: Path, section: Section, words: str) -> None:
    path = write(tmp_path / "libx.so", shared_object(section))
    found = [finding for finding in aivops.verify(path).findings if finding.rule == "META111"]
    assert [words in finding.message for finding in found] == [True]


# ---- manifests ----


@pytest.fixture
def kernels(tmp_path: Path, aivops_verify: Callable[..., Any]) -> Path:
    """A folder as a build installs it."""
    linked = tmp_path / "set.o.unverified"
    linked.write_bytes(emulated().build())
    run = aivops_verify("--move-to", tmp_path / "set.o", "--record", tmp_path / "set.o.json", linked)
    assert run.returncode == 0
    record_file = tmp_path / "set.o.json"
    run = aivops_verify("--write-manifest", tmp_path / "manifest.json", f"{record_file}=set.o")
    assert run.returncode == 0
    record_file.unlink()
    return tmp_path


def change(manifest: Path, values: dict[str, Any]) -> None:
    document = json.loads(manifest.read_text())
    document["binaries"][0].update(values)
    manifest.write_text(json.dumps(document))


def manifest_rules(folder: Path) -> list[str]:
    found = rules(aivops.verify(folder / "manifest.json")).get(str(folder / "manifest.json"), [])
    assert found == rules(aivops.verify(folder)).get(str(folder / "manifest.json"), [])
    return found


def test_manifest(kernels: Path) -> None:
    manifest = kernels / "manifest.json"
    assert manifest_rules(kernels) == []
    original = manifest.read_text()
    for values, rule in [
        ({"sha256": "0" * 64}, "META122"),
        ({"size": 1}, "META122"),
        ({"machine": "ascend"}, "META123"),
        ({"architecture": "dav-c310-vec"}, "META123"),
        ({"kernels": []}, "META123"),
        ({"path": "../set.o"}, "META121"),
        ({"path": "/etc/passwd"}, "META121"),
        ({"path": "missing.o"}, "META121"),
        ({"sha256": "x"}, "META120"),
        ({"kernels": [{"name": "copy_0"}]}, "META120"),
    ]:
        manifest.write_text(original)
        change(manifest, values)
        assert manifest_rules(kernels) == [rule], values
    for text, rule in [
        (original[:-3], "META120"),
        (original.replace('"schema": 1', '"schema": 2'), "META120"),
        (original.replace('"args_size": 12', '"args_size": 16'), "META123"),
        (original.replace('"kind": "uint"', '"kind": "int"'), "META123"),
        (original.replace('"kind": "uint"', '"kind": "other"'), "META120"),
    ]:
        manifest.write_text(text)
        assert manifest_rules(kernels) == [rule], text


def test_a_link_out_of_the_folder_is_not_followed(
    kernels: Path, tmp_path_factory: pytest.TempPathFactory
) -> None:
    outside = tmp_path_factory.mktemp("outside") / "set.o"
    (kernels / "set.o").rename(outside)
    (kernels / "set.o").symlink_to(outside)
    assert manifest_rules(kernels) == ["META121"]


def test_manifest_in_a_wheel(kernels: Path) -> None:
    members = [(f"pkg/kernels/{name}", (kernels / name).read_bytes()) for name in ("manifest.json", "set.o")]
    wheel = make_zip(kernels / "x.whl", *members, ("pkg/other/manifest.json", b'{"name": "a web page"}'))
    report = aivops.verify(wheel, profile="aiv")
    assert rules(report) == {}
    assert len(report.files) == 2


# ---- size ----


def test_a_document_is_not_read_before_its_size_is_known(tmp_path: Path) -> None:
    path = write(tmp_path / "manifest.json", b"{")
    os.truncate(path, 64 << 30)
    with pytest.raises(
        UnreadableError, match=f"manifest.json: has {64 << 30} bytes, .* at most {DOCUMENT_LIMIT}"
    ):
        aivops.verify(path)


def test_empty_file(check: Callable[..., dict[str, Any]]) -> None:
    assert [finding["rule"] for finding in check(b"")["findings"]] == ["META105"]


@pytest.mark.long
@pytest.mark.parametrize(("size", "fires"), [(0x80000000, True), (0x7FFFFFFF, False)])
def test_image_size_limit(tmp_path: Path, size: int, fires: bool) -> None:
    """A file with a hole: the headers of a good binary before it, .data of nearly 2 GiB in it."""
    elf = ascend()
    place = struct.unpack_from("<Q", elf.build(), 40)[0]
    elf.section(".data").header["sh_size"] = size - 64
    path = write(tmp_path / "x.o", elf.build())
    os.truncate(path, size + place)
    found = [finding.rule for finding in aivops.verify(path).findings]
    assert found == (["META105"] if fires else [])
