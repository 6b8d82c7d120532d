"""`lpsm audit`: what a device really did to save power, from a monitor-mode capture, and what others would do."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import replace
from functools import partial
from pathlib import Path
from statistics import median
from typing import TYPE_CHECKING

import click

from experiments.cli import options
from experiments.cli.studies import checked_outputs, written_picture
from experiments.presets import IOT, LEARNED
from experiments.quantities import Row

if TYPE_CHECKING:
    import netsim
    from experiments.audit import Audit
    from netsim.policies import AnyPolicy

_OF_NETWORK = ("dtim_period", "beacons", "multicast_frames", "multicast_after_dtim")
_OF_CLIENT = ("frames", "roamed", "sleeps", "listen_interval", "frames_up", "frames_down", "bytes_up", "bytes_down",
              "retries")  # fmt: skip


@options.command(
    click.argument("capture", type=options.INPUT),
    options.option("--radio", "Power figures: a profile or a .toml file.", default=IOT["radio"]),
    options.policies(
        f"none,psm,bsd:1,{LEARNED}",
        "Policies to compare on the same traffic with the one nearest to what the client did.",
    ),
    options.option("--picture", "Timeline of sleep, beacons and frames: .svg or .png.", options.OUTPUT, metavar="FILE"),
    options.flag("--skip-damaged", "Read up to where the capture is damaged, and count it."),
    options.JSON,
)
def audit(asked: options.Asked) -> None:
    """Say what the clients of a monitor-mode CAPTURE really did to save power.

    The frames may be encrypted: power saving shows in their headers. The capture has link
    type 127 (radiotap), 105, 119 or 192. Without a policy in it that sleeps, this is said.
    """
    import netsim
    from experiments.report.audit import audit_text

    checked_outputs([asked.capture], [], asked.picture)
    servers = netsim.ServerDelay(kind="recorded")
    config = netsim.SimulationConfig(radio=netsim.Radio.named(asked.radio), server_delay=servers)
    found, damaged = _read(asked.capture, skip_damaged=asked.skip_damaged)
    chosen = sorted(found.clients)
    result = {
        "seconds": (found.end_us - found.start_us) / 1e6,
        "frames": found.frames,
        "frames_with_a_wrong_check_sequence": found.broken,
        "frames_not_read": found.unread,
        "damaged": damaged,
        "radio": asked.radio,
        "networks": [
            {
                "bssid": bssid.hex(":"),
                "ssid": network.ssid,
                "beacon_ms": network.beacon_interval_us / 1000,
                "beacon_measured_ms": network.measured_us / 1000,
                "beacons_missed_by_the_sniffer": network.missed_beacons,
                **{name: getattr(network, name) for name in _OF_NETWORK},
            }
            for bssid, network in found.networks.items()
        ],
        "clients": [_client(address, found, asked.policies, config) for address in chosen],
    }
    if asked.picture is not None:
        from experiments.figures.timeline import audited

        written_picture(asked.picture, partial(audited, found, chosen))
    options.answer(asked, result, audit_text(result))


def _read(capture: Path, *, skip_damaged: bool) -> tuple[Audit, int]:
    """Return what a capture shows, and how often it was damaged."""
    from experiments.audit import audit as followed
    from traces import Report, TraceError, detect
    from traces.captures.frames import WIRELESS
    from traces.captures.packets import frames
    from traces.files import opened

    kind = detect(capture)
    if kind != "pcap":
        raise TraceError(capture, "", "a monitor-mode capture (pcap or pcapng) is needed here", f"a trace, {kind}")
    report = Report()
    with opened(capture, report, skip_damaged) as source:
        found = followed(frames(source.stream, capture, report, skip_damaged=skip_damaged, links=WIRELESS))
    if not found.networks:
        rule = "a monitor-mode capture must hold beacons of 802.11"
        raise TraceError(capture, "", rule, f"none in {report['packets']} frames")
    return found, report["damaged"]


def _client(address: bytes, found: Audit, policies: Sequence[AnyPolicy], config: netsim.SimulationConfig) -> Row:
    """Return the figures of a client; its traffic runs under its nearest policy and others, on the air of a sensor."""
    from experiments.audit import Network
    from experiments.world import made

    client = found.clients[address]
    known_us = client.asleep_us + client.awake_us
    nearest, difference, network = client.nearest_policy(), "", found.networks.get(client.bssid)
    if network:
        beacons = {"dtim_period": network.dtim_period or 1, "beacon_ms": network.beacon_interval_us / 1000}
        config = replace(made("iot", {"server_delay": "recorded"}, beacons).config, radio=config.radio)
    power = client.power_mw(network or Network(), config.radio)
    mean_mw, low_mw, high_mw = power or (None, None, None)
    compared, heard = list[Row](), client.frames_up + client.frames_down
    if client.missed_frames > heard:
        difference = f"nothing is compared: the sniffer heard {heard:,} of its data frames, and missed more"
    else:
        compared = [*_compared(address, found, nearest, policies, config)]
        row = next((row for row in compared if row.get("nearest")), None)
        if row is not None and power and "mean_mw" in row and not power[1] <= row["mean_mw"] <= power[2]:
            difference = (
                f"the nearest policy would need {row['mean_mw']:.1f} mW: it is awake {100 * row['awake_share']:.1f} % "
                f"of the time, and the client said so for {100 * client.awake_us / known_us:.1f} %; frames that were "
                "missed are not simulated"
            )
    return {
        "client": address.hex(":"),
        "bssid": client.bssid.hex(":"),
        "known_s": known_us / 1e6,
        "asleep_share": client.asleep_us / known_us if known_us else None,
        **{name: getattr(client, name) for name in _OF_CLIENT},
        "woke_by": dict(client.woke_by),
        "listen_interval_announced": client.announced,
        "hold_ms": None if client.hold_us is None else client.hold_us / 1000,
        "delay_ms": median(client.delays_us) / 1000 if client.delays_us else None,
        "airtime_up_ms": client.airtime_up_us / 1000,
        "airtime_down_ms": client.airtime_down_us / 1000,
        "frames_missed_by_the_sniffer": client.missed_frames,
        "mean_mw": mean_mw,
        "mean_mw_low": low_mw,
        "mean_mw_high": high_mw,
        "service_period_ms": client.service_us and [us / 1000 for us in client.service_us],
        "nearest_policy": nearest,
        "difference": difference,
        "compared": compared,
    }


def _compared(
    address: bytes, found: Audit, nearest: str, policies: Sequence[AnyPolicy], config: netsim.SimulationConfig
) -> Iterator[Row]:
    """Run the client's traffic at its own times under the nearest policy and the others."""
    import netsim
    from traces import Report, workload_of

    report = Report(spans_us={address.hex(":"): (found.start_us, found.end_us)})
    workload = workload_of(sorted(found.clients[address].requests, key=lambda one: one.start_us), report=report)
    if not workload and not workload.messages:
        return
    base = netsim.simulate(workload, "none", config=config)
    for policy in dict.fromkeys((*policies, nearest)):
        try:
            result = netsim.simulate(workload, policy, config=config)
        except ValueError as error:
            if policy in policies:
                raise
            yield {"policy": nearest, "not_simulated": str(error)}
            continue
        slowdown = result.slowdown(base)
        yield {
            "policy": result.policy,
            "nearest": policy == nearest,
            "captured_s": result.captured_s,
            "simulated_s": result.elapsed_s,
            "awake_share": result.awake_s / result.elapsed_s,
            "mean_mw": 1000 * result.energy.total_j / result.elapsed_s,
            "slowdown": slowdown if slowdown == slowdown else None,
        }
