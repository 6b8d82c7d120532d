"""Results of papers in words: a page of every claim, the printed figure beside ours.

What it models: plain data in (a dictionary an experiment, with its claims), Markdown or lines of text out.  The page
of all papers has a line a claim, or for claims that differ in a few words; the pages of details have a row a claim, and
of those that fail what the record shows of why.  What it leaves out: what is claimed, and how it is checked.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Mapping, Sequence
from typing import Any

__all__ = ["HEADING", "HOW_TO_READ", "details_markdown", "results_markdown", "results_text"]

HEADING = "# What the papers say, and what comes out here"
HOW_TO_READ = (
    "The count is not one of tests stated beforehand: some predicates were revised after first results had been seen. "
    "docs/reproduce.md lists those, and from which seed on nothing had been seen."
)
_MARK = {True: "holds", False: "**does not hold**"}
_SQUARE = {True: "■", False: "□"}
_LEGEND = (
    "■ a claim that holds, □ one that does not, · one that can hardly fail; what is printed stands in brackets. A dash "
    "stands for the words in which claims on one line differ. The details have data, tolerances, all figures, and why "
    "claims fail."
)
_LONGEST_BRIEF = 34  # characters
_WORDS = 4  # at most so many differ between claims on one line


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
    every = f" {_said_of_all(results, common)}" if common else ""
    parts = [
        HEADING,
        f"Made by `lpsm reproduce` from its records: {len(results)} experiments, {held + failed + idle} claims, of "
        f"which {held} hold and {failed} do not"
        + (f"; {idle} more say of themselves that they can hardly fail" if idle else "")
        + f".{every} ± is a 95 % Student interval over replications.",
        HOW_TO_READ,
        _overview(results, papers),
        _LEGEND,
    ]
    for paper, name in papers.items():
        own = _of(results, paper)
        if own:
            parts.append(f"## {name[0].upper()}{name[1:]}")
            parts.append(f"[Details](results/{paper}.md).")
        for result in own:
            made = _made({name: result[name] for name in ("seed", "made") if name in _own(result, common)})
            heading = f"### {result['experiment']}: {result['about']}" + (f" ({made})" if made else "")
            parts += [heading, "\n".join(f"- {line}" for line in _short_lines(result["claims"]))]
    return "\n\n".join(parts) + "\n"


def details_markdown(results: Sequence[Mapping[str, Any]], paper: str, name: str) -> str:
    """Return the page of one paper: every claim with its tolerance, and why those fail that do."""
    common = _common(results)
    parts = [f"# {name[0].upper()}{name[1:]}: claim by claim", HOW_TO_READ]
    if common:
        parts.append(_said_of_all(results, common))
    for result in _of(results, paper):
        parts += [f"## {result['experiment']}", _about(result, common), _table(result["claims"])]
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
    """What more than half of the records have in common of size, first seed and program."""
    names = ("size", "seed", "made")
    most = {name: Counter(one.get(name, "") for one in results).most_common(1)[0] for name in names}
    return {name: value for name, (value, count) in most.items() if 2 * count > len(results)}


def _own(result: Mapping[str, Any], common: Mapping[str, Any]) -> dict[str, Any]:
    """What a record does not have in common with most others."""
    return {name: value for name, value in result.items() if name not in common or common[name] != value}


def _said_of_all(results: Sequence[Mapping[str, Any]], common: Mapping[str, Any]) -> str:
    alike = all(one.get(name, "") == value for one in results for name, value in common.items())
    return f"Every record{'' if alike else ' that says nothing else'}: {_made(common)}."


def _about(result: Mapping[str, Any], common: Mapping[str, Any]) -> str:
    about = str(result["about"])
    own = _made(_own(result, common))
    return f"{about[0].upper()}{about[1:]}. {own[0].upper()}{own[1:]}."


def _made(result: Mapping[str, Any]) -> str:
    """Say of what size a record is, how many runs from which seed, of which data, and by which program."""
    words = {"size": "{} size", "runs": "{} runs", "seed": "from seed {}", "material": "data: {}", "made": "{}"}
    said = ", ".join(text.format(result[name]) for name, text in words.items() if result.get(name, "") != "")
    return said.replace(" runs, from", " runs from")


def _table(claims: Sequence[Mapping[str, Any]]) -> str:
    rows = ["| claim | printed | ours | | tolerance |", "|---|---|---|---|---|"]
    for claim in claims:
        statement, printed, ours, tolerance = (
            _cell(claim[name]) for name in ("statement", "printed", "ours", "tolerance")
        )
        rows.append(f"| {statement} | {printed} | {ours} | {_MARK[bool(claim['holds'])]} | {tolerance} |")
    return "\n".join(rows)


def _short_lines(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """A line a claim; those that differ in a few words are on one, with a dash for these words."""
    groups: list[tuple[list[str], list[str], list[Mapping[str, Any]]]] = []  # words before, after, claims
    for claim in claims:
        words = str(claim["statement"]).split()
        for place, (before, after, members) in enumerate(groups):
            if len(members) == 1:
                before, after = _common_ends(str(members[0]["statement"]).split(), words)
            if _is_between(before, after, words) and all(
                _is_between(before, after, str(one["statement"]).split()) for one in members
            ):
                groups[place] = before, after, [*members, claim]
                break
        else:
            groups.append((words, [], [claim]))
    return [_short_line(*group) for group in groups]


def _common_ends(one: list[str], other: list[str]) -> tuple[list[str], list[str]]:
    """The words with which both begin, and those with which both end."""
    same = [first == second for first, second in zip(one, other, strict=False)]
    begin = same.index(False) if False in same else len(same)
    rest = [first == second for first, second in zip(one[begin:][::-1], other[begin:][::-1], strict=False)]
    end = rest.index(False) if False in rest else len(rest)
    return one[:begin], one[len(one) - end :]


def _is_between(before: list[str], after: list[str], words: list[str]) -> bool:
    """Whether so many words begin and end so, and a few stand between."""
    count = len(words) - len(before) - len(after)
    ends = words[: len(before)] == before and words[len(words) - len(after) :] == after
    return ends and 1 <= count <= _WORDS < len(before) + len(after)


def _short_line(before: list[str], after: list[str], claims: Sequence[Mapping[str, Any]]) -> str:
    printed = [_printed(claim) for claim in claims]
    ours = [re.sub(r" ?\([^()]*\)", "", str(claim["ours"])) for claim in claims]  # without what stands beside
    said = [f"{_square(claim)} {{}}{_brief(figures)}" for claim, figures in zip(claims, ours, strict=True)]
    if len(claims) == 1:
        return _cell(said[0].format(f"{claims[0]['statement']}: ") + printed[0])
    own = [" ".join(str(claim["statement"]).split()[len(before) :][: -len(after) or None]) for claim in claims]
    shared = printed[0] if len(set(printed)) == 1 else ""
    parts = [
        one.format(f"{name.rstrip(':,')}: ") + ("" if shared else more)
        for one, name, more in zip(said, own, printed, strict=True)
    ]
    dash = [] if all(name.endswith(":") for name in own) else ["–"]
    return _cell(f"{' '.join([*before, *dash, *after])}{shared}: {'; '.join(parts)}")


def _square(claim: Mapping[str, Any]) -> str:
    return "·" if "not a test:" in claim["tolerance"] else _SQUARE[bool(claim["holds"])]


def _printed(claim: Mapping[str, Any]) -> str:
    """What is printed, in brackets, unless the claim itself says it."""
    printed = str(claim["printed"])
    return f" ({_brief(printed)})" if printed.lstrip("-") not in str(claim["statement"]) else ""


def _brief(words: str) -> str:
    """Return the first figures or words."""
    if len(words) <= _LONGEST_BRIEF:
        return words
    ends = [words.rfind(mark, 0, _LONGEST_BRIEF) for mark in (", ", "; ", " ")]
    return f"{words[: max(*ends[:2]) if max(*ends[:2]) > 0 else ends[2]]} ..."


def _cell(text: str) -> str:
    return " ".join(str(text).replace("|", "\\|").replace("*", "\\*").split())
