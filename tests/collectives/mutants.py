"""Kernel sets built from changed sources: what tests of the tests run instead of the shipped kernels."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path

import aivops

PACKAGE = Path(aivops.__file__).parent
ARCHITECTURE = "dav-c220-vec"  # that of the emulated devices, unless a test says otherwise


class Mutants:
    """Builds packages with an all_gather of its own under `folder`, which is on the import path."""

    def __init__(self, repository: Path, folder: Path) -> None:
        self._device = repository / "device"
        self.folder = folder

    def all_gather(self, name: str, edits: dict[str, list[tuple[str, str]]]) -> str:
        """A package whose all_gather is the shipped one with `edits`: file to pairs of old and new text."""
        package = self.folder / name
        shutil.copytree(self._device, package / "device")
        kernel = package / "device" / "kernels" / "all_gather.asc"
        for file, pairs in edits.items():
            path = package / "device" / file
            text = path.read_text()
            for old, new in pairs:
                assert text.count(old) == 1, f"{file} has {old!r} {text.count(old)} times"
                text = text.replace(old, new)
            path.write_text(text)
        (package / "__init__.py").touch()
        binary = package / "kernels" / "all_gather.o"
        binary.parent.mkdir()
        build(kernel, binary)
        return name


def build(kernel: Path, binary: Path, *options: str) -> None:
    """Compiles, links and verifies as aivops_add_kernels does; the manifest lands beside the binary."""
    toolkit = PACKAGE / "toolkit"
    tools = toolkit / "tools" / "ccec_compiler" / "bin"
    headers = next(toolkit.glob("*-linux/asc/include"))
    about = json.loads((toolkit / "share/info/aivops/toolkit.json").read_text())
    made = binary.with_suffix(".tmp")
    run(
        *(tools / "ccec", "-c", "-x", "cce", "-O2", "-std=c++17", "--cce-aicore-only"),
        *(f"--cce-aicore-arch={ARCHITECTURE}", "-I", kernel.parent.parent / "include", "-I", headers),
        *(*options, kernel, "-o", made.with_suffix(".rel")),
    )
    run(tools / "ld.lld", "-m", "aicorelinux", "-Ttext=0", made.with_suffix(".rel"), "-static", "-o", made)
    verify = PACKAGE / "bin" / "aivops-verify"
    entry = binary.with_suffix(".json")
    run(
        *(verify, "--profile", "aiv", "--architecture", ARCHITECTURE, "--move-to", binary),
        *("--record", entry, "--target", kernel.stem, "--toolkit-name", about["name"]),
        *("--toolkit-version", about["version"], made),
    )
    manifest = binary.parent / "manifest.json"
    run(verify, "--write-manifest", manifest, "--base", binary.parent, f"{entry}={binary.name}")


def replace_kernel(package: Path, binary: Path) -> None:
    """Puts `binary` in the place of the shipped one in a copy of the installed package, hash and all."""
    manifest = package / "kernels" / "manifest.json"
    document = json.loads(manifest.read_text())
    new = json.loads((binary.parent / "manifest.json").read_text())["binaries"][0]
    for entry in document["binaries"]:
        if all(entry[key] == new[key] for key in ("target", "machine", "architecture")):
            shutil.copyfile(binary, package / "kernels" / entry["path"])
            entry.update(sha256=new["sha256"], size=new["size"])
    manifest.write_text(json.dumps(document))


def run(*command: object) -> None:
    subprocess.run([str(part) for part in command], check=True)
