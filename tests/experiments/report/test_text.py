import json
import math

import pandas as pd

from experiments.report.comparison import comparison_text
from experiments.report.text import number, plain, plus_minus, table


def summary():
    row = {
        "policy": "psm:100", "total_j_per_page": 3.3, "total_j_per_page_half_width": math.nan, "awake_j_per_page": 0.1,
        "sleep_j_per_page": 2.4, "listen_j_per_page": 0.8, "energy_vs_psm_percent": 0.0,
        "energy_vs_psm_percent_half_width": 0.0, "beacon_energy_vs_psm_percent": 0.0, "slowdown_mean": 2.2,
        "slowdown_mean_half_width": 0.04, "slowdown_median": 2.1, "slowdown_p95": 2.6,
        "energy_above_limit_percent": 20.0,
    }  # fmt: skip
    return pd.DataFrame([row])


def test_columns_of_a_table_are_aligned():
    lines = table(["policy", "J"], [["none", "39.1"], ["psm:100", "3.3"]]).splitlines()
    assert [line.rindex("J" if index == 0 else "1" if index == 1 else "3") for index, line in enumerate(lines)] == [
        12
    ] * 3


def test_what_is_no_number_is_left_blank_and_no_interval_is_not_printed():
    assert number(math.nan) == ""
    assert plus_minus(1.0, math.nan) == "1.00"
    assert plus_minus(1.0, 0.25, 1, sign=True, unit=" %") == "+1.0 ± 0.2 %"


def test_the_table_prints_split_slowdown_and_interval():
    line = comparison_text(summary(), "1 seed").splitlines()[1].split()
    assert line[:5] == ["psm:100", "3.300", "0.100", "2.400", "0.800"]
    assert line[-7:-5] == ["+20.0", "%"]
    assert line[-5:] == ["2.20", "±", "0.04", "2.10", "2.60"]


def test_json_has_null_where_there_is_no_number():
    assert json.loads(json.dumps(plain(summary()), allow_nan=False))[0]["total_j_per_page_half_width"] is None
