"""The river adapter under its public name; it is written in `adapters.river`."""

from lpsm.samplers.adapters.river import ActiveRiverSampler, RiverSampler

__all__ = ["ActiveRiverSampler", "RiverSampler"]
