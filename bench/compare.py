"""What a person waits for: `lpsm --help`, and the default `lpsm compare` with cold and with warm compilation.

Run ``python -m bench.compare``.  Beside it the bare start of Python with numpy and pandas, in the same run.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

PROGRAM = [sys.executable, "-c", "from experiments.cli import main; main()"]


def seconds(command, **environment):
    """Wall clock of one command."""
    start = time.perf_counter()
    subprocess.run(command, check=True, capture_output=True, env={**os.environ, **environment})
    return time.perf_counter() - start


def rows():
    """All figures as data; targets are the project's own."""
    with tempfile.TemporaryDirectory() as folder:
        cache = str(Path(folder, "cache"))
        compare = [*PROGRAM, "compare", "--out", str(Path(folder, "out"))]
        return [
            {"what": "python", "s": min(seconds([sys.executable, "-c", ""]) for _ in range(5)), "target_s": None},
            {
                "what": "import numpy, pandas",
                "s": min(seconds([sys.executable, "-c", "import numpy, pandas"]) for _ in range(3)),
                "target_s": None,
            },
            {"what": "lpsm --help", "s": min(seconds([*PROGRAM, "--help"]) for _ in range(5)), "target_s": 0.3},
            {"what": "lpsm compare, first run", "s": seconds(compare, NUMBA_CACHE_DIR=cache), "target_s": 60.0},
            {"what": "lpsm compare, second run", "s": seconds(compare, NUMBA_CACHE_DIR=cache), "target_s": 20.0},
        ]


def main():
    """Print the table in Markdown."""
    print("| | seconds | target |\n|---|---|---|")
    for row in rows():
        target = "" if row["target_s"] is None else f"{row['target_s']:g}"
        print(f"| {row['what']} | {row['s']:.2f} | {target} |")


if __name__ == "__main__":
    main()
