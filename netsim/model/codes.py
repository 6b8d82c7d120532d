"""What numbers stand for in the model's records."""

from __future__ import annotations

__all__: list[str] = []

NEVER = 2**62
"""An instant later than any of a run, nanoseconds."""

# flags of a packet
DATA, SYN, SYN_ACK, DATAGRAM = range(4)

EVENTS = range(30)
"""What happens: `netsim.model.events` says who handles it."""

(
    AT_CLIENT, AT_SERVER, AT_ACCESS_POINT, TCP_TIMER, TAKE_TURN, DELIVER, MISS_ANSWER, TELL, RADIO_READY, CLOSE_TIMER,
    LISTEN, ANSWER, NEXT_PAGE, ISSUE, PAGE_DONE, WRITE, ALL_DELIVERED, PART_DONE, LEAVE, LEFT, END_OF_RUN, OFFER,
    BROADCAST, DUE, READY, PIECE, SEND, WANTED, SERVE, HEARD,
) = EVENTS  # fmt: skip

ARRIVALS = (AT_CLIENT, AT_SERVER, AT_ACCESS_POINT)
"""Those of packets at the ends of links."""

# what a frame is on the air
SATURATED, OFFERED, UP, OPENING, TRIGGER, CLOSING, POLL, DOWN, GROUP = range(9)

# how a client fetches what waits for it: `netsim.config.RETRIEVALS`
AUTO, PS_POLL, NULL, UAPSD, TWT = range(5)

# what became of a frame that may go together with others
OPEN, RECEIVED = range(2)

# congestion control: that of the ns-2 runs, with an acknowledgement of every segment and nothing selective; or Linux's
NS2, RENO, CUBIC = range(3)

# state of a sender, and what its deadline is of
NORMAL, RECOVERY, LOSS = range(3)
RETRANSMIT, PROBE, REORDER = range(3)

# why a run stops: random numbers or room for notes are used up, and it goes on; it is over; there is too little room;
# a plan breaks the rules; more group frames come than the channel carries
DRAWS, NOTES, OVER, NO_ROOM, BAD_PLAN, OVERLOADED = 1, 2, 4, 8, 16, 32

ORDER_BITS = 12
"""Of a contender's place, below the count at which its backoff ends."""
