r"""Escapes untrusted names in what is written: to a terminal, a spreadsheet, a page, a picture.

A host, a user or a page may be called anything.  Characters that are not printed (control characters, those that
reverse the direction of writing, halves of pairs) are written as escapes such as ``\x1b`` and ``\u202e``; what a
spreadsheet would take for a formula has an apostrophe before it: a cell of a table, or what stands in it behind a
semicolon, which separates cells where the comma is for decimals; signs of any width are meant.
"""

import unicodedata

import click

_FORMULA = ("=", "+", "-", "@")


def inert(text: str, keep: str = "") -> str:
    r"""Return the text with escapes for what is not printed, but for the characters to keep.

    >>> inert("a\x1b[2J\u202eb")
    'a\\x1b[2J\\u202eb'
    """
    if text.isprintable():
        return text
    return "".join(
        one if one.isprintable() or one in keep else one.encode("unicode_escape", "surrogatepass").decode()
        for one in text
    )


def cell(value: object) -> object:
    """Return a cell of a table: text is inert, and never a formula; anything else as it is.

    >>> cell("=1+1"), cell("a;=1"), cell("-1"), cell(-1)
    ("'=1+1", "a;'=1", '-1', -1)
    """
    if not isinstance(value, str):
        return value
    return ";".join(f"'{part}" if _is_formula(part) else part for part in inert(value).split(";"))


def as_meant(value: object) -> object:
    """Return a cell of a table that was read back without the apostrophe that `cell` put before it.

    >>> as_meant(cell("-13.2 ± 0.9 %")), as_meant("'tis")
    ('-13.2 ± 0.9 %', "'tis")
    """
    if not isinstance(value, str):
        return value
    return ";".join(part[1:] if part[:1] == "'" and _is_formula(part[1:]) else part for part in value.split(";"))


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


def _is_formula(part: str) -> bool:
    """Whether a spreadsheet may take a part of a cell for a formula, quotes and blanks before it or not."""
    bare = part.lstrip(" \"'")
    return len(bare) > 1 and unicodedata.normalize("NFKC", bare[0])[0] in _FORMULA and not is_number(part)
