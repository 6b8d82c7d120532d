"""The formats that can be read: each module of a format declares itself, and everybody else asks here.

A new format is one module that has a `FORMATS`, and its name in `_MODULES`.
Formats are asked in this order whether a file is theirs, by its first bytes after unpacking.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from functools import lru_cache
from importlib import import_module
from os import PathLike
from types import MappingProxyType
from typing import Any

from traces.records import Batch, Report

__all__ = ["Format", "registry"]

_MODULES = ("bu", "captures.pcap", "har", "workload", "ucb", "table")

SessionBatches = tuple[str, str, Iterator[Batch]]


@dataclass(frozen=True, slots=True, kw_only=True)
class Format:
    """A format of traces.

    Attributes
    ----------
    name : str
        What `traces.detect` returns.
    written : str
        The usual names of such files; they are recognised by their content all the same.
    meaning : str
        What is in a file.
    source : str
        Where the format is described, or who writes it.
    example : str
        A command that reads such a file.
    recognises : callable
        From the first bytes of a file, unpacked, to whether it is one of this format.
    batches : callable, optional
        ``batches(stream, path, report, *, skip_damaged, **options)`` yields the requests; absent where files hold
        no requests, or `sessions` reads them.
    sessions : callable, optional
        ``sessions(path, report, member, skip_damaged)`` yields (name, user, batches) of sessions that are files of a
        folder or an archive.
    interleaved : bool
        Whether there may be so many clients, mixed in time, that they are split over temporary files first.
    options : tuple of str
        What else its reader can be told.
    """

    name: str
    written: str
    meaning: str
    source: str
    example: str
    recognises: Callable[[bytes], bool]
    batches: Callable[..., Iterator[Batch]] | None = None
    sessions: Callable[[str | PathLike[str], Report, str | None, bool], Iterator[SessionBatches]] | None = None
    interleaved: bool = False
    options: tuple[str, ...] = ()


@lru_cache(maxsize=1)
def registry() -> Mapping[str, Format]:
    """Return every format by its name, in the order in which files are held against them.

    >>> list(registry())
    ['bu', 'pcap', 'har', 'workload', 'showtrace', 'ucb', 'csv']
    """
    found: tuple[Any, ...] = tuple(import_module(f"traces.{module}").FORMATS for module in _MODULES)
    return MappingProxyType({entry.name: entry for entries in found for entry in entries})
