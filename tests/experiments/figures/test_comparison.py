import numpy as np
import pandas as pd
from matplotlib.figure import Figure

from experiments.figures.comparison import energy, energy_front, slowdown, slowdown_by_page
from experiments.figures.style import log_axis, pictures
from experiments.papers.thesis.browsing import busy_stretch
from tests.experiments.figures.drawn import by_page, summary
from tests.tables import near


def test_the_energy_bars_have_the_lengths_of_the_frame_and_no_power_saving_is_said_below():
    axes = energy(summary()).axes[0]
    asleep, awake, listening = axes.containers[:3]
    lengths = [sum(patch.get_width() for patch in bar) for bar in zip(asleep, awake, listening, strict=True)]
    assert lengths == near([3.3, 2.9])
    assert "without power saving 40" in axes.get_xlabel()


def test_bars_have_intervals_of_their_own_and_differences_theirs():
    axes = energy(summary()).axes[0]
    [whiskers] = axes.containers[3].lines[2]
    assert np.ptp([segment[:, 0] for segment in whiskers.get_segments()], axis=1) == near([0.66, 0.58])
    assert [text.get_text() for text in axes.texts] == ["3.3", "2.9  −12.1 ± 4.0 %"]


def test_points_of_the_front_have_the_intervals_of_energy_and_of_slowdown():
    axes = energy_front(summary()).axes[0]
    drawn = [line.get_segments()[0] for container in axes.containers for line in container.lines[2]]
    lengths = [(np.ptp(segment[:, 0]), np.ptp(segment[:, 1])) for segment in drawn]
    assert np.array(lengths) == near(np.array([(0.58, 0.0), (0.0, 0.2), (0.66, 0.0), (0.0, 0.2)]))


def test_who_knows_when_frames_come_is_a_dotted_line_and_another_if_it_may_poll():
    known = {"clairvoyant_j_per_page": [2.0, 1.5], "polling_clairvoyant_j_per_page": [np.nan, 1.0]}
    frame = summary()
    for name, (psm_j, lpsm_j) in known.items():
        frame[name] = frame["policy"].map({"psm:100": psm_j, "lpsm": lpsm_j})
    lines = {line.get_label(): line for line in energy_front(frame).axes[0].lines}
    drawn = [lines[label].get_xdata().tolist() for label in ("knows when\nframes come", "knows, and\nmay poll")]
    assert sorted(drawn[0]) == [1.5, 2.0]
    assert drawn[1] == [1.0]


def test_every_page_is_a_point_and_the_line_is_the_mean_over_replications():
    pages = by_page()
    panels = slowdown_by_page(pages).axes
    assert [panel.get_title(loc="left") for panel in panels] == ["static PSM", "LPSM 1/T"]
    own = pages[pages["policy"] == "lpsm"]
    points, line = panels[1].lines
    assert len(points.get_xdata()) == len(own)
    assert line.get_ydata()[0] == near(own.groupby("replication")["slowdown"].mean().mean())


def test_one_policy_alone_can_be_drawn():
    frame = summary()
    for draw, policy in ((energy, "psm:100"), (slowdown, "psm:100"), (energy, "none")):
        assert pictures("x", draw(frame[frame["policy"] == policy]))


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


def test_a_short_logarithmic_axis_has_a_few_numbers_well_apart():
    for low, high in ((0.93, 1.48), (0.57, 0.9), (1.9, 2.1), (97.0, 150.0)):
        axes = Figure().subplots()
        log_axis(axes, "x", low, high)
        ticks = axes.get_xticks()
        assert 2 <= len(ticks) <= 7
        assert low <= min(ticks) <= max(ticks) <= high
        assert max(len(f"{tick:g}") for tick in ticks) <= 4
