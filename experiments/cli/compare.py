"""`lpsm compare`: one workload under one policy, page by page."""

from __future__ import annotations

import click

__all__ = ["compare"]


@click.command()
def compare() -> None:
    """Simulate a workload under one policy, page by page."""
    raise click.UsageError("compare is not written yet")
