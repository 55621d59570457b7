"""Program: runs kernels of this folder as often and in as many setups as it is told, in one process.

Arguments: the toolkit, the binary. Reads a JSON list of [kernel, ranks, blocks, count, calls, seed] and prints a line
of JSON for each: what the runtime said, and which calls had wrong results.
"""

from __future__ import annotations

import ctypes
import json
import os
import sys
from pathlib import Path

import numpy as np
from emulator.acl_api import Acl
from emulator.faulty.faults import BY_NAME, FILL, Setup

DEVICES = 8
STOP_ON_FAILURE = 1
NOT_DONE = 507046  # from a call that waits PATIENCE_MS at most
PATIENCE_MS = 2
WINDOW_BYTES = 4 * (256 + 12 * 8)  # of a block, as in twins.h
HANGING_US, TIMEOUT_US = 300_000, 12_500_000  # a busy machine may stand still for some of that


class Ranks:
    """Devices, streams and memory of the ranks of one run."""

    def __init__(self, acl: Acl, setup: Setup, blocks: int, seed: int) -> None:
        self.acl, self.setup = acl, setup
        self.contexts = [self.context(rank) for rank in range(setup.ranks)]
        self.streams = [self.stream(context) for context in self.contexts]
        self.blocks = blocks
        random = np.random.default_rng(seed)
        self.inputs = [
            [random.integers(1, 2**30, setup.count, dtype=np.int32) for _ in range(setup.ranks)]
            for _ in range(setup.calls)
        ]
        self.memory: list[list[int]] = [[] for _ in range(setup.ranks)]
        zeros = bytes(blocks * WINDOW_BYTES)
        self.windows = self.on_each_rank(lambda rank: zeros)
        self.scratch = self.on_each_rank(lambda rank: bytes(setup.count * 4 + (blocks + 1) * 64))
        self.input = [
            self.on_each_rank(lambda rank, call=call: self.inputs[call][rank].tobytes())
            for call in range(setup.calls)
        ]
        fill = np.full(setup.count, FILL, np.int32).tobytes()
        self.output = [self.on_each_rank(lambda rank: fill) for _ in range(setup.calls)]
        self.tables = [
            self.on_each_rank(lambda rank, of=of: np.array(of, np.uint64).tobytes())
            for of in (self.windows, *self.input)
        ]
        self.retired = self.on_each_rank(lambda rank: bytes(setup.count * 4))
        for rank in range(setup.ranks):
            acl.aclrtSetCurrentContext(self.contexts[rank])
            acl.free(self.memory[rank].pop())

    def context(self, rank: int) -> ctypes.c_void_p:
        context = ctypes.c_void_p()
        self.acl.ok(self.acl.aclrtCreateContext(ctypes.byref(context), rank))
        return context

    def stream(self, context: ctypes.c_void_p) -> ctypes.c_void_p:
        """One that drops what comes behind a failure, and so tells of it at once."""
        self.acl.ok(self.acl.aclrtSetCurrentContext(context))
        stream = self.acl.create_stream()
        self.acl.ok(self.acl.aclrtSetStreamFailureMode(stream, ctypes.c_uint64(STOP_ON_FAILURE)))
        return stream

    def on_each_rank(self, content: object) -> list[int]:
        addresses = []
        for rank in range(self.setup.ranks):
            self.acl.aclrtSetCurrentContext(self.contexts[rank])
            data = content(rank)  # type: ignore[operator]
            addresses.append(self.acl.malloc(len(data)))
            self.acl.write(addresses[-1], data)
            self.memory[rank].append(addresses[-1])
        return addresses

    def launch(self, binary: ctypes.c_void_p, kernel: str, batch: bool, timeout_us: int) -> None:
        for call in range(self.setup.calls):
            for rank, stream in enumerate(self.streams):
                self.acl.aclrtSetCurrentContext(self.contexts[rank])
                function = self.acl.function(binary, kernel)
                pointers = (
                    self.tables[0][rank],
                    self.tables[1 + call][rank],
                    self.input[call][rank],
                    self.output[call][rank],
                    self.scratch[rank],
                    self.retired[rank],
                )
                numbers = (rank, self.setup.ranks, self.setup.count, call + 1)
                arguments = np.array(pointers, np.uint64).tobytes() + np.array(numbers, np.uint32).tobytes()
                self.acl.ok(
                    self.acl.launch(
                        function, self.blocks, arguments, stream, batch=int(batch), timeout_us=timeout_us
                    )
                )

    def wait(self) -> tuple[int, str]:
        """Until all are done or one has failed: then the others are stopped."""
        waiting = list(self.streams)
        while waiting:
            stream = waiting.pop(0)
            code = self.acl.aclrtSynchronizeStreamWithTimeout(stream, PATIENCE_MS)
            message = self.acl.message()
            if code == NOT_DONE:
                waiting.append(stream)
            elif code != 0:
                for other in self.streams:
                    self.acl.ok(self.acl.aclrtStreamAbort(other))
                    self.acl.synchronize(other)
                self.acl.message()  # of the others
                return code, message
        return 0, ""

    def wrong_calls(self, result: object) -> list[int]:
        wrong = []
        for call in range(self.setup.calls):
            for rank in range(self.setup.ranks):
                self.acl.aclrtSetCurrentContext(self.contexts[rank])
                found = np.frombuffer(self.acl.read(self.output[call][rank], self.setup.count * 4), np.int32)
                expected = result(self.inputs[call], rank, self.setup)  # type: ignore[operator]
                if not np.array_equal(found, expected):
                    wrong.append(call)
                    break
        return wrong

    def close(self) -> None:
        for rank, blocks in enumerate(self.memory):
            self.acl.aclrtSetCurrentContext(self.contexts[rank])
            for address in blocks:
                self.acl.free(address)
        for context in self.contexts:
            self.acl.ok(self.acl.aclrtDestroyContext(context))


def main(toolkit: Path, binary_path: Path) -> None:
    acl = Acl(toolkit)
    for device in range(DEVICES):
        acl.set_device(device)
        for peer in range(DEVICES):
            if peer != device:
                acl.ok(acl.aclrtDeviceEnablePeerAccess(peer, 0))
    binary = acl.load(binary_path)
    for kernel, ranks, blocks, count, calls, seed in json.load(sys.stdin):
        name, _, twin = kernel.rpartition("_")
        fault = BY_NAME[name]
        too_many = fault.more_blocks if twin == "wrong" else 0
        setup = Setup(ranks, blocks, count, calls)
        if os.environ["AIVOPS_EMU_CHECK"] == "strict":
            acl.ok(acl.aivopsEmuBeginSchedule(ctypes.c_uint64(seed)))
        run = Ranks(acl, setup, 48 + too_many if too_many else blocks, seed)
        hangs = twin == "wrong" and fault.category == "deadlock"
        run.launch(binary, kernel, not too_many, HANGING_US if hangs else TIMEOUT_US)
        code, message = run.wait()
        wrong = run.wrong_calls(fault.result) if code == 0 else []
        run.close()
        print(json.dumps({"code": code, "message": message, "wrong": wrong}), flush=True)


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
