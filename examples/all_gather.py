"""Eight ranks in one process gather what each of them has, on NPUs or on emulated devices."""

import aivops
import numpy as np

RANKS = 8

inputs = [np.full(4, rank, np.float32) for rank in range(RANKS)]
with aivops.LocalGroup(RANKS) as group:
    gathered = group.run(lambda comm: comm.all_gather(inputs[comm.rank]))

for rank, result in enumerate(gathered):
    print(f"rank {rank} has {result.shape[0]} parts: {result[:, 0].astype(int).tolist()}")
