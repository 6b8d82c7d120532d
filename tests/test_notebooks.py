"""Every notebook runs from top to bottom, and is kept without its outputs."""

from pathlib import Path

import nbformat
import pytest
from nbclient import NotebookClient

NOTEBOOKS = sorted((Path(__file__).parents[1] / "notebooks").glob("*.ipynb"))


@pytest.mark.long  # the documentation runs them, too
@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_runs_from_top_to_bottom(path, tmp_path):
    notebook = nbformat.read(path, as_version=4)
    NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = [output for cell in notebook.cells if cell.cell_type == "code" for output in cell.outputs]
    assert any(output.output_type != "error" for output in printed)


@pytest.mark.parametrize("path", NOTEBOOKS, ids=lambda path: path.stem)
def test_a_notebook_is_kept_without_outputs(path):
    cells = [cell for cell in nbformat.read(path, as_version=4).cells if cell.cell_type == "code"]
    assert all(not cell.outputs and cell.execution_count is None for cell in cells)


@pytest.mark.long
def test_the_replay_takes_a_file_of_the_readers_own(tmp_path):
    own = tmp_path / "own.csv"
    own.write_text("time,end,bytes\n" + "".join(f"{7 * k},{7 * k + 1},{5000 + 40 * k}\n" for k in range(30)))
    (path,) = (path for path in NOTEBOOKS if path.stem == "replaying_your_own_trace")
    notebook = nbformat.read(path, as_version=4)
    cell = next(cell for cell in notebook.cells if 'my_trace = ""' in cell.source)
    cell.source = cell.source.replace('my_trace = ""', f"my_trace = {str(own)!r}")
    NotebookClient(notebook, timeout=1200, resources={"metadata": {"path": str(tmp_path)}}).execute()
    printed = "".join(output.get("text", "") for cell in notebook.cells for output in cell.get("outputs", ()))
    assert "30 replies" in printed
    assert not (tmp_path / "replies.csv").exists()
