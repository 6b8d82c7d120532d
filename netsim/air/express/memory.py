"""The array of one run of the compiled loop of events, whatever the medium: memory, TCP, and what clients browse."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from netsim.air.express import layout as slot
from netsim.express.coverage import NotCoveredError
from netsim.policies.compiled import NOT_YET_NS, CompiledForm
from netsim.policies.protocol import Policy
from traces.columns import Workload
from traces.records import Message

if TYPE_CHECKING:
    from netsim.simulation import SimulationConfig

__all__ = ["Memory", "form_of"]

Ints = NDArray[np.int64]

_NS_PER_S = 1_000_000_000
_MAX_BYTES = 2**40
_FRAMES, _CONNECTIONS = 256, 256  # room a client, beyond what TCP's windows take
_SPARE_FRAMES = 1024  # room of the run, group frames among it


def form_of(policy: Policy) -> CompiledForm:
    """Return the compiled form of a policy that has one."""
    form: CompiledForm = policy.compiled  # type: ignore[attr-defined]
    return form


class Memory:
    """The array of one run: records of the medium, then clients, events, connections, frames, and the traffic.

    Parameters
    ----------
    members : sequence of (Workload, Policy)
        What each client browses, and a policy with a compiled form.
    delays_ns : sequence of arrays of int64
        The server's delays, one a reply in the order of the pages.
    pushed : sequence of sequences of Message
        What the server writes to each client of its own accord.
    config : SimulationConfig
        The world.
    rooms : mapping of str to int
        What the medium needs beside it: how many numbers, by name.

    Attributes
    ----------
    w : array of int64
        The array, as `layout` says.
    places, rooms : dict of str to int
        Where the parts of it begin, and how many numbers they have.

    Raises
    ------
    NotCoveredError
        If a size exceeds 2**40 bytes.
    """

    def __init__(
        self,
        members: Sequence[tuple[Workload, Policy]],
        delays_ns: Sequence[Ints],
        pushed: Sequence[Sequence[Message]],
        config: SimulationConfig,
        rooms: Mapping[str, int],
    ) -> None:
        for workload, _ in members:
            if workload.sizes.max(initial=0) > _MAX_BYTES:
                raise NotCoveredError(f"sizes must be at most {_MAX_BYTES} bytes, got {workload.sizes.max()}")
        n, n_pages = len(members), sum(len(workload) for workload, _ in members)
        connections = sum(min(_CONNECTIONS, len(workload.sizes)) + 2 for workload, _ in members)
        frames = (_FRAMES + 2 * config.tcp.window * config.max_connections) * n + _SPARE_FRAMES
        self._pushed = [_messages(messages) for messages in pushed]
        self.rooms = {
            **rooms,
            "clients": slot.CLIENT_SIZE * n,
            "totals": slot.TOTALS_SIZE * n,
            "near": slot.EVENT_SIZE * (2 * connections + frames),
            "far": slot.EVENT_SIZE * (2 * connections + frames),
            "connections": slot.CONNECTION_SIZE * (connections + 2),
            "frames": slot.FRAME_SIZE * frames,
            "pages": slot.PAGE_SIZE * n_pages,
            "objects": slot.OBJECT_SIZE * sum(len(workload.sizes) for workload, _ in members),
            "messages": sum(rows.size for rows in self._pushed),
            "loads": slot.LOAD_SIZE * n_pages,
        }
        ends = slot.FIRST_RECORD + np.cumsum([0, *self.rooms.values()])
        self.places = dict(zip(self.rooms, ends.tolist(), strict=False))
        self.w = np.zeros(int(ends[-1]), dtype=np.int64)
        tcp, places = config.tcp, self.places
        self.enter({
            slot.MSS: tcp.mss_bytes, slot.HEADER: tcp.header_bytes, slot.FIRST_WINDOW: tcp.initial_window,
            slot.WINDOW: tcp.window, slot.MIN_RTO: round(tcp.min_rto_s * _NS_PER_S),
            slot.FIRST_RTO: round(tcp.initial_rto_s * _NS_PER_S), slot.NAGLE: tcp.nagle,
            slot.PERSISTENT: config.connections == "persistent", slot.MAX_CONNECTIONS: config.max_connections,
            slot.N_CLIENTS: n, slot.CLIENTS: places["clients"],
            slot.NEAR: places["near"], slot.FAR: places["far"], slot.EVENTS_ROOM: 2 * connections + frames,
            slot.FREE_FRAME: places["frames"], slot.FRAMES_STOP: places["pages"],
            slot.FREE_CONNECTION: places["connections"], slot.CONNECTIONS_STOP: places["frames"],
        })  # fmt: skip
        self._enter_clients(members, delays_ns)

    def enter(self, values: Mapping[int, int]) -> None:
        """Enter numbers by their places."""
        self.w[list(values)] = list(values.values())

    def enter_columns(self, columns: Mapping[int, ArrayLike]) -> None:
        """Enter fields of the clients: one number for all, or one each."""
        n = int(self.w[slot.N_CLIENTS])
        clients = self.part("clients", 0, n).reshape(n, slot.CLIENT_SIZE)
        for field, values in columns.items():
            clients[:, field] = np.asarray(values)

    def part(self, name: str, begin: int, end: int) -> Ints:
        """Return of a part with as many rows as there are clients, pages or messages those from `begin` to `end`."""
        size = {"clients": slot.CLIENT_SIZE, "loads": slot.LOAD_SIZE, "messages": slot.MESSAGE_SIZE}[name]
        return self.w[self.places[name] + size * begin : self.places[name] + size * end].reshape(-1, size)

    def _enter_clients(self, members: Sequence[tuple[Workload, Policy]], delays_ns: Sequence[Ints]) -> None:
        places, n = self.places, len(members)
        workloads, policies = zip(*members, strict=True)
        forms = [form_of(policy) for policy in policies]
        issue_s, think_s, deadline_s = (
            np.concatenate([getattr(one, name) for one in workloads]) for name in ("issue_s", "think_s", "deadline_s")
        )
        pages = np.empty((len(think_s), slot.PAGE_SIZE), dtype=np.int64)
        pages[:, slot.PAGE_ISSUE] = np.where(np.isnan(issue_s), -1, np.rint(issue_s * _NS_PER_S))
        pages[:, slot.PAGE_THINK] = np.where(think_s == 0.0, -1, np.rint(think_s * _NS_PER_S))
        pages[:, slot.PAGE_OBJECTS] = np.concatenate([one.objects for one in workloads])
        pages[:, slot.PAGE_DEADLINE] = np.where(np.isnan(deadline_s), slot.NEVER, np.rint(deadline_s * _NS_PER_S))
        sizes = np.concatenate([one.sizes for one in workloads])
        objects = np.column_stack([sizes, np.concatenate(delays_ns)]).astype(np.int64)
        for name, rows in (("pages", pages), ("objects", objects), ("messages", np.concatenate(self._pushed))):
            self.w[places[name] : places[name] + rows.size] = rows.ravel()
        n_pages, n_messages = [len(one) for one in workloads], [len(rows) for rows in self._pushed]
        first_page = places["pages"] + slot.PAGE_SIZE * _before(n_pages)
        rules, observers = zip(*(form.addresses for form in forms), strict=True)
        self.enter_columns({
            slot.CLIENT_RULE: rules, slot.CLIENT_OBSERVER: observers,
            slot.CLIENT_HOST_AWARE: [policy.host_aware for policy in policies],
            slot.CLIENT_INTS: [form.ints.ctypes.data for form in forms],
            slot.CLIENT_N_INTS: [form.ints.size for form in forms],
            slot.CLIENT_FLOATS: [form.floats.ctypes.data for form in forms],
            slot.CLIENT_N_FLOATS: [form.floats.size for form in forms],
            slot.CLIENT_NEVER_SLEEPS: [getattr(policy, "never_sleeps", False) for policy in policies],
            slot.CLIENT_LAST_SENT: NOT_YET_NS, slot.CLIENT_LAST_RECEIVED: NOT_YET_NS,
            slot.CLIENT_DEADLINE: slot.NEVER,
            slot.CLIENT_PAGES: first_page, slot.CLIENT_PAGES_STOP: first_page + slot.PAGE_SIZE * np.array(n_pages),
            slot.CLIENT_OBJECTS: places["objects"] + slot.OBJECT_SIZE * _before([len(one.sizes) for one in workloads]),
            slot.CLIENT_NUMBER: 1,
            slot.CLIENT_LOADS: places["loads"] + slot.LOAD_SIZE * _before(n_pages),
            slot.CLIENT_MESSAGES: places["messages"] + slot.MESSAGE_SIZE * _before(n_messages),
            slot.CLIENT_N_MESSAGES: n_messages,
            slot.CLIENT_TOTALS: places["totals"] + slot.TOTALS_SIZE * np.arange(n),
        })  # fmt: skip


def _before(counts: Sequence[int]) -> Ints:
    """Return how many there are before each."""
    return np.cumsum([0, *counts[:-1]])


def _messages(messages: Sequence[Message]) -> Ints:
    rows = np.zeros((len(messages), slot.MESSAGE_SIZE), dtype=np.int64)
    rows[:, slot.MESSAGE_AT] = [round(message.at_s * _NS_PER_S) for message in messages]
    rows[:, slot.MESSAGE_BYTES] = [message.size_bytes for message in messages]
    rows[:, slot.MESSAGE_END] = np.cumsum(rows[:, slot.MESSAGE_BYTES])
    return rows
