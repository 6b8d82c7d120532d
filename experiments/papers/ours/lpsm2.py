"""LPSM2: energy at equal slowdown against everything else, and its best schedules in hindsight.

What it models: the thesis expects (section 2.5.4) that "it should be possible to simultaneously reduce both energy and
slowdown from that of previous approaches, by appropriate choice and calibration of the loss function".  `ours/lpsm2`
and `ours/lpsm2-traffic` compare LPSM2 with six families on Web pages and on all other generated traffic, from seed 5000
on: the constants of LPSM2 were chosen on small seeds.  `ours/lpsm3-learning` runs the best fixed schedules in
hindsight, chosen from the rounds of LPSM2 for several prices of a second.
What it leaves out: recorded sessions (`papers.ours.browsing`).
"""

from __future__ import annotations

import numpy as np

from experiments.papers.kit import Experiment
from experiments.papers.ours.worlds import (
    DELAY,
    SLOWDOWN,
    TARGETS,
    WEB,
    Case,
    draw_fronts,
    family,
    over_asked,
    runs,
    saving,
    spared,
    sweep,
    values,
)
from experiments.papers.predicates import above, at_least, at_most, reaching
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config

FIRST_SEED = 5000
LOGNORMAL = WEB[-1]
PUSH, PUSH_TARGETS_MS = ("push-memoryless", "push-bursty"), (60, 100, 150, 200, 300, 400)
OWN, LINKED, PATIENT, WIDE = "lpsm2:1.05", "lpsm2-link:1.05", "lpsm2:1.05:400", ("lpsm2:1.2", "lpsm2:1.5")
PUSHED = family(OWN + ":{}", PUSH_TARGETS_MS)
PSM = family("psm:{}", (100, 200, 300, 400, 500, 1000))
BSD = family("bsd:{}", (0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.55, 0.75, 1, 1.4, 2))
_P = (0.005, 0.01, 0.02, 0.03, 0.05, 0.07, 0.1, 0.14, 0.2, 0.28, 0.4, 0.6, 1, 1.5)
PHASE, HOST = family("bsd-phase:{}", _P), family("bsd-host:{}", _P)
HOLD = family("hold:{}", (0, 25, 50, 100, 200, 400, 800, 1600))
THESIS = ("lpsm", "lpsm:log")
UP_TO_8, LINK = family("lpsm2:{}", TARGETS), family("lpsm2-link:{}", TARGETS)
RIVALS = (
    ("static PSM", PSM), ("BSD", BSD), ("BSD, phase", PHASE), ("BSD, host", HOST), ("hold, host", HOLD),
    ("LPSM", THESIS),
)  # fmt: skip
FAMILIES = (*RIVALS, ("LPSM2", UP_TO_8), ("LPSM2, link", LINK))
THIN = tuple((name, own[::2] if len(own) > 6 else own) for name, own in FAMILIES)
POLICIES, SOME = (("none", *(policy for _, own in families for policy in own)) for families in (FAMILIES, THIN))
REST = {
    **dict.fromkeys(PUSH, (600.0, 5400.0, 20)), "web-and-push": (550.0, 5500.0, 20), "streaming": (60.0, 900.0, 10),
    "shifting": (600.0, 3000.0, 10),
}  # fmt: skip
MORE = {"streaming": WIDE, "shifting": (*WIDE, f"{OWN}:200", PATIENT)}
ON_THE_WEB = Experiment("ours/lpsm2", "LPSM2 on the Web: energy at equal slowdown", "2 min")
ON_THE_WEB.runs(sweep(FIRST_SEED, dict.fromkeys(WEB, (1100.0, 5500.0, 20)), lambda _: POLICIES))(runs)
ELSEWHERE = Experiment("ours/lpsm2-traffic", "LPSM2 on messages, a stream, mixtures, and all of them in turn", "4 min")
ELSEWHERE.runs(sweep(FIRST_SEED, REST, lambda traffic: [*SOME, *MORE.get(traffic, PUSHED)]))(runs)

ASKED_FOR = [(one, policy, float(policy.partition(":")[2])) for one in WEB for policy in (*UP_TO_8, *LINK)]
ON_THE_WEB.claim("the mean slowdown is at most the one asked for", at_most, limit=1.0)(over_asked(SLOWDOWN, ASKED_FOR))
ON_THE_WEB.claim("energy is below that of BSD at equal slowdown, by what was set beforehand", at_least, unit=" %")(
    spared([
        Case(WEB[1], OWN, "BSD", BSD, 20.0), Case(LOGNORMAL, OWN, "BSD", BSD, 12.0),
        Case(LOGNORMAL, OWN, "BSD, phase", PHASE, 8.0), Case(LOGNORMAL, LINKED, "BSD, phase", PHASE),
    ])
)  # fmt: skip
ON_THE_WEB.claim(f"the energy of {OWN} is above no family's at equal slowdown", reaching, low=0.0, unit=" %")(
    spared(Case(traffic, OWN, *one) for traffic in WEB for one in RIVALS)
)


@ON_THE_WEB.claim(
    f"{OWN} is below static PSM and LPSM in energy and in slowdown", above,
    "simultaneously reduce both energy and slowdown from that of previous approaches",
    "percent lower, paired over seeds", unit=" %",
)  # fmt: skip
def below_both(record):
    """By how many percent energy and slowdown are below those of others."""
    found = {}
    for traffic in WEB:
        for name, column in (("energy", "total_j"), ("slowdown", SLOWDOWN)):
            for other in (PSM[0], *THESIS):
                own, theirs = (values(record, traffic, column, policy) for policy in (OWN, other))
                found[f"{traffic}, {name}, {other}:"] = saving(own, theirs)
    return found


MIXED = {"shifting": (OWN, LINKED, PATIENT), "web-and-push": (OWN, PATIENT)}
ELSEWHERE.claim("energy is below that of every family of fixed policies at equal slowdown", above, unit=" %")(
    spared(Case(traffic, own, *one) for traffic, policies in MIXED.items() for own in policies for one in THIN[:5])
)
ELSEWHERE.claim("the mean added delay of a message is at most the one asked for", at_most, limit=1.0)(
    over_asked(DELAY, [(one, f"{OWN}:{ms}", ms / 1000) for one in PUSH for ms in PUSH_TARGETS_MS])
)
ELSEWHERE.claim("messages cost no more than under static PSM and LPSM of equal delay", reaching, low=0.0, unit=" %")(
    spared([Case(traffic, f"{OWN}:{ms}", *RIVALS[place]) for place in (0, 5) for traffic in PUSH for ms in (100, 200)],
           DELAY)
)  # fmt: skip
draw_fronts(ON_THE_WEB, "lpsm2-web", dict.fromkeys(WEB, FAMILIES), over="page_awake_j", most=(1.3, 1.6))
_wide = [(name, (*own, *WIDE) if name == "LPSM2" else own) for name, own in THIN]
_patient = ("LPSM2, messages 0.4 s", (PATIENT,))
_mixed = {"web-and-push": [*THIN, _patient], "streaming": _wide, "shifting": [*_wide, _patient]}
draw_fronts(ELSEWHERE, "lpsm2-mixed", _mixed, most=(1.5, 2.5))
_push = [*(one for one in THIN if one[0] in ("static PSM", "BSD", "LPSM")), ("LPSM2", PUSHED)]
draw_fronts(ELSEWHERE, "lpsm2-push", dict.fromkeys(PUSH, _push), y=DELAY, most=(0.6, 1.6))

PRICES_W = (2.0, 6.0, 15.0, 40.0)
HINDSIGHT = family("fixed in hindsight {}", PRICES_W)


def fixed_schedules(chosen, spec):
    """Return LPSM2 without its learning: one schedule a context, given by number in the order of the contexts."""
    return Lpsm2(Lpsm2Config(fixed=tuple(chosen)), spec=spec)


def best_schedules(rounds, price_w):
    """Return the schedule of least cost in every context, a second of delay being worth `price_w` joules.

    A context without a round takes the schedule that is best in all rounds together.
    """
    costs = np.array([one.costs + (price_w - one.price_w) / one.waiting * one.delay_ns * 1e-9 for one in rounds])
    contexts = np.array([one.context for one in rounds])
    own = [costs[contexts == context] for context in CONTEXTS]
    return tuple(int((some if len(some) else costs).sum(axis=0).argmin()) for some in own)


def in_hindsight(world):
    """Browse a world under LPSM2, and under the best fixed schedules of its rounds, one a price of a second."""
    own = world.browse(Lpsm2(Lpsm2Config(record=True), spec=OWN))
    rounds = own.final_policy.record
    priced = zip(HINDSIGHT, PRICES_W, strict=True)
    return {OWN: own, **world.under(fixed_schedules(best_schedules(rounds, price), name) for name, price in priced)}
