"""The packets of one client of a capture, counted with dpkt: an account of traffic that knows no flows.

A packet of the client carries payload of TCP or UDP, keeps a TCP connection alive (it ends with the last byte that was
sent before), or is of ARP.  What others send to many is not of the client.
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
    ends, own = {}, []
    for number, (moment, data) in enumerate(packets):
        now = float(moment)
        if number and not JUMP_S[0] <= now - last <= JUMP_S[1]:
            found.append(Account(last - first, np.array(own)))
            own, first, last = [], now, now
        first = first if number else now
        last = max(last, now) if number else now
        if _is_own(_body(link, data), address, ends):
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


def _is_own(packet, client, ends):
    if isinstance(packet, dpkt.arp.ARP):
        many = packet.op == dpkt.arp.ARP_OP_REQUEST and packet.spa != client
        return client in (packet.spa, packet.tpa) and not many
    if not isinstance(packet, dpkt.ip.IP | dpkt.ip6.IP6) or client not in (packet.src, packet.dst):
        return False
    body = packet.data
    if isinstance(body, dpkt.udp.UDP):
        return body.ulen > 8
    if not isinstance(body, dpkt.tcp.TCP):
        return False
    flow, size = (packet.src, body.sport, packet.dst, body.dport), len(body.data)
    again = ends.get(flow) == body.seq + 1 and not body.flags & (dpkt.tcp.TH_SYN | dpkt.tcp.TH_FIN | dpkt.tcp.TH_RST)
    ends[flow] = max(ends.get(flow, 0), body.seq + size)
    return size > 0 or again
