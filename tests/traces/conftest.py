"""Where real traces are, if they are there, and Home IP records made to measure."""

import pytest

from tests.real_data import DATA
from tests.traces.home_ip import records


@pytest.fixture(scope="session")
def data():
    """The folder of real data; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("no real data here: set LPSM_DATA")
    return DATA


@pytest.fixture(name="records", scope="session")
def records_fixture():
    return records
