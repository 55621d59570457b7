"""docs/build.md and the comments above the functions say what the code does."""

import re
from pathlib import Path

import pytest


def comment_and_code(path: Path) -> tuple[str, str]:
    text = path.read_text()
    lines = text.splitlines()
    comment = [line for line in lines[: next(i for i, line in enumerate(lines) if not line.startswith("#"))]]
    return "\n".join(comment), text[len("\n".join(comment)) :]


@pytest.mark.parametrize("function", ["aivops_add_kernels", "aivops_install_kernels"])
def test_every_keyword_is_in_the_signature(repository: Path, function: str) -> None:
    comment, code = comment_and_code(repository / f"cmake/{function}.cmake")
    assert f"#   {function}(" in comment
    used = set(re.findall(r"\barg_([A-Z_]+)\b", code)) - {"UNPARSED_ARGUMENTS", "KEYWORDS_MISSING_VALUES"}
    assert used
    for keyword in used:
        assert re.search(rf"\b{keyword}\b", comment), keyword


def test_every_public_function_is_in_the_guide(repository: Path) -> None:
    guide = (repository / "docs/build.md").read_text()
    functions = {path.stem for path in (repository / "cmake").glob("aivops_*.cmake")}
    assert functions == set(re.findall(r"\]\(\.\./cmake/(\w+)\.cmake\)", guide))


def test_every_variable_is_in_the_guide(repository: Path) -> None:
    guide = (repository / "docs/build.md").read_text()
    code = "".join(path.read_text() for path in (repository / "cmake").rglob("*.cmake*"))
    read = set(re.findall(r"\$(?:ENV)?\{((?:AIVOPS|ASCEND)_[A-Z_]+)\}", code))
    internal = {
        "AIVOPS_PACKAGE_DIR",
        "AIVOPS_CMAKE_DIR",
        "AIVOPS_TOOLKIT_DIR",
        "AIVOPS_CPU",
        "AIVOPS_VERSION",
    }
    for variable in read - internal:
        assert f"`{variable}`" in guide, variable


def test_flags_of_the_guide_are_those_of_the_code(repository: Path) -> None:
    guide = (repository / "docs/build.md").read_text()
    section = guide[guide.index("## Flags") : guide.index("## Wheels")]
    code = (repository / "cmake/detail/architecture_flags.cmake").read_text()
    code = code.replace("${stack_size}", "0x8000").replace("${architecture}", "<architecture>")
    code = code.replace("${record_overflow_${arg_RECORD_OVERFLOW}}", "false")
    flags = set(re.findall(r"(?<=\s)-[-\w]+=?[\w<>+=-]*", code)) - {"-O0", "-g", "--cce-auto-sync"}
    for flag in flags:
        assert flag in section, flag
