"""How pictures look, and how they become bytes: one table of colours and marks, the same everywhere.

A policy is known by the colour and the marker of its family in every picture, whether Matplotlib or a browser draws
it; policies of one family differ in shade, filling and dash.  Colours are those of Okabe and Ito, which colour-blind
readers tell apart; marker, dash and hatching say the same in grey print, and text is black.  The learned policies have
the strong colours.  No picture depends on the screen, the clock or the machine: the SVG has a fixed hash salt and no
date, and text stays text.

Source of the palette: M. Okabe and K. Ito, "Color Universal Design", 2008.
"""

import io
import re
import warnings
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Literal, NamedTuple, TypeAlias

import matplotlib as mpl
from matplotlib.axes import Axes
from matplotlib.backend_bases import get_registered_canvas_class
from matplotlib.colors import to_hex, to_rgb
from matplotlib.figure import Figure
from matplotlib.ticker import MaxNLocator

from experiments.escaping import inert
from experiments.quantities import Row

Drawing: TypeAlias = Callable[[], Figure]

INK, GREY, PALE = "#1a1a1a", "#767676", "#dedede"
ORANGE, SKY, GREEN, BLUE, VERMILLION, PURPLE = "#E69F00", "#56B4E9", "#009E73", "#0072B2", "#D55E00", "#CC79A7"
BROWN, TEAL, WINE, OLIVE = "#8C5A2B", "#44AA99", "#882255", "#8A8A2A"  # for what Okabe and Ito have no colour left


class Look(NamedTuple):
    """Colour, marker and dash (Matplotlib's) of one thing in a picture, and whether its marker is filled."""

    colour: str
    marker: str
    dash: str = "-"
    filled: bool = True
    strong: bool = False

    def drawn(self, **other: Any) -> Row:
        """Return what `Axes.plot` takes to draw a line with markers so, or otherwise."""
        return {
            "color": self.colour, "linestyle": self.dash, "linewidth": 1.8 if self.strong else 1.3,
            "marker": self.marker, "mfc": self.colour if self.filled else "white",
            "markersize": 7.5 if self.strong else 5.5, **other,
        }  # fmt: skip


_DASHES = ("-", "--", "-.", ":")
_FAMILIES = {
    kind: (Look(colour, marker, _DASHES["hollow" in how], "hollow" not in how, "strong" in how), name, "host" in how)
    for kind, name, colour, marker, how in (
        re.split(" {2,}", f"{line.strip()}  ", maxsplit=4)
        for line in """
            none        NONE             #767676  d
            psm         PSM              #000000  s
            listen      listen interval  #5C5C5C  <
            dynamic     dynamic PSM      #56B4E9  ^
            driver      driver           #8A8A2A  p
            break-even  rent or buy      #7B3294  p  hollow
            doubling    802.16e sleep    #7B3294  h
            uapsd       U-APSD           #44AA99  v
            twt         TWT              #8C5A2B  >
            bsd         BSD              #E69F00  o
            bsd-phase   BSD phase        #A87400  D
            upm         uPM              #1B7837  ^
            sifi        SiFi             #1B7837  >  hollow
            sapsm       SAPSM            #B2182B  <  host-aware
            stpm        STPM             #B2182B  d  hollow, host-aware
            bsd-host    BSD host         #A87400  D  hollow, host-aware
            hold        hold             #CC79A7  h  host-aware
            poll        polls            #882255  v  host-aware
            poll-link   polls, link      #882255  v  hollow
            lpsm        LPSM             #0072B2  X  strong
            lpsm-poll   LPSM polls       #0072B2  X  hollow, host-aware
            lpsm2       LPSM2            #009E73  P  strong, host-aware
            lpsm2-link  LPSM2 link       #006B4E  P  strong, hollow
            lpsm3       LPSM3            #D55E00  *  strong, host-aware
            lpsm3-link  LPSM3 link       #963F00  *  strong, hollow
            lpsm4       LPSM4            #882255  *  strong, host-aware
            lpsm4-link  LPSM4 link       #5C1238  *  strong, hollow
            lpsm3-driver  LPSM3 driver   #D55E00  p  hollow
            lpsm4-driver  LPSM4 driver   #882255  p  hollow
        """.strip().splitlines()
    )
}
"""Kind of policy to its look, its name, and whether it knows what the host waits for, which a dagger marks.

What is not here (a policy of the reader's own) is a series of its own.
"""
_SERIES_COLOURS = (BLUE, VERMILLION, GREEN, PURPLE, ORANGE, SKY, "#000000", WINE, BROWN, TEAL, OLIVE)
_SERIES_MARKERS = "osD^vPXd<>hp"
PART_FILLS = {"sleep_j": (PALE, ""), "awake_j": (SKY, "////"), "listen_j": (VERMILLION, ""), "wakeup_j": (INK, "....")}
"""Part of the energy to the colour and the hatching of its piece of a bar."""
DAGGER = "\N{DAGGER}"
_NAMES = {
    "none": "no power saving", "psm:100": "static PSM", "lpsm": "LPSM 1/T", "lpsm:log": "LPSM 1/log T",
    "page-awake": "awake while a page loads", "limit": "lower limit",
}  # fmt: skip
_STYLE = Path(__file__).with_name("house.mplstyle")


@contextmanager
def styled() -> Iterator[None]:
    """Draw in the house style, whatever the reader's own settings.

    A character that the font lacks is a box in a PNG, without a word; an SVG leaves it to the fonts of the reader.
    """
    with mpl.rc_context(fname=_STYLE), warnings.catch_warnings():
        warnings.filterwarnings("ignore", "Glyph .* missing from font", UserWarning)
        yield


@contextmanager
def sheet(
    width: float, height: float, rows: int = 1, columns: int = 1, **more: Any
) -> Iterator[tuple[Figure, Sequence[Any]]]:
    """Draw a figure of so many inches in the house style: give it, and its axes, row by row."""
    with styled():
        figure = Figure(figsize=(width, height), dpi=160, layout="constrained")
        yield figure, figure.subplots(rows, columns, squeeze=False, **more).ravel().tolist()


def _kind(policy: str) -> str:
    """Return the kind of a policy's name, or of a family's such as "BSD" or "static PSM" in a paper's picture."""
    kind = policy.partition(":")[0]
    if kind in _FAMILIES:
        return kind
    word = policy.partition(",")[0].lower().removeprefix("static ")
    return word if word in _FAMILIES else ""


def looks(names: Sequence[str]) -> dict[str, Look]:
    """Return the look of everything in one picture.

    A policy has the colour and the marker of its family, its place among those of its family decides shade, filling
    and dash; what is no policy has a colour, marker and dash of its own.  No two of 60 look the same.

    >>> looks(["psm:100", "bsd:1", "bsd:0.5"])["bsd:0.5"]
    Look(colour='#E69F00', marker='o', dash='--', filled=False, strong=False)
    """
    found: dict[str, Look] = {}
    seen: Counter[str] = Counter()
    for name in dict.fromkeys(names):
        kind = _kind(name)
        found[name] = _variant(_FAMILIES[kind][0], seen[kind]) if kind else series(seen[kind])
        seen[kind] += 1
    return found


def look(name: str) -> Look:
    """Return the look of a policy that is the only one of its family in the picture."""
    return looks([name])[name]


def _variant(family: Look, place: int) -> Look:
    """Return the `place`-th look of a family: filled and hollow in turn, darker and then paler, another dash."""
    other, share = ((0.0, 0.0), (0.0, 0.4), (1.0, 0.35), (1.0, 0.6))[place // 2 % 4]
    dash = _DASHES[(_DASHES.index(family.dash) + place) % len(_DASHES)]
    red, green, blue = ((1 - share) * part + share * other for part in to_rgb(family.colour))
    return family._replace(
        colour=to_hex((red, green, blue)).upper(), dash=dash, filled=family.filled ^ (place % 2 == 1)
    )


def series(place: int) -> Look:
    """Return the look of the `place`-th thing that is no policy; none of 132 has the colour and marker of another."""
    colour, marker, dash = (of[place % len(of)] for of in (_SERIES_COLOURS, _SERIES_MARKERS, _DASHES))
    return Look(colour, marker, dash)


def label(policy: str) -> str:
    """Return how a policy is called in a picture: ``bsd:0.5`` is BSD 0.5; a dagger marks what is host-aware."""
    if policy in _NAMES:
        return _NAMES[policy]
    kind, _, parameter = policy.partition(":")
    if kind not in _FAMILIES:
        return inert(policy)
    first, _, second = (parameter, "", "") if "=" in parameter else parameter.partition(":")
    first += " ms" if first and kind in ("dynamic", "hold", "twt", "poll", "poll-link") else ""
    second = "" if kind.startswith("lpsm3") and second == "400" else second  # the usual delay of messages
    name = f"{_FAMILIES[kind][1]} {first}".rstrip() + (f", {second} ms" if second else "")
    return name + DAGGER if _FAMILIES[kind][2] else name


def clean(axes: Axes, grid: Literal["both", "x", "y"] = "y", **words: str) -> None:
    """Leave only what carries information, and set title, xlabel and ylabel."""
    axes.set(**words)
    axes.grid(axis=grid)
    axes.tick_params(length=2.5, width=0.6)


def rows_named(axes: Axes, names: Iterable[str]) -> None:
    """Name the rows of a picture, which begin at the top and have no ticks."""
    names = list(names)
    axes.set_yticks(range(len(names)), names)
    axes.set_ylim(len(names) - 0.4, -0.6)
    axes.tick_params(axis="y", length=0)


def key(figure: Figure, order: Iterable[str] = (), **more: Any) -> None:
    """Write a legend beside the axes, each name once, those of `order` first."""
    named = {name: one for axes in figure.axes for one, name in zip(*axes.get_legend_handles_labels(), strict=True)}
    names = [name for name in dict.fromkeys([*order, *named]) if name in named]
    figure.legend([named[name] for name in names], names, **{"loc": "outside right upper", "alignment": "left", **more})


def log_axis(axes: Axes, which: Literal["x", "y"], low: float, high: float) -> None:
    """Make an axis logarithmic from low to high, with plain numbers at 1, 2, 5 (or more) of every decade.

    Over less than a factor of 1.6 the numbers are equally far apart, seven at most.
    """
    steps: tuple[float, ...] = (1, 2, 5) if high > 12 * low else (1, 1.5, 2, 3, 4, 5, 7)
    ticks = [step * 10.0**power for power in range(-4, 6) for step in (steps if high <= 200 * low else (1,))]
    if high < 1.6 * low:
        ticks = [float(tick) for tick in MaxNLocator(6, steps=[1, 2, 5, 10]).tick_values(low, high)]
    ticks = [tick for tick in ticks if low <= tick <= high]
    axes.set(**{f"{which}scale": "log", f"{which}lim": (low, high)})
    axis = axes.xaxis if which == "x" else axes.yaxis
    axis.set_ticks(ticks, [f"{tick:g}" for tick in ticks])
    axis.set_ticks([], minor=True)


def saved(figure: Figure, kind: str) -> bytes:
    """Return the figure as a file, "png" or "svg", whose bytes depend on the drawing alone."""
    content = io.BytesIO()
    nothing = {"Software": None} if kind == "png" else {"Date": None, "Creator": None}
    with styled():  # some settings are read only now
        canvas = get_registered_canvas_class(kind)(figure)
        getattr(canvas, f"print_{kind}")(content, metadata=nothing)  # `Figure.savefig` would draw everything twice
    return content.getvalue()


def pictures(name: str, figure: Figure) -> dict[str, bytes]:
    """Return the figure as files, name to content; both are laid out alike, once."""
    found = {f"{name}.png": saved(figure, "png")}
    figure.set_layout_engine("none")  # what it has laid out stays
    return found | {f"{name}.svg": saved(figure, "svg")}
