import os
import subprocess
import sys

import pytest

from experiments.cli import COMMANDS, main
from tests.tables import cases_of


def test_help_lists_every_command_and_imports_none_of_them(lpsm):
    shown = lpsm("--help")
    assert shown.exit_code == 0
    for name in COMMANDS:
        assert name in shown.stdout
        assert "Usage: lpsm" in lpsm(name, "--help").stdout
    script = (
        "import sys\n"
        "from experiments.cli import main\n"
        "try:\n    main(['--help'])\nexcept SystemExit:\n    pass\n"
        "heavy = {'numpy', 'pandas', 'rich', 'matplotlib', 'simpy', 'scipy', 'numba'} & set(sys.modules)\n"
        "assert not heavy, heavy\n"
    )
    subprocess.run([sys.executable, "-c", script], check=True, stdout=subprocess.DEVNULL)


def test_the_version_is_that_of_the_distribution(lpsm):
    from importlib.metadata import version

    assert lpsm("--version").stdout == f"lpsm {version('lpsm')}\n"


def test_a_signal_that_an_import_makes_an_error_of_still_ends_the_program_in_one_line(tmp_path):
    (tmp_path / "broken_by_a_signal.py").write_text(
        "import signal\n"
        "try:\n    signal.raise_signal(signal.SIGTERM)\n"
        "except KeyboardInterrupt as error:\n    raise ImportError('initialization failed') from error\n"
    )
    code = (
        "from experiments import cli\n"
        "cli.__path__.append('.')\n"
        "cli.COMMANDS['broken_by_a_signal'] = ''\n"
        "cli.main(['broken_by_a_signal'])\n"
    )
    ended = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, capture_output=True, text=True, timeout=600)
    assert (ended.returncode, ended.stderr) == (143, "lpsm: terminated, nothing was written\n")


@pytest.mark.long
@cases_of("wait_s", "0.6 ; 1.5")
def test_ctrl_c_while_kernels_are_compiled_ends_the_program_at_once(wait_s, tmp_path):
    workload, out = tmp_path / "pages.jsonl", tmp_path / "out.csv"
    page = '{"page": "a", "request_bytes": 300, "reply_bytes": 9000, "objects": [], "think_s": 1.0}'
    workload.write_text(page + "\n")
    code = (
        "import sys, threading, os, signal, time\n"
        "from numba.core import compiler_lock\n"
        "def interrupt():\n"
        "    lock = compiler_lock.global_compiler_lock._lock\n"
        "    while not lock._is_owned() and lock.acquire(blocking=False):\n"
        "        lock.release(); time.sleep(0.01)\n"
        f"    time.sleep({wait_s})\n"
        "    os.kill(os.getpid(), signal.SIGINT)\n"
        "threading.Thread(target=interrupt, daemon=True).start()\n"
        "from experiments.cli import main\n"
        f"main(['simulate', {str(workload)!r}, '--policy', 'psm', '--engine', 'express', '--out', {str(out)!r}])\n"
    )
    environment = {**os.environ, "NUMBA_CACHE_DIR": str(tmp_path / "cache")}
    ran = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, env=environment, timeout=600)
    assert ran.returncode == 130
    assert ran.stderr.strip().splitlines()[-1].startswith("lpsm: interrupted")
    assert "Traceback" not in ran.stderr
    assert not out.exists()


def test_linear_algebra_has_one_thread_which_a_program_that_is_emulated_is_not_told(monkeypatch):
    monkeypatch.setenv("OPENBLAS_NUM_THREADS", "2")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS")
    for name, threads in (("emulate", None), ("radio", "1")):
        main.get_command(None, name)
        assert os.environ.get("OPENBLAS_NUM_THREADS") == threads
