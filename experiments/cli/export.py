"""`lpsm export`: a policy as C that a device can run."""

from pathlib import Path

import click

from experiments.cli import options
from experiments.cli.model import WORLD, world_of


@options.command(
    click.argument("policy", type=options.Policies(several=False)),
    options.option("--out", "Folder for the files.", options.FILE, Path("firmware")),
    options.choice("--real", ["float", "double"], "Type of real numbers; double decides as Python does, to the bit."),
    options.JSON,
    *WORLD,
)  # fmt: skip
def export(asked: options.Asked) -> None:
    """Write POLICY as C99 without allocation, for the beacons and the radio of a world.

    OUT receives lpsm_policy.h and lpsm_policy.c, which firmware takes; lpsm_vectors.h, calls in a simulation with the
    plans that they gave; and lpsm_check.c, which makes them again and says how many plans are equal. In zephyr and
    esp-idf are skeletons of a module and a component, which are left as they are where they are there. Compiled as a
    shared library the policy can be simulated: --policy ./lpsm_policy.so.
    """
    from experiments.study.files import refuse_foreign, write_file
    from netsim.firmware.export import MARK, SKELETONS, exported
    from netsim.policies import make

    config = world_of(asked).config
    policy = make(asked.policy, **config.setting)
    files = exported(policy, config, asked.real)
    files = {name: text for name, text in files.items() if name not in SKELETONS or not (asked.out / name).exists()}
    for name in files.keys() - {*SKELETONS}:
        refuse_foreign(asked.out / name, MARK, "lpsm export")
    for name, text in files.items():
        write_file(asked.out / name, text)
    lines = {name: text.count("\n") for name, text in files.items()}
    options.answer(
        asked, {"policy": policy.spec, "real": asked.real, "out": str(asked.out), "lines": lines},
        f"{policy.spec} in {asked.out}: " + ", ".join(f"{name} ({n} lines)" for name, n in lines.items()),
    )  # fmt: skip
