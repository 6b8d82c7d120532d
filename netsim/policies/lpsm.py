"""LPSM: the polling time learned online by Learn-alpha (thesis section 2.5.3, fig. 2-4).

The learner works at polls only: from how long it slept and how many bytes were
waiting follows the loss of every polling time; the weighted mean of the polling
times, rounded to whole beacons, is the next sleep.  Waking up to send neither
teaches the learner nor moves the poll already scheduled.
"""

from __future__ import annotations

from lpsm.polling import PollingLearner
from netsim.policies.protocol import Plan, View

__all__ = ["Lpsm"]

_NS_PER_MS = 1_000_000


class Lpsm:
    """The policies `lpsm` (energy term 1/T) and `lpsm:log` (1/log T), or any other learner of polling times.

    Parameters
    ----------
    learner : PollingLearner
        It is advanced by the run.
    spec : str
        The name that results carry.
    beacon_interval_ns : int
        Time between beacons; a sleep is max(1, round(mean / interval)) of them.
    """

    host_aware = False

    def __init__(self, learner: PollingLearner, spec: str = "lpsm", *, beacon_interval_ns: int = 100_000_000) -> None:
        self.spec = spec
        self.learner = learner
        self._poll = learner.poll
        self._interval_ns = beacon_interval_ns
        self._interval_ms = beacon_interval_ns / _NS_PER_MS
        self._sleep_for(learner.mean_ms)

    def plan(self, view: View) -> Plan:
        """Learn at a beacon; sleep for the beacons last decided."""
        if view.event == "beacon":
            # T_t is the nominal sleep, also when it was cut short by a send
            self._sleep_for(self._poll(self._nominal_ms, view.buffered_bytes))
        interval = self._interval_ns
        return Plan(view.now_ns, (view.now_ns // interval + self._beacons) * interval)

    @property
    def beacons(self) -> int:
        """How many beacon intervals the next sleep lasts."""
        return self._beacons

    def resume(self, beacons: int) -> None:
        """Go on after polls that were not asked of `plan` but learned from elsewhere."""
        self._beacons = beacons
        self._nominal_ms = beacons * self._interval_ms

    def _sleep_for(self, mean_ms: float) -> None:
        self.resume(max(1, int(mean_ms / self._interval_ms + (0.5 + 1e-9))))
