import example_ops
import numpy as np
import pytest


@pytest.mark.parametrize("count", [0, 1, 7, 4096, 100_003])
def test_add(count: int) -> None:
    a = np.arange(count, dtype=np.float32)
    b = np.linspace(-1, 1, count, dtype=np.float32)
    np.testing.assert_array_equal(example_ops.add(a, b), a + b)


@pytest.mark.aiv(seeds=10)
def test_add_by_any_schedule() -> None:
    """Under all checks of the emulator; `aivops sanitize -- PROGRAM` does the same for a program."""
    ones = np.ones(4096, np.float32)
    np.testing.assert_array_equal(example_ops.add(ones, ones), 2 * ones)


def test_shapes_must_agree() -> None:
    with pytest.raises(ValueError, match="one shape"):
        example_ops.add(np.zeros(3, np.float32), np.zeros(4, np.float32))
