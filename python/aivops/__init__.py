"""AivOps: compile, verify, package and dispatch communication operators for Ascend AI Vector cores.

Importing this package loads neither its extension module nor a toolkit nor numpy: names are resolved on
first use.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._algorithms import register_algorithm as register_algorithm
    from ._binary import Binary as Binary
    from ._binary import load_kernels as load_kernels
    from ._bootstrap import Bootstrap as Bootstrap
    from ._buffer import Buffer as Buffer
    from ._communicator import Communicator as Communicator
    from ._core import Device as Device
    from ._core import Event as Event
    from ._core import Kernel as Kernel
    from ._core import LaunchConfig as LaunchConfig
    from ._core import Parameter as Parameter
    from ._core import Plan as Plan
    from ._core import PreparedLaunch as PreparedLaunch
    from ._core import Stream as Stream
    from ._core import Toolkit as Toolkit
    from ._core import __version__ as __version__
    from ._local_group import LocalGroup as LocalGroup
    from ._locations import get_cmake_dir as get_cmake_dir
    from ._locations import get_include as get_include
    from ._locations import get_toolkit_dir as get_toolkit_dir
    from ._work import Work as Work
    from .errors import AclError as AclError
    from .errors import AclTimeoutError as AclTimeoutError
    from .errors import BinaryError as BinaryError
    from .errors import BootstrapError as BootstrapError
    from .errors import BootstrapTimeoutError as BootstrapTimeoutError
    from .errors import CallMismatchError as CallMismatchError
    from .errors import Error as Error
    from .errors import ForkError as ForkError
    from .errors import InvalidTypeError as InvalidTypeError
    from .errors import InvalidValueError as InvalidValueError
    from .errors import PeerDiedError as PeerDiedError
    from .errors import PeerFailedError as PeerFailedError
    from .errors import PeerTimeoutError as PeerTimeoutError
    from .errors import ToolkitError as ToolkitError
    from .errors import VerificationError as VerificationError
    from .verification import verify as verify

# Where each public name comes from.
_HOME = {
    "__version__": "_core",
    "AclError": "errors",
    "AclTimeoutError": "errors",
    "Binary": "_binary",
    "BinaryError": "errors",
    "Bootstrap": "_bootstrap",
    "BootstrapError": "errors",
    "BootstrapTimeoutError": "errors",
    "Buffer": "_buffer",
    "CallMismatchError": "errors",
    "Communicator": "_communicator",
    "Device": "_core",
    "Error": "errors",
    "Event": "_core",
    "ForkError": "errors",
    "InvalidTypeError": "errors",
    "InvalidValueError": "errors",
    "Kernel": "_core",
    "LaunchConfig": "_core",
    "Parameter": "_core",
    "LocalGroup": "_local_group",
    "PeerDiedError": "errors",
    "PeerFailedError": "errors",
    "PeerTimeoutError": "errors",
    "Plan": "_core",
    "PreparedLaunch": "_core",
    "Stream": "_core",
    "Toolkit": "_core",
    "ToolkitError": "errors",
    "VerificationError": "errors",
    "Work": "_work",
    "get_cmake_dir": "_locations",
    "get_include": "_locations",
    "get_toolkit_dir": "_locations",
    "load_kernels": "_binary",
    "register_algorithm": "_algorithms",
    "verify": "verification",
}

__all__ = sorted(_HOME)  # noqa: PLE0605


def __getattr__(name: str) -> Any:
    home = _HOME.get(name)
    if home is None:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f"{__name__}.{home}"), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted({*(name for name in globals() if name.startswith("__")), *_HOME})
