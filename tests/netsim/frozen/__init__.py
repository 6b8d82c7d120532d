"""What the simulator answers in 20,000 random worlds on wires and 10,000 random cells on the air, kept as digests.

The worlds are drawn again from their numbers (`worlds`), by public names alone.  The answers of the packet model that
was there before the model stood once, for both ways of running it, are kept as four short digests a world
(`digests.npy`), so that a change of any of them can be seen, told by what it concerns, and counted by what the worlds
have in them.  That packet model failed in nine cells in which frames go together and are lost (3158, 3240, 5007, 5238,
6149, 8452, 8540, 8893 and 9543): it withdrew a null frame from a queue that this had left.  Of these the answers
of the present model, interpreted, were added; compiled it agrees in the four of them without a policy of one's own.

Since then 327 cells were made anew, all among the 1,344 that have a policy of one's own with agreed periods, or a
driver beside a DTIM period above 1: such a policy is told of everything by one clock now (before, the instants of
frames were those of the run, and `now_ns` its own), and ESP-IDF's minimum modem sleep listens to DTIMs alone.

Then the weights of `lpsm` and `lpsm2`, which Learn-alpha learns, were made anew in 3,074 worlds on wires and 2,461
cells on the air: its share step adds in another order, and they differ by some 1e-16. In 23 of these worlds, all of
them under LPSM2, two schedules had cost the same to the last bit but one, the other is taken now, and what follows
differs: in seven looked at, all weights up to that decision were within 3.1e-16.

Then all cells on the air were made anew: a send from doze hears the channel for DIFS first, More Data tells of what
waited when the header was sent, a backoff of no slots is kept for the next frame, and group frames that collide are
lost to those who listen. They were answered by the compiled model, and by the interpreted one those 3,138 that have a
policy of one's own.

Then all worlds with `lpsm3` or `lpsm3-link` were made anew: a second of delay is worth what its page is long, pages and
messages survive apart in a plan, pages back to back are settled one by one, the balance starts at 4 and has no drift,
a message of many frames is one, and a bare acknowledgement ends an upload for the link. They were answered by the
compiled model, one world in forty on wires and one cell in a hundred by the interpreted one too, which agreed.

To compare, or to make the digests of some worlds anew:

    python -m tests.netsim.frozen [--engine packet|express|auto] [--kind wires|air] [--from N] [--to M] [--write]
"""

from tests.netsim.frozen.worlds import cell, world

__all__ = ["cell", "world"]
