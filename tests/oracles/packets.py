"""The packets of one client of a capture, counted with dpkt: an account of traffic that knows no flows.

A packet of the client has its address as that of its source or target, or ARP tells or asks for it.
"""

from ipaddress import ip_address
from typing import NamedTuple

import dpkt
import numpy as np
from numpy.typing import NDArray

JUMP_S = -1.0, 3600.0


class Account(NamedTuple):
    """One client between two jumps of the clock."""

    lasts_s: float  #: from the first packet of the recording to the last, whosever they are
    instants_s: NDArray[np.float64]  #: of the client's packets, from the first packet of the recording

    def awake_s(self, hold_s):
        """Return how long a client is awake that stays so for a while after each of its packets."""
        begin = np.sort(self.instants_s)
        end = np.minimum(begin + hold_s, self.lasts_s)
        return float((end - np.maximum(begin, np.concatenate([[0.0], end[:-1]]))).clip(0.0).sum())


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
            found.append(Account(last - first, np.array(own)))
            own, first, last = [], now, now
        first = first if number else now
        last = max(last, now) if number else now
        if _is_own(_body(link, data), address):
            own.append(last - first)
    found.append(Account(last - first, np.array(own)))
    return [account for account in found if len(account.instants_s)]


def _body(link, data):
    """Return the packet in a frame."""
    if link == dpkt.pcap.DLT_EN10MB:
        return dpkt.ethernet.Ethernet(data).data
    if link == dpkt.pcap.DLT_LINUX_SLL:
        return dpkt.sll.SLL(data).data
    return dpkt.ip6.IP6(data) if data[0] >> 4 == 6 else dpkt.ip.IP(data)


def _is_own(packet, client):
    if isinstance(packet, dpkt.arp.ARP):
        return client in (packet.spa, packet.tpa)
    return isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6) and client in (packet.src, packet.dst)
