"""How long launches under the checks may stand still: less than the 18 minutes that hardware allows.

One schedule of many that hangs is to cost seconds. Who knows better sets the variable.
"""

from __future__ import annotations

VARIABLE = "AIVOPS_EMU_TIMEOUT_INTERVAL_US"
INTERVAL_US = "100000"
"""254 of them, 25.4 s, are the limit of a launch that has none of its own, and the most that one may have."""
