"""What the simulator answers in 20,000 random worlds on wires and 10,000 random cells on the air, kept as digests.

The worlds are drawn again from their numbers (`worlds`), by public names alone.  The answers of the packet model are
kept as four short digests a world (`digests.npy`), so that a change of any of them can be seen, told by what it
concerns, and counted by what the worlds have in them.  To compare, or to make the digests of some worlds anew:

    python -m tests.netsim.frozen [--engine packet|express|auto] [--kind wires|air] [--from N] [--to M] [--write]
"""

from tests.netsim.frozen.worlds import cell, world

__all__ = ["cell", "world"]
