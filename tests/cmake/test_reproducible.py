"""The same sources give the same bytes, wherever tree, build and toolkit lie and whatever flags the host has."""

import shutil
from hashlib import sha256
from pathlib import Path

import aivops
from fixtures.cmake_project import CMakeProject, kernel_source

# What conda's and Debian's package builds export.
HARDENING = {
    "CFLAGS": "-march=nocona -mtune=haswell -ftree-vectorize -fPIC -fstack-protector-strong -O2 -ffunction-sections",
    "CXXFLAGS": "-fvisibility-inlines-hidden -fmessage-length=0 -fPIC -fstack-protector-strong -O2 -ffunction-sections",
    "CPPFLAGS": "-DNDEBUG -D_FORTIFY_SOURCE=2 -O2 -Wdate-time",
    "LDFLAGS": "-Wl,-O2 -Wl,--sort-common -Wl,--as-needed -Wl,-z,relro -Wl,-z,now -Wl,--gc-sections -Wl,--strip-all",
}


def build_set(
    folder: Path, prefix: Path, generator: str, build: str = "build", keywords: str = "", **environment: str
) -> dict[str, str]:
    """Builds one set of two kernels below `folder`; digests of everything that is installed."""
    project = CMakeProject(folder / "consumer", prefix, generator=generator, environment=environment)
    project.build = folder / build
    project.write(
        {
            "k.asc": kernel_source("k", include="deep/part.h"),
            "m.asc": kernel_source("m"),
            "deep/part.h": '#include "made.h"\ninline const char* place() { return __FILE__; }\n',
            "made.h.in": "inline const char* made() { return __FILE__; }\n",
        }
    )
    project.write_lists(
        f"""
configure_file(made.h.in made/made.h)
aivops_add_kernels(k SOURCES k.asc m.asc INCLUDE_DIRECTORIES "${{CMAKE_BINARY_DIR}}/made" {keywords})
aivops_install_kernels(k DESTINATION kernels)
"""
    )
    project.configure_and_make()
    stage = folder / "stage"
    installed = project.run(project.cmake, "--install", project.build, "--prefix", stage)
    assert installed.returncode == 0, installed.stdout
    return {
        str(path.relative_to(stage)): sha256(path.read_bytes()).hexdigest()
        for path in sorted(stage.rglob("*"))
        if path.is_file()
    }


def test_place_generator_and_host_flags_do_not_show(tmp_path: Path, prefix: Path) -> None:
    moved = tmp_path / "another place/aivops"
    shutil.copytree(prefix, moved)
    here = build_set(tmp_path / "a", prefix, "Ninja")
    assert len(here) == 3
    assert build_set(tmp_path / "somewhere/else/b", moved, "Unix Makefiles", **HARDENING) == here


def test_kernels_with_line_numbers_keep_no_path_of_the_build(tmp_path: Path, prefix: Path) -> None:
    """In a build tree of its own, as pip makes one, and in one below the sources."""
    apart = build_set(tmp_path / "a", prefix, "Ninja", keywords="DEBUG ON")
    assert build_set(tmp_path / "b", prefix, "Ninja", "consumer/out/tree", "DEBUG ON") == apart
    for folder in ("a", "b"):
        report = aivops.verify(tmp_path / folder / "stage/kernels", profile="aiv")
        assert report.kernel_count == 4
        assert "META101" not in {finding.rule for finding in report.findings}
