"""What the clients of a monitor-mode capture did, as figures, and what other policies would do with their traffic."""

from __future__ import annotations

from collections.abc import Sequence
from statistics import median
from typing import Any

import netsim
from netsim.policies import AnyPolicy
from traces import workload_of
from traces.captures.audit import Audit, Client, Network

__all__ = ["audited"]


def audited(
    found: Audit, clients: Sequence[bytes], policies: Sequence[AnyPolicy], config: netsim.SimulationConfig, radio: str
) -> dict[str, Any]:
    """Return the figures of networks and clients as plain data.

    Parameters
    ----------
    found : Audit
    clients : sequence of bytes
        Addresses of those that are wanted.
    policies : sequence of str, Policy or OwnPolicy
        What is compared on the traffic of each, beside the nearest policy.
    config : SimulationConfig
        The world of these runs; its radio estimates the mean power.
    radio : str
        The name of the radio.
    """
    return {
        "seconds": (found.end_us - found.start_us) / 1e6,
        "frames": found.frames,
        "frames_not_read": found.unread,
        "radio": radio,
        "networks": [_network(bssid, network) for bssid, network in found.networks.items()],
        "clients": [
            _client(address, client, policies, config) for address in clients for client in [found.clients[address]]
        ],
    }


def _network(bssid: bytes, network: Network) -> dict[str, Any]:
    counts = ("dtim_period", "beacons", "multicast_frames", "multicast_after_dtim")
    return {
        "bssid": bssid.hex(":"),
        "ssid": network.ssid,
        "beacon_ms": network.beacon_interval_us / 1000,
        "beacons_missed_by_the_sniffer": network.missed_beacons,
        **{name: getattr(network, name) for name in counts},
    }


def _client(
    address: bytes, client: Client, policies: Sequence[AnyPolicy], config: netsim.SimulationConfig
) -> dict[str, Any]:
    known_us = client.asleep_us + client.awake_us
    asleep = client.asleep_us / known_us if known_us else None
    nearest = client.nearest_policy()
    radio = config.radio
    wakeups = sum(client.woke_by.values())
    mean_mw = None
    if known_us:
        joules = float(radio.total_j(client.awake_us * 1000, client.asleep_us * 1000, 0, wakeups))
        mean_mw = 1e9 * joules / known_us
    counts = ("sleeps", "listen_interval", "frames_up", "frames_down", "bytes_up", "bytes_down", "retries")
    return {
        "client": address.hex(":"),
        "bssid": client.bssid.hex(":"),
        "known_s": known_us / 1e6,
        "asleep_share": asleep,
        **{name: getattr(client, name) for name in counts},
        "woke_by": dict(client.woke_by),
        "listen_interval_announced": client.announced,
        "hold_ms": None if client.hold_us is None else client.hold_us / 1000,
        "delay_ms": median(client.delays_us) / 1000 if client.delays_us else None,
        "airtime_up_ms": client.airtime_up_us / 1000,
        "airtime_down_ms": client.airtime_down_us / 1000,
        "frames_missed_by_the_sniffer": client.missed_frames,
        "mean_mw": mean_mw,
        "nearest_policy": nearest,
        "compared": _compared(client, nearest, policies, config),
    }


def _compared(
    client: Client, nearest: str, policies: Sequence[AnyPolicy], config: netsim.SimulationConfig
) -> list[dict[str, Any]]:
    """Run the client's traffic under the nearest policy and the others."""
    workload = workload_of(sorted(client.requests, key=lambda request: request.start_us))
    if not workload and not workload.messages:
        return []
    rows: list[dict[str, Any]] = []
    base = netsim.simulate(workload, "none", config=config)
    for policy in dict.fromkeys((*policies, nearest)):
        try:
            result = netsim.simulate(workload, policy, config=config)
        except ValueError as error:
            if policy in policies:
                raise
            rows.append({"policy": nearest, "not_simulated": str(error)})
            continue
        slowdown = result.slowdown(base)
        rows.append(
            {
                "policy": result.policy,
                "nearest": policy == nearest,
                "mean_mw": 1000 * result.energy.total_j / result.elapsed_s,
                "slowdown": slowdown if slowdown == slowdown else None,
            }
        )
    return rows
