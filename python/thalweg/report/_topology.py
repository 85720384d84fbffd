"""A drawing of the network: nodes at their places in the plan, thicker links for capacity, darker links for utilisation."""

from __future__ import annotations

import math
from dataclasses import replace
from html import escape
from typing import TYPE_CHECKING, Any

from ._placement import Box, Ground, Spot
from .numbers import number

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator, Mapping, Sequence

Place = tuple[float, float]

WIDTH = 900.0
MARGIN = 76.0
MAX_NAMES = 40
MAX_LABELS = 14
MAX_EQUAL = 3
"""Maximum number of equal links that are tried for the label of all."""
BAR, BAR_WIDTH = 30.0, 6.0
"""Length and width of the bar of a full queue."""
RATE_SIZE, USE_SIZE = 11.5, 10.5
"""Sizes of text: names, rates and delays; utilisations."""
NEAR, BY_ANOTHER = 8.0, 0.6
"""Distance at which a label seems to belong to another link, and what such a place costs."""
ALONG = (0.0, -0.12, 0.12, -0.24, 0.24)
"""Places of a label along its link, as shares of its length from the middle."""


def drawing(
    places: Mapping[str, Place],
    links: Iterable[Mapping[str, Any]],
    sources: set[str],
    sinks: set[str],
    roles: Mapping[str, str],
    controller: str | None = None,
    *,
    enlarged: float = 1.0,
) -> str:
    """An SVG of the network; `places` are within 0..=1, `links` are rows of the table `links`.

    A row may have `means`: those of its columns `rate_bps` and `delay_s` that are labelled as means; and `waits`: whether a
    page shows its queue over time, as a bar beside the link, for which labels leave room. `enlarged` is the size of text for
    a small picture, 1 for the usual one.

    `roles` gives the nodes that have one, as in the table `nodes`: `router`, `resolver`, `forwarder`, `switch` or
    `controller`. `controller` is the node whose links only carry messages of an SDN controller: they are dotted and have
    no label.
    """
    links = list(links)
    wires = list(_wires(links).values())
    for wire in wires:
        wire["control"] = controller is not None and controller in (wire["from"], wire["to"])
    columns = _columns(places)
    scattered = len(columns) > max(8, len(places) / 3)
    height = (
        480.0 if scattered else min(620.0, max(150.0, 68 + 54.0 * (max(columns.values(), default=1) - 1)))
    )
    at = {
        node: (MARGIN + x * (WIDTH - 2 * MARGIN), 34 + y * (height - 68))
        for node, (x, y) in _spread(places).items()
    }
    size = 6.5 if len(at) <= MAX_NAMES else 4.5 if len(at) <= 150 else 2.5
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" role="img" viewBox="0 0 {WIDTH:g} {height:g}" '
        'font-family="sans-serif"><title>The network</title>'
    ]
    parts.extend(_wire(wire, at) for wire in wires)
    ground = Ground(
        Box(0, 0, WIDTH, height),
        [(*at[wire["from"]], *at[wire["to"]], _drawn_width(wire), wire["control"]) for wire in wires]
        + [
            (*_bar(at[link["from"]], at[link["to"]]), BAR_WIDTH, False) for link in links if link.get("waits")
        ],
        [Box(x, y, x, y).grown(size + 1) for x, y in at.values()],
        scale=enlarged,
    )
    names = []
    if len(at) <= MAX_NAMES:
        middle = (WIDTH / 2, height / 2)
        found = [_name(node, place, middle, scattered, ground) for node, place in at.items()]
        names = [name for name in found if name is not None]
    parts.extend(_labels([wire for wire in wires if not wire["control"]], at, height / 2, scattered, ground))
    for node, place in at.items():
        kind = _kind(node in sources, node in sinks, roles.get(node))
        parts.append(_node(node, place, kind, size))
    parts.extend(names)
    parts.append("</svg>")
    return "".join(parts)


def _bar(start: Place, end: Place) -> tuple[float, float, float, float]:
    """Both ends of the bar of a full queue at the start of a direction, as `web/src/stage.ts` draws it."""
    across, down = end[0] - start[0], end[1] - start[1]
    length = math.hypot(across, down) or 1.0
    along = (across / length, down / length)
    aside = (-along[1], along[0])
    trim = min(9.0, length / 4)
    x, y = (start[i] + along[i] * trim + aside[i] * 5.2 for i in (0, 1))
    long = BAR * min(1.0, length / 110)
    return x, y, x + aside[0] * long, y + aside[1] * long


def rate_text(rate_bps: float | None) -> str:
    """`50 Mbit/s`."""
    if rate_bps is None:
        return "–"
    for size, unit in ((1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s")):
        if rate_bps >= size:
            return f"{rate_bps / size:.4g} {unit}"
    return f"{rate_bps:.4g} bit/s"


def time_text(seconds: float | None) -> str:
    """`20 ms`."""
    if seconds is None:
        return "–"
    if seconds >= 1e4:
        return f"{number(seconds)} s"
    for size, unit in ((1.0, "s"), (1e-3, "ms"), (1e-6, "µs")):
        if seconds >= size:
            return f"{seconds / size:.4g} {unit}"
    return f"{seconds / 1e-9:.4g} ns" if seconds else "0 s"


def _wires(links: Iterable[Mapping[str, Any]]) -> dict[str, dict[str, Any]]:
    """Both directions of a link as one wire, with the higher utilisation of the two."""
    wires: dict[str, dict[str, Any]] = {}
    for row in links:
        used = row["utilisation"] or 0.0
        wire = wires.setdefault(row["link"], {**row, "utilisation": used, "known": False})
        wire["known"] |= row["utilisation"] is not None
        wire["utilisation"] = max(wire["utilisation"], used)
    return wires


def _columns(places: Mapping[str, Place]) -> dict[int, int]:
    """Nodes with the same horizontal place."""
    columns: dict[int, int] = {}
    for x, _ in places.values():
        columns[round(x * 100)] = columns.get(round(x * 100), 0) + 1
    return columns


def _spread(places: Mapping[str, Place]) -> dict[str, Place]:
    """Scales the places to the whole drawing; a single row or column is centred."""
    if not places:
        return {}
    spread = {}
    for axis in (0, 1):
        values = [place[axis] for place in places.values()]
        low, extent = min(values), max(values) - min(values)
        spread[axis] = [(value - low) / extent if extent > 1e-9 else 0.5 for value in values]
    return dict(zip(places, zip(spread[0], spread[1], strict=True), strict=True))


def _wire(wire: Mapping[str, Any], at: Mapping[str, Place]) -> str:
    (x1, y1), (x2, y2) = at[wire["from"]], at[wire["to"]]
    full = min(max(wire["utilisation"], 0.0), 1.0)
    colour = f"color-mix(in srgb, var(--water, #0f6c7a) {100 * full:.0f}%, var(--faint, #b8c0c8))"
    about = f"{wire['link']}: {_words(wire)}" + (f", {100 * full:.1f} % used" if wire["known"] else "")
    width = _drawn_width(wire)
    kind = 'data-control="1" stroke-dasharray="1 5" ' if wire["control"] else ""
    return (
        f'<line data-link="{escape(wire["link"])}" x1="{x1:.1f}" y1="{y1:.1f}" x2="{x2:.1f}" y2="{y2:.1f}" '
        f'stroke-width="{width:.1f}" {kind}'
        f'stroke-linecap="round" style="stroke:{colour}"><title>{escape(about)}</title></line>'
    )


def _width(wire: Mapping[str, Any]) -> float:
    return 1.2 + 0.8 * max(0.0, math.log10(max(wire["rate_bps"] or 1.0, 1e5)) - 5)


def _drawn_width(wire: Mapping[str, Any]) -> float:
    return 1.2 if wire["control"] else _width(wire)


def _words(wire: Mapping[str, Any]) -> str:
    shown = {"rate_bps": rate_text(wire["rate_bps"]), "delay_s": time_text(wire["delay_s"])}
    means = wire.get("means", ())
    return " · ".join(f"{'mean ' * (column in means)}{text}" for column, text in shown.items())


def _labels(
    wires: Sequence[Mapping[str, Any]],
    at: Mapping[str, Place],
    middle_y: float,
    scattered: bool,
    ground: Ground,
) -> list[str]:
    """Rate and delay once for equal links; name and utilisation too if a link is unique or at least half full."""
    if scattered and len(wires) > 12:
        return []

    def middle(wire: Mapping[str, Any]) -> Place:
        (x1, y1), (x2, y2) = at[wire["from"]], at[wire["to"]]
        return (x1 + x2) / 2, (y1 + y2) / 2

    def long(wire: Mapping[str, Any]) -> bool:
        return abs(at[wire["from"]][0] - at[wire["to"]][0]) >= 100

    alike: dict[tuple[str, int], list[Mapping[str, Any]]] = {}
    for wire in wires:
        if long(wire):
            alike.setdefault((_words(wire), round(middle(wire)[0] / 60)), []).append(wire)
    if len(alike) > MAX_LABELS:
        return []
    labels: list[str] = []
    uses: list[Mapping[str, Any]] = []
    for (words, _), group in alike.items():
        named = [wire for wire in group if wire["utilisation"] >= 0.5 or len(group) == 1]
        if len(named) <= 3 and all(_flat(wire, at) for wire in named):
            uses.extend(named)
        # the highest of equal links; a single one in the lower half has its label below
        ordered = sorted(group, key=lambda wire: middle(wire)[1])[:MAX_EQUAL]
        under = len(group) == 1 and not _flat(ordered[0], at) and middle(ordered[0])[1] > middle_y
        ends = [(*at[wire["from"]], *at[wire["to"]]) for wire in wires]

        def by_another(spot: Spot, wire: Mapping[str, Any], words: str = words, ends: Any = ends) -> bool:
            box = Box.of_text(spot.x, spot.y, words, ground.scale * RATE_SIZE, spot.anchor).grown(NEAR)
            own = (*at[wire["from"]], *at[wire["to"]])
            return any(box.crosses(*line) for line in ends if line != own)

        offered = [
            (replace(spot, dislike=spot.dislike + BY_ANOTHER) if by_another(spot, wire) else spot, wire)
            for number, wire in enumerate(ordered)
            for spot in _beside(wire, at, words, ground.scale * RATE_SIZE, under, 0.3 * number)
        ]
        # large text that has no room is left out
        dearest = math.inf if ground.scale == 1 else 0.99
        spot = ground.place(words, ground.scale * RATE_SIZE, [spot for spot, _ in offered], dearest)
        if spot is not None:
            link = next(wire["link"] for one, wire in offered if one is spot)
            size = ground.scale * RATE_SIZE
            labels.append(_text(spot.x, spot.y, words, size, "var(--ink, #1d2733)", about=link))
    # the utilisation is also in the tooltip; a label that would cover something is shown there only
    for wire in uses:
        used = f", {100 * min(wire['utilisation'], 1.0):.0f} % used" if wire["known"] else ""
        words = f"{wire['link']}{used}"
        size = ground.scale * USE_SIZE
        spot = ground.place(words, size, _beside(wire, at, words, size, True), at_most=0.9)
        if spot is not None:
            colour = "var(--soft, #5b6875)"
            labels.append(_text(spot.x, spot.y, words, size, colour, about=wire["link"]))
    return labels


def _beside(
    wire: Mapping[str, Any],
    at: Mapping[str, Place],
    words: str,
    size: float,
    under: bool,
    dislike: float = 0.0,
) -> Iterator[Spot]:
    """Places for a label along a link, from its middle on: on the usual side, then on the other one."""
    (x1, y1), (x2, y2) = at[wire["from"]], at[wire["to"]]
    box = Box.of_text(0.0, 0.0, words, size)
    # a sloping line rises by this much within half of the label
    rise = min(abs(y2 - y1) / max(abs(x2 - x1), 1.0) * box.right, 60.0)
    away = 3.5 + _width(wire) / 2 + rise
    for shift in ALONG:
        x, y = x1 + (0.5 + shift) * (x2 - x1), y1 + (0.5 + shift) * (y2 - y1)
        for side in (under, not under):
            base = y + away - box.top if side else y - away - box.bottom
            usual = abs(shift) + (0.0 if side == under else 0.2)
            yield Spot(x, base, dislike=dislike + usual)


def _flat(wire: Mapping[str, Any], at: Mapping[str, Place]) -> bool:
    (x1, y1), (x2, y2) = at[wire["from"]], at[wire["to"]]
    return abs(y2 - y1) < 0.12 * abs(x2 - x1)


def _text(
    x: float, y: float, words: str, size: float, colour: str, anchor: str = "middle", **belongs: str
) -> str:
    """Text with an outline in the page's colour, so that lines behind it do not disturb.

    `belongs` is what it moves with: `name` for a node, `about` for a link.
    """
    data = "".join(f' data-{key}="{escape(value)}"' for key, value in belongs.items())
    return (
        f'<text{data} x="{x:.1f}" y="{y:.1f}" text-anchor="{anchor}" font-size="{size:g}" stroke-width="3.5" '
        f'style="fill:{colour};stroke:var(--card, #fff);paint-order:stroke;stroke-linejoin:round">{escape(words)}</text>'
    )


def _kind(source: bool, sink: bool, role: str | None) -> str:
    """What a node is, which decides its shape."""
    if role is not None:
        return {"router": "router by name", "resolver": "name resolution system"}.get(role, role)
    if source and sink:
        return "host"
    return "source" if source else "receiver" if sink else "router"


def _node(name: str, place: Place, kind: str, size: float) -> str:
    water, card, ink = "var(--water, #0f6c7a)", "var(--card, #fff)", "var(--ink, #1d2733)"
    shaded = f"color-mix(in srgb, {water} 35%, {card})"
    x, y = place
    half = size if size > 5 else size * 0.8
    if kind in {"router", "router by name", "forwarder", "switch"}:
        fill = card if kind == "router" else shaded
        shape = (
            f'<rect x="{x - half:.1f}" y="{y - half:.1f}" width="{2 * half:.1f}" height="{2 * half:.1f}" '
            f'rx="{half / 2:.1f}" style="fill:{fill};stroke:{ink}" stroke-width="{size / 5:.1f}">'
        )
        end = "</rect>"
    elif kind in {"name resolution system", "controller"}:
        out = 1.3 * half
        corners = ((x, y - out), (x + out, y), (x, y + out), (x - out, y))
        points = " ".join(f"{at_x:.1f},{at_y:.1f}" for at_x, at_y in corners)
        shape = (
            f'<polygon points="{points}" style="fill:{shaded};stroke:{ink}" stroke-width="{size / 5:.1f}">'
        )
        end = "</polygon>"
    else:
        fill = {"source": water, "receiver": card, "host": f"color-mix(in srgb, {water} 45%, {card})"}[kind]
        shape = f'<circle cx="{x:.1f}" cy="{y:.1f}" r="{size:g}" style="fill:{fill};stroke:{water}" stroke-width="1.8">'
        end = "</circle>"
    return f'<g data-node="{escape(name)}">{shape}<title>{escape(name)} ({kind})</title>{end}</g>'


def _name(name: str, place: Place, middle: Place, scattered: bool, ground: Ground) -> str | None:
    """A node's label, on the side away from the centre: left or right at the edges, otherwise above or below.

    It goes to another side if it would cover something there, and is left out if it would be on another label everywhere.
    """
    x, y = place
    beside = abs(x - middle[0]) > (0.55 * abs(y - middle[1]) + 60 if scattered else 0.3 * WIDTH)
    left, right = Spot(x - 11, y + 4, "end"), Spot(x + 11, y + 4, "start")
    larger = (ground.scale - 1) * RATE_SIZE
    above, below = Spot(x, y - 12), Spot(x, y + 22 + larger)
    corners = [
        Spot(x + across, y + up, anchor)
        for up in (-9, 17 + larger)
        for across, anchor in ((8, "start"), (-8, "end"))
    ]
    if beside:
        order = [left, right, above, below] if x < middle[0] else [right, left, above, below]
    elif scattered and y > middle[1]:
        order = [below, above, right, left]
    else:
        order = [above, below, right, left]
    spots = [replace(spot, dislike=0.1 * number) for number, spot in enumerate([*order, *corners])]
    size = ground.scale * RATE_SIZE
    spot = ground.place(name, size, spots)
    if spot is None:
        return None
    return _text(spot.x, spot.y, name, size, "var(--ink, #1d2733)", spot.anchor, name=name)
