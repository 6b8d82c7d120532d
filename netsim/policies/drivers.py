"""What drivers do by default: static PSM with the listen intervals and time-outs that they ship with.

A driver stays awake for a time after what it sent and for a time after what it received, then listens to every n-th
beacon.  Left out: what else a driver adds, such as keep-alive frames, 15 ms more awake for broadcasts (ESP-IDF), and a
number of packets before it wakes up for good (CC33xx).  ESP-IDF's minimum modem sleep listens to every DTIM, its
maximum modem sleep to every `listen_interval`-th beacon, whatever the DTIM period is.
"""

from __future__ import annotations

from dataclasses import dataclass

from netsim.policies.entry import Entry, Setting, whole_number
from netsim.policies.static import StaticPsm, in_ms

__all__ = ["ENTRIES"]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Driver:
    """One driver: which beacons it listens to, and how long it stays awake, milliseconds."""

    name: str
    device: str
    every: int = 1
    after_received_ms: int = 0
    after_sent_ms: int = 0
    follows_dtim: bool = False
    source: str


_LISTENS = "esp-idf-max"
_DRIVERS = (
    _Driver(
        name="mac80211", device="Linux laptops (dynamic power save)", after_received_ms=100, after_sent_ms=100,
        source="wireless.wiki.kernel.org, dynamic power save",
    ),
    _Driver(
        name="ath12k", device="Linux with ath12k, before July 2026", every=5,
        source="qualcomm-linux/kernel-topics#1528",
    ),
    _Driver(
        name="esp-idf", device="ESP32 and its family, minimum modem sleep (the default)", follows_dtim=True,
        after_received_ms=50, after_sent_ms=50, source="espressif/esp-idf@10212290, components/esp_wifi/Kconfig",
    ),
    _Driver(
        name="esp-idf-max", device="ESP32 and its family, maximum modem sleep", every=3, after_received_ms=50,
        after_sent_ms=50, source="espressif/esp-idf@10212290, components/esp_wifi/Kconfig; esphome/issues#6364",
    ),
    _Driver(
        name="cc33xx", device="TI CC33xx", after_received_ms=40, after_sent_ms=5,
        source="TI cc33xx_rtos_mcu_package R8.1, calibrator, PSM page",
    ),
    _Driver(
        name="talaria-two", device="InnoPhase Talaria TWO", after_received_ms=12, after_sent_ms=12,
        source="InnoPhaseIoT/innophase_doc, Example_for_WiFi_Power_Management",
    ),
    _Driver(
        name="bl616", device="Bouffalo BL616", after_received_ms=15, after_sent_ms=15,
        source="bouffalolab/bouffalo_sdk@f355392a, examples/wifi/spi_wifi",
    ),
    _Driver(name="nrf70", device="Nordic nRF70 at DTIM 3", every=3, source="nrfconnect/sdk-nrf, nRF70 power saving"),
    _Driver(name="pic32mzw", device="Microchip PIC32MZW", every=10, source="PIC32MZW driver documentation"),
    _Driver(name="dhd", device="Android with Broadcom's dhd, screen off", every=3, source="source of dhd, bcn_li_dtim"),
)  # fmt: skip


def _told(driver: _Driver) -> str:
    """Say what a driver does, in one line."""
    ordinal = {1: "", 3: "3rd "}.get(driver.every, f"{driver.every}th ")
    received, sent = driver.after_received_ms, driver.after_sent_ms
    awake = f"awake {received} ms after receiving and {sent} ms after sending, then " if received else ""
    heard = "DTIM beacon" if driver.follows_dtim else f"{ordinal}beacon"
    return f"{driver.device}: {awake}listening to every {heard}"


def _driver(parameter: str, setting: Setting) -> StaticPsm:
    drivers = {driver.name: driver for driver in _DRIVERS}
    name, colon, listen_interval = parameter.partition(":")
    if name not in drivers:
        raise ValueError(f"the driver must be one of {', '.join(drivers)}, got {name!r}")
    if colon and name != _LISTENS:
        raise ValueError(f"only {_LISTENS} takes a listen interval, got {parameter!r}")
    driver = drivers[name]
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
    Entry(
        written="driver:NAME[:N]",
        meaning="what a driver does where nothing is set: static PSM, after a time awake if it has one",
        source="of each driver, below",
        example="driver:mac80211",
        make=_driver,
        members=tuple((f"driver:{one.name}", _told(one), one.source) for one in _DRIVERS),
    ),
)
