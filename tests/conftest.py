"""Where real traces are, if they are there; of properties the same examples on every machine; one thread a process."""

import os

import pytest
from hypothesis import HealthCheck, settings

from tests.real_data import DATA

os.environ.setdefault("OMP_NUM_THREADS", "1")  # of linear algebra, whose threads spin where processors are busy

settings.register_profile("tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


@pytest.fixture(scope="session")
def data():
    """The folder of real data; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("no real data here: set LPSM_DATA")
    return DATA
