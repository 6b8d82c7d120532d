"""`lpsm radio fit`: a radio of five states from a measured current."""

from pathlib import Path

import click

from experiments.cli import options
from experiments.cli.model import RADIO, WORLD, world_of


@options.command(
    click.argument("what", type=click.Choice(["fit"])),
    click.argument("trace", type=options.FILE),
    options.number("--voltage voltage_v", "Supply, volts [the trace's column, or 3.3].", most=100.0, above=True),
    options.option("--capture", "Traffic of the same time: what a run of it with the radio needs, in mW.",
        options.FILE),
    options.policy("--policy", "With --capture: how the device saves power [psm]."),
    options.option("--out", "File of the radio, for --radio FILE.", options.OUTPUT, Path("radio.toml")),
    options.JSON,
    *(one for one in WORLD if one is not RADIO),
)  # fmt: skip
def radio(asked: options.Asked) -> None:
    """Fit a radio of five states to TRACE, and write it as a file that --radio takes.

    TRACE is a table of time and current: an export of a Power Profiler Kit, a Joulescope or an Otii. It must show a
    client that dozes and wakes up, better with traffic, at 1000 samples a second or more.

    \b
    lpsm radio fit ppk.csv --voltage 3.3 --out mine.toml
    lpsm radio fit ppk.csv --capture device.pcap --policy dynamic:100
    """  # noqa: D301 - the escape is a character that click reads
    from dataclasses import asdict

    from experiments import radio_fit
    from experiments.report.text import plain
    from experiments.study.files import refuse_overwriting, write_file

    if asked.policy is not None and asked.capture is None:
        raise ValueError("policy is for a run of a capture, and no --capture is given")
    refuse_overwriting([asked.trace, *([asked.capture] if asked.capture else [])], [asked.out])
    trace = radio_fit.read(asked.trace, asked.voltage_v)
    fitted, predicted = radio_fit.fit(trace), None
    if asked.capture is not None:
        asked.radio = None
        predicted = radio_fit.predict(fitted.radio, asked.capture, asked.policy or "psm", world_of(asked))
    write_file(asked.out, radio_fit.toml(fitted, trace).encode())
    found = {name: getattr(fitted, name) for name in ("mean_mw", "fitted_mw", "residual_ma", "told_percent",
        "drift_ma_per_h", "passages", "between_ms", "merged")}  # fmt: skip
    found |= {"radio": asdict(fitted.radio), "states": plain(fitted.table), "predicted": predicted}
    options.answer(asked, found, f"{radio_fit.words(fitted, trace, predicted)}\n\nThe radio is in {asked.out}.")
