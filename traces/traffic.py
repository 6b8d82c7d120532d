"""Traffic made to order: pages of the Web model, messages that a server pushes, streams, and mixtures that shift.

Everything is drawn beforehand from one generator.  A `Traffic` is what a client meets:

* **pages**, browsed one after another, each with the server it is asked of (``0``, ``0.5``,
  ``lognormal:0.5:0.8``: the delay as `lpsm simulate --server-delay` takes it, drawn by the simulator);
* **messages** that a server writes unasked: *memoryless*, one after another with exponential gaps, or *bursty*, the
  same number in bursts;
* **segments** of a stream: pages of one request each, asked for at fixed instants, one segment ahead of what is
  being played, and so with a deadline.

A segment is late if it comes after the segment before has been played.  The player then stalls until it is there and
goes on that much later, so that within a viewing the stall of a segment is by how much its lateness exceeds that of
all before it (`stalls`).

Beside these stand *programs* (`APPS`), which ask for something again and again and are told things unasked.

The figures here are our own choice, not measurements: they span what phones do (notifications, players that fetch
some seconds at a time).  A keep-alive of 60 s is the default of common MQTT clients, a PINGREQ and its PINGRESP are 2
bytes each (MQTT 3.1.1, sections 3.12 and 3.13), a report is a PUBLISH that asks for no answer (quality of service 0).
Left out: replies to messages, what opening a connection takes, players that choose their rate, several streams at a
time, connections that outlive a segment.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import chain
from typing import NamedTuple, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from traces.checks import between, checked, column, shown, typed
from traces.columns import Workload
from traces.records import Datagram, Message, Page
from traces.web_model import generate

Floats = NDArray[np.float64]
Rng = np.random.Generator
Sizes = tuple[int, int]

INSTANT, CONSTANT, LOGNORMAL, RECORDED = "0", "0.5", "lognormal:0.5:0.8", "recorded"  # servers
_STREAM = "stream"
# servers of the pages (or none), and whether messages come in bursts (None: there are none)
_PHASES = ((INSTANT, None), (LOGNORMAL, None), ("", True), (_STREAM, None), (CONSTANT, False))
MEAN_GAP_S = 20.0  # between messages, whichever way they come
IN_BURST, GAP_IN_BURST_S = 6.0, 0.3  # mean number of messages of a burst, and mean gap between two of them
MESSAGE_BYTES = (200, 2000)
SEGMENT_BYTES, SEGMENT_S = (200_000, 500_000), (2.0, 4.0)
VIEWING_S, PAUSE_S = (60.0, 180.0), (60.0, 240.0)
PHASE_S = 300.0
LONGEST_S = 1e9  # so that every instant is told from the next
MOST_MESSAGES = 1e8  # on average
SECONDS_A_PAGE = 55.0  # of the Web model, to say how many pages fill a time
_PING_BYTES = 2
_TLS_BYTES = 5 + 1 + 16  # of a record of TLS 1.3 (RFC 8446, 5.2): header, type, tag
_HOUR_S = 3600.0
_FRAMES, _FRAME_S = 5, 0.04  # of what a call sends at once, and from one to the next
_MOST_EVENTS = 1e7


class Traffic(NamedTuple):
    """What a client meets."""

    pages: list[Page]  #: In the order in which they are browsed.
    servers: list[str]  #: One a page: the delay of the server it is asked of.
    deadlines_s: Floats  #: When the page must be there (segments of a stream); NaN for what has no deadline.
    viewings: NDArray[np.int64]  #: Which viewing a segment belongs to; -1 for what is no segment.
    messages: list[Message]  #: In the order of their instants.

    @classmethod
    def plain(cls, pages: Sequence[Page], messages: list[Message], server: str = INSTANT) -> Self:
        """Return traffic of which nothing is a segment."""
        n = len(pages)
        return cls([*pages], [server] * n, np.full(n, np.nan), np.full(n, -1), messages)


@dataclass(frozen=True, slots=True, kw_only=True)
class Wishes:
    """What traffic is wished for."""

    hours: float = 1.0  #: How long, above 0.
    pages: int | None = None  #: How many pages of the Web model; None: as many as fill the hours on average.
    keep_alive_s: float = 60.0  #: Time between keep-alives, above 0.
    #: How many messages are pushed and how many reports are sent, on average, at least 0; both are memoryless.
    messages_per_hour: float = 180.0
    message_bytes: Sizes = MESSAGE_BYTES  #: Their least and largest size, at least 1.
    reports_per_hour: float = 60.0
    report_bytes: Sizes = (50, 200)
    bursty: bool = False  #: Whether messages come in bursts (`push_messages`).

    def __post_init__(self) -> None:
        between(1e-6, 1e5, hours=self.hours, keep_alive_s=self.keep_alive_s)
        between(0.0, 1e6, messages_per_hour=self.messages_per_hour, reports_per_hour=self.reports_per_hour)
        typed("bursty", self.bursty, bool)
        _check_sizes(message_bytes=self.message_bytes, report_bytes=self.report_bytes)
        if self.pages is not None:
            between(1, _MOST_EVENTS, pages=self.pages)
        events = self.hours * (self.messages_per_hour + self.reports_per_hour + _HOUR_S / self.keep_alive_s)
        if events > _MOST_EVENTS:
            raise ValueError(f"messages, reports and keep-alives must be at most {_MOST_EVENTS:g}, got {events:g}")


Waits = Callable[[Rng, float, int], Floats]
"""Draws how long servers take: from the part of the traffic that has gone by, and how many waits; seconds."""

Maker = Callable[[float, Wishes, Rng], Traffic]


def _lognormal(mean_s: float) -> Waits:
    return lambda rng, gone, n: rng.lognormal(np.log(mean_s) - 0.32, 0.8, n)


class App(NamedTuple):
    """A program that asks for something again and again, and is told things unasked."""

    request_bytes: Sizes = (1, 1)  #: Least and largest size; a reply of 0 is an upload.
    reply_bytes: Sizes = (0, 0)
    waits: Waits = lambda rng, gone, n: np.zeros(n)  #: How long the server takes to answer.
    pause_s: float = 0.0  #: Between pages, whose mean it is, of an exponential distribution; 0: there are none.
    regular: bool = False  #: Whether pages are issued at fixed instants, so far from each other.
    objects: int = 0  #: Most embedded objects of a page.
    messages: tuple[float, Sizes] | None = None  #: Mean gap between messages, seconds, and their sizes.
    web: float = 0.0  #: The part of the pages that are replaced by pages of the Web model.


APPS: dict[str, App] = {
    "chat": App((100, 600), (40, 200), _lognormal(0.2), 20.0, messages=(15.0, (100, 500))),
    "voice": App((800, 1000), pause_s=0.2, regular=True, messages=(0.05, (160, 240))),
    "game": App((60, 120), (60, 200), pause_s=0.1, regular=True, messages=(1 / 30, (80, 200))),
    "long-poll": App((200, 600), (100, 2000), lambda rng, gone, n: rng.exponential(15.0, n), 0.5),
    "long-poll-and-web": App((200, 600), (100, 2000), lambda rng, gone, n: rng.exponential(15.0, n), 5.0, web=0.5),
    "sensor": App((50, 500), pause_s=30.0),
    "telemetry": App((1000, 20_000), (20, 60), pause_s=5.0, regular=True),
    "mail": App((200, 800), (500, 50_000), _lognormal(0.3), 60.0, objects=3),
    "polling": App((200, 400), (200, 1000), lambda rng, gone, n: np.full(n, 0.1), 10.0),
    "update": App(messages=(60.0, (20_000, 200_000))),
    "typeahead": App((200, 400), (500, 3000), _lognormal(0.05), 0.33),
    "feed": App((300, 800), (20_000, 120_000), _lognormal(0.03), 4.0, objects=8),
    "ticker-and-web": App((1, 1), (1, 1), pause_s=30.0, messages=(1.0, (100, 300)), web=1.0),
}
"""A chat, a call, a game, requests that are answered when there is news (alone, and beside browsing), a sensor that
reports, telemetry, mail, a program that asks for news, updates that a server pushes, a search that is asked at each key
(of which people type three a second on a phone: Palin et al., MobileHCI 2019), a feed of pictures, and prices that are
told each second, beside browsing."""


@checked
def make(kind: str, wishes: Wishes, rng: Rng) -> Workload:
    """Make a workload of one of `KINDS`, as it is wished for, from one generator; a call is datagrams both ways.

    Raises
    ------
    TypeError, ValueError
        If the kind is unknown, or nothing is left to make.
    """
    lasts_s = wishes.hours * _HOUR_S
    made = draw(kind, lasts_s, rng, wishes)
    if not made.pages and not made.messages:
        raise ValueError(f"the traffic must have a page or a message, got none in {wishes.hours:g} hours of {kind}")
    if kind == "voice":
        sent = [
            Datagram(round((page.issue_s or 0.0) + part * _FRAME_S, 6), page.request_bytes // _FRAMES, True)
            for page in made.pages
            for part in range(_FRAMES)
        ]
        told = [Datagram(message.at_s, message.size_bytes, False) for message in made.messages]
        inside = sorted(one for one in sent + told if one.at_s <= lasts_s)
        return Workload.of([], datagrams=inside, captured_s=lasts_s)
    timed = zip(made.pages, made.deadlines_s.tolist(), strict=True)
    pages = (page._replace(deadline_s=deadline if deadline == deadline else None) for page, deadline in timed)
    return Workload.of(pages, made.messages)


@checked
def draw(kind: str, duration_s: float, rng: Rng, wishes: Wishes | None = None) -> Traffic:
    """Draw traffic of one of `KINDS`, for about so long.

    Parameters
    ----------
    kind : str
        One of `KINDS`.
    duration_s : float
        Above 0, at most 1e9.  Pages of the Web model fill it on average (one in 55 s), everything else to the second.
    rng : numpy.random.Generator
        The only source of chance.
    wishes : Wishes, optional
        What is wished for of it, but for its hours, which do not count.

    Raises
    ------
    TypeError, ValueError
        If the kind is unknown or the duration is not above 0, or one of them of another type.
    """
    if not 0.0 < duration_s <= LONGEST_S:
        raise ValueError(f"duration_s must be above 0 and at most {LONGEST_S:g}, got {shown(duration_s)}")
    if kind not in KINDS:
        raise ValueError(f"the kind of traffic must be one of {', '.join(KINDS)}, got {shown(kind)}")
    return KINDS[kind](duration_s, wishes or Wishes(), rng)


@checked
def push_messages(
    duration_s: float, rng: Rng, *, bursty: bool = False, start_s: float = 0.0,
    mean_gap_s: float = MEAN_GAP_S, message_bytes: Sizes = MESSAGE_BYTES,
) -> list[Message]:  # fmt: skip
    """Draw the messages of an interval: one in 20 s on average, 200 to 2000 bytes each, unless otherwise wished.

    Memoryless, gaps are exponential.  Bursty, the beginnings of bursts are memoryless, a burst has a geometric number
    of messages (6 on average) and exponential gaps (0.3 s on average) between them; what would come after the end is
    left out.
    """
    between(0.0, LONGEST_S, duration_s=duration_s, start_s=start_s)
    between(max(1e-9, duration_s / MOST_MESSAGES), 1e300, mean_gap_s=mean_gap_s)
    _check_sizes(message_bytes=message_bytes)
    mean_s = mean_gap_s * (IN_BURST if bursty else 1.0)
    found: list[Message] = []
    begin = start_s + rng.exponential(mean_s)
    while begin < start_s + duration_s:
        count = int(rng.geometric(1.0 / IN_BURST)) if bursty else 1
        instants = begin + np.concatenate(([0.0], np.cumsum(rng.exponential(GAP_IN_BURST_S, count - 1))))
        sizes = rng.integers(*message_bytes, endpoint=True, size=count)
        found += (Message(round(at, 6), size) for at, size in zip(instants.tolist(), sizes.tolist(), strict=True))
        begin += rng.exponential(mean_s)
    return sorted(message for message in found if message.at_s < start_s + duration_s)


@checked
def stream(duration_s: float, rng: Rng, *, start_s: float = 0.0) -> Traffic:
    """Draw viewings (1 to 3 minutes) and pauses (1 to 4 minutes), beginning with a viewing.

    A viewing asks for a segment (200 to 500 kB) when the one before begins to be played; a segment lasts 2 to 4 s.
    """
    between(0.0, LONGEST_S, duration_s=duration_s, start_s=start_s)
    pages: list[Page] = []
    segments: list[tuple[float, int]] = []  # deadlines and viewings
    at, end, viewing = start_s, start_s + duration_s, 0
    while at < end:
        until = min(end, at + rng.uniform(*VIEWING_S))
        while at < until:
            size = int(rng.integers(*SEGMENT_BYTES, endpoint=True))
            pages.append(Page(f"s{viewing}.{len(pages)}", 300, size, (), 0.0, round(at, 6)))
            at += rng.uniform(*SEGMENT_S)
            segments.append((round(at, 6), viewing))
        at = until + rng.uniform(*PAUSE_S)
        viewing += 1
    deadlines_s, viewings = np.array(segments).reshape(-1, 2).T
    return Traffic(pages, [INSTANT] * len(pages), deadlines_s, viewings.astype(int), [])


def stalls(deadlines_s: ArrayLike, viewings: ArrayLike, done_s: ArrayLike) -> Floats:
    """Return by how many seconds every segment stalls its player; NaN for what is no segment.

    Parameters
    ----------
    deadlines_s, viewings : array_like, shape (pages,)
        Of the traffic.
    done_s : array_like, shape (pages,)
        When the pages were complete.

    Examples
    --------
    >>> stalls([2.0, 4.0, 6.0, 11.0, np.nan], [0, 0, 0, 1, -1], [2.5, 4.25, 7.0, 11.25, 12.0]).tolist()
    [0.5, 0.0, 0.5, 0.25, nan]

    Raises
    ------
    TypeError, ValueError
        If one of them is no column of numbers, whole ones for viewings, or not as long as the others.
    """
    deadlines = column("deadlines_s", deadlines_s, None)
    which = column("viewings", viewings, deadlines.shape, np.int64)
    late = np.maximum(column("done_s", done_s, deadlines.shape) - deadlines, 0.0)
    found = np.full(late.shape, np.nan)
    for viewing in np.unique(which[which >= 0]):
        of_viewing = which == viewing
        found[of_viewing] = np.diff(np.maximum.accumulate(late[of_viewing]), prepend=0.0)
    return found


def _check_sizes(**given: Sizes) -> None:
    """The least and the largest size of something that is drawn, bytes."""
    for name, sizes in given.items():
        least, most = sizes if isinstance(sizes, Sequence) and len(sizes) == 2 else (sizes, None)
        if type(least) is not int or type(most) is not int or not 1 <= least <= most <= 1 << 40:
            rule = "two sizes in bytes, the smaller one first and at least 1"
            raise ValueError(f"{name} must be {rule}, got {shown(sizes)}")


def _shifting(duration_s: float, wishes: Wishes, rng: Rng) -> Traffic:
    """Draw phases of `PHASE_S` in turn, each of servers of its own."""
    parts: list[Traffic] = []
    viewing = 0
    for number in range(max(1, round(duration_s / PHASE_S))):
        place = number % len(_PHASES)
        part = _phase(place, rng, number * PHASE_S)
        pages = [_asked_of(page._replace(page=f"{number}/{page.page}"), place) for page in part.pages]
        parts.append(part._replace(pages=pages, viewings=np.where(part.viewings >= 0, part.viewings + viewing, -1)))
        viewing = max(viewing, parts[-1].viewings.max(initial=-1) + 1)
    pages_, servers, deadlines_s, viewings, messages = zip(*parts, strict=True)
    joined = np.concatenate(deadlines_s), np.concatenate(viewings)
    return Traffic([*chain(*pages_)], [*chain(*servers)], *joined, sorted(chain(*messages)))


def _phase(place: int, rng: Rng, start_s: float) -> Traffic:
    """Draw a phase; the first page of the Web model is issued when it begins."""
    server, bursty = _PHASES[place]
    if server == _STREAM:
        return stream(PHASE_S, rng, start_s=start_s)
    pages: list[Page] = []
    if server:
        drawn = generate(4 * round(PHASE_S / SECONDS_A_PAGE), rng, "1996")
        think_s = np.cumsum(drawn.think_s)
        last = min(int(np.searchsorted(think_s, PHASE_S)), len(drawn) - 1)  # the page after which it is over
        pages = [*drawn[:last], drawn[last]._replace(think_s=0.0)]
        pages[0] = pages[0]._replace(issue_s=start_s)
    messages = [] if bursty is None else push_messages(PHASE_S, rng, bursty=bursty, start_s=start_s)
    return Traffic.plain(pages, messages, server or INSTANT)


def _asked_of(page: Page, server: int) -> Page:
    """Return a page that comes from one server."""
    return page._replace(servers=(server,) * (1 + len(page.objects)))


def _waiting(page: Page, waits: Waits, rng: Rng, gone: float = 0.0) -> Page:
    """Return a page whose servers take as long as is drawn."""
    return page._replace(waits_s=tuple(waits(rng, gone, 1 + len(page.objects)).round(6).tolist()))


def _web(server: str = INSTANT, *waits: Waits, push: Maker | None = None, web: str = "1996") -> Maker:
    """Draw pages of the Web model, asked in turn of servers of these waits, perhaps with messages."""

    def made(duration_s: float, wishes: Wishes, rng: Rng) -> Traffic:
        n = max(1, round(duration_s / SECONDS_A_PAGE)) if wishes.pages is None else wishes.pages
        pages: Sequence[Page] = generate(n, rng, web)
        if many := len(waits):
            pages = [_waiting(page, waits[i % many], rng, i / n) for i, page in enumerate(pages)]
        if many > 1:
            pages = [_asked_of(page, i % many) for i, page in enumerate(pages)]
        return Traffic.plain(pages, push(duration_s, wishes, rng).messages if push else [], server)

    return made


def _answers(duration_s: float, wishes: Wishes, rng: Rng) -> Traffic:
    """Draw questions, one in half a minute, and answers that are told in pieces, 30 a second for 5 to 15 s."""
    pages: list[Page] = []
    told: list[Message] = []
    at_s = 0.0
    while at_s < duration_s:
        wait_s = float(rng.lognormal(np.log(0.5), 0.5))
        question = Page(f"q{len(pages)}", int(rng.integers(500, 4000)), 200, issue_s=round(at_s, 6))
        pages.append(question._replace(waits_s=(round(wait_s, 6),)))
        lasts_s = float(rng.uniform(5.0, 15.0))
        told += push_messages(lasts_s, rng, start_s=at_s + wait_s, mean_gap_s=1 / 30, message_bytes=(50, 250))
        at_s += lasts_s + wait_s + float(rng.exponential(20.0))
    return Traffic.plain(pages, told, RECORDED)


def _push(duration_s: float, wishes: Wishes, rng: Rng, bursty: bool | None = None) -> Traffic:
    """Draw messages, in bursts if it is said here or wished for."""
    messages: list[Message] = []
    if wishes.messages_per_hour:
        messages = push_messages(
            duration_s, rng, bursty=wishes.bursty if bursty is None else bursty,
            mean_gap_s=_HOUR_S / wishes.messages_per_hour, message_bytes=wishes.message_bytes,
        )  # fmt: skip
    return Traffic.plain([], messages)


def _program(duration_s: float, wishes: Wishes, rng: Rng, app: App) -> Traffic:
    """Draw the pages and messages of a program."""
    pages: list[Page] = []
    at_s = app.pause_s
    while app.pause_s and (at_s <= duration_s or not pages):
        (up, down), *objects = (
            (int(rng.integers(*app.request_bytes, endpoint=True)), int(rng.integers(*app.reply_bytes, endpoint=True)))
            for _ in range(1 + int(rng.integers(app.objects, endpoint=True)))
        )
        pause_s = app.pause_s if app.regular else float(rng.exponential(app.pause_s))
        think_s, issue_s = (0.0, round(at_s, 6)) if app.regular else (round(pause_s, 6), None)
        page, waits = Page(f"a{len(pages)}", up, down, tuple(objects), think_s, issue_s), app.waits
        if is_web := rng.random() < app.web:
            page, waits = (
                generate(1, rng, "1996")[0]._replace(page=page.page, think_s=round(pause_s, 6)),
                _lognormal(0.5),
            )
        page = _waiting(page, waits, rng)
        at_s += pause_s + (0.0 if app.regular else sum(page.waits_s))
        pages.append(_asked_of(page, int(is_web)) if app.web else page)
    messages: list[Message] = []
    if app.messages is not None:
        messages = push_messages(duration_s, rng, mean_gap_s=app.messages[0], message_bytes=app.messages[1])
    return Traffic.plain(pages, messages, RECORDED)


def _mqtt(duration_s: float, wishes: Wishes, rng: Rng, more_bytes: int = 0) -> Traffic:
    """Draw keep-alives at fixed times, each end so much longer, reports, and messages."""
    ping_bytes = _PING_BYTES + more_bytes
    reporting = replace(wishes, messages_per_hour=wishes.reports_per_hour, message_bytes=wishes.report_bytes)
    pings = range(1, int(duration_s / wishes.keep_alive_s) + 1)
    sent = [(round(number * wishes.keep_alive_s, 6), ping_bytes, ping_bytes) for number in pings]
    sent += [(at_s, size, 0) for at_s, size in _push(duration_s, reporting, rng, False).messages]
    pages = [
        Page(f"{'keep-alive' if reply else 'report'}{number}", size, reply, issue_s=at_s)
        for number, (at_s, size, reply) in enumerate(sorted(sent))
    ]
    return Traffic.plain(pages, _push(duration_s, wishes, rng).messages)


def _iot(duration_s: float, wishes: Wishes, rng: Rng) -> Traffic:
    """Draw a subscriber of MQTT over TLS: keep-alives, telemetry, commands, and an update now and then."""
    sized = replace(wishes, reports_per_hour=12.0, report_bytes=(100, 400), messages_per_hour=6.0,
        message_bytes=(80, 300), bursty=False)  # fmt: skip
    pages, *_, commands = _mqtt(duration_s, sized, rng, _TLS_BYTES)
    updates = push_messages(duration_s, rng, mean_gap_s=6 * _HOUR_S, message_bytes=(200_000, 800_000))
    return Traffic.plain(pages, sorted(commands + updates))


def _stream(duration_s: float, wishes: Wishes, rng: Rng) -> Traffic:
    return stream(duration_s, rng)


_BURSTS = partial(_push, bursty=True)
KINDS: dict[str, Maker] = {
    "web-instant": _web(),
    "web-constant": _web(CONSTANT),
    "web-lognormal": _web(LOGNORMAL),
    "push-memoryless": partial(_push, bursty=False),
    "push-bursty": _BURSTS,
    "web-and-push": _web(LOGNORMAL, push=_BURSTS),
    "streaming": _stream,
    "shifting": _shifting,
    "web-exponential": _web("exponential:0.5"),
    "web-pareto": _web(RECORDED, lambda rng, gone, n: 0.1 * (1.0 + rng.pareto(1.5, n))),
    "web-jump": _web(RECORDED, lambda rng, gone, n: rng.lognormal(-2.6, 0.8, n) * (1.0 if gone < 0.5 else 10.0)),
    "web-cache": _web(RECORDED, lambda rng, gone, n: np.where(rng.random(n) < 0.7, 0.01, rng.lognormal(-0.32, 0.8, n))),
    "web-servers": _web(RECORDED, *map(_lognormal, (0.05, 0.5, 2.0))),
    "web-bimodal": _web(RECORDED, lambda rng, gone, n: np.where(rng.random(n) < 0.5, 0.02, 1.0)),
    "web-flaky": _web(RECORDED, lambda rng, gone, n: np.where(rng.random(n) < 0.02, 10.0, rng.lognormal(-2.6, 0.8, n))),
    "web-2025": _web(RECORDED, web="2025"),
    "answers": _answers,
    **{name: partial(_program, app=app) for name, app in APPS.items()},
    "web": _web(),
    "mqtt": _mqtt,
    "iot": _iot,
    "push": _push,
    "stream": _stream,
    "mixed": _web(push=_push),
}
"""Every kind of traffic: Web with servers that answer at once, after 0.5 s, and after 0.5 s on average; messages;
both; a stream; phases of five minutes of all these in turn; Web with servers that answer after exponential and Pareto
times, that become ten times as slow half way, and that answer 7 of 10 requests from a cache, a fast, a middling and a
slow server in turn, servers that take 20 ms or a second, and that take 10 s once in fifty; pages of 2025; a model of
language that is asked, and tells its answers word by word; the programs; and what can be wished for in its particulars:
Web, a subscriber of MQTT (keep-alives, reports and messages), one over TLS with commands and updates, messages, a
stream, Web and messages."""
