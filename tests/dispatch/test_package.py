"""The package as Python sees it: what importing loads, its public names, its stub."""

import ast
import importlib.util
import inspect
import pickle
import sys
from pathlib import Path

import aivops
import aivops.errors
import pytest
from aivops import _core
from fixtures.python_process import run_python


def test_importing_loads_nothing_of_others() -> None:
    program = """
import sys
before = set(sys.modules)
import aivops
print(*sorted({name.split(".")[0] for name in set(sys.modules) - before}))
print(any(name.startswith("aivops._core") for name in sys.modules))
print(any("libacl" in line for line in open("/proc/self/maps")))
"""
    modules, core, runtime = run_python(program).stdout.splitlines()
    standard = set(sys.stdlib_module_names)
    assert set(modules.split()) - standard == {"aivops"}
    assert (core, runtime) == ("False", "False")


def test_public_names_resolve() -> None:
    for name in aivops.__all__:
        assert getattr(aivops, name) is not None
    assert [name for name in dir(aivops) if not name.startswith("_")] == [
        name for name in aivops.__all__ if not name.startswith("_")
    ]
    with pytest.raises(AttributeError, match="module 'aivops' has no attribute 'devise'"):
        aivops.devise  # noqa: B018


def test_every_exception_is_an_error_of_ours() -> None:
    for name in aivops.errors.__all__:
        kind = getattr(aivops, name)
        assert issubclass(kind, aivops.Error)
        assert kind.__doc__
    builtins = {
        aivops.InvalidValueError: ValueError,
        aivops.InvalidTypeError: TypeError,
        aivops.AclTimeoutError: TimeoutError,
        aivops.PeerTimeoutError: TimeoutError,
    }
    for ours, builtin in builtins.items():
        assert issubclass(ours, builtin)


def test_exceptions_travel_between_processes() -> None:
    error = pickle.loads(pickle.dumps(aivops.AclError("text", 107000, "ACL_ERROR_RT_PARAM_INVALID", "why")))
    assert (str(error), error.code, error.name, error.runtime_message) == (
        "text", 107000, "ACL_ERROR_RT_PARAM_INVALID", "why",
    )  # fmt: skip
    found = pickle.loads(pickle.dumps(aivops.VerificationError("text", [1, 2])))
    assert (str(found), found.findings) == ("text", [1, 2])


def definitions(source: str) -> set[str]:
    """Every class, function and variable of a stub, without comments, order and layout."""
    tree = ast.parse(source)
    return {ast.dump(node) for node in tree.body if not isinstance(node, (ast.Import, ast.ImportFrom))}


def test_the_stub_is_that_of_the_module(repository: Path) -> None:
    script = repository / "host/bindings/make_stub.py"
    spec = importlib.util.spec_from_file_location("make_stub", script)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    committed = (repository / "python/aivops/_core.pyi").read_text()
    assert definitions(committed) == definitions(module.make_stub()), (
        f"run: python {script.relative_to(repository)} python/aivops/_core.pyi && ruff format python/aivops/_core.pyi"
    )


def test_everything_native_is_documented() -> None:
    for name, value in inspect.getmembers(_core, inspect.isclass):
        if name.startswith("_"):
            continue
        assert value.__doc__, name


def test_the_package_is_typed() -> None:
    assert (Path(aivops.__file__).parent / "py.typed").is_file()


def test_python_m_aivops() -> None:
    program = "import runpy, sys; sys.argv = ['aivops', '--version']; runpy.run_module('aivops', run_name='__main__')"
    assert run_python(program).stdout.strip() == aivops.__version__
