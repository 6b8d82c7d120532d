"""`lpsm benchmark`: policies of one's own beside all registered ones, in fixed worlds."""

from functools import partial
from pathlib import Path

import click

from experiments.cli import options
from experiments.cli.studies import ended, folder


@options.command(
    options.policies(None, "Policies beside the registered ones, such as mine.py:CLASS."),
    options.flag("--quick", "Two seeds of a fraction of the time each: some minutes."),
    options.choice("--split", ["public", "held-out"], "Seeds to choose constants on, or those for what is published."),
    options.option("--data", "Folder of data sets: adds recorded sessions.", click.Path(path_type=Path)),
    options.out("benchmark"),
    options.JOBS,
    options.JSON,
)
def benchmark(asked: options.Asked) -> None:
    """Hold policies against mixtures of all others in the worlds of the benchmark.

    OUT receives the results (benchmark.json, whose form docs/benchmark.md tells; results.csv and summary.csv), a table
    to paste (benchmark.md) and a picture. A run that was stopped goes on when the same command is given again.
    """
    from experiments import benchmark as study
    from experiments.figures.benchmark import heights
    from experiments.report.text import of_frame, plain
    from experiments.study.run import run
    from netsim.policies import OwnPolicy

    own = asked.policies or []
    listed = study.tasks(own, quick=asked.quick, split=asked.split, data=asked.data)
    named = next(iter(listed.values())).policies
    settings = {"split": asked.split, "quick": asked.quick, "recorded": asked.data is not None, "policies": [*named]}
    shape = {"world": str, "seed": int, "rows": [{"policy": str, "total_j": (int, float)}]}
    digests = {}
    for name, policy in named.items():
        if isinstance(policy, OwnPolicy):
            from experiments.study.files import content_digest

            digests[name] = content_digest(Path(policy.place))
    with folder("benchmark", asked, {**settings, "own_policies": digests}, shape) as store:
        results = run(
            study.browse, listed, jobs=asked.jobs, finished=store.finished, keep=store.keep, title="seeds of a world"
        )
        found = study.scored(results)
        text = (
            f"{of_frame(study.COLUMNS, found.summary)}\n\n"
            "above hull: energy beside the best mixture of all others that is no slower, mean over worlds;\n"
            "worlds at it: in how many it is not above by more than its interval; kept: seeds on which it gave\n"
            "what its name says."
        )
        drawings = {"benchmark": partial(heights, found.results, found.summary["policy"].tolist())}
        files = {"benchmark.json": found.as_json(settings), "benchmark.md": found.as_markdown()}
        shown = f"{text}\n{study.cpu_text(results)}"
        ended(
            store, asked, "benchmark", text, {"summary": plain(found.summary)},
            {"results": found.results, "summary": found.summary}, drawings, files, shown,
        )  # fmt: skip
