"""``python -m aivops``."""

import sys

from .cli import main

sys.exit(main())
