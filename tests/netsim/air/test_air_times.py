"""Air times, held against hand computation and against distances seen in captures of ns-3.44."""

import re

from netsim.model.air import exchange_times
from netsim.model.air.air_times import Phy
from tests.tables import cases_of, each


def us(ns):
    assert ns % 100 == 0
    return ns / 1000


@cases_of("spec parts", """
"11b:11", (50, 966, 10, 248) ; "11g:54", (28, 186, 10, 34)
""")  # fmt: skip
def test_the_least_distance_between_data_frames_is_that_of_captures_of_ns_3(spec, parts):
    phy = Phy.parse(spec)
    assert tuple(us(ns) for ns in (phy.difs_ns, phy.data_ns(1064), phy.sifs_ns, phy.ack_ns)) == parts
    assert sum(parts) == {"11b:11": 1274, "11g:54": 258}[spec]


AIR_TIMES = """
# 12288 / 11 is 1117.1, rounded up; 14 bytes are 16 + 112 + 6 = 134 bits, 1536 are 12310, 1064 are 8534
11b:1 14 192 + 112; 11b:11 1536 192 + 1118; 11b:5.5 100 192 + 146; 11b-short:2 14 96 + 56
# 24 and 216 bits a symbol; then 260 and 26
11a:6 14 20 + 4 * 6; 11a:54 1536 20 + 4 * 57; 11g:54 1536 20 + 4 * 57 + 6
11n:65 1064 36 + 4 * 33 + 6; 11n:6.5 14 36 + 4 * 6 + 6
# ns-3's tx-duration-test.cc, whose VHT PPDUs lack the 4 us of VHT-SIG-B
11ac:78 1536 196 + 4; 11ac:78 76 48 + 4; 11ac:78 14 40 + 4; 11ac-40:180 1536 108 + 4; 11ac-40:180 14 40 + 4
11ac-80:29.3 1536 460 + 4; 11ac-80:29.3 76 60 + 4; 11ac-80:390 1536 68 + 4; 11ac-80:390 76 40 + 4
11ax:8.6 1536 1485.6; 11ax:8.6 76 125.6; 11ax:8.6 14 71.2; 11ax-40:17.2 1536 764.8; 11ax-40:17.2 76 84.8
11ax-80:36 1536 397.6; 11ax-80:36 76 71.2; 11ax:143.4 1536 139.2; 11ax-40:286.8 1536 98.4
11ax-80:600.5 1536 71.2; 11ax-80:600.5 76 57.6
"""


@each("row", re.findall(r"^11.*?$", AIR_TIMES.replace("; ", "\n"), re.MULTILINE))
def test_an_air_time_is_the_one_computed_by_hand(row):
    spec, mpdu_bytes, expected_us = row.split(maxsplit=2)
    assert us(Phy.parse(spec).data_ns(int(mpdu_bytes))) == eval(expected_us)


def test_air_times_of_all_sizes_are_those_of_each_frames_of_a_length_are_announced_and_a_ppdu_ends():
    for spec in ("11b:5.5", "11b:11", "11g:54", "11n:6.5", "11ax:8.6"):
        phy = Phy.parse(spec)
        assert phy.data_times_ns(1600).tolist() == [phy.data_ns(size) for size in range(1600)]
    phy = Phy.parse("11n:6.5")
    alone, longer, announced = (
        exchange_times.data_table(phy, length, 1500)[1000].tolist() for length in (None, 1001, 1000)
    )
    assert alone == longer != announced
    assert exchange_times.most_together(phy, 1000) == 1000
    longest = exchange_times.most_together(phy, 65_535)
    assert phy.data_ns(longest) <= 5_484_000 < phy.data_ns(longest + 1)


@cases_of("spec control lowest", """
"11b:1", 1, 1 ; "11b:11", 2, 1 ; "11b-short:11", 2, 2 ; "11a:6", 6, 6 ; "11a:9", 6, 6 ; "11a:18", 12, 6
"11g:54", 24, 6 ; "11n:6.5", 6, 6 ; "11n:65", 24, 6
""")  # fmt: skip
def test_answers_go_at_the_highest_basic_rate_not_above_the_data_and_beacons_at_the_lowest(spec, control, lowest):
    phy = Phy.parse(spec)
    assert (phy.control_mbps, phy.lowest_mbps) == (control, lowest)


@cases_of("spec slot sifs difs cw_min eifs", """
"11b", 20, 10, 50, 31, 10 + 304 + 50 ; "11g", 9, 10, 28, 15, 10 + 50 + 28 ; "11a", 9, 16, 34, 15, 16 + 44 + 34
"11n", 9, 10, 28, 15, 10 + 50 + 28 ; "11b-short", 20, 10, 50, 31, 10 + 152 + 50
""")  # fmt: skip
def test_spaces_and_windows_are_those_of_the_standard(spec, slot, sifs, difs, cw_min, eifs):
    phy = Phy.parse(spec)
    assert tuple(us(ns) for ns in (phy.slot_ns, phy.sifs_ns, phy.difs_ns)) == (slot, sifs, difs)
    assert us(phy.pifs_ns) == sifs + slot
    assert (phy.cw_min, phy.cw_max) == (cw_min, 1023)
    assert us(phy.eifs_ns) == eifs
