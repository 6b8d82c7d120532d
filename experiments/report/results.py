"""Results of papers in words: a table of every claim, and pages that say why claims fail.

What it models: plain data in (a dictionary an experiment, with its claims), Markdown or lines of text out.  The page
of all papers has a table a paper and a row a claim, those that fail first; a page of details names the data and the
runs of each experiment, and of each claim that fails what was asked for and what the record shows.  What it leaves
out: what is claimed, and how it is checked.
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence

import pandas as pd

from experiments.quantities import Row
from experiments.report.text import escaped, markdown

HEADING = "# What the papers say, and what comes out here"
_HOW_TO_READ = (
    "The count is not one of tests stated beforehand: some predicates were revised after first results had been seen. "
    "docs/reproduce.md lists those, and from which seed on nothing had been seen."
)
_LEGEND = (
    "A claim about several things at once shows under *ours* the value that decides: the worst, or where only k of "
    "them must agree, the k-th best. A claim that can hardly fail is *not a test*, and not counted."
)
_MOST_REASONS = 2  # of a failed claim on the page of a paper
HOUSEKEEPING = "a check of our own grids, which no count has"
_OWN_CHECK = "own check"
_OWN = "ours"  # the key of what is in no paper
UNDECIDED = "too small to tell"  # of a claim that does not hold on fewer runs than it speaks of
_VERDICTS = ("fails", UNDECIDED, "holds", "not a test")
_MADE = {"size": "{} size", "runs": "{} runs", "seed": "from seed {}", "material": "data: {}", "made": "{}"}
"""Of what size a record is, how many runs from which seed, of which data, and by which program."""
_SHARED = ("size", "seed", "made")  # of these most records have the same


def results_markdown(results: Sequence[Row], papers: Mapping[str, str]) -> str:
    """Return the page: how many claims hold by paper (`papers` has their names), and a row a claim.

    A result has `experiment`, `about`, `size`, `seed`, `material`, `runs`, and `claims`, each with `statement`,
    `printed`, `ours`, `holds`, `tolerance`, `why_not`; if known `short`, the part of `ours` that decides, and of an
    experiment `made`, by which program.  The size, seed and program of most are said once.
    """
    counts, usual = claim_counts(results), _usual(results)
    also = {UNDECIDED: f"; {{}} are {UNDECIDED}", "not a test": "; {} more are not tests"}
    untold = "".join(words.format(counts[verdict]) for verdict, words in also.items() if counts[verdict])
    head = (
        f"Made by `lpsm reproduce` from its records: {len(results)} experiments, "
        f"{counts.total() - counts['not a test']} claims, of which {counts['holds']} hold and {counts['fails']} "
        f"fail{untold}. {_said(results)} "
        "± is a 95 % Student interval over replications."
    )
    of_papers = {paper: own for paper in papers if (own := _of(results, paper))}
    tally = {papers[paper]: claim_counts(own) for paper, own in of_papers.items()}
    columns = ["holds", "fails", *[UNDECIDED] * bool(counts[UNDECIDED]), "not a test"]
    overview = [(name, *(count[one] for one in columns)) for name, count in tally.items()]
    parts = [HEADING, head, _HOW_TO_READ, _table(overview, "paper", *columns), _LEGEND]
    for paper, own in of_papers.items():
        more = f"[Data, runs, and why claims fail](results/{paper}.md)."
        parts.append(f"## {_capital(papers[paper])}")
        if paper == _OWN:
            parts.append(f"Goals of our own, which no paper states, are counted above. {more}")
            continue
        rows = [
            (one["experiment"].partition("/")[2], claim["statement"], claim["printed"],
             claim.get("short") or claim["ours"], verdict)
            for one in own for claim, verdict in _verdicts(one) if verdict in _VERDICTS
        ]  # fmt: skip
        rows.sort(key=lambda row: _VERDICTS.index(row[-1]))
        parts += [more, _table(rows, "experiment", "claim", "printed", "ours", "verdict")]
        if others := [f"- {one['experiment']}: {made}" for one in own if (made := _made(one, _SHARED)) != usual]:
            parts.append("\n".join(others))
    return "\n\n".join(parts) + "\n"


def details_markdown(results: Sequence[Row], paper: str, name: str) -> str:
    """Return the page of one paper: its experiments, and why those claims fail that do."""
    said = "Of values that lie outside, brackets have the least, the middle and the greatest."
    parts, usual = [f"# {_capital(name)}: why claims fail", f"{_said(results)} {said}"], _usual(results)
    whole: list[str] = []
    for result in _of(results, paper):
        verdicts = _verdicts(result)
        held = sum(verdict == "holds" for _, verdict in verdicts)
        lines = [
            f"- *{escaped(claim['statement'])}*{_why(claim, verdict)}."
            for wanted in ("fails", UNDECIDED, "not a test", _OWN_CHECK)
            for claim, verdict in verdicts
            if verdict == wanted
        ]
        if lines:
            made = _made(result, ("runs", "material") if _made(result, _SHARED) == usual else _MADE)
            about = f"{_capital(result['about'])}. {_capital(made)}. {held} hold."
            parts.append(f"## {result['experiment']}\n\n{about}\n\n" + "\n".join(lines))
        else:
            whole.append(f"{result['experiment']} ({held})")
    if whole:
        parts.append(f"All claims hold in {', '.join(whole)}.")
    return "\n\n".join(parts) + "\n"


def _why(claim: Row, verdict: str) -> str:
    """Say what was asked for and what is there, of a claim that does not count as holding."""
    if verdict in ("fails", UNDECIDED):  # the first reasons, and how many more its record has
        reasons = claim["why_not"].split("; ")
        if (more := len(reasons) - _MOST_REASONS) > 1:
            reasons[_MOST_REASONS:] = [f"{more} more in claims.csv"]
        return f" ({escaped(claim['tolerance'])}): {escaped('; '.join(reasons))}"
    if verdict == "not a test":
        return f": {escaped(claim['tolerance'].partition('not a test: ')[2])}"
    return f": {'so' if claim['holds'] else 'not so'}, {escaped(claim['ours'])}"


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def results_text(result: Row, *, computed: bool) -> str:
    """Return the claims of one experiment, a line each, for a terminal."""
    made = _made(result, ("size", "runs", "seed", "material"))
    lines = [f"{result['experiment']}: {result['about']} ({made}{'' if computed else '; the record was there'})"]
    for claim, verdict in _verdicts(result):
        lines.append(f"  [{verdict}] {claim['statement']}")
        printed = f"printed {claim['printed']}; " if claim["printed"] else ""
        lines.append(f"          {printed}ours {claim['ours']}")
        if not claim["holds"] and claim["why_not"]:
            lines.append(f"          why not: {claim['why_not']}")
    return "\n".join(lines)


def _of(results: Sequence[Row], paper: str) -> list[Row]:
    return [result for result in results if result["experiment"].partition("/")[0] == paper]


def _verdicts(result: Row) -> list[tuple[Row, str]]:
    """Return the claims of an experiment, each with what is said of it."""
    fails = "fails" if result["size"] == "full" else UNDECIDED
    said = []
    for claim in result["claims"]:
        verdict = "holds" if claim["holds"] else fails
        for words, other in ((HOUSEKEEPING, _OWN_CHECK), ("not a test:", "not a test")):
            verdict = other if words in claim["tolerance"] else verdict
        said.append((claim, verdict))
    return said


def claim_counts(results: Sequence[Row]) -> Counter[str]:
    """Count the claims that hold, fail, cannot be told, or are not tests; checks of our own grids are none of them."""
    return Counter(verdict for result in results for _, verdict in _verdicts(result) if verdict in _VERDICTS)


def _table(rows: Sequence[tuple[object, ...]], *head: str) -> str:
    return markdown(pd.DataFrame(rows, columns=list(head))).rstrip()


def _made(result: Row, names: Container[str]) -> str:
    said = ", ".join(text.format(result[name]) for name, text in _MADE.items() if name in names and name in result)
    return said.replace(" runs, from", " runs from")


def _usual(results: Sequence[Row]) -> str:
    """Return what most records have in common of size, first seed and program."""
    made = Counter(_made(one, _SHARED) for one in results)
    return max(made, key=made.__getitem__, default="nothing")


def _said(results: Sequence[Row]) -> str:
    alike = len({_made(one, _SHARED) for one in results}) == 1
    return f"Every record{'' if alike else ' that says nothing else'}: {_usual(results)}."
