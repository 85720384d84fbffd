"""Thalweg: a laboratory for congestion control.

Build a scenario with keyword arguments or load one from a file, run it, read its tables::

    import thalweg as tw

    result = tw.load("scenarios/dumbbell.toml").run()
    print(result.flows)
    result.plot("rate")

Nothing heavy is imported before it is used.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from ._native import __version__
    from .catalogue import metrics, schema, schemes, series
    from .errors import (
        EmulationError,
        Interrupted,
        Problem,
        ResultError,
        ResultWarning,
        ScenarioError,
        ScenarioWarning,
        SchemeError,
    )
    from .parts import (
        Chain,
        Clock,
        Consumer,
        Custom,
        Dumbbell,
        Event,
        FatTree,
        Flow,
        GraphML,
        Icn,
        LeafSpine,
        Link,
        Ndn,
        ParkingLot,
        Producer,
        Random,
        Record,
        Routing,
        Star,
        Tree,
    )
    from .result import Progress, Result
    from .scenario import Scenario, load
    from .scheme import CongestionControl, Parameter, WindowUpdate, load_schemes, register_scheme
    from .stats import Estimate, estimate, paired, percentile, proportion
    from .sweep import Sweep, SweepResult, run_many

_HOME = {
    "Chain": "parts",
    "Clock": "parts",
    "CongestionControl": "scheme",
    "Consumer": "parts",
    "Custom": "parts",
    "Dumbbell": "parts",
    "EmulationError": "errors",
    "Estimate": "stats",
    "Event": "parts",
    "FatTree": "parts",
    "Flow": "parts",
    "GraphML": "parts",
    "Icn": "parts",
    "Interrupted": "errors",
    "LeafSpine": "parts",
    "Link": "parts",
    "Ndn": "parts",
    "Parameter": "scheme",
    "ParkingLot": "parts",
    "Problem": "errors",
    "Producer": "parts",
    "Progress": "result",
    "Random": "parts",
    "Record": "parts",
    "Result": "result",
    "ResultError": "errors",
    "ResultWarning": "errors",
    "Routing": "parts",
    "Scenario": "scenario",
    "ScenarioError": "errors",
    "ScenarioWarning": "errors",
    "SchemeError": "errors",
    "Star": "parts",
    "Sweep": "sweep",
    "SweepResult": "sweep",
    "Tree": "parts",
    "WindowUpdate": "scheme",
    "__version__": "_native",
    "estimate": "stats",
    "load": "scenario",
    "load_schemes": "scheme",
    "metrics": "catalogue",
    "paired": "stats",
    "percentile": "stats",
    "proportion": "stats",
    "register_scheme": "scheme",
    "run_many": "sweep",
    "schema": "catalogue",
    "schemes": "catalogue",
    "series": "catalogue",
}

__all__ = [
    "Chain",
    "Clock",
    "CongestionControl",
    "Consumer",
    "Custom",
    "Dumbbell",
    "EmulationError",
    "Estimate",
    "Event",
    "FatTree",
    "Flow",
    "GraphML",
    "Icn",
    "Interrupted",
    "LeafSpine",
    "Link",
    "Ndn",
    "Parameter",
    "ParkingLot",
    "Problem",
    "Producer",
    "Progress",
    "Random",
    "Record",
    "Result",
    "ResultError",
    "ResultWarning",
    "Routing",
    "Scenario",
    "ScenarioError",
    "ScenarioWarning",
    "SchemeError",
    "Star",
    "Sweep",
    "SweepResult",
    "Tree",
    "WindowUpdate",
    "__version__",
    "estimate",
    "load",
    "load_schemes",
    "metrics",
    "paired",
    "percentile",
    "proportion",
    "register_scheme",
    "run_many",
    "schema",
    "schemes",
    "series",
]


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(import_module(f".{_HOME[name]}", __name__), name)
    globals()[name] = value
    return value


def __dir__() -> list[str]:
    return sorted(__all__)
