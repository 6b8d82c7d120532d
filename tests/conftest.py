"""Where real traces are, if they are there."""

import pytest

from tests.real_data import DATA


@pytest.fixture(scope="session")
def data():
    """The folder of real data; tests that need it are skipped where it is absent."""
    if not DATA.is_dir():
        pytest.skip("no real data here: set LPSM_DATA")
    return DATA
