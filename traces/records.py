"""The two records everything else is made of: a request on the wire, and a page to replay.

A page is what a person asked for: one HTML document and its embedded objects.
It is deliberately free of times inside the page, because those are what the
simulator computes.
"""

from __future__ import annotations

from typing import NamedTuple

__all__ = ["Page"]


class Page(NamedTuple):
    """One Web page to be browsed.

    Attributes
    ----------
    page : str
        Its name; the same page may be browsed several times.
    request_bytes, reply_bytes : int
        Size of the request for the HTML and of the reply, payload only, both at least 1.
    objects : tuple of (int, int)
        (request bytes, reply bytes) of the embedded objects, in the order in which they are asked for.
    think_s : float
        Seconds between the last byte of this page and the issue of the next one.
    issue_s : float or None
        If given, the page is issued at this time, or when the previous page is complete and thought
        about, whichever is later.
    """

    page: str
    request_bytes: int
    reply_bytes: int
    objects: tuple[tuple[int, int], ...] = ()
    think_s: float = 0.0
    issue_s: float | None = None
