"""One process of a job: runs the function `module:name` of a test module that its command line names."""

from __future__ import annotations

import sys
from importlib import import_module

if __name__ == "__main__":
    module, _, name = sys.argv[1].partition(":")
    getattr(import_module(module), name)()
