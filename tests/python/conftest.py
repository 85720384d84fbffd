"""What several tests share."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

import thalweg as tw

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


TEXT = """\
title = "Two flows and a stream at one bottleneck"
seed = 7
duration = "10 s"
warmup = "2 s"

[topology]
kind = "dumbbell"
edge = { rate = "1 Gbit/s", delay = "1 ms", buffer = "1000 packets" }
bottleneck = { rate = "10 Mbit/s", delay = "20 ms", buffer = "1 bdp", loss = 0.001 }

[[flows]]
name = "reno"
count = 2
scheme = "reno"
start_spread = "0.5 s"
tcp = { delayed_ack = false }

[[flows]]
name = "talk"
scheme = "mca"
start = "1 s"

[record]
every = "500 ms"
series = ["rate", "backlog"]
events = true

[expect]
"link.bottleneck.utilisation" = ">= 0.5"
"flow.talk.goodput" = "<= 1 kbit/s"
"""


def build(**changes: Any) -> tw.Scenario:
    """The same as TEXT, with keyword arguments."""
    keys = {
        "title": "Two flows and a stream at one bottleneck",
        "seed": 7,
        "duration": "10 s",
        "warmup": "2 s",
        "topology": tw.Dumbbell(
            edge=tw.Link(rate="1 Gbit/s", delay="1 ms", buffer="1000 packets"),
            bottleneck=tw.Link(rate="10 Mbit/s", delay="20 ms", buffer="1 bdp", loss=0.001),
        ),
        "flows": [
            tw.Flow("reno", count=2, scheme="reno", start_spread="0.5 s", tcp={"delayed_ack": False}),
            tw.Flow("talk", scheme="mca", start="1 s"),
        ],
        "record": tw.Record(every="500 ms", series=["rate", "backlog"], events=True),
        "expect": {"link.bottleneck.utilisation": ">= 0.5", "flow.talk.goodput": "<= 1 kbit/s"},
    }
    return tw.Scenario(**{**keys, **changes})


@pytest.fixture(scope="session")
def built():
    return build


@pytest.fixture
def text():
    return TEXT


@pytest.fixture
def scenario():
    return build()


@pytest.fixture(scope="session")
def result():
    return build().run()


@pytest.fixture
def long():
    """More than any test waits for."""
    return build(
        title="Long", duration="100000 s", record=tw.Record(every="1000 s", series=["rate"]), expect={}
    )
