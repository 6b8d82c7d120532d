"""The wheel carries all four packages, owned by this distribution alone, and its program starts."""

import os
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]
PACKAGES = ["lpsm", "netsim", "traces", "experiments"]


@pytest.fixture(scope="module")
def installed(tmp_path_factory):
    """Build the wheel and install it, without its dependencies, into a folder of its own."""
    folder = tmp_path_factory.mktemp("wheel")
    build = [sys.executable, "-m", "build", "--wheel", "--no-isolation", "--outdir", str(folder), str(ROOT)]
    subprocess.run(build, check=True, capture_output=True)
    [wheel] = folder.glob("*.whl")
    target = folder / "site"
    install = [sys.executable, "-m", "pip", "install", "--quiet", "--no-deps", "--no-index", "--target", str(target)]
    subprocess.run([*install, str(wheel)], check=True, capture_output=True)
    return target


def run(installed, *arguments):
    environment = {**os.environ, "PYTHONPATH": str(installed)}
    return subprocess.run([sys.executable, *arguments], env=environment, cwd=installed.parent, capture_output=True,
        text=True, check=True).stdout  # fmt: skip


def test_the_four_packages_come_from_one_place_and_belong_to_one_distribution(installed):
    code = """
import importlib, importlib.metadata as metadata, sys
for name in sys.argv[1:]:
    print(importlib.import_module(name).__file__)
owned = {file.parts[0] for file in metadata.distribution("lpsm").files if not file.parts[0].startswith("..")}
print(sorted(name for name in owned if "." not in name and name != "bin"))
"""
    *files, owned = run(installed, "-c", code, *PACKAGES).splitlines()
    assert files == [str(installed / name / "__init__.py") for name in PACKAGES]
    assert owned == str(sorted(PACKAGES))


def test_the_version_of_the_project_is_that_of_its_citation_its_changelog_and_its_program(installed):
    version = tomllib.loads((ROOT / "pyproject.toml").read_text())["project"]["version"]
    assert re.findall(r"^version: (.+)$", (ROOT / "CITATION.cff").read_text(), re.MULTILINE) == [version]
    assert re.findall(r"^## (\d\S*)", (ROOT / "CHANGELOG.md").read_text(), re.MULTILINE)[0] == version
    assert run(installed, "-c", "import lpsm; print(lpsm.__version__)").strip() == version


def test_the_wheel_holds_every_module_and_data_file_of_the_source(installed):
    for package in PACKAGES:
        for path in (ROOT / package).rglob("*"):
            if path.is_file() and "__pycache__" not in path.parts:
                assert (installed / path.relative_to(ROOT)).exists(), path


def test_the_installed_program_shows_its_help(installed):
    assert "compare" in run(installed, "-c", "from experiments.cli import main; main()", "--help")


def test_every_module_of_tests_has_one():
    texts = {path: path.read_text() for path in (ROOT / "tests").rglob("test_*.py")}
    assert [path for path, text in texts.items() if not re.search("^ *def test_", text, re.MULTILINE)] == []
