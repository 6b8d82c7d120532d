"""System calls that fail in turn, below one folder: the n-th that opens, writes, flushes, renames, removes or makes."""

import _pyio
import builtins
import io
import os
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from unittest.mock import patch

CALLS = ("open", "write", "fsync", "rename", "replace", "unlink", "mkdir", "rmdir", "chmod", "scandir")


class Calls:
    """Counts the system calls that touch a folder; the one with the number `fails` raises an error of that number."""

    def __init__(self, folder, fails=0, error=0):
        self.folder, self.fails, self.error = os.path.realpath(folder), fails, error
        self.count, self.last, self.failed, self._ours = 0, "", "", set()

    def _touches(self, first):
        if isinstance(first, int):
            return first in self._ours
        return os.path.abspath(os.fspath(first)).startswith(self.folder)

    def _call(self, name, real, first, *args, **more):
        if not self._touches(first):
            return real(first, *args, **more)
        self.count += 1
        self.last = name
        if self.count == self.fails:
            self.failed = name
            raise OSError(self.error, os.strerror(self.error), None if isinstance(first, int) else os.fspath(first))
        found = real(first, *args, **more)
        if name == "open":
            self._ours.add(found)
        return found

    def _open(self, real, file, *args, **more):
        """Python's own `open` in Python, which calls what is replaced here."""
        return (_pyio.open if not isinstance(file, int) and self._touches(file) else real)(file, *args, **more)

    def _replaced(self, name):
        real = getattr(os, name)
        return lambda first, *args, **more: self._call(name, real, first, *args, **more)

    @contextmanager
    def counted(self):
        """Have the calls of the block counted."""
        opened = partial(self._open, io.open)
        calls = patch.multiple(os, **{name: self._replaced(name) for name in CALLS})
        with calls, patch.object(io, "open", opened), patch.object(builtins, "open", opened):
            yield self


def tree(folder):
    """Names and contents below a folder, folders included."""
    return {path.relative_to(folder).as_posix(): path.read_bytes() if path.is_file() else None
        for path in Path(folder).rglob("*")}  # fmt: skip
