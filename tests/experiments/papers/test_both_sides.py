"""Every claim can fail and can hold: what its predicate asks for, and records changed until its verdict turns.

In the long test records are made up from one of the small size with the whole grids, whose columns are changed in
groups of rows (a policy, a sampler, a value ...), until the verdict turns: so every claim holds on one record and fails
on another, through its own measure.  A claim that nothing can turn says nothing.
"""

import json
from dataclasses import replace
from functools import cache
from itertools import chain, product

import numpy as np
import pandas as pd
import pytest

from experiments.papers.claims import NOTHING
from experiments.papers.kit import Setup
from experiments.papers.registry import all_experiments
from experiments.papers.thesis.digit_runs import KEYS as KEYS_OF_DIGITS
from experiments.papers.thesis.digit_runs import PRINTED, PROBLEMS
from experiments.papers.thesis.tracking import WRONG
from tests.tables import each

EXPERIMENTS = all_experiments()
CLAIMS = [(name, claim) for name, one in EXPERIMENTS.items() for claim in one.claims]
TRIALS = 400  # records changed at random, of which one has to turn a claim
KEYS = (  # columns that say what a row is of, unless they have many values
    " a alpha at b broadcast clients context d delay_s dtim end error first_page gamma goal k key kind m margin n "
    "neighbours number page parameter policy problem rate setting similarity source t traffic value wanted window "
    "world "
)
FEW = 24  # so many different numbers a column of keys has at most, unless they are whole
REPLICATIONS = ("task", "topic", "rank", "run", "seed", "replication", "split", "fold", "session")
EDGES = "no tuned parameter lies at the edge of its grid"  # `steps_inside` is tested by hand; a record tunes anew


def dkm_labels(*labels):
    """What dkm's error of .04 costs at lambda = 1, 1/2 and 1/4."""
    return {"goals": pd.DataFrame({"key": "dkm", "goal": 0.04, "similarity": (1.0, 0.5, 0.25), "labels": labels})}


def late_gain(*points):
    """The average accuracy of SOP-SS in rounds 2000 and 4000 of as many runs, which differ by so many points."""
    rows = [(run, 2000 * late, late * gain / 100) for run, gain in enumerate(points) for late in (1, 2)]
    return {"curve": pd.DataFrame(rows, columns=["run", "t", "accuracy"]).assign(key="sop-label-efficient")}


def digits(first, **columns):
    """Runs of three splits that get there with so many labels: a function of the printed mean, by problem and key."""
    rows = [
        {"problem": name, "split": split, "fold": 0, "key": key, "first": first(key, mean), "spent": 1000, **columns}
        for name, problem in PRINTED.items() for split in range(3)
        for key, (mean, _) in zip(KEYS_OF_DIGITS, problem.printed, strict=True)]  # fmt: skip
    return {"runs": pd.DataFrame(rows)}


def training_errors(of_147, of_others):
    """Errors of a batch SVM on what it was trained on: on the problems of 1, 4 and 7, and on the others."""
    rows = [{"problem": name, "train_errors": of_147 if "147" in name else of_others} for name in PRINTED]
    return {"batch": pd.DataFrame(rows)}


def regrets(power):
    """Regrets of Fixed-share that grow with such a power of the length, of three runs that differ little."""
    rows = product((1000, 4000, 16_000), range(3), WRONG)
    return {"regrets": pd.DataFrame([
        {"rounds": n, "run": run, "learner": f"Fixed-share at {rate:g}", "regret": (1 + 0.01 * run) * n**power}
        for n, run, rate in rows])}  # fmt: skip


BY_HAND = {  # claims of which so small a record says nothing: a record on which each holds, and one on which it fails
    "SOP-SS, after an initial drop, improves over time": (late_gain(1.0, 1.1, 1.2), late_gain(1.0, -1.1, 1.2)),
    **{
        f"the regret of Fixed-share at a switching rate of {rate:g} in place of 0.05 is linear in T": (
            regrets(1.0), regrets(1.2)
        )
        for rate in WRONG
    },
    "labels grow at most polynomially with 1/lambda": (dkm_labels(10, 20, 50), dkm_labels(10, 20, 80)),  # 1.3 and 2
    "the problems are linearly separable but for those of 1, 4 and 7 against all other digits": (
        training_errors(7, 0), training_errors(7, 1)
    ),
    "perceptron-ss needs fewer labels than random-perceptron on all problems": tuple(
        digits(lambda key, _, few=few: few if key == "perceptron-ss" else 15) for few in (10, 20)
    ),
    **{
        f"{name}: labels until the test error is {one.error:g}": tuple(
            digits(lambda _, mean, factor=factor: factor * mean) for factor in (1.5, 3.0)
        )
        for name, one in PRINTED.items() if "147" not in name
    },
}  # fmt: skip


def test_every_claim_asks_for_what_some_numbers_are_and_others_are_not():
    for name, claim in CLAIMS:
        assert claim.statement
        assert claim.tests
        for test in claim.tests:
            assert -np.inf <= test.low < test.high <= np.inf, (name, claim.statement)
            assert np.isfinite([test.low, test.high]).any(), (name, claim.statement)


@each("statement", list(BY_HAND))
def test_claims_hold_on_one_record_written_by_hand_and_fail_on_another(statement):
    right, wrong = BY_HAND[statement]
    claims = [claim for _, claim in CLAIMS if claim.statement == statement]
    assert claims
    for claim in claims:
        assert claim.check(right).holds
        verdict = claim.check(wrong)
        assert not verdict.holds
        assert verdict.ours != NOTHING


# -- through their own measures -----------------------------------------------------------------------------------
@cache
def _rows(run, tasks):
    """A record of small runs; experiments that are drawn from the same runs share it."""
    frames = {}
    for key, task in json.loads(tasks).items():
        for table, rows in run(task).items():
            frames.setdefault(table, []).extend({"task": key, **row} for row in rows)
    return {table: pd.DataFrame(rows) for table, rows in frames.items() if rows}


def small(experiment):
    """A record of the small size on what stands in for data, with the whole grid, as plain data frames."""
    setup = Setup(size="smoke", stand_in=bool(experiment.data))
    tasks = {key: dict(task) for key, task in experiment.sweep(experiment.setup(setup)).items()}
    if all("cases" in task for task in tasks.values()):
        whole = next(iter(experiment.sweep(experiment.setup(replace(setup, size="full"))).values()))["cases"]
        for task in tasks.values():
            task["cases"] = whole
    return {table: as_of_every_problem(frame) for table, frame in _rows(experiment.run, json.dumps(tasks)).items()}


def as_of_every_problem(frame):
    """The rows of the one problem of digits that the small size has, as if every other had gone alike."""
    own = str(frame["problem"].iloc[0]) if "problem" in frame else ""
    if own not in PROBLEMS:
        return frame
    alike = frame[frame["problem"] == own]
    renamed = [alike.assign(problem=name, task=alike["task"].str.replace(own, name)) for name in PROBLEMS]
    return pd.concat(renamed, ignore_index=True)


def check(claim, record):
    """The verdict, or None where no record could be so."""
    try:
        return claim.check(record)
    except (ValueError, TypeError, KeyError, IndexError, ZeroDivisionError, np.linalg.LinAlgError, FloatingPointError):
        return None


def keys_of(frame):
    """The columns that say what a row is of."""
    own = [name for name in frame.columns if f" {name} " in KEYS]
    return [name for name in own if frame[name].dtype.kind != "f" or frame[name].nunique() <= FEW]


def numbers(frame):
    """The columns that are measured, in contrast to those; a rate may be either."""
    other = (*(name for name in keys_of(frame) if name != "rate"), *REPLICATIONS)
    return [name for name in frame.columns if frame[name].dtype.kind in "fib" and name not in other]


def calm(record):
    """The record without the differences between replications, whose intervals are then narrow."""
    found = dict(record)
    for table, frame in record.items():
        alike, columns = keys_of(frame), [name for name in numbers(frame) if frame[name].dtype.kind != "b"]
        if alike and columns:
            groups = frame.groupby(alike, dropna=False)
            means = groups[columns].transform("mean") * (1.0 + 1e-6 * groups.cumcount().to_numpy()[:, None])
            found[table] = frame.assign(**means.to_dict("series"))
    return found


def with_numbers(record, table, name, values):
    return {**record, table: record[table].assign(**{name: values})}


def read_by(claim, record):
    """The columns whose numbers change what is said of a claim: (table, column)."""
    said = check(claim, record)
    for table, frame in record.items():
        for name in numbers(frame):
            values = frame[name].to_numpy()
            waves = [~values] if values.dtype == bool else [  # a slight one, and one beyond any limit
                values * (1.0 + 0.37 * np.cos(np.arange(len(values)))) + 0.01, 1e3 * (1.0 + values[::-1])
            ]  # fmt: skip
            if any(check(claim, with_numbers(record, table, name, wave)) != said for wave in waves):
                yield table, name


def scaled(record, columns):
    """The record with these columns made smaller or larger: all, one by one, and in the rows of a value of a key."""
    for chosen, factor in product((columns, *([one] for one in columns)), (0.0, 1e-3, 0.3, 3.0, 1e3)):
        found = record
        for table, name in chosen:
            found = with_numbers(found, table, name, found[table][name] * factor)
        yield found
    for table, name in columns:
        frame = record[table]
        for key, factor in product(keys_of(frame), (0.3, 3.0)):
            for value in frame[key].dropna().unique()[:FEW]:
                own = frame[name].where(frame[key] != value, frame[name] * factor)
                yield with_numbers(record, table, name, own)


def nearer(claim, record, columns):
    """The record with the rows of one value of a key after another scaled, where that turns more samples of the claim.

    A claim of many policies holds only once several are changed together, which changes at random hardly ever do.
    """
    verdict = claim.check(record).holds

    def turned_samples(other):
        if check(claim, other) is None:
            return -1
        samples = [(test, one.sample) for test in claim.tests for one in test.samples(other).values()]
        return sum((test.inside(sample) > 0.0) != verdict for test, sample in samples)

    most = turned_samples(record)
    for table, name in columns:
        for key in keys_of(record[table]):
            for value, factor in product(record[table][key].dropna().unique(), (0.1, 0.3, 3.0)):
                own = record[table][name].where(record[table][key] != value, record[table][name] * factor)
                other = with_numbers(record, table, name, own)
                if (count := turned_samples(other)) > most:
                    record, most = other, count
                    yield record


def made_up(record, columns, rng):
    """The record with some of these columns scaled, shifted, made one number or a trend, in all rows or some groups."""
    for _ in range(rng.integers(1, 7)):
        table, name = columns[rng.integers(len(columns))]
        frame = record[table]
        values, keys = frame[name].astype(float), [name, *keys_of(frame)]
        key = frame[keys[rng.integers(len(keys))]]
        groups = rng.permutation(key.dropna().unique())
        ordered = [one for one in frame.columns if frame[one].dtype.kind in "if"]
        along = frame[ordered[rng.integers(len(ordered))]].rank(pct=True).fillna(0.0)
        other = (values * 10.0 ** rng.uniform(-3.0, 1.5),
            values + rng.choice((-1.0, 1.0)) * 10.0 ** rng.uniform(-2.0, 3.0),
            values * 0.0 + 10.0 ** rng.uniform(-3.0, 3.0), values * np.exp(rng.uniform(-3.0, 3.0) * along))[
            rng.integers(4)]  # fmt: skip
        mask = key.isin(groups[: rng.integers(1, 2 + len(groups) // 2)]) | (key.name == name)
        values = values.mask(mask, other)
        record = with_numbers(record, table, name, values > 0.5 if frame[name].dtype == bool else values)
    return record


def turned(claim, record):
    """Whether some made-up record has the other verdict: calm, scaled, changed step by step, or changed at random."""
    verdict, quiet, rng = claim.check(record).holds, calm(record), np.random.default_rng(0)
    columns = list(dict.fromkeys([*read_by(claim, record), *read_by(claim, quiet)]))
    columns = columns or [(table, name) for table, frame in record.items() for name in numbers(frame)]
    drawn = (made_up((record, quiet)[trial % 2], columns, rng) for trial in range(TRIALS))
    made = chain([quiet], scaled(quiet, columns), nearer(claim, quiet, columns), scaled(record, columns), drawn)
    found = (check(claim, one) for one in made)
    return any(one is not None and one.ours != NOTHING and one.holds != verdict for one in found)


@pytest.mark.long
@pytest.mark.filterwarnings("ignore")
@each("name", list(EXPERIMENTS))
def test_claims_hold_on_one_record_and_fail_on_another(name):
    record, known = small(EXPERIMENTS[name]), (EDGES, *BY_HAND)
    claims = [claim for claim in EXPERIMENTS[name].claims if claim.statement not in known and not claim.no_test]
    assert [claim.statement for claim in claims if not turned(claim, record)] == []
