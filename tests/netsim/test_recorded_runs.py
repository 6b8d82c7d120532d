"""What is recorded of some runs, kept as digests: every frame, request, decision, gate and poll, and what results say.

The laws hold what is recorded against results, and `tests.netsim.air.test_on_air` some of it by hand; this sees any
other change.  A line: the world, then its digest; in a world that is seen, all policies are one that keeps what it is
told.  A digest changes only for a cause that is written here: four cells in which all are seen, under U-APSD, in which
who wishes to be awake opens the gate; eight wide worlds and cells, whose replies are drawn with a pause; 16 in which a
page that is a graph is seen, of which it is told what it lacks.
"""

import hashlib
from collections import namedtuple
from dataclasses import replace
from functools import partial

import netsim
from tests.netsim import laws
from tests.netsim.frozen import cell, wide_cell, wide_world, world
from tests.netsim.graph_worlds import graph_world
from tests.tables import each

SEEN = []
Shown = namedtuple("Frame", netsim.policies.Frame._fields[:5])


class Seer:
    """Keeps what it is told, and is awake for a while after every third frame, with a deadline or not."""

    spec, host_aware = "seer", True

    def __init__(self):
        self.frames = 0

    def plan(self, view):
        *known, missing = (getattr(view, name) for name in view.__slots__)
        SEEN.append((*known, missing) if missing else (*known,))
        until = view.now_ns + 30_000_000 * (self.frames % 3 == 0) * (1 + (view.deadline_ns is None))
        return netsim.Plan(until, (until // INTERVAL[0] + 1 + self.frames % 2) * INTERVAL[0], self.frames % 2 == 0)

    def observe(self, frame):
        self.frames += 1
        SEEN.append(Shown(*frame[:5]))


INTERVAL = [0]


def seen(made, number):
    """Return a world whose policies keep what they are told."""
    one = made(number)
    INTERVAL[0] = one.config.beacon_interval_ns
    return replace(one, clients=[(pages, Seer()) for pages, _ in one.clients])


MADE = {made.__name__: made for made in (world, wide_world, cell, wide_cell)}
MADE |= {f"graph_{name}": partial(graph_world, made) for name, made in MADE.items()}
MADE |= {f"seen_{name}": partial(seen, made) for name, made in MADE.items()}
KEPT = """
world 60000 27dff9b6d582
world 60001 8ab3a07b1546
world 60002 42feb49a6cf7
world 60003 16a71c9e4b33
wide_world 60000 38710e57d1ef
wide_world 60001 8e9dc975000b
wide_world 60003 c7fc9e0cb1a4
wide_world 60004 1cd19b06dd5b
cell 60000 6f251bbffd0c
cell 60002 6214a3f395a5
cell 60004 10fa6156c17a
cell 60009 3c66dd28c325
wide_cell 60001 d14d674cd8de
wide_cell 60002 098bf3f1dd0e
wide_cell 60004 a34493ef1aff
wide_cell 60007 7c10b324dd60
graph_world 60000 69ec3e1b81bc
graph_world 60001 33774ad604ef
graph_world 60002 a86bbc32c462
graph_world 60003 09d96fed3ec4
graph_wide_world 60000 026a8897cf65
graph_wide_world 60001 ed9b61115bac
graph_wide_world 60003 047012f6e76c
graph_wide_world 60004 0057d368dfee
graph_cell 60000 e5c79f332559
graph_cell 60002 ebe0128ca54b
graph_cell 60004 662f1330fb95
graph_cell 60009 cda0d518a719
graph_wide_cell 60001 47ed611f85a8
graph_wide_cell 60002 3ad80cff9fcb
graph_wide_cell 60004 ab0b3337e643
graph_wide_cell 60007 6f702bd1927c
seen_world 60000 b058adafdaf8
seen_world 60001 15d90ad8802e
seen_world 60002 a0ff4203e5d6
seen_world 60003 772eb2a71f46
seen_wide_world 60001 e38b71b4dd02
seen_wide_world 60002 4001e7977234
seen_wide_world 60003 0b80c465ed92
seen_wide_world 60004 ec1b31cf45ea
seen_cell 60000 2df7ed2baaf7
seen_cell 60001 9a1fed89ee32
seen_cell 60002 e6fa9fc0f48d
seen_cell 60003 fd508b247669
seen_wide_cell 60000 e5b0f3b496b2
seen_wide_cell 60001 ce7a95fc7a9b
seen_wide_cell 60002 d67ce9dfde96
seen_wide_cell 60003 ff8abf716239
seen_graph_world 60000 c5e29330769b
seen_graph_world 60002 c2418cec2a24
seen_graph_world 60003 16b2293ecc7f
seen_graph_world 60005 66c35283aab6
seen_graph_wide_world 60001 ee538745fb63
seen_graph_wide_world 60002 0f61dbfec044
seen_graph_wide_world 60003 1516cab12036
seen_graph_wide_world 60004 b6ef09f31c94
seen_graph_cell 60000 e5359cbaf4c3
seen_graph_cell 60001 3469e3aa1a86
seen_graph_cell 60002 e3edd6205b77
seen_graph_cell 60003 3bc751fd2724
seen_graph_wide_cell 60001 82d53d8632fd
seen_graph_wide_cell 60002 4c8efa8f75fa
seen_graph_wide_cell 60003 c377a16e807e
seen_graph_wide_cell 60004 8825bc72c5aa
"""


def text(one):
    """Return all that is recorded of a run, and what its results say."""
    SEEN.clear()
    results, recorder = laws.run(one)
    kept = [
        repr(SEEN),
        recorder.transmissions,
        recorder.exchanges,
        recorder.decisions,
        recorder.gates,
        recorder.polled_ns,
    ]
    kept += [getattr(recorder, "frames", ())]
    for result in results:
        trip = result._trip
        kept += [getattr(trip, name).tolist() for name in ("loads", "polls", "intervals", "datagrams", "exchanges")]
        kept += [
            trip.end_ns,
            trip.awake_ns,
            trip.beacons,
            trip.air_up_ns,
            trip.air_down_ns,
            trip.frames_lost,
            result.energy,
        ]
    return repr(kept)


def digest(name, number):
    return hashlib.sha256(text(MADE[name](number)).encode()).hexdigest()[:12]


@each("line", KEPT.strip().splitlines())
def test_what_is_recorded_is_as_ever(line):
    name, number, kept = line.split()
    assert digest(name, int(number)) == kept
