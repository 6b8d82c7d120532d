"""Results of papers in words: a table of every claim, and pages that say why claims fail.

What it models: plain data in (a dictionary an experiment, with its claims), Markdown or lines of text out.  The page
of all papers counts what papers claim, levels they print, theorems and claims of our own apart, and has a row a claim,
with the data it was judged on; a page of details names the data and the runs of each experiment, and of each claim that
fails its class, its cause, what was asked for and what the record shows.  What it leaves out: what is claimed, how it
is checked, and what causes are known (`papers.causes`).
"""

from collections import Counter
from collections.abc import Container, Mapping, Sequence

import pandas as pd

from experiments.quantities import Row
from experiments.report.text import escaped, markdown

HEADING = "# What the papers say, and what comes out here"
_HOW_TO_READ = """\
The count is not one of tests stated beforehand: some predicates were revised after first results had been seen
(docs/revised-claims.md has them).

**Data.** {stand_ins} claims are judged on other data than the paper's: *for* in the column *data* names what is stood
in for.

**Many claims.** Each is judged by itself, at 95 %, and nothing is corrected for their number: of {counted} claims some
{chance} could come out otherwise by chance alone. Claims of one experiment, and of experiments that share runs, are not
independent. Replications are what differs between runs: seeds, or splits and coins on the same data; the topics of one
corpus and the sessions of one archive are a sample of nothing else.

**Verdicts.** A claim is *too noisy to tell* where the 95 % interval goes beyond its limit on one side only and is wider
than the tolerance. Where it fails, brackets have the class of the cause: {classes}. A *level* is a printed number, held
to a factor; a *theorem* is proved, so that a run checks this program as much as the paper; *own* is printed nowhere. A
claim that can hardly fail is *not a test*, and not counted."""
_LEGEND = (
    "A claim about several things at once shows under *ours* the value that decides: the worst, or where only k of "
    "them must agree, the k-th best; where one of several cases was selected, all of them."
)
_MOST_REASONS = 2  # of a failed claim on the page of a paper
HOUSEKEEPING = "a check of our own grids, which no count has"
_OWN_CHECK = "own check"
_OWN = "ours"  # the key of what is in no paper
UNDECIDED = "too small to tell"  # of a claim that does not hold on fewer runs than it speaks of
NOISY = "too noisy to tell"
_VERDICTS = ("fails", NOISY, UNDECIDED, "holds", "not a test")
KINDS = {"claim": "What is claimed", "level": "Printed levels", "theorem": "Theorems", "own": "Ours, printed nowhere"}
_MADE = {"size": "{} size", "runs": "{} runs", "seed": "from seed {}", "data": "data: {}", "made": "{}"}
"""Of what size a record is, how many runs from which seed, of which data, and by which program."""
_SHARED = ("size", "seed", "made")  # of these most records have the same


def results_markdown(
    results: Sequence[Row],
    papers: Mapping[str, str],
    classes: Mapping[str, str] | None = None,
    absent: Sequence[str] = (),
) -> str:
    """Return the page: how many claims hold by paper (`papers` has their names), and a row a claim.

    A result has `experiment`, `about`, `size`, `seed`, `data`, `runs`, and `claims`, each with `statement`,
    `printed`, `ours`, `holds`, `tolerance`, `why_not`; if known `short`, the part of `ours` that decides, `kind`,
    `noisy` and `cause`, and of an experiment `made`, by which program.  The size, seed and program of most are said
    once.  `classes` says what causes there are, and `absent` which experiments have no record.
    """
    usual = _usual(results)
    counts = {kind: claim_counts(results, kind) for kind in KINDS}
    untested = sum(one["not a test"] for one in counts.values())
    head = (
        f"Made by `lpsm reproduce` from its records of {len(results)} experiments. {_said(results)} ± is a 95 % "
        "Student interval over replications. "
        + "".join(f"{KINDS[kind]}: {_tally(one)}; " for kind, one in counts.items())
        + f"{untested} more are not tests."
        + f" Without a record, and so without a verdict here: {', '.join(absent)}." * bool(absent)
    )
    of_papers = {paper: own for paper in papers if (own := _of(results, paper))}
    overview = [
        (papers[paper], *(_cell(claim_counts(own, kind)) for kind in KINDS), claim_counts(own)["not a test"])
        for paper, own in of_papers.items()
    ]
    cells = f"Cells: hold / fail / {NOISY}" + f" / {UNDECIDED}" * bool(claim_counts(results)[UNDECIDED]) + "."
    counted = claim_counts(results).total() - untested
    elsewhere = sum(
        verdict in _VERDICTS[:-1] for one in results if ", for " in one.get("data", "") for _, verdict in _verdicts(one)
    )
    how = _HOW_TO_READ.format(
        stand_ins=f"{elsewhere} of {counted}", counted=counted, chance=round(counted / 20),
        classes="; ".join(f"*{name}*, {meaning}" for name, meaning in (classes or {}).items()),
    )  # fmt: skip
    parts = [HEADING, head, how, cells, _table(overview, "paper", *KINDS.values(), "not a test"), _LEGEND]
    for paper, own in of_papers.items():
        more = f"[Data, runs, and why claims fail](docs/results/{paper}.md)."
        parts.append(f"## {_capital(papers[paper])}")
        if paper == _OWN:
            parts.append(f"Goals of our own, which no paper states, are counted above. {more}")
            continue
        parts.append(more)
        for kind, title in KINDS.items():
            rows = [
                (one["experiment"].partition("/")[2], one.get("data", ""), claim["statement"], claim["printed"],
                 claim.get("short") or claim["ours"], _told(claim, verdict), verdict)
                for one in own for claim, verdict in _verdicts(one) if verdict in _VERDICTS and _kind(claim) == kind
            ]  # fmt: skip
            rows.sort(key=lambda row: _VERDICTS.index(row[-1]))
            if rows:
                columns = ("experiment", "data", "claim", "printed", "ours", "verdict")
                parts.append(f"### {title}\n\n" + _table([row[:-1] for row in rows], *columns))
        if others := [f"- {one['experiment']}: {made}" for one in own if (made := _made(one, _SHARED)) != usual]:
            parts.append("\n".join(others))
    return "\n\n".join(parts) + "\n"


def details_markdown(results: Sequence[Row], paper: str, name: str) -> str:
    """Return the page of one paper: its experiments, and why those claims fail that do."""
    said = "Of values that lie outside, brackets have the least, the middle and the greatest."
    parts, usual = [f"# {_capital(name)}: what fails, and why", f"{_said(results)} {said}"], _usual(results)
    whole: list[str] = []
    for result in _of(results, paper):
        verdicts = _verdicts(result)
        held = sum(verdict == "holds" for _, verdict in verdicts)
        lines = [
            f"- *{escaped(claim['statement'])}*{_why(claim, verdict)}."
            for wanted in ("fails", NOISY, UNDECIDED, "not a test", _OWN_CHECK)
            for claim, verdict in verdicts
            if verdict == wanted
        ]
        lines += ["", *result.get("tables", ())] if result.get("tables") else []
        if lines:
            made = _made(result, ("runs", "data") if _made(result, _SHARED) == usual else _MADE)
            about = f"{_capital(result['about'])}. {_capital(made)}. {held} hold."
            parts.append(f"## {result['experiment']}\n\n{about}\n\n" + "\n".join(lines))
        else:
            whole.append(f"{result['experiment']} ({held})")
    if whole:
        parts.append(f"All claims hold in {', '.join(whole)}.")
    return "\n\n".join(parts) + "\n"


def _why(claim: Row, verdict: str) -> str:
    """Say what was asked for, what is there and what causes it, of a claim that does not count as holding."""
    if verdict in ("fails", NOISY, UNDECIDED):  # the first reasons, and how many more its record has
        reasons = claim["why_not"].split("; ")
        if (more := len(reasons) - _MOST_REASONS) > 1:
            reasons[_MOST_REASONS:] = [f"{more} more in claims.csv"]
        cause = f"; {escaped(claim['cause'])}" if claim.get("cause") and verdict == "fails" else ""
        told = f" {verdict}" if verdict != "fails" else ""
        return f"{told} ({escaped(claim['tolerance'])}): {escaped('; '.join(reasons))}{cause}"
    if verdict == "not a test":
        return f": {escaped(claim['tolerance'].partition('not a test: ')[2])}"
    return f": {'so' if claim['holds'] else 'not so'}, {escaped(claim['ours'])}"


def _told(claim: Row, verdict: str) -> str:
    """Return the verdict as a table has it, with the class of the cause of a failure."""
    sort = claim.get("cause", "").partition(":")[0]
    return f"fails ({sort})" if verdict == "fails" and sort else verdict


def _kind(claim: Row) -> str:
    return str(claim.get("kind", "claim"))


def _cell(counts: Counter[str]) -> str:
    shown = ["holds", "fails", NOISY, *[UNDECIDED] * bool(counts[UNDECIDED])]
    return " / ".join(str(counts[one]) for one in shown) if any(counts[one] for one in shown) else ""


def _tally(counts: Counter[str]) -> str:
    words = {"holds": "{} hold", "fails": "{} fail", NOISY: f"{{}} are {NOISY}", UNDECIDED: f"{{}} are {UNDECIDED}"}
    return ", ".join(
        text.format(counts[one]) for one, text in words.items() if counts[one] or one in ("holds", "fails")
    )


def _capital(words: str) -> str:
    return words[:1].upper() + words[1:]


def results_text(result: Row, *, computed: bool) -> str:
    """Return the claims of one experiment, a line each, for a terminal."""
    made = _made(result, ("size", "runs", "seed", "data"))
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
        verdict = "holds" if claim["holds"] else NOISY if claim.get("noisy") and fails == "fails" else fails
        for words, other in ((HOUSEKEEPING, _OWN_CHECK), ("not a test:", "not a test")):
            verdict = other if words in claim["tolerance"] else verdict
        said.append((claim, verdict))
    return said


def claim_counts(results: Sequence[Row], kind: str = "") -> Counter[str]:
    """Count claims, or those of a kind, by verdict; checks of our own grids are none of them."""
    return Counter(
        verdict for result in results for claim, verdict in _verdicts(result)
        if verdict in _VERDICTS and kind in ("", _kind(claim))
    )  # fmt: skip


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
