"""Where real traces and data sets are, if they are there; tests that need them are skipped where they are not."""

import os
from pathlib import Path

DATA = Path(os.environ.get("LPSM_DATA", Path(__file__).resolve().parents[2] / "shared" / "data"))
