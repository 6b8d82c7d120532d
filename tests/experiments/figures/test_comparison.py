import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from experiments.figures.comparison import energy, slowdown, slowdown_by_page
from experiments.figures.style import label, log_axis, pictures
from experiments.papers.thesis.browsing import busy_stretch
from tests.experiments.figures.drawn import by_page, summary


def test_the_energy_bars_have_the_heights_of_the_frame():
    axes = energy(summary()).axes[0]
    asleep, awake, listening = axes.containers[:3]
    heights = [sum(patch.get_width() for patch in bar) for bar in zip(asleep, awake, listening, strict=True)]
    assert heights == pytest.approx([40.0, 3.3, 2.9])
    assert axes.get_xlim()[1] < 10  # the bar without power saving is cut, the others can be told apart
    assert any("40 " in text.get_text() for text in axes.texts)


def test_every_page_is_a_point_and_the_line_is_the_mean_over_replications():
    pages = by_page()
    panels = slowdown_by_page(pages).axes
    assert [panel.get_title(loc="left") for panel in panels] == ["static PSM", "LPSM 1/T"]
    own = pages[pages["policy"] == "lpsm"]
    points, line = panels[1].lines
    assert len(points.get_xdata()) == len(own)
    assert line.get_ydata()[0] == pytest.approx(own.groupby("replication")["slowdown"].mean().mean())


def test_policies_are_called_by_their_names():
    called = {"bsd:0.5": "BSD 0.5", "psm:300": "PSM 300", "lpsm3:1.05:400": "LPSM3 1.05†",
              "mine.py:Patient": "mine.py:Patient", "lpsm:log": "LPSM 1/log T"}  # fmt: skip
    assert {policy: label(policy) for policy in called} == called


def test_one_policy_alone_can_be_drawn_in_a_picture_wide_enough_for_its_title():
    frame = summary()
    for draw in (energy, slowdown):
        assert pictures("x", draw(frame[frame["policy"] == "psm:100"]))
    assert pictures("x", energy(frame[frame["policy"] == "none"]))
    pages = by_page()
    figure = slowdown_by_page(pages[pages["policy"].isin(["none", "psm:100"])])
    figure.draw_without_rendering()
    box = figure._supxlabel.get_window_extent()
    assert 0 <= box.x0 < box.x1 <= figure.bbox.width


def test_the_busy_stretch_starts_at_the_same_page_under_every_policy_the_first_that_is_busy_enough():
    quiet = np.arange(20) * 100.0
    busy = np.concatenate([quiet, 2000 + np.arange(6) * 5.0, [3000.0]])
    for issued, begun, ends in ((quiet, 500.0, 1), (busy, 2000.0, 6), ([0.0], 0.0, 1)):
        pages = [pd.DataFrame({"policy": policy, "issue_s": np.add(issued, late), "latency_s": 3.0})
                 for policy, late in (("none", 0.0), ("a", 7.0))]  # fmt: skip
        polls = pd.DataFrame({"policy": "a", "time_s": begun + 7.0 + np.array([-1.0, 0.0, 49.0, 50.0])})
        seen, loads = busy_stretch(pd.concat(pages), polls, 50.0)
        assert seen["time_s"].tolist() == [0.0, 49.0]
        assert (loads["policy"] == "a").sum() == len(loads) == ends
        assert loads["start_s"].iloc[0] == 0.0


@pytest.mark.parametrize(("low", "high"), [(0.93, 1.48), (0.97, 1.44), (0.57, 0.9), (1.9, 2.1), (97.0, 150.0)])
def test_a_short_logarithmic_axis_has_a_few_numbers_well_apart(low, high):
    axes = Figure().subplots()
    log_axis(axes, "x", low, high)
    ticks = axes.get_xticks()
    assert 2 <= len(ticks) <= 7
    assert low <= min(ticks) <= max(ticks) <= high
    assert max(map(len, (f"{tick:g}" for tick in ticks))) <= 4
