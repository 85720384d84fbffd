"""`thalweg new`: a first scenario file."""

from __future__ import annotations

from pathlib import Path

from .out import Refusal, show_json

STARTER = """\
# How do two kinds of flows share one bottleneck?
# `thalweg check FILE` prints the plan, `thalweg run FILE` runs it.

title    = "Reno and CUBIC at one bottleneck"
seed     = 1
duration = "30 s"
warmup   = "5 s"

[topology]
kind       = "dumbbell"
edge       = { rate = "1 Gbit/s", delay = "1 ms", buffer = "1000 packets" }
bottleneck = { rate = "20 Mbit/s", delay = "20 ms", buffer = "1 bdp" }

[[flows]]
name         = "reno"
count        = 2
scheme       = "reno"
start_spread = "100 ms"          # each copy starts at random within this time: seeds differ

[[flows]]
name         = "cubic"
count        = 2
scheme       = "cubic"
start        = "1 s"
start_spread = "100 ms"

[record]
every  = "100 ms"
series = ["rate", "window", "backlog"]

[expect]
"link.bottleneck.utilisation" = ">= 0.8"
"""
"""A scenario that runs in a second and uses the main tables."""


def new(file: Path = Path("scenario.toml"), /, *, json: bool = False) -> int:
    """Write a first scenario file: two kinds of TCP flows at one bottleneck. Existing files are never overwritten.

    Parameters
    ----------
    file
        Path of the new file.
    json
        Print one JSON object.
    """
    if file.exists():
        raise Refusal(f"{file} exists already", "name another file: existing files are not overwritten")
    file.write_text(STARTER, encoding="utf-8")
    if json:
        show_json({"file": str(file)})
    else:
        print(f"wrote {file}; next: thalweg run {file}")
    return 0
