"""What a device really did to save power, for a reader in a terminal."""

from collections.abc import Iterator

from experiments.quantities import Row
from experiments.report.text import table

FEW_FRAMES = 10

_WAYS = {
    "ps_polls": "PS-Poll",
    "null_frames": "null frame with PM=0",
    "data_frames": "data frame with PM=0",
    "triggers": "trigger frame",
    "twt_actions": "TWT action frame",
}
_HEAD = (
    "{frames:,} frames of 802.11 in {seconds:.1f} s; not believed: {frames_with_a_wrong_check_sequence:,} with a wrong "
    "check sequence; not read: {frames_not_read:,} cut or of other kinds{end}"
)
_NETWORK = (
    "network {name} ({bssid}): a beacon every {beacon_ms:g} ms (measured: {beacon_measured_ms:.2f} ms), {dtim_period} "
    "to a DTIM; {beacons:,} beacons heard, {beacons_missed_by_the_sniffer:,} missed; {multicast_after_dtim:,} of "
    "{multicast_frames:,} multicast frames after a DTIM beacon"
)
_SLEPT = (
    "  asleep {asleep:.1f} % of {known_s:.1f} s; went to sleep {sleeps:,} times, woke up or fetched frames: {ways}\n"
    "  hold time {hold}; listen interval {heard} (announced {announced}); delay of what was announced {delay}"
)
_TRAFFIC = (
    "  data frames {frames_up:,} up ({airtime_up_ms:.1f} ms on the air), {frames_down:,} down ({airtime_down_ms:.1f} "
    "ms); {retries:,} retries; {frames_missed_by_the_sniffer:,} frames missed by the sniffer"
)


def audit_text(result: Row) -> str:
    """Return the networks and clients as text, with a table of what policies would have done for each client."""
    end = f"; damaged, and read up to there: {result['damaged']:,}" if result["damaged"] else ""
    parts = [_HEAD.format(**result, end=end)]
    parts += [_NETWORK.format(**one, name=one["ssid"] or "(hidden)") for one in result["networks"]]
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
                [row["policy"] + " (nearest)" * row["nearest"], f"{row['mean_mw']:.1f}", _known(row["slowdown"], ".2f")]
                for row in rows
            ]
            seconds = "(captured {captured_s:.1f} s, simulated {simulated_s:.1f} s)".format(**rows[0])
            parts.append(f"{table(['with the same traffic', 'mW', 'slowdown'], cells)}\n{seconds}")
    if few:
        names = ", ".join(f"{one['client']} ({one['frames']})" for one in few)
        parts.append(f"clients of fewer than {FEW_FRAMES} frames: {names}")
    return "\n\n".join(parts)


def _lines(client: Row, radio: str) -> Iterator[str]:
    roamed = f", which roamed {client['roamed']:,} times" if client["roamed"] else ""
    yield f"client {client['client']}{roamed}"
    if client["asleep_share"] is None:
        yield "  never said whether it sleeps: no frame of its own was heard"
    elif not client["sleeps"]:
        yield f"  no power saving: it never said that it sleeps, in {client['known_s']:.1f} s"
    else:
        yield _SLEPT.format(
            **client, asleep=100 * client["asleep_share"],
            ways=", ".join(f"{n:,} by {_WAYS[name]}" for name, n in client["woke_by"].items() if n) or "never woke up",
            hold=_known(client["hold_ms"], ".1f", " ms", "not seen"), heard=client["listen_interval"] or "not seen",
            announced=client["listen_interval_announced"] or "not heard",
            delay=_known(client["delay_ms"], ".1f", " ms", "not seen"),
        )  # fmt: skip
    yield _TRAFFIC.format(**client)
    if client["mean_mw"] is not None:
        yield (
            "  about {mean_mw:.3g} mW ({mean_mw_low:.3g} to {mean_mw_high:.3g}: beacons it only heard do not "
            f"show) with {radio}; nearest policy: {client['nearest_policy']}"
        ).format(**client)
    if service := client["service_period_ms"]:
        yield "  service periods of {1:g} ms every {0:g} ms".format(*service)
    if client["difference"]:
        yield f"  {client['difference']}"


def _known(value: float | None, style: str, unit: str = "", unknown: str = "") -> str:
    return unknown if value is None else f"{value:{style}}{unit}"
