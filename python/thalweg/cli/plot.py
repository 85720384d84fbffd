"""`thalweg plot`: a series of a run over time, or a metric of a sweep over its grid, as a picture or as CSV."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from cyclopts import Parameter

from .output import CommandError, show_json

if TYPE_CHECKING:
    import polars

    from ..result import Result
    from ..sweep import SweepResult


def plot(
    folder: Path,
    what: str,
    /,
    *,
    only: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    x: str | None = None,
    by: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    style: str = "page",
    width: str | None = None,
    latex: bool = False,
    out: Path | None = None,
    csv: bool = False,
    json: bool = False,
) -> int:
    """Draw a recorded series of a run over time, or a metric of a sweep with its 95 % interval over the seeds.

    Parameters
    ----------
    folder
        Path of the folder of a run or a sweep that `thalweg run` wrote.
    what
        Name of a series, such as `rate`; of a sweep a metric, such as `link.bottleneck.utilisation`.
    only
        Draw this subject only, such as `flow.cubic.1`; may be repeated. For runs.
    x
        Draw over this key of the grid; by default the first. For sweeps.
    by
        Draw a line for each value of this key; by default of every other key. May be repeated. For sweeps.
    style
        Use this style: `page`, or `paper` for print, with the exact width of a column, outline fonts, and lines that differ
        in greyscale.
    width
        Use this width, for style `paper`: acm-column, acm-page, ieee-column, ieee-page, usenix-column, usenix-page, or a
        number of inches.
    latex
        Use LaTeX for the text of a figure of style `paper`, in a `.pdf` or `.pgf` file.
    out
        Write this file: SVG, PDF, PNG or PGF, by its ending. Default: `WHAT.svg` in the folder; with `--latex` or
        `--style paper` `WHAT.pdf`.
    csv
        Print the drawn numbers as CSV, in the units of the tables, instead of drawing them.
    json
        Print one JSON object.
    """
    from ..report import is_sweep
    from ..result import Result
    from ..sweep import SweepResult

    sweep = is_sweep(folder)
    if sweep and only:
        raise CommandError("--only is for runs", "`--by KEY` and `--x KEY` choose from a sweep")
    if not sweep and (x or by):
        raise CommandError(f"--{'x' if x else 'by'} is for sweeps", "`--only SUBJECT` chooses from a run")
    if csv and (json or out):
        raise CommandError("--csv prints numbers and draws nothing", "leave --json and --out out")
    target = out or folder / f"{what}.{'pdf' if style == 'paper' else 'svg'}"
    options: dict[str, Any] = {"style": style, "width": _parse_width(width), "latex": latex}
    try:
        if sweep:
            done = SweepResult.load(folder)
            frame = _sweep_table(done, what)
            if not csv:
                done.plot(x or _default_key(done), what, by or None, out=target, **options)
        else:
            run = Result.load(folder)
            frame = _run_table(run, what, only)
            if not csv:
                run.plot(what, only or None, out=target, **options)
    except (KeyError, ValueError) as error:
        raise CommandError(str(error.args[0])) from error
    if csv:
        sys.stdout.write(frame.write_csv())
    elif json:
        show_json({"figure": str(target), "bytes": target.stat().st_size, "rows": frame.height})
    else:
        print(f"written to {target}")
    return 0


def _parse_width(text: str | None) -> str | float | None:
    """A name, or a number of inches."""
    try:
        return text if text is None else float(text)
    except ValueError:
        return text


def _default_key(done: SweepResult) -> str:
    if not done.keys:
        raise CommandError(
            "this sweep has no key to draw over: only its seeds differ", "--csv prints the numbers"
        )
    return done.keys[0]


def _run_table(run: Result, series: str, only: tuple[str, ...]) -> polars.DataFrame:
    """`time_s`, and a column per subject."""
    from ..plots import series_rows

    rows = series_rows(run.series, series, only or None)
    return rows.pivot("subject", index="time_s", values="value").sort("time_s")


def _sweep_table(done: SweepResult, metric: str) -> polars.DataFrame:
    """The rows of the metric in the summary, with quantities as numbers; keys with a unit have it in their names."""
    from .._names import unknown_name

    summary = done.numbers
    rows = summary.filter(summary["metric"] == metric)
    if rows.is_empty():
        raise KeyError(
            unknown_name("result", metric, summary["metric"].unique(maintain_order=True).to_list())
        )
    return rows.rename({key: f"{key} ({unit})" for key, unit in done.units.items()})
