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
from experiments.figures.front import front, nondominated
from experiments.figures.papers import panels
from experiments.figures.style import contrast, label, look, looks, pictures, readable
from netsim import policies
from tests.experiments.figures.drawn import ALL, DRAWING, MANY, by_class


@pytest.mark.parametrize("name", ["energy", "by-page", "replay-weights", "label-over-time"])
def test_the_same_numbers_give_the_same_bytes_whatever_the_readers_settings(name):
    first = pictures(name, DRAWING[name]())
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "red"}):
        second = pictures(name, DRAWING[name]())
    assert first == second
    assert first[f"{name}.png"].startswith(b"\x89PNG")
    assert b"<dc:date>" not in first[f"{name}.svg"]


def test_a_user_without_pages_leaves_the_curves_of_the_others():
    table = pd.DataFrame({"policy": ["none", "lpsm"] * 3, "slowdown_mean": [1.0, 1.5, 1.0, 2.0, np.nan, np.nan]})
    (line,) = population.slowdown(table, ["none", "lpsm"]).axes[0].lines
    assert (np.asarray(line.get_xdata())[[0, -1]] == [1.5, 2.0]).all()
    assert pictures("x", population.slowdown(table[4:], ["none", "lpsm"]))


def test_no_two_policies_of_a_picture_look_the_same_nor_two_of_sixty_series():
    found = looks(MANY)
    assert list(found) == MANY
    assert len({one._replace(dash="-") for one in found.values()}) == len(MANY)  # markers alone tell them apart
    assert len({style.series(place)[:2] for place in range(60)}) == 60


def test_a_family_keeps_its_colour_and_marker_whoever_else_is_in_the_picture():
    assert looks(MANY)["lpsm"] == look("lpsm") == look("LPSM")
    assert looks(["psm:300", "bsd:1"])["bsd:1"] == look("bsd:0.2")
    assert {looks(MANY)[f"bsd:{p}"].marker for p in (2, 1, 0.5, 0.01)} == {look("BSD").marker}


def test_every_kind_of_policy_has_a_look_and_the_host_aware_ones_are_those_of_the_simulator():
    for kind, entry in policies.registry().items():
        policy = policies.make(entry.example)
        assert look(policy.spec) != style.series(0), kind  # the look of what is no policy
        assert (kind in style.HOST_AWARE) == policy.host_aware, kind
        assert label(policy.spec).endswith(style.DAGGER) == policy.host_aware, kind


def test_contrast_is_that_of_wcag_and_a_text_colour_is_darkened_no_more_than_needed():
    assert contrast("black") == pytest.approx(21.0)
    assert contrast("white") == pytest.approx(1.0)
    assert contrast("#767676") == pytest.approx(4.54, abs=0.01)  # a grey that is known to pass
    for family in ("bsd", "dynamic", "hold", "lpsm", "lpsm2", "lpsm3"):
        colour = look(family).colour
        assert 4.5 <= contrast(readable(colour)) < max(5.2, contrast(colour) + 0.01)
    assert mpl.colors.to_hex("black") == readable("black")


@pytest.mark.parametrize("name", ALL)
def test_text_stands_out_and_is_not_cut_off_and_every_axis_says_what_it_measures(name):
    with style.styled():
        figure = ALL[name]()
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        hidden = {id(text) for axes in figure.axes for text in _outside(axes)}
        texts = [text for text in figure.findobj(Text) if text.get_text() and id(text) not in hidden]
        assert texts
        for text in texts:
            assert contrast(text.get_color()) >= 4.5, text
            box, page = text.get_window_extent(canvas.get_renderer()), figure.bbox
            assert page.x0 - 1 <= box.x0 <= box.x1 <= page.x1 + 1, text
            assert page.y0 - 1 <= box.y0 <= box.y1 <= page.y1 + 1, text
    rows = [axes for axes in figure.axes if axes.axison]
    across = [axes.get_xlabel() for axes in rows] + [figure.get_supxlabel()]
    up = [axes.get_ylabel() for axes in rows] + [figure.get_supylabel()]
    assert any(across)
    assert any(up) or any(tick.get_text() for tick in rows[0].get_yticklabels())
    measured = re.compile(r"\b(energy|time|loss|sleep|regret|delay|cumulative|total)\b(?!.*\bover\b)")
    for words in (*across, *up):  # what has a unit says it; shares, counts and slowdowns have none
        assert "[" in words or not measured.search(words), words


def _outside(axes):
    """The labels of ticks that lie outside the axes, which are not drawn, and all of axes that are switched off."""
    found = [] if axes.axison else [*axes.get_xticklabels(), *axes.get_yticklabels()]
    for axis, limits in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        found += [tick.label1 for tick in ticks if not limits[0] <= tick.get_loc() <= limits[1]]
    return found


def test_what_is_told_apart_by_colour_is_told_apart_in_grey():
    fills = [(np.dot((0.299, 0.587, 0.114), to_rgb(fill[0])), fill[1]) for fill in style.PART_FILLS.values()]
    assert all(one[1] != other[1] or abs(one[0] - other[0]) > 0.2 for one, other in pairwise(fills))


def test_energy_is_along_the_horizontal_axis():
    rows = pd.DataFrame({"policy": MANY[:5], "energy_j_per_page": range(1, 6), "slow": 1.5})
    (axes,) = front(rows, {"limit": 1.5}, panels={"slow": "slowdown"}).axes
    assert "energy" in axes.get_xlabel()
    assert "energy" in ALL["energy"]().axes[0].get_xlabel()


def test_the_front_is_what_nothing_beats():
    energy, slow = [3.0, 1.0, 2.0, 2.0, 4.0], [1.0, 3.0, 2.0, 2.5, 1.5]
    assert set(nondominated(energy, slow)) == {0, 1, 2}


def test_names_of_points_that_meet_do_not_cover_each_other():
    rows = pd.DataFrame({"policy": MANY[:12], "energy_j_per_page": [2 + 0.01 * i for i in range(12)], "slow": 1.5})
    with style.styled():
        figure = front(rows, {}, panels={"slow": "slowdown"})
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        names = [text for text in figure.axes[0].texts if text.get_text() in {label(policy) for policy in MANY}]
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in names]
    assert len(boxes) == 12
    assert not any(a.overlaps(b) for place, a in enumerate(boxes) for b in boxes[:place])


def test_a_line_is_named_where_it_ends():
    frame = pd.DataFrame({"group": ["a", "a", "b", "b"], "x": [0, 1, 0, 1], "y": [0.0, 1.0, 0.0, 5.0]})
    (axes,) = panels([("", frame)], x="time [s]", y="bytes").axes
    assert {text.get_text(): text.xy for text in axes.texts} == {"a": (1.0, 1.0), "b": (1.0, 5.0)}
    assert axes.get_legend() is None


def test_names_in_scripts_that_the_font_lacks_are_drawn_without_a_warning():
    names = ["\u540d\u524d", "\u05e9\u05dc\u05d5\u05dd", "\u0939\u093f\u0928", "\u0e44\u0e17\u0e22", "\U0001f600",
             "\U00013000", "\uff1dx"]  # fmt: skip
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        svg = pictures("a", by_class(names, names[0]))["a.svg"].decode()
    assert [str(one.message) for one in said] == []
    assert all(name in svg for name in names)
