"""Places of labels in a drawing: of several places for each, the one that covers the fewest lines, nodes and labels."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

LETTER = 0.58
"""Mean width of a letter of the pages' font, in sizes of the font."""

MAX_LINES = 300
"""Maximum number of lines that labels evade: a drawing with more is full."""

ON_NODE, ON_LINE, ON_FAINT_LINE, OUTSIDE = 4.0, 1.0, 0.25, 8.0
"""What a place costs that covers these, or is outside of the drawing."""

APART = 2.0
"""Minimum distance of two labels from each other, at each side: the outline of one would cover the other."""


@dataclass(frozen=True)
class Box:
    """An area of the drawing."""

    left: float
    top: float
    right: float
    bottom: float

    @classmethod
    def of_text(cls, x: float, y: float, words: str, size: float, anchor: str = "middle") -> Box:
        """The area of a text whose base line is at `y`."""
        width = LETTER * size * len(words)
        left = x - {"start": 0.0, "middle": 0.5, "end": 1.0}[anchor] * width
        return cls(left, y - 0.8 * size, left + width, y + 0.25 * size)

    def overlaps(self, other: Box) -> bool:
        """Whether the areas have points in common."""
        return (
            self.left < other.right
            and other.left < self.right
            and self.top < other.bottom
            and other.top < self.bottom
        )

    def grown(self, by: float) -> Box:
        """The area with a margin."""
        return Box(self.left - by, self.top - by, self.right + by, self.bottom + by)

    def crosses(self, x1: float, y1: float, x2: float, y2: float) -> bool:
        """Whether a line from one point to another goes through the area (Liang and Barsky 1984)."""
        begin, end = 0.0, 1.0
        for step, room in (
            (x1 - x2, x1 - self.left),
            (x2 - x1, self.right - x1),
            (y1 - y2, y1 - self.top),
            (y2 - y1, self.bottom - y1),
        ):
            if step == 0:
                if room < 0:
                    return False
            elif step < 0:
                begin = max(begin, room / step)
            else:
                end = min(end, room / step)
        return begin < end


@dataclass(frozen=True)
class Spot:
    """A place for a text, and what it costs because others are more usual."""

    x: float
    y: float
    anchor: str = "middle"
    dislike: float = 0.0


@dataclass
class Ground:
    """What is drawn already."""

    frame: Box
    lines: list[tuple[float, float, float, float, float, bool]] = field(default_factory=list)
    """Both ends, width, and whether it is faint."""
    nodes: list[Box] = field(default_factory=list)
    labels: list[Box] = field(default_factory=list)
    scale: float = 1.0
    """By how much text is larger than usual."""

    def cost(self, box: Box) -> float:
        """What a text in this area would cover; without end on another label, where neither could be read."""
        if any(map(box.grown(APART).overlaps, self.labels)):
            return math.inf
        cost = ON_NODE * sum(map(box.overlaps, self.nodes))
        if len(self.lines) <= MAX_LINES:
            for x1, y1, x2, y2, width, faint in self.lines:
                if box.grown(width / 2).crosses(x1, y1, x2, y2):
                    cost += ON_FAINT_LINE if faint else ON_LINE
        frame = self.frame
        inside = frame.left <= box.left and frame.top <= box.top
        inside &= box.right <= frame.right and box.bottom <= frame.bottom
        return cost if inside else cost + OUTSIDE

    def place(self, words: str, size: float, spots: Iterable[Spot], at_most: float = math.inf) -> Spot | None:
        """Puts a text at the best place, the first of equal ones.

        None if each costs more than `at_most` or is on another label: no text is there, and pointing at what it names
        shows it.
        """
        best, minimum, area = None, math.inf, None
        for spot in spots:
            box = Box.of_text(spot.x, spot.y, words, size, spot.anchor)
            cost = spot.dislike + self.cost(box)
            if cost < minimum:
                best, minimum, area = spot, cost, box
        if best is None or area is None or minimum > at_most:
            return None
        self.labels.append(area)
        return best
