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
_COUNTED = ("holds", "fails", "not a test")


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
    counts, common = claim_counts(results), _common(results)
    head = (
        f"Made by `lpsm reproduce` from its records: {len(results)} experiments, {counts['holds'] + counts['fails']} "
        f"claims, of which {counts['holds']} hold and {counts['fails']} fail"
        + (f"; {counts['not a test']} more are not tests" if counts["not a test"] else "")
        + f".{_said_of_all(results, common)} ± is a 95 % Student interval over replications."
    )
    of_papers = {paper: own for paper in papers if (own := _of(results, paper))}
    tally = {paper: claim_counts(own) for paper, own in of_papers.items()}
    overview = [[papers[paper], *(count[one] for one in _COUNTED)] for paper, count in tally.items()]
    parts = [HEADING, head, HOW_TO_READ, _table(["paper", *_COUNTED], overview), _LEGEND]
    for paper, own in of_papers.items():
        more = f"[Data, runs, and why claims fail](results/{paper}.md)."
        parts.append(f"## {_capital(papers[paper])}")
        if paper == _OWN:
            parts.append(f"Goals of our own, which no paper states, are counted above. {more}")
            continue
        claims = [(result["experiment"].partition("/")[2], claim) for result in own for claim in result["claims"]]
        rows = [
            [place, claim["statement"], claim["printed"], claim.get("short") or claim["ours"], verdict]
            for verdict in _VERDICTS
            for place, claim in claims
            if _verdict(claim) == verdict
        ]
        parts += [more, _table(["experiment", "claim", "printed", "ours", "verdict"], rows)]
        others = [(one["experiment"], _made(_own(one, common, "seed", "made"))) for one in own]
        if any(made for _, made in others):
            parts.append("\n".join(f"- {experiment}: {made}" for experiment, made in others if made))
    return "\n\n".join(parts) + "\n"


def details_markdown(results: Sequence[Mapping[str, Any]], paper: str, name: str) -> str:
    """Return the page of one paper: its experiments, and why those claims fail that do."""
    common = _common(results)
    said = "Of values that lie outside, brackets have the least, the middle and the greatest."
    parts = [f"# {_capital(name)}: why claims fail", f"{_said_of_all(results, common)} {said}".lstrip()]
    whole: list[str] = []
    for result in _of(results, paper):
        held = sum(_verdict(claim) == "holds" for claim in result["claims"])
        lines = [
            f"- *{_cell(claim['statement'])}*{_why(claim)}."
            for verdict in ("fails", "not a test", "housekeeping")
            for claim in result["claims"]
            if _verdict(claim) == verdict
        ]
        if lines:
            about = f"{_capital(result['about'])}. {_capital(_made(_own(result, common)))}. {held} hold."
            parts.append(f"## {result['experiment']}\n\n{about}\n\n" + "\n".join(lines))
        else:
            whole.append(f"{result['experiment']} ({held})")
    if whole:
        parts.append(f"All claims hold in {', '.join(whole)}.")
    return "\n\n".join(parts) + "\n"


def _why(claim: Mapping[str, Any]) -> str:
    """Say what was asked for and what is there, of a claim that does not count as holding."""
    if _verdict(claim) == "fails":  # the first reasons, and how many more its record has
        reasons = claim["why_not"].split("; ")
        more = len(reasons) - _MOST_REASONS
        shown = "; ".join([*reasons[:_MOST_REASONS], f"{more} more in claims.csv"]) if more > 1 else claim["why_not"]
        return f" ({_cell(claim['tolerance'])}): {_cell(shown)}"
    if _verdict(claim) == "not a test":
        return f": {_cell(claim['tolerance'].partition('not a test: ')[2])}"
    return f": {'so' if claim['holds'] else 'not so'}, {_cell(claim['ours'])}"


def _capital(words: object) -> str:
    return f"{str(words)[0].upper()}{str(words)[1:]}"


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
    own = {name: value for name, value in result.items() if name not in common or common[name] != value}
    return {name: value for name, value in own.items() if name in names or not names}


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
