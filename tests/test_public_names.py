"""What completion offers of a public module: its names and its submodules, and nothing that it imports."""

import shlex
from importlib import import_module
from types import ModuleType

from tests.tables import each

MODULES = shlex.split(
    "lpsm lpsm.bounds lpsm.combining lpsm.experts lpsm.hindsight lpsm.online lpsm.randomness lpsm.samplers lpsm.states "
    "lpsm.synthetic lpsm.synthetic_streams netsim netsim.policies traces experiments experiments.comparison"
)


@each("name", MODULES)
def test_completion_offers_the_names_of_a_module_and_nothing_that_it_imports(name):
    module = import_module(name)
    offered = {one for one in dir(module) if not one.startswith("_")}
    assert set(module.__all__) <= offered
    for one in offered - set(module.__all__):
        own = getattr(module, one)
        assert isinstance(own, ModuleType)
        assert own.__name__ == f"{name}.{one}"
