from __future__ import annotations

import re
import warnings
from functools import cache, partial
from itertools import pairwise

import matplotlib as mpl
import numpy as np
import pandas as pd
import pytest
from matplotlib.axes import Axes
from matplotlib.backends.backend_agg import FigureCanvasAgg
from matplotlib.colors import to_rgb
from matplotlib.figure import Figure
from matplotlib.text import Text

import netsim
import traces
from experiments.explore import pictures as browser
from experiments.figures import label as label_figures
from experiments.figures import population, replay, style
from experiments.figures.front import front, nondominated, tradeoff
from experiments.figures.papers import lines, panels
from experiments.figures.style import contrast, label, look, looks, pictures, readable
from experiments.figures.timeline import timelines
from experiments.timeline import record, timeline, window_of_page
from netsim import policies
from tests.experiments.figures.test_comparison import DRAWN

MANY = ["none", "psm:100", "psm:300", "listen:3", "dynamic:100", "uapsd:100", "twt:500:20", "bsd-phase:1", "hold:50",
        "lpsm", "lpsm:log", "lpsm2:1.05", "lpsm2:1.1", "lpsm2-link:1.05", "lpsm3:1.05:400", "mine.py:Patient",
        "mine.py:Eager", *(f"bsd:{p}" for p in (2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01))]  # fmt: skip


def fronts() -> Figure:
    frames = [
        (
            title,
            pd.DataFrame({"group": ["BSD", "BSD", "LPSM2", "LPSM2"], "x": [1, 1.2, 1.1, 1.3], "y": [2, 1.5, 1.4, 1]}),
        )
        for title in ("instant", "slow")
    ]
    return panels(frames, x="energy over the limit", y="mean slowdown")


def replays(draw: str) -> Figure:
    rng = np.random.default_rng(0)
    times = ("100", "500", "1000")
    polls = pd.DataFrame({"time_s": np.arange(1.0, 41.0), "mixture_loss": 0.2, "polling_loss": 0.1})
    for name in times:
        polls[f"loss_{name}"] = rng.exponential(0.2, 40) + 0.01
        polls[f"weight_{name}"] = rng.dirichlet(np.ones(3), 40)[:, 0]
    if draw in ("losses", "weights"):
        return getattr(replay, draw)(polls)  # type: ignore[no-any-return]
    if draw == "competition":
        sums = polls[["mixture_loss", "polling_loss"]].cumsum().assign(time_s=polls["time_s"], best_expert_loss=1.0)
        partitions = pd.DataFrame({"k": [1, 2, 3], "loss": [9.0, 7.0, 6.0]})
        return replay.competition(sums.assign(best_per_poll_loss=0.5), partitions)
    if draw == "alphas":
        quantiles = pd.DataFrame({"time_s": [1.0, 2.0], "mean": [0.1, 0.01]})
        for share in ("0.05", "0.5", "0.95"):
            quantiles[f"quantile_{share}"] = [0.1 * float(share), 0.01 * float(share)]
        return replay.alphas(quantiles, pd.DataFrame({"alpha": [0.01, 0.1, 1.0], "weight": [0.7, 0.2, 0.1]}))
    return replay.regret_distribution(pd.DataFrame({"mixture_regret": [1e-3, 2e-3], "polling_regret": [-1e-3, 0.0]}))


def users(draw: str) -> Figure:
    rows = pd.DataFrame(
        {"policy": np.repeat(["none", "psm:100", "lpsm:log"], 9), "slowdown_mean": np.linspace(1, 4, 27)}
    )
    table = rows.assign(energy_vs_none_percent=np.linspace(-90, 0, 27), energy_vs_psm_percent=np.linspace(-40, 20, 27))
    return getattr(population, draw)(table, ["none", "psm:100", "lpsm:log"])  # type: ignore[no-any-return]


def test_a_user_without_pages_leaves_the_curves_of_the_others() -> None:
    table = pd.DataFrame({"policy": ["none", "lpsm"] * 3, "slowdown_mean": [1.0, 1.5, 1.0, 2.0, np.nan, np.nan]})
    (line,) = population.slowdown(table, ["none", "lpsm"]).axes[0].lines
    assert (np.asarray(line.get_xdata())[[0, -1]] == [1.5, 2.0]).all()
    assert pictures("x", population.slowdown(table[4:], ["none", "lpsm"]))


def labels(draw: str) -> Figure:
    if draw == "by_class":
        return label_figures.by_class(
            pd.DataFrame({"class": ["earn", "acq"], "f_measure": [0.9, 0.8], "label_rate": [0.1, 0.2]}), "ssmd on news"
        )
    columns = ("accuracy", "f_measure", "label_rate")
    windows = pd.DataFrame({name: [0.5, 0.6, 0.7] for column in columns for name in (column, f"{column}_so_far")})
    return label_figures.over_time(windows.assign(t=[100, 200, 300]), 100, "ssmd on news")


def tuned() -> Figure:
    names = [name for name in MANY[:18] if not name.startswith("mine")]
    energies = np.geomspace(0.05, 30.0, len(names))
    rows = pd.DataFrame({"policy": names, "energy_j_per_page": energies, "slowdown_mean": 1 + 0.1 / energies})
    levels = pd.DataFrame({"policy": ["limit", "page-awake"], "energy_j_per_page": [0.03, 0.9]})
    table = pd.concat([rows.assign(slowdown_p95=1 + 0.3 / energies), levels])
    return tradeoff(table, "lpsm2:1.05", 1.1)


def frame_by_frame() -> Figure:
    config = netsim.SimulationConfig(radio=netsim.Radio.profile("esp32-c6"))
    run = record(traces.Workload.of([traces.Page("a", 300, 9000, ((300, 4000),), 2.0)]), "psm", config)
    return timelines([timeline(run, *window_of_page(run, 0))])


DRAWING = {
    **DRAWN,
    "papers": fronts,
    **{f"replay {draw}": partial(replays, draw) for draw in ("losses", "weights", "competition", "alphas", "regret")},
    **{f"population {draw}": partial(users, draw) for draw in ("energy", "slowdown", "by_user")},
    **{f"label {draw}": partial(labels, draw) for draw in ("over_time", "by_class")},
    "tune": tuned,
    "timeline": frame_by_frame,
}
ALL = {name: cache(draw) for name, draw in DRAWING.items()}


def test_no_two_policies_of_a_picture_look_the_same_nor_two_of_sixty_series() -> None:
    found = looks(MANY)
    assert list(found) == MANY
    assert len(set(found.values())) == len(MANY)
    assert len({one._replace(dash="-") for one in found.values()}) == len(MANY)  # markers alone tell them apart
    assert len({style.series(place)[:2] for place in range(60)}) == 60


def test_a_family_keeps_its_colour_and_marker_whoever_else_is_in_the_picture() -> None:
    assert looks(MANY)["lpsm"] == look("lpsm") == look("LPSM")
    assert looks(["psm:300", "bsd:1"])["bsd:1"] == look("bsd:0.2")
    assert {looks(MANY)[f"bsd:{p}"].marker for p in (2, 1, 0.5, 0.01)} == {look("BSD").marker}


def test_every_kind_of_policy_has_a_look_and_the_host_aware_ones_are_those_of_the_simulator() -> None:
    for kind, entry in policies.registry().items():
        policy = policies.make(entry.example)
        assert look(policy.spec) != style.series(0), kind  # the look of what is no policy
        assert (kind in style.HOST_AWARE) == policy.host_aware, kind
        assert label(policy.spec).endswith(style.DAGGER) == policy.host_aware, kind


def test_contrast_is_that_of_wcag() -> None:
    assert contrast("black") == pytest.approx(21.0)
    assert contrast("white") == pytest.approx(1.0)
    assert contrast("#767676") == pytest.approx(4.54, abs=0.01)  # a grey that is known to pass


@pytest.mark.parametrize("name", ALL)
def test_text_stands_out_from_its_background_and_nothing_is_cut_off(name: str) -> None:
    with style.styled():
        figure = ALL[name]()
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        hidden = {id(text) for axes in figure.axes for text in _outside(axes)}
        texts = [text for text in figure.findobj(Text) if text.get_text() and id(text) not in hidden]
        assert texts
        for text in texts:
            assert contrast(text.get_color()) >= 4.5, text
            box = text.get_window_extent(canvas.get_renderer())
            assert figure.bbox.x0 - 1 <= box.x0, text
            assert box.x1 <= figure.bbox.x1 + 1, text
            assert figure.bbox.y0 - 1 <= box.y0, text
            assert box.y1 <= figure.bbox.y1 + 1, text


def _outside(axes: Axes) -> list[Text]:
    """The labels of ticks that lie outside the axes, which are not drawn, and all of axes that are switched off."""
    found = [] if axes.axison else [*axes.get_xticklabels(), *axes.get_yticklabels()]
    for axis, limits in ((axes.xaxis, sorted(axes.get_xlim())), (axes.yaxis, sorted(axes.get_ylim()))):
        ticks = [*axis.get_major_ticks(), *axis.get_minor_ticks()]
        found += [tick.label1 for tick in ticks if not limits[0] <= tick.get_loc() <= limits[1]]
    return found


@pytest.mark.parametrize("name", ALL)
def test_every_axis_says_what_it_measures(name: str) -> None:
    figure = ALL[name]()
    rows = [axes for axes in figure.axes if axes.axison]
    across = [axes.get_xlabel() for axes in rows] + [figure.get_supxlabel()]
    up = [axes.get_ylabel() for axes in rows] + [figure.get_supylabel()]
    assert any(across)
    assert any(up) or any(tick.get_text() for tick in rows[0].get_yticklabels())
    measured = re.compile(r"\b(energy|time|loss|sleep|regret|delay|cumulative|total)\b(?!.*\bover\b)")
    for words in (*across, *up):  # what has a unit says it; shares, counts and slowdowns have none
        assert "[" in words or not measured.search(words), words


def test_what_is_told_apart_by_colour_is_told_apart_in_grey() -> None:
    def grey(colour: str) -> float:
        red, green, blue = to_rgb(colour)
        return 0.299 * red + 0.587 * green + 0.114 * blue

    fills = list(style.PART_FILLS.values())
    for first, second in pairwise(fills):
        assert first[1] != second[1] or abs(grey(first[0]) - grey(second[0])) > 0.2


def test_the_browser_draws_a_policy_as_paper_does() -> None:
    for policy in MANY:
        drawn = looks(MANY)[policy]
        marked = browser.marker(drawn)
        assert marked["color"] == drawn.colour
        assert marked["symbol"].endswith("-open") != drawn.filled
    rows = pd.DataFrame({"policy": MANY, "energy_j_per_page": range(1, len(MANY) + 1), "slow": 1.5})
    traces = {trace["meta"]["policy"]: trace for trace in browser.front(rows, "slow", {}, "slowdown")["data"][1:]}
    shown = looks(MANY[1:])
    assert {name: trace["marker"]["color"] for name, trace in traces.items()} == {
        name: one.colour for name, one in shown.items()
    }


def test_energy_is_along_the_horizontal_axis_in_print_and_in_the_browser() -> None:
    rows = pd.DataFrame({"policy": ["psm:100", "lpsm"], "energy_j_per_page": [3.0, 2.0], "slow": [1.5, 2.5]})
    (axes,) = front(rows, {"limit": 1.5}, panels={"slow": "slowdown"}).axes
    assert "energy" in axes.get_xlabel()
    assert "energy" in DRAWN["energy"]().axes[0].get_xlabel()
    assert "energy" in browser.front(rows, "slow", {}, "slowdown")["layout"]["xaxis"]["title"]["text"]


def test_the_front_is_what_nothing_beats() -> None:
    energy, slow = [3.0, 1.0, 2.0, 2.0, 4.0], [1.0, 3.0, 2.0, 2.5, 1.5]
    beaten = {
        i for i in range(5) for j in range(5)
        if energy[j] <= energy[i] and slow[j] <= slow[i] and (energy[j], slow[j]) != (energy[i], slow[i])
    }  # fmt: skip
    assert set(nondominated(energy, slow)) == set(range(5)) - beaten


def test_names_of_points_that_meet_do_not_cover_each_other() -> None:
    rows = pd.DataFrame({"policy": MANY[:12], "energy_j_per_page": [2 + 0.01 * i for i in range(12)], "slow": 1.5})
    with style.styled():
        figure = front(rows, {}, panels={"slow": "slowdown"})
        canvas = FigureCanvasAgg(figure)
        canvas.draw()
        names = [text for text in figure.axes[0].texts if text.get_text() in {label(policy) for policy in MANY}]
        boxes = [text.get_window_extent(canvas.get_renderer()) for text in names]
    assert len(boxes) == 12
    assert not any(a.overlaps(b) for place, a in enumerate(boxes) for b in boxes[:place])


def test_a_line_is_named_where_it_ends() -> None:
    frame = pd.DataFrame({"group": ["a", "a", "b", "b"], "x": [0, 1, 0, 1], "y": [0.0, 1.0, 0.0, 5.0]})
    (axes,) = lines(frame, x="time [s]", y="bytes").axes
    assert {text.get_text(): text.xy for text in axes.texts} == {"a": (1.0, 1.0), "b": (1.0, 5.0)}
    assert not re.search("legend", pictures("x", lines(frame, x="time [s]", y="bytes"))["x.svg"].decode())


def test_a_text_colour_is_darkened_no_more_than_needed() -> None:
    for family in ("bsd", "dynamic", "hold", "lpsm", "lpsm2", "lpsm3"):
        colour = readable(look(family).colour)
        assert 4.5 <= contrast(colour) < max(5.2, contrast(look(family).colour) + 0.01)
    assert mpl.colors.to_hex("black") == readable("black")


def test_names_in_scripts_that_the_font_lacks_are_drawn_without_a_warning() -> None:
    names = [
        "\u540d\u524d",
        "\u05e9\u05dc\u05d5\u05dd",
        "\u0939\u093f\u0928",
        "\u0e44\u0e17\u0e22",
        "\U0001f600",
        "\U00013000",
        "\uff1dx",
    ]
    rows = pd.DataFrame({"class": names, "f_measure": 0.5, "label_rate": 0.25})
    with warnings.catch_warnings(record=True) as said:
        warnings.simplefilter("always")
        svg = pictures("a", label_figures.by_class(rows, names[0]))["a.svg"].decode()
    assert [str(one.message) for one in said] == []
    assert all(name in svg for name in names)
