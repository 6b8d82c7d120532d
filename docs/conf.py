"""How Sphinx builds these pages: Markdown as it is, and a reference generated from the docstrings.

``sphinx-build -W -b html docs docs/_build`` needs the extra ``lpsm[docs]`` and no network.
"""

import re
import shutil
from importlib.metadata import version as installed
from pathlib import Path

project = "lpsm"
author = "The lpsm developers"
version = release = installed("lpsm")

extensions = ["myst_nb", "sphinx.ext.autodoc", "sphinx.ext.autosummary", "sphinx.ext.napoleon"]
exclude_patterns = ["_build", "jupyter_execute"]
templates_path = ["_templates"]
html_theme = "furo"
html_title = "lpsm"
html_show_copyright = False
html_show_sphinx = False

myst_heading_anchors = 3
myst_enable_extensions = ["colon_fence"]

# the notebooks are kept without outputs: they are run here, once until they or the packages change
HERE = Path(__file__).parent
shutil.copytree(HERE.parent / "notebooks", HERE / "notebooks", dirs_exist_ok=True, ignore=shutil.ignore_patterns(".*"))
nb_execution_mode = "cache"
nb_execution_cache_path = str(HERE / "_build" / "notebooks_run")
nb_execution_timeout = 240
nb_execution_in_temp = True
nb_execution_raise_on_error = True
nb_merge_streams = True

suppress_warnings = ["ref.python"]  # a package shows what its modules define: names have two places

autosummary_generate = True
autodoc_member_order = "bysource"
autodoc_typehints = "signature"
autodoc_typehints_format = "short"
autodoc_type_aliases = {name: name for name in ("ArrayLike", "Floats", "Path")}
autodoc_default_options = {"members": True}
napoleon_google_docstring = False
napoleon_numpy_docstring = True
napoleon_use_rtype = False
napoleon_use_ivar = True

COMMENTS = {}  # of attributes, by their names


def plain(app, what, name, thing, options, lines):
    """Make a docstring of ours readable to Sphinx: examples under their heading, and |x| an absolute value."""
    for number, line in enumerate(lines):
        if not line.lstrip().startswith((">>>", "...")):
            lines[number] = "".join(
                part if part.startswith("`") else part.replace("|", r"\|") for part in re.split(r"(`+[^`]*`+)", line)
            )
    sections = any(line and set(line) == {"-"} for line in lines)
    examples = [number for number, line in enumerate(lines) if line.startswith(">>>")]
    if sections and examples and "Examples" not in lines:  # else they would be taken for text of the last section
        lines[examples[0] : examples[0]] = ["Examples", "--------"]
    if what in ("attribute", "data", "property") and not sections:
        COMMENTS[name] = list(lines)


def as_written(app, what, name, thing, options, lines):
    """Give the words about an attribute back as they are: napoleon takes what stands before a colon for a type."""
    if name in COMMENTS:
        lines[:] = COMMENTS.pop(name)


def without_more(app, what, name, thing, skip, options):
    """Leave out what scikit-learn adds to every estimator, and fields of tuples, which their class tells of."""
    numbered = str(getattr(thing, "__doc__", "")).startswith("Alias for field number")
    return True if numbered or re.fullmatch(r"set_\w+_request", name) else None


def named(app, what, name, thing, options, signature, returns):
    """Give aliases of types in a signature by their names alone."""
    return tuple(text and re.sub(r"TypeAliasForwardRef\('(\w+)'\)", r"\1", text) for text in (signature, returns))


def folded(app, page, template, context, tree):
    """Unfold, beside a page, no more of the contents than where it stands: they are of two hundred pages and more."""
    whole = context.get("toctree")
    if whole:
        context["toctree"] = lambda **how: whole(**{**how, "collapse": True})


def setup(app):
    """Connect the above, before napoleon reads the sections, and the theme its contents."""
    app.connect("html-page-context", folded, priority=400)
    app.connect("autodoc-process-docstring", plain, priority=400)
    app.connect("autodoc-process-docstring", as_written, priority=600)
    app.connect("autodoc-process-signature", named)
    app.connect("autodoc-skip-member", without_more)
