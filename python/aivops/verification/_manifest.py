"""A manifest against the binaries that it names."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from .. import _core
from .._words import counted
from ._inputs import Manifest, Unreadable
from ._printable import printable
from ._report import FileReport, Finding
from ._rules import make_finding


def check_manifest(manifest: Manifest) -> FileReport | Unreadable:
    problem = _core.check_manifest(manifest.text, manifest.label)
    if problem is not None:
        rule = "META121" if "stay inside" in problem else "META120"
        message = printable(problem.removeprefix(f"{manifest.label}: "))
        return FileReport(manifest.label, "", "", findings=(make_finding(rule, message),))
    findings: list[Finding] = []
    for entry in json.loads(manifest.text)["binaries"]:
        try:
            findings.extend(_check_binary(manifest, entry))
        except OSError as error:
            return Unreadable.of(f"{manifest.label}: binary {printable(entry['path'])}", error)
    return FileReport(manifest.label, "", "", findings=tuple(findings))


def _check_binary(manifest: Manifest, entry: dict[str, Any]) -> Iterator[Finding]:
    name = f"binary {printable(entry['path'])}"
    image = manifest.read(entry["path"])
    if image is None:
        yield make_finding("META121", f"{name} is not in the manifest's folder")
        return
    if image.size != entry["size"] or image.sha256 != entry["sha256"]:
        yield make_finding(
            "META122",
            f"{name} has other bytes than the manifest says",
            f"sha256 {entry['sha256']} over {counted(entry['size'], 'byte')}",
            f"sha256 {image.sha256} over {counted(image.size, 'byte')}",
        )
        return
    inspected = json.loads(image.inspect(manifest.label))
    for what, expected, found in _differences(entry, inspected):
        yield make_finding("META123", f"{name} has another {what} than the manifest says", expected, found)


def _differences(entry: dict[str, Any], inspected: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    for what in ("machine", "architecture"):
        if entry[what] != inspected[what]:
            yield what, printable(entry[what]), inspected[what]
    kernels = {kernel["name"]: kernel for kernel in inspected["kernels"]}
    listed = {kernel["name"]: kernel for kernel in entry["kernels"]}
    if kernels.keys() != listed.keys():
        yield "list of kernels", _names(listed), _names(kernels)
        return
    for name, kernel in listed.items():
        # The layout of an `ascend` binary is its emulated twin's, so the binary itself has none to compare.
        keys = ["type"] if kernels[name]["parameters"] is None else ["type", "args_size", "parameters"]
        for key in keys:
            expected, found = printable(str(kernel[key])), printable(str(kernels[name][key]))
            if expected != found:
                yield f"{key} of kernel {printable(name)}", expected, found


def _names(kernels: dict[str, Any]) -> str:
    return ", ".join(printable(name) for name in sorted(kernels))
