"""Search for the network in which a scheme fails, and for the shortest scenario that shows it.

`bounds` says which networks are searched, `properties` what counts as a failure, `search` finds a network, `shrink` makes
it small, `finding` describes, draws and writes it, `emulated` runs it in real time.
"""

from __future__ import annotations

from .bounds import BOUNDS, Network, Space
from .emulated import Emulated
from .evaluation import Evaluator
from .finding import Finding
from .properties import PROPERTIES, Property
from .search import Best, Elite, Search
from .shrink import shrink

__all__ = [
    "BOUNDS",
    "PROPERTIES",
    "Best",
    "Elite",
    "Emulated",
    "Evaluator",
    "Finding",
    "Network",
    "Property",
    "Search",
    "Space",
    "shrink",
]
