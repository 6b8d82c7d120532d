"""CPU time of a packet in real time: in the model, under a clock that is turned, and with the kernel on both sides."""

from __future__ import annotations

import socket
import time
from contextlib import suppress

import netsim
from netsim.running.real_time import RealTime

PACKETS, GAP_NS, BYTES = 10_000, 500_000, 100
WORLDS = {"wires": None, "11g:54": netsim.AirConfig()}


class Turned:
    """A clock that stands still until it is turned."""

    now_ns = 0

    def __call__(self) -> int:
        """Return the instant."""
        return self.now_ns


class Pair:
    """An end whose packets come and go through a socket of the kernel."""

    def __init__(self) -> None:
        self.mine, self.other = socket.socketpair(socket.AF_UNIX, socket.SOCK_DGRAM)
        self.mine.setblocking(False)
        self.other.setblocking(False)

    def fileno(self) -> int:
        """Return what may be waited for."""
        return self.mine.fileno()

    def read(self) -> bytes:
        """Return the next packet."""
        with suppress(BlockingIOError):
            return self.mine.recv(2048)
        return b""

    def write(self, packet: bytes) -> None:
        """Send a packet, and take it off at the other side."""
        self.mine.send(packet)
        self.other.recv(2048)


def in_the_model(policy: str, config: netsim.SimulationConfig) -> float:
    """Return CPU seconds a packet of the model alone."""
    clock, packet = Turned(), b"\x45" + bytes(BYTES - 1)
    link = RealTime(policy, config, deliver=lambda packet, up: None, clock=clock)
    begun = time.process_time()
    for number in range(PACKETS):
        while clock.now_ns + (wait := link.step()) < number * GAP_NS:
            clock.now_ns += max(1, wait)
        clock.now_ns = number * GAP_NS
        link.send(packet, number % 2 == 0)
    return (time.process_time() - begun) / PACKETS


def with_the_kernel(policy: str, config: netsim.SimulationConfig) -> tuple[float, float]:
    """Return CPU seconds a packet, all loops included, and how late the last in a hundred was, milliseconds."""
    ends, packet = (Pair(), Pair()), b"\x45" + bytes(BYTES - 1)
    link = RealTime(policy, config, deliver=lambda packet, up: ends[up].write(packet))
    begun, sent = time.process_time(), 0
    for _ in link.carry(ends[0], ends[1]):
        while sent < min(PACKETS, link.now_ns // GAP_NS):
            ends[sent % 2].other.send(packet)
            sent += 1
        if link.late.n >= PACKETS or link.now_ns > 2 * PACKETS * GAP_NS:
            break
    return (time.process_time() - begun) / PACKETS, link.late.ms()["p99"] or 0.0


def main() -> None:
    """Print the table."""
    print(f"{PACKETS:,} packets of {BYTES} bytes, one each {GAP_NS / 1e6:g} ms, by turns up and down")
    print("policy           world     model us  with kernel us  late p99 ms")
    for policy in ("none", "psm", "dynamic:100", "lpsm3:1.05"):
        for name, medium in WORLDS.items():
            config = netsim.SimulationConfig(medium=medium)
            model_s, (all_s, late_ms) = in_the_model(policy, config), with_the_kernel(policy, config)
            print(f"{policy:<16} {name:<9} {1e6 * model_s:8.1f}  {1e6 * all_s:14.1f}  {late_ms:11.3f}")


if __name__ == "__main__":
    main()
