"""A process that is one rank of a test's job, or all of them as threads: started by ranks.run_ranks.

usage: rank_process.py MODULE:FUNCTION SIZE ROOT_FILE RANK|threads
The ranks find each other through the root info in ROOT_FILE, which rank 0 writes.
"""

from __future__ import annotations

import importlib
import sys
import threading
import time
import traceback
from pathlib import Path

from emulator.hccl.toolkit import Rank, call, get_root_info


def _await_root(path: Path) -> bytes:
    while not path.exists():
        time.sleep(0.005)
    return path.read_bytes()


def _run_rank(function_name: str, rank: int, size: int, root: bytes) -> None:
    module, function = function_name.split(":")
    opened = Rank(rank, size, root)
    getattr(importlib.import_module(module), function)(opened)
    opened.close()


def _run_threads(function_name: str, size: int) -> int:
    call("aclrtSetDevice", 0)
    root = get_root_info()
    failures: list[str] = []

    def run(rank: int) -> None:
        try:
            _run_rank(function_name, rank, size, root)
        except Exception:
            failures.append(f"rank {rank}: {traceback.format_exc()}")

    threads = [threading.Thread(target=run, args=(rank,)) for rank in range(size)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    print("\n".join(failures), file=sys.stderr)
    return 1 if failures else 0


def main() -> int:
    function_name, size, root_file, rank = sys.argv[1], int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]
    if rank == "threads":
        return _run_threads(function_name, size)
    if rank == "0":
        call("aclrtSetDevice", 0)
        written = root_file.with_suffix(".new")
        written.write_bytes(get_root_info())
        written.rename(root_file)
    _run_rank(function_name, int(rank), size, _await_root(root_file))
    return 0


if __name__ == "__main__":
    sys.exit(main())
