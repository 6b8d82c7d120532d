"""Figures 3 to 10 of Cavallanti, Cesa-Bianchi and Gentile 2010: selective samplers and filters on news.

What it models: section 3.1.  SS, SSNCI, SSMD and SSNL over a grid of K, SOLE over C (the paper's b), DKMPERC over R,
and the Perceptrons with all labels; the regulariser is 1 throughout.  F-measure is over the whole stream, or over
the last 2,000 stories where a figure is one over time.  K scales with the corpus, so that its values are not the
paper's.  Where K is to be "properly chosen" it is chosen on the other half of the topics: the cheapest that matches, or
the best that surpasses.  In figure 6 three samplers (a) ask for about 5 % of the labels each, (b) have the same
F-measure in the end, the largest that the worst of them can reach.  Figures 7 and 8 take every topic of at least 20
stories, with the norm of the weights of a soft-margin SVM as its difficulty; K is fixed in advance at .003.
Figures 9 and 10 (section 3.2), on the topics that 1 to 5 % of the stories have: filters, which see the labels of what
they forward; recall and precision are of that.  In apple tasting (FFOAT, FSOAT) the probability of forcing a positive
prediction follows the classifier's own false positives; counting those that were forced as well makes it forward nearly
everything, and is run beside it.  For recall K is tuned anew beside each other filter, for a precision as high.
What it leaves out: costs of forwarding, and running times, for which the number of stored examples stands.
"""

from functools import partial

import numpy as np
import pandas as pd
from scipy.stats import spearmanr

from experiments.papers import news
from experiments.papers.claims import Claim, Noted, against, named, where, wide
from experiments.papers.kit import Experiment
from experiments.papers.news import ALL_LABELS, NAMES, SAME, at_rate, at_rates, chosen, grid, mean_by_value, of, paired
from experiments.papers.predicates import above, at_least, at_most, below, between, both, each, rising, wide_enough

K = (0.003, 0.01, 0.03, 0.1, 0.3, 1.0, 3.0, 10.0)
LOW = (0.025, 0.05, 0.075, 0.1)  # the range of label rates the paper looks at
MIDDLE = 0.05
THREE = SSMD, SOLE, DKMPERC = "ssmd", "sop-label-efficient", "dkm-perceptron"
RIVALS = ("ss", "ssnl", SOLE, DKMPERC)
SAMPLERS = [
    grid("ss", "K", (*K, 25.0)), grid("ssnci", "K", K),
    grid(SSMD, "K", (0.0001, 0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)), grid("ssnl", "K", K),
    grid(SOLE, "C", (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1, 0.3)), grid(DKMPERC, "R", (2, 4, 8, 16, 32, 64, 128, 256)),
]  # fmt: skip
OVER_TIME = {"f": "F-measure", "rate": "share of labels asked for"}
CHOSEN = "K chosen on the other half of the topics"
BETWEEN = "interpolated between values of K at equal label rates"
FIG_3 = Experiment(
    "adaptive/fig-3", "SS, SSNCI and SSMD over time, several K", "6 min", news.NEWS, run=news.run_cases,
    sweep=news.sweep((*ALL_LABELS, *(case for cases in SAMPLERS for case in cases))),
)  # fmt: skip
_view = partial(FIG_3.view, time="as long as fig-3, whose runs it takes where they are")
FIG_4 = _view("adaptive/fig-4", "SSNL, which asks for the next label, over time")
FIG_5 = _view("adaptive/fig-5", "F-measure against labels: SS, SSMD, SSNL, SOLE, DKMPERC")
FIG_6 = _view("adaptive/fig-6", "SSMD, SOLE and DKMPERC over time: at 5 % of the labels, and at equal final F")


def _values(record, key):
    """Return the values of the parameter that a sampler was run with."""
    return sorted(set(where(record["totals"], key=key)["value"]))


CHEAPEST = {key: chosen(key, news.cheapest_near("sop")) for key in ("ss", SSMD)}
BEST = {key: chosen(key, news.most_f(), one_out=True) for key in CHEAPEST}
for _key, _cheapest in CHEAPEST.items():
    FIG_3.claims += [
        Claim(f"{NAMES[_key]} with a properly chosen K matches SOP with a fraction of the labels",
              both(at_least(paired("f", _cheapest, of("sop")), -SAME),
                   at_most(lambda record, rows=_cheapest: {"labels": 100 * rows(record)["rate"]}, 25.0,
                           unit=" %")),
              "match", f"the fewest labels whose F is within .01; {CHOSEN}"),
        Claim(f"{NAMES[_key]} with a properly chosen K surpasses PERC",
              above(paired("f", BEST[_key], of("perceptron"))), "surpass", "the best K on all other topics"),
    ]  # fmt: skip


@FIG_3.claim("SS is slightly more effective than SSNCI for the same K", above, "slightly")
def _for_the_same_k(record):
    scores = news.scored(record)
    ss, ssnci = (wide(scores, "f", "value", "rank", key=key) for key in ("ss", "ssnci"))
    by_k = (ss - ssnci).dropna(axis=1, how="all")
    words = ", ".join(f"{difference:+.3f} at K = {k:g}" for k, difference in by_k.mean().items())
    return Noted(by_k.mean(axis=1), f"({words})")


FIG_3.claim(
    "at similar label rates the F-measures of SS and SSNCI overlap", between, "tend to overlap",
    "each rate that both reach", low=-SAME, high=SAME,
)(at_rates("f", "ss", "ssnci", LOW))  # fmt: skip


@FIG_3.claim("SSMD queries many more labels than SS for the same K", at_least, "many more", limit=2, unit=" times")
def _labels_for_the_same_k(record):
    ss, ssmd = (mean_by_value(record, key)["rate"] for key in ("ss", SSMD))
    return {f"at K = {k:g}": times for k, times in (ssmd / ss).dropna().items()}


FIG_3.claims.append(wide_enough(named({"fewest labels": news.inside(CHEAPEST), "best F": news.inside(BEST)})))

SPARING = {"ssnl": chosen("ssnl", news.most_f(LOW[-1]))}
FIG_4.claim(
    "SSNL's performance is less than ideal: it does not match SOP", at_most, "less than ideal",
    f"the best K with at most a tenth of the labels, those that figure 5 shows; {CHOSEN}", limit=-SAME, open=True,
)(paired("f", SPARING["ssnl"], of("sop")))  # fmt: skip
FIG_4.claim(
    "SS exploits informative instances, SSNL does not: SS is better at equal label rates", above, "makes evident",
    BETWEEN,
)(at_rates("f", "ss", "ssnl", (0.02, 0.03, 0.05)))  # fmt: skip
FIG_4.claims.append(wide_enough(news.inside(SPARING)))
_both_keys = [{"key": key, "name": NAMES[key]} for key in ("ss", SSMD)]


@FIG_5.claim(
    "{name} converges quickly to the F-measure of SOP", at_least, "quickly",
    "at 10 % of the labels or the most it asks for", of=_both_keys, limit=-SAME,
)  # fmt: skip
def _near_all_labels(record, key):
    largest = float(mean_by_value(record, key)["rate"].max())
    return paired("f", at_rate(key, min(LOW[-1], largest * (1 - 1e-9))), of("sop"))(record)


@FIG_5.claim(
    "from some number of labels on, the F-measure of {name} grows at a much reduced rate", at_most,
    "stop increasing, or much reduced",
    "F gained by a point of labels above 5 % less a third of what one below gains", of=_both_keys, limit=0.0,
)  # fmt: skip
def _growth(record, key):
    table = mean_by_value(record, key).sort_values("rate")
    rates, f = 100 * table["rate"].to_numpy(), table["f"].to_numpy()
    if not rates[0] < 100 * MIDDLE < rates[-1]:
        return None
    at = float(np.interp(np.log(100 * MIDDLE), np.log(rates), f))
    before, beyond = (at - f[0]) / (100 * MIDDLE - rates[0]), (f[-1] - at) / (rates[-1] - 100 * MIDDLE)
    return beyond - before / 3


@FIG_5.claim(
    "below 10 % of the labels SSMD outperforms all other algorithms", above, "all other", BETWEEN, needed=len(LOW)
)
def _against_best_other(record):
    scores, samples = news.scored(record), {}
    for rate in LOW:
        ours = at_rate(SSMD, rate)(scores)
        rivals = {key: rows for key in RIVALS if len(rows := at_rate(key, rate)(scores))}
        if len(ours) and rivals:
            best = max(rivals, key=lambda key: float(rivals[key]["f"].mean()))
            samples[f"at {100 * rate:g} %, over {NAMES[best]}:"] = against(ours["f"], rivals[best]["f"])
    return samples


FIG_5.claim("SSNL converges more slowly than SSMD", above, "much slower", BETWEEN)(at_rates("f", SSMD, "ssnl", LOW))
FIG_5.claim("SSNL outperforms DKMPERC", above, "evinced", BETWEEN)(at_rates("f", "ssnl", DKMPERC, LOW))


@FIG_5.claim("DKMPERC converges more slowly than SSMD", above, "much slower", f"mean over four label rates; {BETWEEN}")
def _over_dkm(record):
    by_rate = at_rates("f", SSMD, DKMPERC, LOW)(record)
    words = ", ".join(f"{one.sample.mean():+.3f} {name}" for name, one in by_rate.items())
    return Noted(pd.DataFrame({name: one.sample for name, one in by_rate.items()}).mean(axis=1), f"({words})")


FIG_5.claim(
    "SSMD is much faster than SS and SSNL", above, "much faster",
    "examples stored more at 5 % of the labels, which decide the time",
)(named({f"than {key}": at_rates("stored", key, SSMD, (MIDDLE,)) for key in ("ss", "ssnl")}))  # fmt: skip


def _over_time(record, key):
    """Draw a sampler at every second K of its grid beside both Perceptrons with all labels."""
    groups = [(f"{NAMES[key]}, K = {value:g}", key, value) for value in _values(record, key)[::2]]
    return news.curves(record, [*groups, *((NAMES[one], one, None) for one in ("perceptron", "sop"))], OVER_TIME)


for _name, _key in {"fig-3-ss": "ss", "fig-3-ssnci": "ssnci", "fig-3-ssmd": SSMD, "fig-4": "ssnl"}.items():
    (FIG_4 if _key == "ssnl" else FIG_3).picture(_name)(lambda record, key=_key: _over_time(record, key))


@FIG_5.picture("fig-5", x="labels asked for, %", y="F-measure, mean over topics", x_scale="log")
def _trade_offs(record):
    yield "selective samplers", news.trade_off(record, ("ss", SSMD, "ssnl"), ("sop",))
    yield "against others", news.trade_off(record, THREE, ("sop",))


AT_FIVE = {key: chosen(key, news.rate_near(MIDDLE)) for key in THREE}
FIVE = "parameters chosen on the other half of the topics for 5 % of the labels"
EQUAL = "the fewest labels within .01 of the F that the worst of the three can reach, chosen on other topics"


def _finals(record):
    """Return F of the last window beside the label rate of the whole stream."""
    windows = news.scored(record, "windows")
    final = windows[windows["t"] == windows["t"].max()].drop(columns=["queried", "rate"])
    return final.merge(news.scored(record)[["rank", "key", "value", "rate"]], on=["rank", "key", "value"])


def _cheapest_in_reach(table, others):
    """Take the fewest labels that come within .01 of the largest F that the worst of the three can reach."""
    reach = min(mean_by_value(others, key)["f"].max() for key in THREE)
    return table.loc[table["f"] >= reach - news.NEAR, "rate"].idxmin()


AT_EQUAL_F = {key: lambda record, key=key: chosen(key, _cheapest_in_reach)(_finals(record)) for key in THREE}


def _profile(record, at, column, key):
    """Return a column of a sampler, of windows that do not overlap: a row a topic, a column a window."""
    return news.by_window(record, column, at[key](record)).iloc[:, ::4]


def _by_window(table):
    return f"(by window {', '.join(f'{value:.3g}' for value in table.mean())})"


FIG_6.claim("(a) all ask for around 5 % of the labels", between, "around 5.0 %", FIVE, low=2.5, high=10.0, unit=" %")(
    lambda record: {NAMES[key]: 100 * select(record)["rate"] for key, select in AT_FIVE.items()}
)


@FIG_6.claim(
    "(a) SSMD learns most on the first part of the data", at_least, "most",
    f"the best window of the first half, over the last; {FIVE}", limit=0.5, open=True,
)  # fmt: skip
def _early_share(record):
    table = _profile(record, AT_FIVE, "f", SSMD)
    mean = table.mean()
    return Noted(mean.iloc[: max(1, len(mean) // 2)].max() / mean.iloc[-1], _by_window(table))


@FIG_6.claim(
    "(a) SSMD has the most effective learning phase", above, "shortest and most effective",
    f"mean F of the first two windows, less that of the better other; {FIVE}",
)  # fmt: skip
def _first_two_windows(record):
    first = {key: _profile(record, AT_FIVE, "f", key).iloc[:, :2].mean(axis=1) for key in THREE}
    rival = max(THREE[1:], key=lambda key: float(first[key].mean()))
    return {f"over {NAMES[rival]}": against(first[SSMD], first[rival])}


def _from_the_middle_on(record, column):
    """What the last window has more than that in the middle."""
    table = _profile(record, AT_FIVE, column, SSMD)
    return {column: Noted(table.iloc[:, -1] - table.iloc[:, len(table.columns) // 2], _by_window(table))}


def _first_window(record):
    """Label rate of the first window over that of all, of the two that ask more at first."""
    rates = {key: 100 * _profile(record, AT_FIVE, "rate", key) for key in (SSMD, DKMPERC)}
    return {NAMES[key]: Noted(own.mean().iloc[0] / own.mean().mean(), _by_window(own)) for key, own in rates.items()}


def _every_window(record):
    """Label rates of SOLE's windows over their mean."""
    rates = _profile(record, AT_FIVE, "rate", SOLE).mean()
    return {NAMES[SOLE]: rates / rates.mean()}


FIG_6.claims += [
    Claim("(a) SSMD is unaffected by observing progressively fewer labels",
          both(at_least(partial(_from_the_middle_on, column="f"), -SAME),
               at_most(partial(_from_the_middle_on, column="rate"), 0.0, open=True)),
          "essentially unaffected", f"last window less that in the middle; {FIVE}"),
    Claim("(a) SSMD and DKMPERC ask more on the first documents, SOLE always as much",
          both(at_least(_first_window, 1.5), each(_every_window, 0.5, 2.0)),
          "fixed number", f"label rates over the mean of all windows; {FIVE}"),
]  # fmt: skip


@FIG_6.claim(
    "(b) {name} then asks for fewer labels than DKMPERC", below, "smaller", EQUAL, unit=" points",
    of=[{"key": key, "name": NAMES[key]} for key in THREE[:2]],
)  # fmt: skip
def _labels_less_dkm(record, key):
    return against(*(100 * AT_EQUAL_F[one](record)["rate"] for one in (key, DKMPERC)))


@FIG_6.claim("(b) SSMD asks slightly more in the initial phase than SOLE", above, "slightly more", EQUAL)
def _first_share(record):
    tables = [_profile(record, AT_EQUAL_F, "rate", key) for key in THREE[:2]]
    return against(*(table.iloc[:, 0] / table.sum(axis=1) for table in tables))


def _of_dkm(record, change=False):
    table = 100 * _profile(record, AT_EQUAL_F, "rate", DKMPERC)
    first, last = table.mean().iloc[[0, -1]]
    return {"last less first": last - first} if change else {"first": Noted(first, _by_window(table))}


FIG_6.claims += [
    Claim("(b) DKMPERC asks for almost all labels at first and then slowly fewer",
          both(at_least(_of_dkm, 80.0, unit=" %"),
               at_most(partial(_of_dkm, change=True), 0.0, open=True, unit=" points")),
          "almost all", EQUAL),
    wide_enough(news.inside(AT_FIVE)),
]  # fmt: skip


def _draw_6(record, at):
    taken = pd.concat(select(record).reset_index()[["rank", "key", "value"]] for select in at.values())
    windows = record["windows"].merge(taken, on=["rank", "key", "value"])
    return news.curves({"windows": windows}, [(NAMES[key], key, None) for key in THREE], OVER_TIME)


FIG_6.picture("fig-6-a")(lambda record: _draw_6(record, AT_FIVE))
FIG_6.picture("fig-6-b")(lambda record: _draw_6(record, AT_EQUAL_F))

AT = 0.003


def with_difficulty(task):
    """Run the samplers over a topic, and a support vector machine for the norm of its weights."""
    from sklearn.svm import SVC  # slow to import, and needed here alone

    X, y, named = news.question(task)
    machine = SVC(C=1.0, kernel="linear").fit(X, y)
    weights = machine.coef_.toarray() if hasattr(machine.coef_, "toarray") else machine.coef_
    return {**news.run_cases(task), "norms": [{**named, "norm": float(np.linalg.norm(weights))}]}


CASES = (*grid(SSMD, "K", (AT,)), *ALL_LABELS[:1])
FIG_7 = Experiment(
    "adaptive/fig-7", "stored examples against the difficulty of each topic", "2 min", news.NEWS, run=with_difficulty,
    sweep=news.sweep(CASES, topics=news.ABOVE_20, smoke_topics=10),
)  # fmt: skip
FIG_8 = FIG_7.view(
    "adaptive/fig-8", "F-measure and label rate of each topic against its frequency",
    "as long as fig-7, whose runs it takes where they are",
)  # fmt: skip


def _by_topic(record):
    return of(SSMD, AT)(record).join(record["norms"].set_index("rank")["norm"])


def _spearman(record, one, other):
    rows = _by_topic(record)[[one, other]].dropna()
    return spearmanr(rows[one], rows[other])


def _correlated(test, one, other, limit):
    """Ask for a rank correlation beyond a limit that is not by chance."""
    p_value = at_most(lambda record: {"p": _spearman(record, one, other).pvalue}, 0.01, open=True)
    return both(test(lambda record: {"rho": _spearman(record, one, other).statistic}, limit, open=True), p_value)


FIG_7.claims.append(
    Claim("SSMD stores more on topics that are more difficult", _correlated(at_least, "stored", "norm", 0.5), "clearly",
          "rank correlation over topics with the norm of the SVM")
)  # fmt: skip


@FIG_7.claim(
    "topics of nearly the same norm are stored alike even if their positives are not as many", at_most, "similar",
    "norms within 10 %, positives twofold apart; median factor between stored", limit=1.25,
)  # fmt: skip
def _factor_between_alike(record):
    rows = _by_topic(record)
    one, other = np.triu_indices(len(rows), 1)
    factor = {
        name: np.exp(np.abs(np.log(values[one]) - np.log(values[other])))
        for name in ("norm", "positive", "stored") for values in [rows[name].to_numpy(dtype=float)]
    }  # fmt: skip
    alike = (factor["norm"] <= np.exp(0.1)) & (factor["positive"] >= 2.0)
    if not alike.any():
        return None
    return Noted(np.median(factor["stored"][alike]), f"({alike.sum()} pairs)")


FIG_8.claims += [
    Claim("the F-measure is fairly independent of the number of positive examples",
          between(lambda record: _spearman(record, "f", "positive").statistic, -0.3, 0.3), "fairly independent",
          "rank correlation over topics"),
    Claim("this costs more and more labels: SSMD asks for a larger fraction on infrequent topics",
          _correlated(at_most, "rate", "positive", 0.0), "many more labels", "rank correlation over topics"),
]  # fmt: skip


def _points(x, y):
    return pd.DataFrame({"group": f"a topic; SSMD, K = {AT:g}", "x": x, "y": y, "points": True})


@FIG_7.picture("fig-7", x="topics, the most frequent first", y="", share_y=False)
def _by_rank(record):
    rows = _by_topic(record).sort_values("positive", ascending=False)
    for column, title in (("stored", "stored examples"), ("norm", "norm of the SVM")):
        yield title, _points(np.arange(1, len(rows) + 1), rows[column])


@FIG_8.picture("fig-8", x="positive examples", y="", x_scale="log", share_y=False)
def _by_frequency(record):
    rows = _by_topic(record)
    for column, title in (("f", "F-measure"), ("rate", "share of labels asked for")):
        yield title, _points(rows["positive"], rows[column])


COINS = 10
FILTER = grid("filter", "K", (0.001, 0.003, 0.01, 0.1, 1.0, 5.0, 10.0))
TASTING = tuple(case for key in ("ffoat", "fsoat") for case in grid(key, "count_forced", (False, True), COINS))
C = (0.0003, 0.001, 0.003, 0.01, 0.03, 0.1)
EFFICIENT = tuple(case for key in ("ffole", "fsole") for case in grid(key, "C", C, COINS))
FORWARDED = {"recall": "recall", "precision": "precision"}
TUNED = {key: chosen(key, news.most_f()) for key in ("filter", "ffole", "fsole")}
PICKS = {**dict.fromkeys(("ffole", "fsole"), news.most_f()), **dict.fromkeys(("ffoat", "fsoat"), lambda *_: 0.0)}
OTHERS = {key: chosen(key, pick) for key, pick in PICKS.items()}
FIG_9 = Experiment(
    "adaptive/fig-9", "recall and precision of the filter over time, several K", "2 min", news.NEWS, run=news.run_cases,
    sweep=news.sweep((*ALL_LABELS[:1], *FILTER, *TASTING, *EFFICIENT), topics=news.FROM_1_TO_5),
)  # fmt: skip
FIG_10 = FIG_9.view(
    "adaptive/fig-10", "the filter beside apple tasting and label-efficient filters",
    "as long as fig-9, whose runs it takes where they are",
)  # fmt: skip


@FIG_9.claim(
    "the recall does not considerably change throughout a run", between, "not considerably",
    "last window less the first that is not the start, every K", low=-0.1, high=0.1,
)  # fmt: skip
def _change_of_recall(record):
    samples = {}
    for value in _values(record, "filter"):
        table = news.by_window(record, "recall", of("filter", value)(record))
        second, last = table.iloc[:, min(news.WINDOW // news.STEP, table.shape[1] - 2)], table.iloc[:, -1]
        samples[f"K = {value:g}"] = against(last, second)
    return samples


FIG_9.claim("the larger K, the fewer false negatives: recall grows with K", rising, "higher recall")(
    lambda record: {f"K = {k:g}": recall for k, recall in mean_by_value(record, "filter")["recall"].items()}
)


def _false_to_true(record, low=0.0, high=np.inf):
    """False positives to a true one, sums over topics, at the K from `low` up to `high`."""
    table = mean_by_value(record, "filter").sort_index()
    times = (table["predicted"] - table["tp"]) / table["tp"]
    return {f"K = {k:g}": value for k, value in times.items() if low <= k <= high}


FIG_9.claims.append(
    Claim("as K grows beyond some value false positives outnumber true positives",
          both(rising(_false_to_true, ends=True), each(partial(_false_to_true, high=0.001), high=1.0),
               each(partial(_false_to_true, low=10.0), 1.0, open=True)),
          "beyond 5", "false positives to a true one, sums over topics: they rise with K, through 1; K scales")
)  # fmt: skip

FIG_9.claim("the precision of SOP is then not matched", above, "prevents", "at the largest K")(
    paired("precision", of("sop"), of("filter", FILTER[-1][1]["K"]))
)


@FIG_9.picture("fig-9")
def _draw_9(record):
    groups = [(f"FILTER, K = {value:g}", "filter", value) for value in _values(record, "filter")]
    return news.curves(record, [*groups, (NAMES["sop"], "sop", None)], FORWARDED)


def _as_precise(rival):
    """Take the K of most recall of those as precise on the mean as another filter, or else the most precise one."""

    def pick(table, others):
        means = mean_by_value(others, rival)
        good = table[table["precision"] >= means["precision"][PICKS[rival](means, others)]]
        return float(good["recall"].idxmax() if len(good) else table["precision"].idxmax())

    return pick


_recalls = {NAMES[key]: paired("recall", chosen("filter", _as_precise(key)), own) for key, own in OTHERS.items()}
FIG_10.claim(
    "the filter's recall is much higher than that of the four others", above, "much higher",
    "each of the four, at the K that is as precise on the other half of the topics",
)(named(_recalls))  # fmt: skip


@FIG_10.claim("its precision improves considerably as documents come", above, "considerably", "last window less first")
def _change_of_precision(record):
    table = news.by_window(record, "precision", TUNED["filter"](record))
    return against(table.iloc[:, -1], table.iloc[:, 0])


FIG_10.claim(
    "the filter is by far superior", above, "by far",
    "F-measure: each of the four; parameters tuned for F on the other half of the topics",
)(named({NAMES[key]: paired("f", TUNED["filter"], other) for key, other in OTHERS.items()}))  # fmt: skip
FIG_10.claims.append(wide_enough(news.inside(TUNED)))


@FIG_10.picture("fig-10")
def _draw_10(record):
    groups = [(NAMES[key], key, float(pick(record)["value"].mode().iloc[0])) for key, pick in (TUNED | OTHERS).items()]
    return news.curves({"windows": record["windows"].fillna({"value": 0.0})}, groups, FORWARDED)
