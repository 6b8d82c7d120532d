"""What an algorithm of the catalogue is made of, and the register in which each module enters its own.

What it models: key = learner + query rule + what is stored.  An entry is a function of the algorithm's
own parameters, by symbol; its docstring says what the algorithm does, and its source where it is from.
Papers go by the letters in `PAPERS`.  Notation: p = w.x, r = x'A^-1 x, m the margin, N the examples stored
so far.
What it leaves out: best values.  A default is the paper's where the docstring says so; elsewhere the
papers tune it, and the default is merely a place to start.
"""

from __future__ import annotations

import inspect
import re
from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

from lpsm.samplers.layout import Part

__all__ = ["CATALOGUE", "Entry", "Recipe", "registered"]


PAPERS = {
    "T": "Monteleoni 2006",
    "W": "Cesa-Bianchi, Gentile and Zaniboni 2004",
    "A": "Cavallanti, Cesa-Bianchi and Gentile 2010",
    "R": "Cesa-Bianchi 2007",
    "D": "Moroshko and Crammer 2014",
    "AROW": "Crammer, Kulesza and Dredze 2009",
    "AG": "Duchi, Hazan and Singer 2011",
    "IU": "Karampatziakis and Langford 2011",
    "IW": "Beygelzimer, Hsu, Langford and Zhang 2010",
}


@dataclass(frozen=True, slots=True, kw_only=True)
class Recipe:
    """What an entry is made of."""

    learner: Part
    rule: Part
    stores: str = "mistakes"
    normalize: bool = False


class Entry(NamedTuple):
    """One algorithm of the catalogue.

    `written` is the key with its parameters and their defaults, `meaning` what the algorithm does, `source`
    the paper and the place in it, `example` a command that uses it, and `recipe` makes it of its parameters.
    """

    written: str
    meaning: str
    source: str
    example: str
    recipe: Callable[..., Recipe]

    @property
    def parameters(self) -> tuple[inspect.Parameter, ...]:
        """The algorithm's own parameters, with their defaults."""
        return tuple(inspect.signature(self.recipe).parameters.values())


CATALOGUE: dict[str, Entry] = {}


def registered(*keys: str, source: str) -> Callable[[Callable[..., Recipe]], Callable[..., Recipe]]:
    """Enter the decorated function into the catalogue under each of its keys."""

    def register(recipe: Callable[..., Recipe]) -> Callable[..., Recipe]:
        parameters = inspect.signature(recipe).parameters.values()
        defaults = [f"{p.name.rstrip('_')}={p.default}" for p in parameters if p.default is not None]
        meaning = " ".join((inspect.getdoc(recipe) or "").split())
        cited = "; ".join(
            f"{letter}: {PAPERS[letter]}" for letter in PAPERS if re.search(rf"\b{letter}\b(?!')", source)
        )
        for key in keys:
            settings = "".join(f" --param {setting}" for setting in defaults[:1])
            CATALOGUE[key] = Entry(
                written=" ".join((key, *(f"[{setting}]" for setting in defaults))),
                meaning=meaning,
                source=f"{source} ({cited})" if cited else source,
                example=f"lpsm label sms-spam --algorithm {key}{settings}",
                recipe=recipe,
            )
        return recipe

    return register
