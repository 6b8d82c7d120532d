"""LPSM2 between the engines: what the policy's objects hold, into the arrays of `schedules` and back."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from lpsm import schedules as expert
from lpsm.experts import LearnAlpha
from netsim.policies.lpsm2 import Lpsm2, Lpsm2Config
from netsim.twin import schedules as slot

__all__ = ["Carried", "why_not_lpsm2"]

Ints = NDArray[np.int64]
Floats = NDArray[np.float64]

_ASKED_ROOM = 64


def why_not_lpsm2(policy: Lpsm2) -> str | None:
    """Say what about the policy has no compiled twin, or None if all of it has."""
    config = policy.config
    if type(config) is not Lpsm2Config:
        return f"policy {policy.spec} has a configuration of its own, {type(config).__name__}"
    for name, kept in (("record", config.record), ("sample_seed", config.sample_seed is not None)):
        if kept:
            return f"policy {policy.spec} has {name}={getattr(config, name)}, which only the packet model follows"
    if not config.learn_alpha:
        return f"policy {policy.spec} has learn_alpha=False, which only the packet model follows"
    return None


class Carried:
    """The arrays for one policy and one run.

    Parameters
    ----------
    policy : Lpsm2
        Whose state they hold after `load`, and who gets it back by `unload`.
    room : int
        Frames that can be held back at the access point.
    beacon_interval_ns : int
        Time between the beacons that there are.

    Attributes
    ----------
    integers, floats : arrays of int64 and float64
        As `schedules` lays them out.
    kept : tuple of arrays
        Like these, for what was before a page.

    Raises
    ------
    ValueError
        If the policy was made for other beacons.
    """

    def __init__(self, policy: Lpsm2, room: int, beacon_interval_ns: int) -> None:
        self._policy = policy
        self._learners = [learner for learner in policy.learners if isinstance(learner, LearnAlpha)]
        config, (rows, whole, fractional) = policy.config, policy.constants()
        if whole[0] % beacon_interval_ns:
            raise ValueError(f"policy {policy.spec} is for beacons every {whole[0]} ns, got {beacon_interval_ns} ns")
        n, (weights, _, slow, *_) = len(rows), self._learners[0].arrays()
        found = slot.ROWS + rows.size
        reached = found + n * expert.N_FOUND
        asked = reached + room
        integers = np.zeros(asked + 2 * _ASKED_ROOM, dtype=np.int64)
        integers[[slot.N, slot.N_RATES, slot.N_SLOW]] = n, weights.shape[1], slow.shape[2]
        integers[[slot.INTERVAL, slot.BARE_BYTES, slot.SILENCE]] = whole
        integers[slot.HOST] = policy.host_aware
        integers[slot.SHORTEST] = round(config.shortest_s * 1e9)
        integers[slot.CONTEXTS], integers[slot.CLOCK] = config.contexts, config.clock
        integers[slot.SHARE], integers[slot.DUAL] = config.share_delay, config.dual
        integers[slot.PUSH] = config.max_push_delay_s is not None
        integers[[slot.FOUND, slot.REACHED, slot.ASKED, slot.ASKED_ROOM]] = found, reached, asked, _ASKED_ROOM
        integers[slot.ROWS : found] = rows.ravel()
        self._first_learner = slot.COSTS + 3 * n
        size = slot.learner_floats(n, weights.shape[1], slow.shape[2])
        floats = np.zeros(self._first_learner + size * len(self._learners))
        floats[[slot.AWAKE_MW, slot.BEACON_MJ, slot.WAKEUP_J, slot.LEAST, slot.MOST]] = fractional
        floats[slot.RATE], floats[slot.ALLOWED] = config.rate_per_j, config.max_slowdown - 1.0
        floats[slot.LONGEST], floats[slot.STEP] = config.longest_response_s, config.price_step
        floats[slot.PUSH_DELAY] = config.max_push_delay_s or 0.0
        floats[slot.MOST_DELAYS], floats[slot.PUSH_STEP] = config.most_push_delays, config.push_step
        floats[slot.PUSH_LEAST], floats[slot.PUSH_MOST] = config.least_push_price_w, config.most_push_price_w
        self.integers, self.floats = integers, floats
        self.kept = (np.zeros_like(integers), np.zeros_like(floats))
        self.load()

    def load(self) -> None:
        """Take the state over from the policy."""
        integers, floats = self.integers, self.floats
        episode, asked, best, prices = self._policy.state()
        while len(asked) > integers[slot.ASKED_ROOM]:
            self.grow()
            integers = self.integers
        integers[slot.FIRST_STATE : slot.N_ASKED] = episode
        integers[slot.N_ASKED] = len(asked)
        integers[slot.BEST : slot.BEST + len(best)] = best
        place = integers[slot.ASKED]
        integers[place : place + 2 * len(asked)] = np.array([(-1, at) for at in asked], dtype=np.int64).ravel()
        floats[slot.PRICE : slot.COSTS] = prices
        place = self._first_learner
        for array in self._arrays():
            floats[place : place + array.size] = array.ravel()
            place += array.size

    def unload(self) -> None:
        """Give the state back to the policy."""
        integers, floats = self.integers, self.floats
        first, n = int(integers[slot.ASKED]), int(integers[slot.N_ASKED])
        self._policy.resume(
            integers[slot.FIRST_STATE : slot.N_ASKED].tolist(),
            integers[first + 1 : first + 2 * n : 2].tolist(),
            integers[slot.BEST : slot.BEST + len(self._learners)].tolist(),
            floats[slot.PRICE : slot.COSTS].tolist(),
        )
        place = self._first_learner
        for array in self._arrays():
            array[...] = floats[place : place + array.size].reshape(array.shape)
            place += array.size

    def grow(self) -> None:
        """Make room for twice as many requests that wait."""
        more = np.zeros(2 * int(self.integers[slot.ASKED_ROOM]), dtype=np.int64)
        self.integers[slot.ASKED_ROOM] *= 2
        self.integers = np.concatenate([self.integers, more])
        self.kept = (np.zeros_like(self.integers), self.kept[1])

    def _arrays(self) -> list[Floats]:
        return [array for learner in self._learners for array in learner.arrays()]
