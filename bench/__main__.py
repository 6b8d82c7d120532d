"""Run every bench, or those named, one after another; each prints a table of its own, and at the end how long it took.

    python -m bench [NAME ...]

What needs data that are not at hand (LPSM_DATA), or a package that is not installed, is named and left out.
"""

import runpy
import sys
import time

from experiments.datasets.named import VARIABLE

BENCHES = {
    "compare": (),
    "explore": (),
    "simulator": (),
    "events": (),
    "air": (),
    "emulate": (),
    "traces": (),
    "captures": (),
    "population": (),
    "plans": (),
    "beside_polls": (),
    "experts": (),
    "expert_comparison": (),
    "combining": (),
    "samplers": (),
    "label": (),
    "tuned": (),
    "defaults": ("1000",),  # rows of a stream; by itself it takes ten times as many
}


def main(names: list[str]) -> None:
    """Run the benches of these names; all for none."""
    if unknown := sorted(set(names) - set(BENCHES)):
        sys.exit(f"NAME must be one of {', '.join(BENCHES)}; got {unknown[0]}")
    for name in names or BENCHES:
        print(f"\n## {name}\n", flush=True)
        sys.argv[1:] = BENCHES[name]
        start = time.perf_counter()
        try:
            runpy.run_module(f"bench.{name}", run_name="__main__")
        except (FileNotFoundError, ValueError) as error:
            if isinstance(error, ValueError) and VARIABLE not in str(error):
                raise
            print(f"left out, for want of its data: {error}", flush=True)
        print(f"\n{name}: {time.perf_counter() - start:.0f} s", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
