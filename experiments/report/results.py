"""Results of papers in words: a page of every claim, the printed figure beside ours.

What it models: plain data in (a dictionary an experiment, with its claims), Markdown or
lines of text out.  A claim that fails stays in its place, with what the record shows of why.
What it leaves out: what is claimed, and how it is checked.
"""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["HEADING", "HOW_TO_READ", "details_markdown", "results_markdown", "results_text"]

HEADING = "# What the papers say, and what comes out here"
HOW_TO_READ = (
    "The count is not one of tests stated beforehand: some predicates were revised after first results had been seen. "
    "docs/reproduce.md lists those, and from which seed on nothing had been seen."
)
_MARK = {True: "holds", False: "**does not hold**"}


def results_markdown(results: Sequence[Mapping[str, Any]], papers: Mapping[str, str]) -> str:
    """Return the page: how many claims hold by paper, and a line a claim.

    Parameters
    ----------
    results
        A mapping an experiment: `experiment`, `about`, `size`, `seed`, `material`, `runs`, and `claims`, each with
        `statement`, `printed`, `ours`, `holds`, `tolerance`, `why_not`; if known `made`, by which program.  What all
        have in common of size, seed and program is said once.
    papers
        Key of a paper to its name.
    """
    held, failed, idle = _counts(results)
    common = _common(results)
    every = f" Every record: {_made(common)}." if common else ""
    parts = [
        HEADING,
        f"Made by `lpsm reproduce` from its records: {len(results)} experiments, {held + failed + idle} claims, of "
        f"which {held} hold and {failed} do not"
        + (f"; {idle} more say of themselves that they can hardly fail" if idle else "")
        + f".{every} ± is a 95 % Student interval over replications.",
        HOW_TO_READ,
        _overview(results, papers),
    ]
    for paper, name in papers.items():
        own = _of(results, paper)
        if own:
            parts.append(f"## {name[0].upper()}{name[1:]}")
            parts.append(
                f"Tolerances, all figures, and what the records show of failures: [details](results/{paper}.md)."
            )
        for result in own:
            parts += [f"### {result['experiment']}", _about(result, common), _table(result["claims"], brief=True)]
    return "\n\n".join(parts) + "\n"


def details_markdown(results: Sequence[Mapping[str, Any]], paper: str, name: str) -> str:
    """Return the page of one paper: every claim with its tolerance, and why those fail that do."""
    common = _common(results)
    parts = [f"# {name[0].upper()}{name[1:]}: claim by claim", HOW_TO_READ]
    if common:
        parts.append(f"Every record: {_made(common)}.")
    for result in _of(results, paper):
        parts += [f"## {result['experiment']}", _about(result, common), _table(result["claims"], brief=False)]
        failed = [claim for claim in result["claims"] if not claim["holds"]]
        if failed:
            parts.append("\n".join(f"- *{_cell(claim['statement'])}*: {_cell(claim['why_not'])}." for claim in failed))
    return "\n\n".join(parts) + "\n"


def results_text(result: Mapping[str, Any], *, computed: bool) -> str:
    """Return the claims of one experiment, a line each, for a terminal."""
    lines = [
        f"{result['experiment']}: {result['about']} ({_made({**result, 'made': ''})}"
        f"{'' if computed else '; the record was there'})"
    ]
    for claim in result["claims"]:
        lines.append(f"  [{'holds' if claim['holds'] else 'fails'}] {claim['statement']}")
        printed = f"printed {claim['printed']}; " if claim["printed"] else ""
        lines.append(f"          {printed}ours {claim['ours']}")
        if not claim["holds"] and claim["why_not"]:
            lines.append(f"          why not: {claim['why_not']}")
    return "\n".join(lines)


def _of(results: Sequence[Mapping[str, Any]], paper: str) -> list[Mapping[str, Any]]:
    return [result for result in results if result["experiment"].partition("/")[0] == paper]


def _counts(results: Sequence[Mapping[str, Any]]) -> tuple[int, int, int]:
    """How many claims hold, how many do not, and how many say that they are no tests."""
    claims = [claim for result in results for claim in result["claims"]]
    tests = [claim for claim in claims if "not a test:" not in claim["tolerance"]]
    held = sum(bool(claim["holds"]) for claim in tests)
    return held, len(tests) - held, len(claims) - len(tests)


def _overview(results: Sequence[Mapping[str, Any]], papers: Mapping[str, str]) -> str:
    """What holds and what does not by paper, as a table with bars: a square is two claims."""
    rows = ["| paper | holds | does not | |", "|---|---|---|---|"]
    for paper, name in papers.items():
        own = _of(results, paper)
        if own:
            held, failed, _ = _counts(own)
            rows.append(f"| {name} | {held} | {failed} | {'■' * round(held / 2)}{'□' * round(failed / 2)} |")
    return "\n".join(rows)


def _common(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What all records have in common of size, first seed and program."""
    names = ("size", "seed", "made")
    return {name: results[0].get(name, "") for name in names if len({one.get(name, "") for one in results}) == 1}


def _about(result: Mapping[str, Any], common: Mapping[str, Any]) -> str:
    about = str(result["about"])
    own = _made({name: value for name, value in result.items() if name not in common})
    return f"{about[0].upper()}{about[1:]}. {own[0].upper()}{own[1:]}."


def _made(result: Mapping[str, Any]) -> str:
    """Say of what size a record is, how many runs from which seed, of which data, and by which program."""
    words = {"size": "{} size", "runs": "{} runs", "seed": "from seed {}", "material": "data: {}", "made": "{}"}
    said = ", ".join(text.format(result[name]) for name, text in words.items() if result.get(name, "") != "")
    return said.replace(" runs, from", " runs from")


def _table(claims: Sequence[Mapping[str, Any]], *, brief: bool) -> str:
    more = "" if brief else " tolerance |"
    rows = [f"| claim | printed | ours | |{more}", "|---|---|---|---|" + ("" if brief else "---|")]
    for claim in claims:
        ours = _brief(claim["ours"]) if brief else claim["ours"]
        cells = [*map(_cell, (claim["statement"], claim["printed"], ours)), _MARK[bool(claim["holds"])]]
        rows.append(f"| {' | '.join(cells if brief else [*cells, _cell(claim['tolerance'])])} |")
    return "\n".join(rows)


def _brief(ours: str, longest: int = 100) -> str:
    """Return the first figures, without what stands in brackets beside them."""
    plain = re.sub(r" ?\([^()]*\)", "", str(ours))
    if len(plain) <= longest:
        return plain
    cut = max(plain.rfind(mark, 0, longest) for mark in (", ", "; ", " "))
    return f"{plain[:cut].rstrip(',;')} ..."


def _cell(text: str) -> str:
    return " ".join(str(text).replace("|", "\\|").replace("*", "\\*").split())
