"""`lpsm export`: a policy as C that a device can run."""

import os
import sys
from pathlib import Path

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of


def _sizes(context: click.Context, parameter: click.Parameter, text: str | None) -> str | None:
    """Set sizes for the rules that have them, unless those are imported already."""
    if text and "netsim" not in sys.modules:
        os.environ["LPSM_SIZES"] = text
    return text


@options.command(
    click.argument("policy", type=options.Policies(several=False)),
    options.option("--out", "Folder for the files.", options.FILE, Path("firmware")),
    options.choice("--real", ["float", "double"], "Type of real numbers; double decides as Python does, to the bit."),
    options.option(
        "--sizes", "How fine lpsm3 and lpsm4 are, such as bins=64,servers=1,room=16 [as in other commands].",
        metavar="NAME=N,...", callback=_sizes, is_eager=True,
    ),
    options.JSON,
    *WORLD,
)  # fmt: skip
def export(asked: options.Asked) -> None:
    """Write POLICY as C99 without allocation, for the beacons and the radio of a world.

    OUT receives lpsm_policy.h and lpsm_policy.c, which firmware takes; lpsm_vectors.h, calls in a simulation with the
    plans that they gave; and lpsm_check.c, which makes them again and says how many plans are equal. Compiled as a
    shared library the policy can be simulated: --policy ./lpsm_policy.so.
    """
    from experiments.study.files import refuse_foreign, write_file
    from netsim.firmware.export import MARK, exported
    from netsim.policies import make

    if asked.sizes and os.environ.get("LPSM_SIZES") != asked.sizes:
        raise ValueError("--sizes must be set before policies are imported; set LPSM_SIZES in the environment here")
    config = world_of(asked).config
    policy = make(asked.policy, beacon_interval_ns=config.beacon_interval_ns, radio=config.radio)
    files = exported(policy, config, asked.real)
    for name in files:
        refuse_foreign(asked.out / name, MARK, "lpsm export")
    for name, text in files.items():
        write_file(asked.out / name, text)
    lines = {name: text.count("\n") for name, text in files.items()}
    options.answer(
        asked, {"policy": policy.spec, "real": asked.real, "out": str(asked.out), "lines": lines},
        f"{policy.spec} in {asked.out}: " + ", ".join(f"{name} ({n} lines)" for name, n in lines.items()),
    )  # fmt: skip
