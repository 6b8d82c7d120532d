"""Settings of a world: every plain field of the configurations, of the type of its annotation, with its meaning."""

import re
from dataclasses import fields
from typing import get_type_hints

import netsim
from experiments import world
from netsim.policies import Frame, HostFrame, Plan, View
from tests.tables import cases_of, each, value_error

CONFIGURATIONS = (netsim.SimulationConfig, netsim.LinkConfig, netsim.TcpConfig, netsim.AirConfig, netsim.BeaconConfig)
PLAIN = {int, float, bool, str, int | None}


def test_every_plain_field_is_a_setting_and_has_a_meaning():
    known = world.settings_of_a_world()
    for owner in CONFIGURATIONS:
        hints = get_type_hints(owner)
        for one in fields(owner):
            if hints[one.name] in PLAIN and one.name not in ("wired_delay_ms", "beacon_interval_ns"):
                assert known[one.name].meaning, one.name


@each("owner", [*CONFIGURATIONS, Frame, HostFrame, Plan, View])
def test_help_tells_of_every_field(owner):
    names = getattr(owner, "_fields", None) or [one.name for one in fields(owner)]
    told = [
        name for line in owner.__doc__.splitlines() if " : " in line for name in line.partition(" : ")[0].split(", ")
    ]
    assert [name.strip() for name in told] == list(names)


@cases_of("given words", """
{"wireless_mbps": 5}, None  # a whole number where the annotation says float
{"rts_bytes": 500}, None  # whose default is None
{"rts_bytes": 2.5} -> rts_bytes must be of the type int, got 2.5
{"nagle": 1} -> nagle must be of the type bool, got 1
{"max_connections": True} -> max_connections must be of the type int, got True
{"retrieval": 3} -> retrieval must be of the type str, got 3
{"loss_rate": "much"} -> loss_rate must be of the type int | float, got 'much'
{"wireless_mbps": 1e300} -> wireless_mbps must be a number of at most
{"beacon_ms": "soon"} -> beacon_ms must be of the type int | float, got 'soon'
{"phy": "11g"} -> phy is no setting of a world ; {"server_delay": 0.5}, None
""")  # fmt: skip
def test_values_have_the_types_of_annotations(given, words):
    if words is None:
        assert world.checked(given) == given
        return
    with value_error(re.escape(words)):
        world.checked(given)
