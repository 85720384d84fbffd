"""Topologies of published collections: Topology Zoo, SNDlib, CAIDA and others, by name, from the package `topohub`.

`pip install thalweg[topologies]` installs it. Its data are part of that package, so that nothing is downloaded later::

    import thalweg as tw
    from thalweg.topologies import topohub

    abilene = topohub("topozoo/Abilene", rate="10 Gbit/s")
    tw.Scenario(topology=abilene, flows=[tw.Flow("one", scheme="cubic", from_="New_York", to="Seattle")])

P. Jurkiewicz, "TopoHub: A repository of reference Gabriel graph and real-world topologies for networking research",
SoftwareX, 2023.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from importlib import resources
from typing import TYPE_CHECKING, Any
from xml.sax.saxutils import escape, quoteattr

if TYPE_CHECKING:
    from importlib.resources.abc import Traversable

    from .parts import Custom

KM_PER_S = 299_792.458 * 2 / 3
"""Speed of light in fibre, two thirds of that in vacuum, as for `delay_by_distance` of GraphML files."""

MISSING = "the package `topohub` is not installed: `pip install thalweg[topologies]` installs it"


def names(collection: str = "") -> list[str]:
    """The names of all topologies, or of a collection: `topozoo`, `sndlib`, `caida`, `backbone`, `gabriel`.

    Raises ImportError if `topohub` is not installed.
    """
    return sorted(name for name in _find_files(_data(), "") if name.startswith(collection))


def topohub(name: str, *, rate: str = "10 Gbit/s", **link: Any) -> Custom:
    """The topology of this name as nodes and links of a scenario.

    Nodes have their names of the collection, with `_` for characters that names of a scenario cannot contain and `_2`,
    `_3` … behind repeated names; a node without a name is `node` and its number. A link is called after its ends, such as
    `Chicago-Denver`. The delay of a link is its length by two thirds of the speed of light.

    ``name`` is its name, such as `topozoo/Abilene`; `names` lists them. ``rate`` is the rate of each link: the collections
    have no rates. ``link`` are other keys of every link, such as `buffer`.

    Raises KeyError if there is no such topology, and ImportError if `topohub` is not installed.
    """
    from .parts import Custom, Link

    graph = _read(name)
    places = _scale_positions([node["pos"] for node in graph["nodes"]])
    names = _node_names(graph["nodes"])
    nodes = [
        {"name": names[node["id"]], "x": x, "y": y}
        for node, (x, y) in zip(graph["nodes"], places, strict=True)
    ]
    links = []
    for edge in graph["edges"]:
        ends = [names[edge["source"]], names[edge["target"]]]
        delay = f"{round(edge['dist'] / KM_PER_S * 1e9)} ns"
        links.append(Link(name="-".join(ends), ends=ends, rate=rate, **{"delay": delay, **link}))
    return Custom(nodes=nodes, links=links)


def graphml(name: str) -> str:
    """The topology of this name as GraphML, for `kind = "graphml"` of scenario files, with `delay_by_distance = true`.

    Raises KeyError if there is no such topology, and ImportError if `topohub` is not installed.
    """
    graph = _read(name)
    lines = [
        '<?xml version="1.0" encoding="utf-8"?>',
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns">',
    ]
    for key, kind in (("label", "string"), ("Latitude", "double"), ("Longitude", "double")):
        lines.append(f'<key id="{key}" for="node" attr.name="{key}" attr.type="{kind}"/>')
    lines.append('<graph edgedefault="undirected">')
    names = _node_names(graph["nodes"])
    for node in graph["nodes"]:
        longitude, latitude = node["pos"]
        data = {"label": names[node["id"]], "Latitude": latitude, "Longitude": longitude}
        inside = "".join(f'<data key="{key}">{escape(str(value))}</data>' for key, value in data.items())
        lines.append(f"<node id={quoteattr(str(node['id']))}>{inside}</node>")
    for edge in graph["edges"]:
        ends = f"source={quoteattr(str(edge['source']))} target={quoteattr(str(edge['target']))}"
        lines.append(f"<edge {ends}/>")
    return "\n".join([*lines, "</graph>", "</graphml>", ""])


def _data() -> Traversable:
    try:
        return resources.files("topohub") / "data"
    except ModuleNotFoundError:
        raise ImportError(MISSING) from None


def _find_files(folder: Traversable, inside: str) -> Iterator[str]:
    for entry in folder.iterdir():
        if entry.is_dir():
            yield from _find_files(entry, f"{inside}{entry.name}/")
        elif entry.name.endswith(".json"):
            yield inside + entry.name.removesuffix(".json")


def _read(name: str) -> dict[str, Any]:
    """The graph of a name."""
    _data()
    import topohub as package

    try:
        graph: dict[str, Any] = package.get(name)
    except (KeyError, OSError):
        from ._names import nearest

        near = nearest(name, names())
        raise KeyError(f"topohub has no topology `{name}`{f'; {near}' if near else ''}") from None
    return graph


def _node_names(nodes: Iterable[dict[str, Any]]) -> dict[Any, str]:
    """The name of each node by its id."""
    names: dict[Any, str] = {}
    taken: set[str] = set()
    for node in nodes:
        label = str(node.get("name") or f"node{node['id']}")[:80]
        clean = re.sub(r"[^\w.-]", "_", label)
        name, number = clean, 2
        while name in taken:
            name, number = f"{clean}_{number}", number + 1
        taken.add(name)
        names[node["id"]] = name
    return names


def _scale_positions(places: list[list[float]]) -> list[tuple[float, float]]:
    """Longitudes and latitudes as positions within 0.05 .. 0.95, with one scale for both."""
    longitudes, latitudes = [place[0] for place in places], [place[1] for place in places]
    west, north = min(longitudes), max(latitudes)
    span = max(max(longitudes) - west, north - min(latitudes)) or 1.0
    return [
        (round(0.05 + 0.9 * (longitude - west) / span, 4), round(0.05 + 0.9 * (north - latitude) / span, 4))
        for longitude, latitude in places
    ]
