"""Networks of routers that are drawn at random, the same for the same numbers: by preference, or by distance."""

from __future__ import annotations

import math
import random

Edge = tuple[int, int]


def preferred(count: int, each: int, seed: int) -> list[Edge]:
    """A new router joins `each` others, the likelier the more links they have (Barabási and Albert).

    Begins with `each` + 1 routers that are all joined. Raises ``ValueError`` for fewer routers than that.
    """
    if count <= each:
        raise ValueError(f"{count} routers cannot have {each} links each")
    draw = random.Random(seed)
    edges = [(i, j) for i in range(each + 1) for j in range(i)]
    ends = [end for edge in edges for end in edge]
    for new in range(each + 1, count):
        chosen: set[int] = set()
        while len(chosen) < each:
            chosen.add(draw.choice(ends))
        for old in sorted(chosen):
            edges.append((new, old))
            ends += [new, old]
    return edges


def near(
    count: int, degree: float, seed: int, reach: float = 0.2
) -> tuple[list[Edge], list[tuple[float, float]]]:
    """Routers at random places of a square, joined the likelier the nearer they are (Waxman), and the places.

    Pairs are drawn, and joined with a probability of e^(−d/(reach·√2)), d being their distance, until a router has `degree`
    links on the average. Before that each is joined with the nearest one of smaller number, so that all are connected.
    """
    draw = random.Random(seed)
    places = [(draw.random(), draw.random()) for _ in range(count)]
    longest = reach * math.sqrt(2.0)
    joined: set[Edge] = set()
    for new in range(1, count):
        joined.add((new, min(range(new), key=lambda old: math.dist(places[new], places[old]))))
    while len(joined) < min(round(count * degree / 2), count * (count - 1) // 2):
        a, b = sorted(draw.sample(range(count), 2), reverse=True)
        if draw.random() < math.exp(-math.dist(places[a], places[b]) / longest):
            joined.add((a, b))
    return sorted(joined), places
