"""Styles of figures: `page`, for report pages and screens, and `paper`, for the columns of a printed paper.

A figure of style `paper` has the exact width of a column or of a page. Its lines differ by colour, by dashes and by
markers, so that they are told apart in greyscale too. Its fonts are outlines: Type 42 in PDF, paths in SVG.
"""

from __future__ import annotations

import contextlib
import io
import shutil
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

from ._names import unknown_name
from .errors import FigureError

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping

    from matplotlib.axes import Axes
    from matplotlib.figure import Figure

COLOURS = (
    "#3878c7",
    "#dd7a30",
    "#2a9d82",
    "#c2508f",
    "#8268c9",
    "#a98f12",
    "#d1495b",
    "#6f8f3a",
    "#399dc1",
    "#8d7b6b",
)
"""Colours of lines, in their order of use."""

MARKERS = ("o", "s", "^", "D", "v", "P", "X", "<", ">", "*")
"""Markers, in the same order."""

INK = "#1d2733"
"""Colour of text and axes; in a page `use_page_colours` replaces it by the page's."""

FAINT = "#b8c0c8"
"""Colour of grids; in a page `use_page_colours` replaces it by the page's."""

GROUND = "#ffffff"
"""Background of figures in files; in a page `use_page_colours` replaces it by the page's."""

WIDTHS_IN = {
    "acm-column": 3.33,
    "acm-page": 7.0,
    "ieee-column": 3.5,
    "ieee-page": 7.16,
    "usenix-column": 3.33,
    "usenix-page": 7.0,
}
"""Widths of columns and of pages of two columns, in inches.

ACM: format `sigconf` of acmart.cls: paper of 8.5 in less two margins of 54 pt, columns 2 pc apart, that is 7.006 in and
3.337 in. IEEE: Author Center, "Size Requirements for Graphics". USENIX: usenix-2020-09.sty: `textwidth` 7.00 in, `columnsep`
0.33 in, that is 3.335 in. Widths are rounded down, so that no figure is wider than its column.
"""

COLUMN_MAX_IN = 5.0
"""A narrower figure is one of a column: it is higher in proportion."""

HEIGHTS = (0.64, 0.34)
"""Height of a figure of a column, and of a page, as a share of its width."""

PRINT_COLOURS = ("#0072b2", "#d55e00", "#009e73", "#cc79a7", "#000000", "#e69f00", "#56b4e9")
"""Colours of printed lines by Okabe and Ito (Color Universal Design, 2008) without yellow, faint on white."""

DASHES: tuple[Any, ...] = (
    "-",
    (0, (5, 1.6)),
    (0, (1.2, 1.2)),
    (0, (6, 1.6, 1.2, 1.6)),
    (0, (3, 1.2, 1.2, 1.2, 1.2, 1.2)),
)
"""Dashes of printed lines. Their number has no common factor with the number of colours: 35 lines differ."""

MANY_LINES = 5
"""From this number on, lines of pages differ by dashes too: colours alone are hard to tell apart."""

MARKS = 6
"""Markers along a printed line of many points."""

PRINT_DPI = 300
"""Dots per inch of an image of style `paper`."""

LATEX = ("pdflatex", "xelatex", "lualatex")
"""Programs that set text, in the order in which they are looked for."""

LATEX_FILES = (".pdf", ".pgf")
"""Files with text set by LaTeX."""

_ESCAPES = str.maketrans(
    {
        **{letter: "\\" + letter for letter in "%&#$_{}"},
        "\\": r"\textbackslash{}",
        "~": r"\textasciitilde{}",
        "^": r"\textasciicircum{}",
        **{
            sign: rf"\textsuperscript{{{digit}}}"
            for sign, digit in zip("⁰¹²³⁴⁵⁶⁷⁸⁹⁻", "0123456789-", strict=True)
        },
        "−": r"\ensuremath{-}",
        "–": "--",
        "…": r"\ldots{}",
        "µ": r"\textmu{}",
        "·": r"\textperiodcentered{}",
        "±": r"\ensuremath{\pm}",
        "\u202f": r"\,",
    }
)


def escape_latex(text: str) -> str:
    """A text with the characters that have a meaning in LaTeX escaped."""
    return text.translate(_ESCAPES)


@dataclass(frozen=True)
class Style:
    """Size, fonts, colours and lines of a figure."""

    name: str
    """`page` or `paper`."""
    settings: Any = field(repr=False)
    """Matplotlib settings, also while the figure is saved."""
    width_in: float | None = None
    """Width in inches; None for the plot's."""
    latex: str | None = None
    """The LaTeX program that sets the text; None without."""

    @property
    def printed(self) -> bool:
        """Whether lines must be told apart without colours."""
        return self.width_in is not None

    @property
    def legend_rows(self) -> int:
        """Maximum number of rows of a legend above the plot; narrow figures have no room beside it."""
        return 6 if self.printed else 2

    def size(self, plot: tuple[float, float]) -> tuple[float, float]:
        """Width and height of a figure in inches; `plot` has both for a page."""
        if self.width_in is None:
            return plot
        share = HEIGHTS[self.width_in > COLUMN_MAX_IN]
        return self.width_in, round(self.width_in * share, 2)

    def line(self, index: int, colour: str, count: int = 0, *, lines: int = 0) -> dict[str, Any]:
        """Arguments for the line of this number, with this count of points; `colour` is the colour on pages.

        `lines` is the number of lines: many differ by their dashes on pages too.
        """
        if not self.printed:
            dashed = lines >= MANY_LINES
            return {"color": colour} | ({"linestyle": DASHES[index % len(DASHES)]} if dashed else {})
        step = max(count // MARKS, 1)
        return {
            "color": PRINT_COLOURS[index % len(PRINT_COLOURS)],
            "linestyle": DASHES[index % len(DASHES)],
            "marker": MARKERS[index % len(MARKERS)],
            # markers of different lines at different places
            "markevery": (index % 5 * step // 5, step),
        }

    def points(self, index: int, colour: str, *, lines: int = 0) -> dict[str, Any]:
        """Arguments for points of this number, which have a marker in every style; `lines` as for `line`."""
        line = self.line(index, colour, lines=lines)
        line.pop("markevery", None)
        return {**line, "marker": MARKERS[index % len(MARKERS)]}


def page() -> Style:
    """The style of pages."""
    return Style("page", style())


def paper(width: str | float = "acm-column", *, latex: bool = False) -> Style:
    """The style of a printed paper; `width` is one of `WIDTHS_IN`, or a number of inches from 1 to 20.

    With `latex`, LaTeX sets the text: in a PDF, or in a PGF file that the paper includes, in the paper's own fonts. Raises
    `FigureError` for an unknown width, and if LaTeX is missing.
    """
    if isinstance(width, str) and width not in WIDTHS_IN:
        raise FigureError(unknown_name("width", width, WIDTHS_IN))
    inches = WIDTHS_IN[width] if isinstance(width, str) else float(width)
    if not 1.0 <= inches <= 20.0:
        raise FigureError(f"a width of {inches:g} in: from 1 to 20")
    program = _latex() if latex else None
    settings = {
        **style(),
        "axes.labelsize": 8,
        "axes.linewidth": 0.6,
        "axes.titlesize": 8,
        "font.family": "serif",
        # part of matplotlib, so that the figure is the same on every computer; metrics of Times
        "font.serif": ["STIXGeneral"],
        "font.size": 8,
        "mathtext.fontset": "stix",
        "grid.linewidth": 0.4,
        "legend.columnspacing": 1.0,
        "legend.fontsize": 7,
        "legend.handlelength": 2.6,
        "legend.labelspacing": 0.25,
        "legend.title_fontsize": 7,
        "lines.linewidth": 1.0,
        "lines.markersize": 3.2,
        "lines.markeredgewidth": 0.5,
        # an image, such as a PNG, has the resolution of print
        "savefig.dpi": PRINT_DPI,
        # outlines, because another computer lacks the fonts
        "svg.fonttype": "path",
        "xtick.labelsize": 7,
        "ytick.labelsize": 7,
        "xtick.major.width": 0.6,
        "ytick.major.width": 0.6,
    }
    if program:
        settings |= {"pgf.texsystem": program, "pgf.rcfonts": False}
    return Style("paper", settings, inches, program)


def get_style(name: str, width: str | float | None = None, *, latex: bool = False) -> Style:
    """The style of this name; `width` and `latex` are for `paper` only. Raises `FigureError`."""
    if name not in ("page", "paper"):
        raise FigureError(unknown_name("style", name, ("page", "paper")))
    if name == "page":
        if width is not None or latex:
            raise FigureError(f"{'latex' if latex else 'a width'} is for style 'paper'")
        return page()
    return paper("acm-column" if width is None else width, latex=latex)


def new_figure(plot: tuple[float, float], look: Style) -> tuple[Figure, Axes]:
    """A new figure with one plot; `plot` is its size on a page, in inches. Call it with the settings of the style.

    In a notebook it is shown as the value of its cell, and not again at the cell's end.
    """
    import matplotlib
    import matplotlib.pyplot as plt

    figure, axes = plt.subplots(figsize=look.size(plot), FigureClass=figure_class())
    figure.look = look  # type: ignore[attr-defined]
    if "inline" in matplotlib.get_backend():
        plt.close(figure)
    return figure, axes


def style() -> Any:
    """Matplotlib settings of all figures: `with matplotlib.rc_context(plots.style()): …`."""
    from cycler import cycler

    return {
        "axes.axisbelow": True,
        "axes.edgecolor": INK,
        # plain numbers, not differences from an offset or multiples of a power
        "axes.formatter.useoffset": False,
        "axes.formatter.limits": (-99, 99),
        "axes.grid": True,
        "axes.labelcolor": INK,
        "axes.linewidth": 0.7,
        "axes.prop_cycle": cycler(color=list(COLOURS)),
        "axes.spines.right": False,
        "axes.spines.top": False,
        "axes.titlelocation": "left",
        "axes.titlesize": 10.5,
        "axes.titleweight": "bold",
        "axes.titlecolor": INK,
        **{f"boxplot.{part}props.color": INK for part in ("box", "whisker", "cap", "flier")},
        "boxplot.flierprops.markeredgecolor": INK,
        "boxplot.medianprops.color": COLOURS[0],
        "figure.constrained_layout.use": True,
        # a notebook shows figures on its own ground, which can be dark
        "figure.facecolor": GROUND,
        "axes.facecolor": "none",
        "savefig.facecolor": GROUND,
        "font.family": "sans-serif",
        "font.size": 9.5,
        "grid.color": FAINT,
        "grid.linewidth": 0.5,
        "legend.frameon": False,
        "legend.columnspacing": 1.4,
        "legend.fontsize": 9,
        "legend.handlelength": 1.4,
        "legend.title_fontsize": 9,
        "legend.labelcolor": INK,
        "lines.linewidth": 1.4,
        "lines.markersize": 4.5,
        "hatch.color": INK,
        "lines.color": INK,
        "patch.edgecolor": INK,
        # outlines that can be searched and scaled, and that printers and journals accept
        "pdf.fonttype": 42,
        "ps.fonttype": 42,
        "svg.fonttype": "none",
        "svg.hashsalt": "thalweg",
        "text.color": INK,
        "xtick.color": INK,
        "ytick.color": INK,
        "xtick.major.width": 0.7,
        "ytick.major.width": 0.7,
    }


def in_style() -> Any:
    """Draws with these settings: `with plots.in_style(): …`."""
    from matplotlib import rc_context

    return rc_context(style())


@cache
def figure_class() -> type[Figure]:
    """The class of all figures: every way of saving uses the settings of its style."""
    from matplotlib import rc_context
    from matplotlib.figure import Figure as Plain

    class Figure(Plain):
        look: Style | None = None

        def savefig(self, *args: Any, **more: Any) -> None:
            look = self.look or page()
            with rc_context(look.settings):
                if look.latex is None:
                    super().savefig(*args, **more)
                else:
                    with _by_latex(self, args, more):
                        super().savefig(*args, **more, backend="pgf")

    return Figure


@contextlib.contextmanager
def _by_latex(figure: Figure, args: tuple[Any, ...], more: Mapping[str, Any]) -> Iterator[None]:
    """The text of a figure is escaped for LaTeX meanwhile; errors of LaTeX are `FigureError`."""
    from matplotlib.text import Text
    from matplotlib.ticker import FixedFormatter

    target = args[0] if args else more.get("fname")
    suffix = f".{more['format']}" if more.get("format") else Path(str(target)).suffix
    if isinstance(target, io.IOBase) or suffix not in LATEX_FILES:
        raise FigureError(
            f"LaTeX writes {' and '.join(LATEX_FILES)}, not {suffix or target}: leave latex out for other files"
        )
    axes = [axis for panel in figure.axes for axis in (panel.xaxis, panel.yaxis)]
    formatters = [
        one for one in (axis.get_major_formatter() for axis in axes) if isinstance(one, FixedFormatter)
    ]
    ticks = [(one, one.seq) for one in formatters]
    texts = [(text, text.get_text()) for text in figure.findobj(Text)]
    try:
        for text, words in texts:
            text.set_text(words.translate(_ESCAPES))
        for one, labels in ticks:
            one.seq = [str(label).translate(_ESCAPES) for label in labels]
        yield
    except (RuntimeError, ValueError) as error:
        raise FigureError(f"LaTeX cannot set the figure's text: {str(error).strip()}") from error
    finally:
        for text, words in texts:
            text.set_text(words)
        for one, labels in ticks:
            one.seq = labels


def _latex() -> str:
    """The first LaTeX program that is there."""
    for program in LATEX:
        if shutil.which(program):
            return program
    raise FigureError(
        f"LaTeX is missing: none of {', '.join(LATEX)} is on PATH; install TeX Live, or leave latex out: "
        "the text is then set by matplotlib, in outlines"
    )
