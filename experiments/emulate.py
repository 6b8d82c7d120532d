"""Real programs on the simulated air: what `lpsm emulate` runs, measures, shows and captures.

A program runs in a network of its own (`experiments.namespaces`), behind the model in real time
(`netsim.running.real_time`).  What it costs is a row with the energy, the time awake and how much later packets came
than to a client that never sleeps.  A capture holds every packet, up when it was sent, down when it would have come to
such a client; so it can be simulated under any policy.  A workload holds the same packets as datagrams, each when it
was sent: a simulation of it under the same policy is the same run.
"""

from __future__ import annotations

import heapq
import json
import signal
import struct
from collections.abc import Callable, Iterator, Sequence
from contextlib import ExitStack, contextmanager
from time import monotonic
from typing import IO, Any, NamedTuple

from experiments.namespaces import CLIENT, FAR, NAMES, Internet, Program, served
from experiments.quantities import ENERGIES, Row
from experiments.study.signals import SIGNALS
from experiments.timeline import Run
from netsim import AirRecorder, Recorder, SimulationConfig
from netsim.policies import AnyPolicy
from netsim.running.real_time import MOST_WAITING, Emulated, RealTime
from traces.captures.waiting import READ_BYTES

RECORDED_S = 10.0  # of which a timeline can be shown
GRACE_S = 2.0  # for a program to end by itself
_HEAD, _RAW_IP = struct.pack("<IHHiIII", 0xA1B23C4D, 2, 4, 0, 0, 65536, 101), struct.Struct("<IIII")


class Emulation(NamedTuple):
    """A program that has ended, and its run."""

    emulated: Emulated
    status: int  #: of the program
    unread: int  #: packets that came faster than this process could read them
    recorded: Run | None  #: the beginning

    @property
    def trusted(self) -> bool:
        """Whether nothing was too late."""
        return self.emulated.trusted and not self.unread

    @property
    def row(self) -> Row:
        """What it cost, as JSON data."""
        found, result, late = self.emulated, self.emulated.result, self.emulated.late.ms()
        down, up = found.packets
        return {
            "policy": result.policy, "exit_status": self.status, "elapsed_s": result.elapsed_s,
            "packets": {"up": up, "down": down}, "added_delay_ms": found.added.ms(),
            "energy_j": {name.removesuffix("_j"): float(getattr(result.energy, name)) for name in ENERGIES},
            "awake_share": result.awake_s / max(result.elapsed_s, 1e-9), "beacons": result.beacons,
            "late_ms": {name: late[name] for name in ("median", "p99", "max")}, "trusted": self.trusted,
        }  # fmt: skip

    @property
    def warnings(self) -> list[str]:
        """What else is to be known."""
        found = self.emulated
        lacking = {
            f"were dropped, for {MOST_WAITING:,} others were under way before them": found.dropped,
            "came faster than they could be carried here": self.unread, "were lost on the air": found.lost,
        }  # fmt: skip
        said = [f"{n:,} packets {words}" for words, n in lacking.items() if n]
        if not self.trusted:
            late_ms = found.late.ms()["p99"] or 0.0
            said.append(f"WARNING: delays are not to be trusted, 1 % of packets were more than {late_ms:.1f} ms late")
        return [f"{found.result.policy}: {words}." for words in said]


class Capture:
    """A capture that is being written, in the order of time; or a workload, where the bytes of a header are given."""

    def __init__(self, file: IO[bytes], header_bytes: int | None = None) -> None:
        self._file, self._header_bytes = file, header_bytes
        self._later = list[tuple[int, bytes]]()
        file.write(_HEAD if header_bytes is None else b"")

    def sent(self, packet: bytes, up: bool, at_ns: int, landing_ns: int) -> None:
        """Take a packet, which may land in the future."""
        if self._header_bytes is None:
            heapq.heappush(self._later, (at_ns if up else landing_ns, packet))
        else:
            size = max(0, len(packet) - self._header_bytes)
            self._line({"datagram_bytes": size, "at_s": at_ns / 1e9, "up": up, "head": packet[:READ_BYTES].hex()})

    def write(self, until_ns: int) -> None:
        """Write what is before an instant."""
        while self._later and self._later[0][0] <= until_ns:
            at_ns, packet = heapq.heappop(self._later)
            self._file.write(_RAW_IP.pack(*divmod(at_ns, 10**9), len(packet), len(packet)) + packet)

    def end(self, elapsed_s: float) -> None:
        """Write the rest."""
        self.write(2**63)
        if self._header_bytes is not None:
            self._line({"captured_s": elapsed_s})

    def _line(self, fields: Row) -> None:
        self._file.write(json.dumps(fields).encode() + b"\n")


class Stop:
    """The first signal that asked to stop, and since when."""

    number, at_s, asked = 0, 0.0, 0

    def __call__(self, number: int, _frame: Any) -> None:
        """Note a signal."""
        if not self.number:
            self.number, self.at_s = number, monotonic()


@contextmanager
def stopping() -> Iterator[Stop]:
    """Note signals in place of being stopped by them: a program hears Ctrl-C itself, and results are written."""
    stop = Stop()
    before = {number: signal.signal(number, stop) for number in SIGNALS}
    try:
        yield stop
    finally:
        for number, earlier in before.items():
            signal.signal(number, earlier)


def emulate(
    command: Sequence[str], policy: AnyPolicy, config: SimulationConfig, *, server: Sequence[str] = (), seed: int = 0,
    capture: Capture | None = None, recorded: bool = False, output: int | None = None, stop: Stop | None = None,
) -> Emulation:  # fmt: skip
    """Run a program behind the model until it ends.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    policy, config, seed
        As for `netsim.simulate`.
    server : sequence of str
        A second program, behind the wire; without one there is the Internet.
    capture : Capture, optional
        Takes the packets.
    recorded : bool
        Whether the first ten seconds are kept for a timeline.
    output : int, optional
        File descriptor in place of the program's standard output.
    stop : Stop, optional
        By which the program is asked to end.

    Raises
    ------
    ValueError
        If the policy or the command is none, or there are no namespaces, no server, or nothing that leads to the
        Internet.
    """
    recorder = (Recorder() if config.medium is None else AirRecorder()) if recorded else None
    ends: dict[bool, Callable[[bytes], None]] = {}
    link = RealTime(
        policy, config, deliver=lambda packet, up: ends[up](packet), seed=seed, recorder=recorder,
        sent=None if capture is None else capture.sent,
    )  # fmt: skip
    with ExitStack() as held:
        far: Program | Internet = served(server, link.largest) if server else Internet(link.largest)
        held.callback(far.end)
        names = ("", "server") if server else (NAMES, "host")
        program = Program(command, CLIENT, FAR, link.largest, names, output)
        held.callback(program.end)
        ends |= {True: far.write, False: program.write}
        while far.read() or program.read():
            pass  # what kernels say to each other before the beginning
        link.begin()
        program.go()
        for heard in link.carry(program, far, program.control):
            if heard and program.heard():
                break
            if capture is not None:
                capture.write(link.now_ns)
            if recorder is not None and link.now_ns > RECORDED_S * 1e9:
                link.run.recorder = None
            if stop is not None and stop.number:
                _ask_to_end(program, stop)
        found = link.end()
        if capture is not None:
            capture.end(found.result.elapsed_s)
        unread = program.unread() + (far.unread() if isinstance(far, Program) else 0)
    assert program.status is not None
    run = None
    if recorder is not None:
        run = Run(found.result, recorder, found.interval_ns, config.radio.wakeup_ms / 1000)
    return Emulation(found, program.status, unread, run)


def _ask_to_end(program: Program, stop: Stop) -> None:
    """Have a program end that was asked to: by Ctrl-C, which it has heard itself, or by us."""
    stage = (stop.number != signal.SIGINT) + int((monotonic() - stop.at_s) // GRACE_S)
    if stage > stop.asked:
        stop.asked = stage
        program.ask_to_end(signal.SIGTERM if stage == 1 else signal.SIGKILL)
