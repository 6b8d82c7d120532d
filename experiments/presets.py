"""The worlds that studies take where nothing else is said, that of today and the thesis', and their largest cell.

Keys are the options of the model (`lpsm simulate --help`); what a preset does not name is the model's own default.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

__all__ = ["LEARNED", "MOST_CLIENTS", "THESIS", "TODAY"]

# A radio fitted to its maker's figures, and servers that take time, where no recording tells how long theirs took.
TODAY: Mapping[str, Any] = {"radio": "esp32-c6", "server_delay": "lognormal:0.2"}

# Monteleoni 2006, section 2.5: ns-2's Web generator and its FullTcp.  The length of the delay is our assumption.
THESIS: Mapping[str, Any] = {"connections": "per-object", "mss": 536, "nagle": True, "server_delay": 0.5}

MOST_CLIENTS = 1000  # of one cell

LEARNED = "lpsm3:1.05"  # of the learned policies, the one that spends least at a slowdown that few notice
