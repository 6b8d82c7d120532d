"""Table 4.1 and figures 4-5 and 4-6 of Monteleoni 2006: six pairings of rule and update on digits.

What it models: the runs of section 4.6 (`digit_runs`), 20 splits of 10 folds.  In table 4.1 labels are counted at the
first touch of the test error.  What becomes of runs that never get there is not said in the print: they are left out
of the means.  In tuning they count as all labels, which favours a large R; the rules of DKM, whose runs alone never get
there, are run as well where tuning leaves them out, too, and the table has both, with medians.

Figure 4-5 takes the mean number of labels at the first touch of each accuracy, at those accuracies only that 95 % of
the runs reached; two rules that have no such accuracy in common cannot be compared, which counts against the claim.
Figure 4-6 takes the mean test error of all runs after a number of labels; a run that asks for no more keeps its last
error, and a curve ends where more than half of its runs have ended.
What it leaves out: the pool-based references of the section (`svm`), and the thresholds and axes of the figures, which
are printed without numbers.
"""

from itertools import starmap

import numpy as np
import pandas as pd
from scipy.stats import wilcoxon

from experiments.papers.claims import Claim, Noted, against, cases, where
from experiments.papers.kit import Experiment
from experiments.papers.predicates import at_least, at_most, below, between, both, reaching, smallest, wide_enough
from experiments.papers.thesis import digit_runs
from experiments.papers.thesis.digit_runs import KEYS, PRINTED, PROBLEMS, inside_grids, present
from experiments.report.text import plus_minus

UNSEPARABLE = tuple(name for name in PRINTED if "147" in name)
SEPARABLE = tuple(name for name in PRINTED if name not in UNSEPARABLE)
EFFICIENCY = ("MNIST 4v7", "MNIST 0v1", "USPS 0vAll", "MNIST 0vAll")
CURVES = ("MNIST 0v1", "MNIST 147vAll", "USPS 0vAll", "MNIST 0vAll")
FACTORS = tuple(2.0 ** (-k / 4) for k in range(-8, 13))  # of the error each problem was tuned for
MOST_RUNS = 0.95  # that have to reach a threshold
LABELS = tuple(round(2.0 ** (k / 2)) for k in range(2, 25))  # 2 to 4096
RULES = (("dkm", "cbgz-dkm"), ("dkm-perceptron", "perceptron-ss"))  # both rules with each update
RULES_OF_DKM = ("dkm", "dkm-perceptron")
BEST = "dkm-perceptron"
LONG = "as long as table-4-1, whose runs it takes where they are"

TABLE_4_1 = Experiment(
    "thesis/table-4-1", "labels until the test error is low, on digits, six algorithms", "65 min", digit_runs.DATA
)


@TABLE_4_1.runs(digit_runs.sweep(20))
def whole_folds(**task):
    """Tune and run all six pairings on one split of one problem."""
    error, one = PROBLEMS[task["problem"]].error, {"problem": task["problem"], "split": task["split"]}
    rows, touches, curves, tuned, left_out = [], [], [], [], []
    for number, key in enumerate(KEYS):
        parameters = digit_runs.tuned(task, key)
        if len(digit_runs.GRIDS[key]) > 1:
            tuned += [{**one, "key": key, "parameter": name, "value": float(own)} for name, own in parameters.items()]
        other = digit_runs.tuned(task, key, left_out=True) if key in RULES_OF_DKM else None
        for fold in digit_runs.folds(task, number):
            named, run = {**one, "fold": fold.number, "key": key}, digit_runs.trace(key, parameters, fold)
            if other is not None:  # DKM's rules draw no coins
                again = run if other == parameters else digit_runs.trace(key, other, fold)
                left_out.append({**named, "first": again.first(error)})
            ends = {"final": float(run.errors[-1]), "spent": run.spent, "late": run.late}
            rows.append({**named, "first": run.first(error), **ends})
            touches += [{**named, "error": error * own, "labels": run.first(error * own)} for own in FACTORS]
            places = np.searchsorted(run.labels, LABELS, side="right") - 1
            curves += [
                {**named, "labels": count, "error": float(run.errors[place])}
                for count, place in zip(LABELS, places.tolist(), strict=True) if place >= 0 and count <= run.spent
            ]  # fmt: skip
    return {"runs": rows, "touches": touches, "curves": curves, "tuned": tuned, "left_out": left_out}


FIG_4_5 = TABLE_4_1.view("thesis/fig-4-5", "labels needed against test accuracy, on digits, six algorithms", LONG)
FIG_4_6 = TABLE_4_1.view("thesis/fig-4-6", "test error against labels, on digits; who stops asking", LONG)


def split_means(runs, keys=KEYS):
    """Return mean labels of those of a split's runs that get there: a row a problem and split, a column a key."""
    reached = runs[runs["first"] >= 0]
    return reached.pivot_table(index=["problem", "split"], columns="key", values="first").reindex(columns=keys)


def means(runs, keys=KEYS):
    """Return their means over splits, a row a problem."""
    table = split_means(runs, keys).groupby(level="problem", sort=False).mean()
    return table.loc[[name for name in PROBLEMS if name in table.index]]


@TABLE_4_1.claim(
    "{name}: labels until the test error is {error:g}", between, "{labels}",
    "doublings over the printed count, every mean over splits: a cell moves 5 to 40 % from split to split", low=-1.0,
    high=1.0, no_test="{idle}", kind="level", of=[
        {"name": name, "error": problem.error, "printed": [mean for mean, _ in problem.printed],
         "labels": ", ".join(f"{key} {mean:.0f}" for key, (mean, _) in zip(KEYS, problem.printed, strict=True)),
         "idle": "the printed counts are so alike that any of them would do for another" if "147" in name else ""}
        for name, problem in PRINTED.items()
    ]
)  # fmt: skip
def _over_print(runs, name, printed):
    own = where(runs, problem=name)
    splits, never = split_means(own), (own["first"] < 0).groupby(own["key"]).sum()
    notes = {key: f", {count} runs never" if count else "" for key, count in never.items()}
    return {
        key: Noted(np.log2(splits[key] / mean), f"({splits[key].mean():.0f}{notes[key]})")
        for key, mean in zip(KEYS, printed, strict=True) if len(splits)
    }  # fmt: skip


@TABLE_4_1.claim(
    "{one} needs fewer labels than {other} on {all}", at_most, "{printed}",
    "means over splits at the first touch; p is the exact two-sided Wilcoxon over the problems' means",
    unit=" problems where it does not", of={"one other all limit printed": cases("""
dkm-perceptron | random-perceptron | all problems but 1 | 1 | all but one, p = 0.0313
perceptron-ss | random-perceptron | all problems | 0 | p = 0.0156
dkm | random-dkm | all problems | 0 | p = 0.0156
dkm-perceptron | dkm | all problems | 0 | p = 0.0156
perceptron-ss | cbgz-dkm | all problems | 0 | p = 0.0156
random-perceptron | random-dkm | all problems | 0 | p = 0.0156
dkm | cbgz-dkm | all problems but 1 | 1 | all but one, p = 0.0469
""")}
)  # fmt: skip
def _not_fewer(runs, one, other, limit):
    """Problems on which it does not need fewer at the first touch, with counts and p."""
    pair = means(runs)[[one, other]].dropna()
    less = pair[one] - pair[other]
    p = _p(less)
    words = f"on {int((less < 0).sum())} of {len(less)}{f', p = {p:.4f}' if p else ''}"
    return Noted((less >= 0).sum(), f"(first touch: {words})") if len(less) > limit else None


def _p(differences):
    """Return Wilcoxon's exact p, if the problems are those of the thesis."""
    whole = set(differences.index) >= set(PRINTED)
    return float(wilcoxon(differences, method="exact").pvalue) if whole else None


def _cells(runs):
    """Return mean and standard deviation of all runs that get there, by problem and key."""
    return runs[runs["first"] >= 0].groupby(["problem", "key"])["first"].agg(["mean", "std"])


LEAST = """
dkm-perceptron needs fewest labels of all on all problems but 2 | 2 | all but two | mean | dkm-perceptron
on the two problems that are not separable perceptron-ss does | 0 | the only two unseparable problems | mean
    | perceptron-ss
dkm-perceptron's labels vary least, on all problems but 1 | 1 | all but one | std | dkm-perceptron
"""
OF = {"mean": "means", "std": "standard deviation"}


@TABLE_4_1.claim("{statement}", at_most, "{printed}", "{of} of all runs that reach the error",
                 unit=" problems where it does not", of={
    "statement limit printed column key of": [(*row, OF[row[3]]) for row in cases(LEAST)]
})  # fmt: skip
def _not_least(runs, column, key):
    """Problems (of perceptron-ss: those not separable) on which another algorithm has the least of a column."""
    names = UNSEPARABLE if key == "perceptron-ss" else tuple(PRINTED)
    table = _cells(runs)[column].unstack("key").reindex(index=names).dropna()
    least = table.idxmin(axis=1)
    words = ", ".join(f"{name} {own}" for name, own in least.items())
    return Noted((least != key).sum(), f"({words})") if len(table) == len(names) else None


@TABLE_4_1.claim(
    f"{BEST} and perceptron-ss do not differ significantly", at_least, "not statistically significant",
    "exact two-sided Wilcoxon over the problems' means", limit=0.05, open=True
)  # fmt: skip
def _difference_of_best(runs):
    p = _p((means(runs)[BEST] - means(runs)["perceptron-ss"]).dropna())
    return p and {"p": p}


@TABLE_4_1.claim(
    f"on the separable problems {BEST} needs no more labels than perceptron-ss", reaching, "fewest labels of all",
    "ratio over splits", high=1.0
)  # fmt: skip
def _over_coin(runs):
    splits = split_means(runs)
    ratio = splits[BEST] / splits["perceptron-ss"]
    return {name: ratio.loc[name] for name in SEPARABLE if name in splits.index.get_level_values("problem")}


def _factors(runs):
    """Labels of random sampling over those of the best active method, by problem."""
    table = means(runs)
    return dict(table["random-perceptron"] / table[list(KEYS[:4])].min(axis=1))


TABLE_4_1.claims.append(Claim(
    "random sampling needs more labels than the best active method, mostly twice as many",
    both(at_least(_factors, 1.0, open=True), at_least(_factors, 2.0, needed=0.5)),
    "6.08, 1.81, 2.45, 5.09, 1.26, 1.99, 1.30", "factor in labels, by problem"
))  # fmt: skip


def _words(runs):
    """Return mean, standard deviation, median and runs that never get there, by problem and key."""
    reached = runs["first"].where(runs["first"] >= 0).groupby([runs["problem"], runs["key"]])
    never = (runs["first"] < 0).groupby([runs["problem"], runs["key"]]).sum()
    return pd.Series({
        cell: f"{plus_minus(own.mean(), own.std())}, median {own.median():.0f}"
        + (f", {never[cell]} of {len(own)} never" if never[cell] else "")
        for cell, own in reached
    }).unstack()  # fmt: skip


@TABLE_4_1.table("table-4-1")
def _as_printed(runs, left_out):
    """Return the table in the thesis' shape, mean +- standard deviation, printed and ours by both conventions."""
    own, rows = {"ours": _words(runs), "ours, tuned without runs that never get there": _words(left_out)}, []
    names = ("DKM^2", "DKMperc", "CBGZ_DKM", "CBGZperc", "randDKM", "randPerc")
    for name in dict.fromkeys(runs["problem"]):
        printed = {"printed": dict(zip(KEYS, starmap(plus_minus, PROBLEMS[name].printed), strict=False))}
        for whose, cells in (printed | {whose: table.loc[name].dropna() for whose, table in own.items()}).items():
            words = {f"{one} ({key})": cells.get(key, "") for one, key in zip(names, KEYS, strict=True)}
            rows += [{"problem": f"{name} ({PROBLEMS[name].error:g})", "whose": whose, **words}] if len(cells) else []
    return pd.DataFrame(rows)


def efficiency(touches, name):
    """Return mean labels by accuracy: a row a threshold, a column a key, NaN where too few runs reached it."""
    own = where(touches, problem=name)
    grouped = own["labels"].where(own["labels"] >= 0).groupby([own["error"], own["key"]])
    table = grouped.mean().where(grouped.count() >= MOST_RUNS * grouped.size()).unstack("key").reindex(columns=KEYS)
    return table.sort_index(ascending=False)


@FIG_4_5.claim(
    "MNIST 0v1: the halving rule uses more labels than the coin, with one of the updates", at_least,
    "at most of the thresholds",
    "median over the thresholds that 95 % of the runs of both reached; where there is none, it fails", limit=1.0,
    open=True, needed=1
)  # fmt: skip
def _halving_over_coin(touches):
    table, samples = efficiency(touches, "MNIST 0v1"), {}
    for dkm, coin in RULES if len(table) else ():
        ratios = (table[dkm] / table[coin]).dropna()
        note = f"({int((ratios > 1.0).sum())} of {len(ratios)} thresholds above 1)"
        samples[f"{dkm} over {coin}:"] = Noted(ratios.median(), note)
    return samples


SLOWER = (
    "labels gained between the loosest and the tightest threshold that 95 % of the runs reached, with one of the "
    "updates; where there are no two with either, it fails"
)


@FIG_4_5.claim("{statement}", at_most, "{printed}", "{reason}", of={"statement printed reason limit needed names": (
    ("MNIST 0v1: as the error falls, the halving rule's labels increase much slower", "much slower", SLOWER, 0.5, None,
     ("MNIST 0v1",)),
    ("on some problems the halving rule's labels increase slower", "some of the plots",
     "labels gained, with one of the updates, on one problem", 1.0, 1, EFFICIENCY),
)})  # fmt: skip
def _slowest_gain(touches, names):
    """Labels gained from the loosest to the tightest threshold that 95 % of the runs reached, halving rule over coin.

    By problem, the smaller of those with either update; no number where none has two such thresholds between which
    the coin's labels grow.
    """
    samples = {}
    for name in (name for name in names if name in set(touches["problem"])):
        table, ratios, words = efficiency(touches, name), [], []
        for dkm, coin in RULES:
            pair = table[[dkm, coin]].dropna()
            gained = pair.iloc[-1] - pair.iloc[0] if len(pair) else {dkm: 0.0, coin: 0.0}
            ratios += [gained[dkm] / gained[coin]] if gained[coin] > 0 else []
            words.append(f"{dkm} {gained[dkm]:.0f}, {coin} {gained[coin]:.0f} over {len(pair)} thresholds")
        samples[f"{name}:"] = Noted(min(ratios, default=np.nan), f"({'; '.join(words)})")
    return samples


@FIG_4_5.picture("fig-4-5", x="test accuracy", y="labels asked for", y_scale="log")
def _labels_by_accuracy(touches):
    """Draw mean labels against accuracy, a panel a problem."""
    for name in present(EFFICIENCY, touches):
        rows = efficiency(touches, name).melt(var_name="group", value_name="y", ignore_index=False).dropna()
        yield name, rows.assign(x=1.0 - rows.index)


@FIG_4_6.claim(
    "MNIST 0v1 is the easiest of the four problems for every algorithm", at_most, "extremely separable",
    "mean test error at the end of the fold, over the least on another problem", limit=1.0
)  # fmt: skip
def _over_others(runs):
    finals = runs[runs["problem"].isin(CURVES)].pivot_table(index="problem", columns="key", values="final")
    if "MNIST 0v1" in finals.index:
        return dict((finals.loc["MNIST 0v1"] / finals.drop(index="MNIST 0v1").min())[list(KEYS)])
    return None


IMBALANCED = {"name": ("USPS 0vAll", "MNIST 0vAll")}


@FIG_4_6.claim(
    f"{{name}}: {BEST} gets to the test error with fewer labels than all others", smallest, "at a faster rate",
    "mean at the first touch, runs that never get there left out", of=IMBALANCED, name=BEST
)  # fmt: skip
def _first_touch(runs, name):
    own = where(runs, problem=name)
    reached, never = own[own["first"] >= 0], (own["first"] < 0).groupby(own["key"]).sum()
    labels = {key: where(reached, key=key)["first"] for key in KEYS}
    return {key: Noted(one, f"({never[key]} never)") for key, one in labels.items()} if len(reached) else None


def _beside(runs, name, column):
    """Return a column of the best algorithm and of two others on a problem, means of splits."""
    splits = where(runs, problem=name).pivot_table(index="split", columns="key", values=column)
    return {key: (splits[BEST], splits[key]) for key in ("dkm", "perceptron-ss") if len(splits)}


@FIG_4_6.claim(
    "{name}: then it asks for fewer labels than dkm and perceptron-ss, which continue", below,
    "not querying for any more labels", "labels in the second half of the fold, paired over splits", unit=" labels",
    of=IMBALANCED
)  # fmt: skip
def _late_labels(runs, name):
    return {f"than {key}": against(*pair) for key, pair in _beside(runs, name, "late").items()}


@FIG_4_6.claim(
    f"{{name}}: dkm and perceptron-ss eventually reach lower error than {BEST}", below, "lower error",
    "at the end of the fold, paired over splits", unit=" points", of=IMBALANCED
)  # fmt: skip
def _final_errors(runs, name):
    return {key: against(100 * theirs, 100 * ours) for key, (ours, theirs) in _beside(runs, name, "final").items()}


@FIG_4_6.picture("fig-4-6", x="labels asked for", y="test error", x_scale="log", y_scale="log")
def _error_by_labels(runs, curves):
    """Draw the mean test error by labels, ended runs at their last error; up to where half of the runs have ended."""
    one = ["split", "fold", "key", "labels"]
    for name in present(CURVES, runs):
        rows = where(runs, problem=name).merge(pd.DataFrame({"labels": LABELS}), how="cross")
        rows = rows.merge(where(curves, problem=name)[[*one, "error"]], how="left", on=one)
        goes_on = rows["spent"] >= rows["labels"]
        rows = rows.assign(y=rows["error"].where(goes_on, rows["final"]), goes_on=goes_on)
        means = rows.groupby(["key", "labels"], sort=False)[["y", "goes_on"]].mean().dropna().reset_index()
        yield name, means[means["goes_on"] >= 0.5].rename(columns={"key": "group", "labels": "x"})


for _experiment in (TABLE_4_1, FIG_4_5, FIG_4_6):
    _experiment.claims.append(wide_enough(inside_grids))
