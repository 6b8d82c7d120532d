"""`lpsm generate`: a workload drawn from the measured Web model."""

from __future__ import annotations

import json
from pathlib import Path

import click

__all__ = ["generate"]


@click.command()
@click.option("--pages", "n_pages", type=int, default=100, show_default=True, help="How many pages.")
@click.option("--seed", type=int, default=0, show_default=True, help="Of the draws; the same seed, the same bytes.")
@click.option("--out", type=click.Path(path_type=Path), help="JSON-lines file for the pages [standard output].")
@click.option("--json", "as_json", is_flag=True, help="Print the totals as one JSON object (needs --out).")
def generate(n_pages: int, seed: int, out: Path | None, as_json: bool) -> None:
    """Draw pages of the Web model: sizes, embedded objects and think times.

    The pages are those that lpsm compare draws for the same seed.
    """
    import traces
    from lpsm.randomness import WORKLOAD, generator

    if seed < 0:
        raise ValueError(f"--seed must be at least 0, got {seed}")
    if n_pages < 1:
        raise ValueError(f"--pages must be at least 1, got {n_pages}")
    if as_json and out is None:
        raise ValueError("--json needs --out FILE for the pages, got none")
    pages = traces.generate(n_pages, generator(seed, WORKLOAD))
    if out is None:
        for page in pages:
            click.echo(traces.workload_line(page), nl=False)
        return
    traces.write_workload(out, pages)
    if as_json:
        totals = {
            "pages": len(pages),
            "objects": sum(len(page.objects) for page in pages),
            "reply_bytes": sum(page.reply_bytes + sum(reply for _, reply in page.objects) for page in pages),
            "think_s": sum(page.think_s for page in pages),
        }
        click.echo(json.dumps(totals))
