"""Against ns-3.48: power saving frame by frame, and cells with random backoffs, where its files are at hand."""

import pytest

from tests import reference_ns3
from tests.real_data import DATA

REFERENCE = DATA.parent / "reference" / "ns3"
pytestmark = pytest.mark.skipif(not REFERENCE.is_dir(), reason="the ns-3 reference files are not at hand")


def test_every_frame_of_every_scenario_is_that_of_ns3_but_where_ns3_departs_from_the_standard():
    differ = {name for name, found, n, excuse in reference_ns3.scenarios(REFERENCE) if found and not excuse}
    assert not differ


@pytest.mark.long
@pytest.mark.parametrize(("compare", "folder"), [(reference_ns3.cells, "ns3"), (reference_ns3.losses, "ns3-loss")])
def test_cells_agree_with_ns3_in_delays_polls_and_time_awake(compare, folder):
    table = compare(REFERENCE.with_name(folder))
    assert not table["far"].any(), table[table["far"]].to_string()
