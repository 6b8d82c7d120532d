r"""Names that come from what was read, harmless in what is written: to a terminal, a spreadsheet, a page, a picture.

A host, a user or a page may be called anything.  Characters that are not printed (control characters, those that
reverse the direction of writing, halves of pairs) are written as escapes such as ``\x1b`` and ``\u202e``; a cell of a
table that a spreadsheet would take for a formula has an apostrophe before it.
"""

from __future__ import annotations

import click

__all__ = ["as_meant", "cell", "drawn", "echo", "inert", "is_number"]

_FORMULA = ("=", "+", "-", "@")


def inert(text: str, keep: str = "") -> str:
    r"""Return the text with escapes for what is not printed, but for the characters to keep.

    >>> inert("a\x1b[2J\u202eb")
    'a\\x1b[2J\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(one if one.isprintable() or one in keep else _escaped(one) for one in text)


def cell(value: object) -> object:
    """Return a cell of a table: text is inert, and never a formula; anything else as it is.

    >>> cell("=1+1"), cell("-1"), cell(-1)
    ("'=1+1", '-1', -1)
    """
    if not isinstance(value, str):
        return value
    text = inert(value)
    return f"'{text}" if len(text) > 1 and text.startswith(_FORMULA) and not is_number(text) else text


def as_meant(value: object) -> object:
    """Return a cell of a table that was read back without the apostrophe that `cell` put before it.

    >>> as_meant(cell("-13.2 ± 0.9 %")), as_meant("'tis")
    ('-13.2 ± 0.9 %', "'tis")
    """
    quoted = isinstance(value, str) and value.startswith("'") and value[1:].startswith(_FORMULA)
    return str(value)[1:] if quoted else value


def drawn(text: str) -> str:
    r"""Return text for a picture: inert, and without formulas, which Matplotlib would set between dollar signs.

    >>> print(drawn("5$ or 6$"))
    5\$ or 6\$
    """
    return inert(text).replace("$", "\\$")


def echo(text: str, *, err: bool = False, nl: bool = True) -> None:
    """Print text of several lines, inert, to standard output or standard error."""
    click.echo(inert(text, "\n\t"), err=err, nl=nl)


def is_number(text: str) -> bool:
    """Whether text is a number, as Python reads one."""
    try:
        float(text)
    except ValueError:
        return False
    return True


def _escaped(character: str) -> str:
    return character.encode("unicode_escape", "surrogatepass").decode("ascii")
