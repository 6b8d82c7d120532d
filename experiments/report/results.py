"""Results of papers in words: a table of every claim, and pages that say why claims fail.

What it models: plain data in (a dictionary an experiment, with its claims), Markdown or lines of text out.  The page
of all papers has a table a paper and a row a claim, those that fail first; a page of details names the data and the
runs of each experiment, and of each claim that fails what was asked for and what the record shows.  What it leaves
out: what is claimed, and how it is checked.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = [
    "HEADING", "HOUSEKEEPING", "HOW_TO_READ", "claim_counts", "details_markdown", "results_markdown", "results_text",
]  # fmt: skip

HEADING = "# What the papers say, and what comes out here"
HOW_TO_READ = (
    "The count is not one of tests stated beforehand: some predicates were revised after first results had been seen. "
    "docs/reproduce.md lists those, and from which seed on nothing had been seen."
)
_LEGEND = (
    "A claim that speaks of several things at once shows under *ours* the one that decides: the worst of them, or the "
    "worst of as many as have to agree. A claim that can hardly fail is *not a test*, and not counted."
)
_MOST_REASONS = 2  # of a failed claim on the page of a paper
HOUSEKEEPING = "a check of our own grids, which no count has"
_OWN = "ours"  # the key of what is in no paper
_VERDICTS = ("fails", "holds", "not a test")


def results_markdown(results: Sequence[Mapping[str, Any]], papers: Mapping[str, str]) -> str:
    """Return the page: how many claims hold by paper, and a row a claim.

    Parameters
    ----------
    results
        A mapping an experiment: `experiment`, `about`, `size`, `seed`, `material`, `runs`, and `claims`, each with
        `statement`, `printed`, `ours`, `holds`, `tolerance`, `why_not`; if known `short`, the part of `ours` that
        decides, and of an experiment `made`, by which program.  What all have in common of size, seed and program is
        said once.
    papers
        Key of a paper to its name.
    """
    counts = claim_counts(results)
    common = _common(results)
    parts = [
        HEADING,
        f"Made by `lpsm reproduce` from its records: {len(results)} experiments, {counts['holds'] + counts['fails']} "
        f"claims, of which {counts['holds']} hold and {counts['fails']} fail"
        + (f"; {counts['not a test']} more are not tests" if counts["not a test"] else "")
        + f".{_said_of_all(results, common)} ± is a 95 % Student interval over replications.",
        HOW_TO_READ,
        _overview(results, papers),
        _LEGEND,
    ]
    for paper, name in papers.items():
        own = _of(results, paper)
        if not own:
            continue
        title, more = f"## {name[0].upper()}{name[1:]}", f"[Data, runs, and why claims fail](results/{paper}.md)."
        if paper == _OWN:
            parts += [title, f"Goals of our own, which no paper states, are counted above. {more}"]
            continue
        claims = [(result["experiment"].partition("/")[2], claim) for result in own for claim in result["claims"]]
        claims = [row for row in claims if _verdict(row[1]) in _VERDICTS]
        claims.sort(key=lambda row: _VERDICTS.index(_verdict(row[1])))
        rows = []
        for place, claim in claims:
            figures = claim.get("short") or claim["ours"]
            rows.append([place, claim["statement"], claim["printed"], figures, _verdict(claim)])
        parts += [title, more, _table(["experiment", "claim", "printed", "ours", "verdict"], rows)]
        others = [(one["experiment"], _made(_own(one, common, "seed", "made"))) for one in own]
        if any(made for _, made in others):
            parts.append("\n".join(f"- {experiment}: {made}" for experiment, made in others if made))
    return "\n\n".join(parts) + "\n"


def details_markdown(results: Sequence[Mapping[str, Any]], paper: str, name: str) -> str:
    """Return the page of one paper: its experiments, and why those claims fail that do."""
    common = _common(results)
    parts = [f"# {name[0].upper()}{name[1:]}: why claims fail"]
    said = "Of values that lie outside, brackets have the least, the middle and the greatest."
    parts.append(f"{_said_of_all(results, common)} {said}".lstrip())
    whole: list[str] = []
    for result in _of(results, paper):
        about, own = str(result["about"]), _made(_own(result, common))
        held = sum(_verdict(claim) == "holds" for claim in result["claims"])
        said = f"{about[0].upper()}{about[1:]}. {own[0].upper()}{own[1:]}. {held} hold."
        lines = [
            f"- *{_cell(claim['statement'])}* ({_cell(claim['tolerance'])}): {_cell(_first(claim['why_not']))}."
            for claim in result["claims"]
            if _verdict(claim) == "fails"
        ]
        lines += [
            f"- *{_cell(claim['statement'])}*: {_cell(claim['tolerance'].partition('not a test: ')[2])}."
            for claim in result["claims"]
            if _verdict(claim) == "not a test"
        ]
        lines += [
            f"- *{_cell(claim['statement'])}*: {'so' if claim['holds'] else 'not so'}, {_cell(claim['ours'])}."
            for claim in result["claims"]
            if _verdict(claim) == "housekeeping"
        ]
        if lines:
            parts.append(f"## {result['experiment']}\n\n{said}\n\n" + "\n".join(lines))
        else:
            whole.append(f"{result['experiment']} ({held})")
    if whole:
        parts.append(f"All claims hold in {', '.join(whole)}.")
    return "\n\n".join(parts) + "\n"


def results_text(result: Mapping[str, Any], *, computed: bool) -> str:
    """Return the claims of one experiment, a line each, for a terminal."""
    lines = [
        f"{result['experiment']}: {result['about']} ({_made({**result, 'made': ''})}"
        f"{'' if computed else '; the record was there'})"
    ]
    for claim in result["claims"]:
        verdict = _verdict(claim)
        lines.append(f"  [{verdict if verdict in _VERDICTS else 'own check'}] {claim['statement']}")
        printed = f"printed {claim['printed']}; " if claim["printed"] else ""
        lines.append(f"          {printed}ours {claim['ours']}")
        if not claim["holds"] and claim["why_not"]:
            lines.append(f"          why not: {claim['why_not']}")
    return "\n".join(lines)


def _of(results: Sequence[Mapping[str, Any]], paper: str) -> list[Mapping[str, Any]]:
    return [result for result in results if result["experiment"].partition("/")[0] == paper]


def _first(why: str) -> str:
    """Return the first reasons for which a claim fails, and how many more its record has."""
    reasons = why.split("; ")
    more = len(reasons) - _MOST_REASONS
    return "; ".join([*reasons[:_MOST_REASONS], f"{more} more in claims.csv"]) if more > 1 else why


def _verdict(claim: Mapping[str, Any]) -> str:
    if HOUSEKEEPING in claim["tolerance"]:
        return "housekeeping"
    if "not a test:" in claim["tolerance"]:
        return "not a test"
    return "holds" if claim["holds"] else "fails"


def claim_counts(results: Sequence[Mapping[str, Any]]) -> Counter[str]:
    """Count the claims that hold, fail, or are not tests; checks of our own grids are none of them."""
    verdicts = (_verdict(claim) for result in results for claim in result["claims"])
    return Counter(verdict for verdict in verdicts if verdict in _VERDICTS)


def _overview(results: Sequence[Mapping[str, Any]], papers: Mapping[str, str]) -> str:
    """How many claims of each paper hold, fail, or are not tests."""
    rows = []
    for paper, name in papers.items():
        if own := _of(results, paper):
            counts = claim_counts(own)
            rows.append([name, *(counts[verdict] for verdict in ("holds", "fails", "not a test"))])
    return _table(["paper", "holds", "fails", "not a test"], rows)


def _table(head: Sequence[str], rows: Sequence[Sequence[Any]]) -> str:
    lines = [head, ["---"] * len(head), *([_cell(cell) for cell in row] for row in rows)]
    return "\n".join(f"|{'|'.join(line)}|" for line in lines)


def _common(results: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """What more than half of the records have in common of size, first seed and program."""
    names = ("size", "seed", "made")
    most = {name: Counter(one.get(name, "") for one in results).most_common(1)[0] for name in names}
    return {name: value for name, (value, count) in most.items() if 2 * count > len(results)}


def _own(result: Mapping[str, Any], common: Mapping[str, Any], *names: str) -> dict[str, Any]:
    """What a record, of these names or of all, does not have in common with most others."""
    return {
        name: value
        for name, value in result.items()
        if (name not in common or common[name] != value) and (name in names or not names)
    }


def _said_of_all(results: Sequence[Mapping[str, Any]], common: Mapping[str, Any]) -> str:
    if not common:
        return ""
    alike = all(one.get(name, "") == value for one in results for name, value in common.items())
    return f" Every record{'' if alike else ' that says nothing else'}: {_made(common)}."


def _made(result: Mapping[str, Any]) -> str:
    """Say of what size a record is, how many runs from which seed, of which data, and by which program."""
    words = {"size": "{} size", "runs": "{} runs", "seed": "from seed {}", "material": "data: {}", "made": "{}"}
    said = ", ".join(text.format(result[name]) for name, text in words.items() if result.get(name, "") != "")
    return said.replace(" runs, from", " runs from")


def _cell(text: object) -> str:
    return " ".join(str(text).replace("|", "\\|").replace("*", "\\*").split())
