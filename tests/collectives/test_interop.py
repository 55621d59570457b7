"""Arrays of other libraries in and out: torch's tensors, and whatever speaks DLPack."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import aivops
import ml_dtypes
import numpy as np
import pytest
from collectives.reference import bits, fold, numbers, same

GroupOf = Callable[[int], aivops.LocalGroup]


class Exported:
    """An array that only speaks DLPack, and where it has a namespace gives results of its own kind."""

    def __init__(self, array: np.ndarray) -> None:
        self.array = array

    def __dlpack_device__(self) -> tuple[int, int]:
        return 1, 0

    def __dlpack__(self, **how: Any) -> Any:
        return self.array.__dlpack__(**how)

    def __array_namespace__(self) -> type[Exported]:
        return Exported

    @staticmethod
    def from_dlpack(array: np.ndarray) -> Exported:
        return Exported(array)


class Old(Exported):
    """One written before DLPack 1.0, without a namespace."""

    __array_namespace__ = None  # type: ignore[assignment]

    def __dlpack__(self, *, stream: int | None = None) -> Any:
        return self.array.__dlpack__(stream=stream)


class Elsewhere(Exported):
    def __dlpack_device__(self) -> tuple[int, int]:
        return 2, 3


def test_what_speaks_dlpack_comes_back_as_its_own_kind(group_of: GroupOf) -> None:
    inputs = [numbers((4, 500), np.float32, rank) for rank in range(4)]

    def call(comm: aivops.Communicator) -> bool:
        x = Exported(inputs[comm.rank])
        gathered, reduced = comm.all_gather(x), comm.all_reduce(x, "max")
        scattered = comm.reduce_scatter(x, async_op=True).wait()
        assert all(type(result) is Exported for result in (gathered, reduced, scattered))
        return (
            same(gathered.array, np.stack(inputs))
            and same(reduced.array, fold(inputs, "max"))
            and same(scattered.array, fold(inputs, "sum")[comm.rank : comm.rank + 1])
        )

    assert all(group_of(4).run(call))


def test_out_is_filled_whoever_made_it(group_of: GroupOf) -> None:
    inputs = [numbers((1000,), np.int32, rank) for rank in range(2)]

    def call(comm: aivops.Communicator) -> bool:
        out = Exported(np.empty(1000, np.int32))
        result = comm.all_reduce(inputs[comm.rank], out=out)
        return result is out and same(out.array, fold(inputs, "sum"))

    assert all(group_of(2).run(call))


def test_older_exporters_and_other_strides(group_of: GroupOf) -> None:
    """Without a namespace results are numpy arrays; what is not contiguous is copied first."""
    wide = numbers((600, 6), np.int16, 3)

    def call(comm: aivops.Communicator) -> bool:
        return same(comm.broadcast(Old(wide[::2, 1::2])), wide[::2, 1::2]) and same(
            comm.broadcast(Exported(wide.T)).array, wide.T.copy()
        )

    assert all(group_of(2).run(call))


def test_arrays_on_the_device_are_taken_without_a_copy(group_of: GroupOf) -> None:
    class OnDevice:
        def __init__(self, buffer: aivops.Buffer) -> None:
            self.buffer = buffer

        def __dlpack_device__(self) -> tuple[int, int]:
            return self.buffer.__dlpack_device__()

        def __dlpack__(self, **how: Any) -> Any:
            return self.buffer.__dlpack__(**how)

    inputs = [bits((300,), ml_dtypes.bfloat16, rank) for rank in range(2)]

    def call(comm: aivops.Communicator) -> bool:
        x = OnDevice(aivops.Buffer.from_host(comm.device, inputs[comm.rank]))
        out = OnDevice(aivops.Buffer(comm.device, (2, 300), ml_dtypes.bfloat16))
        gathered = comm.all_gather(x)
        assert isinstance(gathered, aivops.Buffer)
        assert comm.all_gather(x, out=out) is out
        return same(gathered.to_numpy(), np.stack(inputs)) and same(out.buffer.to_numpy(), np.stack(inputs))

    assert all(group_of(2).run(call))


def read_only(array: np.ndarray) -> np.ndarray:
    array.flags.writeable = False
    return array


@pytest.mark.parametrize(
    ("call", "error", "text"),
    [
        (
            lambda c: c.all_reduce(Elsewhere(np.ones(3, "f"))),
            ValueError,
            r"all_reduce\(\): x is on DLPack device \(2, 3\), expected the host \(1, 0\) or this rank's device \(12, ",
        ),
        (lambda c: c.all_reduce(np.ones(3, "f"), out=Elsewhere(np.ones(3, "f"))), ValueError, r"\(\): out is on DLPack"),
        (lambda c: c.all_reduce(np.ones(3, "f"), out=Exported(np.ones(4, "f"))), ValueError, r"out has shape \(4,\) and"),
        (
            lambda c: c.all_reduce(np.ones(3, "f"), out=Exported(np.ones((3, 2), "f")[:, 0])),
            ValueError,
            "out is not a writable C-contiguous array",
        ),
        (
            lambda c: c.all_reduce(np.ones(3, "f"), out=read_only(np.ones(3, "f"))),
            ValueError,
            "out is not a writable C-contiguous array",
        ),
        (lambda c: c.all_reduce(Exported(np.ones(3, "f")[::-1])), ValueError, "x runs backwards along an axis"),
        (lambda c: c.all_reduce(Exported(np.ones(3, "F"))), TypeError, "DLPack type code 5 with 64 bits is not an elem"),
        (lambda c: c.all_reduce(np.ones(3, bool)), ValueError, "no kernel folds bool, expected one of float16"),
        (
            lambda c: c.all_reduce(aivops.Buffer(c.device, 3, "float32"), out=Exported(np.ones(3, "f"))),
            TypeError,
            "out is an Exported, expected a Buffer, as x is",
        ),
    ],
)  # fmt: skip
def test_what_does_not_fit(
    group_of: GroupOf, call: Callable[[aivops.Communicator], object], error: type[Exception], text: str
) -> None:
    with pytest.raises(error, match=text):
        group_of(2).run(call)


def test_read_only_arrays_are_fine_as_inputs(group_of: GroupOf) -> None:
    x = read_only(np.arange(10))
    assert all(same(r, np.stack([x, x])) for r in group_of(2).run(lambda c: c.all_gather(x)))


# ---- torch, where it is installed. ----


@pytest.fixture(scope="module")
def torch() -> Any:
    return pytest.importorskip("torch", reason="torch is not installed; `make test-interop` installs it")


def test_tensors_in_tensors_out(group_of: GroupOf, torch: Any) -> None:
    inputs = [numbers((3, 500), np.float32, rank) for rank in range(3)]

    def call(comm: aivops.Communicator) -> bool:
        x = torch.from_numpy(inputs[comm.rank])
        out = torch.empty_like(x)
        assert comm.all_reduce(x, out=out) is out
        results = {
            "gathered": (comm.all_gather(x), np.stack(inputs)),
            "exchanged": (comm.all_to_all(x), np.stack([i[comm.rank] for i in inputs])),
            "queued": (comm.all_reduce(x, "min", async_op=True).wait(), fold(inputs, "min")),
            "out": (out, fold(inputs, "sum")),
            "strided": (comm.broadcast(x.t()), inputs[0].T.copy()),
        }
        parts = comm.all_gather_v(x[: comm.rank])
        assert all(same(part.numpy(), inputs[r][:r]) for r, part in enumerate(parts))
        assert all(torch.is_tensor(found) for found, _ in results.values())
        return all(same(found.numpy(), expected) for found, expected in results.values())

    assert all(group_of(3).run(call))


@pytest.mark.parametrize("name", ["bfloat16", "float16", "bool", "uint8", "int64", "float8_e5m2"])
def test_types_of_tensors(group_of: GroupOf, torch: Any, name: str) -> None:
    dtype = getattr(torch, name)

    def call(comm: aivops.Communicator) -> bool:
        x = torch.tensor([1, 0, 1, comm.rank], dtype=torch.float32).to(dtype)
        result = comm.all_gather(x)
        return result.dtype == dtype and bool((result.float()[:, 3] == torch.tensor([0.0, 1.0])).all())

    assert all(group_of(2).run(call))


def test_what_torch_does_not_give_away(group_of: GroupOf, torch: Any) -> None:
    x = torch.ones(3, requires_grad=True)
    with pytest.raises(TypeError, match=r"all_reduce\(\): x cannot be taken over as it is: .*detach"):
        group_of(2).run(lambda c: c.all_reduce(x))
