"""Run every bench, one after another; each prints a table of its own."""

import runpy

MODULES = (
    "compare",
    "explore",
    "simulator",
    "air",
    "traces",
    "captures",
    "population",
    "experts",
    "expert_comparison",
    "combining",
    "samplers",
    "label",
    "tuned",
)

for name in MODULES:
    print(f"\n## {name}\n", flush=True)
    runpy.run_module(f"tests.bench.{name}", run_name="__main__")
