import re
import warnings
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.text import Text

from experiments.figures import population, style
from experiments.figures.papers import lines
from experiments.figures.style import label, look, looks, pictures, saved
from experiments.study import population as study
from netsim import policies
from tests.experiments.figures.drawn import DRAWING, MANY, by_class
from tests.tables import each

READERS = {"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "red"}


@each("name", DRAWING)
def test_a_picture_has_the_same_bytes_again_says_what_it_measures_and_cuts_no_text_off(name):
    figure = DRAWING[name]()
    with mpl.rc_context(READERS):
        content = saved(DRAWING[name](), "svg")
    assert content == saved(figure, "svg")
    assert b"<dc:date>" not in content
    with style.styled():
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        hidden = {id(text) for axes in figure.axes for text in _outside(axes)}
        texts = [text for text in figure.findobj(Text) if text.get_text() and id(text) not in hidden]
        assert texts
        for text in texts:
            assert max(to_rgb(text.get_color())) < 0.2, text  # black on white
            box, page = text.get_window_extent(canvas.get_renderer()), figure.bbox
            assert page.x0 - 1 <= box.x0 <= box.x1 <= page.x1 + 1, text
            assert page.y0 - 1 <= box.y0 <= box.y1 <= page.y1 + 1, text
    rows = [axes for axes in figure.axes if axes.axison]
    across = [axes.get_xlabel() for axes in rows] + [figure.get_supxlabel()]
    up = [axes.get_ylabel() for axes in rows] + [figure.get_supylabel()]
    assert any(across)
    assert any(up) or any(axes.get_title("left") or axes.get_yticklabels()[0].get_text() for axes in rows)
    measured = re.compile(r"\b(energy|time|loss|sleep|regret|delay|cumulative|total)\b(?!.*\bover\b)")
    for words in (*across, *up):  # what has a unit says it; shares, counts and slowdowns have none
        assert "[" in words or not measured.search(words), words


def _outside(axes):
    """The labels of ticks that lie outside the axes, which are not drawn, and all of axes that are switched off."""
    found = [] if axes.axison else [*axes.get_xticklabels(), *axes.get_yticklabels()]
    for axis, limits in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        outside = [tick for tick in ticks if not limits[0] <= tick.get_loc() <= limits[1]]
        found += [text for tick in outside for text in (tick.label1, tick.label2)]
    return found


def test_a_user_without_pages_leaves_the_curves_of_the_others():
    slowdown = np.array([1.0, 1.5, 1.0, 2.0, np.nan, np.nan])
    curves, nobody = (study.curves(lambda names, own=own: [dict.fromkeys(names, own)], ["none", "lpsm"])
        for own in (slowdown, slowdown[4:]))  # fmt: skip
    (line,) = population.slowdown(curves).axes[0].lines
    assert np.asarray(line.get_xdata())[[0, -1]] == pytest.approx([1.5, 1.995])
    assert pictures("x", population.slowdown(nobody))


def test_no_two_policies_or_series_look_the_same_and_a_family_keeps_its_colour_and_marker():
    found = looks(MANY)
    assert list(found) == MANY
    assert len({one._replace(dash="-") for one in found.values()}) == len(MANY)  # markers alone tell them apart
    assert len({style.series(place)[:2] for place in range(60)}) == 60
    assert found["lpsm"] == look("lpsm") == look("LPSM")
    assert looks(["psm:300", "bsd:1"])["bsd:1"] == look("bsd:0.2")
    assert {found[f"bsd:{p}"].marker for p in (2, 1, 0.5, 0.01)} == {look("BSD").marker}


def test_policies_have_a_look_and_a_name_and_the_host_aware_ones_are_those_of_the_simulator():
    for kind, entry in policies.registry().items():
        policy = policies.make(entry.example)
        assert look(policy.spec) != style.series(0), kind  # the look of what is no policy
        assert label(policy.spec).endswith(style.DAGGER) == policy.host_aware, kind
    called = {"bsd:0.5": "BSD 0.5", "psm:300": "PSM 300", "lpsm3:1.05:400": "LPSM3 1.05†",
              "mine.py:Patient": "mine.py:Patient", "lpsm:log": "LPSM 1/log T"}  # fmt: skip
    assert {policy: label(policy) for policy in called} == called


def test_what_is_told_apart_by_colour_is_told_apart_in_grey():
    fills = [(np.dot((0.299, 0.587, 0.114), to_rgb(fill[0])), fill[1]) for fill in style.PART_FILLS.values()]
    assert all(one[1] != other[1] or abs(one[0] - other[0]) > 0.2 for one, other in pairwise(fills))


def test_the_legend_names_every_policy_and_reference_and_curves_in_the_order_of_their_ends():
    (legend,) = DRAWING["tune"]().legends
    named = [text.get_text() for text in legend.get_texts()]
    assert {"static PSM", "LPSM2 1.05†", "recommended", "limit 0.03 J", "page-awake 0.9 J", "allowed: 1.1"} <= {*named}
    assert "no power saving: 0.05 J" in legend.get_title().get_text()
    frame = pd.DataFrame({"group": ["a", "a", "b", "b"], "x": [0, 1, 0, 1], "y": [0.0, 1.0, 0.0, 5.0]})
    (legend,) = lines(frame, x="time [s]", y="bytes").legends
    assert [text.get_text() for text in legend.get_texts()] == ["b", "a"]


def test_names_in_scripts_that_the_font_lacks_are_drawn_without_a_warning():
    names = ["\u540d\u524d", "\u05e9\u05dc\u05d5\u05dd", "\u0939\u093f\u0928", "\U0001f600", "\uff1dx"]
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        svg = pictures("a", by_class(names, names[0]))["a.svg"].decode()
    assert [str(one.message) for one in said] == []
    assert all(name in svg for name in names)


def test_names_of_ones_own_are_escaped_in_pictures():
    assert label("mine\x1b[2J\ud800") == "mine\\x1b[2J\\ud800"
