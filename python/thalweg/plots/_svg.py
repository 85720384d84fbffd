"""Figures as SVG documents, for pages and for files."""

from __future__ import annotations

import io
import re
from typing import TYPE_CHECKING

from ..styles import FAINT, GROUND, INK
from ._colours import mix_colours

if TYPE_CHECKING:
    from matplotlib.figure import Figure


class Drawing(str):
    """An SVG document, and the figure that it shows."""

    figure: Figure

    def __new__(cls, text: str, figure: Figure) -> Drawing:
        """The text of the document, with the figure."""
        made = super().__new__(cls, text)
        made.figure = figure
        return made


def svg(figure: Figure, name: str = "figure", alt: str | None = None) -> Drawing:
    """The figure as an SVG document: it scales, and all its colours are explicit.

    `name` makes the ids of several figures in one page unique; `alt` is the text for screen readers. The same figure
    gives the same text. The figure is closed.
    """
    import matplotlib.pyplot as plt

    text = io.StringIO()
    figure.savefig(text, format="svg", metadata={"Date": None})
    plt.close(figure)
    return Drawing(prepare_svg(text.getvalue(), name, alt), figure)


def prepare_svg(drawing: str, name: str, alt: str | None = None) -> str:
    """Prepares an SVG document for a page with others: no prologue, unique ids, size from the page."""
    body = drawing[drawing.index("<svg") :]
    body = re.sub(r"<metadata>.*?</metadata>", "", body, flags=re.S)
    prefix = re.sub(r"[^A-Za-z0-9_-]", "-", name)
    if f'id="{prefix}.' not in body:
        body = re.sub(r'\bid="([^"]+)"', rf'id="{prefix}.\1"', body)
        body = re.sub(r'href="#([^"]+)"', rf'href="#{prefix}.\1"', body)
        body = re.sub(r"url\(#([^)]+)\)", rf"url(#{prefix}.\1)", body)
    # the view box keeps the proportions; the page sets the width
    body = re.sub(r'(<svg[^>]*?) width="[\d.]+(?:pt)?" height="[\d.]+(?:pt)?"', r"\1", body, count=1)
    body = re.sub(
        r'(<svg[^>]*?) height="[\d.]+(?:pt)?"([^>]*?) width="[\d.]+(?:pt)?"', r"\1\2", body, count=1
    )
    body = re.sub(r"font-family: '[^;\"]*", "font-family: sans-serif", body)
    body = re.sub(r"(font: [^;\"']*)'[^;\"]*", r"\1sans-serif", body)
    if alt and "<title>" not in body:
        end = body.index(">", body.index("<svg")) + 1
        body = f"{body[:end]}<title>{_escape(alt)}</title>{body[end:]}"
    return re.sub(r"<svg ", '<svg role="img" ', body, count=1) if 'role="img"' not in body else body


def use_page_colours(drawing: str) -> str:
    """A figure for a page, light or dark: text, grid and background are the page's."""
    for colour, variable in ((INK, "--ink"), (FAINT, "--faint"), (GROUND, "--card")):
        drawing = re.sub(rf"(?<!, ){colour}\b", f"var({variable}, {colour})", drawing)
    return drawing


def resolve_colours(drawing: str) -> str:
    """A figure for a file: CSS variables and colour mixtures, which few programs but browsers support, become colours."""
    drawing = re.sub(r"var\(--\w+, (#[0-9a-f]+)\)", r"\1", drawing)
    return re.sub(
        r"color-mix\(in srgb, (#[0-9a-f]+) (\d+)%, (#[0-9a-f]+)\)",
        lambda mix: mix_colours(mix[1], mix[3], int(mix[2]) / 100),
        drawing,
    )


def _escape(text: str) -> str:
    return text.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;")
