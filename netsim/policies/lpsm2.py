"""LPSM2: learn from exact losses when to be awake while an answer is awaited.

The client's time is cut into episodes (`netsim.sleep_planning.schedules`).  Each belongs to a context, by what
is outstanding, and each context has a Learn-alpha of its own over sleep schedules:

* S: a connection is being opened; T: a reply is coming in;
* W1 .. W4: so many requests are waiting and no reply is coming in (4: or more);
* I: nothing is outstanding.

When an episode is over, every schedule is charged what it would have cost: energy, and the
delay it would have caused, times a price lambda, over the number of requests waiting.  The
price is found by dual ascent, so that what the user states is a slowdown.  The schedule of
largest weight is followed.  In W the schedules' time runs from the oldest request that is
waiting, so that a frame for something else does not make a long wait look young.

`lpsm2` knows from the host what is outstanding; `lpsm2-link` infers it (`awareness`).

What was learned from, and what would have been best in hindsight, is in `lpsm2_record`.

The learner is Monteleoni 2006, section 2.2.3; the rest is ours.
"""

from __future__ import annotations

from collections.abc import Sequence
from copy import deepcopy
from fractions import Fraction
from functools import cache, lru_cache
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from lpsm import randomness
from netsim.policies.bsd import number_text
from netsim.policies.compiled import CompiledForm, joined, put_back
from netsim.policies.entry import NS_PER_MS, Entry, Setting, slowdown_and_push
from netsim.policies.lpsm2_config import Lpsm2Config
from netsim.policies.lpsm2_record import Round
from netsim.policies.protocol import Frame, Plan, View
from netsim.radio import Radio, RadioConfig

if TYPE_CHECKING:
    from lpsm.experts import LearnAlpha

__all__ = ["CONTEXTS", "ENTRIES", "Lpsm2", "Lpsm2Config", "Round"]

CONTEXTS = ("S", "T", "W1", "W2", "W3", "W4", "I")
_REFERENCE_SLOWDOWN = 0.05
_REFERENCE_PUSH_DELAY_S = 0.1


class Lpsm2:
    """The policies `lpsm2` (host-aware) and `lpsm2-link`.

    Parameters
    ----------
    config : Lpsm2Config, optional
        Constants.
    host_aware : bool
        Whether the host tells what is outstanding; otherwise it is inferred.
    radio : Radio, optional
        What being awake and beacons cost.
    beacon_interval_ns : int
        Time between beacons.
    spec : str, optional
        The name that results carry, if other than the kind and the slowdown.

    Attributes
    ----------
    record : list of Round
        Empty unless the configuration says to keep it.
    """

    def __init__(
        self,
        config: Lpsm2Config | None = None,
        *,
        host_aware: bool = True,
        radio: Radio | None = None,
        beacon_interval_ns: int = 100 * NS_PER_MS,
        spec: str | None = None,
    ) -> None:
        from netsim.policies import lpsm2_rule
        from netsim.sleep_planning.schedules import table

        self.config = config = Lpsm2Config() if config is None else config
        self.host_aware = host_aware
        self.spec = spec or _name(config, host_aware)
        self.record: list[Round] = []
        radio = RadioConfig() if radio is None else radio
        watts = (radio.awake_mw - radio.asleep_mw, radio.beacon_mj, radio.wakeup_j)
        rows = table(config.schedules, beacon_interval_ns)
        prices_w, range_w = _prices(config)
        self._learners = deepcopy(_fresh_learners(config, beacon_interval_ns, watts))
        self._rule = CompiledForm(
            lpsm2_rule.follow_schedule,
            lpsm2_rule.observe_frame,
            ints=_integers(config, rows, beacon_interval_ns, host_aware, self._learners),
            floats=_numbers(config, len(rows), watts, prices_w, range_w, self._learners),
        )
        seed = config.sample_seed
        self._draw = None if seed is None else randomness.generator(seed, randomness.POLICY)
        self._drawn = -1
        self._after()

    # -- what the station calls

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account, and end the episode if it is one that came."""
        self._rule.observe(frame)
        if self._observed_closely:
            self._after()

    def plan(self, view: View) -> Plan:
        """Begin an episode when it could sleep, go on with its schedule at a beacon that brings nothing."""
        plan = self._rule.plan(view)
        if self._observed_closely:
            self._after()
        return plan

    @property
    def compiled(self) -> CompiledForm | None:
        """The rule with its state; None where rounds are recorded or drawn, for which the rule must be watched."""
        return None if self._observed_closely else self._rule

    # -- what it has come to

    @property
    def prices_w(self) -> list[float]:
        """Lambda, outside I and in I; watts."""
        from netsim.policies import lpsm2_rule as place

        return [float(self._rule.floats[place.PRICE]), float(self._rule.floats[place.PUSH_PRICE])]

    @property
    def learners(self) -> list[LearnAlpha]:
        """The learners as they are now: one a context, or a single one."""
        from netsim.policies import lpsm2_rule

        _, _, at = lpsm2_rule.layout(len(self.config.schedules))
        put_back(self._rule.floats[at:], [part for learner in self._learners for part in learner.arrays()])
        return self._learners

    @property
    def account(self) -> NDArray[np.int64]:
        """What is outstanding, as `netsim.policies.awareness` lays it out."""
        from netsim.policies import lpsm2_rule as place

        return self._rule.ints[place.ACCOUNT : place.TABLE]

    def state(self) -> tuple[list[int], list[int], list[int], list[float]]:
        """Return what the learners do not know: the episode, the account and its requests, and the prices."""
        from netsim.policies import awareness
        from netsim.policies import lpsm2_rule as place

        ints = self._rule.ints
        episode = ints[place.OPEN : place.ACCOUNT].tolist()
        return episode, self.account[: awareness.FIRST].tolist(), awareness.asked_ns(self.account), self.prices_w

    # -- what is done beside the rule

    @property
    def _observed_closely(self) -> bool:
        return self.config.record or self._draw is not None

    def _after(self) -> None:
        """Keep the round that the rule has played, and give it a new random number if it has used the last one."""
        from netsim.policies import lpsm2_rule as place

        ints, floats = self._rule.ints, self._rule.floats
        if self._draw is not None and ints[place.DRAWN] != self._drawn:
            self._drawn = int(ints[place.DRAWN])
            floats[place.UNIFORM] = self._draw.random()
        if not self.config.record or ints[place.ROUNDS] == len(self.record):
            return
        n = len(self.config.schedules)
        found_at, found_end, _ = place.layout(n)
        context, start, end, arrived, waiting, chosen = ints[place.LAST_CONTEXT : place.LAST_CHOSEN + 1].tolist()
        episode = (CONTEXTS[context], start, end, bool(arrived), waiting, float(floats[place.LAST_PRICE]), chosen)
        costs, found = floats[place.COSTS : place.COSTS + n].copy(), ints[found_at:found_end].reshape(n, -1)
        self.record.append(Round(*episode, costs, *found.T.copy()))


def _prices(config: Lpsm2Config) -> tuple[tuple[float, float], tuple[float, float]]:
    """Return lambda at first, outside I and in I, and its range outside I; watts."""
    scale = _REFERENCE_SLOWDOWN / (config.max_slowdown - 1.0)
    push_price_w = config.push_price_w
    if config.max_push_delay_s is not None:
        ratio = _REFERENCE_PUSH_DELAY_S / config.max_push_delay_s
        push_price_w *= ratio * ratio  # not a power, which overflows into an error
    push_price_w = min(max(push_price_w, config.least_push_price_w), config.most_push_price_w)
    return (config.price_w * scale, push_price_w), (config.least_price_w * scale, config.most_price_w * scale)


def _integers(
    config: Lpsm2Config,
    rows: NDArray[np.int64],
    interval_ns: int,
    host_aware: bool,
    learners: Sequence[LearnAlpha],
) -> NDArray[np.int64]:
    """Return the integers of `lpsm2_rule` at first."""
    from netsim.policies import awareness
    from netsim.policies import lpsm2_rule as place
    from netsim.sleep_planning.schedules import NEVER_NS

    found_at, found_end, _ = place.layout(len(rows))
    weights, _, slow, *_ = learners[0].arrays()
    ints = np.zeros(found_end, dtype=np.int64)
    ints[[place.N, place.N_RATES, place.N_SLOW]] = len(rows), weights.shape[1], slow.shape[2]
    ints[place.INTERVAL], ints[place.SHORTEST] = interval_ns, round(config.shortest_s * 1e9)
    ints[place.CONTEXTS], ints[place.CLOCK] = config.contexts, config.clock
    ints[place.SHARE], ints[place.DUAL] = config.share_delay, config.dual
    ints[place.PUSH], ints[place.SAMPLE] = config.max_push_delay_s is not None, config.sample_seed is not None
    ints[place.FIXED] = config.fixed is not None
    ints[place.CONTEXT], ints[place.WAITING], ints[place.SENT] = place.IDLE, 1, NEVER_NS
    best = [int(learner.weights.argmax()) for learner in learners] if config.fixed is None else config.fixed
    ints[place.BEST : place.BEST + len(best)] = best
    ints[place.ACCOUNT : place.TABLE] = awareness.new_account(
        host=host_aware, silence_s=0.0 if host_aware else config.silence_s
    )
    ints[place.TABLE : found_at] = rows.ravel()
    return ints


def _numbers(
    config: Lpsm2Config,
    n: int,
    watts: tuple[float, float, float],
    prices_w: tuple[float, float],
    range_w: tuple[float, float],
    learners: Sequence[LearnAlpha],
) -> NDArray[np.float64]:
    """Return the numbers of `lpsm2_rule` at first."""
    from netsim.policies import lpsm2_rule as place

    first = np.zeros(place.COSTS + 3 * n)
    first[[place.AWAKE_MW, place.BEACON_MJ, place.WAKEUP_J]] = watts
    first[place.RATE], first[place.ALLOWED] = config.rate_per_j, config.max_slowdown - 1.0
    first[place.LONGEST], first[place.STEP] = config.longest_response_s, config.price_step
    first[place.LEAST], first[place.MOST] = range_w
    first[place.PUSH_DELAY] = config.max_push_delay_s or 0.0
    first[place.MOST_DELAYS], first[place.PUSH_STEP] = config.most_push_delays, config.push_step
    first[place.PUSH_LEAST], first[place.PUSH_MOST] = config.least_push_price_w, config.most_push_price_w
    first[place.PRICE], first[place.PUSH_PRICE] = prices_w
    return np.concatenate([first, *(joined(learner.arrays()) for learner in learners)])


@lru_cache(maxsize=64)
def _fresh_learners(config: Lpsm2Config, interval_ns: int, watts: tuple[float, float, float]) -> list[LearnAlpha]:
    """Return one learner a context, or a single one; taught by the first round if there is one.

    They are found once for a world, which with frequent beacons takes longer than a short run; copy them.
    """
    from lpsm.experts import LearnAlpha
    from netsim.sleep_planning.schedules import table

    rows = table(config.schedules, interval_ns)
    rates = _switching_rates(config.horizon) if config.learn_alpha else [0.0]
    learners = [LearnAlpha(len(rows), rates) for _ in (CONTEXTS if config.contexts else ("all",))]
    if config.prior:
        waiting, idle = _typical_losses(config, rows, interval_ns, watts, _prices(config)[0])
        for learner, context in zip(learners, CONTEXTS, strict=False):
            learner.update(idle if context == "I" else waiting)
    return learners


def _typical_losses(
    config: Lpsm2Config,
    rows: NDArray[np.int64],
    interval_ns: int,
    watts: tuple[float, float, float],
    prices_w: tuple[float, float],
) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Losses in the waits to be expected before anything was seen, outside I and in I; nats."""
    from netsim.sleep_planning.schedules import typical_costs

    pushed = config.max_push_delay_s is not None
    idle_ms = (config.push_prior_s if pushed else config.idle_prior_s) * 1e3
    losses = [
        typical_costs(rows, interval_ns, waits_ms, *watts, price_w, arrived=arrived)
        for waits_ms, price_w, arrived in ((config.prior_ms, prices_w[0], True), ((idle_ms,), prices_w[1], pushed))
    ]
    waiting, idle = ((costs - costs.min()) * config.rate_per_j for costs in losses)
    return waiting, idle


@cache
def _switching_rates(horizon: int) -> NDArray[np.float64]:
    """Find the grid once: that takes as long as hundreds of rounds."""
    from lpsm.experts import alpha_grid

    rates = alpha_grid(horizon=horizon)
    rates.flags.writeable = False
    return rates


def _name(config: Lpsm2Config, host_aware: bool) -> str:
    kind = "lpsm2" if host_aware else "lpsm2-link"
    push = ""
    if config.max_push_delay_s is not None:
        push = f":{number_text(float(Fraction(str(config.max_push_delay_s)) * 1000))}"
    return f"{kind}:{number_text(config.max_slowdown)}{push}"


def _read(parameter: str, setting: Setting, *, host_aware: bool) -> Lpsm2:
    """Make the policy from TARGET[:PUSH_MS]."""
    written = f"{'lpsm2' if host_aware else 'lpsm2-link'}[:TARGET[:PUSH_MS]]"
    slowdown, max_push_delay_s = slowdown_and_push(parameter, written)
    max_slowdown = Lpsm2Config().max_slowdown if slowdown is None else slowdown
    config = Lpsm2Config(max_slowdown=max_slowdown, max_push_delay_s=max_push_delay_s)
    interval_ns = setting.beacon_interval_ns
    return Lpsm2(config, host_aware=host_aware, radio=setting.radio, beacon_interval_ns=interval_ns)


ENTRIES = (
    Entry(
        written="lpsm2[:TARGET[:PUSH_MS]]",
        meaning="host-aware: schedules learned from exact losses; slowdown TARGET (default 1.05)",
        source="ours, on Learn-alpha (Monteleoni 2006, section 2.2.3)",
        example="lpsm2:1.05:100",
        make=lambda parameter, setting: _read(parameter, setting, host_aware=True),
        host_aware=True,
    ),
    Entry(
        written="lpsm2-link[:TARGET[:PUSH_MS]]",
        meaning="link-only: the same, inferring from frame sizes what is outstanding",
        source="ours, on Learn-alpha (Monteleoni 2006, section 2.2.3)",
        example="lpsm2-link:1.05",
        make=lambda parameter, setting: _read(parameter, setting, host_aware=False),
    ),
)
