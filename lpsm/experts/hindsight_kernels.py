"""Compiled recursions behind `hindsight` and the bounds: plain arrays in, plain arrays out.

`likelihoods` is exp(-losses) after each round's least loss was taken off, so its rows have
maximum 1; the caller adds the taken-off losses back.  Left out: checks, which are the caller's.
"""

from __future__ import annotations

import numpy as np

from lpsm.arithmetic import log_add, log_others
from lpsm.arrays import Floats, Ints
from lpsm.native import compiled


def no_segment(rounds: int) -> tuple[Floats, Ints, Ints]:
    """The layer before the first segment, as `add_segment` wants it."""
    return np.full((rounds, 2), np.inf), np.full((rounds, 2), -1), np.zeros((rounds, 2), np.int64)


def add_segment(losses: Floats, values: Floats, experts: Ints, first: bool, differ: bool) -> tuple[Floats, Ints, Ints]:
    """One more segment: best and second-best (loss, expert, start of its segment) at every round's end."""
    rounds, n = losses.shape
    layer = no_segment(rounds)
    _fill_segment(losses, values, experts, first, differ, *layer, np.full(n, np.inf), np.zeros(n, np.int64))
    return layer


@compiled
def _fill_segment(
    losses: Floats, values: Floats, experts: Ints, first: bool, differ: bool, new_values: Floats, new_experts: Ints,
    new_starts: Ints, running: Floats, since: Ints,
) -> None:  # fmt: skip
    rounds, n = losses.shape
    for t in range(rounds):
        for i in range(n):
            enter = np.inf
            if t == 0:
                if first:
                    enter = 0.0
            elif not first:
                enter = values[t - 1, 1] if differ and experts[t - 1, 0] == i else values[t - 1, 0]
            if enter < running[i]:
                running[i] = enter
                since[i] = t
            value = running[i] + losses[t, i]
            running[i] = value
            if value < new_values[t, 0]:
                new_values[t, 1] = new_values[t, 0]
                new_experts[t, 1] = new_experts[t, 0]
                new_starts[t, 1] = new_starts[t, 0]
                new_values[t, 0] = value
                new_experts[t, 0] = i
                new_starts[t, 0] = since[i]
            elif value < new_values[t, 1]:
                new_values[t, 1] = value
                new_experts[t, 1] = i
                new_starts[t, 1] = since[i]


@compiled
def _slopes_at(likelihoods: Floats, prior: Floats, alpha: float, result: Floats) -> None:
    """Loss, slope and curvature of Fixed-share at one rate in (0, 1), by carrying both derivatives."""
    rounds, n = likelihoods.shape
    weights = np.zeros((3, n))  # the weights and their first and second derivative, one common scale
    for i in range(n):
        weights[0, i] = prior[i]
    rests, sums, others, log_scale, part = np.empty(3), np.empty(3), np.empty(3), 0.0, 1.0 / (n - 1)
    for t in range(rounds):
        top = 0
        for i in range(n):
            for order in range(3):
                weights[order, i] *= likelihoods[t, i]
            if weights[0, i] > weights[0, top]:
                top = i
        for order in range(3):
            others[order] = 0.0  # all but the heaviest: total minus own would cancel for that one
            for i in range(n):
                if i != top:
                    others[order] += weights[order, i]
            sums[order] = others[order] + weights[order, top]
        scale = sums[0]
        if scale <= 0.0:
            result[:] = np.inf
            return
        log_scale += np.log(scale)
        for order in range(3):
            others[order] /= scale
            sums[order] /= scale
        if t == rounds - 1:
            result[0], result[1], result[2] = -log_scale, -sums[1], sums[1] * sums[1] - sums[2]
            return
        rescale = 1.0 / scale
        for i in range(n):
            for order in range(3):
                weights[order, i] *= rescale
                rests[order] = part * (others[order] if i == top else sums[order] - weights[order, i])
            own, slope = weights[0, i], weights[1, i]
            for order in range(3):
                weights[order, i] = (1.0 - alpha) * weights[order, i] + alpha * rests[order]
            weights[1, i] += rests[0] - own
            weights[2, i] += 2.0 * (rests[1] - slope)


@compiled
def share_slopes(likelihoods: Floats, prior: Floats, alphas: Floats) -> Floats:
    """(m, 3) rows of loss, slope and curvature at rates in (0, 1), n >= 2."""
    table = np.empty((alphas.size, 3))
    for j in range(alphas.size):
        _slopes_at(likelihoods, prior, alphas[j], table[j])
    return table


@compiled
def switch_coefficients(losses: Floats, log_prior: Floats) -> Floats:
    """Logarithm of the summed prior(s_1) exp(-loss of s) / (n-1)^k over the sequences with k switches, k = 0 .. T-1."""
    rounds, n = losses.shape
    logs, others, into = np.empty((rounds, n)), np.empty(n), np.empty(n)
    for k in range(rounds):
        for i in range(n):
            logs[k, i] = log_prior[i] if k == 0 else -np.inf
    spread = np.log(n - 1.0)
    for t in range(rounds):
        if t > 0:
            for i in range(n):
                into[i] = -np.inf
            for k in range(t + 1):
                log_others(logs[k], others)
                for i in range(n):
                    logs[k, i] = log_add(logs[k, i], into[i])
                    into[i] = others[i] - spread
        for k in range(t + 1):
            for i in range(n):
                logs[k, i] -= losses[t, i]
    result = np.empty(rounds)
    for k in range(rounds):
        result[k] = log_others(logs[k], others)
    return result


@compiled
def _moves(likelihoods: Floats, prior: Floats, matrix: Floats, ahead: Floats, counts: Floats) -> float:
    """Expected moves given the losses into `counts`; the log-likelihood is returned."""
    rounds, n = likelihoods.shape
    scales = np.empty(rounds)
    log_scale = 0.0
    for t in range(rounds):
        for i in range(n):
            weight = prior[i] if t == 0 else 0.0
            if t > 0:
                for j in range(n):
                    weight += ahead[t - 1, j] * matrix[j, i]
            ahead[t, i] = weight * likelihoods[t, i]
        scales[t] = 0.0
        for i in range(n):
            scales[t] += ahead[t, i]
        if scales[t] <= 0.0:
            return -np.inf
        log_scale += np.log(scales[t])
        for i in range(n):
            ahead[t, i] /= scales[t]
    for j in range(n):
        for i in range(n):
            counts[j, i] = 0.0
    behind = np.ones(n)
    pulled = np.empty(n)
    for t in range(rounds - 1, 0, -1):
        for i in range(n):
            pulled[i] = likelihoods[t, i] * behind[i] / scales[t]
        for j in range(n):
            behind[j] = 0.0
            for i in range(n):
                share = matrix[j, i] * pulled[i]
                behind[j] += share
                counts[j, i] += ahead[t - 1, j] * share
    return log_scale


def baum_welch(
    likelihoods: Floats, prior: Floats, start: Floats, tolerance: float, max_iterations: int
) -> tuple[Floats, Floats, float, float, int]:
    """(matrix, counts, log-likelihood, residual, iterations) of the re-estimation of a transition matrix.

    A plain step multiplies an entry by counts / (visits entry), a stretched one by a power of that; steps are stretched
    while that does not lower the likelihood, since plain ones crawl towards zero entries.
    """
    matrix, counts, ahead = start, np.zeros_like(start), np.empty_like(likelihoods)
    trial, log_scale, residual, stretch = start, -np.inf, np.inf, 1.0
    for done in range(max(0, int(max_iterations)) + 1):
        moves = np.zeros_like(start)
        gained = _moves(likelihoods, prior, trial, ahead, moves)
        if gained >= log_scale or stretch == 1.0:
            if gained == -np.inf and done > 0:  # an entry fell below the smallest float while the losses still need it
                break
            stretch *= 1.5 if done > 0 else 1.0
            matrix, counts, log_scale = trial, moves, gained
            visits = counts.sum(axis=1, keepdims=True)
            residual = float(np.abs(counts - visits * matrix).max()) if gained > -np.inf else 0.0
            if residual <= tolerance:
                break
        else:
            stretch = 1.0
        with np.errstate(all="ignore"):
            grown = np.where((counts > 0.0) & (matrix > 0.0), (counts / (visits * matrix)) ** stretch, 0.0)
            trial = np.where(visits > 0.0, matrix * grown, matrix)
            trial /= trial.sum(axis=1, keepdims=True)
    return matrix, counts, log_scale, residual, done
