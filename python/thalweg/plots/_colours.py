"""Colours of schemes and flows, the same in every figure."""

from __future__ import annotations

import math
from functools import cache
from typing import TYPE_CHECKING

from ..styles import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEME_COLOURS = {
    "aimd": "#8268c9",
    "asmp": "#c2508f",
    "bbr": "#6b7885",
    "bic": "#a98f12",
    "cctcp": "#27a766",
    "chopcop": "#5258e1",
    "coopcon": "#9c6b3f",
    "cubic": "#dd7a30",
    "cubic_ndn": "#c28373",
    "cvihis": "#3a6cb3",
    "ecn_rate": "#c17f9d",
    "ecp": "#829c4a",
    "flecom": "#6a6a6a",
    "gcc": "#7c8a10",
    "highspeed": "#2c8542",
    "his": "#399dc1",
    "hobhis": "#6f8f3a",
    "hr_icp": "#985762",
    "htcp": "#11a011",
    "hybla": "#4d6b99",
    "icp": "#c2508f",
    "illinois": "#982be7",
    "ledbat": "#b07cc6",
    "ledbat_pp": "#9b567c",
    "mca": "#3878c7",
    "mircc": "#3878c7",
    "mircc_multipath": "#7286a8",
    "nack": "#8d7b6b",
    "ndnsieve": "#b07cc6",
    "pcon": "#9b567c",
    "perif_ecn": "#8d7b6b",
    "pgmcc": "#6f8f3a",
    "raaqm": "#d1495b",
    "reno": "#2a9d82",
    "scalable": "#c72d2d",
    "srmcc": "#d1495b",
    "tcp_lp": "#8d7b6b",
    "tfmcc": "#399dc1",
    "tfrc": "#c17f9d",
    "vegas": "#41a711",
    "veno": "#d94ecd",
    "westwood": "#955a47",
    "yeah": "#8951ac",
}
"""One colour per scheme in all figures. Two schemes have the same colour only if no network has both."""

NO_SCHEME = "#9aa3ab"
"""Colour of a flow without a scheme, in a figure of schemes."""

READABLE = 3.0
"""Smallest contrast of a line with its background (WCAG 2.2, 1.4.11)."""

GROUNDS = ("#ffffff", "#182027")
"""Backgrounds of figures: on light pages and in files, and on dark pages."""

SHADES = 5
"""Number of shades of a colour, itself included: more would look alike."""


def scheme_colours(schemes: Iterable[str]) -> dict[str, str]:
    """A colour for each scheme: its own if it has one, and the next unused one for the others."""
    wanted = list(dict.fromkeys(schemes))
    free = [
        colour for colour in COLOURS if colour not in {SCHEME_COLOURS.get(scheme) for scheme in wanted}
    ] or COLOURS
    others = [scheme for scheme in wanted if scheme not in SCHEME_COLOURS]
    given = {scheme: free[number % len(free)] for number, scheme in enumerate(others)}
    return {scheme: SCHEME_COLOURS.get(scheme) or given[scheme] for scheme in wanted}


def flow_colours(flows: Sequence[str], schemes: Sequence[str]) -> dict[str, str]:
    """A colour for each flow, the same in every figure of a run.

    A flow that is the only one of its scheme has the scheme's colour. If several schemes have a few flows each, flows
    of one scheme have shades of its colour; otherwise flows use colours in turn.
    """
    of_scheme = scheme_colours(schemes)
    by_scheme: dict[str, list[str]] = {}
    for flow, scheme in zip(flows, schemes, strict=True):
        by_scheme.setdefault(scheme, []).append(flow)
    shaded = len(by_scheme) > 1 and all(len(listed) <= SHADES for listed in by_scheme.values())
    given: dict[str, str] = {}
    alone = {of_scheme[scheme] for scheme, listed in by_scheme.items() if len(listed) == 1}
    free = [colour for colour in COLOURS if colour not in alone]
    turn = 0
    for scheme, listed in by_scheme.items():
        for index, flow in enumerate(listed):
            if len(listed) == 1 or shaded:
                given[flow] = shades(of_scheme[scheme])[index]
            else:
                given[flow] = shades(free[turn % len(free)])[turn // len(free) % SHADES]
                turn += 1
    return {flow: given[flow] for flow in flows}


@cache
def shades(colour: str) -> tuple[str, ...]:
    """A colour and `SHADES` − 1 shades of it, each as far from those before it as the contrast with both grounds permits."""
    lightest = 1.02 * READABLE
    darkest = contrast(*GROUNDS) / lightest
    steps = [lightest * (darkest / lightest) ** (step / (SHADES - 1)) for step in range(SHADES)]
    found = [colour]
    while len(found) < SHADES:
        known = [contrast(one, GROUNDS[0]) for one in found]
        goal = max(steps, key=lambda step: min(abs(math.log(step / one)) for one in known))
        found.append(_with_contrast(colour, goal))
        steps.remove(goal)
    return tuple(found)


def contrast(one: str, other: str) -> float:
    """The contrast of two colours, from 1 to 21 (WCAG 2.2)."""
    low, high = sorted((_luminance(one), _luminance(other)))
    return (high + 0.05) / (low + 0.05)


def _luminance(colour: str) -> float:
    """The relative luminance of a colour, 0 to 1 (WCAG 2.2)."""
    parts = [part / 255 for part in _parts(colour)]
    linear = [part / 12.92 if part <= 0.04045 else ((part + 0.055) / 1.055) ** 2.4 for part in parts]
    return math.fsum(weight * part for weight, part in zip((0.2126, 0.7152, 0.0722), linear, strict=True))


def _with_contrast(colour: str, goal: float) -> str:
    """The shade of a colour that has this contrast with white."""
    low, high = -1.0, 1.0
    for _ in range(30):
        middle = (low + high) / 2
        if contrast(shade(colour, middle), GROUNDS[0]) > goal:
            low = middle
        else:
            high = middle
    return shade(colour, low)


def shade(colour: str, share: float) -> str:
    """A colour that is lighter by `share`, or darker if `share` is negative."""
    goal = 255 if share > 0 else 0
    return "#" + "".join(f"{round(part + (goal - part) * abs(share)):02x}" for part in _parts(colour))


def mix_colours(one: str, other: str, share: float) -> str:
    """A mixture of two colours, with this share of the first."""
    pairs = zip(_parts(one), _parts(other), strict=True)
    return "#" + "".join(f"{round(a * share + b * (1 - share)):02x}" for a, b in pairs)


def _parts(colour: str) -> list[int]:
    """Red, green and blue, 0 to 255."""
    digits = colour[1:] if len(colour) == 7 else "".join(2 * digit for digit in colour[1:])
    return [int(digits[at : at + 2], 16) for at in (0, 2, 4)]
