"""What several tests share."""

from __future__ import annotations

from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parent.parent.parent

SMALL = """\
title    = "One Reno flow"
seed     = 3
duration = "4 s"
warmup   = "1 s"

[topology]
kind       = "dumbbell"
edge       = { rate = "100 Mbit/s", delay = "1 ms", buffer = "1000 packets" }
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", buffer = "1 bdp", loss = 0.001 }

[[flows]]
name   = "reno"
scheme = "reno"

[record]
every  = "100 ms"
series = ["rate", "backlog", "window"]

[expect]
"link.bottleneck.utilisation" = ">= 0.5"
"""


@pytest.fixture
def small(tmp_path: Path) -> Path:
    """A scenario file that runs in a moment."""
    file = tmp_path / "small.toml"
    file.write_text(SMALL, encoding="utf-8")
    return file
