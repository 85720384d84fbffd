"""Search for the network in which a scheme fails, and for the shortest scenario that shows it.

`bounds` says which networks are searched, `properties` what counts as a failure, `search` finds a network, `shrink` makes
it small, `finding` describes, draws and writes it.
"""

from __future__ import annotations

from .bounds import BOUNDS, Network, Space
from .evaluation import Evaluator
from .finding import Finding
from .properties import PROPERTIES, Property
from .search import Best, Search
from .shrink import shrink

__all__ = [
    "BOUNDS",
    "PROPERTIES",
    "Best",
    "Evaluator",
    "Finding",
    "Network",
    "Property",
    "Search",
    "Space",
    "shrink",
]
