"""Colours of schemes and flows, the same in every figure."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ..styles import COLOURS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

SCHEME_COLOURS = {
    "aimd": "#8268c9",
    "asmp": "#c2508f",
    "bbr": "#6b7885",
    "bic": "#a98f12",
    "cctcp": "#2cbf74",
    "chopcop": "#4b52e0",
    "coopcon": "#9c6b3f",
    "cubic": "#dd7a30",
    "cubic_ndn": "#e39a87",
    "cvihis": "#3a6cb3",
    "ecn_rate": "#d98fb0",
    "ecp": "#9fbf5a",
    "flecom": "#6a6a6a",
    "gcc": "#e39a87",
    "highspeed": "#2c8542",
    "his": "#3aa0c4",
    "hobhis": "#6f8f3a",
    "hr_icp": "#8c4450",
    "htcp": "#11a011",
    "hybla": "#0b3573",
    "icp": "#c2508f",
    "illinois": "#9019e5",
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
    "scalable": "#c01515",
    "srmcc": "#d1495b",
    "tcp_lp": "#8d7b6b",
    "tfmcc": "#3aa0c4",
    "tfrc": "#d98fb0",
    "vegas": "#54d916",
    "veno": "#d94ecd",
    "westwood": "#73240b",
    "yeah": "#5c0e8c",
}
"""One colour per scheme in all figures. Two schemes have the same colour only if no network has both."""

NO_SCHEME = "#9aa3ab"
"""Colour of a flow without a scheme, in a figure of schemes."""

SHADES = (0.0, 0.38, -0.3, 0.6)
"""Lightness steps of the flows of one scheme relative to the first of them."""


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

    A flow that is the only one of its scheme has the scheme's colour. If several schemes have a few flows each, those of
    one scheme are shades of its colour; otherwise flows use colours in turn.
    """
    of_scheme = scheme_colours(schemes)
    by_scheme: dict[str, list[str]] = {}
    for flow, scheme in zip(flows, schemes, strict=True):
        by_scheme.setdefault(scheme, []).append(flow)
    shaded = len(by_scheme) > 1 and all(len(listed) <= len(SHADES) for listed in by_scheme.values())
    given: dict[str, str] = {}
    alone = {of_scheme[scheme] for scheme, listed in by_scheme.items() if len(listed) == 1}
    free = [colour for colour in COLOURS if colour not in alone]
    turn = 0
    for scheme, listed in by_scheme.items():
        for index, flow in enumerate(listed):
            if len(listed) == 1 or shaded:
                given[flow] = shade(of_scheme[scheme], SHADES[index])
            else:
                given[flow] = shade(free[turn % len(free)], SHADES[turn // len(free) % len(SHADES)])
                turn += 1
    return {flow: given[flow] for flow in flows}


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
