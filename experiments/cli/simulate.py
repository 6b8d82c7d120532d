"""`lpsm simulate`: one workload under one policy, page by page."""

from __future__ import annotations

import click

__all__ = ["simulate"]


@click.command()
def simulate() -> None:
    """Simulate a workload under one policy, page by page."""
    raise click.UsageError("simulate is not written yet")
