"""`thalweg plot`: a series of a run over time, or a metric of a sweep as lines, map or distribution; or as CSV."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from cyclopts import Parameter

from ..errors import ResultError
from .output import CommandError, check_figure, quoted, show_json
from .usage import arguments, listed

if TYPE_CHECKING:
    from collections.abc import Sequence

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
    kind: Literal["lines", "heatmap", "cdf"] = "lines",
    where: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
    flows: str | None = None,
    label: Annotated[tuple[str, ...], Parameter(show_default=False)] = (),
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
        One line per value of KEY; may be repeated. Without it: one line per combination of all other keys. Of a map, the
        key of the vertical axis. For sweeps.
    kind
        Draw lines over a key, a map of two keys (`--x` and `--by`), or cumulative distributions: of a metric over the seeds,
        or of a column such as `fct` over the flows. For sweeps.
    where
        Take the runs with this value of a key only, `KEY=VALUE`; may be repeated. For sweeps.
    flows
        Take the flows of this group only, for the distribution of a column of flows.
    label
        Write another name, `NAME=TEXT`, for a key, a value, a metric, a series or a subject; may be repeated.
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
    if not sweep and (x or by or where or flows or kind != "lines"):
        option = next(
            name
            for name, given in {"x": x, "by": by, "where": where, "flows": flows, "kind": True}.items()
            if given
        )
        raise CommandError(f"--{option} is for sweeps", "`--only SUBJECT` chooses from a run")
    if csv and kind == "cdf":
        raise CommandError("--csv prints means of a metric", "`thalweg query` prints what each run measured")
    if csv and (json or out):
        raise CommandError("--csv prints numbers and draws nothing", "leave --json and --out out")
    check_figure(out, "--csv prints the drawn numbers, and `> FILE.csv` after it writes them to a file")
    target = out or folder / f"{what}.{'pdf' if style == 'paper' else 'svg'}"
    options: dict[str, Any] = {
        "style": style,
        "width": _parse_width(width),
        "latex": latex,
        "labels": _pairs("label", label),
    }
    try:
        if sweep:
            done = SweepResult.load(folder)
            fixed = _pairs("where", where)
            frame = None if kind == "cdf" else _sweep_table(done, what)
            if not csv:
                _draw_sweep(done, what, x, by, kind, flows, {"where": fixed, "out": target, **options})
        else:
            run = Result.load(folder)
            frame = _run_table(run, what, only)
            if not csv:
                run.plot(what, only or None, out=target, **options)
    except ResultError:
        raise
    except (KeyError, ValueError) as error:
        raise CommandError(str(error.args[0])) from error
    if csv:
        assert frame is not None
        sys.stdout.write(frame.write_csv())
    elif json:
        rows = {} if frame is None else {"rows": frame.height}
        show_json({"figure": str(target), "bytes": target.stat().st_size, **rows})
    else:
        print(f"written to {target}")
    return 0


def missing(parameter: str, words: Sequence[str]) -> str | None:
    """The hint without a name: the series of a run, or the metrics of a sweep."""
    from ..report import is_sweep
    from ..report.sweep_rows import key_metrics
    from ..result import Result
    from ..sweep import SweepResult

    given = arguments(words)
    if parameter != "WHAT" or not given or not Path(given[0]).is_dir():
        return None
    folder = Path(given[0])
    try:
        if is_sweep(folder):
            done = SweepResult.load(folder)
            kind, names = "metrics", sorted(set(done.summary["metric"])) if done.runs else []
            # the metrics of the page
            first = key_metrics(done.runs[0].result)[:1] if done.runs else []
        else:
            kind, names = "series", sorted(set(Result.load(folder).series["series"]))
            first = [name for name in ("rate", "backlog") if name in names]
    except (ResultError, OSError):
        return None
    if not names:
        return f"no {kind} were recorded in {quoted(folder)}: name some under `series` in the scenario's [record]"
    return f"`thalweg plot {quoted(folder)} {quoted((first or names)[0])}`; its {kind} are {listed(names)}"


def _draw_sweep(
    done: SweepResult,
    what: str,
    x: str | None,
    by: tuple[str, ...],
    kind: str,
    flows: str | None,
    options: dict[str, Any],
) -> None:
    if kind == "cdf":
        done.cdf(what, by or None, flows=flows, **options)
        return
    across = x or _default_key(done)
    if kind == "lines":
        done.plot(across, what, by or None, **options)
        return
    others = [key for key in done.keys if key != across and not key.endswith(f".{across}")]
    if len(by) > 1 or (not by and not others):
        raise CommandError("a map has two keys", "name them with `--x KEY` and `--by KEY`")
    done.heatmap(across, by[0] if by else others[0], what, **options)


def _pairs(option: str, texts: tuple[str, ...]) -> dict[str, str]:
    """Names and texts of `--label`, keys and values of `--where`."""
    for text in texts:
        if not text.partition("=")[1]:
            raise CommandError(f"--{option} {text}: not KEY=VALUE")
    return {text.partition("=")[0].strip(): text.partition("=")[2].strip() for text in texts}


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

    run.check_series(series)
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
