"""What a client on the air can tell of itself: beacons heard, time awake, states of its radio, group frames."""

from __future__ import annotations

from array import array

from netsim.air.access import Contender
from netsim.air.radio_states import RadioAccount, StateTimes

__all__ = ["Accounted"]


class Accounted:
    """The accounts of a client; what it does is said in `netsim.air.station`.

    Attributes
    ----------
    contender : Contender
        The client on the channel.
    account : RadioAccount
        When its radio dozed and was awake.
    outstanding : int
        Requests sent whose replies are incomplete; kept by the browser.
    deadline_ns : int or None
        When the page issued last must be complete; kept by the browser.
    lost, groups_lost : int
        Frames of its own, either way, that were given up; group frames that it was asleep for.
    air_up_ns, air_down_ns : int
        Air time of data frames, each way, each frame once.
    polls : array of int64
        As in `netsim.station.Station`.
    beacons_lost, missed_ns : int
        Beacons that it wanted and could not decode, and when the last of them ended.
    """

    contender: Contender
    account: RadioAccount
    polls: array[int]
    outstanding = lost = groups_lost = air_up_ns = air_down_ns = beacons_lost = 0
    deadline_ns: int | None = None
    missed_ns = -1

    def advance(self, now_ns: int) -> None:
        """Bring the state up to `now_ns`."""
        raise NotImplementedError

    @property
    def beacons(self) -> int:
        """Beacons listened to from doze, up to the last `advance`."""
        return self.account.beacons

    @property
    def intervals(self) -> array[int]:
        """Closed intervals awake: start, end, start, end, ... nanoseconds."""
        return self.account.intervals

    def hears_groups(self, start_ns: int, end_ns: int) -> bool:
        """Return whether the client hears the beacon that began and ended then, and what follows it."""
        self.advance(end_ns)
        if self.missed_ns == end_ns:
            return False
        account = self.account
        return account.slept_from_ns > start_ns if account.dozing else account.awake_since_ns <= start_ns

    def groups_done(self, end_ns: int, now_ns: int, air_ns: int) -> None:
        """Stay for group frames after the beacon that ended at `end_ns`; `now_ns` is the end of the last."""
        self.advance(now_ns)
        self.account.hear_more(end_ns, now_ns, air_ns)

    def awake_ns(self, now_ns: int) -> int:
        """Return the time in [0, now] that was not dozed but for beacons; advance to `now_ns` first."""
        return self.account.awake_ns(now_ns)

    def finish(self, now_ns: int) -> None:
        """End the run: advance, and close the current interval awake."""
        self.advance(now_ns)
        account = self.account
        if not account.dozing and now_ns > account.awake_since_ns:
            account.intervals.extend((account.awake_since_ns, now_ns))

    def state_times(self, now_ns: int) -> StateTimes:
        """Return the time in each state up to `now_ns`; advance first."""
        return self.account.times(now_ns, self.contender.sent_ns, self.contender.received_ns)
