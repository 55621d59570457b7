"""Native part of aivops."""

import os
import pathlib
from collections.abc import Sequence
from typing import Annotated, Any, overload

from numpy.typing import NDArray
from typing_extensions import CapsuleType

class ToolkitSearch:
    """Where to look for the emulated toolkit and for signs of an NPU."""

    def __init__(self) -> None: ...
    @property
    def emulated_root(self) -> pathlib.Path: ...
    @emulated_root.setter
    def emulated_root(self, arg: str | os.PathLike[str], /) -> None: ...
    @property
    def device_nodes(self) -> list[pathlib.Path]: ...
    @device_nodes.setter
    def device_nodes(self, arg: Sequence[str | os.PathLike[str]], /) -> None: ...
    @property
    def standard_roots(self) -> list[pathlib.Path]: ...
    @standard_roots.setter
    def standard_roots(self, arg: Sequence[str | os.PathLike[str]], /) -> None: ...

class ToolkitChoice:
    """A toolkit's root and what decided for it, from `select_toolkit()`."""

    @property
    def root(self) -> pathlib.Path: ...
    @property
    def reason(self) -> str: ...

class ToolkitInfo:
    """What a toolkit says of itself on disk: `Toolkit.info`."""

    @property
    def root(self) -> pathlib.Path: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def machine(self) -> str: ...

def select_toolkit(search: ToolkitSearch) -> ToolkitChoice:
    """AIVOPS_TOOLKIT, else ASCEND_HOME_PATH, else the emulated toolkit."""

def read_toolkit_info(root: str | os.PathLike[str]) -> ToolkitInfo: ...

class Toolkit:
    """
    A toolkit in use by this process: `Toolkit.open()` and `Device.toolkit` give it.
    """

    @staticmethod
    def open(root: str | os.PathLike[str]) -> Toolkit:
        """Open the toolkit at `root`, or return it when it is open."""

    @property
    def root(self) -> pathlib.Path: ...
    @property
    def name(self) -> str: ...
    @property
    def version(self) -> str: ...
    @property
    def machine(self) -> str:
        """
        Machine of the binaries it runs: ascend, emulated-x86_64 or emulated-aarch64.
        """

    @property
    def library(self) -> pathlib.Path: ...
    @property
    def device_count(self) -> int: ...
    @property
    def soc_name(self) -> str: ...
    @property
    def architecture(self) -> str:
        """Compiler architecture of its vector cores."""

    def __repr__(self) -> str: ...

def open_selected_toolkit(search: ToolkitSearch) -> Toolkit:
    """
    Select and open; emulated devices that nobody asked for are announced on stderr once.
    """

class Device:
    """One device of a toolkit."""

    def __init__(self, id: int = 0, *, toolkit: Toolkit | None = None) -> None: ...
    @property
    def id(self) -> int: ...
    @property
    def toolkit(self) -> Toolkit: ...
    @property
    def soc_name(self) -> str: ...
    @property
    def architecture(self) -> str:
        """Compiler architecture of the vector cores."""

    @property
    def vector_cores(self) -> int:
        """Vector cores of the hardware."""

    @property
    def vector_core_limit(self) -> int:
        """Vector cores that launches of this process may use."""

    @vector_core_limit.setter
    def vector_core_limit(self, count: int, /) -> None: ...
    def reset_vector_core_limit(self) -> None: ...
    @property
    def memory(self) -> tuple[int, int]:
        """Free and total bytes of device memory."""

    @property
    def max_timeout(self) -> float:
        """Longest time limit of a kernel, in seconds."""

    def effective_timeout(self, timeout: float | None = None) -> float:
        """
        Seconds that a launch with this time limit gets: rounded up to the device's units, 4.29 s as a rule.
        """

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait for everything on this device and raise what failed."""

    def __eq__(self, other: object | None) -> bool: ...
    def __hash__(self) -> int: ...
    def __repr__(self) -> str: ...

class Event:
    """A point in a stream."""

    def __init__(self, device: Device) -> None: ...
    @property
    def device(self) -> Device: ...
    @property
    def handle(self) -> int: ...
    def query(self) -> bool:
        """Whether the stream has come past it."""

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait until the stream has come past it."""

    def elapsed_since(self, start: Event) -> float:
        """Seconds from `start` to this event."""

    def __repr__(self) -> str: ...

class Stream:
    """A queue of work on one device."""

    def __init__(self, device: Device) -> None: ...
    @staticmethod
    def borrow(device: Device, handle: int) -> Stream:
        """Use a stream that someone else owns; 0 is the device's default stream."""

    @property
    def device(self) -> Device: ...
    @property
    def handle(self) -> int:
        """The aclrtStream, as a number."""

    def synchronize(self, timeout: float | None = None) -> None:
        """Wait for everything queued so far and raise what failed."""

    def query(self) -> bool:
        """True when everything queued so far is done."""

    def record(self, event: Event) -> None: ...
    def wait(self, event: Event) -> None:
        """What is queued from here on starts after `event`."""

    @property
    def vector_cores(self) -> int:
        """Vector cores that a launch may use; set to limit them for this stream."""

    @vector_cores.setter
    def vector_cores(self, count: int, /) -> None: ...
    def reset_vector_core_limit(self) -> None: ...
    def __repr__(self) -> str: ...

class Memory:
    """Device memory, or a part of it."""

    @overload
    def __init__(self, device: Device, nbytes: int) -> None: ...
    @overload
    def __init__(self, memory: Memory) -> None: ...
    @staticmethod
    def at_address(device: Device, pointer: int, nbytes: int, owner: object | None) -> Memory:
        """Use memory of `owner`, which is kept alive."""

    @property
    def device(self) -> Device: ...
    @property
    def pointer(self) -> int:
        """Address on the device."""

    @property
    def nbytes(self) -> int: ...
    def part(self, offset: int, nbytes: int) -> Memory:
        """A range of the same memory."""

    def read_host(
        self, source: Annotated[NDArray[Any], dict(order="C", device="cpu", writable=False)]
    ) -> None:
        """Copy from a contiguous host array of the same number of bytes."""

    def write_host(self, destination: Annotated[NDArray[Any], dict(order="C", device="cpu")]) -> None:
        """Copy to a contiguous host array of the same number of bytes."""

    def read_device(self, source: Memory, stream: Stream | None = None) -> None:
        """Copy from device memory of the same number of bytes."""

    def fill_bytes(self, value: int) -> None: ...
    def make_dlpack(self, shape: Sequence[int], code: int, bits: int, versioned: bool) -> CapsuleType:
        """A DLPack capsule of this memory; it does not synchronise any stream."""

DLPACK_DEVICE_TYPE: int = 12

def open_dlpack(device: Device, array: object) -> tuple[Memory, list[int], int, int]:
    """
    Memory, shape, type code and bits of a DLPack array that lives on `device`.
    """

def open_host_dlpack(capsule: CapsuleType) -> tuple[object, list[int], list[int], int, int]:
    """
    Bytes, shape, strides in elements, type code and bits of an array in host memory.
    """

class LaunchConfig:
    """How a launch runs: blocks, schedule, time limit."""

    def __init__(
        self, *, blocks: int | None = None, schedule: str = "batch", timeout: float | None = None
    ) -> None: ...
    @property
    def blocks(self) -> int | None:
        """None: every vector core that the stream may use."""

    @property
    def schedule(self) -> str: ...
    @property
    def timeout(self) -> float | None:
        """
        Seconds, rounded up by the device; None: the smaller of 1800 and its maximum; inf: never.
        """

    def __repr__(self) -> str: ...

class Parameter:
    """One parameter of a kernel, as `Kernel.parameters` lists them."""

    @property
    def name(self) -> str:
        """Empty when the source does not name it."""

    @property
    def offset(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def kind(self) -> str:
        """struct, pointer, int, uint, float, bool, half or bfloat16."""

    def __repr__(self) -> str: ...

class PreparedLaunch:
    """A launch made ready once by `Kernel.prepare()` and queued many times."""

    def __call__(self, *args: object) -> None:
        """Queue it. Arguments, when given, replace all of the prepared ones."""

    def __setitem__(self, parameter: object, value: object | None) -> None:
        """Replace one argument, by index or name."""

    @property
    def blocks(self) -> int: ...
    @property
    def kernel(self) -> Kernel: ...
    @property
    def stream(self) -> Stream: ...
    def __repr__(self) -> str: ...

class Kernel:
    """
    A kernel of a binary, from `Binary.get_kernel()` or `load_kernels(package).get_kernel()`.
    """

    @property
    def name(self) -> str: ...
    @property
    def type(self) -> str:
        """K_TYPE_AIV, ...; empty when the binary does not say."""

    @property
    def parameters(self) -> list[Parameter] | None:
        """None when the binary does not describe them."""

    @property
    def args_size(self) -> int | None:
        """
        Bytes of the argument block; None when the binary does not describe it.
        """

    @property
    def origin(self) -> str:
        """The binary's path."""

    def launch(self, stream: Stream, *args: object, config: LaunchConfig | None = None) -> None:
        """Queue one launch. Everything is checked before anything is queued."""

    def prepare(self, stream: Stream, *args: object, config: LaunchConfig | None = None) -> PreparedLaunch:
        """Make a launch ready to be queued many times."""

    def __repr__(self) -> str: ...

class Binary:
    """A kernel binary: read once, checked, and loaded from those very bytes."""

    def __init__(self, binary: Binary) -> None: ...
    @staticmethod
    def load(toolkit: Toolkit, path: str | os.PathLike[str], sha256: str = "") -> Binary: ...
    @staticmethod
    def from_bytes(toolkit: Toolkit, image: bytes, origin: str, sha256: str = "") -> Binary: ...
    @property
    def toolkit(self) -> Toolkit: ...
    @property
    def origin(self) -> str:
        """The path it came from."""

    @property
    def sha256(self) -> str: ...
    @property
    def machine(self) -> str: ...
    @property
    def architecture(self) -> str: ...
    @property
    def kernel_names(self) -> list[str]: ...
    def get_kernel(self, name: str) -> Kernel: ...

class KernelSet:
    """The kernels that a package ships, from `load_kernels()`."""

    @staticmethod
    def open(toolkit: Toolkit, folder: str | os.PathLike[str]) -> KernelSet: ...
    @property
    def folder(self) -> pathlib.Path: ...
    @property
    def kernel_names(self) -> list[str]: ...
    def get_kernel(self, name: str) -> Kernel: ...
    def __repr__(self) -> str: ...

class KernelBinary:
    """The bytes of a kernel binary. They are read, never loaded or run."""

    @staticmethod
    def open(path: str | os.PathLike[str]) -> KernelBinary:
        """A regular file; OSError when it cannot be read."""

    @staticmethod
    def from_bytes(data: bytes) -> KernelBinary: ...
    def verify(
        self,
        path: str,
        *,
        profile: str = "any",
        machine: str = "",
        architecture: str = "",
        kernels: Sequence[str] = [],
        allow_hard_sync: bool = False,
    ) -> str:
        """
        The file's entry of a report, as JSON. `path` is only its name there, already printable.
        """

    def inspect(self, path: str) -> str:
        """The file's entry of a report with everything decoded, as JSON."""

    def embedded(self) -> list[tuple[str, KernelBinary]]:
        """Name and content of the kernel binaries inside a shared object."""

    def check_embedding(self) -> str:
        """Findings about the sections that hold kernel binaries, as JSON."""

    def check_sidecar(self, text: bytes) -> str:
        """Findings about the JSON file beside the binary, as JSON."""

    def add_vector_records(self) -> tuple[bytes, list[str], str]:
        """
        A copy with the AIV records that are missing, the kernels that got one, and else why there is none.
        """

    @property
    def size(self) -> int: ...
    @property
    def sha256(self) -> str: ...

def check_manifest(text: bytes, origin: str) -> str | None:
    """What is wrong with a manifest; None when nothing is."""

def verification_rules() -> str:
    """The rules, as JSON."""

def register_algorithm(
    operation: str,
    name: str,
    *,
    kernels: KernelSet,
    kernel: str,
    types: Sequence[str],
    ranks: tuple[int, int],
    bytes: tuple[int, int],
    architectures: Sequence[str],
    registered: bool,
    in_place: bool,
    preferred: bool,
) -> None: ...
def algorithm_kernels(operation: str, kernel: str, types: Sequence[str]) -> list[str]:
    """The names of the kernels that an algorithm has to have."""

class Collective:
    """What a rank asks for."""

    def __init__(
        self,
        operation: str,
        type: str,
        count: int,
        *,
        reduction: str,
        root: int,
        peer: int,
        counts: Sequence[int],
        algorithm: str,
        blocks: int,
        timeout: float | None,
        type_name: str,
    ) -> None: ...

class Plan:
    """
    How a call runs: `Communicator.plan()` and `Communicator.last_plan` tell it.
    """

    @property
    def algorithm(self) -> str:
        """E.g. "two_shots"."""

    @property
    def blocks(self) -> int:
        """Vector cores that it takes on every rank."""

    def __repr__(self) -> str: ...

class Communicator:
    """One rank of a group."""

    def __init__(
        self,
        device: Device,
        bootstrap: object,
        window_bytes: int,
        blocks: int,
        timeout: float | None,
        kernels: KernelSet,
    ) -> None: ...
    @property
    def rank(self) -> int: ...
    @property
    def size(self) -> int: ...
    @property
    def device(self) -> Device: ...
    @property
    def stream(self) -> Stream:
        """Where launches go that name no stream."""

    def window(self, rank: int) -> Memory:
        """The window of a rank, as this rank's device reaches it."""

    def run(self, call: Collective, input: int, output: int) -> None:
        """Run a collective on arrays at host addresses and wait for it."""

    def repeat(self, call: Collective, input: Memory, output: Memory) -> None:
        """
        Run a collective on arrays in device memory that are like those it was made for.
        """

    @property
    def last_plan(self) -> Plan | None: ...
    def launch(self, call: Collective, input: Memory, output: Memory, stream: Stream) -> Plan:
        """Queue a collective on arrays in device memory."""

    def plan(
        self, operation: str, type: str, bytes: int, registered: bool, algorithm: str, blocks: int
    ) -> Plan: ...
    def allocate(self, bytes: int) -> Memory: ...
    def register_memory(self, buffer: Memory) -> None: ...
    def unregister_memory(self, buffer: Memory) -> None: ...
    def launch_and_wait(
        self, call: Collective, input: Memory, output: Memory, stream: Stream, timeout: float | None
    ) -> None:
        """
        Both; ranks that are threads hand the GIL to each other once instead of twice.
        """

    def wait(self, stream: Stream, timeout: float | None) -> None:
        """Wait for what is queued and raise what failed."""

    def is_idle(self) -> bool:
        """Whether everything that was launched has been waited for."""

    def find_awaited(self, peers: Sequence[int]) -> int | None:
        """
        The first of `peers` that a kernel of this rank waits for at this moment.
        """

    def stop(self, reason: str) -> None:
        """Make every call of this rank fail, those that wait at once."""

    def abort(self, reason: str) -> None:
        """Make every call of every rank fail, those that wait at once."""

    def recover(self) -> None:
        """Make it usable again, if done on all ranks while none is in a call."""

    def close(self) -> None:
        """Give the windows back, together with all other ranks."""

__version__: str
