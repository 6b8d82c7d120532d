"""Builds the record that the compiled loop works on: learners, rule, room for notes, and what is drawn beforehand.

What it leaves out: the record itself and the loop (`core`), and who fills in rows and labels (`sampler`).
"""

from __future__ import annotations

from collections.abc import Callable
from copy import deepcopy
from typing import TYPE_CHECKING, Any

import numpy as np

from lpsm.arrays import Array
from lpsm.samplers import core, kernels, rules
from lpsm.samplers.core import Desk
from lpsm.samplers.perceptrons import memory_of

if TYPE_CHECKING:
    from lpsm.samplers.sampler import Sampler


def prepared(sampler: Sampler, copies: tuple[Sampler, ...]) -> Desk:
    """Return what single rounds need."""
    rule = sampler.rule
    for one in {*copies, sampler}:
        if not one._counts.flags.writeable:  # it was read from a file that is mapped into memory
            one._counts, one._scalars = one._counts.copy(), one._scalars.copy()
            if "_learner" in vars(one):
                one._learner = kernels.changed(one._learner, lambda _, array: array.copy())
    m, held = len(copies), getattr(copies[0]._learner, "held", None)
    alone = {"company": np.zeros(1, dtype=np.int64), "consult": 0, "settle": 0}
    of_kernel = (np.zeros(1), 0, False) if held is None else (held.kernel, held.similarity, held.given)
    desk = Desk(
        **{"size": m, **alone, **sampler._company(), **learned(sampler, copies)},
        **dict(zip(("kernel", "similarity", "given"), of_kernel, strict=True)),
        inside=inside(copies), buys_first=bool(getattr(copies[0]._learner, "buys_first", False)),
        by_length=held is not None, rule=np.array([one.rule.numbers() for one in copies]),
        **{name: core.code_of(getattr(rule, name)) for name in ("chance", "grants", "answers")},
        needs_spread=rule.needs_spread, filters=rule.filters, stores_all=sampler.stores == "queried",
        hinge=sampler.stores == "small margins", normalize=sampler.normalize, label=np.zeros(1), coin=np.zeros(1),
        evictions=np.zeros((0, 0)), gone=np.zeros(m, dtype=np.int64),
        schedules=np.zeros((2 * m if isinstance(rule, rules.AdaptiveSampler) else 0, 1)),
        log=np.zeros((core.N_LOG, 0)), scores=np.zeros((1, sampler.n_classes)),
        told=np.zeros((m + (copies != (sampler,)), core.N_SAID)), orders=np.zeros(8, dtype=np.int64),
        scratch=np.zeros(sampler.n_features, dtype=sampler.dtype),
    )  # fmt: skip
    if copies[0]._evictions is not None:
        desk = desk._replace(evictions=np.zeros((m, 1)))
    return desk


def learned(sampler: Sampler, copies: tuple[Sampler, ...]) -> dict[str, Any]:
    """Where the learners are, and what there is room for, on the desk."""
    at, entries = core.pinned(*(one._learner for one in copies))
    limits = np.full((len(copies) + 1, 5), float(core.UNLIMITED))
    for own, learner in zip(limits, (one._learner for one in copies), strict=False):
        own[:2] = getattr(learner, "ridge", 0.0), getattr(learner, "drift", 0.0)
        if (memory := memory_of(learner)) is not None:
            own[core.WIDTH] = memory.rows.shape[1]
            if not getattr(learner, "bounded", True):
                own[core.CAPACITY] = len(memory.labels)
    if sampler.max_queries is not None:
        limits[0 if copies[0] is sampler else -1, core.MOST] = sampler.max_queries
    return {"at": at, **dict(zip(core.ENTRIES[:4], entries, strict=False)), "limits": limits}


def evictions(copies: tuple[Sampler, ...], n: int) -> tuple[Array, Callable[[], None]]:
    """Return n uniforms for evictions of each copy, and what takes from the generators those that were used."""
    own = [(one, one._evictions, int(one._counts[core.EVICTED])) for one in copies if one._evictions]

    def used() -> None:
        for one, rng, before in own:
            rng.random(int(one._counts[core.EVICTED]) - before)

    return np.array([deepcopy(rng).random(n) for _, rng, _ in own]).reshape(len(own), n), used


def schedules(sampler: Sampler, copies: tuple[Sampler, ...], rounds: int) -> Array:
    """Return floors of all copies, then biases, in the rounds to come; (0, T) where there are none."""
    if not isinstance(sampler.rule, rules.AdaptiveSampler):
        return np.zeros((0, rounds))
    at, d = range(sampler.rounds + 1, sampler.rounds + rounds + 1), sampler.n_features
    each = np.array([[one.rule.schedule(d, t) for t in at] for one in copies])
    by_round = each.reshape(len(each), rounds, 2).transpose(2, 0, 1)
    return np.ascontiguousarray(by_round).reshape(2 * len(each), rounds)


def inside(copies: tuple[Sampler, ...]) -> bool:
    """Whether scores are those with the instance in the inverse."""
    return bool(getattr(copies[0]._learner, "inside", False))
