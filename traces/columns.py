"""A workload as columns: what thousands of pages are when nobody looks at a single one.

A page is a light tuple, and thousands of them are lists of lists of numbers that take longer to walk through than
to simulate.  Here the same numbers stand in arrays; pages are made from them only when somebody asks for pages.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import chain, islice
from typing import Any, overload

import numpy as np
from numpy.typing import NDArray

from traces.records import Page

__all__ = ["Workload"]


class Workload(Sequence[Page]):
    """Pages in the order in which they are browsed; a sequence of `Page`, equal to any other of the same pages.

    Attributes
    ----------
    names : sequence of str, length n
        Their names.
    objects : array of int64, shape (n,)
        Number of embedded objects of each page.
    sizes : array of int64, shape (n + sum(objects), 2)
        Request and reply bytes, page after page, the HTML first, then its objects.
    think_s, issue_s : array of float64, shape (n,)
        As in `Page`; an `issue_s` that is not given is NaN.

    >>> workload = Workload.of([Page("a", 300, 500, ((310, 9000),), 2.5), Page("b", 300, 700)])
    >>> workload.sizes.tolist(), workload.objects.tolist(), workload[1]
    ([[300, 500], [310, 9000], [300, 700]], [1, 0], Page(page='b', request_bytes=300, reply_bytes=700, \
objects=(), think_s=0.0, issue_s=None))
    """

    __slots__ = ("_pages", "issue_s", "names", "objects", "sizes", "think_s")

    def __init__(
        self,
        names: Sequence[str],
        objects: NDArray[np.int64],
        sizes: NDArray[np.int64],
        think_s: NDArray[np.float64],
        issue_s: NDArray[np.float64],
    ) -> None:
        self.names = names
        self.objects = objects
        self.sizes = sizes
        self.think_s = think_s
        self.issue_s = issue_s
        self._pages: Sequence[Page] | None = None

    @classmethod
    def of(cls, pages: Iterable[Page]) -> Workload:
        """Return the pages as a workload; one that is a workload already is returned as it is.

        Raises
        ------
        ValueError
            If an object is not a pair.
        """
        if isinstance(pages, Workload):
            return pages
        given = list(pages)
        n = len(given)
        fields: tuple[Any, ...] = tuple(zip(*given, strict=True)) if given else ((),) * 6
        names, requests, replies, groups, thinks, issues = fields
        objects = np.fromiter(map(len, groups), dtype=np.int64, count=n)
        embedded = np.fromiter(chain.from_iterable(chain.from_iterable(groups)), dtype=np.int64)
        if len(embedded) != 2 * objects.sum():
            raise ValueError("an object must be a pair of request bytes and reply bytes")
        first = np.cumsum(objects + 1) - objects - 1
        sizes = np.empty((n + len(embedded) // 2, 2), dtype=np.int64)
        own = np.zeros(len(sizes), dtype=np.bool_)
        own[first] = True
        sizes[~own] = embedded.reshape(-1, 2)
        sizes[first, 0], sizes[first, 1] = requests, replies
        if issues.count(None) == n:
            issue_s = np.full(n, np.nan)
        else:
            # a NaN that was given is no time, and stays apart from none given
            issue_s = np.array([np.nan if issue is None else issue if issue == issue else -np.inf for issue in issues])
        workload = cls(names, objects, sizes, np.array(thinks, dtype=np.float64), issue_s)
        workload._pages = given
        return workload

    def pages(self) -> Sequence[Page]:
        """Return the pages themselves, made when first asked for."""
        if self._pages is None:
            pairs = map(tuple, self.sizes.tolist())
            self._pages = [
                Page._make((name, *next(pairs), tuple(islice(pairs, n)), think, issue))
                for name, n, think, issue in zip(
                    self.names,
                    self.objects.tolist(),
                    self.think_s.tolist(),
                    [None if np.isnan(issue) else issue for issue in self.issue_s.tolist()],
                    strict=True,
                )
            ]
        return self._pages

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
        return list(self.pages()) == list(other)

    __hash__ = None  # type: ignore[assignment]  # arrays may change
