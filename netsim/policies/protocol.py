"""What a power-saving policy is: from what the client can see to when it sleeps and wakes.

The station asks its policy at two kinds of instant: when it *could sleep* (nothing is queued or in flight towards it
and its own transmitter is idle) and at *each beacon that it listens to*.  The answer says how long to stay awake with
the gate open, which beacon to listen to next, and whether sending something opens the gate.  A policy sees nothing that
a real client could not know.

A policy may offer more:

* a method `observe(frame)`: it is told of every frame as it is sent or received;
* an attribute `compiled`, a `netsim.policies.compiled.CompiledForm`: its rule as a function on plain numbers, by
  which the fast engine can follow it too;
* an attribute `never_sleeps` that is true: it is awake for ever and need not be asked.

A whole policy in a few lines, listening to every third beacon:

>>> class EveryThird:
...     spec = "every-third"
...     host_aware = False
...
...     def plan(self, view: View) -> Plan:
...         period = 300_000_000
...         return Plan(view.now_ns, (view.now_ns // period + 1) * period)
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from inspect import iscoroutine
from typing import Any, Literal, NamedTuple, Protocol, runtime_checkable

from netsim.policies.guarded import guarded, in_a_line, shown_safely, unless_stopped

FOREVER_NS = 2**62
"""Later than any instant of a run (146 years)."""
ASK = -1
"""In place of the time to the next beacon, `Plan.repeat_ns`: the client polls."""
_TRUTHS = {bool, int}


class PolicyError(TypeError, ValueError):
    """A policy raised something, cannot be copied, or gave no plan that can be followed.

    Its arguments are the message and, until the run adds the page that its client is at, the policy.
    """

    def __str__(self) -> str:
        return str(self.args[0])


def _refused(policy: Any, what: str) -> PolicyError:
    try:
        name = str(policy.spec)
    except BaseException as error:
        unless_stopped(error)
        name = type(policy).__name__
    return PolicyError(f"policy {name}: {what}", policy)


@dataclass(slots=True)
class View:
    """What the client knows at the instant of asking; valid during the call only.

    Attributes
    ----------
    event : Literal["idle", "beacon"]
        "idle": it could sleep now (also asked once at time 0).  "beacon": it listens to a beacon.
    now_ns : int
        The instant, nanoseconds since the start of the run.
    last_sent_ns, last_received_ns : int | None
        When it last handed a packet to its transmitter, and when a frame last came in; None: never.
    slept_ns : int
        At a beacon, the time since it last fell asleep (or since the last beacon it listened to, if that was
        later); when idle, of a policy that polls, how long it slept before it last woke up; otherwise 0.
    buffered_bytes : int
        At a beacon, bytes waiting at the access point, headers included; 0 when idle.
    arrivals_ns : Sequence[int]
        At a beacon, when each waiting frame reached the access point; () unless the world tells it (`oracle_stamps`).
    outstanding : int | None
        Requests sent whose replies are incomplete; None unless the policy is `host_aware`.
    deadline_ns : int | None
        When the page issued last must be complete, as the player of a stream tells the host; None where nothing
        depends on it, and unless the policy is `host_aware`.
    missing : int | None
        Objects for which a page still waits whose objects name others, whether or not anything is outstanding, else 0;
        None unless the policy is `host_aware`.
    """

    event: Literal["idle", "beacon"]
    now_ns: int
    last_sent_ns: int | None
    last_received_ns: int | None
    slept_ns: int
    buffered_bytes: int
    arrivals_ns: Sequence[int]
    outstanding: int | None
    deadline_ns: int | None = None
    missing: int | None = None


class _Fields(NamedTuple):
    awake_until_ns: int
    wake_ns: int
    open_on_send: bool = False
    repeat_ns: int = 0
    agreed: bool = False


class Plan(_Fields):
    """What to do next, until something is sent or received.

    With ``poll=True`` the client asks the access point at `wake_ns`, which may be any instant, in place of listening
    to a beacon: it wakes up, sends a frame, and has what waits, or hears that nothing does; then its policy is asked
    again, as "idle".  What that costs is what its radio does.  The policy must have an attribute `polls` that is true.

    Attributes
    ----------
    awake_until_ns : int
        Stay awake with the gate open until then; an instant not after `view.now_ns` means: sleep now.
    wake_ns : int
        The next beacon to listen to: a multiple of the beacon interval (any instant where it is `agreed`, or one of a
        `poll`), later than falling asleep, earlier than `FOREVER_NS`.  It says nothing where `awake_until_ns` is
        `FOREVER_NS`: the client never sleeps.
    open_on_send : bool
        Whether sending opens the gate at once, which also cancels `wake_ns`.
    repeat_ns : int
        If positive: while beacons bring nothing, listen again every so many nanoseconds without asking.  In compiled
        rules `ASK` says what `poll` does.
    agreed : bool
        Whether `wake_ns` is an instant agreed with the access point, at which it lets out what waits, instead of a
        beacon: any instant then, and nothing is paid for listening.
    """

    __slots__ = ()

    def __new__(  # noqa: D102 - the class says it
        cls, awake_until_ns: int, wake_ns: int, open_on_send: bool = False, repeat_ns: int = 0, agreed: bool = False,
        poll: bool = False,
    ) -> Plan:  # fmt: skip
        return super().__new__(cls, awake_until_ns, wake_ns, open_on_send, ASK if poll else repeat_ns, agreed)

    @property
    def poll(self) -> bool:
        """Whether the client asks the access point."""
        return self.repeat_ns == ASK


Plan.__annotations__ = _Fields.__annotations__  # of which compiled code takes the fields


class Policy(Protocol):
    """Anything with a name and a plan; `spec` is the canonical name that results carry."""

    @property
    def spec(self) -> str:
        """The canonical name."""
        ...

    @property
    def host_aware(self) -> bool:
        """Whether what the host knows, `outstanding` and what follows it, is filled in in views."""
        ...

    def plan(self, view: View) -> Plan:
        """Decide; called as the module says."""
        ...


class HostFrame(NamedTuple):
    """What the host knows of a frame and the link does not.

    Attributes
    ----------
    connection : int
        Which connection it belongs to, counted from 0; to be compared only.
    opening : bool
        Whether it is part of opening the connection (a SYN or its answer).
    payload_bytes : int
        Without the header.
    completes : bool
        Whether, received, it completes the message that was expected.
    wanted : bool
        Whether, received, it has anything to say: it is no repetition, and its connection still exists.  Sent, whether
        it may ask for something, as all do but what HTTP/2 and TLS say beside requests.
    server : int
        Number of the server that is asked for something on the connection; negative where it is not known.
    """

    connection: int
    opening: bool
    payload_bytes: int
    completes: bool
    wanted: bool
    server: int = -1


class Frame(NamedTuple):
    """A frame that the client has just handed to its transmitter, or received.

    Attributes
    ----------
    sent : bool
        Sent, or else received.
    at_ns : int
        The instant.
    reached_ns : int | None
        Of a frame received, when it reached the access point; None unless the world tells it (`oracle_stamps`).
    size_bytes : int
        With its header.
    host : HostFrame | None
        None unless the policy is `host_aware`.
    empty_ns, full_ns : int
        Of a frame received, the last instant at which the client knew that nothing waited at the access point, and the
        first at which it knew that something did, between which it came there; of what came while the client was awake,
        and of one sent, `at_ns` both.
    """

    sent: bool
    at_ns: int
    reached_ns: int | None
    size_bytes: int
    host: HostFrame | None
    empty_ns: int
    full_ns: int


@runtime_checkable
class Observer(Protocol):
    """A policy that wants to know of every frame, before anything is done about it."""

    def observe(self, frame: Frame) -> None:
        """Take note; called in the order of time, and between calls of `plan` as things happen."""
        ...


def asked(policy: Policy, view: View, interval_ns: int, offset_ns: int = 0) -> Plan:
    """Ask a policy, and return its plan, later by an offset, if a client can follow it.

    It is a `PolicyError` if it raises anything, or gives no plan in whole nanoseconds by which its client stays awake
    for ever or wakes up at a beacon.
    """
    asleep = view.now_ns  # whatever the policy writes there
    try:
        with guarded:
            plan: object = policy.plan(view)
    except BaseException as error:
        raise _refused(policy, f"plan raised {in_a_line(error)}") from unless_stopped(error)
    if type(plan) is not Plan:
        if iscoroutine(plan):
            plan.close()
        raise _refused(policy, f"plan must return a Plan, got {shown_safely(plan)}")
    until, wake, opens, repeat, agreed = plan
    if not type(until) is type(wake) is type(repeat) is int:
        raise _refused(policy, f"a plan must be in whole nanoseconds, of type int, got {shown_safely(plan)}")
    if not {type(opens), type(agreed)} <= _TRUTHS:
        raise _refused(policy, f"open_on_send and agreed of a plan must be bool, got {shown_safely(plan)}")
    if repeat == ASK and (agreed or not getattr(policy, "polls", False)):
        rule = "a plan with a poll must have no agreed instant, and its policy an attribute polls that is true"
        raise _refused(policy, f"{rule}, got {shown_safely(plan)}")
    if offset_ns:
        until, wake, asleep = until + offset_ns, wake + offset_ns, asleep + offset_ns
        plan = plan._replace(awake_until_ns=until, wake_ns=wake)
    if until > asleep:
        asleep = until
    if cannot_follow(asleep, wake, repeat, agreed, interval_ns):
        raise _refused(
            policy,
            f"wake_ns must be a multiple of {interval_ns} ns after falling asleep at {asleep} ns and before 2**62 ns, "
            f"got wake_ns={wake}, repeat_ns={repeat}",
        )
    return plan


def cannot_follow(asleep_ns: int, wake_ns: int, repeat_ns: int, agreed: int, interval_ns: int) -> bool:
    """Whether a client that falls asleep at an instant cannot follow a plan; compiled runs ask it, too."""
    off_beacons = not agreed and repeat_ns != ASK and (wake_ns % interval_ns != 0 or repeat_ns % interval_ns != 0)
    return asleep_ns < FOREVER_NS and (off_beacons or repeat_ns < ASK or not asleep_ns < wake_ns < FOREVER_NS)


def told(policy: Observer, frame: Frame) -> None:
    """Tell a policy of a frame, and raise `PolicyError` if it fails."""
    try:
        with guarded:
            policy.observe(frame)
    except BaseException as error:
        raise _refused(policy, f"observe raised {in_a_line(error)}") from unless_stopped(error)
