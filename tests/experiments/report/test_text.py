import json
import math

import pandas as pd

from experiments.report.comparison import comparison_text
from experiments.report.text import plain
from tests.tables import words


def test_a_table_prints_parts_and_intervals_and_json_has_null_where_there_is_no_number():
    row = {"policy": "psm:100", "total_j_per_page": 3.3, "total_j_per_page_half_width": math.nan,
        "awake_j_per_page": 0.1, "sleep_j_per_page": 2.4, "listen_j_per_page": 0.8, "energy_vs_psm_percent": 0.0,
        "energy_vs_psm_percent_half_width": 0.0, "beacon_energy_vs_psm_percent": math.nan, "slowdown_mean": 2.2,
        "slowdown_mean_half_width": 0.04, "slowdown_median": 2.1, "slowdown_p95": 0.0026,
        "energy_above_limit_percent": 20.0}  # fmt: skip
    line = comparison_text(pd.DataFrame([row]), "1 seed").splitlines()[1].split()
    assert line[:7] == words("psm:100 3.300 0.100 2.400 0.800 +0.0 %")
    assert line[7:] == words("+20.0 % 2.20 ± 0.04 2.10 0.0026")
    (data,) = json.loads(json.dumps(plain(pd.DataFrame([row])), allow_nan=False))
    assert data["total_j_per_page_half_width"] is None
