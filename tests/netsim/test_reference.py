"""Against ns-2.35: every one of the 1,900 loads of `ns2/`, to a microsecond and a beacon."""

import json
from pathlib import Path

import pandas as pd

import netsim
from tests.tables import each, near
from traces.records import Page

NS2 = Path(__file__).parent / "ns2"
LOADS = pd.read_csv(NS2 / "latencies.csv.gz", keep_default_na=False, na_values=[""])
PAGES = {page["page"]: page for page in map(json.loads, (NS2 / "pages.jsonl").read_text().splitlines())}


def test_all_loads_are_read():
    assert len(LOADS) == 1900
    assert set(LOADS["page"]) == set(PAGES)


@each("run, policy", LOADS[["run", "policy"]].drop_duplicates().itertuples(index=False))
def test_a_page_takes_as_long_as_in_ns2_and_listens_to_as_many_beacons(run, policy):
    rows = LOADS[(LOADS["run"] == run) & (LOADS["policy"] == policy)].reset_index(drop=True)
    pages = [Page(name, page["request_bytes"], page["reply_bytes"], tuple(map(tuple, page["objects"])), 0.0, issue_s)
        for name, issue_s in zip(rows["page"], rows["issue_s"], strict=True) for page in [PAGES[name]]]  # fmt: skip
    patient = policy not in ("none", "psm:100")  # those runs were made with a least time-out of 3 s
    config = netsim.SimulationConfig(tcp=netsim.TcpConfig(min_rto_s=3.0 if patient else 1.0))
    told = rows["last_byte_quirk"] == 0
    got, rows = netsim.simulate(pages, policy, config=config).pages[told], rows[told]
    assert got["latency_s"].to_numpy() == near(rows["latency_s"].to_numpy(), abs=1e-6)
    assert got["beacons"].tolist() == rows["beacons"].tolist()
    if not patient:
        known = rows["awake_s"].notna()
        assert got["awake_s"][known].to_numpy() == near(rows["awake_s"][known].to_numpy(), abs=1e-6)
