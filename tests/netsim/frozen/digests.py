"""What is kept of a world's answer: four short digests, of its pages, its radios, its totals, and what was learned.

Numbers count by all their bytes.
"""

from dataclasses import astuple
from functools import cache
from hashlib import blake2b
from pathlib import Path

import numpy as np

from netsim import NotCoveredError
from tests.netsim.frozen.wide import under_drivers, wide_cell, wide_world
from tests.netsim.frozen.worlds import cell, world

FILE = Path(__file__).with_name("digests.npy")
PARTS = ("pages", "radio", "totals", "learned")
MADE = {"wires": world, "air": cell, "wide wires": wide_world, "wide air": wide_cell,
    "driver wires": lambda number: under_drivers(wide_world(number)),
    "driver air": lambda number: under_drivers(wide_cell(number))}  # fmt: skip
ROWS = {"wires": range(20_000), "air": range(20_000, 30_000), "wide wires": range(30_000, 32_000),
    "wide air": range(32_000, 34_000), "driver wires": range(34_000, 34_064),
    "driver air": range(34_064, 34_128)}  # fmt: skip
"""Where the digests of a kind stand in the file, in the order of their numbers."""

_COLUMNS = (("pages", "pages", "page issue_s latency_s awake_s asleep_s beacons energy_j"),
    ("pages", "messages", "message written_s size_bytes delivered_s delay_s"),
    ("radio", "polls", "time_s slept_ms buffered_bytes next_sleep_ms"),
    ("radio", "radio", "start_s end_s state"))  # fmt: skip
_WIDE = (("pages", "datagrams", "sent_s size_bytes up delay_s arrived"),)
_TOTALS = "elapsed_s awake_s asleep_s beacons uplink_air_s downlink_air_s frames_lost wakeups group_frames_lost"
_LPSM3 = "events at_risk_s rates log_evidence mean_rates pages messages ages balance push_balance push_price_w"


@cache
def kept():
    """Return the digests kept, four numbers of 16 bits a world: 0 where none is."""
    found = np.load(FILE)
    return np.concatenate([found, np.zeros_like(found, shape=(sum(map(len, ROWS.values())) - len(found), len(PARTS)))])


def digest(results, wide=False):
    """Return the digests of what all clients of a world came to."""
    sums = {name: blake2b(digest_size=2) for name in PARTS}
    for result in results:
        _add(sums["pages"], [result.policy])
        for part, frame, names in _COLUMNS + _WIDE * wide:
            for name in names.split():
                _add(sums[part], getattr(result, frame)[name].to_numpy())
        _add(sums["radio"], list((result.states_s or {}).values()))
        if wide:
            _add(sums["pages"], result.exchange_s)
            _add(sums["radio"], result.beacons_lost)
        for value in (*astuple(result.energy), *(getattr(result, name) for name in _TOTALS.split())):
            _add(sums["totals"], value)
        for value in _learned(result.final_policy):
            _add(sums["learned"], value)
    return tuple(int.from_bytes(part.digest(), "little") for part in sums.values())


def found(kind, number, engine):
    """Return the digests that an engine comes to, None where it does not cover the world, or the error in words."""
    try:
        return digest(MADE[kind](number).run(engine), kind.startswith(("wide", "driver")))
    except NotCoveredError:
        return None
    except Exception as error:  # counted as an answer that differs
        return f"{type(error).__name__}: {error}"


def differing(kind, number, answer):
    """Name the parts of an answer that are not as they are kept."""
    if isinstance(answer, str):
        return [answer]
    wanted = kept()[ROWS[kind][number]].tolist()
    return [part for part, ours, theirs in zip(PARTS, answer, wanted, strict=True) if ours != theirs]


def _learned(policy):
    """Return what a policy says that it has learned, if it has learned anything."""
    kind = policy.spec.partition(":")[0].removesuffix("-link")
    if kind == "lpsm":
        learner = policy.learner
        return [learner.weights, learner.alpha_weights, learner.mean_ms]
    if kind == "lpsm2":
        return [policy.prices_w, *(part for one in policy.learners for part in (one.weights, one.alpha_weights))]
    if kind in ("lpsm3", "lpsm3-driver", "lpsm4-driver"):
        return [policy.memory[name] for name in _LPSM3.split()]
    return [getattr(policy, "learned", [])]


def _add(sum_, values):
    """Add numbers as eight bytes each, or words."""
    array = np.asarray(values)
    if array.dtype.kind in "OUT":
        sum_.update("\0".join(map(str, array.tolist())).encode())
    else:
        array = array.astype("<f8" if array.dtype.kind == "f" else "<i8")
        sum_.update(array.tobytes())
    sum_.update(len(array.ravel()).to_bytes(8, "little"))
