"""The algorithms: learners, query rules beside their compiled probabilities, kernels, and the catalogue's entries.

Importing this package fills `recipes.CATALOGUE`: each module registers the algorithms it has.  `PARTS` holds
every record of parameters by the name of its class.
"""

# The order of these imports is the catalogue's.
# isort: off
from lpsm.samplers.algorithms import always, coins, thresholds, adaptive, filters, hinge
from lpsm.samplers.algorithms import kernels, learners
# isort: on

__all__ = ["PARTS"]

PARTS = {
    name: record
    for module in (learners, kernels, always, coins, thresholds, adaptive, filters, hinge)
    for name, record in vars(module).items()
    if isinstance(record, type)
    and hasattr(record, "__dataclass_fields__")
    and hasattr(record, "plan")
    and record is not kernels.CallableKernel  # which no state holds
}
