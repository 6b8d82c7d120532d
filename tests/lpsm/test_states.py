"""A state finds its class, as arrays or as JSON text, and whatever it is goes on as it would have."""

import json
import re
import tracemalloc

import numpy as np
import pytest
from scipy import sparse

import lpsm
from lpsm import samplers, states
from lpsm.samplers import MulticlassSampler, TunedSampler, protocol
from tests.tables import cases_of, each, value_error

RNG = np.random.default_rng(0)
X = RNG.normal(size=(40, 3))
Y = np.where(X[:, 0] > 0, 1, -1)


@cases_of("rounds kept", "0, 8 ; 3, 8 ; 8, 8 ; 9, 16 ; 17, 24")
def test_of_the_updates_that_wait_those_that_came_are_kept_in_whole_blocks(rounds, kept):
    sampler = samplers.make("rls", 64)  # 32 may wait
    rows = np.random.default_rng(1).normal(size=(rounds, 64))
    sampler.run(rows, np.ones(rounds))
    assert sampler.state()["state_waiting"].shape == (kept, 64)


def test_any_generator_of_numpy_is_restored_where_it_stands():
    sampler = samplers.make("sop-ss", 3, b=0.1, rng=np.random.Generator(np.random.MT19937(5)))
    sampler.run(X[:20], Y[:20])
    restored = lpsm.from_state(lpsm.to_json(sampler.state()))
    assert [restored.decide(x) for x in X[20:]] == [sampler.decide(x) for x in X[20:]]


def test_json_keeps_every_bit_and_is_plain_json():
    state = lpsm.LearnAlpha(3, [0.0, 0.1]).state()
    state["odd"] = np.array([np.nan, np.inf, -np.inf, 5e-324, 0.1, -0.0])
    text = lpsm.to_json(state)
    json.loads(text, parse_constant=lambda word: pytest.fail(f"{word} is no JSON"))
    for name, array in states.from_json(text).items():
        assert array.dtype == np.asarray(state[name]).dtype
        np.testing.assert_array_equal(array, state[name])
        assert name != "odd" or np.signbit(array[-1])


def changed(model, **arrays):
    return {**model.state(), **arrays}


def config_of(model, **values):
    config = json.loads(str(model.state()["config"]))
    return np.array(json.dumps({**config, **values}))


def sampler_of(key, kernel=None, rows=X, **parameters):
    model = samplers.make(key, 3, kernel=kernel, rng=np.random.default_rng(0), **parameters)
    model.run(rows[:18], Y[:18])
    model.decide(rows[18])
    return model


def broken_states():
    """States of which every array is real, and which do not belong together."""
    primal, dual, full = (sampler_of("sop-ss"), sampler_of("ssmd", "rbf"),
        sampler_of("randomized-budget-perceptron", B=4))  # fmt: skip
    thin = sampler_of("ssmd", "linear", sparse.csr_matrix(X))
    for model in (primal, dual, full, thin):
        for name, array in model.state().items():
            if name.startswith("state_") and array.size:
                wrong = [array[:0], array.ravel()[:1], array.astype(object), array.astype(np.complex128)]
                for other in wrong + ([array * np.nan] if array.dtype.kind == "f" else []):
                    yield changed(model, **{name: other})
            elif name.startswith("open_") and array.size:
                yield changed(model, **{name: np.concatenate([array, array])})
        counts = model.state()["state_counts"]
        for place in range(len(counts)):
            yield changed(model, state_counts=np.where(np.arange(len(counts)) == place, -1, counts))
        yield changed(model, config=config_of(model, n_features=2))
        if model is not thin:  # which may have more features than it has seen
            yield changed(model, config=config_of(model, n_features=50_000))
        yield changed(model, config=config_of(model, dtype="float32"))
        yield changed(model, config=np.array("[" * 200_000))
        yield changed(model, config=np.array("x" * 2_000_000))
        yield changed(model, coins=np.array('{"bit_generator": "default_rng", "state": {}}'))
    for model, place in ((full, protocol.SIZE), (primal, protocol.PENDING)):
        yield changed(model, state_counts=np.where(np.arange(11) == place, 1 << 40, model.state()["state_counts"]))
    yield changed(full, config=config_of(full, learner=["BudgetPerceptron", {"B": 1 << 40}]))
    yield changed(thin, state_columns=thin.state()["state_columns"] + 1_000_000)
    asked = f"open_{thin.open_tickets[0]}_columns"
    yield changed(thin, **{asked: thin.state()[asked] + 1_000_000})
    yield changed(thin, state_lengths=thin.state()["state_lengths"] + 1_000_000)
    twister = samplers.make("sop-ss", 3, rng=np.random.Generator(np.random.MT19937(5)))
    yield changed(twister, coins=np.array(re.sub('"pos": [0-9]+', '"pos": 99999999', str(twister.state()["coins"]))))
    several, dual = MulticlassSampler("ss", 3, 4), MulticlassSampler("ss", 3, 4, kernel="rbf")
    yield changed(dual, state_labels=np.full(64, 4.0))
    yield changed(several, state_weights=np.zeros((4, 2)))
    yield changed(several, open_tickets=np.array([1]))
    tuned = TunedSampler("sop-ss", 3, "b", [0.1, 1.0])
    yield changed(tuned, grid=np.array([0.1, 1.0, 2.0]))
    yield changed(tuned, mixture_kind=np.array("TunedSampler"))
    yield changed(tuned, **{f"mixture_{name}": array for name, array in lpsm.LearnAlpha(3, [0.1]).state().items()})
    for learner in (lpsm.LearnAlpha(3, [0.0, 0.1]), lpsm.MarkovShare(np.full((3, 3), 1 / 3)), lpsm.Combiner(3)):
        yield changed(learner, n_experts=np.array(10**9))
        yield changed(learner, kind=np.array("x" * 2_000_000))
        for name, array in learner.state().items():
            wrong = [array[:0], np.ma.masked_array(array)] if array.ndim and array.size else []
            for other in wrong + ([array + np.inf] if wrong and array.dtype.kind == "f" else []):
                yield changed(learner, **{name: other})


def test_states_whose_parts_do_not_belong_together_are_refused_before_a_compiled_round_reads_them():
    states_tried = 0
    for state in broken_states():
        with value_error(r".{10}"):
            lpsm.from_state(state)
        states_tried += 1
    assert states_tried > 200


ROWS = np.random.default_rng(3).random((9, 3))
LEARNERS = re.split(
    "; |\n",
    """\
StaticExpert(3); FixedShare(3, 0.1, signed=True); MarkovShare(np.full((3, 3), 1 / 3)); VariableShare(3, 0.2)
LearnAlpha(3, [0.0, 0.1, 0.4, 1.0]); LearnAlpha(3, doubling=True); AdaHedge(3); Squint(3); NormalHedge(3)
Combiner(3, alphas=[0.0, 0.1]); Combiner(3, "log")""",
)


def made(text):
    return eval(text, {"np": np, "Combiner": lpsm.Combiner} | vars(lpsm.experts))


def played(learner, rows):
    return learner.run(rows, np.ones(len(rows)))[0] if isinstance(learner, lpsm.Combiner) else learner.run(rows).loss


@each("name", LEARNERS)
@cases_of("rounds", "0 ; 6")
def test_a_state_with_one_entry_edited_another_name_or_one_name_less_is_refused(name, rounds):
    learner = made(name)
    played(learner, ROWS[:rounds])
    whole = learner.state()
    edited = [{**whole, "more": np.zeros(3)}, {**whole, "version": np.array(99)}]
    edited += [{one: array for one, array in whole.items() if one != part} for part in whole if part != "kind"]
    for part in learner._arrays():
        places = [*np.ndindex(whole[part].shape)]
        for at in places[:: 1 + len(places) // 40]:
            other = whole[part].copy()
            other[at] = 7 - other[at]
            edited.append({**whole, part: other})
    for state in edited:
        with value_error("state must (hold|be of kind .* version 99)"):
            lpsm.from_state(state)
    assert len(edited) > 8


@cases_of("epoch", "(64, 0) ; (64, -1) ; (64, 65) ; (1 << 41, 1) ; (0, 1)")
def test_an_epoch_that_would_never_end_is_refused_whatever_the_digest_says(epoch):
    learner = lpsm.LearnAlpha(3, doubling=True)
    learner._epoch[:] = epoch
    with value_error("state must hold doubling"):
        lpsm.from_state(learner.state())
    learner._epoch[:] = longest = 1 << 40, 1
    assert (*lpsm.from_state(learner.state())._epoch,) == longest


def test_the_type_of_a_text_in_json_does_not_choose_how_much_memory_is_taken():
    text = lpsm.to_json(lpsm.StaticExpert(2).state()).replace('"<U12"', '"<U50000000"')
    assert len(text) < 1500
    tracemalloc.start()
    lpsm.from_state(text)
    most = tracemalloc.get_traced_memory()[1]
    tracemalloc.stop()
    assert most < 1_000_000
