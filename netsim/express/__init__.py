"""The express engine: the packet model's pages without its event heap, in compiled code.

All links are first in, first out, and the client reacts at once to what reaches
it.  So a packet can be followed from the server through the access point to the
client, and the client's answers back into a queue of packets on their way to the
server, before the next packet is looked at.  The only events are a packet, a
delayed reply or a message at the server, a beacon that finds frames waiting, and a
page that is issued.  Every hop is max(arrival, link free) + transmission.

It covers runs without loss.  Where the timer of a page's connection would have run
out it does not retransmit, but stops before that page, for the compiled loop of events
to take it (`handover`), as it does where only the order of two events at one instant
decides; the connection of pushed messages has the whole of TCP's sender (`push`).
Names and rules are those of `netsim.tcp`, `netsim.station`, `netsim.browser` and
`netsim.push`; the policies' rules are their own (`netsim.policies.compiled`).

Everything but the policy's state and the logs is one array of integers, `w`: parameters,
state, queues, connections, at the places named in `layout`.
"""

from netsim.express.coverage import NotCoveredError, why_not

__all__ = ["NotCoveredError", "why_not"]
