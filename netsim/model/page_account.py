"""What loading a page takes: the account that is opened when it is issued and closed with its last byte.

Pages that are browsed one after another have it, and so have those whose exchanges have times of their own, of which
several may be loading at once.
"""

from __future__ import annotations

from netsim.model.entities import Client, Run
from netsim.model.medium import advance, lead_in, time_awake, write_states


def open_account(run: Run, client: Client, number: int) -> None:
    """Note that a page is issued, which sends something at once, and what there was before."""
    now, load = run.now, client.loads[number]
    advance(run, client, now)
    client.deadline = client.pages[number].deadline
    client.loading += 1
    client.loaded -= now
    lead = lead_in(run, client, now)
    load.issued, load.beacons = now, -client.beacons
    load.awake = -time_awake(run, client, now) - lead
    write_states(run, client, now, lead, load.before)


def close_account(run: Run, client: Client, number: int) -> None:
    """Note that the last byte of a page has come, and what it took."""
    now, load = run.now, client.loads[number]
    advance(run, client, now)
    client.loading -= 1
    client.loaded += now
    load.done = now
    load.beacons += client.beacons
    load.awake += time_awake(run, client, now)
    write_states(run, client, now, 0, load.after)
