"""What several tests share."""

from __future__ import annotations

import random
import signal
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import settings

import thalweg as tw

# the same examples in each run, however busy the host is; `--hypothesis-seed` looks for others
settings.register_profile("thalweg", derandomize=True, deadline=None)
settings.load_profile("thalweg")

for number in (signal.SIGHUP, signal.SIGINT):
    # programs under test inherit what is ignored, as under `nohup` and in the background of a script
    if signal.getsignal(number) is signal.SIG_IGN:
        signal.signal(number, signal.default_int_handler if number == signal.SIGINT else signal.SIG_DFL)

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


@pytest.fixture
def studio(tmp_path: Path, small: Path) -> Iterator[Any]:
    """A studio in a folder with a scenario; what runs is stopped at the end."""
    from thalweg.studio.app import Studio
    from thalweg.studio.files import Folder

    made = Studio(Folder(tmp_path), jobs=2)
    yield made
    made.hub.close()


@pytest.fixture
def client(studio: Any) -> Any:
    """A browser with the token of the studio."""
    from starlette.testclient import TestClient

    from studio_ends import HOST, TOKEN
    from thalweg.studio.app import application

    return TestClient(application(studio, TOKEN, {HOST}), base_url=f"http://{HOST}/{TOKEN}/")


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
multicast = true
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
    """The scenario of TEXT, with keyword arguments."""
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
            tw.Flow("talk", scheme="mca", multicast=True, start="1 s"),
        ],
        "record": tw.Record(every="500 ms", series=["rate", "backlog"], events=True),
        "expect": {"link.bottleneck.utilisation": ">= 0.5", "flow.talk.goodput": "<= 1 kbit/s"},
    }
    return tw.Scenario(**{**keys, **changes})


NAMED = """\
title = "A group by name beside a download"
duration = "12 s"

[topology]
kind = "tree"
arity = 2
depth = 2
link = { rate = "2 Mbit/s", delay = "5 ms", buffer = "50 packets" }

[icn]
refresh = "2 s"

[[flows]]
name = "video"
scheme = "tfmcc"
network = "icn"
from = "leaf1"
to = ["leaf2", "leaf3", "leaf4"]

[[flows]]
name = "tcp"
scheme = "reno"
from = "leaf1"
to = "leaf3"

[[events]]
at = "6 s"
node = "inner1"
action = "reset"

[expect]
"node.nrs.groups" = "== 1"
"""


def by_name() -> tw.Scenario:
    """The scenario of NAMED, with keyword arguments."""
    return tw.Scenario(
        title="A group by name beside a download",
        duration="12 s",
        topology=tw.Tree(arity=2, depth=2, link=tw.Link(rate="2 Mbit/s", delay="5 ms", buffer="50 packets")),
        icn=tw.Icn(refresh="2 s"),
        flows=[
            tw.Flow("video", scheme="tfmcc", network="icn", from_="leaf1", to=["leaf2", "leaf3", "leaf4"]),
            tw.Flow("tcp", scheme="reno", from_="leaf1", to="leaf3"),
        ],
        events=[tw.Event(at="6 s", node="inner1", action="reset")],
        expect={"node.nrs.groups": "== 1"},
    )


DATA = """\
title = "Two consumers of one prefix"
duration = "10 s"
warmup = "1 s"

[topology]
kind = "dumbbell"
pairs = 2
edge = { rate = "100 Mbit/s", delay = "5 ms", buffer = "500 packets" }
bottleneck = { rate = "5 Mbit/s", delay = "10 ms", buffer = "50 packets" }

[ndn]
stores = [{ node = "router_left", size = 200 }]

[[producers]]
prefix = "/films"
node = ["right1", "right2"]

[[flows]]
name = "viewer"
network = "ndn"
scheme = "aimd"
from = "left1"
prefix = "/films/new"
consumer = { initial_window = 2 }

[[flows]]
name = "steady"
network = "ndn"
from = "left2"
prefix = "/films/old"
source = { kind = "constant", interests = 100 }
consumer = { tick = "100 ms", pattern = "zipf", contents = 100 }

[record]
every = "500 ms"
series = ["window", "generated", "goodput", "pit"]

[expect]
"link.bottleneck.backward.utilisation" = ">= 0.8"
"flow.steady.missing" = "<= 50"
"""


def of_data() -> tw.Scenario:
    """The scenario of DATA, with keyword arguments."""
    return tw.Scenario(
        title="Two consumers of one prefix",
        duration="10 s",
        warmup="1 s",
        topology=tw.Dumbbell(
            pairs=2,
            edge=tw.Link(rate="100 Mbit/s", delay="5 ms", buffer="500 packets"),
            bottleneck=tw.Link(rate="5 Mbit/s", delay="10 ms", buffer="50 packets"),
        ),
        ndn=tw.Ndn(stores=[{"node": "router_left", "size": 200}]),
        producers=[tw.Producer("/films", node=("right1", "right2"))],
        flows=[
            tw.Flow(
                "viewer",
                network="ndn",
                scheme="aimd",
                from_="left1",
                prefix="/films/new",
                consumer=tw.Consumer(initial_window=2),
            ),
            tw.Flow(
                "steady",
                network="ndn",
                from_="left2",
                prefix="/films/old",
                source={"kind": "constant", "interests": 100},
                consumer=tw.Consumer(tick="100 ms", pattern="zipf", contents=100),
            ),
        ],
        record=tw.Record(every="500 ms", series=["window", "generated", "goodput", "pit"]),
        expect={"link.bottleneck.backward.utilisation": ">= 0.8", "flow.steady.missing": "<= 50"},
    )


@pytest.fixture
def data_text():
    return DATA


@pytest.fixture(scope="session")
def data():
    """A run of named data."""
    return of_data().run()


@pytest.fixture
def named_text():
    return NAMED


@pytest.fixture(scope="session")
def named():
    """A run over a name-based network."""
    return by_name().run()


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


@pytest.fixture
def key(monkeypatch: pytest.MonkeyPatch) -> None:
    """The key of all ends of transfers, unless a test gives another: they listen on all addresses."""
    monkeypatch.setenv("THALWEG_KEY", "known to both sides")


@pytest.fixture
def file(tmp_path: Path) -> Path:
    """A file of a few blocks."""
    path = tmp_path / "film.bin"
    path.write_bytes(random.Random(7).randbytes(3_000_000))
    return path


@pytest.fixture
def into(tmp_path: Path) -> Path:
    """An empty folder."""
    path = tmp_path / "in"
    path.mkdir()
    return path
