"""One scenario, one plan, one run: from TOML and from Python."""

import json
import keyword
import pickle
import warnings

import pytest
from hypothesis import given
from hypothesis import strategies as st

import thalweg as tw
from thalweg import parts


def test_a_scenario_built_in_python_is_the_one_of_the_text(text, scenario):
    read = tw.Scenario.from_toml(text)
    assert scenario == read
    assert scenario.plan().toml == read.plan().toml
    assert scenario.run().trace_hash == read.run().trace_hash


def test_a_network_by_name_built_in_python_is_the_one_of_the_text(named_text, named):
    read = tw.Scenario.from_toml(named_text)
    assert read.run().trace_hash == named.trace_hash
    assert tw.Icn(routers=("r1", "r2"), lifetime=2) == {"routers": ["r1", "r2"], "lifetime": 2}
    plan = read.check()
    assert plan["icn"]["routers"] == ["root", "inner1", "inner2"]
    assert plan["icn"]["resolver"] == "nrs"
    assert [flow["network"] for flow in plan["flows"]] == ["icn", "ip"]
    assert plan["events"] == [{"at": "6 s", "node": "inner1", "action": "reset"}]
    with pytest.raises(tw.ScenarioError, match="runs over TCP"):
        read.with_({"flows.tcp.network": "icn"})


def test_named_data_built_in_python_is_that_of_the_text(data_text, data):
    read = tw.Scenario.from_toml(data_text)
    assert read.run().trace_hash == data.trace_hash
    assert tw.Ndn(nodes=("a", "b"), link="none") == {"nodes": ["a", "b"], "link": "none"}
    assert tw.Clock("a*", drift="-50 ppb") == {"node": "a*", "drift": "-50 ppb"}
    assert tw.Producer("/a", node="p", data="1250 B") == {"prefix": "/a", "node": "p", "data": "1250 B"}
    assert tw.Consumer(tick="1 s", retries=0) == {"tick": "1 s", "retries": 0}
    plan = read.check()
    assert plan["ndn"]["strategy"] == "best_route"
    assert [producer["node"] for producer in plan["producers"]] == ["right1", "right2"]
    assert [flow["network"] for flow in plan["flows"]] == ["ndn", "ndn"]
    assert plan["flows"][1]["source"] == {"kind": "constant", "rate": "880 kbit/s"}
    assert plan["flows"][1]["consumer"]["tick"] == "100 ms"
    with pytest.raises(tw.ScenarioError, match="no producer serves"):
        read.with_({"flows.viewer.prefix": "/songs"})


def test_a_file_is_read_as_its_text_is(tmp_path, text):
    path = tmp_path / "two.toml"
    path.write_text(text)
    read = tw.load(path)
    assert read == tw.Scenario.from_toml(text)
    assert read.toml == text, "text stays as it was given"


def test_a_plan_read_again_gives_the_same_run(scenario):
    plan = scenario.plan(seed=11)
    again = tw.Scenario.from_toml(plan.toml)
    assert again.run().trace_hash == plan.run().trace_hash
    assert plan.seed == 11
    assert plan.duration_s == 10
    assert scenario.check() == scenario.plan().tree


def test_another_seed_gives_another_run_and_the_same_seed_the_same(scenario):
    hashes = [scenario.run(seed=seed).trace_hash for seed in (1, 1, 2)]
    assert hashes[0] == hashes[1] != hashes[2]


def test_builders_omit_keys_that_are_not_given_and_refuse_unknown_ones():
    assert tw.Flow("a", scheme="reno", from_="x", class_=1) == {
        "name": "a",
        "scheme": "reno",
        "from": "x",
        "class": 1,
    }
    with pytest.raises(TypeError, match="Link has no key 'colour'"):
        tw.Link(rate="1 Mbit/s", colour="red")
    assert tw.Star(link=tw.Link(rate="1 Mbit/s")) == {"kind": "star", "link": {"rate": "1 Mbit/s"}}
    assert repr(tw.Record(every="1 s")) == "Record(every='1 s')"


def tables():
    """Class, keys and required keys of each table of a scenario file."""
    schema = tw.schema()
    yield parts.File, schema["properties"], ()
    for name, table in schema["$defs"].items():
        if name != "Topology":
            yield getattr(parts, name), table["properties"], table.get("required", ())
            continue
        for row in table["allOf"]:
            kind = row["if"]["properties"]["kind"]["const"]
            (builder,) = (one for one in TOPOLOGIES if one()["kind"] == kind)
            yield builder, set(row["then"]["propertyNames"]["enum"]) - {"kind"}, ()


TOPOLOGIES = (
    tw.Custom,
    tw.Dumbbell,
    tw.ParkingLot,
    tw.Star,
    tw.Chain,
    tw.Tree,
    tw.FatTree,
    tw.LeafSpine,
    tw.Random,
    tw.GraphML,
)


def test_every_table_has_a_builder_that_takes_its_keys_and_explains_them():
    for builder, keys, required in tables():
        made = builder(**{f"{key}_" if keyword.iskeyword(key) else key: "1" for key in keys})
        assert {key for key in made if key != "kind" or key in keys} == set(keys)
        for key in keys:
            assert f"- `{key}" in builder.__doc__, (builder, key)
        if required:
            with pytest.raises(TypeError, match=required[0]):
                builder()
    assert "`duration`" in tw.Scenario.__init__.__doc__


WIRE = tw.Link(rate="1 Mbit/s", delay="1 ms")


@pytest.mark.parametrize(
    ("topology", "start", "end"),
    [
        (tw.Custom(nodes=["a", "b"], links=[tw.Link(name="l", ends=("a", "b"), **WIRE)]), "a", "b"),
        (tw.Dumbbell(pairs=2, edge=WIRE, bottleneck=WIRE), "left2", "right1"),
        (tw.ParkingLot(hops=2, edge=WIRE, bottleneck=WIRE), "in1", "out2"),
        (tw.Star(leaves=3, link=WIRE), "leaf1", "leaf3"),
        (tw.Chain(hops=3, link=WIRE), "node1", "node4"),
        (tw.Tree(arity=2, depth=2, link=WIRE), "leaf1", "leaf4"),
        (tw.FatTree(k=4, link=WIRE), "host1", "host16"),
        (tw.LeafSpine(spines=2, leaves=2, hosts=2, link=WIRE), "host1", "host4"),
        (tw.Random(nodes=8, degree=3, seed=5, link=WIRE), "n1", "n8"),
    ],
)
def test_every_kind_of_topology_can_be_built_by_name(topology, start, end):
    flow = tw.Flow("one", scheme="reno", from_=start, to=end)
    plan = tw.Scenario(duration="2 s", topology=topology, flows=[flow]).plan()
    assert plan.run().flows["sent_packets"][0] > 0
    assert all(0 <= node["x"] <= 1 and 0 <= node["y"] <= 1 for node in plan.layout["nodes"])
    assert {link["from"] for link in plan.layout["links"]} <= {node["name"] for node in plan.layout["nodes"]}


def test_a_map_of_a_network_is_read_from_graphml(tmp_path):
    (tmp_path / "net.graphml").write_text(
        '<graphml xmlns="http://graphml.graphdrawing.org/xmlns"><graph edgedefault="undirected">'
        '<node id="a"/><node id="b"/><edge source="a" target="b"/></graph></graphml>'
    )
    topology = tw.GraphML(file=str(tmp_path / "net.graphml"), link=WIRE)
    scenario = tw.Scenario(
        duration="1 s", topology=topology, flows=[tw.Flow("x", scheme="reno", from_="a", to="b")]
    )
    assert scenario.run().complete


def test_keys_are_changed_by_their_dotted_names(text):
    scenario = tw.Scenario.from_toml(text)
    changed = scenario.with_(
        {"topology.bottleneck.rate": "20 Mbit/s", "flows.reno.count": 3, "duration": "3 s"}
    )
    assert changed.tree["topology"]["bottleneck"]["rate"] == "20 Mbit/s"
    assert changed.tree["flows"][0]["count"] == 3
    assert changed.plan().duration_s == 3
    assert scenario.plan().duration_s == 10, "the first is as it was"


@pytest.mark.parametrize("value", ['a "quoted" \\ text', "Größe 🙂", "tab\tand\nline", "\x7f"])
def test_any_text_can_be_a_value(built, text, value):
    assert tw.Scenario.from_toml(text).with_({"title": value}).title == value
    assert built(title=value).plan().title == value


def test_values_that_toml_lacks_are_refused(scenario):
    with pytest.raises(TypeError, match="object"):
        scenario.with_({"title": object()})


def test_a_mistake_has_its_place_its_key_and_a_hint(text):
    with pytest.raises(tw.ScenarioError) as refused:
        tw.Scenario.from_toml(
            text.replace('"10 Mbit/s"', '"10 Mbits"').replace('"reno"', '"renno"'), "my.toml"
        )
    error = refused.value
    assert isinstance(error, ValueError)
    assert [problem.key for problem in error.problems] == ["topology.bottleneck.rate", "flows.renno.scheme"]
    first = error.problems[0]
    assert (first.file, first.line, first.column) == ("my.toml", 9, 23)
    assert (error.line, error.column, error.key) == (9, 23, "topology.bottleneck.rate")
    assert "Mbit/s" in (error.hint or "")
    assert "reno" in (error.problems[1].hint or "")
    assert "my.toml:9:23" in str(error)
    assert "10 Mbits" in str(error)


def test_a_mistake_in_python_is_drawn_too(built):
    with pytest.raises(tw.ScenarioError, match="5 parsecs") as refused:
        built(duration="5 parsecs").plan()
    assert refused.value.hint


def test_an_error_survives_a_pickle(text):
    with pytest.raises(tw.ScenarioError) as refused:
        tw.Scenario.from_toml("")
    again = pickle.loads(pickle.dumps(refused.value))
    assert str(again) == str(refused.value)
    assert again.problems == refused.value.problems


def test_a_missing_file_is_an_os_error(tmp_path):
    with pytest.raises(FileNotFoundError, match=r"none\.toml"):
        tw.load(tmp_path / "none.toml")
    with pytest.raises(IsADirectoryError):
        tw.load(tmp_path)


def test_a_seed_that_is_too_large_is_refused(scenario):
    with pytest.raises(tw.ScenarioError, match="too large"):
        scenario.plan(seed=2**63)


@given(
    st.fixed_dictionaries(
        {
            "seed": st.integers(0, 2**63 - 1),
            "duration": st.integers(1, 10**6).map(lambda ms: f"{ms} ms"),
            "title": st.text(st.characters(exclude_categories=["Cs"]), max_size=30),
        }
    ),
    st.integers(1, 5),
    st.floats(0, 0.5),
)
def test_a_scenario_built_in_python_equals_the_one_read_from_its_toml(built, keys, count, loss):
    scenario = built(**keys, warmup=None, flows=[tw.Flow("f", scheme="reno", count=count)], expect=None)
    scenario = scenario.with_({"topology.bottleneck.loss": loss})
    again = tw.Scenario.from_toml(scenario.toml)
    assert again.tree == json.loads(json.dumps(scenario.tree))
    assert again.plan().toml == scenario.plan().toml


def test_warnings_are_listed_and_shown_by_python():
    text = (
        'duration = "1 s"\n[topology]\nkind = "dumbbell"\n'
        'bottleneck = { rate = "1 Mbit/s", delay = "1 ms" }\n[[flows]]\nname = "a"\nscheme = "reno"\n'
    )
    late = '\n[[events]]\nat = "1000 s"\nlink = "bottleneck"\nup = false\n'
    scenario = tw.Scenario.from_toml(text + late, "my.toml")
    (warning,) = scenario.warnings
    assert warning.message.startswith("this event is after the end of the run")
    assert (warning.key, warning.file, warning.column) == ("events.0.at", "my.toml", 6)
    assert warning.hint is not None
    assert "⚠ this event is after the end" in scenario.warnings_picture
    with pytest.warns(tw.ScenarioWarning, match=r"my.toml:\d+: this event is after the end") as shown:
        scenario.run()
    assert len(shown) == 1
    assert shown[0].filename == __file__
    with pytest.warns(tw.ScenarioWarning):
        scenario.sweep({"seed": [1, 2]})
    with warnings.catch_warnings():
        warnings.simplefilter("error")
        plain = tw.Scenario.from_toml(text)
        assert plain.warnings == []
        assert plain.warnings_picture == ""
        plain.run()


@pytest.mark.parametrize("key", ["rate", "delay", "buffer", "queue"])
def test_bytes_are_no_list_of_numbers(key):
    link = {"rate": "10 Mbit/s", "delay": "5 ms", key: b"10 Mbit/s"}
    scenario = tw.Scenario(
        topology=tw.Dumbbell(bottleneck=tw.Link(**link)),
        flows=[tw.Flow(name="f", scheme="reno")],
    )
    with pytest.raises(TypeError, match="not bytes"):
        scenario.check()
