"""`thalweg trace`: the models of links whose rate varies, and their traces as files."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any, Literal

from cyclopts import Parameter

from .output import CommandError, console, nearest, print_table, show_json

FORMATS = {"csv": "CSV of time and rate", "mahimahi": "delivery opportunities in milliseconds"}


def trace(
    model: str | None = None,
    /,
    *,
    seed: int = 1,
    form: Annotated[Literal["csv", "mahimahi"], Parameter(name="--format")] = "csv",
    out: Path | None = None,
    json: bool = False,
) -> int:
    """List the models of links whose rate varies, or write the trace of one.

    A link of a scenario follows a model by its name, `trace = "lte_driving"`, or a file by its path.

    Parameters
    ----------
    model
        Write the trace of this model.
    seed
        Use this seed of the trace.
    form
        Write a time in seconds and the rate from then on in each line (`csv`), or a time in milliseconds at which 1500 bytes
        can leave (`mahimahi`), as `mm-link` reads it.
    out
        Write to this file instead of standard output.
    json
        Print one JSON object: the models, or the model with its `text` or its `file`.
    """
    from .. import _native
    from ..catalogue import trace_models

    models = trace_models()
    if model is None:
        if json:
            show_json({"models": models})
        else:
            _list(models)
        return 0
    if not 0 <= seed < 2**63:
        raise CommandError(f"--seed {seed}: out of range", "it takes 0 .. 9223372036854775807")
    text = _native.model_trace(model, seed, form == "mahimahi")
    if text is None:
        raise CommandError(
            f"no model of a link is called `{model}`", nearest(model, [row["name"] for row in models])
        )
    if out is not None:
        out.write_text(text, encoding="utf-8")
    if json:
        target = {"text": text} if out is None else {"file": str(out)}
        show_json({"model": model, "seed": seed, "format": form, **target})
    elif out is None:
        print(text, end="")
    else:
        print(f'wrote {out}: {FORMATS[form]}; a link follows it by trace = "{out}"')
    return 0


def _list(models: list[dict[str, Any]]) -> None:
    columns = [
        ("name", "model"),
        ("mean_bps", "mean (Mbit/s)"),
        ("low_bps", "p10 (Mbit/s)"),
        ("high_bps", "p90 (Mbit/s)"),
        ("outage", "outage (% of time)"),
        ("about", "link"),
    ]
    rows = [
        {
            **row,
            **{key: round(row[key] / 1e6, 1) for key in ("mean_bps", "low_bps", "high_bps")},
            "outage": round(row["outage"] * 100, 1),
        }
        for row in models
    ]
    print_table("", columns, rows, first=("name", "mean_bps", "about"))
    console().print("`thalweg trace MODEL --out FILE` writes the trace of one.", style="dim")
