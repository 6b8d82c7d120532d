"""`lpsm audit`: what a device really did to save power, from a monitor-mode capture, and what others would do."""

from __future__ import annotations

import json
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from experiments.cli.options import json_option, picture_suffix, policies_option
from experiments.cli.outcome import written_picture
from experiments.cli.streams import INPUT, OUTPUT
from experiments.inert import echo
from experiments.presets import LEARNED, TODAY

if TYPE_CHECKING:
    from netsim.policies import AnyPolicy
    from traces.captures.audit import Audit

__all__ = ["audit"]


@click.command()
@click.argument("capture", type=INPUT)
@click.option("--client", metavar="MAC", help="Only this client, by its address.")
@click.option("--radio", default=TODAY["radio"], show_default=True, help="Power figures: a profile or a .toml file.")
@policies_option(
    f"none,psm,bsd:1,{LEARNED}", "Policies to compare on the same traffic with the one nearest to what the client did."
)
@click.option("--picture", type=OUTPUT, metavar="FILE", help="Timeline of sleep, beacons and frames: .svg or .png.")
@click.option("--skip-damaged", is_flag=True, help="Read up to where the capture is damaged, and count it.")
@json_option()
def audit(
    capture: Path,
    client: str | None,
    radio: str,
    policies: list[AnyPolicy],
    picture: Path | None,
    skip_damaged: bool,
    as_json: bool,
) -> None:
    """Say what the clients of a monitor-mode CAPTURE really did to save power.

    The frames may be encrypted: power saving shows in their headers. The capture has link
    type 127 (radiotap), 105, 119 or 192. Without a policy in it that sleeps, this is said.
    """
    import netsim
    from experiments.audited import audited
    from experiments.report.audit import audit_text
    from experiments.study.files import refuse_overwriting

    picture_suffix(picture)
    refuse_overwriting([capture], [picture])
    config = netsim.SimulationConfig(radio=netsim.Radio.named(radio))
    found = _read(capture, skip_damaged=skip_damaged)
    address = _address(client, found)
    chosen = [address] if address is not None else sorted(found.clients)
    result: dict[str, Any] = audited(found, chosen, policies, config, radio)
    if picture is not None:
        from experiments.figures.audit import timeline

        written_picture(picture, timeline(found, chosen))
    echo(json.dumps(result) if as_json else audit_text(result))


def _read(capture: Path, *, skip_damaged: bool) -> Audit:
    from traces import Report, TraceError, detect
    from traces.captures.audit import audit as followed
    from traces.captures.frames import WIRELESS
    from traces.captures.packets import frames
    from traces.files import open_trace

    kind = detect(capture)
    if kind != "pcap":
        raise TraceError(capture, "", "a monitor-mode capture (pcap or pcapng) is needed here", f"a trace, {kind}")
    report = Report()
    with open_trace(capture, on_damage=report.on_damage if skip_damaged else None) as stream:
        found = followed(frames(stream, capture, report, skip_damaged=skip_damaged, links=WIRELESS))
    if not found.networks:
        rule = "a monitor-mode capture must hold beacons of 802.11"
        raise TraceError(capture, "", rule, f"none in {report['packets']} frames")
    return found


def _address(client: str | None, found: Audit) -> bytes | None:
    if client is None:
        return None
    try:
        address = bytes.fromhex(client.replace(":", "").replace("-", ""))
    except ValueError:
        address = b""
    if address not in found.clients:
        heard = ", ".join(known.hex(":") for known in sorted(found.clients)) or "none"
        raise ValueError(f"client must be one of those heard ({heard}), got {client}")
    return address
