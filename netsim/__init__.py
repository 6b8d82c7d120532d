"""A packet-level model of a power-saving 802.11 client, its access point and a Web server."""

from netsim.access_point import LinkConfig
from netsim.air.air_times import Phy
from netsim.air.beacons import BeaconConfig
from netsim.air.cell import AirConfig
from netsim.express import NotCoveredError
from netsim.policies import Frame, HostFrame, Observer, Plan, Policy, View, canonical
from netsim.policies.polling import PollingConfig, PollingLearner
from netsim.radio import Energy, Radio, RadioConfig, StateRadioConfig, profiles
from netsim.recorder import Recorder
from netsim.server import ServerDelay
from netsim.simulation import SimulationConfig, SimulationResult, simulate, simulate_cell
from netsim.tcp import TcpConfig

__all__ = [
    "AirConfig",
    "BeaconConfig",
    "Energy",
    "Frame",
    "HostFrame",
    "LinkConfig",
    "NotCoveredError",
    "Observer",
    "Phy",
    "Plan",
    "Policy",
    "PollingConfig",
    "PollingLearner",
    "Radio",
    "RadioConfig",
    "Recorder",
    "ServerDelay",
    "SimulationConfig",
    "SimulationResult",
    "StateRadioConfig",
    "TcpConfig",
    "View",
    "canonical",
    "profiles",
    "simulate",
    "simulate_cell",
]
