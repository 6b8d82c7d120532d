"""Programs in networks of their own: namespaces of Linux whose one way out is a TUN device, or the Internet's side.

A program runs below two processes that hold its namespaces (network, processes, mounts, and of users where that is
needed).  The kernel ends both when this process ends, however it does, with everything below them and the device:
nothing has a name outside, so nothing is left behind.  The Internet's side is ``passt`` or ``slirp4netns``, which
turn packets into sockets of this machine.
"""

from __future__ import annotations

import ctypes
import errno
import fcntl
import os
import shutil
import signal
import socket
import struct
import subprocess
import sys
from collections.abc import Callable, Sequence
from contextlib import suppress
from ipaddress import ip_address
from pathlib import Path
from tempfile import TemporaryDirectory
from time import monotonic, sleep
from typing import Any

CLIENT, FAR, NAMES = ("10.9.0.1", "fd6c:7073:6d::1"), ("10.9.0.2", "fd6c:7073:6d::2"), "10.9.0.3"
"""Addresses of the client, of what is behind the wire, and of who resolves names there."""
SERVER_S = 3.0  # until a server listens
_USERS, _NEW = 0x10000000, 0x40000000 | 0x20000000 | 0x00020000  # network, processes, mounts
_TUN, _LEAST_IPV6, _QUEUE, _DEVICE = struct.pack("16sH", b"air0", 0x1001), 1280, 1000, "air0"
_BIND, _PRIVATE, _DETACH = 4096, 16384 | (1 << 18), 2
_ETHERNET = bytes((2, 0, 0, 0, 0, 2, 2, 0, 0, 0, 0, 1))  # to the far end, from the client
_UNHEARD = signal.SIGINT, signal.SIGQUIT, signal.SIGHUP


class Tun:
    """The packets of a TUN device."""

    def __init__(self, device: int) -> None:
        self._device = device
        os.set_blocking(device, False)

    def fileno(self) -> int:
        """Return what may be waited for."""
        return self._device

    def read(self) -> bytes:
        """Return the next packet, or nothing."""
        with suppress(OSError):
            return os.read(self._device, 65536)
        return b""

    def write(self, packet: bytes) -> None:
        """Hand a packet to the kernel of the other side, which may have taken its device down."""
        with suppress(OSError):
            os.write(self._device, packet)


class Program(Tun):
    """A program with namespaces of its own, and the TUN device that is its network; it waits for `go`.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    own, far : (IPv4 address, IPv6 address)
        Of its device, and of what is at the other end.
    mtu : int
        Of the device; below 1280 bytes there is no IPv6.
    names : str
        The line of resolv.conf, and the name that `far` has.
    output : int, optional
        File descriptor in place of its standard output; it then has no standard input.
    """

    def __init__(
        self, command: Sequence[str], own: tuple[str, str], far: tuple[str, str], mtu: int, names: tuple[str, str],
        output: int | None = None,
    ) -> None:  # fmt: skip
        try:
            import pyroute2  # noqa: F401 - here, once, and not again in each process below
        except ImportError:
            raise ValueError("emulate needs pyroute2: install lpsm with its extra, lpsm[emulate]") from None
        if not command or shutil.which(command[0]) is None:
            raise ValueError(f"the command must be a program that can be run, got {' '.join(command) or 'none'!r}")
        self.control, theirs = socket.socketpair(socket.AF_UNIX, socket.SOCK_SEQPACKET)
        for stream in (sys.stdout, sys.stderr):
            stream.flush()
        parent, self.pid = os.getpid(), os.fork()
        if not self.pid:
            try:
                self.control.close()
                _hold(theirs, parent, own, far, mtu, names, lambda: _begin(command, output))
            except BaseException as error:
                with suppress(OSError):
                    theirs.send(f"{getattr(error, 'strerror', None) or error}".encode())
            finally:
                os._exit(1)
        theirs.close()
        said, devices, *_ = socket.recv_fds(self.control, 4096, 1)
        if not devices:
            self.end()
            raise ValueError(
                f"a network of its own must be allowed here ({said.decode(errors='replace')}): as root, or in "
                "namespaces of unprivileged users, with /dev/net/tun"
            )
        super().__init__(devices[0])
        self._init = int(said)
        self.status: int | None = None

    def go(self) -> None:
        """Let the program begin."""
        self.control.send(b"go")

    def heard(self) -> bool:
        """Whether the program has ended; `status` is its exit status then."""
        if self.status is None:
            self.status = int(self.control.recv(64) or 137)
        return True

    def ask_to_end(self, number: int) -> None:
        """Send a signal to the program, SIGTERM, or SIGKILL with all that it has begun."""
        with suppress(ProcessLookupError):
            os.kill(self._init, number)

    def unread(self) -> int:
        """Return how many packets the device dropped, for nobody read them in time."""
        with suppress(OSError, StopIteration):
            lines = Path(f"/proc/{self.pid}/net/dev").read_text(encoding="ascii").splitlines()
            return int(next(line for line in lines if line.strip().startswith(_DEVICE)).split()[12])
        return 0

    def listens(self) -> bool:
        """Whether anything in its network can be connected to, or receives datagrams."""
        for kind, state in (("tcp", "0A"), ("tcp6", "0A"), ("udp", "07"), ("udp6", "07")):
            with suppress(OSError):
                lines = Path(f"/proc/{self.pid}/net/{kind}").read_text(encoding="ascii").splitlines()[1:]
                if any(line.split()[3] == state for line in lines):
                    return True
        return False

    def end(self) -> None:
        """End the program, if it runs still, with all that it has begun."""
        with suppress(ProcessLookupError):
            os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        self.control.close()
        if hasattr(self, "_device"):
            os.close(self._device)


class Internet:
    """The Internet's side: frames of Ethernet to and from ``passt`` or ``slirp4netns``."""

    def __init__(self, mtu: int) -> None:
        self._left = b""
        if shutil.which("passt"):
            self._socket, theirs = socket.socketpair()
            addresses = [part for own, far in zip(CLIENT, FAR, strict=True) for part in ("-a", own, "-g", far)]
            call = ["passt", "-f", "-q", "-1", "-m", str(mtu), "-n", "24", "--dns-forward", NAMES, *addresses]
            call += ["-t", "none", "-u", "none", "-F", str(theirs.fileno())]
            self._streams = True
        elif shutil.which("slirp4netns"):
            folder = TemporaryDirectory(prefix="lpsm-")
            path = f"{folder.name}/socket"
            self._socket, theirs = socket.socket(socket.AF_UNIX, socket.SOCK_SEQPACKET), socket.socket()
            self._alive, until = os.pipe()  # which ends it when this process ends
            os.set_inheritable(self._alive, True)
            call = ["slirp4netns", "--target-type=bess", "--cidr=10.9.0.0/24", f"--mtu={mtu}", f"-e{self._alive}", path]
            self._streams, self._until = False, until
        else:
            raise ValueError("without --server, emulate needs passt or slirp4netns: install the Debian package passt")
        inherited = [theirs.fileno()] if self._streams else [self._alive]
        self._process = subprocess.Popen(
            call, pass_fds=inherited, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL,
            start_new_session=True,
        )  # fmt: skip
        theirs.close()
        if not self._streams:
            os.close(self._alive)
            for _ in range(100):
                with suppress(OSError):
                    self._socket.connect(path)
                    break
                sleep(0.02)
            folder.cleanup()  # who is connected needs no name

    def fileno(self) -> int:
        """Return what may be waited for."""
        return self._socket.fileno()

    def read(self) -> bytes:
        """Return the next packet, or nothing."""
        while frame := self._frame():
            kind = frame[12:14]
            if kind in (b"\x08\0", b"\x86\xdd"):
                return frame[14:]
            if kind == b"\x08\x06" and frame[20:22] == b"\0\x01" and frame[38:42] == ip_address(CLIENT[0]).packed:
                us = _ETHERNET[6:] + frame[38:42]
                self._put(frame[6:12] + _ETHERNET[6:] + frame[12:20] + b"\0\x02" + us + frame[22:32])
        return b""

    def write(self, packet: bytes) -> None:
        """Send a packet."""
        self._put(_ETHERNET + (b"\x86\xdd" if packet[0] >> 4 == 6 else b"\x08\0") + packet)

    def end(self) -> None:
        """End it."""
        self._socket.close()
        self._process.kill()
        self._process.wait()
        if not self._streams:
            os.close(self._until)

    def _put(self, frame: bytes) -> None:
        with suppress(OSError):
            self._socket.sendall(struct.pack(">I", len(frame)) * self._streams + frame)

    def _frame(self) -> bytes:
        with suppress(BlockingIOError, ConnectionError):
            self._left += self._socket.recv(65536, socket.MSG_DONTWAIT)
        if not self._streams:
            frame, self._left = self._left, b""
            return frame
        size = 4 + int.from_bytes(self._left[:4], "big")
        if len(self._left) < max(5, size):
            return b""
        frame, self._left = self._left[4:size], self._left[size:]
        return frame


def served(command: Sequence[str], mtu: int) -> Program:
    """Return a server that listens behind the wire, or has had `SERVER_S` to begin to; one that ended is an error."""
    server = Program(command, FAR, CLIENT, mtu, ("", "client"), 2)
    server.go()
    until = monotonic() + SERVER_S
    while monotonic() < until and not server.listens():
        try:
            server.control.recv(1, socket.MSG_DONTWAIT | socket.MSG_PEEK)
        except BlockingIOError:
            sleep(0.01)
            continue
        server.heard()
        server.end()
        raise ValueError(f"the server ended with status {server.status} before it listened: {' '.join(command)}")
    return server


# -- below this process


def _hold(
    control: socket.socket, parent: int, own: tuple[str, str], far: tuple[str, str], mtu: int, names: tuple[str, str],
    begin: Callable[[], None],
) -> None:  # fmt: skip
    """Make the namespaces and the device, have a first process in them run the program, and tell how that ends."""
    for number in _UNHEARD:
        signal.signal(number, signal.SIG_IGN)
    signal.signal(signal.SIGTERM, signal.SIG_DFL)
    user, group = os.getuid(), os.getgid()
    if _libc("unshare", _NEW, refused=True) == errno.EPERM:
        _libc("unshare", _NEW | _USERS)
        for name, text in (("setgroups", "deny"), ("uid_map", f"{user} {user} 1"), ("gid_map", f"{group} {group} 1")):
            Path(f"/proc/self/{name}").write_text(text, encoding="ascii")
    _end_with(parent)
    device = os.open("/dev/net/tun", os.O_RDWR | os.O_CLOEXEC)
    fcntl.ioctl(device, 0x400454CA, _TUN)
    _set_up(own, mtu, group)
    inside = os.fork()
    if not inside:
        try:
            _libc("prctl", 1, signal.SIGKILL)  # whose parent is in another namespace of processes, and may be gone
            os.close(device)
            _mount(far, names)
            if control.recv(8):
                control.close()
                begin()
        finally:
            os._exit(127)
    socket.send_fds(control, [str(inside).encode()], [device])
    os.close(device)
    status = os.waitstatus_to_exitcode(os.waitpid(inside, 0)[1])
    control.send(str(status if status >= 0 else 128 - status).encode())
    control.recv(1)


def _begin(command: Sequence[str], output: int | None) -> None:
    """Run the program as the first process of its namespace, and end as it ends."""
    waited = {signal.SIGCHLD, signal.SIGTERM}
    signal.pthread_sigmask(signal.SIG_BLOCK, waited)
    program = os.fork()
    if not program:
        try:
            for number in (*_UNHEARD, signal.SIGPIPE):
                signal.signal(number, signal.SIG_DFL)
            signal.pthread_sigmask(signal.SIG_UNBLOCK, waited)
            if output is not None:
                os.dup2(output, 1)
                if output == 2:
                    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.execvp(command[0], [*command])
        finally:
            os._exit(127)
    while True:
        if signal.sigwait(waited) == signal.SIGTERM:
            os.kill(program, signal.SIGTERM)
            continue
        while True:
            with suppress(ChildProcessError):
                ended, status = os.waitpid(-1, os.WNOHANG)
                if ended == program:
                    code = os.waitstatus_to_exitcode(status)
                    os._exit(code if code >= 0 else 128 - code)
                if ended:
                    continue
            break


def _set_up(own: tuple[str, str], mtu: int, group: int) -> None:
    """Give the device its addresses, and let it be the way to everywhere."""
    import pyroute2

    own_ipv6, pings = f"ipv6/conf/{_DEVICE}", ("ipv4/ping_group_range", f"{group} {group}")
    for name, text in (pings, (f"{own_ipv6}/router_solicitations", "0"), (f"{own_ipv6}/addr_gen_mode", "1")):
        with suppress(OSError):
            Path(f"/proc/sys/net/{name}").write_text(text, encoding="ascii")
    with pyroute2.IPRoute() as route:
        for name, more in (("lo", {}), (_DEVICE, {"mtu": mtu, "txqlen": _QUEUE})):
            [place] = route.link_lookup(ifname=name)
            route.link("set", index=place, state="up", **more)
        for family, length, address in zip((socket.AF_INET, socket.AF_INET6), (24, 64), own, strict=True):
            if family == socket.AF_INET6 and mtu < _LEAST_IPV6:
                continue
            with suppress(*([pyroute2.NetlinkError] if family == socket.AF_INET6 else [])):  # a kernel without
                route.addr("add", index=place, address=address, prefixlen=length, family=family)
                route.route("add", dst="default", oif=place, family=family)


def _mount(far: tuple[str, str], names: tuple[str, str]) -> None:
    """Give the processes a list of their own, and names that lead to the far end; files that lie nowhere."""
    resolver, called = names
    _libc("mount", b"none", b"/", None, _PRIVATE, None)
    with suppress(OSError):
        _libc("mount", b"tmpfs", b"/proc", b"tmpfs", 0, None)
        hosts = f"127.0.0.1 localhost {socket.gethostname()}\n::1 localhost\n"
        hosts += "".join(f"{address} {called}\n" for address in far)
        for name, text in (("hosts", hosts), ("resolv.conf", f"nameserver {resolver or far[0]}\noptions timeout:2\n")):
            Path("/proc", name).write_text(text, encoding="ascii")
            with suppress(OSError):
                _libc("mount", f"/proc/{name}".encode(), f"/etc/{name}".encode(), None, _BIND, None)
        _libc("umount2", b"/proc", _DETACH)
    with suppress(OSError):
        _libc("mount", b"proc", b"/proc", b"proc", 0, None)


def _end_with(parent: int) -> None:
    """Have the kernel end this process when its parent ends."""
    _libc("prctl", 1, signal.SIGKILL)
    if os.getppid() != parent:
        os._exit(1)


def _libc(name: str, *given: Any, refused: bool = False) -> int:
    """Call a function of the C library, whose failure is an OSError, or with `refused` its number."""
    function = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    if function is None or sys.platform != "linux":
        raise ValueError("emulate needs Linux")
    if function(*given) == 0:
        return 0
    number = ctypes.get_errno()
    if refused:
        return number
    raise OSError(number, os.strerror(number), name)
