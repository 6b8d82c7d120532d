"""LPSM2: learn from exact losses when to be awake while an answer is awaited.

The client's time is cut into episodes (`lpsm.schedules`).  Each belongs to a context, by what
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

import math
from collections.abc import Sequence
from fractions import Fraction
from functools import cache

import numpy as np
from numpy.typing import NDArray

from lpsm import randomness
from lpsm import schedules as expert
from lpsm.experts import LearnAlpha, StaticExpert, alpha_grid
from netsim.policies.awareness import HostAccount, LinkAccount
from netsim.policies.bsd import number_text
from netsim.policies.lpsm2_config import Lpsm2Config
from netsim.policies.lpsm2_record import Round
from netsim.policies.protocol import Frame, Plan, View
from netsim.radio import Radio, RadioConfig

__all__ = ["CONTEXTS", "Lpsm2", "Lpsm2Config", "Round"]

CONTEXTS = ("S", "T", "W1", "W2", "W3", "W4", "I")
_S, _T, _W, _I = 0, 1, 2, 6
_MOST_WAITING = 4
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
    prices_w : list of float
        Lambda, outside I and in I; watts.
    """

    def __init__(
        self,
        config: Lpsm2Config | None = None,
        *,
        host_aware: bool = True,
        radio: Radio | None = None,
        beacon_interval_ns: int = 100_000_000,
        spec: str | None = None,
    ) -> None:
        self.config = config = Lpsm2Config() if config is None else config
        self.host_aware = host_aware
        self.spec = spec or _name(config, host_aware)
        self.record: list[Round] = []
        self._scale = _REFERENCE_SLOWDOWN / (config.max_slowdown - 1.0)
        push_price_w = config.push_price_w
        if config.max_push_delay_s is not None:
            ratio = _REFERENCE_PUSH_DELAY_S / config.max_push_delay_s
            push_price_w *= ratio * ratio  # not a power, which overflows into an error
        push_price_w = min(max(push_price_w, config.least_push_price_w), config.most_push_price_w)
        self.prices_w = [config.price_w * self._scale, push_price_w]
        radio = RadioConfig() if radio is None else radio
        self._watts = (radio.awake_mw - radio.asleep_mw, radio.beacon_mj, radio.wakeup_j)
        self._interval_ns = beacon_interval_ns
        self._rows = expert.table(config.schedules, beacon_interval_ns)
        self._account: HostAccount | LinkAccount = (
            HostAccount() if host_aware else LinkAccount(silence_s=config.silence_s)
        )
        self._found = np.empty((len(self._rows), expert.N_FOUND), dtype=np.int64)
        self._costs = np.empty(len(self._rows))
        self._learners = self._fresh_learners()
        self._best: list[int] = [int(learner.weights.argmax()) for learner in self._learners]
        seed = config.sample_seed
        self._draw = None if seed is None else randomness.generator(seed, randomness.POLICY)
        self._shortest_ns = round(config.shortest_s * 1e9)
        # the episode
        self._open = False
        self._context = _I
        self._waiting = 1
        self._origin_ns = self._start_ns = 0
        self._sent_ns = expert.NEVER_NS  # the client's first frame in it
        self._chosen = 0
        self._awake_until_ns = 0

    # -- what the station calls

    def observe(self, frame: Frame) -> None:
        """Enter a frame into the account, and end the episode if it is one that came."""
        if frame.sent:
            if self._open and self._sent_ns == expert.NEVER_NS:
                self._sent_ns = frame.at_ns
        elif self._open and (frame.host is None or frame.host.wanted):
            self._end_at_arrival(frame.reached_ns)
        self._account.observe(frame, asleep=frame.at_ns > self._awake_until_ns)
        self._awake_until_ns = expert.NEVER_NS  # until it is asked again

    def plan(self, view: View) -> Plan:
        """Begin an episode when it could sleep, go on with its schedule at a beacon that brings nothing."""
        now = view.now_ns
        if view.event == "idle":
            if self._open:
                self._end_at_send(now)
            self._begin(now)
        elif view.buffered_bytes:
            return Plan(now, now + self._interval_ns, True)
        elif self._context != _I and self._account.forget_after(now):
            self._end(now, arrived=False, sent_ns=expert.NEVER_NS)
            self._begin(now)
        until, wake, spacing = expert.step(self._rows[self._chosen], self._interval_ns, self._origin_ns, now)
        self._awake_until_ns = until
        return Plan(until, wake, True, spacing if self._context == _I else 0)

    # -- from one engine to the other

    @property
    def learners(self) -> list[LearnAlpha | StaticExpert]:
        """One a context, or a single one."""
        return self._learners

    def constants(self) -> tuple[NDArray[np.int64], tuple[int, int, int], tuple[float, float, float, float, float]]:
        """Return what was made of the configuration and the world.

        The schedules as a table; time between beacons, size of a packet without payload and silence after which all is
        forgotten (bytes, nanoseconds); what `lpsm.schedules.charge` takes of the radio, and the range of lambda outside
        I.
        """
        config, scale = self.config, self._scale
        prices_w = (config.least_price_w * scale, config.most_price_w * scale)
        return self._rows, (self._interval_ns, *self._account.limits), (*self._watts, *prices_w)

    def state(self) -> tuple[tuple[int, ...], list[int], list[int], list[float]]:
        """Return all that decides about the future but the learners, between pages, in the order of `resume`."""
        numbers, asked_ns = self._account.state()
        episode = (int(self._open), self._context, self._waiting, self._origin_ns, self._start_ns, self._sent_ns)
        return (
            (*episode, self._chosen, self._awake_until_ns, *numbers),
            asked_ns,
            self._best.copy(),
            self.prices_w.copy(),
        )

    def resume(
        self, episode: Sequence[int], asked_ns: Sequence[int], best: Sequence[int], prices_w: Sequence[float]
    ) -> None:
        """Take over what `state` returned."""
        is_open, self._context, self._waiting, self._origin_ns, self._start_ns, self._sent_ns, *rest = episode
        self._open = bool(is_open)
        self._chosen, self._awake_until_ns, *numbers = rest
        self._account.resume(numbers, asked_ns)
        self._best, self.prices_w = list(best), list(prices_w)

    # -- episodes

    def _begin(self, now_ns: int) -> None:
        account, config = self._account, self.config
        self._origin_ns = self._start_ns = now_ns
        self._waiting = 1
        if account.opening:
            self._context = _S
        elif account.arriving:
            self._context = _T
        elif account.waiting:
            waiting = min(account.waiting, _MOST_WAITING)
            self._context = _W + waiting - 1
            if config.share_delay:
                self._waiting = waiting
            if config.clock:
                self._origin_ns = account.oldest_ns
        else:
            self._context = _I
        self._open = True
        self._sent_ns = expert.NEVER_NS
        self._chosen = self._choose(self._learner())

    def _end_at_arrival(self, reached_ns: int) -> None:
        if reached_ns >= self._sent_ns:
            self._end_at_send(reached_ns)
        else:
            self._end(reached_ns, arrived=True, sent_ns=self._sent_ns)

    def _end_at_send(self, now_ns: int) -> None:
        self._end(min(self._sent_ns, now_ns), arrived=False, sent_ns=expert.NEVER_NS)

    def _end(self, end_ns: int, *, arrived: bool, sent_ns: int) -> None:
        """Charge every schedule, teach the learner of the context, and move the price."""
        self._open = False
        if end_ns - self._start_ns < self._shortest_ns:
            return
        found, costs, context = self._found, self._costs, self._context
        expert.walk(self._rows, self._interval_ns, self._origin_ns, self._start_ns, end_ns, arrived, sent_ns, found)
        price = self._price(context)
        least = expert.charge(found, *self._watts, price / self._waiting, costs)
        self._teach(self._learner(), costs, least)
        if self.config.record:
            self._keep(end_ns, arrived, price)
        if arrived:
            delay_s = int(found[self._chosen, expert.DELAY]) * 1e-9
            self._move_price(context, delay_s / self._waiting, (end_ns - self._start_ns) * 1e-9)

    def _keep(self, end_ns: int, arrived: bool, price_w: float) -> None:
        episode = (CONTEXTS[self._context], self._start_ns, end_ns, arrived, self._waiting, price_w, self._chosen)
        self.record.append(Round(*episode, self._costs.copy(), *self._found.T.copy()))

    # -- prices

    def _price(self, context: int) -> float:
        return self.prices_w[context == _I and self.config.max_push_delay_s is not None]

    def _move_price(self, context: int, delay_s: float, response_s: float) -> None:
        """Dual ascent on ln lambda: up if there was more delay than allowed, down if there was less."""
        config = self.config
        if not config.dual:
            return
        if context != _I:
            allowed_s = (config.max_slowdown - 1.0) * min(response_s, config.longest_response_s)
            price = self.prices_w[0] * math.exp(config.price_step * (delay_s - allowed_s))
            scale = self._scale
            self.prices_w[0] = min(max(price, config.least_price_w * scale), config.most_price_w * scale)
        elif config.max_push_delay_s is not None:
            counted = min(delay_s / config.max_push_delay_s, config.most_push_delays)
            price = self.prices_w[1] * math.exp(config.push_step * (counted - 1.0))
            self.prices_w[1] = min(max(price, config.least_push_price_w), config.most_push_price_w)

    # -- learners

    def _learner(self) -> int:
        return self._context if self.config.contexts else 0

    def _teach(self, which: int, costs: NDArray[np.float64], least: float) -> None:
        learner = self._learners[which]
        learner.update((costs - least) * self.config.rate_per_j)
        self._best[which] = int(learner.weights.argmax())

    def _choose(self, which: int) -> int:
        if self._draw is None:
            return self._best[which]
        return int(self._draw.choice(len(self._rows), p=self._learners[which].weights))

    def _fresh_learners(self) -> list[LearnAlpha | StaticExpert]:
        config, n = self.config, len(self._rows)
        grid = _switching_rates(config.horizon)
        waiting, idle = self._typical_losses()
        learners: list[LearnAlpha | StaticExpert] = []
        for context in CONTEXTS if config.contexts else ("all",):
            learner = LearnAlpha(n, grid) if config.learn_alpha else StaticExpert(n)
            learners.append(learner)
            if config.prior:
                learner.update(idle if context == "I" else waiting)
        return learners

    def _typical_losses(self) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
        """Losses in the waits to be expected before anything was seen, outside I and in I; nats."""
        config, (price, push_price) = self.config, self.prices_w
        pushed = config.max_push_delay_s is not None
        idle_ms = (config.push_prior_s if pushed else config.idle_prior_s) * 1e3
        losses = [
            expert.typical_costs(self._rows, self._interval_ns, waits_ms, *self._watts, price_w, arrived=arrived)
            for waits_ms, price_w, arrived in ((config.prior_ms, price, True), ((idle_ms,), push_price, pushed))
        ]
        waiting, idle = ((costs - costs.min()) * config.rate_per_j for costs in losses)
        return waiting, idle


@cache
def _switching_rates(horizon: int) -> NDArray[np.float64]:
    """Find the grid once: that takes as long as hundreds of rounds."""
    rates = alpha_grid(horizon=horizon)
    rates.flags.writeable = False
    return rates


def _name(config: Lpsm2Config, host_aware: bool) -> str:
    kind = "lpsm2" if host_aware else "lpsm2-link"
    push = ""
    if config.max_push_delay_s is not None:
        push = f":{number_text(float(Fraction(str(config.max_push_delay_s)) * 1000))}"
    return f"{kind}:{number_text(config.max_slowdown)}{push}"
