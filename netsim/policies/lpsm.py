"""LPSM: the polling time learned online by Learn-alpha (thesis section 2.5.3, fig. 2-4).

The learner works at polls only: from how long it slept and how many bytes were waiting follows the loss of every
polling time; the weighted mean of the polling times, rounded to whole beacons, is the next sleep.  Waking up to send
neither teaches the learner nor moves the poll already scheduled.
"""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import TYPE_CHECKING, Any

from lpsm.checks import of_type
from lpsm.experts import alpha_grid
from netsim.policies.compiled import CompiledForm, NamedObserving, joined, put_back
from netsim.policies.entry import NS_PER_MS, Entry, Setting, assignments, number, whole_number
from netsim.policies.protocol import Plan, Policy, View

if TYPE_CHECKING:
    from netsim.policies.polling import PollingLearner


class Lpsm:
    """The policies `lpsm` (energy term 1/T) and `lpsm:log` (1/log T), or any other learner of polling times.

    Parameters
    ----------
    learner : PollingLearner
        What is known at first.  With a loss of its own, or a `poll` of a subclass, the policy is interpreted.
    spec : str
        The name that results carry.
    beacon_interval_ns : int
        Time between beacons; a sleep is max(1, round(mean / interval)) of them.

    A subclass of the learner that overrides what LPSM does not ask is a TypeError.
    """

    host_aware = False
    compiled: CompiledForm | None = None

    def __init__(
        self, learner: PollingLearner, spec: str = "lpsm", *, beacon_interval_ns: int = 100 * NS_PER_MS
    ) -> None:
        from netsim.policies.polling import PollingLearner, beacons, learn_at_beacons

        of_type(PollingLearner, learner=learner)
        kind = type(learner)
        public = [name for name in vars(PollingLearner) if name[0] != "_" and name != "poll"]
        if ignored := [name for name in public if getattr(kind, name) is not getattr(PollingLearner, name)]:
            what = f"{kind.__name__} must not override {', '.join(ignored)}, which LPSM does not ask"
            raise TypeError(f"{what}: it asks poll, or PollingLearner(loss=...)")
        self.spec = spec
        self._learner = learner
        self._interval_ns, self._sleep = beacon_interval_ns, beacons(learner.mean_ms, beacon_interval_ns / NS_PER_MS)
        if learner.loss_of is not None or getattr(learner.poll, "__func__", None) is not PollingLearner.poll:
            return
        weights, _, slow, *_ = learner.arrays()
        ints = (beacon_interval_ns, self._sleep, *weights.shape, len(slow))
        self.compiled = CompiledForm(learn_at_beacons, ints=ints, floats=[learner.mean_ms, *joined(learner.arrays())])

    def plan(self, view: View) -> Plan:
        """Ask the rule, or the learner if it has a loss of its own."""
        if self.compiled is not None:
            return self.compiled.plan(view)
        from netsim.policies.polling import beacons

        if view.event == "beacon":
            interval_ms = self._interval_ns / NS_PER_MS
            self._sleep = beacons(self._learner.poll(self._sleep * interval_ms, view.buffered_bytes), interval_ms)
        return Plan(view.now_ns, (view.now_ns // self._interval_ns + self._sleep) * self._interval_ns)

    @property
    def learner(self) -> PollingLearner:
        """The learner as it is now."""
        if self.compiled is None:
            return self._learner
        put_back(self.compiled.floats[1:], self._learner.arrays())
        self._learner.mean_ms = float(self.compiled.floats[0])
        return self._learner


_TERMS = {"1/T": "1/T", "log": "1/log T"}  # as they are written in a name
_POLLING_TIMES_MS = tuple(round(3.0 * (400.0 / 3.0) ** (k / 11), 1) for k in range(12))  # between beacons
_MOST = 10_000  # experts, and switching rates


def _learner(kind: str, parameter: str, **default: Any) -> tuple[PollingLearner, str]:
    """Return the learner that a parameter asks for, and its name."""
    from netsim.policies.polling import PollingConfig, PollingLearner

    if "=" not in parameter and parameter not in ("", "log"):
        raise ValueError(f"{kind} takes no parameter, log or {_WRITTEN}, got {parameter!r}")
    given = assignments(parameter, tuple(_FIELDS)) if "=" in parameter else {"energy": "log"} if parameter else {}
    values = default | {_FIELDS[name][0]: _FIELDS[name][1](text) for name, text in given.items()}
    said = ",".join(f"{name}={given[name]}" for name in _FIELDS if given.get(name, _SAID[name]) != _SAID[name])
    spec = f"{kind}:log" if said == "energy=log" else f"{kind}:{said}" if said else kind
    return PollingLearner(PollingConfig(**values)), spec


def _lpsm(parameter: str, setting: Setting) -> Lpsm:
    return Lpsm(*_learner("lpsm", parameter), beacon_interval_ns=setting.beacon_interval_ns)


def _lpsm_poll(parameter: str, setting: Setting) -> Policy:
    from netsim.policies.polling import form_with_polls

    learner, spec = _learner("lpsm-poll", parameter, times_ms=_POLLING_TIMES_MS)
    form = form_with_polls(learner, setting.beacon_interval_ns)
    return NamedObserving(spec, form, host_aware=True, polls=True)


def _times(text: str) -> tuple[float, ...]:
    """Read FIRST:LAST:STEP, milliseconds, the last included, or the times themselves with / between them."""
    numbers = [number(part) for part in text.split(":" if ":" in text else "/")]
    if ":" not in text and len(numbers) <= _MOST:
        return tuple(numbers)
    first, last, step = numbers if len(numbers) == 3 else (1.0, 0.0, 1.0)
    if not (0.0 < step < inf and 0.0 < first <= last < inf) or (last - first) / step >= _MOST:
        raise ValueError(f"times must be FIRST:LAST:STEP in ms, at most {_MOST}, or T/T/..., got {text!r}")
    return tuple(first + step * k for k in range(int((last - first) / step + 1e-9) + 1))


def _energy(text: str) -> str:
    if text not in _TERMS:
        raise ValueError(f"energy must be 1/T or log, got {text!r}")
    return _TERMS[text]


def _alphas(text: str) -> tuple[float, ...] | None:
    """Read how many switching rates there are: 259 of the thesis' grid (None), else Chebyshev's; below 1: the rate."""
    value = number(text)
    if text == _SAID["alphas"]:
        return None
    if 0.0 <= value < 1.0:
        return (value,)
    return tuple(alpha_grid(kind="chebyshev", size=whole_number(text, "alphas", 1, most=_MOST)).tolist())


_FIELDS: dict[str, tuple[str, Callable[[str], Any]]] = {
    "times": ("times_ms", _times), "energy": ("energy", _energy), "gamma": ("gamma", number),
    "alphas": ("alphas", _alphas),
}  # fmt: skip
_SAID = {"times": "", "energy": "1/T", "gamma": "", "alphas": "259"}  # the defaults, which a name does not repeat
_WRITTEN = "times=FIRST:LAST:STEP,energy=1/T|log,gamma=G,alphas=M"
ENTRIES = (
    Entry(f"lpsm[:log|:{_WRITTEN}]", "polling times learned by Learn-alpha, energy term 1/T or 1/log T",
        "Monteleoni 2006, section 2.5.3", "lpsm:log", _lpsm),
    Entry(f"lpsm-poll[:log|:{_WRITTEN}]",
        "host-aware: asks the access point after polling times that Learn-alpha learns, while waiting; else naps",
        "the learner and loss of Monteleoni 2006, section 2.5.3", "lpsm-poll", _lpsm_poll, host_aware=True),
)  # fmt: skip
