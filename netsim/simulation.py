"""One run, or one cell: what is given is checked, the model run one way or the other, and the record made.

The world is one client, or several, behind one access point and one server (`netsim.model`).  Time is in integer
nanoseconds from the start of the run to the last completion plus its think time (or the last delivery of a message, if
that is later); seconds appear only in the result (`netsim.result`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from itertools import starmap
from threading import enumerate as enumerate_threads

from lpsm import randomness
from lpsm.checks import known, of_type
from lpsm.native import folder_of, is_plain
from lpsm.native.entries import Entry
from netsim import policies
from netsim.config import SimulationConfig
from netsim.policies import AnyPolicy, Policy, PolicyError
from netsim.policies.guarded import left_behind
from netsim.result import SimulationResult, result_of
from netsim.running.recorder import Recorder
from netsim.running.setup import World
from netsim.server_delay import ServerDelay, draw_each
from netsim.traffic import check, messages_of, tells
from traces.columns import Workload
from traces.records import Message, Page

_ENGINES = ("auto", "packet", "express")
# What is interpreted in about a second: pages, the larger ones so many bytes each, and time simulated, the last where
# neighbours load the channel.
_SMALL_PAGES, _SMALL_BYTES, _SMALL_S, _SMALL_LOADED_S = 1_000, 30_000, 50_000.0, 10.0
_WITHOUT_CACHE = 20  # times as much is worth the compiling where its result cannot be kept
_MOST_ROOM = 2**14


class NotCoveredError(ValueError):
    """The compiled engine is asked for what it does not cover."""


def simulate(
    pages: Iterable[Page], policy: AnyPolicy = "none", *, config: SimulationConfig | None = None, seed: int = 0,
    engine: str = "auto", push: Iterable[Message] | None = None, server_delays: Sequence[ServerDelay] | None = None,
    recorder: Recorder | None = None, oracle_stamps: bool = False,
) -> SimulationResult:  # fmt: skip
    """Browse `pages` under `policy` and return the record.

    Parameters
    ----------
    pages : iterable of Page
        Browsed in order; at least one, unless messages are pushed.  Pages that go through several runs are turned
        into columns only once as a `traces.Workload`.
    policy : str, Policy or OwnPolicy
        A name of the registry, such as "psm:100"; or an object with the protocol of `netsim.policies`, of which a
        copy is used: the object given stays as it is; or a class of one's own that the caller trusts.
    config : SimulationConfig, optional
        The world; by default that of the thesis (its radio; servers that answer at once), not that of the commands.
    seed : int
        Of the server delays and of the losses.
    engine : {"auto", "packet", "express"}
        "packet" is the model interpreted on SimPy; "express" the same model compiled, which refuses policies without a
        compiled rule and recorders; "auto" is compiled where that is possible, unless the compiling is still to be done
        and all that this process was asked for takes no more than a second interpreted.  The record is the same to the
        nanosecond.
    push : iterable of Message, optional
        What the server writes of its own accord, in the order of time, beside the pages, on one connection that is
        open before the run (`netsim.push`); by default what a `traces.Workload` has of it.  The run then lasts until
        the pages are done and the last message is delivered.
    server_delays : sequence of ServerDelay, optional
        One a page, in place of that of the world: servers that differ from page to page.
    recorder : Recorder, optional
        Is told of every frame, decision and request of the run, which is interpreted then.
    oracle_stamps : bool
        As that of the world, which it wins over if true.

    Raises
    ------
    TypeError
        If the policy is neither name nor policy, what it raises or plans is wrong (a `PolicyError`, a ValueError
        too, which names the page), or the world, a page, a size in bytes, what is pushed or a server's
        delay is of another type.
    ValueError
        If there is neither page nor message, a page or a message breaks a rule (sizes at least 1, replies at least 0,
        times not negative, messages in order), server delays are not one a page, or the policy is unknown.
    NotCoveredError
        If the compiled engine is asked for what it does not cover.
    """
    if oracle_stamps:
        config = replace(config or SimulationConfig(), oracle_stamps=True)
    [result] = _simulate([(pages, policy)], [push], config, seed, engine, server_delays, recorder)
    return result


def simulate_cell(
    clients: Iterable[tuple[Iterable[Page], AnyPolicy]], *, config: SimulationConfig | None = None, seed: int = 0,
    push: Sequence[Iterable[Message]] = (), engine: str = "auto",
) -> list[SimulationResult]:  # fmt: skip
    """Browse with several clients behind one access point; one record a client, in the order given.

    On wires the clients share all four links (each of them first in, first out), on the air the channel; they have
    buffers and gates of their own.  A client leaves when its pages are done.  With one client this is `simulate`, whose
    world, seed (stream of server delays: the place of the client), engine and errors are meant.

    Parameters
    ----------
    clients : iterable of (pages, policy)
        As for `simulate`.
    push : sequence of iterables of Message, optional
        What servers write unasked, one entry a client; a client may have messages alone.  By default what the
        workloads have of it.

    Raises
    ------
    ValueError
        If there is no client, messages are not one entry a client, or as `simulate` does.
    """
    given = list(clients)
    if not given:
        raise ValueError("a cell must have at least one client, got none")
    if push and len(push) != len(given):
        raise ValueError(f"push must be one entry a client ({len(given)}), got {len(push)} entries")
    return _simulate(given, push or [None] * len(given), config, seed, engine)


def _simulate(
    clients: Sequence[tuple[Iterable[Page], AnyPolicy]], push: Sequence[Iterable[Message] | None],
    given: SimulationConfig | None, seed: int, engine: str, server_delays: Sequence[ServerDelay] | None = None,
    recorder: Recorder | None = None,
) -> list[SimulationResult]:  # fmt: skip
    """Check and run the clients of one access point; `server_delays` are those of a single client's pages."""
    known("engine", engine, _ENGINES)
    config = SimulationConfig() if given is None else given
    of_type(SimulationConfig, config=config)
    if recorder is not None:
        of_type(Recorder, recorder=recorder)
    members: list[tuple[Workload, Policy]] = []
    pushed, delays = [], []
    for place, ((pages, policy), messages) in enumerate(zip(clients, push, strict=True)):
        workload = Workload.of(pages)
        pushed.append(messages_of(workload.messages if messages is None else messages))
        check(workload, pushed[-1])
        members.append((workload, _made(policy, config)))
        rng, delay = randomness.generator(seed, randomness.SERVER, place), config.server_delay
        delays.append(delay.draw(workload, rng) if server_delays is None else draw_each(workload, server_delays, rng))
    if recorder is not None and recorder.on_air != (config.medium is not None):
        raise ValueError("a Recorder notes frames on wires and an AirRecorder on the air, and this run is the other")

    specs = [policy.spec for _, policy in members]
    own = [policy for _, policy in members if getattr(policy, "compiled", None) is None]
    threads = set(enumerate_threads()) if own else set()
    if _is_interpreted(engine, members, config, pushed, recorder):
        from netsim.running.on_simpy import run_interpreted

        found = run_interpreted(World(members, delays, pushed, config, seed, _MOST_ROOM), recorder)
    else:
        from netsim.running.compiled import run_compiled

        found = run_compiled(members, delays, pushed, config, seed)
    for spec, (_, policy) in zip(specs, members, strict=True):
        if policy.spec != spec:
            raise PolicyError(f"policy {spec}: its spec must stay the same, got {policy.spec!r:.200} after the run")
    if own and (left := left_behind(threads)):  # others of the program may begin threads meanwhile
        raise PolicyError(f"policy {', '.join(specs)}: threads must end before the run does, got {', '.join(left)}")
    return [result_of(*member, config.radio, *one) for member, one in zip(members, found, strict=True)]


def _made(policy: AnyPolicy, config: SimulationConfig) -> Policy:
    """Make a policy for a world."""
    return policies.make(policy, **config.setting)


def _is_interpreted(
    engine: str, members: Sequence[tuple[Workload, Policy]], config: SimulationConfig,
    pushed: Sequence[Sequence[Message]], recorder: Recorder | None,
) -> bool:  # fmt: skip
    """Whether a run is interpreted; NotCoveredError if it cannot be compiled and is to be."""
    if engine == "packet":
        return True
    own = [policy for _, policy in members if getattr(policy, "compiled", None) is None]
    told = "packets tell its policy what is outstanding" if any(starmap(tells, members)) else ""
    told = "it is recorded" if recorder is not None else told
    reason = f"policy {own[0].spec} has no compiled rule" if own else told
    if reason and engine == "express":
        raise NotCoveredError(f"engine express does not cover this run: {reason}")
    if told or engine == "express":
        return bool(told)
    from netsim.running.compiled import is_ready

    if own:
        from netsim.running.called_back import may_be_called

        called = all(may_be_called(policy, config) for policy in own)
        return not called or not is_ready([policy for _, policy in members])
    if is_plain():
        return True
    if is_ready([policy for _, policy in members]):
        return False
    _interpreted[0] += _work(members, pushed, config)
    return _interpreted[0] <= (_WITHOUT_CACHE if folder_of(__name__) is None else 1)


def uncompiled(policies: Iterable[AnyPolicy], config: SimulationConfig) -> dict[str, Entry]:
    """Return what is left to compile for runs under these policies, by name; without a compiled rule that is nothing.

    What takes longest comes first; whoever takes the address of an entry has it compiled.
    """
    from netsim.running.compiled import entries_of

    made = [one for one in (_made(policy, config) for policy in policies) if getattr(one, "compiled", None) is not None]
    listed = entries_of(made) if made else []
    return {f"{entry.module}.{entry.name}": entry for entry in dict.fromkeys(listed) if not entry.is_ready}


_interpreted = [0.0]  # work that this process was asked for while the compiling was still to be done


def _work(
    members: Sequence[tuple[Workload, Policy]], pushed: Sequence[Sequence[Message]], config: SimulationConfig
) -> float:
    """Return about how many seconds interpreting takes."""
    done = sum(max(len(one), one.sizes.sum() / _SMALL_BYTES) + len(one.datagrams) for one, _ in members)
    done += sum(len(messages) for messages in pushed)
    lasts_s = max(workload.think_s.sum() for workload, _ in members)
    lasts_s += max(workload.captured_s or 0.0 for workload, _ in members)
    lasts_s += max(messages[-1].at_s if messages else 0.0 for messages in pushed)
    loaded = config.medium is not None and config.medium.neighbours > 0
    return float(max(done / _SMALL_PAGES, lasts_s / (_SMALL_LOADED_S if loaded else _SMALL_S)))
