"""The medium of the thesis: four links without contention, shared by the clients of one access point."""

from __future__ import annotations

from netsim.access_point import AccessPoint, LinkConfig
from netsim.clock import Clock
from netsim.policies.protocol import Policy
from netsim.radio import Radio
from netsim.station import Station

__all__ = ["Wires"]


class Wires:
    """Links that all clients share, each of them first in, first out.

    Parameters
    ----------
    env : Clock
        Tells and keeps the time.
    link : LinkConfig
        Rates, delays and losses.
    access_point : AccessPoint
        As the first client meets it.
    beacon_interval_ns : int
        Time between beacons.
    station : type
        What clients are made of: `Station` or a class of its methods.
    """

    def __init__(
        self,
        env: Clock,
        link: LinkConfig,
        access_point: AccessPoint,
        beacon_interval_ns: int,
        station: type[Station] = Station,
    ) -> None:
        self._env = env
        self._link = link
        self._access_point = access_point
        self._interval_ns = beacon_interval_ns
        self._station = station
        self._clients = 0

    def client(self, policy: Policy, radio: Radio) -> Station:
        """Add a client; what its radio draws does not matter to the wires."""
        first = self._access_point
        point = first.beside(self._link) if self._clients else first
        self._clients += 1
        return self._station(self._env, point, policy, self._interval_ns)
