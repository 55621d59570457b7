"""Writes docs/rules.md from the verifier's own table: `python docs/make_rules.py docs/rules.md`."""

from __future__ import annotations

import sys
from pathlib import Path

from aivops.verification import Rule, all_rules

HEAD = """\
# Rules of the verifier

`aivops verify` and `aivops-verify` check kernel binaries against these rules. The runtime of an NPU checks little of
it: most of what is wrong loads without a complaint and shows on the device, or never. Severities are *error*,
*warning* and *info*; profile `any` is for all binaries, profile `aiv` for those whose kernels run on vector cores
only (AivOps' own builds use it). A rule that lists several severities names the case of each.

*Machines* says whose binaries a rule is for: `ascend` (an NPU's) or `emulated` (an ELF of the host, made by the
emulated toolkit). Rules without a machine are about what surrounds a binary: archives, manifests, JSON files.
Sources are files of the CANN runtime (hicann/runtime, commit 681ef7610) and of asc-devkit (commit 82b89a15f).

This page is made from the table that the code uses, by `docs/make_rules.py`.
"""  # noqa: E501


def describe(rule: Rule) -> str:
    lines = [
        f"## {rule.id}",
        "",
        f"**Condition**: {rule.condition}.",
        "",
        f"**At run time**: {rule.consequence}. ({rule.source})",
        "",
        f"**Fix**: {rule.fix}.",
        "",
        f"Profile any: {', '.join(rule.any) or 'off'}. Profile aiv: {', '.join(rule.aiv) or 'off'}. "
        f"Machines: {', '.join(rule.machines) or 'none'}. Since {rule.since}.",
    ]
    return "\n".join(lines)


def make_page() -> str:
    return "\n\n".join([HEAD.rstrip(), *(describe(rule) for rule in all_rules().values())]) + "\n"


if __name__ == "__main__":
    Path(sys.argv[1]).write_text(make_page(), encoding="utf-8")
