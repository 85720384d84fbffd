"""Tables for a paper: LaTeX of the package booktabs."""

from __future__ import annotations

from typing import TYPE_CHECKING

from .styles import escape_latex

if TYPE_CHECKING:
    from collections.abc import Sequence


def tabular(headings: Sequence[str], rows: Sequence[Sequence[str]], numeric: Sequence[bool]) -> str:
    """A `tabular` with rules of booktabs; `numeric` columns are aligned to the right. Texts are escaped."""
    columns = "".join("r" if right else "l" for right in numeric)
    lines = [_line(headings), "\\midrule", *map(_line, rows)]
    body = "\n".join(lines)
    return f"\\begin{{tabular}}{{{columns}}}\n\\toprule\n{body}\n\\bottomrule\n\\end{{tabular}}\n"


def _line(cells: Sequence[str]) -> str:
    return " & ".join(escape_latex(cell) for cell in cells) + " \\\\"
