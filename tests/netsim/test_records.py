"""Records of the model: nothing depends on the order of fields, and numbers have room where they are kept."""

import os
import subprocess
import sys
from pathlib import Path

import pytest

import netsim
import traces
from lpsm.native.records import record
from netsim.model import codes
from netsim.model.events import HANDLERS
from netsim.running import setup
from tests.netsim.frozen import digests
from tests.tables import each, rows, value_error

ROOT = Path(__file__).parents[2]
WORLDS = rows("""
"wide wires", 36 ; "wide air", 18 ; "air", 18
""")
OTHER_RECORDS = """
import importlib.util, sys

spec = importlib.util.find_spec("lpsm")
path = spec.submodule_search_locations[0] + "/native/records.py"
spec = importlib.util.spec_from_file_location("lpsm.native.records", path)
records = sys.modules[spec.name] = importlib.util.module_from_spec(spec)
spec.loader.exec_module(records)
as_written = records.record


def record(cls):
    fields = cls.__annotations__
    if sys.argv[1] == "packet" and not cls.__module__.startswith("netsim.model"):
        return as_written(cls)  # of rules there is machine code already
    cls.__annotations__ = {**dict(reversed(fields.items())), "another": "int"}
    return as_written(cls)


records.record = record

from lpsm.native.records import fields_of
from tests.netsim.frozen import digests

assert list(fields_of("PageRecord"))[-1] == "another"
print([digests.found(kind, number, sys.argv[1]) for kind, number in eval(sys.argv[2])])
"""


@each("engine", ["packet", pytest.param("express", marks=pytest.mark.long)])
def test_results_are_equal_where_records_have_their_fields_in_another_order_and_one_more(engine, tmp_path):
    command = [sys.executable, "-c", OTHER_RECORDS, engine, repr(WORLDS)]
    environ = dict(os.environ)
    if engine == "express":
        environ["NUMBA_CACHE_DIR"] = str(tmp_path)  # for machine code of other records
    found = subprocess.run(command, cwd=ROOT, env=environ, capture_output=True, text=True, check=False)
    assert found.returncode == 0, found.stderr
    assert eval(found.stdout) == [digests.found(kind, number, engine) for kind, number in WORLDS]


def test_every_code_of_an_event_has_a_handler_and_room_beside_an_address():
    from netsim.running.compiled_runtime import CODE_BITS  # with numba, which other tests do without

    assert sorted(HANDLERS) == list(codes.EVENTS)
    assert len(HANDLERS) <= 1 << CODE_BITS
    assert CODE_BITS + 48 < 63


def test_two_records_of_one_name_are_refused():
    fields = {"__annotations__": {"head": "int"}, "__module__": "elsewhere"}
    with pytest.raises(NameError, match="two records must not have one name, got Queue of elsewhere too"):
        record(type("Queue", (), fields))


def test_more_stations_than_the_order_of_backoffs_has_room_for_are_refused(monkeypatch):
    pages = [traces.Page("a", 300, 500)]
    monkeypatch.setattr(setup.codes, "ORDER_BITS", 2)
    netsim.simulate(pages, config=netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=2)), engine="packet")
    for neighbours in (3, 6):
        air = netsim.SimulationConfig(medium=netsim.AirConfig(neighbours=neighbours))
        with value_error(f"clients and neighbours must be less than 4, got {neighbours + 1}"):
            netsim.simulate(pages, config=air, engine="packet")
