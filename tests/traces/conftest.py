"""Where real traces are, if they are there, and Home IP records made to measure."""

import numpy as np
import pytest

from tests.real_data import DATA
from traces import ucb


@pytest.fixture(scope="session")
def data():
    """The folder of real data; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("no real data here: set LPSM_DATA")
    return DATA


def records(n, start_s=846_890_000, step_us=100_000, clients=20, url=b"GET 1234567..gif HTTP/1.0"):
    """Home IP records of `n` requests, each 50 ms long, by `clients` in turn."""
    columns = np.zeros(n, dtype=ucb.RECORD_DTYPE)
    moment = start_s * 1_000_000 + np.arange(n, dtype=np.int64) * step_us
    for name, later in (("request", 0), ("first", 20_000), ("last", 50_000)):
        columns[f"{name}_s"] = (moment + later) // 1_000_000
        columns[f"{name}_us"] = (moment + later) % 1_000_000
    columns["client"] = 0x0A000000 + np.arange(n) % clients
    columns["client_port"] = 1024
    columns["server"] = 0xC0A80001
    columns["server_port"] = 80
    columns["header_bytes"] = 150
    columns["body_bytes"] = 1000 + np.arange(n) % 7
    columns["url_bytes"] = len(url)
    return ucb.Records(columns, np.arange(n, dtype=np.int64) * len(url), url * n)


@pytest.fixture(name="records", scope="session")
def records_fixture():
    return records
