"""Search for the network in which a scheme fails, and for the shortest scenario that shows it.

`bounds` has the parameters of networks and `space` those for a scheme, `scenario` makes a scenario of a network,
`properties` says what counts as a failure, `search` finds a network, `shrink` makes it small, `finding` describes,
draws and writes it, `emulated` runs it in real time.
"""

from __future__ import annotations

from .bounds import BOUNDS, Network
from .emulated import Emulated
from .evaluation import Evaluator
from .finding import Finding
from .properties import PROPERTIES, Property
from .search import Best, Elite, Search
from .shrink import shrink
from .space import Space

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
