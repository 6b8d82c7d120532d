"""Where real traces are, if they are there; and of properties the same examples on every machine, however slow."""

import pytest
from hypothesis import HealthCheck, settings

from tests.real_data import DATA

settings.register_profile("tests", deadline=None, derandomize=True, suppress_health_check=[HealthCheck.too_slow])
settings.load_profile("tests")


@pytest.fixture(scope="session")
def data():
    """The folder of real data; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("no real data here: set LPSM_DATA")
    return DATA
