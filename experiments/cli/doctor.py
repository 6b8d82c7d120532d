"""`lpsm doctor`: what the program runs on, and what is missing."""

import importlib.util
import platform
import re
from importlib import metadata

import click

from experiments.cli import options
from experiments.escaping import echo
from experiments.quantities import Row

DATA = {  # traces and data sets -> the folder of each
    **{name: name
        for name in ("bu-www-client", "ucb-home-ip", "har", "pcap", "captures", "elec2", "mnist", "usps", "rcv1")},
    "reuters": "reuters21578", "sms-spam": "sms_spam", "spam-drift": "spam_katakis_stream",
}  # fmt: skip
EXTRAS = {
    "distributed": "cluster",
    "starlette": "explore",
    "gymnasium": "gymnasium",
    "jupyterlab": "notebooks",
    "river": "river",
}


@options.command(
    options.flag("--compile compile_now", "Compile what runs need, once, so that none waits for it."), options.JSON
)
def doctor(asked: options.Asked) -> None:
    """Say what the program runs on: versions, processors, caches, data.

    Exit status 0, or 1 if the compiled code does not run.
    """
    from experiments.datasets import data_folder
    from experiments.study.run import processes
    from lpsm.native import folder_of

    if asked.compile_now:
        _compile()
    code = "runs"
    try:
        _run()
    except Exception as error:  # whatever is wrong is what a doctor is asked for
        code = f"does not run: {error}"
    try:
        folder = data_folder()
        data = {name: "found" if (folder / place).exists() else "not found" for name, place in DATA.items()}
        where = str(folder)
    except (ValueError, OSError):
        where, data = "none (LPSM_DATA is not set)", {}
    found: Row = {
        "python": platform.python_version(),
        "system": f"{platform.system()} {platform.machine()}",
        "processors": processes(None),
        "libraries": {name: metadata.version(name) for name in ("lpsm", *_needed())},
        "extras": {
            name: "installed" if importlib.util.find_spec(name) else f"not installed, lpsm[{extra}]"
            for name, extra in EXTRAS.items()
        },
        "compiled_code": code,
        "compile_cache": str(folder_of("netsim") or "none: nothing is kept"),
        "data_folder": where,
        "data": data,
    }
    lines = []
    for title, value in found.items():
        words = "; ".join(map(" ".join, value.items())) or "-" if isinstance(value, dict) else value
        lines.append(f"{title.replace('_', ' ')}: {words}")
    options.answer(asked, found, "\n".join(lines))
    if code != "runs":
        click.get_current_context().exit(1)


def _needed() -> list[str]:
    """Return the names of the packages that this one depends on, extras aside."""
    return [re.split(r"[^\w-]", one)[0] for one in metadata.requires("lpsm") or [] if "extra ==" not in one]


def _run() -> None:
    import netsim
    from experiments.study.sweep import ONE_PAGE

    netsim.simulate(ONE_PAGE, "psm", engine="express")


def _compile() -> None:
    """Compile what runs under every kind of policy, learners and samplers call, on all processors."""
    from experiments.study.run import processes, run
    from experiments.study.sweep import compile_express
    from netsim import SimulationConfig
    from netsim.policies import registry

    echo("Compiling the simulator, the policies' rules, learners and samplers, once.", err=True)
    compile_express({entry.example for entry in registry().values()}, SimulationConfig(), processes(None))
    run(_use, {"learners": "learners", "samplers": "samplers"}, jobs=processes(None), title="rooms compiled")


def _use(room: str) -> None:
    """Call what learns, so that it is compiled."""
    from numpy.random import default_rng

    from experiments.study.trials import Trial, play
    from lpsm import Combiner, LearnAlpha, bounds, samplers
    from lpsm.experts import AdaHedge
    from netsim.policies.polling import PollingLearner

    losses = default_rng(0).random((4, 2))
    if room == "learners":
        bounds.report(learner := LearnAlpha(2, [0.1]), losses)
        learner.run(losses, losses < 0.5)
        learner.update(losses[0], losses[0] < 1.0)
        play(Trial(index=0, process="adversarial", rounds=9))
        AdaHedge(2).run(losses)
        Combiner(2).run(losses, losses[:, 0])
        PollingLearner().poll(100.0, 0.0)
        return
    grid = samplers.TunedSampler("ss", 2, parameter="K", grid=[0.1, 1.0])
    for one in (*(samplers.make(k, 2) for k in samplers.registry()), samplers.make("sop", 2, kernel="linear"), grid):
        one.run(losses, [1, -1, 1, -1])
        one.decide(losses[0])
