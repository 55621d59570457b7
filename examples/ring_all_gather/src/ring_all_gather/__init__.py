"""all_gather around a ring, an algorithm for communicators of AivOps."""

import aivops


def register() -> None:
    """Every process of a program calls it once, before its first all_gather."""
    aivops.register_algorithm(
        "all_gather",
        "ring",
        kernels="ring_all_gather",
        kernel="ring_all_gather",
        types=["float32", "float16"],
        ranks=(2, 8),
    )
