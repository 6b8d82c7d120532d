"""LPSM2 beside its definition, played with lists and public learners: drawn frames and beacons."""

import numpy as np

import netsim
from lpsm import LearnAlpha, alpha_grid
from netsim.policies import outstanding
from netsim.policies.lpsm2 import CONTEXTS, Lpsm2, Lpsm2Config
from netsim.policies.protocol import Frame, HostFrame, Plan, View
from netsim.radio import RadioConfig
from netsim.sleep_planning.schedules import NEVER_NS, Schedule, standard_schedules, step, table, typical_costs, walk
from tests.netsim.hazard_learner import HazardLearner
from tests.tables import cases_of, each, near
from traces.records import Page

MS = 1_000_000
FEW = (Schedule(stride=3), Schedule(hold_to_ms=250.0, stride=1), Schedule(duty_to_ms=4000.0, duty=0.3, longest=4),
       Schedule(dense_ms=300.0, longest=8), Schedule(hold_to_ms=1e4, stride=1))  # fmt: skip
RADIO = RadioConfig(awake_mw=900.0, asleep_mw=20.0, beacon_mj=2.0, wakeup_mj=1.5)
WATTS = (880.0, 2.0, 0.0015)


class HostAccount:
    """What the host knows to be outstanding: of a connection, since when, and "S", "W" (waiting) or "T"."""

    def __init__(self, _):
        self.things = {}

    def observe(self, frame, asleep):
        connection, opening, payload, completes, *_ = frame.host
        since, stage = self.things.pop(connection, (None, None))
        if frame.sent and stage is None and (opening or payload):
            since, stage = frame.at_ns, "S" if opening else "W"
        elif not frame.sent and stage == "W" and payload:
            stage = "T"
        if stage and (frame.sent or not (completes or (stage == "S"))):
            self.things[connection] = since, stage

    def forget(self, now_ns):
        return False

    def known(self):
        """Whether opening, whether arriving, and since when the requests wait."""
        stages = [stage for _, stage in self.things.values()]
        return "S" in stages, "T" in stages, sorted(since for since, stage in self.things.values() if stage == "W")


class LinkAccount:
    """What the link infers from sizes."""

    def __init__(self, silence_ns):
        self.silence_ns, self.last_ns, self.owed_ns, self.full_bytes = silence_ns, 0, -1, 576
        self.opening, self.arriving, self.asked = 0, False, []

    def forget(self, now_ns):
        if now_ns - self.last_ns < self.silence_ns:
            return False
        anything = bool(self.opening or self.arriving or self.asked)
        self.opening, self.arriving, self.asked = 0, False, []
        return anything

    def observe(self, frame, asleep):
        self.forget(frame.at_ns)
        self.last_ns, size = frame.at_ns, frame.size_bytes
        if frame.sent:
            if size > 40:
                self.asked.append(frame.at_ns)
            elif asleep:
                self.opening, self.arriving, self.asked = 1, False, []
            elif frame.at_ns != self.owed_ns:
                self.opening += 1
            self.owed_ns = -1
        elif size <= 40:
            self.owed_ns = frame.at_ns if self.opening else -1
            self.opening = max(0, self.opening - 1)
        elif size >= self.full_bytes:
            self.full_bytes, self.owed_ns, self.arriving = size, frame.at_ns, bool(self.asked)
        else:
            self.arriving, self.asked = False, self.asked[1:]

    def known(self):
        return self.opening > 0, self.arriving, self.asked[int(self.arriving) :]


class Definition:
    """LPSM2 as the doc string of its module has it."""

    def __init__(self, config, host_aware, interval_ns):
        self.config, self.interval_ns = config, interval_ns
        self.account = (HostAccount if host_aware else LinkAccount)(round(config.silence_s * 1e9))
        self.rows = table(config.schedules, interval_ns)
        allowed = config.max_slowdown - 1.0
        self.price, self.push_price = config.price_w * 0.05 / allowed, config.push_price_w
        self.range = config.least_price_w * 0.05 / allowed, config.most_price_w * 0.05 / allowed
        if config.max_push_delay_s is not None:
            self.push_price *= (0.1 / config.max_push_delay_s) ** 2
        self.learners = [LearnAlpha(len(self.rows), alpha_grid(horizon=config.horizon)) for _ in CONTEXTS]
        self.teach_first_rounds()
        self.ages = [HazardLearner(0.1, 1.0 if context == "I" else 0.5) for context in CONTEXTS]
        self.episode, self.sent_ns, self.awake_until_ns, self.rounds = None, None, NEVER_NS, []

    def teach_first_rounds(self):
        pushed = self.config.max_push_delay_s is not None
        idle_ms = 1000.0 * (self.config.push_prior_s if pushed else self.config.idle_prior_s)
        for context, learner in zip(CONTEXTS, self.learners, strict=True):
            waits, price, arrived = ((idle_ms,), self.push_price, pushed) if context == "I" else (
                self.config.prior_ms, self.price, True)  # fmt: skip
            costs = typical_costs(self.rows, self.interval_ns, waits, *WATTS, price, arrived=arrived)
            learner.update((costs - costs.min()) * self.config.rate_per_j)

    def observe(self, frame):
        if frame.sent:
            if self.episode and self.sent_ns is None:
                self.sent_ns = frame.at_ns
        elif self.episode and (frame.host is None or frame.host.wanted):
            if self.sent_ns is not None and frame.empty_ns >= self.sent_ns:
                self.end(self.sent_ns, False)
            else:
                reached_ns, start_ns = frame.full_ns, self.start_ns
                if reached_ns > start_ns:
                    ages_ns = max(0, frame.empty_ns - start_ns), reached_ns - start_ns
                    reached_ns = start_ns + self.ages[self.which].learn_between(*ages_ns)
                self.end(min(reached_ns, reached_ns if self.sent_ns is None else self.sent_ns), True)
        self.account.observe(frame, frame.at_ns > self.awake_until_ns)
        self.awake_until_ns = NEVER_NS

    def plan(self, view):
        now = view.now_ns
        if view.event == "idle":
            if self.episode:
                self.end(now if self.sent_ns is None else self.sent_ns, False)
            self.begin(now)
        elif view.buffered_bytes:
            return Plan(now, now + self.interval_ns, True, 0, False)
        elif self.context != "I" and self.account.forget(now):
            self.sent_ns = None
            self.end(now, False)
            self.begin(now)
        until, wake, spacing = step(self.rows[self.chosen], self.interval_ns, self.origin_ns, now)
        self.awake_until_ns = until
        return Plan(until, wake, True, spacing if self.context == "I" else 0, False)

    def begin(self, now):
        opening, arriving, asked = self.account.known()
        self.origin_ns, self.start_ns, self.waiting, self.sent_ns, self.episode = now, now, 1, None, True
        if opening or arriving or not asked:
            self.context = "S" if opening else "T" if arriving else "I"
        else:
            some = min(4, len(asked))
            self.context = f"W{some}"
            self.waiting, self.origin_ns = some, asked[0]
        self.which = CONTEXTS.index(self.context)
        fixed = self.config.fixed
        self.chosen = fixed[self.which] if fixed else int(self.learners[self.which].weights.argmax())

    def end(self, end_ns, arrived):
        self.episode = None
        if not arrived and end_ns > self.start_ns:
            self.ages[self.which].learn(end_ns - self.start_ns, ended=False)
        if end_ns - self.start_ns < self.config.shortest_s * 1e9:
            return
        found = np.empty((len(self.rows), 4), dtype=np.int64)
        sent_ns = NEVER_NS if self.sent_ns is None or not arrived else self.sent_ns
        walk(self.rows, self.interval_ns, self.origin_ns, self.start_ns, end_ns, arrived, sent_ns, found)
        own_price = self.context == "I" and self.config.max_push_delay_s is not None
        price = self.push_price if own_price else self.price
        costs = found @ [WATTS[0] * 1e-12, WATTS[1] * 1e-3, WATTS[2], price / self.waiting * 1e-9]
        if self.config.fixed is None:
            self.learners[self.which].update((costs - costs.min()) * self.config.rate_per_j)
        self.rounds.append((self.context, self.start_ns, end_ns, arrived, self.waiting, price, self.chosen, costs))
        if arrived:
            self.move_price(found[self.chosen, 3] * 1e-9 / self.waiting, (end_ns - self.start_ns) * 1e-9)

    def move_price(self, delay_s, response_s):
        config = self.config
        if self.context != "I":
            allowed_s = (config.max_slowdown - 1.0) * min(response_s, config.longest_response_s)
            moved = self.price * np.exp(config.price_step * (delay_s - allowed_s))
            self.price = np.clip(moved, *self.range)
        elif config.max_push_delay_s is not None:
            delays = min(delay_s / config.max_push_delay_s, config.most_push_delays)
            moved = self.push_price * np.exp(config.push_step * (delays - 1.0))
            self.push_price = np.clip(moved, config.least_push_price_w, config.most_push_price_w)


def drawn_script(seed, host_aware, events):
    """Yield frames and views, and None at last; what is sent to it is the plan that a view was answered with."""
    rng, now, of_link = np.random.default_rng(seed), 0, not host_aware
    yield View("idle", 0, None, None, 0, 0, (), None)
    for _ in range(events):
        now += int(rng.choice([0, 700, 30 * MS, 400 * MS, 2500 * MS], p=[0.15, 0.1, 0.35, 0.3, 0.1]) * rng.random())
        kind, connection, opening = rng.random(), int(rng.integers(9)), rng.random() < 0.08
        size = 40 if opening else int(rng.choice([40, 41, 300, 576, 800, 1500], p=[0.05, *[0.19] * 5]))
        payload = 0 if opening else size - 40
        if kind < 0.35:
            host = HostFrame(connection, opening, payload, False, True)
            yield Frame(True, now, now, size, None if of_link else host, now, now)
        elif kind < 0.65:
            host = HostFrame(connection, opening, payload, bool(rng.random() < 0.7), bool(rng.random() < 0.9))
            reached = max(0, now - int(300 * MS * rng.random() ** 2))
            empty = max(0, reached - int(300 * MS * max(0.0, rng.random() - 0.5)))
            yield Frame(False, now, None, size, None if of_link else host, empty, reached)
        else:
            plan = yield View("idle", now, None, None, 0, 0, (), None)
            for _ in range(rng.integers(4)):
                now, buffered = plan.wake_ns, int(rng.random() < 0.2) * 300
                plan = yield View("beacon", now, None, None, 0, buffered, (), None)
    yield None


SETTINGS = [{}, {"fixed": (3, 1, 4, 0, 2, 1, 3)}, {"max_push_delay_s": 0.05}, {"shortest_s": 0.2, "record": False},
            {"max_push_delay_s": 0.4, "push_step": 2.0, "most_push_delays": 1.5, "push_prior_s": 0.7},
            {"max_slowdown": 1.3, "price_step": 40.0, "longest_response_s": 0.3}, {"shortest_s": 0.0}]  # fmt: skip


@cases_of("host_aware", "True ; False")
@each("part", range(2 * len(SETTINGS)))
def test_it_plans_learns_and_prices_as_it_is_defined(part, host_aware):
    settings = {"schedules": FEW, "horizon": 12, "silence_s": 1.5, "prior_ms": (150.0, 700.0), "idle_prior_s": 1.1,
                "record": True, **SETTINGS[part // 2]}  # fmt: skip
    config, interval_ns = Lpsm2Config(**settings), 102_400_000 if part % 2 else 100 * MS
    ours = Lpsm2(config, host_aware=host_aware, radio=RADIO, beacon_interval_ns=interval_ns)
    known = Definition(config, host_aware, interval_ns)
    script = drawn_script(part, host_aware, 120)
    event = next(script)
    while event is not None:
        plan = None
        if isinstance(event, Frame):
            ours.observe(event)
            known.observe(event)
        else:
            plan = ours.plan(event)
            assert plan == known.plan(event)
        opening, arriving, asked = known.account.known()
        account = ours.memory[0]
        kinds, since = account["kind"][: account["n"]], account["origin_ns"][: account["n"]]
        assert (outstanding.OPENING in kinds, outstanding.REST in kinds) == (opening, arriving)
        since = since[kinds == outstanding.REPLY].tolist()
        assert since[len(since) - len(asked) :] == asked
        assert ours.prices_w == near([known.price, known.push_price])
        event = script.send(plan)
    for mine, theirs in zip(ours.learners, known.learners, strict=True):
        assert mine.weights == near(theirs.weights, rel=1e-9)
    assert len({context for context, *_ in known.rounds}) > 2
    if config.record:
        assert [tuple(one[:5]) for one in ours.record] == [one[:5] for one in known.rounds]
        for one, (*_, price, chosen, costs) in zip(ours.record, known.rounds, strict=True):
            assert (one.price_w, one.chosen) == (near(price), chosen)
            assert one.costs == near(costs)


@cases_of("host_aware", "True ; False")
@cases_of("server_s", "0.0 ; 0.613")
def test_what_the_followed_schedule_is_charged_is_what_the_simulator_charges(host_aware, server_s):
    """One request: beacons, wake-ups and delay of every schedule are the run's, and so is time awake but for frames."""
    page = Page("p", 300, 800, (), 1.237, 0.0837)
    patient = netsim.TcpConfig(initial_rto_s=30.0, min_rto_s=30.0)
    world = netsim.SimulationConfig(server_delay=server_s, tcp=patient, oracle_stamps=True)
    always = netsim.simulate([page], "none", config=world)
    for_frames = set()
    for schedule in standard_schedules():
        policy = Lpsm2(Lpsm2Config(schedules=(schedule,), record=True), host_aware=host_aware)
        run = netsim.simulate([page], policy, config=world)
        left, out = run.final_policy, np.empty((1, 4), dtype=np.int64)  # the last episode goes on at the end of the run
        state, end = left.memory[0], round(run.elapsed_s * 1e9)
        origin, start = int(state["counted_from_ns"]), int(state["start_ns"])
        walk(table((schedule,), 100 * MS), 100 * MS, origin, start, end, False, NEVER_NS, out)
        charged = np.sum([(r.awake_ns, r.beacons, r.wakeups, r.delay_ns) for r in left.record], axis=0)[:, 0]
        awake, beacons, wakeups, delay = (charged + out[0]).tolist()
        assert run.beacons == beacons
        assert run.wakeups == wakeups - (end > state["awake_until_ns"])  # nothing is sent at the end
        assert round((run.latency_s[0] - always.latency_s[0]) * 1e9) == delay
        for_frames.add(round(run.awake_s * 1e9) - awake)
    assert len(for_frames) == 1
