"""How long a client's radio was in each of its states.

The states are those of `netsim.radio.StateRadioConfig`: doze, waking (the passage from doze and back), listening,
receiving and transmitting.  Time adds up by construction of the account: what is not dozed is spent waking, sending,
receiving, or else listening.  A radio of two states has passages of no time.
"""

from __future__ import annotations

from netsim.model.entities import Client, Run, States
from netsim.model.primitives import note_interval


def listen_ahead(run: Run, slept: int) -> int:
    """Return how long before a target time the radio is ready to receive, after a sleep of so long."""
    return run.guard + (round(slept * run.drift * 1e-6) if run.drift != 0.0 else 0)


def begin_doze(run: Run, client: Client, at: int) -> None:
    """Doze from `at` on; a radio that needs no time to wake up was not awake in a service period of no length."""
    client.dozing = 1
    client.slept_from = at
    if at > client.awake_since:
        note_interval(run, client, client.awake_since, at)
        client.awake_before += at - client.awake_since
        client.awake_until = at
    elif client.wakeups:
        client.wakeups -= 1
    client.awake_since = at


def wake_begin(run: Run, client: Client, at: int) -> int:
    """Return when a radio that dozes begins to wake up if it is to do so at `at`: not before having settled.

    It may be waking up for a beacon, or for a service period, already, and has then begun with that.
    """
    if run.wakeup:
        ahead = 0 if client.agreed or client.poll else listen_ahead(run, client.wake - client.slept_from)
        at = min(at, max(client.wake - ahead - run.wakeup, client.slept_from))
    return max(at, client.slept_from + run.settle)


def wake_up(run: Run, client: Client, at: int) -> None:
    """Wake up at `at`, for more than a beacon; it may contend when it has heard the channel for DIFS."""
    client.awake_since = wake_begin(run, client, at)
    client.dozing = 0
    client.wakeups += 1
    client.ready = client.awake_since + run.wakeup + run.difs


def hear_beacons(run: Run, client: Client, n: int, slept: int, late: int) -> None:
    """Hear `n` beacons, each after a sleep of so long and followed by doze; they were late by so much in all."""
    client.beacons += n
    client.beacons_alone += n
    client.beacon_listening += n * listen_ahead(run, slept) + late
    client.beacon_receiving += n * run.beacon_air


def hear_groups(client: Client, end: int, now: int) -> None:
    """Hear group frames from the end of a beacon to `now`, if it would have dozed since."""
    air, client.group_air = client.group_air, 0
    if client.dozing and client.slept_from < now:
        stayed = now - max(end, client.slept_from)
        received = min(air, stayed)
        client.beacon_receiving += received
        client.beacon_listening += stayed - received
        client.slept_from = now


def time_awake_on_air(client: Client, now: int) -> int:
    """Return the time in [0, now] that was not dozed; beacons heard from doze count as doze here."""
    awake = client.awake_before - max(0, client.awake_until - now)
    return awake if client.dozing else awake + max(0, now - client.awake_since)


def lead_in_on_air(run: Run, client: Client, now: int) -> int:
    """Return for how long a radio that dozes has not if it sends now: it is waking up for a beacon, which it joins."""
    return max(0, now - wake_begin(run, client, now)) if client.dozing else 0


def finish_on_air(run: Run, client: Client, now: int) -> None:
    """Note the interval awake that the end of the run cuts short."""
    if not client.dozing and now > client.awake_since:
        note_interval(run, client, client.awake_since, now)


def write_states_on_air(run: Run, client: Client, now: int, lead: int, states: States) -> None:
    """Write the time in each state up to `now`; the way back to doze counts from the beginning of waking up.

    `lead` is the time awake that will turn out to be such because the client sends now (`lead_in_on_air`).
    """
    awake, sent, received = time_awake_on_air(client, now) + lead, client.contender.sent, client.contender.received
    passages = client.wakeups + (lead > 0)
    ready = now - lead + run.wakeup if lead else client.ready - run.difs
    up = passages * run.wakeup - max(0, ready - now)
    waking = up + passages * run.settle + client.beacons_alone * (run.wakeup + run.settle)
    listening, receiving = client.beacon_listening, client.beacon_receiving
    states.doze = now - awake - listening - receiving - (waking - up)
    states.waking = waking
    states.listening = awake - up - sent - received + listening
    states.receiving = received + receiving
    states.transmitting = sent
    states.beacon_listening, states.beacon_receiving = listening, receiving
