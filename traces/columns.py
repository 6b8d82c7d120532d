"""A workload as columns: what thousands of pages are when nobody looks at a single one.

A page is a light tuple, and thousands of them are lists of lists of numbers that take longer to walk through than
to simulate.  Here the same numbers stand in arrays; pages are made from them only when somebody asks for pages.
"""

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import chain, compress, islice
from math import nan
from numbers import Integral
from typing import Any, Self, TypeAlias, overload

import numpy as np
from numpy.typing import ArrayLike, NDArray

from traces.checks import column, shown
from traces.records import Cause, Datagram, Message, Page, Timing

Column: TypeAlias = Any  # numbers as they are given, an array once they are checked
_MOST_OBJECTS = 1 << 32  # of a page, so that their sum cannot overflow
_OF_PAGES = ("objects", "think_s", "issue_s", "deadline_s")
_OF_EXCHANGES = ("sizes", "waits_s", "servers", "timings", "causes")
_PARTS = {"waits_s": ("wait", nan), "servers": ("server", -1), "timings": ("timing", None), "causes": ("cause", None)}
"""What is known of the exchanges of a page: how one is called, and what stands for one that is not known."""


@dataclass(slots=True, eq=False)
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
    messages, datagrams : tuple of Message, tuple of Datagram
        What is pushed and what nobody waits for, in the order of time, on the clock of `issue_s`.
    round_trip_s, captured_s : float or None
        The round trip to the servers, and how long the traffic was recorded, where the recording tells it.
    timings, causes : array of float64, shapes (n + sum(objects), 8) and (n + sum(objects), 4)
        When each exchange begins, and what it waits for, a row a `Timing` or a `Cause`, in the order of `sizes`; no
        rows if that is not known.
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

    names: Sequence[str]
    objects: Column
    sizes: Column
    think_s: Column
    issue_s: Column
    waits_s: Column = None
    deadline_s: Column = None
    messages: Sequence[Message] = ()
    round_trip_s: float | None = None
    timings: Column = None
    datagrams: Sequence[Datagram] = ()
    captured_s: float | None = None
    servers: Column = None
    causes: Column = None
    _pages: Sequence[Page] | None = field(default=None, init=False, repr=False)

    def __post_init__(self) -> None:
        for kind in set(map(type, self.names)):
            if not issubclass(kind, str):
                raise TypeError(f"names must be text, got one of type {kind.__name__}")
        n = len(self.names)
        self.objects = column("objects", self.objects, (n,), np.int64)
        if n and not 0 <= self.objects.min() <= self.objects.max() <= _MOST_OBJECTS:
            rule = f"objects must lie in [0, {_MOST_OBJECTS}]"
            raise ValueError(f"{rule}, got {self.objects.min()} to {self.objects.max()}")
        exchanges = n + int(self.objects.sum())
        for name, rows, *width in (
            ("think_s", n), ("issue_s", n), ("deadline_s", n), ("sizes", exchanges, 2), ("waits_s", exchanges),
            ("servers", exchanges), ("timings", exchanges, 8), ("causes", exchanges, 4),
        ):  # fmt: skip
            whole, given = name in ("sizes", "servers"), getattr(self, name)
            if name in ("timings", "causes") and (given is None or not len(given)):
                rows, given = 0, np.empty((0, *width))
            elif given is None:
                given = np.full(rows, -1 if whole else nan)
            setattr(self, name, column(name, given, (rows, *width), np.int64 if whole else np.float64))
        self.messages, self.datagrams = tuple(self.messages), tuple(self.datagrams)

    @classmethod
    def of(
        cls, pages: Iterable[Page], messages: Iterable[Message] = (), round_trip_s: float | None = None,
        datagrams: Iterable[Datagram] = (), captured_s: float | None = None,
    ) -> Self:  # fmt: skip
        """Return the pages, and what comes beside them, as a workload; one that is one already is returned as it is.

        Raises
        ------
        TypeError
            If a page is no `Page`, or a size no whole number.
        ValueError
            If an object is not a pair, waits or timings are not one an exchange, or a workload is given with more.
        """
        if isinstance(pages, cls):
            if [*messages, *datagrams] or (round_trip_s, captured_s) != (None, None):
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
        of: dict[str, list[Any]] = {name: [page[place] for page in given] for place, name in enumerate(Page._fields)}
        if not _are_pairs(chain.from_iterable(of["objects"])):
            strange = next(one for one in of["objects"] if not _are_pairs(one))
            raise ValueError(f"an object must be a pair of request bytes and reply bytes, got {shown(strange)}")
        asked = zip(of["request_bytes"], of["reply_bytes"], strict=True)
        pairs = ((pair, *objects) for pair, objects in zip(asked, of["objects"], strict=True))
        sizes = list(chain.from_iterable(chain.from_iterable(pairs)))
        if not all(issubclass(kind, Integral) for kind in set(map(type, sizes))):
            strange = next(size for size in sizes if not isinstance(size, Integral))
            raise TypeError(f"sizes must be whole numbers of bytes below 2^63, got {strange!r}")
        known = {
            name: _of_exchanges(given, name, *called) for name, called in _PARTS.items() if any(map(len, of[name]))
        }
        workload = cls(
            of["page"], list(map(len, of["objects"])), np.array(sizes).reshape(-1, 2), of["think_s"],
            _instants(of["issue_s"]), deadline_s=_instants(of["deadline_s"]), messages=tuple(messages),
            round_trip_s=round_trip_s, datagrams=tuple(datagrams), captured_s=captured_s, **known,
        )  # fmt: skip
        workload._pages = given
        return workload

    def changed(self, of_pages: ArrayLike | None = None, /, **columns: Any) -> Self:
        """Return a workload of some pages, by their places (None: all), with some of its columns replaced."""
        places = np.arange(len(self))
        own = np.isin(places, places if of_pages is None else of_pages)
        exchanges = np.repeat(own, 1 + self.objects)
        found: dict[str, Any] = {name: getattr(self, name)[own] for name in _OF_PAGES}
        found |= {name: known[exchanges] for name in _OF_EXCHANGES if len(known := getattr(self, name))}
        found["names"] = list(compress(self.names, own))
        return replace(self, **found | columns)

    def pages(self) -> Sequence[Page]:
        """Return the pages themselves, as they were given; else made when first asked for, of `int` and `float`."""
        if self._pages is None:
            pairs, waits, servers = (iter(getattr(self, name).tolist()) for name in _OF_EXCHANGES[:3])
            timings = (
                Timing._make((int(row[0]), int(row[1]), *row[2:7], int(row[7]))) for row in self.timings.tolist()
            )
            causes = (Cause(int(row[0]), row[1], row[2] != 0, row[3] != 0) for row in self.causes.tolist())
            found = []
            rows = zip(self.names, *(getattr(self, name).tolist() for name in _OF_PAGES), strict=True)
            for name, n, think_s, *instants in rows:
                (asked, reply), *objects = map(tuple, islice(pairs, n + 1))
                issue_s, deadline_s = (instant if instant == instant else None for instant in instants)
                # a wait that is not known is the same object everywhere, so that pages are equal
                known = tuple(wait if wait == wait else nan for wait in islice(waits, n + 1))
                of = tuple(islice(servers, n + 1))
                found.append(Page(
                    name, asked, reply, tuple(objects), think_s, issue_s,
                    known if any(wait is not nan for wait in known) else (), deadline_s,
                    tuple(islice(timings, n + 1)), of if max(of) >= 0 else (), tuple(islice(causes, n + 1)),
                ))  # fmt: skip
            self._pages = found
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

    def __add__(self, other: Iterable[Page]) -> list[Page]:
        """Return these pages and others in a list, without what comes beside them."""
        return [*self, *other]

    def __radd__(self, other: Iterable[Page]) -> list[Page]:
        return [*other, *self]

    __hash__ = None  # type: ignore[assignment]  # arrays may change


def _are_pairs(objects: Iterable[Sequence[int]]) -> bool:
    try:
        return {*map(len, objects)} <= {2}
    except TypeError:  # numbers, which have no length
        return False


def _of_exchanges(pages: Sequence[Page], name: str, what: str, unknown: object) -> list[object]:
    """Return what is known of exchanges one behind another; pages may have nothing of it if one can be `unknown`."""
    found: list[object] = []
    for page in pages:
        n, known = 1 + len(page.objects), getattr(page, name)
        if (len(known) != n and (len(known) or unknown is None)) or None in known:
            got = len(known) - list(known).count(None)
            raise ValueError(f"page {page.page!r}: {name} must have one {what} an exchange ({n}), got {got}")
        found.extend(known if len(known) else [unknown] * n)
    return found


def _instants(given: Sequence[float | None]) -> NDArray[np.float64]:
    """Return instants as a column, NaN for those that are not given."""
    # a NaN that was given is no time, and stays apart from none given
    return np.array([nan if instant is None else instant if instant == instant else -np.inf for instant in given])
