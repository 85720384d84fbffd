"""Published topologies by name, and the networks that every kind of topology must carry or refuse."""

from __future__ import annotations

import math
from pathlib import Path

import pytest

import thalweg as tw
from thalweg import topologies

pytest.importorskip("topohub", reason="the extra `topologies` is not installed")


def test_abilene_has_its_cities_and_lengths() -> None:
    made = topologies.topohub("topozoo/Abilene", rate="1 Gbit/s", buffer="200 packets")
    flow = tw.Flow(name="one", scheme="cubic", from_="New_York", to="Los_Angeles")
    plan = tw.Scenario(topology=made, flows=[flow], duration="1 s").plan()
    # Internet2's Abilene as the Topology Zoo has it: 11 cities, 14 links
    links = plan.tree["topology"]["links"]
    assert len(plan.tree["topology"]["nodes"]) == 11
    assert len(links) == 14
    known = {frozenset(link["ends"]): link for link in links}
    near = known[frozenset(("New_York", "Chicago"))]
    # New York (40.71° N, 74.01° W) to Chicago (41.85° N, 87.65° W) by the spherical cosine formula, at 200 000 km/s
    a, b, c = (math.radians(angle) for angle in (40.71, 41.85, 87.65 - 74.01))
    km = 6371 * math.acos(math.sin(a) * math.sin(b) + math.cos(a) * math.cos(b) * math.cos(c))
    assert 1140 < km < 1150
    delay_ms = tw_ms(near["delay"])
    assert delay_ms == pytest.approx(km / 199_861.6 * 1000, rel=0.002)
    assert near["rate"] == "1 Gbit/s"


def tw_ms(text: str) -> float:
    number, unit = text.split()
    return float(number) * {"ns": 1e-6, "us": 1e-3, "ms": 1.0, "s": 1e3}[unit]


def test_a_flow_over_sndlib_has_the_delay_of_its_path() -> None:
    made = topologies.topohub("sndlib/polska", rate="100 Mbit/s")
    flow = tw.Flow(name="one", from_="Gdansk", to="Krakow", source={"kind": "constant", "rate": "1 Mbit/s"})
    result = tw.Scenario(topology=made, flows=[flow], duration="2 s").run()
    row = result.flows.row(0, named=True)
    assert row["drops"] == 0
    # 500 km as the crow flies, and at most twice that along the links
    assert 500 / 200_000 < row["owd_s"] < 1000 / 200_000 + 0.002


@pytest.mark.parametrize(
    "name", ["caida/2024-08/1103", "backbone/africa", "gabriel/25/0", "topozoo/Geant2010"]
)
def test_nodes_with_repeated_names_or_none_get_names_of_their_own(name: str) -> None:
    made = topologies.topohub(name)
    called = [node["name"] for node in made["nodes"]]
    assert len(set(called)) == len(called) > 5
    flow = tw.Flow(name="one", scheme="cubic", from_=called[0], to=called[-1])
    tw.Scenario(topology=made, flows=[flow]).check()


def test_the_same_network_as_graphml(tmp_path: Path) -> None:
    (tmp_path / "abilene.graphml").write_text(topologies.graphml("topozoo/Abilene"), encoding="utf-8")
    (tmp_path / "scenario.toml").write_text(
        '[topology]\nkind = "graphml"\nfile = "abilene.graphml"\ndelay_by_distance = true\nlink = { rate = "1 Gbit/s" }\n'
        '[[flows]]\nname = "one"\nscheme = "cubic"\nfrom = "New_York"\nto = "Seattle"\n',
        encoding="utf-8",
    )
    read = {
        frozenset(link["ends"]): tw_ms(link["delay"])
        for link in tw.load(tmp_path / "scenario.toml").plan().tree["topology"]["links"]
    }
    made = {
        frozenset(link["ends"]): tw_ms(link["delay"])
        for link in topologies.topohub("topozoo/Abilene", rate="1 Gbit/s")["links"]
    }
    assert read.keys() == made.keys()
    for ends, delay in made.items():
        # the lengths of the collection and ours, both great circles
        assert read[ends] == pytest.approx(delay, rel=0.003)


def test_unknown_names_are_refused_with_a_hint() -> None:
    with pytest.raises(KeyError, match="did you mean `topozoo/Abilene`"):
        topologies.topohub("topozoo/Abilen")
    assert "sndlib/polska" in topologies.names("sndlib")
    assert len(topologies.names("topozoo")) > 150


LINK = {"rate": "100 Mbit/s", "delay": "1 ms"}


@pytest.mark.parametrize(
    "topology",
    [
        {"kind": "fat_tree", "k": 4, "link": LINK},
        {"kind": "leaf_spine", "spines": 2, "leaves": 2, "hosts": 8, "link": LINK},
        topologies.topohub("topozoo/Abilene", rate="100 Mbit/s"),
    ],
    ids=["fat_tree", "leaf_spine", "topohub"],
)
def test_groups_and_named_data_work_on_equal_paths(topology: dict[str, object]) -> None:
    listed = topology.get("nodes")
    hosts = (
        [node["name"] for node in listed] if isinstance(listed, list) else [f"host{i}" for i in range(1, 17)]
    )
    first, *_, third, second, last = hosts
    source = {"kind": "constant", "rate": "1 Mbit/s"}
    group = tw.Flow(name="group", from_=first, to=[third, second, last], source=source)
    result = tw.Scenario(topology=topology, flows=[group], duration="2 s").run()
    row = result.flows.row(0, named=True)
    assert row["drops"] == 0
    assert row["arrived_packets"] == pytest.approx(3 * row["sent_packets"], rel=0.05)
    named = tw.Flow(name="get", network="ndn", prefix="/film", from_=last, scheme="icp", size="1 MB")
    scenario = tw.Scenario(
        topology=topology, flows=[named], producers=[{"prefix": "/film", "node": first}], duration="20 s"
    )
    row = scenario.run().flows.row(0, named=True)
    assert row["fct_s"] is not None
