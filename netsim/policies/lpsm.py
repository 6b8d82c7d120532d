"""LPSM: the polling time learned online by Learn-alpha (thesis section 2.5.3, fig. 2-4).

The learner works at polls only: from how long it slept and how many bytes were
waiting follows the loss of every polling time; the weighted mean of the polling
times, rounded to whole beacons, is the next sleep.  Waking up to send neither
teaches the learner nor moves the poll already scheduled.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from netsim.policies.compiled import CompiledForm, Ruled, joined, put_back
from netsim.policies.entry import NS_PER_MS, Entry, Setting

if TYPE_CHECKING:
    from netsim.policies.polling import PollingLearner

__all__ = ["ENTRIES", "Lpsm"]


class Lpsm(Ruled):
    """The policies `lpsm` (energy term 1/T) and `lpsm:log` (1/log T), or any other learner of polling times.

    Parameters
    ----------
    learner : PollingLearner
        What is known at first.
    spec : str
        The name that results carry.
    beacon_interval_ns : int
        Time between beacons; a sleep is max(1, round(mean / interval)) of them.
    """

    def __init__(
        self, learner: PollingLearner, spec: str = "lpsm", *, beacon_interval_ns: int = 100 * NS_PER_MS
    ) -> None:
        from netsim.policies.lpsm_rule import learn_at_beacons
        from netsim.policies.polling import beacons

        self.spec = spec
        self._learner = learner
        weights, _, slow, *_ = learner.arrays()
        sleep = beacons(learner.mean_ms, beacon_interval_ns / NS_PER_MS)
        ints = (beacon_interval_ns, sleep, *weights.shape, slow.shape[2])
        self.compiled = CompiledForm(learn_at_beacons, ints=ints, floats=[learner.mean_ms, *joined(learner.arrays())])

    @property
    def learner(self) -> PollingLearner:
        """The learner as it is now."""
        put_back(self.compiled.floats[1:], self._learner.arrays())
        self._learner.mean_ms = float(self.compiled.floats[0])
        return self._learner


def _lpsm(parameter: str, setting: Setting) -> Lpsm:
    if parameter not in ("", "log"):
        raise ValueError(f"lpsm takes no parameter or log, got {parameter!r}")
    from netsim.policies.polling import PollingConfig, PollingLearner

    learner = PollingLearner(PollingConfig.thesis("1/log T" if parameter else "1/T"))
    return Lpsm(learner, "lpsm:log" if parameter else "lpsm", beacon_interval_ns=setting.beacon_interval_ns)


ENTRIES = (
    Entry("lpsm[:log]", "polling times learned by Learn-alpha, energy term 1/T or 1/log T",
        "Monteleoni 2006, section 2.5.3", "lpsm:log", _lpsm),
)  # fmt: skip
