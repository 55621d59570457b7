"""Program: runs programs in the interpreter, one after the other in one process.

Arguments: the toolkit, the interpreter's binary. Reads a pickled list of Trial, and writes a pickled Outcome, as a tuple, for each.
"""

from __future__ import annotations

import ctypes
import os
import pickle
import sys
from dataclasses import astuple, dataclass
from pathlib import Path

from emulator.acl_api import Acl, pack

DEVICES = 2
STOP_ON_FAILURE = 1
NOT_DONE = 507046  # from a call that waits PATIENCE_MS at most
PATIENCE_MS = 2
TIMEOUT_US = 12_500_000


@dataclass(frozen=True)
class Trial:
    seed: int  # of strict mode's schedule
    blocks: int
    code: list[list[bytes]]  # of each device, by launch
    memory: list[bytes]


@dataclass(frozen=True)
class Outcome:
    code: int
    message: str
    memory: list[bytes]


class Machine:
    def __init__(self, toolkit: Path, binary: Path) -> None:
        self.acl = Acl(toolkit)
        for device in range(DEVICES):
            self.acl.set_device(device)
            self.acl.ok(self.acl.aclrtDeviceEnablePeerAccess(1 - device, 0))
        self.interpreter = self.acl.load(binary)

    def run(self, trial: Trial) -> Outcome:
        acl = self.acl
        if os.environ["AIVOPS_EMU_CHECK"] == "strict":
            acl.ok(acl.aivopsEmuBeginSchedule(ctypes.c_uint64(trial.seed)))
        contexts, streams = [], []
        code: list[list[int]] = []
        memory: list[int] = []
        for device, (launches, content) in enumerate(zip(trial.code, trial.memory, strict=True)):
            contexts.append(self.context(device))
            # One that drops what comes behind a failure, and so tells of it at once.
            streams.append(acl.create_stream())
            acl.ok(acl.aclrtSetStreamFailureMode(streams[-1], ctypes.c_uint64(STOP_ON_FAILURE)))
            code.append([self.placed(instructions) for instructions in launches])
            memory.append(self.placed(content))
        for context, stream, placed in zip(contexts, streams, code, strict=True):
            acl.ok(acl.aclrtSetCurrentContext(context))
            function = acl.function(self.interpreter, "interpret")
            for instructions in placed:
                arguments = pack("QQQ", instructions, memory[0], memory[-1])
                acl.ok(acl.launch(function, trial.blocks, arguments, stream, batch=1, timeout_us=TIMEOUT_US))
        result, message = self.wait(streams)
        found = []
        for context, placed, place, content in zip(contexts, code, memory, trial.memory, strict=True):
            acl.ok(acl.aclrtSetCurrentContext(context))
            found.append(acl.read(place, len(content)))
            for each in (*placed, place):
                acl.free(each)
            acl.ok(acl.aclrtDestroyContext(context))
        return Outcome(result, message, found)

    def placed(self, content: bytes) -> int:
        place = self.acl.malloc(len(content))
        self.acl.write(place, content)
        return place

    def context(self, device: int) -> ctypes.c_void_p:
        context = ctypes.c_void_p()
        self.acl.ok(self.acl.aclrtCreateContext(ctypes.byref(context), device))
        return context

    def wait(self, streams: list[ctypes.c_void_p]) -> tuple[int, str]:
        """Until all are done or one has failed: then the others are stopped."""
        acl, waiting = self.acl, list(streams)
        while waiting:
            stream = waiting.pop(0)
            code = acl.aclrtSynchronizeStreamWithTimeout(stream, PATIENCE_MS)
            message = acl.message()
            if code == NOT_DONE:
                waiting.append(stream)
            elif code != 0:
                for other in waiting:
                    acl.ok(acl.aclrtStreamAbort(other))
                    acl.synchronize(other)
                acl.message()  # of the others
                return code, message
        return 0, ""


def main(toolkit: Path, binary: Path) -> None:
    machine = Machine(toolkit, binary)
    for trial in pickle.load(sys.stdin.buffer):
        pickle.dump(astuple(machine.run(trial)), sys.stdout.buffer)
        sys.stdout.buffer.flush()


if __name__ == "__main__":
    main(Path(sys.argv[1]), Path(sys.argv[2]))
