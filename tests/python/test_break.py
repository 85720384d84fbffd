"""`thalweg break`: what is searched, what counts as a failure, and that nothing depends on jobs or interruptions."""

from __future__ import annotations

import json
import math
import os
import re
import tomllib
from pathlib import Path
from typing import Any

import pytest

import thalweg as tw
from conftest import ROOT
from thalweg import catalogue
from thalweg.breaking import BOUNDS, PROPERTIES, Evaluator, Finding, Search, Space, shrink
from thalweg.breaking.bounds import Network
from thalweg.breaking.emulated import Emulated, real_ends
from thalweg.breaking.evaluation import Log, Measured
from thalweg.breaking.properties import WORST
from thalweg.breaking.search import CELLS, cell_of, edges
from thalweg.cli import call
from thalweg.errors import EmulationError, Interrupted, ResultError

STARVED = {"rate": 4.0, "delay": 20.0, "buffer": 0.5, "own": 1.0, "rivals": 1.0, "rival_scheme": "cubic"}
"""BBR beside CUBIC in a shallow buffer."""

CORPUS = sorted((ROOT / "scenarios" / "broken").glob("*.toml"))


class Slope(Evaluator):
    """Networks whose measured value is a function of their parameters, so that a search takes no time."""

    def measure(self, networks: Any, seeds: Any, duration_s: float = 40.0) -> list[list[Measured]]:
        def value(network: Any) -> float:
            distance = abs(math.log(network.get("rate", 100) / 20)) + abs(math.log(network["delay"] / 30))
            return 0.02 * (1 + 20 * distance + 5 * ("loss" not in network))

        return [[Measured(value(network)) for _ in seeds] for network in networks]


def ledbat() -> Space:
    return Space.of("ledbat", ["cubic"])


def test_every_network_of_the_bounds_is_a_scenario() -> None:
    import numpy

    random = numpy.random.default_rng(1)
    for scheme in ("ledbat", "mca", "mircc", "icp", "nack", "ndnsieve"):
        for wanted in PROPERTIES.values():
            space = Space.of(scheme, (), wanted.without, wanted.always)
            for _ in range(3):
                network = space.network(random.random(len(space.bounds)))
                tree = space.scenario(network, 40.0, wanted.record)
                assert tw.Scenario.from_tree(tree).plan(1).duration_s == 40.0
                assert space.normal(network) == network
                assert not wanted.without & network.keys()
                assert wanted.always <= network.keys()


def test_values_stay_within_their_ranges_and_simpler_ones_too() -> None:
    for bound in BOUNDS:
        for share in (0.0, 0.2, 0.61, 0.8, 0.999, 1.0):
            value = bound.value(share)
            if value is None:
                assert bound.optional
                continue
            for one in (value, *(simple for simple in bound.simpler(value) if simple is not None)):
                assert one in bound.choices if bound.choices else bound.low <= float(one) <= bound.high
    assert BOUNDS[0].value(0.5) == 10.0, "logarithms are spread evenly"


def test_all_schemes_over_ip_and_of_named_data_can_be_searched() -> None:
    for row in catalogue.schemes():
        if {"ip", "ndn"} & set(row["families"]):
            assert Space.of(row["name"]).bounds
        else:
            with pytest.raises(ValueError, match="are not searched"):
                Space.of(row["name"])


def test_groups_are_searched_where_a_scheme_has_them() -> None:
    assert {"receivers", "receiver_loss"} <= {bound.name for bound in Space.of("tfmcc").bounds}
    assert "receivers" not in {bound.name for bound in Space.of("cubic").bounds}
    network = {**STARVED, "rival_scheme": "reno", "receivers": 3.0, "receiver_loss": 0.02}
    space = Space.of("tfmcc", ["reno"])
    evaluator = Evaluator(space, PROPERTIES["starve"])
    result = evaluator.scenario(network, 10.0).run(seed=1)
    assert [row["receivers"] for row in result.flows.to_dicts()] == [3, 1]
    lossy = [row for row in result.links.to_dicts() if row["link"] == "far3" and row["drops_random_loss"]]
    assert lossy, "one receiver loses"
    assert evaluator.measure([network], [1], 10.0)[0][0].value is not None
    finding = Finding(space, PROPERTIES["starve"], network, 10.0, (0.05,), (1,))
    assert "groups of 3 receivers and 2 % of random loss at one of them" in finding.sentence
    assert space.normal(network)["receivers"] == 3.0
    without = {name: value for name, value in network.items() if name != "receivers"}
    assert "receiver_loss" not in space.normal(without)


def test_a_margin_is_the_logarithm_of_the_ratio_to_the_threshold() -> None:
    below, above = PROPERTIES["starve"], PROPERTIES["delay"]
    assert below.margin(0.05) == pytest.approx(math.log(2))
    assert below.margin(0.2) == pytest.approx(-math.log(2))
    assert above.margin(0.3) == pytest.approx(math.log(2))
    assert [below.margin(0.0), above.margin(0.0), below.margin(None)] == [WORST, -WORST, -WORST]


def test_properties_measure_what_they_define() -> None:
    evaluator = Evaluator(Space.of("bbr", ["cubic"]), PROPERTIES["starve"])
    ((first, second),) = evaluator.measure([STARVED], [1, 2], 20.0)
    result = evaluator.scenario(STARVED, 20.0).run(seed=1)
    goodputs = [result["flow.own.goodput"], result["flow.rival.goodput"]]
    assert first.value == pytest.approx(min(goodputs) / (sum(goodputs) / 2))
    assert first != second, "seeds differ"
    alone = {"rate": 4.0, "delay": 20.0, "buffer": 4.0, "own": 1.0}
    run = Evaluator(Space.of("reno"), PROPERTIES["stall"]).scenario(alone, 20.0).run()
    assert PROPERTIES["delay"].measure(run, alone) == run["flow.own.queueing_delay_p95"]
    sent, full = run["flow.own.sent_packets"], run["flow.own.drops_queue_full"]
    assert PROPERTIES["loss"].measure(run, alone) == pytest.approx(full / sent)
    assert PROPERTIES["collapse"].measure(run, alone) == pytest.approx(
        run["flow.own.goodput"] / 4e6, rel=0.01
    )
    assert PROPERTIES["stall"].measure(run, alone) == 0.0
    assert PROPERTIES["starve"].measure(run, alone) is None, "one flow has nobody to share with"


def test_the_shallow_bucket_of_mircc_alone_is_a_failure() -> None:
    network = {"rate": 20.0, "delay": 50.0, "buffer": 8.0, "own": 1.0, "tick": 500.0}
    evaluator = Evaluator(Space.of("mircc"), PROPERTIES["collapse"])
    measured = evaluator.measure([network], [1], 20.0)[0][0].value
    # a bucket of 200 Data of 8192 bits of payload per tick of 500 ms
    assert measured == pytest.approx(200 * 8192 / 0.5 / 20e6)
    tree = evaluator.space.scenario(network, 20.0)
    tree["ndn"]["link_params"] = {"depth": 0}
    unlimited = PROPERTIES["collapse"].measure(tw.Scenario.from_tree(tree).run(seed=1), network)
    assert unlimited is not None
    assert unlimited > 0.7, "without the bucket nothing is wrong"


def test_policing_counts_where_the_link_is_unused_and_queues_drop_nothing() -> None:
    network = {"rate": 20.0, "delay": 20.0, "buffer": 5.0, "own": 1.0, "tick": 500.0}
    evaluator = Evaluator(Space.of("mircc"), PROPERTIES["policed"])

    def measured(result: Any) -> float | None:
        return PROPERTIES["policed"].measure(result, network)

    result = evaluator.scenario(network, 20.0).run(seed=1)
    dropped = result["node.left1.policed"]
    assert measured(result) == pytest.approx(dropped / result["flow.own.sent_packets"])
    assert PROPERTIES["policed"].margin(measured(result)) > 0
    # a queue that drops as well: the failure is not the bucket's
    shallow = evaluator.scenario({**network, "buffer": 0.5}, 20.0).run(seed=1)
    assert (shallow["node.left1.policed"] or 0) > 0
    assert 0 < (measured(shallow) or 0) < 0.1
    tree = evaluator.space.scenario(network, 20.0)
    tree["ndn"]["link_params"] = {"depth": 0}
    assert measured(tw.Scenario.from_tree(tree).run(seed=1)) == 0.0


def test_routers_and_names_of_named_data_are_searched() -> None:
    network: Network = {
        "rate": 5.0,
        "delay": 20.0,
        "buffer": 2.0,
        "own": 2.0,
        "store": 100.0,
        "names": "same",
    }
    mircc: Network = {**network, "bucket": 50.0, "router_clock": 250.0}
    names = {
        scheme: {bound.name for bound in Space.of(scheme).bounds} for scheme in ("mircc", "nack", "reno")
    }
    assert {"bucket", "router_clock", "store", "names"} <= names["mircc"]
    assert {"store", "names"} == names["nack"] & {"bucket", "router_clock", "store", "names"}
    assert not names["reno"] & {"bucket", "router_clock", "store", "names"}
    tree = Space.of("mircc").scenario(mircc, 10.0)
    assert tree["ndn"] == {
        "link": "mircc",
        "link_params": {"interval": "250 ms", "depth": 50},
        "store": {"size": 100},
    }
    assert [flow["prefix"] for flow in tree["flows"]] == ["/own", "/own"]
    assert tree["producers"] == [{"prefix": "/own", "node": "right1"}]
    result = tw.Scenario.from_tree(tree).run(seed=1)
    assert [row["goodput_bps"] > 0 for row in result.flows.to_dicts()] == [True, True]
    space = Space.of("nack")
    assert space.scenario(network, 10.0)["ndn"] == {"strategy": "nack", "store": {"size": 100}}
    finding = Finding(Space.of("mircc"), PROPERTIES["policed"], mircc, 10.0, (0.6,), (1,))
    assert (
        "clocks of 250 ms in routers, buckets of 50 packets, content stores of 100 packets"
        in finding.sentence
    )
    assert "one name for all, routers drop at least 60 % of the Interests" in finding.sentence


def test_chains_and_controllers_of_named_data_are_searched() -> None:
    new = {"routers", "cross", "controller", "detour"}
    has = {
        scheme: new & {bound.name for bound in Space.of(scheme).bounds}
        for scheme in ("ndnsieve", "icp", "reno")
    }
    assert has == {"ndnsieve": new, "icp": {"routers", "cross"}, "reno": set()}
    assert "cross" not in {bound.name for bound in Space.of("icp", (), PROPERTIES["collapse"].without).bounds}
    network: Network = {
        "rate": 5.0,
        "delay": 30.0,
        "buffer": 2.0,
        "own": 1.0,
        "latecomer": 0.1,
        "loss": 0.001,
        "routers": 4.0,
        "cross": 4.0,
        "controller": 10.0,
        "detour": 2.0,
    }
    space = Space.of("ndnsieve")
    network = space.normal(network)
    assert network["cross"] == 3.0, "a chain of four routers has three links"
    assert "detour" not in space.normal(
        {name: value for name, value in network.items() if name != "controller"}
    )
    tree = space.scenario(network, 20.0)
    links = {link["name"]: link for link in tree["topology"]["links"]}
    assert [links[name]["delay"] for name in ("bottleneck", "bottleneck2", "bottleneck3")] == ["10 ms"] * 3
    assert [links[name]["delay"] for name in ("detour1", "detour2")] == ["10 ms"] * 2, (
        "twice the delay of the bottleneck"
    )
    assert [name for name, link in links.items() if "loss" in link] == ["bottleneck"]
    lot = {name: value for name, value in network.items() if name not in ("loss", "detour")}
    short = space.scenario({**lot, "outage": 1.0}, 20.0)
    assert (short["topology"]["kind"], short["topology"]["hops"]) == ("parking_lot", 3)
    assert {event["link"] for event in short["events"]} == {"hop1"}
    equal = tw.Scenario.from_tree(short).run(seed=1)
    assert (PROPERTIES["collapse"].measure(equal, lot) or 0) > 0.3
    assert tree["sdn"] == {"app": "ndnsieve", "link": {"delay": "10 ms"}}
    result = tw.Scenario.from_tree(tree).run(seed=1)
    assert {row["flow"] for row in result.flows.to_dicts() if row["goodput_bps"]} == {
        "own",
        "late",
        "cross1",
        "cross2",
        "cross3",
    }
    goodputs = [result[f"flow.{name}.goodput"] for name in ("own", "late", "cross1", "cross2", "cross3")]
    assert PROPERTIES["starve"].measure(result, network) == pytest.approx(min(goodputs) / (sum(goodputs) / 5))
    commands = result["node.controller.commands"]
    assert commands, "the controller moves a prefix to the second way"
    sentence = Finding(space, PROPERTIES["starve"], network, 20.0, (0.05,), (1,)).sentence
    assert (
        "4 routers in a chain, 3 consumers across one link, an SDN controller at 10 ms and a second way of 2 times the "
        "delay" in sentence
    )


def test_only_flows_that_a_property_reads_are_recorded() -> None:
    network: Network = {**STARVED, "rival_scheme": "cubic", "short_flows": 0.3, "short_size": 20.0}
    space, stall = Space.of("reno"), PROPERTIES["stall"]
    tree = space.scenario(network, 10.0, stall.record)
    assert tree["record"]["flows"] == ["own"]
    result = tw.Scenario.from_tree(tree).run(seed=1)
    assert result.flows.height > 20, "there are short flows"
    assert {subject.partition("@")[0] for subject in result.series["subject"]} == {"receiver.own"}
    every = {**tree, "record": {key: value for key, value in tree["record"].items() if key != "flows"}}
    whole = tw.Scenario.from_tree(every).run(seed=1)
    assert whole.series["subject"].n_unique() > 20
    assert whole.trace_hash == result.trace_hash
    assert stall.measure(whole, network) == stall.measure(result, network)
    alone = {name: value for name, value in STARVED.items() if not name.startswith("rival")}
    assert "flows" not in space.scenario(alone, 10.0, stall.record)["record"]


def test_a_search_and_the_shrinking_end_when_their_time_is_over() -> None:
    evaluator = Slope(ledbat(), PROPERTIES["starve"])
    best = Search(evaluator).run(seconds=1e-9)
    assert best.trials == 2 * evaluator.at_once, "a few networks are tried in any case"
    given: Network = {"rate": 21.3, "delay": 31.0, "buffer": 0.731, "loss": 0.00123, "own": 3.0}
    small = shrink(evaluator, given, seconds=0.0)
    assert small is not None
    assert (small.network, small.finished) == (evaluator.space.normal(given), False)
    whole = shrink(evaluator, given, seconds=1e9)
    assert whole is not None
    assert whole.finished
    assert whole == shrink(evaluator, given)


def test_a_stall_is_measured_without_the_outage() -> None:
    network = {"rate": 4.0, "delay": 20.0, "buffer": 1.0, "own": 1.0, "outage": 2.0}
    result = Evaluator(Space.of("reno"), PROPERTIES["stall"]).scenario(network, 20.0).run()
    measured = PROPERTIES["stall"].measure(result, network)
    assert measured is not None
    silent = result.series.filter((result.series["series"] == "throughput") & (result.series["time_s"] > 12))
    zeros = sum(1 for value in silent["value"] if value == 0)
    assert 0 < measured < zeros * 0.1, "two seconds of the silence are the link's"


def test_a_search_follows_the_slope_and_depends_on_its_seed_alone() -> None:
    def best(seed: int, method: str = "cma") -> Any:
        return Search(Slope(ledbat(), PROPERTIES["starve"]), seed, method).run(trials=800, clear=1.55)

    assert best(1) == best(1)
    assert best(1) != best(2)
    assert best(1).margin > best(1, "random").margin
    assert best(1).network["rate"] == pytest.approx(20, rel=0.2)


def test_quality_diversity_fills_a_map_and_depends_on_its_seed_alone() -> None:
    def found(seed: int, method: str = "qd") -> Search:
        search = Search(Slope(ledbat(), PROPERTIES["starve"]), seed, method)
        best = search.run(trials=600)
        assert best.margin == max(elite.margin for elite in search.elites.values())
        assert best.trials == 600 or method != "qd", "a map is not finished by a clear failure"
        return search

    first, again, other, random = found(1), found(1), found(2), found(1, "random")
    assert first.elites == again.elites
    assert first.elites != other.elites
    for cell, elite in first.elites.items():
        assert cell == elite.cell == cell_of(elite.network)
    assert len(first.elites) == CELLS**2, "networks of every delay and buffer are tried"
    margins = [sum(elite.margin for elite in search.elites.values()) for search in (first, random)]
    assert margins[0] > margins[1], "the networks of the cells are worse than random ones"


def test_quality_diversity_finds_the_same_with_one_and_two_jobs() -> None:
    space = Space.of(
        "bbr", ["cubic"], [bound.name for bound in BOUNDS if bound.optional and bound.name != "rivals"]
    )

    def search(jobs: int) -> Search:
        one = Search(Evaluator(space, PROPERTIES["starve"], jobs), method="qd")
        one.run(trials=6)
        return one

    assert search(1).elites == search(2).elites


def test_cells_of_the_map_are_spread_by_logarithm() -> None:
    assert edges("buffer")[0] == 0.1
    assert edges("buffer")[-1] == pytest.approx(8)
    assert cell_of({"delay": 2.0, "buffer": 0.1}) == (0, 0)
    assert cell_of({"delay": 150.0, "buffer": 30.0}) == (CELLS - 1, CELLS - 1)
    middle = edges("delay")[3]
    assert cell_of({"delay": middle * 1.01, "buffer": 1.0})[0] == 3
    assert cell_of({"delay": middle * 0.99, "buffer": 1.0})[0] == 2


def starved(scheme: str = "bbr", rival: str = "cubic", seeds: tuple[int, ...] = (1,)) -> Finding:
    network = {**STARVED, "rival_scheme": rival}
    space = Space.of(scheme, [rival])
    return Finding(space, PROPERTIES["starve"], network, 3.0, tuple(0.05 for _ in seeds), seeds)


def test_flows_of_a_counterexample_get_real_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("thalweg.breaking.emulated.kernel_has", lambda name: name == "cubic")
    tree, ends = real_ends(starved("vegas").tree)
    assert ends == {"own": "live", "rival": "kernel"}
    own, rival = tree["flows"]
    assert (own["live"], rival["kernel"]) == (True, "cubic")
    assert tw.Scenario.from_tree(tree).plan(1).has_real_ends
    with pytest.raises(EmulationError, match="named data"):
        real_ends(Finding(Space.of("mircc", []), PROPERTIES["collapse"], STARVED, 3.0, (0.1,)).tree)


def test_the_result_in_emulation_is_in_the_file(monkeypatch: pytest.MonkeyPatch) -> None:
    finding = starved()

    class Real:
        """A result whose host did not keep up."""

        complete, valid = True, False

        def __init__(self, result: Any) -> None:
            self.flows = result.flows

    def simulate(scenario: Any, seed: int) -> Any:
        return scenario.run(seed=seed)

    held = finding.in_emulation(simulate)
    assert held.emulated is not None
    assert held.emulated.outcome == ("holds" if (held.emulated.value or 0) < 0.1 else "does not hold")
    text = " ".join(line.removeprefix("# ") for line in held.toml.splitlines() if line.startswith("#"))
    assert held.emulated.words("of an equal share") in text
    assert tomllib.loads(held.toml) == tomllib.loads(finding.toml), "only the comment differs"
    assert held.as_json()["emulation"]["ends"] == dict(held.emulated.ends)
    slow = finding.in_emulation(lambda scenario, seed: Real(simulate(scenario, seed))).emulated  # type: ignore[arg-type]
    assert slow is not None
    assert slow.outcome == "not decided"
    assert "did not keep up" in slow.words("")

    def refuse(scenario: Any, seed: int) -> Any:
        raise EmulationError("needs root")

    assert finding.in_emulation(refuse).emulated == Emulated("not run", "needs root")
    panics = Finding(ledbat(), PROPERTIES["panic"], STARVED, 3.0, (None,))
    unrun = panics.in_emulation().emulated
    assert unrun is not None
    assert unrun.outcome == "not run"


def test_one_and_two_jobs_find_the_same_and_an_interrupted_search_continues(tmp_path: Path) -> None:
    space = Space.of(
        "bbr", ["cubic"], [bound.name for bound in BOUNDS if bound.optional and bound.name != "rivals"]
    )

    def search(jobs: int, log: Log | None = None, run: Any = None) -> Search:
        return Search(Evaluator(space, PROPERTIES["starve"], jobs, log, run))

    def best(of: Search) -> Any:
        return of.run(trials=6)

    wanted = best(search(1))
    assert best(search(2)) == wanted
    runs = []

    def counted(scenario: Any, seed: int, control: Any) -> Any:
        runs.append(seed)
        if len(runs) == 4:
            raise KeyboardInterrupt
        return scenario.plan(seed).carry_out(control)

    path = tmp_path / "starve.jsonl"
    with pytest.raises((Interrupted, KeyboardInterrupt)):
        best(search(1, Log(path, {"scheme": "bbr"}), counted))
    with path.open("a") as file:
        file.write('{"run": "torn')
    kept = len(Log(path, {"scheme": "bbr"}).known)
    assert kept >= 3
    runs.append(0)
    assert best(search(1, Log(path, {"scheme": "bbr"}), counted)) == wanted
    before = len(runs)
    assert best(search(1, Log(path, {"scheme": "bbr"}), counted)) == wanted
    assert len(runs) == before, "nothing runs twice"
    with pytest.raises(ResultError, match="another search"):
        Log(path, {"scheme": "reno"})


def test_a_counterexample_is_made_small_and_still_fails() -> None:
    evaluator = Slope(ledbat(), PROPERTIES["starve"])
    given = {
        "rate": 21.3,
        "delay": 31.0,
        "buffer": 0.731,
        "loss": 0.00123,
        "jitter": 3.21,
        "own": 3.0,
        "rivals": 4.0,
        "rival_scheme": "cubic",
    }
    small = shrink(evaluator, given)
    assert small is not None
    assert small.network == {
        "rate": 20.0,
        "delay": 30.0,
        "buffer": 1.0,
        "loss": 0.001,
        "own": 1.0,
        "rivals": 1.0,
        "rival_scheme": "cubic",
    }
    assert small.duration_s == 20.0
    assert small.margin > 0
    assert shrink(evaluator, {**given, "rate": 100.0}) is None, "what does not fail is no counterexample"


def test_a_finding_is_a_short_scenario_that_meets_its_expectation(tmp_path: Path) -> None:
    evaluator = Evaluator(Space.of("bbr", ["cubic"]), PROPERTIES["starve"])
    row = evaluator.measure([STARVED], [1, 2], 20.0)[0]
    finding = Finding(
        evaluator.space, evaluator.wanted, STARVED, 20.0, tuple(measured.value for measured in row), (1, 2)
    )
    files = finding.save(tmp_path)
    text = files["scenario"].read_text("utf-8")
    assert finding.lines <= 15
    assert "cubic flow gets" in text
    assert text.count("\n# ") <= 1
    result = tw.load(files["scenario"]).run()
    assert result.expect.height == 1
    assert result.passed
    # the legend names what each flow runs
    figure = files["figure"].read_text("utf-8")
    assert {"own (bbr)", "rival (cubic)"} <= set(re.findall(r">([^<>]+)</text>", figure))


def test_a_panic_is_a_failure_of_its_own() -> None:
    class PanicException(BaseException):
        """Has the name of the core's exception."""

    def panics(scenario: Any, seed: int, control: Any) -> Any:
        raise PanicException("window below one segment")

    evaluator = Evaluator(ledbat(), PROPERTIES["panic"], run=panics)
    best = Search(evaluator).run(trials=2)
    assert best.margin > 0
    small = shrink(evaluator, best.network or {})
    assert small is not None
    finding = Finding.of(evaluator, small)
    assert finding.sentence.endswith("the implementation of ledbat panics.")
    assert finding.expect == {}


def test_the_command_writes_what_it_finds(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    real = Evaluator.measure

    def shorter(self: Evaluator, networks: Any, seeds: Any, duration_s: float = 40.0) -> Any:
        return real(self, networks, seeds[:2], 4.0)

    monkeypatch.setattr(Evaluator, "measure", shorter)
    out = tmp_path / "found"
    words = ["break", "reno", "--property", "delay", "--trials", "8", "--out", str(out), "--json"]
    without = "loss,jitter,queue,trace,rate_step,latecomer,rtt_ratio"
    assert call([*words, "--without", without]) == 0
    told = json.loads(capsys.readouterr().out)
    assert told["searches"][0]["trials"] <= 8
    assert [row["property"] for row in told["findings"]] == ["delay"], "a FIFO of several products"
    assert tomllib.loads((out / "delay.toml").read_text("utf-8"))["title"] == "reno: delay"
    assert (out / "delay.svg").exists()
    assert (out / "delay.jsonl").exists()


def test_the_command_ends_when_its_time_is_over_and_says_what_is_left(
    tmp_path: Path, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(
        "thalweg.cli.break_._search", lambda space, wanted, seed, *_: Search(Slope(space, wanted), seed)
    )
    monkeypatch.setattr(Finding, "save", lambda *_: {})
    words = ["break", "ledbat", "--property", "starve,delay", "--minutes", "1e-9", "--out", str(tmp_path)]
    assert call([*words, "--json"]) == 0
    told = json.loads(capsys.readouterr().out)
    assert [row["property"] for row in told["searches"]] == ["starve"]
    assert told["searches"][0]["trials"] == 2
    assert told["skipped"] == ["delay"]
    assert call(words) == 0
    said = capsys.readouterr().out
    assert "Not searched, the time was over: delay" in said
    assert "The same command continues" in said


@pytest.mark.parametrize(
    ("words", "message", "hint"),
    [
        (["ledbatt"], "no scheme is called `ledbatt`", "did you mean `ledbat`?"),
        (["perif_ecn"], "cannot be searched", ""),
        (["reno", "--property", "policed"], "`reno` is no scheme of named data", ""),
        (["reno", "--property", "starv"], "there is no such property", "did you mean `starve`?"),
        (["reno", "--without", "los"], "there is no such parameter", "did you mean `loss`?"),
        (["reno", "--against", "mircc"], "no scheme over IP has this name", ""),
        (["reno", "--without", "loss,delay"], "--without delay: every network has it", ""),
        (["reno", "--minutes", "0"], "--minutes 0: above 0", ""),
        (["reno", "--trials", "0"], "--trials 0: at least one", ""),
    ],
)
def test_mistakes_are_explained(
    words: list[str], message: str, hint: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert call(["break", *words]) == 2
    said = capsys.readouterr().err
    assert message in said
    assert hint in said


def test_the_page_has_every_property_and_every_bound(capsys: pytest.CaptureFixture[str]) -> None:
    page = (ROOT / "docs" / "breaking.md").read_text("utf-8")
    for row in PROPERTIES.values():
        assert f"| `{row.name}` | {row.definition} | {row.source} |" in page
    for bound in BOUNDS:
        assert (
            f"| `{bound.name}` | {bound.range_text} | {bound.unit} | {bound.meaning} | {bound.reason} |"
            in page
        )
    assert call(["break"]) == 0
    listed = capsys.readouterr().out
    assert all(name in listed for name in PROPERTIES)


@pytest.mark.parametrize("path", CORPUS, ids=[path.stem for path in CORPUS])
def test_known_failures_are_short_and_say_what_happens(path: Path) -> None:
    lines = path.read_text("utf-8").splitlines()
    assert lines[0].startswith("# On ")
    assert sum(1 for line in lines if not line.startswith("#")) <= 15
    assert os.path.basename(path).startswith(tomllib.loads("\n".join(lines))["title"].partition(":")[0])
