"""Equal plans and seeds give equal runs on any host, and independently of other state."""

import json
import subprocess
import sys

import pytest

import thalweg as tw

LOSSY = tw.Link(rate="5 Mbit/s", delay="10 ms", buffer="20 packets", loss=0.01)

HERE = [
    tw.Flow("bulk", scheme="reno", from_="a", to="b", start_spread="1 s"),
    tw.Flow("talk", scheme="mca", multicast=True, from_="a", to="b", start="1 s"),
    tw.Flow("noise", source={"kind": "poisson", "rate": "500 kbit/s"}, from_="a", to="b"),
    tw.Flow(
        "web", arrivals={"rate": 2.0, "size": "20 kB", "size_shape": 1.5}, scheme="reno", from_="a", to="b"
    ),
]

ELSEWHERE = [
    tw.Flow("other", scheme="mca", multicast=True, from_="c", to="d", start_spread="1 s"),
    tw.Flow("more", scheme="reno", count=3, from_="c", to="d", churn={"on": "1 s", "off": "1 s"}),
]


def two_islands(flows):
    links = [
        tw.Link(name="here", ends=("a", "b"), **LOSSY),
        tw.Link(name="elsewhere", ends=("c", "d"), **LOSSY),
    ]
    return tw.Scenario(seed=5, duration="15 s", warmup="1 s", topology=tw.Custom(links=links), flows=flows)


def of_here(result):
    """Everything about the flows and the link of one island."""
    flows = [row for row in result.flows.to_dicts() if row["from"] == "a"]
    return flows, [row for row in result.links.to_dicts() if row["link"] == "here"]


@pytest.mark.parametrize("flows", [HERE + ELSEWHERE, ELSEWHERE + HERE], ids=["after", "before"])
def test_flows_elsewhere_do_not_change_the_draws_of_others(flows):
    alone, together = two_islands(HERE).run(), two_islands(flows).run()
    assert of_here(together) == of_here(alone)
    assert together.trace_hash != alone.trace_hash


def test_a_link_elsewhere_does_not_change_the_draws_of_others():
    link = tw.Link(name="here", ends=("a", "b"), **LOSSY)
    alone = tw.Scenario(
        seed=5, duration="15 s", warmup="1 s", topology=tw.Custom(links=[link]), flows=HERE
    ).run()
    assert of_here(two_islands(HERE).run()) == of_here(alone)


def test_recording_does_not_change_the_trace():
    plain = two_islands(HERE)
    watched = plain.with_(
        {"record": {"every": "50 ms", "series": ["rate", "backlog", "window"], "events": True}}
    )
    first, second = plain.run(), watched.run()
    assert second.series.height > 0
    assert first.flows.equals(second.flows)
    assert first.links.equals(second.links)


def test_the_command_the_library_and_threads_give_one_trace(tmp_path):
    scenario = two_islands(HERE + ELSEWHERE)
    file = tmp_path / "islands.toml"
    file.write_text(scenario.toml)
    program = (
        "import sys; from thalweg.cli import main; sys.argv = ['thalweg', *sys.argv[1:]]; sys.exit(main())"
    )
    command = [sys.executable, "-c", program, "run", str(file), "--json", "--out", str(tmp_path / "out")]
    answer = json.loads(subprocess.run(command, capture_output=True, text=True, check=True).stdout)
    hashes = {scenario.run().trace_hash, answer["trace_hash"], tw.Result.load(tmp_path / "out").trace_hash}
    for jobs in (1, 2):
        hashes |= {result.trace_hash for result in tw.run_many([(scenario, None)] * 3, jobs=jobs)}
    assert len(hashes) == 1
