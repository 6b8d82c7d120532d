from __future__ import annotations

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.figure import Figure

from experiments.figures.comparison import energy, energy_front, slowdown, slowdown_by_page
from experiments.figures.style import label, log_axis, pictures
from experiments.figures.timeline import evolution
from experiments.study.evolution import busy_page, window


def summary() -> pd.DataFrame:
    rows = []
    for policy, total, slow in (("none", 40.0, 1.0), ("psm:100", 3.3, 2.2), ("lpsm", 2.9, 3.4), ("limit", 2.6, np.nan)):
        rows.append(
            {
                "policy": policy, "replications": 3, "sleep_j_per_page": 0.7 * total, "awake_j_per_page": 0.2 * total,
                "listen_j_per_page": 0.1 * total, "wakeup_j_per_page": 0.0,
                "total_j_per_page": total, "energy_minus_psm_j_per_page_half_width": 0.2,
                "energy_vs_psm_percent": 100 * (total / 3.3 - 1), "slowdown_mean": slow,
                "slowdown_mean_half_width": 0.1, "slowdown_median": 0.9 * slow, "slowdown_p95": 2 * slow,
            }
        )  # fmt: skip
    return pd.DataFrame(rows)


def by_page() -> pd.DataFrame:
    rng = np.random.default_rng(0)
    return pd.DataFrame(
        {
            "replication": np.repeat(["a", "b"], 30),
            "policy": np.tile(["none", "psm:100", "lpsm"], 20),
            "base_latency_s": rng.exponential(1, 60) + 0.1,
            "slowdown": 1 + rng.exponential(1, 60),
        }
    )


def sleeps() -> Figure:
    polls = pd.DataFrame(
        {"policy": "lpsm", "time_s": np.arange(50.0), "next_sleep_ms": 500, "buffered_bytes": [0, 1500] * 25}
    )
    loads = pd.DataFrame({"policy": ["lpsm"], "start_s": [3.0], "end_s": [4.0]})
    return evolution(polls, loads, window_s=60.0)


DRAWN = {
    "energy": lambda: energy(summary()),
    "front": lambda: energy_front(summary()),
    "slowdown": lambda: slowdown(summary()),
    "by-page": lambda: slowdown_by_page(by_page()),
    "sleeps": sleeps,
}


@pytest.mark.parametrize("name", DRAWN)
def test_the_same_frame_gives_the_same_bytes_whatever_the_readers_settings(name: str) -> None:
    first = pictures(name, DRAWN[name]())
    with mpl.rc_context({"font.size": 20, "svg.hashsalt": None, "axes.facecolor": "red"}):
        second = pictures(name, DRAWN[name]())
    assert first == second
    assert first[f"{name}.png"].startswith(b"\x89PNG")
    assert b"<dc:date>" not in first[f"{name}.svg"]


def test_the_energy_bars_have_the_heights_of_the_frame() -> None:
    axes = energy(summary()).axes[0]
    asleep, awake, listening = axes.containers[:3]
    heights = [sum(patch.get_width() for patch in bar) for bar in zip(asleep, awake, listening, strict=True)]
    assert heights == pytest.approx([40.0, 3.3, 2.9])
    assert axes.get_xlim()[1] < 10  # the bar without power saving is cut, the others can be told apart
    assert any("40 " in text.get_text() for text in axes.texts)


def test_every_page_is_a_point_and_the_line_is_the_mean_over_replications() -> None:
    pages = by_page()
    panels = slowdown_by_page(pages).axes
    assert [panel.get_title(loc="left") for panel in panels] == ["static PSM", "LPSM 1/T"]
    own = pages[pages["policy"] == "lpsm"]
    points, line = panels[1].lines
    assert len(points.get_xdata()) == len(own)
    assert line.get_ydata()[0] == pytest.approx(own.groupby("replication")["slowdown"].mean().mean())


def test_policies_are_called_by_their_names() -> None:
    assert label("bsd:0.5") == "BSD 0.5"
    assert label("psm:300") == "PSM 300"
    assert label("lpsm3:1.05:400") == "LPSM3 1.05†"
    assert label("mine.py:Patient") == "mine.py:Patient"
    assert label("lpsm:log") == "LPSM 1/log T"


def test_one_policy_alone_can_be_drawn() -> None:
    frame = summary()
    for draw in (energy, slowdown):
        assert pictures("x", draw(frame[frame["policy"] == "psm:100"]))
    assert pictures("x", energy(frame[frame["policy"] == "none"]))


def test_the_busy_stretch_is_the_first_that_is_busy_enough() -> None:
    quiet = np.arange(20) * 100.0
    assert busy_page(quiet, 50.0) == 5
    busy = np.concatenate([quiet, 2000 + np.arange(6) * 5.0, [3000.0]])
    assert busy_page(busy, 50.0) == 20
    assert busy_page([0.0], 50.0) == 0


def test_a_window_starts_at_the_same_page_under_every_policy() -> None:
    pages = pd.DataFrame(
        {"policy": ["a", "a", "b", "b"], "issue_s": [0.0, 10.0, 0.0, 12.0], "latency_s": [1.0, 1.0, 3.0, 3.0]}
    )
    times = np.arange(0.0, 30.0)
    polls = pd.DataFrame(
        {
            "policy": np.repeat(["a", "b"], 30), "time_s": np.tile(times, 2), "slept_ms": 100.0,
            "buffered_bytes": 0, "next_sleep_ms": 100.0,
        }
    )  # fmt: skip
    seen, loads = window(pages, polls, start_page=1, window_s=5.0)
    assert seen.groupby("policy")["time_s"].agg(["min", "max", "size"]).to_numpy().tolist() == [[0, 4, 5], [0, 4, 5]]
    assert loads.to_numpy().tolist() == [["a", 0.0, 1.0], ["b", 0.0, 3.0]]


@pytest.mark.parametrize(("low", "high"), [(0.93, 1.48), (0.97, 1.44), (0.57, 0.9), (1.9, 2.1), (97.0, 150.0)])
def test_a_short_logarithmic_axis_has_a_few_numbers_well_apart(low: float, high: float) -> None:
    axes = Figure().subplots()
    log_axis(axes, "x", low, high)
    ticks = axes.get_xticks()
    assert 2 <= len(ticks) <= 7
    assert low <= min(ticks)
    assert max(ticks) <= high
    assert max(map(len, (f"{tick:g}" for tick in ticks))) <= 4


def test_one_panel_is_wide_enough_for_its_title_below() -> None:
    pages = by_page()
    figure = slowdown_by_page(pages[pages["policy"].isin(["none", "psm:100"])])
    figure.draw_without_rendering()
    assert figure._supxlabel is not None
    box = figure._supxlabel.get_window_extent()
    assert box.x0 >= 0
    assert box.x1 <= figure.bbox.width
