"""How long the server takes to answer.

The delay of every reply is known before the run, recorded or drawn by page and object, so that it does not depend on
the order of events: compared policies meet the same server.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass
from math import log

import numpy as np

from lpsm.arrays import Floats, Ints
from lpsm.checks import number
from traces.columns import Workload
from traces.records import Page

_NS_PER_S = 1_000_000_000
_KINDS = ("recorded", "constant", "exponential", "lognormal")
_LONGEST_S = 1e6
_SIGMA = 0.8  # of a lognormal delay for which none is given: 95 % lie within 3.7 times the median


@dataclass(frozen=True, slots=True)
class ServerDelay:
    """The time between a complete request and the first byte of its reply."""

    mean_s: float = 0.0  #: its mean, seconds; 0 answers at once (recorded: 0)
    _: KW_ONLY
    #: its distribution.  Recorded: as the pages have it (`Page.waits_s`); what they do not know is drawn from what they
    #: know, and is 0 where they know nothing.
    kind: str = "constant"
    sigma: float = 0.0  #: standard deviation of its logarithm (lognormal only)

    def __post_init__(self) -> None:
        number("mean_s", self.mean_s)
        if self.kind not in _KINDS:
            raise ValueError(f"the kind of server delay must be one of {', '.join(_KINDS)}, got {self.kind!r}")
        if not 0.0 <= self.mean_s <= _LONGEST_S:
            raise ValueError(f"the mean server delay must lie in [0, 1e6] s, got {self.mean_s}")
        if not 0.0 <= self.sigma <= 10.0:
            raise ValueError(f"sigma of the server delay must lie in [0, 10], got {self.sigma}")
        if self.mean_s and self.kind == "recorded":
            raise ValueError(f"a recorded server delay has no mean of its own, got {self.mean_s}")
        if self.sigma and self.kind != "lognormal":
            raise ValueError(f"sigma goes with a lognormal server delay only, got {self.sigma} with {self.kind}")

    @classmethod
    def parse(cls, text: str) -> ServerDelay:
        """Read "0.5", "exponential:0.5", "lognormal:0.5:0.8" (mean, then sigma, 0.8 if left out) or "recorded".

        Any other text is a ValueError.
        """
        if text == "recorded":
            return cls(kind=text)
        kind, *numbers = text.split(":") if ":" in text else ("constant", text)
        try:
            values = [float(number) for number in numbers]
        except ValueError:
            values = []
        if kind == "lognormal" and len(values) == 1:
            values.append(_SIGMA)
        if len(values) != (2 if kind == "lognormal" else 1) or kind not in _KINDS:
            forms = "SECONDS, exponential:MEAN, lognormal:MEAN[:SIGMA] or recorded"
            raise ValueError(f"a server delay must be {forms}, got {text!r}")
        return cls(mean_s=values[0], kind=kind, sigma=values[1] if kind == "lognormal" else 0.0)

    def draw(self, pages: Sequence[Page], rng: np.random.Generator) -> Ints:
        """Return the delays of all replies, nanoseconds: page after page, the HTML first, then its objects."""
        workload = Workload.of(pages)
        n = len(workload.sizes)
        if self.kind == "recorded":
            seconds = _completed(workload.waits_s, rng)
        elif self.kind == "exponential":
            seconds = rng.exponential(self.mean_s, n)
        elif self.kind == "lognormal" and self.mean_s > 0:
            seconds = rng.lognormal(log(self.mean_s) - self.sigma**2 / 2, self.sigma, n)
        else:
            seconds = np.full(n, self.mean_s)
        return np.rint(seconds * _NS_PER_S).astype(np.int64)


def draw_each(pages: Sequence[Page], delays: Sequence[ServerDelay], rng: np.random.Generator) -> Ints:
    """Draw the delays of all replies, in the order of `ServerDelay.draw`, where every page has a server of its own.

    What is no sequence of delays is a TypeError, another number of them than one a page a ValueError.
    """
    wanted = "server_delays must be a sequence of ServerDelay, one a page"
    if not isinstance(delays, Sequence):
        raise TypeError(f"{wanted}, got {delays!r}")
    for place, delay in enumerate(delays):
        if not isinstance(delay, ServerDelay):
            raise TypeError(f"{wanted}, got {delay!r} for page {place}")
    if len(delays) != len(pages):
        raise ValueError(f"server_delays must be one a page ({len(pages)}), got {len(delays)}")
    drawn = [delay.draw([page], rng) for page, delay in zip(pages, delays, strict=True)]
    return np.concatenate([np.empty(0, dtype=np.int64), *drawn])


def _completed(waits_s: Floats, rng: np.random.Generator) -> Floats:
    """Draw what is not known from what is; 0 where nothing is known."""
    unknown = np.isnan(waits_s)
    known = waits_s[~unknown]
    seconds = waits_s.copy()
    seconds[unknown] = rng.choice(known, int(unknown.sum())) if known.size else 0.0
    return seconds
