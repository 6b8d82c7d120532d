"""A packet-level model of a power-saving 802.11 client, its access point and a Web server."""

from netsim.clairvoyance import Clairvoyant, clairvoyant
from netsim.config import AirConfig, BeaconConfig, LinkConfig, SimulationConfig, TcpConfig
from netsim.model.air.air_times import Phy
from netsim.policies import Frame, HostFrame, Observer, Plan, Policy, View, canonical
from netsim.policies.polling import PollingConfig, PollingLearner
from netsim.radio import Energy, Radio, RadioConfig, StateRadioConfig, profiles
from netsim.result import SimulationResult
from netsim.running.recorder import AirRecorder, Recorder
from netsim.server_delay import ServerDelay
from netsim.simulation import NotCoveredError, simulate, simulate_cell

__all__ = [
    "AirConfig", "AirRecorder", "BeaconConfig", "Clairvoyant", "Energy", "Frame", "HostFrame", "LinkConfig",
    "NotCoveredError", "Observer", "Phy", "Plan", "Policy", "PollingConfig", "PollingLearner", "Radio", "RadioConfig",
    "Recorder", "ServerDelay", "SimulationConfig", "SimulationResult", "StateRadioConfig", "TcpConfig", "View",
    "canonical", "clairvoyant", "profiles", "simulate", "simulate_cell",
]  # fmt: skip
