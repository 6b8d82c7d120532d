"""What a device really did to save power, for a reader in a terminal."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from experiments.report.text import table

__all__ = ["audit_text"]

FEW_FRAMES = 10

_WAYS = {
    "ps_polls": "PS-Poll",
    "null_frames": "null frame with PM=0",
    "data_frames": "data frame with PM=0",
    "triggers": "trigger frame",
    "twt_actions": "TWT action frame",
}


def audit_text(result: Mapping[str, Any]) -> str:
    """Return the networks and clients as text, with a table of what policies would have done for each client."""
    parts = [
        f"{result['frames']:,} frames of 802.11 in {result['seconds']:.1f} s; not believed: "
        f"{result['frames_with_a_wrong_check_sequence']:,} with a wrong check sequence; not read: "
        f"{result['frames_not_read']:,} cut or of other kinds"
    ]
    parts += [_network(network) for network in result["networks"]]
    if not result["clients"]:
        parts.append("No client was heard.")
    few = [one for one in result["clients"] if one["frames"] < FEW_FRAMES and len(result["clients"]) > 1]
    for client in result["clients"]:
        if client in few:
            continue
        parts.append("\n".join(_lines(client, result["radio"])))
        rows = [row for row in client["compared"] if "mean_mw" in row]
        if rows:
            cells = [
                [
                    row["policy"] + (" (nearest)" if row["nearest"] else ""),
                    f"{row['mean_mw']:.1f}",
                    "" if row["slowdown"] is None else f"{row['slowdown']:.2f}",
                ]
                for row in rows
            ]
            seconds = f"captured {rows[0]['captured_s']:.1f} s, simulated {rows[0]['simulated_s']:.1f} s"
            parts.append(f"{table(['with the same traffic', 'mW', 'slowdown'], cells)}\n({seconds})")
    if few:
        names = ", ".join(f"{one['client']} ({one['frames']})" for one in few)
        parts.append(f"clients of fewer than {FEW_FRAMES} frames: {names}")
    return "\n\n".join(parts)


def _network(network: Mapping[str, Any]) -> str:
    return (
        f"network {network['ssid'] or '(hidden)'} ({network['bssid']}): a beacon every {network['beacon_ms']:g} ms "
        f"(measured: {network['beacon_measured_ms']:.2f} ms), "
        f"{network['dtim_period']} to a DTIM; {network['beacons']:,} beacons heard, "
        f"{network['beacons_missed_by_the_sniffer']:,} missed; {network['multicast_after_dtim']:,} of "
        f"{network['multicast_frames']:,} multicast frames after a DTIM beacon"
    )


def _lines(client: Mapping[str, Any], radio: str) -> list[str]:
    roamed = f", which roamed {client['roamed']:,} times" if client["roamed"] else ""
    lines = [f"client {client['client']}{roamed}"]
    if client["asleep_share"] is None:
        lines.append("  never said whether it sleeps: no frame of its own was heard")
    elif not client["sleeps"]:
        lines.append(f"  no power saving: it never said that it sleeps, in {client['known_s']:.1f} s")
    else:
        ways = ", ".join(f"{n:,} by {_WAYS[name]}" for name, n in client["woke_by"].items() if n) or "never woke up"
        lines += [
            f"  asleep {100 * client['asleep_share']:.1f} % of {client['known_s']:.1f} s; went to sleep "
            f"{client['sleeps']:,} times, woke up or fetched frames: {ways}",
            f"  hold time {_known(client['hold_ms'])}; listen interval {client['listen_interval'] or 'not seen'}"
            f" (announced {client['listen_interval_announced'] or 'not heard'}); "
            f"delay of what was announced {_known(client['delay_ms'])}",
        ]
    lines += [
        f"  data frames {client['frames_up']:,} up ({client['airtime_up_ms']:.1f} ms on the air), "
        f"{client['frames_down']:,} down ({client['airtime_down_ms']:.1f} ms); {client['retries']:,} retries; "
        f"{client['frames_missed_by_the_sniffer']:,} frames missed by the sniffer",
    ]
    if client["mean_mw"] is not None:
        lines.append(f"  about {client['mean_mw']:.0f} mW with {radio}; nearest policy: {client['nearest_policy']}")
    if client["difference"]:
        lines.append(f"  {client['difference']}")
    return lines


def _known(milliseconds: float | None) -> str:
    return "not seen" if milliseconds is None else f"{milliseconds:.1f} ms"
