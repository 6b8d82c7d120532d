"""The packets of one client of a capture, counted with dpkt: an account of traffic that knows no exchanges.

A packet of the client has its address as that of its source or target, or ARP tells or asks for it.
"""

from collections import defaultdict
from heapq import heappop, heappush
from ipaddress import ip_address
from math import ceil
from typing import NamedTuple

import dpkt

JUMP_S = -1.0, 3600.0
PAUSE_S = 1.0  # what follows later answers nothing
ANSWERED = 53, 443  # ports of UDP whose packets answer one another, as those of TCP do: names and QUIC


class Packet(NamedTuple):
    """A packet of the client: when, whether the client sent it, and the flow whose packets answer one another."""

    at_s: float
    up: bool
    flow: tuple


class Account(NamedTuple):
    """One client between two jumps of the clock."""

    lasts_s: float  #: from the first packet of the recording to the last, whosever they are
    packets: list[Packet]  #: the client's, from the first packet of the recording

    def awake_s(self, hold_s):
        """Return how long a client is awake that stays so for a while after each of its packets."""
        return _awake_s(sorted(packet.at_s for packet in self.packets), hold_s, self.lasts_s)

    def awake_asleep_between_s(self, hold_s, beacon_s):
        """Return the same of a client that sleeps when the while is over.

        What comes down then waits for the next beacon or for what the client sends, whichever is first, and what
        follows in its flow comes later: a packet by as much as the last one of the other direction came.
        """
        flows = defaultdict(list)
        for packet in sorted(self.packets):
            flows[packet.flow].append(packet)
        coming = []
        late_s = {flow: [0.0, 0.0] for flow in flows}  # of its last packet down and up
        left = {flow: iter(packets) for flow, packets in flows.items()}

        def follow(flow, last_s, now_s):
            if (packet := next(left[flow], None)) is None:
                return
            if packet.at_s - last_s > PAUSE_S:
                late_s[flow] = [0.0, 0.0]
            heappush(coming, (max(now_s, packet.at_s + late_s[flow][not packet.up]), packet))

        for flow in flows:
            follow(flow, 0.0, 0.0)
        passed_s, waiting, until_s = [], [], -1.0
        while coming or waiting:
            beacon = ceil(waiting[0][0] / beacon_s) * beacon_s if waiting else float("inf")
            if coming and coming[0][0] < beacon:
                now_s, packet = heappop(coming)
                if not packet.up and now_s > until_s:
                    waiting.append((now_s, packet))
                    continue
                fetched = [packet, *(one for _, one in waiting)]
            else:
                now_s, fetched = beacon, [one for _, one in waiting]
            waiting.clear()
            until_s = now_s + hold_s
            passed_s.append(now_s)
            for one in fetched:
                late_s[one.flow][one.up] = now_s - one.at_s
                follow(one.flow, one.at_s, now_s)
        return _awake_s(passed_s, hold_s, max(self.lasts_s, passed_s[-1]))


def _awake_s(instants_s, hold_s, end_s):
    """Return how long one is awake who stays so for a while after each of some instants, which rise."""
    following = [*instants_s[1:], end_s]
    return sum(min(hold_s, after_s - at_s) for at_s, after_s in zip(instants_s, following, strict=True))


def accounts(path, client):
    """Return the accounts of a client, one between two jumps of the clock, those without a packet of it left out."""
    with path.open("rb") as file:
        reader = dpkt.pcap.UniversalReader(file)
        link, packets = reader.datalink(), list(reader)
    address, found, first, last = ip_address(client).packed, [], 0.0, 0.0
    own = []
    for number, (moment, data) in enumerate(packets):
        now = float(moment)
        if number and not JUMP_S[0] <= now - last <= JUMP_S[1]:
            found.append(Account(last - first, own))
            own, first, last = [], now, now
        first = first if number else now
        last = max(last, now) if number else now
        if way := _way(_body(link, data), address):
            up, flow = way
            own.append(Packet(last - first, up, flow or (number,)))
    found.append(Account(last - first, own))
    return [account for account in found if account.packets]


def _body(link, data):
    """Return the packet in a frame."""
    if link == dpkt.pcap.DLT_EN10MB:
        return dpkt.ethernet.Ethernet(data).data
    if link == dpkt.pcap.DLT_LINUX_SLL:
        return dpkt.sll.SLL(data).data
    return dpkt.ip6.IP6(data) if data[0] >> 4 == 6 else dpkt.ip.IP(data)


def _way(packet, client):
    """Return whether a packet of the client is its own, and the flow, None if nothing answers it; None of others."""
    if isinstance(packet, dpkt.arp.ARP):
        return (packet.spa == client, None) if client in (packet.spa, packet.tpa) else None
    if not isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6) or client not in (packet.src, packet.dst):
        return None
    part, ends = packet.data, {packet.src, packet.dst}
    answers = isinstance(part, dpkt.tcp.TCP) or (
        isinstance(part, dpkt.udp.UDP) and not {part.sport, part.dport}.isdisjoint(ANSWERED)
    )
    return packet.src == client, (*sorted(ends), *sorted((part.sport, part.dport))) if answers else None
