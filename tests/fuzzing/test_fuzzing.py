"""Whatever is read, of any format, ends in a result or in one error that names the file."""

from random import Random

import pytest

from tests.fuzzing.formats import FORMATS
from tests.fuzzing.running import fuzz, outcome, peak_mb, write
from tests.tables import each


def test_some_hundred_inputs_of_all_formats_are_read_or_refused():
    found, faults = fuzz(800)
    assert faults == []
    assert sum(one.past_header for one in found.values()) >= 400
    assert sum(one.whole for one in found.values()) >= 100


@each("name", FORMATS)
def test_every_file_that_is_changed_is_valid_before(name, tmp_path):
    for content in FORMATS[name].files:
        path = write(tmp_path, FORMATS[name].name, FORMATS[name].render(content))
        assert outcome(FORMATS[name], path, Random(1)) == ("whole", "whole")


@pytest.mark.long
def test_a_hundred_thousand_inputs_are_read_or_refused_quickly_and_in_little_memory():
    found, faults = fuzz(100_000, seed=1)
    assert faults == []
    assert peak_mb() < 500
    assert sum(one.past_header for one in found.values()) > 50_000
