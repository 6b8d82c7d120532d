"""What drivers do by default: static PSM with the listen intervals and time-outs that they ship with.

A driver stays awake for a time after what it sent and for a time after what it received, then listens to every n-th
beacon; figures and sources are data (`netsim/data/drivers.toml`).  Left out: what else a driver adds, such as
keep-alive frames, 15 ms more awake for broadcasts (ESP-IDF), and a number of packets before it wakes up for good
(CC33xx).  ESP-IDF's minimum modem sleep listens to every DTIM, its maximum modem sleep to every `listen_interval`-th
beacon, whatever the DTIM period is.
"""

from __future__ import annotations

import tomllib
from dataclasses import dataclass
from importlib.resources import files

from netsim.policies.entry import Entry, Setting, whole_number
from netsim.policies.static import StaticPsm, in_ms

_LISTENS = "esp-idf-max"


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driver:
    """One driver: which beacons it listens to, and how long it stays awake, milliseconds."""

    device: str
    every: int = 1
    after_received_ms: int = 0
    after_sent_ms: int = 0
    follows_dtim: bool = False
    source: str


_FIGURES = tomllib.loads((files("netsim") / "data" / "drivers.toml").read_text(encoding="utf-8"))
_DRIVERS = {name: _Driver(**figures) for name, figures in _FIGURES.items()}


def _told(driver: _Driver) -> str:
    """Say what a driver does, in one line."""
    ordinal = {1: "", 3: "3rd "}.get(driver.every, f"{driver.every}th ")
    received, sent = driver.after_received_ms, driver.after_sent_ms
    awake = f"awake {received} ms after receiving and {sent} ms after sending, then " if received else ""
    heard = "DTIM beacon" if driver.follows_dtim else f"{ordinal}beacon"
    return f"{driver.device}: {awake}listening to every {heard}"


def _driver(parameter: str, setting: Setting) -> StaticPsm:
    name, colon, listen_interval = parameter.partition(":")
    if name not in _DRIVERS:
        raise ValueError(f"the driver must be one of {', '.join(_DRIVERS)}, got {name!r}")
    if colon and name != _LISTENS:
        raise ValueError(f"only {_LISTENS} takes a listen interval, got {parameter!r}")
    driver = _DRIVERS[name]
    every = setting.dtim_period if driver.follows_dtim else driver.every
    if colon:
        every = whole_number(listen_interval, "listen_interval", 1)
    return StaticPsm(
        in_ms(every * setting.beacon_interval_ns),
        inactivity_timeout_ms=driver.after_received_ms,
        timeout_after_sending_ms=driver.after_sent_ms,
        beacon_interval_ns=setting.beacon_interval_ns,
        spec=f"driver:{name}:{every}" if colon else f"driver:{name}",
    )


ENTRIES = (
    Entry("driver:NAME[:N]", "what a driver does where nothing is set: static PSM, after a time awake if it has one",
        "of each driver, below", "driver:mac80211", _driver,
        members=tuple((f"driver:{name}", _told(one), one.source) for name, one in _DRIVERS.items())),
)  # fmt: skip
