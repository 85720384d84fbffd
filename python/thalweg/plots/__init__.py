"""Plots of a run's tables and of sweeps, and their colours. All numbers come from tables.

Colours are safe for the colour-blind and legible on light and dark pages. Figures in files have explicit colours on
white, since few programs except browsers support CSS variables; in a page `use_page_colours` replaces the colours of
text and background by the page's. `SCHEME_COLOURS` has the colour of each scheme, the same in every figure; flows
without a scheme have `NO_SCHEME`.
"""

from __future__ import annotations

from ..styles import COLOURS as COLOURS
from ..styles import FAINT as FAINT
from ..styles import GROUND as GROUND
from ..styles import INK as INK
from ..styles import MARKERS as MARKERS
from ..styles import figure_class as figure_class
from ..styles import in_style as in_style
from ..styles import style as style
from ._axes import from_zero, interval_band, intervals
from ._colours import (
    NO_SCHEME,
    SCHEME_COLOURS,
    contrast,
    flow_colours,
    mix_colours,
    scheme_colours,
    shade,
    shades,
)
from ._distributions import boxes, cdf, cdf_bands, distributions
from ._grid import GridAxis, bars, grid, group_lines
from ._heatmap import heatmap
from ._legend import legend_width, place_legend
from ._scatter import MIN_ELLIPSE, ellipse, scatter, scatter_runs
from ._series import MAX_FLOWS, quiet_subjects, series, series_rows, series_title, subject_name, unit_of
from ._svg import Drawing, prepare_svg, resolve_colours, svg, use_page_colours

__all__ = [
    "MAX_FLOWS",
    "MIN_ELLIPSE",
    "NO_SCHEME",
    "SCHEME_COLOURS",
    "Drawing",
    "GridAxis",
    "bars",
    "boxes",
    "cdf",
    "cdf_bands",
    "contrast",
    "distributions",
    "ellipse",
    "flow_colours",
    "from_zero",
    "grid",
    "group_lines",
    "heatmap",
    "interval_band",
    "intervals",
    "legend_width",
    "mix_colours",
    "place_legend",
    "prepare_svg",
    "quiet_subjects",
    "resolve_colours",
    "scatter",
    "scatter_runs",
    "scheme_colours",
    "series",
    "series_rows",
    "series_title",
    "shade",
    "shades",
    "subject_name",
    "svg",
    "unit_of",
    "use_page_colours",
]
