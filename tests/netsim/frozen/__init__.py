"""What the simulator answers in 22,000 random worlds on wires and 12,000 random cells on the air, kept as digests.

The worlds are drawn again from their numbers (`worlds`; `wide`, the last 2,000 of each, draw every field that a world
or its traffic has), by public names alone; the answers are four short digests a world (`digests.npy`), so that a change
of any of them can be seen and told by what it concerns. They are those of the packet model that was there before the
model stood once, but for what has been changed on purpose since (CHANGELOG.md): 327 cells under policies with agreed
periods or a driver beside a DTIM period above 1; the weights of `lpsm` and `lpsm2`, which differ in the last bit; all
cells on the air, for sends from doze, More Data, backoffs of no slots and collisions of group frames; all worlds with
`lpsm3` or `lpsm3-link`; and after that 285 worlds and 279 cells with `lpsm3-link`, which no longer takes a frame for an
answer that came before a request can have been answered, gives up further frames of a reply after 2 s, and charges a
page for an answer that came after something taken for it; and 327 cells, of pages issued while the radio was waking up
for a beacon, or listening to it, which were charged for it from before their issue; and 117 cells with agreed periods,
of clients that dozed at the end of a period while they sent, or that took another time to wake up for a send while they
woke up for a period; and 815 cells, of clients that behind a frame that was given up, after losses or collisions, dozed
from its end on and not from when its answer was missed (on 11g 39 us later), or that under agreed periods were charged
a passage for a period of no length, which a radio that wakes up in no time is not awake in; and 1,150 cells under
U-APSD, of clients that wish to be awake while nothing waits: they asked again and again, and now open their gate; and
495 worlds and cells with `lpsm3` or `lpsm3-link`: the link takes for a message what is rather one than an answer, and
bounds what a page is charged for later; of both, what follows a frame of full length is a message of its own where such
frames have gone on for ten seconds; and 1,357 wide worlds and cells whose pages have recorded times: what is a single
packet is written when it was whole, where it was written when its first byte was; and 543 worlds and cells with
`lpsm3-link` or `lpsm4-link`, whose waits may be over without the link's knowing; and 1,129 worlds and cells with
`lpsm3` or `lpsm3-link`, by whose account a page is late by its last frame, behind what its sender waited for; and 1,340
wide worlds and cells again: what took more than 10 ms and fits into one packet is written in two halves; and 1,144
whose replies are drawn with a pause since; and 825 cells of frames that go together, of which none is given up after
seven attempts any more, and whose window is the least one again after eight failures in a row, and on 802.11ax, where a
block ACK tells of 256 frames; and 3,534 worlds and cells with `lpsm3`, `lpsm4` or their link forms, all but 953 of
those, whose account expects the slowdown of a page and charges becoming awake, whose plans weigh delay by the age at
which something comes and move their polls, which reckon what messages waited for together and owe less of it, and of
which links weigh every wait that a frame may end. All of them are worlds with `oracle_stamps`, which was the only
knowledge when their answers were kept, so that these hold of `lpsm2`, `lpsm3` and their link forms, too; of new worlds
one in eight is. These were answered by the compiled model, and where it does not cover a world, or in a sample, by the
interpreted one.

In the last 128, wide worlds and cells again, all clients have `lpsm3-driver` or `lpsm4-driver`; 65 of them, those with
a client of sizes `small`, were answered anew when these became smaller, 14 when of settings that cost the same but for
rounding the first was taken, 61 with recorded times for the halves and the pauses, 13 for frames that go together, and
110 with all that `lpsm3` and `lpsm4` do otherwise since.

To compare, or to make the digests of some worlds anew:

    python -m tests.netsim.frozen [--engine packet|express|auto] [--kind KIND] [--from N] [--to M] [--write]
"""

from tests.netsim.frozen.wide import wide_cell, wide_world
from tests.netsim.frozen.worlds import cell, world

__all__ = ["cell", "wide_cell", "wide_world", "world"]
