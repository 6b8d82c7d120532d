"""The figures, tables and theorems of the five papers that no experiment is named after, and where each one stands.

What it models: a statement is held by a function of `lpsm.bounds` or `theorems`, or by an algorithm, with its tests, or
by an experiment that has another name; steps of proofs are listed although nothing here computes them.  Together with
the experiments these are all numbered figures, tables, theorems, lemmas, corollaries and claims of the papers.
What it leaves out: remarks and equations that neither a function nor an experiment computes.
"""

from collections.abc import Iterator
from typing import NamedTuple

from experiments.papers.claims import cases


class Statement(NamedTuple):
    """A figure, table or theorem that no experiment is named after: paper and place, and what it says, in a line.

    `code` are names below `lpsm` (``theorems.`` stands below `experiments.papers`, `netsim` for itself) and keys of
    samplers (those without a dot), with blanks between them; there is none for a step of a proof.  `test` is which file
    ``tests/lpsm/test_*.py`` holds the code to it, or ``theorems``, or with ``netsim_`` before it one of the simulator;
    `experiment` the one that runs it, and `misprint` the place of its misprint in ``docs/sampler-bounds.md``, if any.
    """

    name: str
    says: str
    code: str = ""
    test: str = ""
    experiment: str = ""
    misprint: str = ""

    @property
    def test_file(self) -> str:
        """The file of its test."""
        if self.test == "theorems":
            return "tests/experiments/papers/test_theorems.py"
        room, _, rest = self.test.partition("netsim_")
        return f"tests/netsim/test_{rest}.py" if rest else f"tests/lpsm/test_{room}.py"

    @property
    def where(self) -> str:
        """Where it stands: its code and test, the experiment, and a misprint."""
        names = [place_of(one) if "." in one else f'lpsm.samplers.make("{one}")' for one in self.code.split()]
        parts = [f"part of {self.experiment}"] if self.experiment else []
        parts += [f"{', '.join(names)}, which {self.test_file} holds to the paper"] if names else []
        held = ", and ".join(parts) or "a step of a proof, which nothing here computes"
        return held + (f"; misprinted ({self.misprint}, see docs/sampler-bounds.md)" if self.misprint else "")


def place_of(name: str) -> str:
    """Return the full name of a function."""
    room = name.partition(".")[0]
    return {"theorems": f"experiments.papers.{name}", "netsim": name}.get(room, f"lpsm.{name}")


# place: what it says | code | test | experiment | misprint, each as above or - for none; indented lines go on
_TABLE = """
worst-case/fig-1: the selective sampling Perceptron | perceptron-ss | samplers_oracles
worst-case/fig-2: the selective sampling second-order Perceptron | sop-ss | samplers_oracles
worst-case/theorem-1: expected mistakes and labels of the selective sampling Perceptron |
    bounds.perceptrons.selective_perceptron_mistakes | bounds_by_hand
worst-case/theorem-2: expected mistakes and labels of the selective sampling second-order Perceptron |
    bounds.second_order.selective_second_order_mistakes | bounds_by_hand | - | W Theorem 2, proof
worst-case/remark-1: both bounds at their best b | - | - | - | W (8), third term
worst-case/remark-2: both algorithms with a kernel, in dual form | perceptron-ss sop-ss | samplers_oracles
thesis/fig-2-1: an algorithm keeps a distribution over experts | experts.FixedShare | tracking
thesis/fig-2-2: the best expert as the hidden state of a Markov chain | experts.MarkovShare | tracking
thesis/fig-2-3: Learn-alpha: a hierarchy of experts and alpha-experts | experts.LearnAlpha | tracking
thesis/fig-2-4: the algorithm LPSM | netsim.policies.polling.PollingLearner | netsim_polling
thesis/lemma-1: the regret of Fixed-share as an identity | bounds.experts.regret_identity | bounds_experts
thesis/theorem-1: the regret of Fixed-share with the wrong switching rate | bounds.experts.fixed_share_regret
    bounds.experts.markov_share_regret | bounds_by_hand
thesis/corollary-1: the regret of Learn-alpha | bounds.experts.learn_alpha_regret
    bounds.experts.learn_alpha_optimised_regret | bounds_by_hand
thesis/theorem-2: a lower bound on the regret of Fixed-share | bounds.experts.fixed_share_regret_lower | bounds_experts
thesis/claim-1: the second derivative of the loss of Fixed-share in its switching rate | bounds.experts.curvature
    bounds.experts.relative_curvature | bounds_by_hand
thesis/fig-3-1: the error region in the plane of hypothesis and target, of which Lemma 3 speaks |
    theorems.perceptron_lemma_sine | theorems
thesis/lemma-2: the mass of a band around the equator of a sphere | - | - | - | T appendix B
thesis/lemma-3: how large an angle is where the Perceptron does not turn away from its target |
    theorems.perceptron_lemma_sine | theorems | thesis/theorem-3 | T Theorem 3
thesis/fig-3-2: the modified Perceptron | modified-perceptron | samplers_oracles
thesis/lemma-4: how much an update of the modified Perceptron gains | - | - | - | T Lemma 4
thesis/theorem-4: mistakes of the modified Perceptron until its error is small | - | - | thesis/theorems-4-5 |
    T Theorem 4, proof
thesis/fig-3-3: labels are asked for in a band around the hypothesis | dkm | samplers_oracles
thesis/fig-3-4: the active modified Perceptron | dkm | samplers_oracles | - | T figure 3-4, to the letter
thesis/lemma-5: the threshold stays large enough
thesis/lemma-6: the share of errors in a band
thesis/lemma-7: the share of errors that are asked about
thesis/lemma-8: the share of updates that are good
thesis/theorem-5: labels, errors and stream length of the active modified Perceptron | - | - | thesis/theorems-4-5
thesis/theorem-6: DKM's hypothesis can err where the labels are certain | - | - | thesis/counterexample-4-3
thesis/fig-4-1: the three points that take DKM out of its version space | - | - | thesis/counterexample-4-3
thesis/fig-4-2: the region of certain labels that the third hypothesis errs in | - | - | thesis/counterexample-4-3
thesis/corollary-2: DKM's hypothesis can err on an example that it has learned from | - | - |
    thesis/counterexample-4-3
thesis/lemma-9: an error outside the uncertainty region puts a hypothesis out of the version space
thesis/lemma-10: its converse need not hold (up to sets of measure zero) | - | - | - | T Lemma 10
thesis/lemma-11: the target region need not lie in the version space
thesis/lemma-12: the version space need not lie in the target region
thesis/lemma-13: Lemma 6 for instances that are lambda-similar to uniform
thesis/lemma-14: Lemma 5 for these
thesis/lemma-15: Lemma 7 for these | - | - | - | T Lemma 15
thesis/lemma-16: Lemma 4 for these
thesis/fig-4-3: DKM with the patience R | dkm | samplers_oracles
thesis/fig-4-4: CBGZ with b and a learning rate | perceptron-ss | samplers_oracles
rls/equation-1: ridge regression on the labels | ridge | samplers_oracles
rls/theorem-1: mistakes of the second-order Perceptron, and their limit for a large regulariser |
    bounds.second_order.second_order_mistakes | bounds_by_hand | - | R (4) and the limit before it
rls/equation-4: the trace of the correlation matrix | - | - | - | R (4) and the limit before it
rls/equation-6: the risk of the hypothesis that is picked | theorems.selected_risk theorems.penalised_hypothesis |
    theorems |
    rls/risk-bound
rls/equation-7: forward ridge regression | rls | samplers_oracles
rls/theorem-2: expected mistakes beyond those of Bayes, for labels with linear means
rls/theorem-3: expected mistakes of the label-efficient second-order Perceptron |
    bounds.second_order.label_efficient_mistakes | bounds_by_hand
adaptive/fig-1: the selective sampler SS | ss | samplers_oracles
adaptive/fig-2: the filter | filter | samplers_oracles
adaptive/fig-11: least squares with all labels | rls-all | samplers_oracles
adaptive/fig-12: the adaptive sampler | adaptive-sampler | samplers_oracles
adaptive/remark-4: the bound of Theorem 1 in the spectrum of the process | theorems.supervised_regret_of_spectrum |
    theorems
adaptive/remark-9: the adaptive sampler that stores mistakes alone (mistake_driven) | adaptive-sampler |
    samplers_oracles
adaptive/lemma-1: regret is bounded by that of the square loss
adaptive/lemma-2: regret is bounded by errors beyond a margin
adaptive/lemma-3: the smallest eigenvalue of a sample | - | - | - | A 5
adaptive/lemma-4: what the adaptive sampler stores is distributed as the stream | adaptive-sampler | theorems
adaptive/lemma-5: what comes after a stopping time is independent of what came before; Lemma 4 rests on it |
    adaptive-sampler | theorems
drift/table-1: second-order algorithms with all labels, against a fixed or a drifting target | sop lasec |
    samplers_oracles
drift/table-2: selective sampling of second order, against a fixed or a drifting target | sop-ss lasec-ss |
    samplers_oracles
drift/fig-1: LASEC and LASEC-SS | lasec lasec-ss | samplers_oracles
drift/lemma-1: the minimum of the objective by recursion
drift/theorem-2: mistakes of LASEC | bounds.drift.drift_mistakes | bounds_by_hand
drift/theorem-4: expected mistakes and labels of LASEC-SS | bounds.drift.selective_drift_mistakes | bounds_by_hand
drift/remark-3: without drift, and with c infinite, LASEC is the second-order Perceptron | sop lasec | samplers_limits
drift/remark-6: the same of LASEC-SS and the label-efficient second-order Perceptron | sop-label-efficient lasec-ss |
    samplers_limits
drift/lemma-7: a quadratic inequality solved for the mistakes
drift/corollary-8: mistakes of LASEC at the best b and c | - | - | - | D Corollary 8, proof
drift/corollary-9: expected mistakes of LASEC-SS at the best b and c
"""


def _read(table: str) -> Iterator[Statement]:
    for stated, *more in cases(table):
        name, _, says = stated.partition(": ")
        yield Statement(name, says, *("" if cell == "-" else cell for cell in more))


STATEMENTS = tuple(_read(_TABLE))
