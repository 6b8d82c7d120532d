"""The record of a run: energies, and frames of pages, polls, messages and of the radio.

Inside, everything is in integer nanoseconds; here it becomes seconds and joules.  Frames are made when they are
first looked at, and pandas is imported then: it takes longer than thousands of pages do.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np

from lpsm.arrays import Floats, Ints
from lpsm.checks import of_type
from netsim.policies.protocol import Policy
from netsim.radio import Energy, Radio, StateRadioConfig, StateTimes
from traces.columns import Workload

if TYPE_CHECKING:
    import pandas as pd

_NS_PER_S = 1_000_000_000
LEVELS = ("mean", "p95", "p99", "max")
"""What is said of delays and slowdowns."""
_NS_PER_MS = 1_000_000


LOADS = ("issued", "done", "awake", "beacons")
DATAGRAMS = ("at", "bytes", "up", "reached", "arrived", "ended")
"""The fields of `netsim.model.entities.PageRecord` and `Datagram` that a `RunRecord` has."""

_NONE: Ints = np.empty((0, 6), dtype=np.int64)


class RunRecord(NamedTuple):
    """What browsing a workload leaves behind."""

    #: totals of the run
    end_ns: int
    awake_ns: int
    beacons: int
    air_up_ns: int
    air_down_ns: int
    frames_lost: int
    loads: Ints  #: shape (pages, 4): issue, last byte, and between them time awake and beacons
    #: shape (entries, 6): first instant, time slept before it, bytes waiting, next sleep, how many more polls like it
    #: follow (none of which found anything), and their spacing
    polls: Ints
    intervals: Ints  #: start and end of every interval awake
    states: StateTimes | None = None  #: time in each state of the radio, on the shared air
    page_states: Ints | None = None  #: shape (pages, 7): the same while each page was loading
    groups_lost: int = 0  #: group frames that the client was asleep for, on the shared air
    beacons_lost: int = 0  #: beacons that it wanted and could not decode
    #: shape (datagrams, 6): instant, bytes, whether up, when it was at the access point or the transmitter of the
    #: client, whether it arrived, and when
    datagrams: Ints = _NONE
    #: shape (exchanges, 2): when those with times of their own began and ended
    exchanges: Ints = _NONE[:, :2]


class Against(NamedTuple):
    """A run held against another one of the same workload.

    Attributes
    ----------
    energy_percent : float
        How much more energy the run needed, percent of the other's: a saving is negative.  NaN if that needed none.
    slowdowns : array of float64, shape (pages,)
        Latency of each page over its latency in the other run.
    added_delay_s : array of float64, shape (messages,)
        How much later each pushed message was delivered, seconds.
    """

    energy_percent: float
    slowdowns: Floats
    added_delay_s: Floats

    @property
    def slowdown(self) -> float:
        """The mean over the pages of the ratios of their latencies; NaN without pages."""
        return float(self.slowdowns.mean()) if len(self.slowdowns) else nan

    @property
    def delay_s(self) -> float:
        """The mean added delay of the messages; NaN without messages."""
        return float(self.added_delay_s.mean()) if len(self.added_delay_s) else nan


@dataclass(frozen=True, eq=False, repr=False)
class SimulationResult:
    """The record of a run."""

    policy: str  #: canonical name of the policy
    #: joules of the whole run: awake_j, sleep_j, listen_j, wakeup_j, total_j, and per_page_j (NaN without pages)
    energy: Energy
    #: seconds of the whole run
    elapsed_s: float
    awake_s: float
    asleep_s: float
    beacons: int  #: beacons listened to from sleep, whole run
    #: time that frames spent on the air, each way
    uplink_air_s: float
    downlink_air_s: float
    frames_lost: int  #: frames lost on the air
    wakeups: int  #: passages from asleep to awake, whole run
    final_policy: Policy  #: the policy as the run left it (what it learned)
    _names: Sequence[str]
    _radio: Radio
    _trip: RunRecord
    _messages: Ints
    captured_s: float | None = None

    def charged(self, radio: Radio) -> SimulationResult:
        """Return the same run charged by another radio, which must have the times of the one that it ran with."""
        return replace(self, energy=_energy(self._trip, radio, len(self._names)), _radio=radio)

    def __repr__(self) -> str:
        return (
            f"SimulationResult(policy={self.policy!r}, pages={len(self.latency_s)}, elapsed_s={self.elapsed_s:.6g}, "
            f"total_j={self.energy.total_j:.6g})"
        )

    def against(self, base: SimulationResult) -> Against:
        """Hold this run against another one of the same workload, such as that under ``none``.

        Raises
        ------
        TypeError
            If `base` is no result.
        ValueError
            If the two are not of equally many pages and messages.
        """
        of_type(SimulationResult, base=base)
        for name in ("latency_s", "message_delay_s"):
            own, other = len(getattr(self, name)), len(getattr(base, name))
            if own != other:
                raise ValueError(f"base must be of the same workload, its {name} must have {own} values, got {other}")
        joules, other_j = self.energy.total_j, base.energy.total_j
        return Against(
            float(100.0 * (joules / other_j - 1.0)) if other_j else nan,
            self.latency_s / base.latency_s,
            self.message_delay_s - base.message_delay_s,
        )

    def slowdown(self, base: SimulationResult) -> float:
        """Return the mean over the pages of latency / latency in `base` (`against`)."""
        return self.against(base).slowdown

    @property
    def page_columns(self) -> dict[str, Any]:
        """The columns of `pages` without a frame around them; `policy` is one name for all."""
        issue, done, awake, beacons = self._trip.loads.T
        asleep = done - issue - awake
        wakeups = np.searchsorted(_wakeups(self._trip), [issue, done])
        radio, states = self._radio, self._trip.page_states
        if isinstance(radio, StateRadioConfig) and states is not None:
            energy: Any = StateTimes.of(states.T).energy(radio, 1).total_j
        else:
            energy = radio.total_j(awake, asleep, beacons, wakeups[1] - wakeups[0])
        return {
            "policy": self.policy, "page": self._names, "issue_s": issue / _NS_PER_S,
            "latency_s": (done - issue) / _NS_PER_S, "awake_s": awake / _NS_PER_S, "asleep_s": asleep / _NS_PER_S,
            "beacons": beacons, "energy_j": energy,
        }  # fmt: skip

    @cached_property
    def pages(self) -> pd.DataFrame:
        """One row a page: policy, page, issue_s, latency_s, awake_s, asleep_s, beacons, energy_j.

        Everything after issue_s is over [issue, last byte].
        """
        import pandas as pd

        return pd.DataFrame(self.page_columns)

    @property
    def latency_s(self) -> Floats:
        """The latencies of the pages, in order: that column of `pages` without the cost of a frame."""
        seconds: Floats = (self._trip.loads[:, 1] - self._trip.loads[:, 0]) / _NS_PER_S
        return seconds

    @property
    def message_delay_s(self) -> Floats:
        """The delays of the messages, in order: that column of `messages` without the cost of a frame."""
        seconds: Floats = (self._messages[:, 2] - self._messages[:, 0]) / _NS_PER_S
        return seconds

    @cached_property
    def messages(self) -> pd.DataFrame:
        """One row a pushed message: policy, message (its number), written_s, size_bytes, delivered_s, delay_s.

        The delay runs from the server's writing to the last byte at the client.  How much of it the power saving added
        is its difference from that of the same message in a run without.
        """
        import pandas as pd

        written, size, delivered = self._messages.T
        columns = {"written_s": written / _NS_PER_S, "size_bytes": size, "delivered_s": delivered / _NS_PER_S}
        numbers = {"policy": self.policy, "message": np.arange(len(written))}
        return pd.DataFrame(numbers | columns | {"delay_s": self.message_delay_s})

    @property
    def datagram_delay_s(self) -> Floats:
        """How late the datagrams were that came down: from the access point, where they waited, to the client."""
        _, _, up, reached, arrived, ended = self._trip.datagrams.T
        seconds: Floats = ((ended - reached) / _NS_PER_S)[(up == 0) & (arrived == 1)]
        return seconds

    @property
    def exchange_s(self) -> Floats:
        """How long exchanges took, from the request to the last byte: one by one where they have times of their own.

        Elsewhere these are the latencies of the pages.
        """
        begun, ended = self._trip.exchanges.T
        seconds: Floats = (ended - begun) / _NS_PER_S
        return seconds if len(seconds) else self.latency_s

    @property
    def datagram_totals(self) -> dict[str, float]:
        """How many datagrams there were and were lost; mean, p95, p99 and maximum of the delays down, seconds."""
        arrived = self._trip.datagrams[:, 4]
        found: dict[str, float] = {"datagrams": len(arrived), "datagrams_lost": int(len(arrived) - arrived.sum())}
        return found | spread("datagram_delay", "s", self.datagram_delay_s)

    @cached_property
    def datagrams(self) -> pd.DataFrame:
        """One row a datagram: policy, sent_s, size_bytes, up, delay_s (of those down that arrived), arrived."""
        import pandas as pd

        at, size, up, reached, arrived, ended = self._trip.datagrams.T
        down = (up == 0) & (arrived == 1)
        columns = {"sent_s": at / _NS_PER_S, "size_bytes": size, "up": up == 1}
        delay_s = np.where(down, (ended - reached) / _NS_PER_S, nan)
        return pd.DataFrame({"policy": self.policy, **columns, "delay_s": delay_s, "arrived": arrived == 1})

    @property
    def states_s(self) -> dict[str, float] | None:
        """Seconds of the whole run in each state of the radio, which add up to it; None on wires."""
        states = self._trip.states
        if states is None:
            return None
        names = ("doze", "waking", "listening", "receiving", "transmitting")
        return {name: getattr(states, f"{name}_ns") / _NS_PER_S for name in names}

    @property
    def group_frames_lost(self) -> int:
        """Group frames that the client was asleep for; 0 on wires, which have none."""
        return self._trip.groups_lost

    @property
    def beacons_lost(self) -> int:
        """Beacons that the client wanted and could not decode; 0 on wires."""
        return self._trip.beacons_lost

    @cached_property
    def polls(self) -> pd.DataFrame:
        """One row a beacon listened to on schedule: time_s, slept_ms, buffered_bytes, next_sleep_ms.

        A beacon that passed while the client was awake to send is a row too, though it cost nothing.
        """
        import pandas as pd

        first, slept, waiting, following, more, spacing = self._trip.polls.T
        count = more + 1
        row = np.repeat(np.arange(len(first)), count)
        nth = np.arange(len(row)) - np.repeat(np.cumsum(count) - count, count)
        columns = {
            "time_s": (first[row] + nth * spacing[row]) / _NS_PER_S,
            "slept_ms": np.where(nth == 0, slept[row], spacing[row]) / _NS_PER_MS,
            "buffered_bytes": waiting[row],
            "next_sleep_ms": following[row] / _NS_PER_MS,
        }
        return pd.DataFrame(columns)

    @cached_property
    def radio(self) -> pd.DataFrame:
        """The intervals of the radio, in order and without gaps: start_s, end_s, state ("awake" or "asleep")."""
        import pandas as pd

        end_ns = self._trip.end_ns  # on the air the client may be about to acknowledge what ended the run
        edges = np.concatenate(([0], np.minimum(self._trip.intervals, end_ns), [end_ns]))
        start, end = edges[:-1], edges[1:]
        state = np.where(np.arange(len(start)) % 2, "awake", "asleep")
        kept = end > start
        return pd.DataFrame({"start_s": start[kept] / _NS_PER_S, "end_s": end[kept] / _NS_PER_S, "state": state[kept]})


def spread(name: str, unit: str, values: Floats) -> dict[str, float]:
    """Return mean, 95th and 99th percentile and maximum of some values as ``NAME_mean_UNIT`` ...; nothing of none.

    >>> spread("delay", "s", np.array([1.0, 3.0]))
    {'delay_mean_s': 2.0, 'delay_p95_s': 2.9, 'delay_p99_s': 2.98, 'delay_max_s': 3.0}
    """
    if not len(values):
        return {}
    found = [values.mean(), *np.quantile(values, [0.95, 0.99]), values.max()]
    unit = f"_{unit}" if unit else ""
    return {f"{name}_{level}{unit}": float(one) for level, one in zip(LEVELS, found, strict=True)}


def result_of(workload: Workload, policy: Policy, radio: Radio, trip: RunRecord, messages: Ints) -> SimulationResult:
    """Make the record of a run from what it left behind; `messages` are as `netsim.running.setup.trip_of` has them."""
    end, awake = trip.end_ns, trip.awake_ns
    return SimulationResult(
        policy=policy.spec, energy=_energy(trip, radio, len(workload)), elapsed_s=end / _NS_PER_S,
        awake_s=awake / _NS_PER_S, asleep_s=(end - awake) / _NS_PER_S, beacons=trip.beacons,
        uplink_air_s=trip.air_up_ns / _NS_PER_S, downlink_air_s=trip.air_down_ns / _NS_PER_S,
        frames_lost=trip.frames_lost, wakeups=len(_wakeups(trip)), final_policy=policy, _names=workload.names,
        _radio=radio, _trip=trip, _messages=messages, captured_s=workload.captured_s,
    )  # fmt: skip


def _energy(trip: RunRecord, radio: Radio, pages: int) -> Energy:
    if isinstance(radio, StateRadioConfig) and trip.states is not None:
        energy = trip.states.energy(radio, max(1, pages))
    else:
        asleep = trip.end_ns - trip.awake_ns
        energy = radio.energy(trip.awake_ns, asleep, trip.beacons, max(1, pages), wakeups=len(_wakeups(trip)))
    return energy if pages else replace(energy, per_page_j=nan)


def _wakeups(trip: RunRecord) -> Ints:
    """Return the instants of waking up; how the client is at time 0 is no passage and costs nothing."""
    starts = trip.intervals[::2]
    return starts[starts > 0]
