"""Results of papers in words: a page of every claim, the printed figure beside ours.

What it models: plain data in (a dictionary an experiment, with its claims), Markdown or
lines of text out.  A claim that fails stays in its place, with what the record shows of why.
What it leaves out: what is claimed, and how it is checked.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["HEADING", "results_markdown", "results_text"]

HEADING = "# What the papers say, and what comes out here"
HOW_TO_READ = (
    "The count is not one of tests stated beforehand: some predicates were revised after first results had been seen. "
    "docs/reproduce.md lists those, and from which seed on nothing had been seen."
)
_MARK = {True: "holds", False: "**does not hold**"}


def results_markdown(results: Sequence[Mapping[str, Any]], papers: Mapping[str, str]) -> str:
    """Return the page: counts, then the claims of every experiment, then why those fail that do.

    Parameters
    ----------
    results
        A mapping an experiment: `experiment`, `about`, `size`, `seed`, `material`, `runs`, and `claims`, each with
        `statement`, `printed`, `ours`, `holds`, `tolerance`, `why_not`.
    papers
        Key of a paper to its name.
    """
    claims = [claim for result in results for claim in result["claims"]]
    held = sum(claim["holds"] for claim in claims)
    parts = [
        HEADING,
        f"Made by `lpsm reproduce` from its records: {len(results)} experiments, {len(claims)} claims, of which {held} "
        f"hold and {len(claims) - held} do not. ± is a 95 % Student interval over replications.",
        HOW_TO_READ,
    ]
    for paper, name in papers.items():
        own = [result for result in results if result["experiment"].partition("/")[0] == paper]
        if not own:
            continue
        parts.append(f"## {name[0].upper()}{name[1:]}")
        for result in own:
            parts += [f"### {result['experiment']}", _about(result), _claims(result["claims"])]
            failed = [claim for claim in result["claims"] if not claim["holds"]]
            if failed:
                parts.append(
                    "\n".join(f"- *{_cell(claim['statement'])}*: {_cell(claim['why_not'])}." for claim in failed)
                )
    return "\n\n".join(parts) + "\n"


def results_text(result: Mapping[str, Any], *, computed: bool) -> str:
    """Return the claims of one experiment, a line each, for a terminal."""
    lines = [
        f"{result['experiment']}: {result['about']} ({_made(result)}{'' if computed else '; the record was there'})"
    ]
    for claim in result["claims"]:
        lines.append(f"  [{'holds' if claim['holds'] else 'fails'}] {claim['statement']}")
        printed = f"printed {claim['printed']}; " if claim["printed"] else ""
        lines.append(f"          {printed}ours {claim['ours']}")
        if not claim["holds"] and claim["why_not"]:
            lines.append(f"          why not: {claim['why_not']}")
    return "\n".join(lines)


def _about(result: Mapping[str, Any]) -> str:
    about = str(result["about"])
    return f"{about[0].upper()}{about[1:]}. {_made(result)[0].upper()}{_made(result)[1:]}."


def _made(result: Mapping[str, Any]) -> str:
    return f"{result['size']} size, {result['runs']} runs from seed {result['seed']}, data: {result['material']}"


def _claims(claims: Sequence[Mapping[str, Any]]) -> str:
    rows = ["| claim | printed | ours | | tolerance |", "|---|---|---|---|---|"]
    rows += [
        f"| {_cell(claim['statement'])} | {_cell(claim['printed'])} | {_cell(claim['ours'])} "
        f"| {_MARK[bool(claim['holds'])]} | {_cell(claim['tolerance'])} |"
        for claim in claims
    ]
    return "\n".join(rows)


def _cell(text: str) -> str:
    return " ".join(str(text).replace("|", "\\|").replace("*", "\\*").split())
