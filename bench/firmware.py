"""Exported policies, checked: on two devices under QEMU, decision by decision beside Python, and with random calls.

``python -m bench.firmware [devices|large|decisions|fuzz|worlds]... [--most N]``; without a name all of them (`make
check-firmware`).  What needs a tool that is not there is skipped, and the tool is named.
"""

import argparse
import ctypes
import os
import re
import shutil
import subprocess
import sys
from collections.abc import Iterator
from itertools import islice
from pathlib import Path
from tempfile import TemporaryDirectory, mkdtemp
from typing import Any

import numpy as np

from netsim.policies.compiled import CompiledForm

DEVICES = Path(__file__).parent / "devices"
FOLDERS = TemporaryDirectory(prefix="lpsm-firmware-")  # which goes at the end
STRICT = ["-std=c99", "-pedantic", "-Wall", "-Wextra", "-Werror", "-Wconversion", "-ffp-contract=off"]
SECTIONS = ["-Os", "-std=gnu99", "-DLPSM_COUNT", "-ffunction-sections", "-fdata-sections", "-Wl,--gc-sections"]
RISCV = ["riscv64-unknown-elf-gcc", "--specs=picolibc.specs", "--oslib=semihost", "--crt0=semihost", "-march=rv32imac",
    "-mabi=ilp32", "-msave-restore", *SECTIONS, "-Wl,--defsym=__flash=0x80000000", "-Wl,--defsym=__flash_size=0x400000",
    "-Wl,--defsym=__ram=0x80400000", "-Wl,--defsym=__ram_size=0x400000", "-Tpicolibc.ld"]  # fmt: skip
CORTEX = ["arm-none-eabi-gcc", "--specs=rdimon.specs", "-mcpu=cortex-m33", "-mthumb", "-mfloat-abi=hard",
    "-mfpu=fpv5-sp-d16", *SECTIONS, "-nostartfiles", "-T", str(DEVICES / "cortex.ld")]  # fmt: skip
COUNTED = ["-nographic", "-icount", "shift=0", "-kernel"]
BOARDS = {
    "rv32imac": (RISCV, "riscv.c", ["qemu-system-riscv32", "-machine", "virt", "-bios", "none",
        "-semihosting-config", "enable=on", *COUNTED]),
    "Cortex-M33": (CORTEX, "cortex.c", ["qemu-system-arm", "-machine", "mps2-an505", "-semihosting", *COUNTED]),
}  # fmt: skip
INSTALL = "apt install gcc clang gcc-riscv64-unknown-elf picolibc-riscv64-unknown-elf gcc-arm-none-eabi " \
    "libnewlib-arm-none-eabi qemu-system-misc qemu-system-arm"  # fmt: skip
SMALL = "lpsm3-link:1.05:400:small"
ON_DEVICES = (
    ("dynamic", "float"), ("lpsm:alphas=12", "double"), (SMALL, "float"), ("lpsm3-driver:1.05:400:small", "float"),
)  # fmt: skip
LARGE = (
    ("psm", "float"), ("bsd-phase", "float"), ("lpsm3-link", "double"), ("lpsm3-link", "float"),
    ("lpsm4-link", "float"), ("lpsm4-driver:1.05:400:small", "float"),
)  # fmt: skip
POLICIES = ("psm:204.8", "dynamic", "driver:esp-idf", "break-even", "break-even:random", "doubling", "bsd", "bsd-phase",
    "bsd-host", "hold", "poll", "poll-link", "upm", "sifi", "lpsm", "lpsm:log", "lpsm:alphas=0.01", "lpsm-poll",
    "lpsm3", "lpsm3-link", "lpsm3:1.05:400@p95", SMALL, "lpsm4", "lpsm4-link",
    "lpsm3-driver", "lpsm4-driver")  # fmt: skip


def export(policy: str, real: str, *more: str) -> Path:
    """Export a policy into a new folder."""
    folder = Path(mkdtemp(dir=FOLDERS.name))
    call = [sys.executable, "-m", "lpsm", "export", policy, "--real", real, "--out", folder, *more]
    subprocess.run(call, check=True, capture_output=True)
    return folder


def built(compiler: list[str], folder: Path, *more: str | Path) -> Path:
    """Compile an exported policy with other sources."""
    out = folder / "program"
    sources = [one for one in map(str, more) if one.endswith(".c")]
    flags = [one for one in map(str, more) if not one.endswith(".c")]
    subprocess.run([*compiler, *flags, f"-I{folder}", folder / "lpsm_policy.c", *sources, "-lm", "-o", out], check=True)
    return out


def there(*tools: str) -> bool:
    """Whether all tools are there; says so if not."""
    absent = [tool for tool in tools if shutil.which(tool) is None]
    if absent:
        print(f"skipped: {', '.join(absent)} not found; {INSTALL}")
    return not absent


def devices(forms: tuple[tuple[str, str], ...] = ON_DEVICES) -> None:
    """Run the vectors on each device: decisions as here, bytes of flash and RAM, instructions a decision."""
    if not there("gcc"):
        return
    print("policy, real, device: flash, state in RAM, instructions a decision (median, worst), decisions equal")
    for policy, real in forms:
        folder = export(policy, real, "--radio", "esp32-c6")
        host = subprocess.run(
            [built(["gcc", *STRICT], folder, folder / "lpsm_check.c")], capture_output=True, text=True
        )
        print(f"{policy}, {real}, here: {host.stdout.strip()}")
        for name, (compiler, start, machine) in BOARDS.items():
            if not there(compiler[0], machine[0]):
                continue
            program = built(compiler, folder, folder / "lpsm_check.c", DEVICES / start)
            said = subprocess.run(
                [*machine, program], stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
                text=True, timeout=600,
            )  # fmt: skip
            lines = [line.strip() for line in said.stdout.splitlines() if line.strip()]
            counts = sorted(int(line) for line in lines if line.isdigit())
            flash, ram = _sizes(compiler, folder, start)
            print(f"{policy}, {real}, {name}: {flash} B, {ram} B, "
                f"{counts[len(counts) // 2]:,}, {counts[-1]:,}, {lines[-1]}", flush=True)  # fmt: skip
            assert lines[-1] == host.stdout.strip(), said.stdout[-200:]
        _stack(folder)


def _sizes(compiler: list[str], folder: Path, start: str) -> tuple[int, int]:
    """Return bytes of code and tables that a policy adds to an empty program, and bytes of its state."""
    sizes = []
    for calls in ("return 0;",
            "lpsm_policy_init(&policy); lpsm_view view; lpsm_frame frame; int64_t *words = (int64_t *)&view; "
            "for (unsigned i = 0; i < sizeof view / 8; i++) words[i] = any; words = (int64_t *)&frame; "
            "for (unsigned i = 0; i < sizeof frame / 8; i++) words[i] = any; "
            "lpsm_policy_observe(&policy, &frame); return (int)lpsm_policy_plan(&policy, &view).wake_ns;"):  # fmt: skip
        (folder / "size.c").write_text(
            f'#include "lpsm_policy.h"\nlpsm_policy policy;\nvolatile int64_t any;\nint main(void) {{{calls}}}\n'
        )
        program = built(compiler, folder, folder / "size.c", DEVICES / start)
        text = subprocess.run([compiler[0].replace("gcc", "size"), program], capture_output=True, text=True, check=True)
        sizes.append([int(word) for word in text.stdout.splitlines()[1].split()[:3]])
    (less_text, less_data, _), (text_bytes, data, _) = sizes
    (folder / "ram.c").write_text('#include "lpsm_policy.h"\nchar size[sizeof(lpsm_policy)];\n')
    subprocess.run([*compiler[:1], "-c", *(one for one in compiler if one.startswith(("-m", "--specs"))),
        folder / "ram.c", "-o", folder / "ram.o"], check=True)  # fmt: skip
    found = subprocess.run([compiler[0].replace("gcc", "size"), folder / "ram.o"], capture_output=True, text=True)
    words = [int(word) for word in found.stdout.splitlines()[1].split()[:3]]
    return text_bytes + data - less_text - less_data, words[1] + words[2]


def _stack(folder: Path) -> None:
    """See to it that no function is longer than 80 lines or has a frame above 1 KB."""
    subprocess.run(["gcc", "-std=c99", "-Os", "-fstack-usage", "-c", folder / "lpsm_policy.c", "-o", folder / "s.o"],
        check=True)  # fmt: skip
    frames = [int(line.split("\t")[1]) for line in (folder / "s.su").read_text().splitlines()]
    text = (folder / "lpsm_policy.c").read_text()
    functions = re.findall(r"^(?:static|void|lpsm_plan) [^;={]*\)\n\{\n.*?^\}", text, re.MULTILINE | re.DOTALL)
    lines = [part.count("\n") + 1 for part in functions]
    assert max(frames) <= 1024, frames
    assert max(lines) <= 80, lines
    print(f"    largest stack frame {max(frames)} B, longest function {max(lines)} lines")


def fuzz(most: int) -> None:
    """Call policies with random views and frames under the sanitizers; their code is clean for two compilers."""
    if not there("gcc", "clang"):
        return
    forms = [(policy, real) for policy in POLICIES for real in ("double", "float")
        if real == "double" or not policy.startswith("lpsm") or policy[4:5] in ("3", "4")]  # fmt: skip
    for policy, real in forms:
        folder = export(policy, real)
        for compiler in ("gcc", "clang"):
            built([compiler], folder, *STRICT, "-O2", folder / "lpsm_check.c")
        flags = ["-g", "-O1", "-std=c99", "-fsanitize=address,undefined", "-fno-sanitize-recover=all"]
        program = built(["gcc"], folder, *flags, folder / "lpsm_check.c")
        subprocess.run([program], check=True, capture_output=True)
        program = built(["gcc"], folder, *flags, DEVICES / "fuzz.c")
        said = subprocess.run([program, str(most // len(forms) + 1)], capture_output=True, text=True)
        print(f"{policy}, {real}: {said.stdout.strip() or said.stderr[-1500:]}", flush=True)
        assert said.returncode == 0


class Both(CompiledForm):
    """The compiled form of a policy with its C beside it, which decides if it `leads`; counts decisions."""

    def __init__(self, folder: Path, policy: Any, *, leads: bool = False) -> None:
        form = policy.compiled
        super().__init__(*form.rules, ints=form.ints, floats=form.floats, prepare=form.prepare)
        self.library, policy.compiled = ctypes.CDLL(str(folder / "both.so")), self
        self._set("both_follows_c", leads)
        for name in ("both_decisions", "both_equal"):
            self._set(name, 0)

    def __deepcopy__(self, memo: object) -> "Both":
        return self

    def __getitem__(self, name: str) -> int:
        return int(ctypes.c_int64.in_dll(self.library, name).value)

    def _set(self, name: str, value: int) -> None:
        ctypes.c_int64.in_dll(self.library, name).value = value

    @property
    def addresses(self) -> tuple[int, int]:
        plan, observe = super().addresses
        self._set("both_plan_of", plan)
        self._set("both_observe_of", observe)
        places = (ctypes.cast(getattr(self.library, name), ctypes.c_void_p) for name in ("both_plan", "both_observe"))
        ours = [place.value or 0 for place in places]
        return ours[0], ours[1] if observe else 0


def beside(policy: str, real: str, *more: str) -> Path:
    """Export a policy for `worlds_of`, and compile it for `Both`, into a folder."""
    folder = export(policy, real, "--dtim", "1", *more)
    flags = ["-std=c99", "-O2", "-ffp-contract=off", "-shared", "-fPIC"]
    built(["gcc", *flags], folder, DEVICES / "both.c").rename(folder / "both.so")
    return folder


def worlds_of(radio: str, beacon_ms: float, seed: int = 0) -> Iterator[Any]:
    """Yield worlds at random without end: wires and air, servers of five kinds, some of whose times fall on beacons."""
    import netsim
    import traces
    from traces.records import Message, Page

    while True:
        rng = np.random.default_rng(seed)
        tied = seed % 4 == 3
        delay = f"{beacon_ms * 1e-3}" if tied else ("lognormal:0.5:0.8", "exponential:0.3", "0", "0.25")[seed % 3]
        config = netsim.SimulationConfig(
            server_delay=delay,
            radio=radio,
            beacon_interval_ns=round(beacon_ms * 1e6),
            medium="11n" if seed % 5 == 4 else None,
        )
        gap = 3.0 if tied else float(rng.uniform(0.2, 20.0))
        push, at = [], 0.0
        while at < 60.0:
            more_s = float(rng.exponential(gap))
            at += round(more_s / beacon_ms * 1e3) * beacon_ms * 1e-3 if tied else more_s
            push.append(Message(at, int(rng.integers(60, 3000))))
        drawn = ((*rng.integers(100, (900, 60_000)).tolist(), (), float(rng.uniform(0.1, 9.0))) for _ in range(6))
        pages = [Page(f"p{i}", *page) for i, page in enumerate(drawn)]
        yield seed, config, pages if seed % 10 else traces.generate(1, rng), push
        seed += 1


def simulated(policy: object, world: Any, **how: Any) -> Any:
    """Simulate a policy in one of `worlds_of`."""
    import netsim

    seed, config, pages, push = world
    return netsim.simulate(pages, policy, config=config, seed=seed, push=push, **how)


def made_for(policy: str, world: Any) -> Any:
    """Make a policy for a world."""
    from netsim.policies import make

    return make(policy, **world[1].setting)


def decisions(most: int) -> None:
    """Hold policies in double against Python's, decision by decision, in worlds at random."""
    total = equal = used = 0
    for place, policy in enumerate(POLICIES):
        settings = [("esp32-c6", 100.0), ("pixel-7-pro", 102.4)][policy == "psm:204.8" :]
        before = total
        for number, (radio, beacon_ms) in enumerate(settings, 1):
            folder = beside(policy, "double", "--radio", radio, "--beacon-ms", str(beacon_ms))
            for world in worlds_of(radio, beacon_ms, 1000 * place):
                both = Both(folder, made := made_for(policy, world))
                simulated(made, world, engine="express")
                total, equal, used = total + both["both_decisions"], equal + both["both_equal"], used + 1
                if total - before >= most * number / len(settings) / len(POLICIES):
                    break
        print(f"{policy}: {total - before} decisions, so far {equal} of {total} equal, {used} worlds", flush=True)
    assert equal == total


def worlds(most: int) -> None:
    """Simulate float and coarse forms as policies beside Python's: energy and slowdown over worlds."""
    for policy, python in (*((one, one) for one in ("lpsm3-link", "lpsm4-link", SMALL)), (SMALL, "lpsm3-link")):
        folder = beside(policy, "float", "--radio", "esp32-c6", "--beacon-ms", "100")
        found = []
        for world in islice(worlds_of("esp32-c6", 100.0), most):
            Both(folder, made := made_for(policy, world), leads=True)
            results = [simulated(one, world) for one in (python, made, "none")]
            found.append([(result.energy.total_j, result.latency_s.sum()) for result in results])
        ((energy, latency), (energy_c, latency_c), (energy_0, latency_0)), rows = np.sum(found, axis=0), np.array(found)
        off = rows[:, 1, 0] / rows[:, 0, 0] - 1.0
        print(f"{policy} in C beside {python}: {most} worlds, energy {energy_c / energy - 1.0:+.4%}, slowdown "
            f"{latency / latency_0:.4f} -> {latency_c / latency_0:.4f}, saving "
            f"{(energy_0 - energy_c) / (energy_0 - energy) - 1.0:+.3%}; farthest off: "
            + ", ".join(f"{off[i]:+.2%} in {i}" for i in np.argsort(-abs(off))[:4]), flush=True)  # fmt: skip


def main() -> None:
    """Do what is asked for."""
    parser = argparse.ArgumentParser(description=__doc__)
    checks = {
        "devices": lambda most: devices(),
        "large": lambda most: devices(LARGE),
        "fuzz": fuzz,
        "decisions": decisions,
        "worlds": worlds,
    }
    parser.add_argument("checks", nargs="*", choices=[*checks, []], default=[*checks])
    parser.add_argument("--most", type=int, help="decisions, calls or worlds [1,000,000; worlds 200]")
    asked = parser.parse_args()
    os.chdir(Path(__file__).parents[1])
    for name in asked.checks:
        print(f"== {name}", flush=True)
        checks[name](asked.most or (200 if name == "worlds" else 1_000_000))


if __name__ == "__main__":
    main()
