"""How a client fetches what waits for it: PS-Poll, null frames, U-APSD triggers, target wake times.

A policy says when the client listens and sleeps; its retrieval says what it sends to carry that out.

* ``ps-poll``: after a beacon with its bit in the TIM it sends a PS-Poll, which the access point answers with one frame
  after SIFS; while that says More Data it polls again.  A policy that wants to be awake opens its gate with a null
  frame.
* ``null``: a null frame, or a data frame, with PM = 0 opens the gate, and a null frame with PM = 1 closes it; this is
  what drivers do.
* ``uapsd``: a data frame, or after a beacon a QoS null frame, triggers a service period, which lasts until the last
  frame that waited; if none did, the access point ends it with a QoS null frame.  A policy that wants to be awake opens
  its gate with a null frame here, too.
* ``twt``: the gate is open in the service periods agreed on, without any frame, and closed between them; announced, it
  opens when a null frame that the client sends at the beginning of a period has reached the access point.
* ``auto``: `twt` for policies that agree on instants, `uapsd` for the policy of that name, `null` for those whose sends
  open the gate, `ps-poll` for the others.

Where frames go together (`netsim.model.air.aggregation`), so do those that a gate or a service period lets out, and
several of the client's own, which are one trigger; a PS-Poll is answered with one frame.

Source: IEEE 802.11-2020, 11.2.3.6 (PS-Poll, More Data), 11.2.3.5 (U-APSD); 802.11ax-2021, 26.8 (TWT).  Left out: access
classes, the longest service period of U-APSD, dropping frames that waited too long.
"""

from __future__ import annotations

from lpsm.native.records import NONE
from netsim.model.air.access_point import forward, take_held
from netsim.model.air.channel import put
from netsim.model.air.radio import wake_up
from netsim.model.codes import NULL, OPEN, OPENING, POLL, PS_POLL, RADIO_READY, TRIGGER, UAPSD
from netsim.model.entities import Client, Frame, Run
from netsim.model.primitives import new_frame, note_gate, schedule
from netsim.model.queues import append

# -- the client's frames wait until its radio is awake and has heard the channel for DIFS, and contend for it then


def transmit_from(run: Run, client: Client, frame: Frame) -> None:
    """Queue a frame, waking up for it if need be."""
    if client.dozing:
        client.woke_to_send = not client.opens
        wake_up(run, client, run.now)
    if client.ready <= run.now:
        put(run, client.contender, frame)
        return
    if client.pending.count == 0:
        schedule(run, client.ready, RADIO_READY, client)
    append(client.pending, frame)


def send_pending(run: Run, client: Client) -> None:
    """The radio has heard the channel for DIFS: let the frames that wait for it contend."""
    frame = client.pending.head
    client.pending.head, client.pending.count = NONE, 0
    while frame:
        following = frame.link
        put(run, client.contender, frame)
        frame = following


# -- what a client sends to have what waits


def fetch_waiting(run: Run, client: Client, to_stay: int) -> None:
    """Have what waits sent, or the gate opened if the policy wants to be awake `to_stay`."""
    if client.fetches:
        return
    client.fetches = 1
    if client.retrieval == PS_POLL and client.buffer.count:
        poll(run, client)
        return
    frame = new_frame(run)
    frame.code = TRIGGER if client.retrieval == UAPSD and not to_stay else OPENING
    frame.client, frame.to, frame.outcome = client, NONE, OPEN
    frame.exchange = run.exchanges[client.null]
    transmit_from(run, client, frame)


def poll(run: Run, client: Client) -> None:
    """Send a PS-Poll for the oldest packet that is held back."""
    frame = new_frame(run)
    frame.code, frame.client, frame.to, frame.outcome = POLL, client, NONE, OPEN
    frame.exchange = run.fetches[client.buffer.head.bytes + client.overhead]
    transmit_from(run, client, frame)


# -- what the access point does when it hears that


def access_point_hears(run: Run, client: Client) -> None:
    """Carry out what a data frame of the client says beside its data: the PM bit, or a trigger."""
    if client.is_open:
        return
    if client.retrieval == UAPSD:
        serve_period(run, client)
    elif client.opens and client.retrieval == NULL:
        open_gate(run, client, run.now)


def open_gate(run: Run, client: Client, at: int) -> bool:
    """Let the access point send what waits, and all that comes from now on; return whether anything waits."""
    if not client.is_open:
        note_gate(run, at, 1)
    client.is_open = 1
    return release(run, client)


def release(run: Run, client: Client) -> bool:
    """Let the access point send what waits now; return whether that is anything."""
    client.woke_to_send = 0
    found = client.buffer.count > 0
    while client.buffer.count:
        forward(run, client, take_held(run, client))
    return found


def serve_period(run: Run, client: Client) -> None:
    """Send what waits now; a null frame ends the service period if nothing does."""
    if not release(run, client):
        forward(run, client, NONE)
