"""Processes that fit one line to data of which each has a part; their gradients meet in an all_reduce.

$ aivops run -n 4 python examples/data_parallel.py
"""

import aivops
import numpy as np

with aivops.Communicator.from_env() as comm:
    rng = np.random.default_rng(comm.rank)
    x = rng.uniform(-1, 1, 1000).astype(np.float32)
    y = 3 * x - 2
    weights = comm.broadcast(rng.normal(size=2).astype(np.float32))
    for _ in range(100):
        error = weights[0] * x + weights[1] - y
        gradient = np.array([(error * x).mean(), error.mean()], np.float32)
        weights -= comm.all_reduce(gradient) / comm.size
    print(f"rank {comm.rank} of {comm.size}: y = {weights[0]:.3f} x {weights[1]:+.3f}")
