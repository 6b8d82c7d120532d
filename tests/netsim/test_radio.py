"""Radios as data: what is charged for what, and files that are checked."""

import os

import pytest

import netsim
from netsim import RadioConfig
from netsim.radio import registry
from tests.tables import cases_of, near, value_error
from traces.records import Page

PAGES = [Page(f"p{i}", 300, 9_000, ((300, 4_000),), 1.234) for i in range(5)]


def test_the_registry_tells_of_every_profile_how_it_is_written_what_it_is_and_where_it_is_from():
    entries = registry()
    assert list(entries) == list(netsim.profiles())
    for name, entry in entries.items():
        assert entry.written == name
        assert netsim.Radio.named(entry.example.split()[1]) == netsim.Radio.profile(name)
        assert entry.meaning.startswith(("two states: ", "five states: "))
        figures, radio = netsim.profiles()[name], netsim.Radio.profile(name)
        assert len(entry.source) > 20
        assert (entry.source, radio.asleep_mw) == (figures["source"], figures.get("doze_mw", figures.get("asleep_mw")))


def test_a_radio_of_states_on_wires_is_charged_what_its_states_imply():
    radio = netsim.StateRadioConfig(doze_mw=1.0, waking_mw=50.0, listening_mw=100.0, receiving_mw=110.0,
        transmitting_mw=300.0, base_mw=20.0, wakeup_ms=2.0, settle_ms=1.0, listen_advance_ms=0.5)  # fmt: skip
    assert (radio.awake_mw, radio.asleep_mw) == (120.0, 1.0)
    ramps_mj = 69e-3 * 3.0
    assert radio.wakeup_j == near(ramps_mj * 1e-3)
    assert radio.beacon_mj == near(ramps_mj + 119e-3 * 0.5 + 129e-3 * 0.294)
    same = netsim.RadioConfig(awake_mw=120, asleep_mw=1, beacon_mj=radio.beacon_mj, wakeup_mj=ramps_mj)
    ours, two = (netsim.simulate(PAGES, "psm", config=netsim.SimulationConfig(radio=one)) for one in (radio, same))
    assert ours.energy.total_j == near(two.energy.total_j)


def test_a_radio_of_ones_own_is_read(tmp_path):
    path = tmp_path / "mine.toml"
    path.write_text('name = "mine"\nawake_mw = 300\nasleep_mw = 1.5\nbeacon_mj = 0.4\nwakeup_ms = 0.25\n')
    expected = netsim.RadioConfig(awake_mw=300, asleep_mw=1.5, beacon_mj=0.4, wakeup_ms=0.25)
    assert netsim.RadioConfig.load(path) == netsim.RadioConfig.named(str(path)) == expected


@cases_of("text message", r"""
"awake_mw = " -> a radio must be TOML ; "awake_mw = " + "1" * 5000 -> a radio must be TOML
"# " + "x" * 70_000 -> a radio must be at most 65536 bytes of TOML
"awake_mw = 3\nasleep_mw = 1" -> beacon_mj must be given, it is missing
"awake_mw = 3\nasleep_mw = 1\nbeacon_mj = 1\nbeacn_mj = 2" -> got 'beacn_mj'; did you mean 'beacon_mj'
"awake_mw = 3\nasleep_mw = 1\nbeacon_mj = '1'" -> beacon_mj must be a number, got '1'
"awake_mw = true\nasleep_mw = 1\nbeacon_mj = 1" -> awake_mw must be a number, got True
f"awake_mw = 3\nasleep_mw = {-(10**400)}\nbeacon_mj = 1" -> asleep_mw must lie between 0 and 1e.09, got -1000
"awake_mw = 3\nasleep_mw = 1\nbeacon_mj = nan" -> beacon_mj must be at least 0 and finite
"doze_mw = 3\nwaking_mw = 1" -> listening_mw must be given, it is missing
"doze_mw = 3\nawake_mw = 1" -> got 'awake_mw'; did you mean 'waking_mw'
"awake_mw = 3\nasleep_mw = 1\nbeacon_mj = 1\nsource = 3" -> source must be text, got 3
""")  # fmt: skip
def test_a_wrong_radio_file_is_answered_with_its_path_the_rule_and_the_value(tmp_path, text, message):
    path = tmp_path / "mine.toml"
    path.write_text(text)
    with value_error(rf"mine\.toml.*{message.replace('?', '.')}"):
        netsim.RadioConfig.load(path)


def test_a_radio_is_read_from_a_regular_file_that_is_there(tmp_path):
    with pytest.raises(FileNotFoundError):
        netsim.RadioConfig.named("nowhere.toml")
    pipe = tmp_path / "radio.toml"
    os.mkfifo(pipe)
    for read in (RadioConfig.named, RadioConfig.load):
        with value_error("a radio must be a regular file of TOML"):
            read(str(pipe))
