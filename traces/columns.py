"""A workload as columns: what thousands of pages are when nobody looks at a single one.

A page is a light tuple, and thousands of them are lists of lists of numbers that take longer to walk through than
to simulate.  Here the same numbers stand in arrays; pages are made from them only when somebody asks for pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, compress, islice
from math import nan
from numbers import Integral
from typing import Any, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from traces.checks import column, shown
from traces.records import Datagram, Message, Page, Timing

__all__ = ["COLUMNS", "Workload"]

COLUMNS = (
    "names", "objects", "sizes", "think_s", "issue_s", "waits_s", "deadline_s", "messages", "round_trip_s", "timings",
    "datagrams", "captured_s", "servers",
)  # fmt: skip
"""What a workload is made of."""

_MOST_OBJECTS = 1 << 32  # of a page, so that their sum cannot overflow


class Workload(Sequence[Page]):
    """Pages in the order in which they are browsed, and what comes beside them; a sequence of `Page`.

    It is equal to any other sequence of the same pages, and to another workload if the messages and the round trip
    are the same as well.

    Attributes
    ----------
    names : sequence of str, length n
        Names of the pages.
    objects : array of int64, shape (n,)
        Number of embedded objects of each page.
    sizes : array of int64, shape (n + sum(objects), 2)
        Request and reply bytes, page after page, the HTML first, then its objects.
    think_s, issue_s, deadline_s : array of float64, shape (n,)
        As in `Page`; an `issue_s` or a `deadline_s` that is not given is NaN.
    waits_s : array of float64, shape (n + sum(objects),)
        How long the server took for each exchange, in the order of `sizes`; NaN where it is not known.
    messages : tuple of Message
        What is pushed, in the order of time, on the clock of `issue_s`.
    round_trip_s : float or None
        The round trip to the servers, where the traffic was recorded and the recording tells it.
    timings : array of float64, shape (n + sum(objects), 6)
        When each exchange begins, a row a `Timing`, in the order of `sizes`; no rows if that is not known.
    datagrams : tuple of Datagram
        What nobody waits for, in the order of time.
    captured_s : float or None
        How long the traffic was recorded.
    servers : array of int64, shape (n + sum(objects),)
        Numbers of servers, in the order of `sizes`; negative where the server is not known.

    The columns are copies that cannot be written to, checked once: the simulator walks through them by their counts.

    Raises
    ------
    TypeError
        If a column holds no numbers, `objects` or `sizes` no whole ones, or a name is no text.
    ValueError
        If a column has another shape, or `objects` do not add up to the rows of `sizes`.

    >>> workload = Workload.of([Page("a", 300, 500, ((310, 9000),), 2.5), Page("b", 300, 700)])
    >>> workload.sizes.tolist(), workload.objects.tolist(), workload[1].reply_bytes
    ([[300, 500], [310, 9000], [300, 700]], [1, 0], 700)
    """

    __slots__ = (*COLUMNS, "_pages")

    def __init__(
        self,
        names: Sequence[str],
        objects: ArrayLike,
        sizes: ArrayLike,
        think_s: ArrayLike,
        issue_s: ArrayLike,
        waits_s: ArrayLike | None = None,
        deadline_s: ArrayLike | None = None,
        messages: Iterable[Message] = (),
        round_trip_s: float | None = None,
        timings: ArrayLike | None = None,
        datagrams: Iterable[Datagram] = (),
        captured_s: float | None = None,
        servers: ArrayLike | None = None,
    ) -> None:
        for kind in set(map(type, names)):
            if not issubclass(kind, str):
                raise TypeError(f"names must be text, got one of type {kind.__name__}")
        n = len(names)
        self.names = names
        self.objects = column("objects", objects, (n,), np.int64)
        if n and not 0 <= self.objects.min() <= self.objects.max() <= _MOST_OBJECTS:
            rule = f"objects must lie in [0, {_MOST_OBJECTS}]"
            raise ValueError(f"{rule}, got {self.objects.min()} to {self.objects.max()}")
        exchanges = n + int(self.objects.sum())

        def known(given: ArrayLike | None, unknown: float, length: int) -> ArrayLike:
            return np.full(length, unknown) if given is None else given

        self.sizes = column("sizes", sizes, (exchanges, 2), np.int64)
        self.think_s = column("think_s", think_s, (n,))
        self.issue_s = column("issue_s", issue_s, (n,))
        self.waits_s = column("waits_s", known(waits_s, nan, exchanges), (exchanges,))
        self.deadline_s = column("deadline_s", known(deadline_s, nan, n), (n,))
        self.servers = column("servers", known(servers, -1, exchanges), (exchanges,), np.int64)
        rows = exchanges if timings is not None and len(np.asarray(timings)) else 0
        self.timings = column("timings", timings if rows and timings is not None else np.empty((0, 6)), (rows, 6))
        self.messages, self.datagrams = tuple(messages), tuple(datagrams)
        self.round_trip_s, self.captured_s = round_trip_s, captured_s
        self._pages: Sequence[Page] | None = None

    @classmethod
    def of(
        cls,
        pages: Iterable[Page],
        messages: Iterable[Message] = (),
        round_trip_s: float | None = None,
        datagrams: Iterable[Datagram] = (),
        captured_s: float | None = None,
    ) -> Workload:
        """Return the pages, and what comes beside them, as a workload; one that is one already is returned as it is.

        Raises
        ------
        TypeError
            If a page is no `Page`, or a size no whole number.
        ValueError
            If an object is not a pair, waits or timings are not one an exchange, or a workload is given with more.
        """
        if isinstance(pages, Workload):
            if (tuple(messages), tuple(datagrams), round_trip_s, captured_s) != ((), (), None, None):
                raise ValueError(
                    "messages, datagrams and times must be left out where pages are a Workload, which has its own"
                )
            return pages
        if not isinstance(pages, Iterable):
            raise TypeError(f"pages must be an iterable of traces.Page, got {shown(pages)}")
        given = list(pages)
        if not all(issubclass(kind, Page) for kind in set(map(type, given))):
            strange = next(page for page in given if not isinstance(page, Page))
            raise TypeError(f"pages must be traces.Page, got {shown(strange)}")
        fields: tuple[Any, ...] = tuple(zip(*given, strict=True)) if given else ((),) * len(Page._fields)
        names, requests, replies, groups, thinks, issues, waits, deadlines, timings, servers = fields
        if set(map(len, chain.from_iterable(groups))) - {2}:
            raise ValueError("an object must be a pair of request bytes and reply bytes")
        pairs = ((pair, *objects) for pair, objects in zip(zip(requests, replies, strict=True), groups, strict=True))
        sizes = _whole(list(chain.from_iterable(chain.from_iterable(pairs)))).reshape(-1, 2)
        of_exchanges = (
            _of_exchanges(given, "waits_s", "wait", waits, nan), _of_exchanges(given, "timings", "timing", timings),
            _of_exchanges(given, "servers", "server", servers, -1),
        )  # fmt: skip
        workload = cls(
            names, list(map(len, groups)), sizes, thinks, _instants(issues), of_exchanges[0], _instants(deadlines),
            messages, round_trip_s, of_exchanges[1], datagrams, captured_s, of_exchanges[2],
        )  # fmt: skip
        workload._pages = given
        return workload

    def changed(self, of_pages: ArrayLike | None = None, **columns: Any) -> Workload:
        """Return a workload of some pages, by their places (None: all), with some of its columns replaced."""
        own = np.isin(np.arange(len(self)), np.arange(len(self)) if of_pages is None else of_pages)
        exchanges = np.repeat(own, 1 + self.objects)
        found = {name: getattr(self, name) for name in COLUMNS} | {"names": list(compress(self.names, own))}
        for name in ("objects", "think_s", "issue_s", "deadline_s"):
            found[name] = found[name][own]
        for name in ("sizes", "waits_s", "servers", *(("timings",) if len(self.timings) else ())):
            found[name] = found[name][exchanges]
        return Workload(**found | columns)

    def pages(self) -> Sequence[Page]:
        """Return the pages themselves, as they were given; else made when first asked for, of `int` and `float`."""
        if self._pages is None:
            pairs, waits, servers = (
                map(tuple, self.sizes.tolist()),
                iter(self.waits_s.tolist()),
                iter(self.servers.tolist()),
            )
            issues, deadlines = (
                [None if np.isnan(instant) else instant for instant in instants.tolist()]
                for instants in (self.issue_s, self.deadline_s)
            )
            timings = (Timing(int(row[0]), int(row[1]), *row[2:]) for row in self.timings.tolist())
            rows = zip(self.names, self.objects.tolist(), self.think_s.tolist(), issues, deadlines, strict=True)
            self._pages = []
            for name, n, think, issue, deadline in rows:
                (asked, reply), *objects = islice(pairs, n + 1)
                times = think, issue, _known(islice(waits, n + 1)), deadline, tuple(islice(timings, n + 1))
                of = tuple(islice(servers, n + 1))
                self._pages.append(Page(name, asked, reply, tuple(objects), *times, of if max(of) >= 0 else ()))
        return self._pages

    @property
    def beside_s(self) -> list[float]:
        """The instants of messages and of datagrams, seconds."""
        return [*(sent.at_s for sent in self.messages), *(one.at_s for one in self.datagrams)]

    def __len__(self) -> int:
        return len(self.names)

    def __iter__(self) -> Iterator[Page]:
        return iter(self.pages())

    @overload
    def __getitem__(self, place: int) -> Page: ...

    @overload
    def __getitem__(self, place: slice) -> Sequence[Page]: ...

    def __getitem__(self, place: int | slice) -> Page | Sequence[Page]:
        return self.pages()[place]

    def __eq__(self, other: object) -> bool:
        if not isinstance(other, Sequence):
            return NotImplemented
        beside = ("messages", "round_trip_s", "datagrams", "captured_s")
        if isinstance(other, Workload) and any(getattr(self, name) != getattr(other, name) for name in beside):
            return False
        return list(self.pages()) == list(other)

    __hash__ = None  # type: ignore[assignment]  # arrays may change


def _of_exchanges(
    pages: Sequence[Page], name: str, what: str, given: Sequence[Sequence[Any]], unknown: float | None = None
) -> list[Any] | None:
    """Return what is known of exchanges one behind another; None if no page has anything of it.

    Pages may have nothing of it where there is a number that says that it is `unknown`.
    """
    if not any(map(len, given)):
        return None
    found: list[Any] = []
    for page, known in zip(pages, given, strict=True):
        n = 1 + len(page.objects)
        if (len(known) != n and (len(known) or unknown is None)) or None in known:
            got = len(known) - list(known).count(None)
            raise ValueError(f"page {page.page!r}: {name} must have one {what} an exchange ({n}), got {got}")
        found.extend(known if len(known) else [unknown] * n)
    return found


def _whole(given: Sequence[Any]) -> NDArray[np.int64]:
    """Return sizes as a column."""
    found = np.array(given)
    if found.size and found.dtype.kind != "i":
        for size in given:
            if not isinstance(size, Integral) or not -1 << 63 <= int(size) < 1 << 63:
                raise TypeError(f"sizes must be whole numbers of bytes below 2^63, got {size!r}")
        found = np.array(list(map(int, given)))
    return found.astype(np.int64)


def _instants(given: Sequence[float | None]) -> NDArray[np.float64]:
    """Return instants as a column, NaN for those that are not given."""
    if given.count(None) == len(given):
        return np.full(len(given), nan)
    # a NaN that was given is no time, and stays apart from none given
    return np.array([nan if instant is None else instant if instant == instant else -np.inf for instant in given])


def _known(waits: Iterable[float]) -> tuple[float, ...]:
    """Return the waits of a page; none if none is known.  An unknown one is the same object everywhere, so equal."""
    found = tuple(wait if wait == wait else nan for wait in waits)
    return found if any(wait is not nan for wait in found) else ()
