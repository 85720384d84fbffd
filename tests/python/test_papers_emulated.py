"""Papers and comparisons in real time: what is planned, kept and judged; small ones are carried out where permitted."""

from __future__ import annotations

import itertools
import json
from pathlib import Path

import numpy as np
import pytest

import thalweg_papers as papers
from emulated import needs_namespaces
from thalweg import Scenario
from thalweg import papers as entry_points
from thalweg.cli import call
from thalweg_papers import _claims, _emulation, _phases, _specific
from thalweg_papers._base import Emulated, Experiment, Measure, Pair, Quantity, Samples, Scale
from thalweg_papers._study import Paper, Study
from thalweg_papers.agreement import figures
from thalweg_papers.agreement import scenarios as agreement
from thalweg_papers.cvihis import PAPER, real_figures, real_measures, real_scenarios, scenarios

pytestmark = pytest.mark.wall_clock

MEASURES = [(name, value) for name, value in vars(real_measures).items() if isinstance(value, Measure)]


# --- the paper's tests -----------------------------------------------------------------------------------------------


def test_the_claims_are_those_of_the_paper_and_can_be_measured():
    part = PAPER.emulated()
    published = {row.id: row for row in PAPER.claims()}
    rows = part.claims()
    assert len({row.id for row in rows}) == len(rows)
    runs = part.experiments()
    for row in rows:
        assert row.source == published[row.id].source
        assert row.evidence == published[row.id].evidence, row.id
        assert set(row.measure.experiments) <= set(runs), row.id
    assert {id(measure) for _, measure in MEASURES} == {id(row.measure) for row in rows}


def test_connections_are_the_kernels_and_streams_are_live_where_that_is_possible():
    tree = scenarios.figure_3("10", Scale())
    video, tcp = _flows(real_scenarios.real(tree, live=True))
    assert (video["live"], "kernel" in video) == (True, False)
    assert (tcp["kernel"], tcp["scheme"], "live" in tcp) == ("reno", "reno", False)
    video, _ = _flows(real_scenarios.real(tree, live=False))
    assert "live" not in video
    assert _flows(tree)[1] == {**tree["flows"][1]}, "what is simulated stays as it is"


def _flows(tree):
    return [dict(flow) for flow in tree["flows"]]


def test_every_planned_test_is_one_of_an_experiment_and_a_scenario():
    for study in (PAPER, papers.STUDIES["agreement"]):
        part = study.emulated()
        experiments = part.experiments()
        cases = list(part.cases())
        assert len(set(cases)) == len(cases)
        for name, variant in cases:
            assert variant in experiments[name].variants
            Scenario.from_tree(experiments[name].tree(variant, Scale())).plan(1)


def test_a_network_without_the_kernel_is_no_emulation():
    assert not _emulation.has_real_endpoint(real_scenarios.real(scenarios.four("30", Scale()), live=False))
    assert _emulation.has_real_endpoint(real_scenarios.real(scenarios.four("30", Scale()), live=True))
    assert _emulation.has_real_endpoint(real_scenarios.real(scenarios.figure_3("10", Scale()), live=False))


# --- what is run -----------------------------------------------------------------------------------------------------


def experiment(*seconds: float) -> Experiment:
    variants = tuple(f"{second:g}" for second in seconds)
    return Experiment("e", "e", variants, lambda variant, _: wire(float(variant)), extract, seeds=1)


def wire(seconds: float, max_lateness: str = "1000 s"):
    """A kernel connection over one link."""
    return {
        "duration": f"{seconds:g} s",
        "topology": {
            "kind": "dumbbell",
            "bottleneck": {"rate": "4 Mbit/s", "delay": "5 ms", "buffer": "20 packets"},
        },
        "flows": [{"name": "tcp", "kernel": "reno"}],
        "record": {"every": "100 ms", "series": ["rate"]},
        "emulation": {"max_lateness": max_lateness},
    }


def extract(result, _variant, _scale):
    return {"goodput": float(result["flow.tcp.goodput"])}


def test_runs_are_selected_in_order_until_the_time_is_used():
    runs = [
        _emulation.EmulatedRun(experiment(300, 240, 300, 100), variant, 1)
        for variant in ("300", "240", "300", "100")
    ]
    assert _emulation.fit_in_time(runs, 10, 2) == runs
    assert _emulation.fit_in_time(runs, 5, 2) == runs[:2]
    assert _emulation.fit_in_time(runs, 6, 2) == [runs[0], runs[1], runs[3]], "what still fits is taken"
    assert _emulation.fit_in_time(runs, 1, 2) == runs[:1], "one at least"


def test_second_runs_come_after_the_first_of_all_and_named_cases_before_others():
    study = experiment(1, 2, 3)
    part = Emulated(
        experiments=lambda: {"e": study},
        cases=lambda: [("e", "3")],
        figure_specs=tuple,
        choices=dict,
        runs=2,
    )
    planned = [(run.variant, run.seed) for run in _emulation.plan_runs(part, {"e": study}, 5)]
    assert planned == [("3", 5), ("1", 5), ("2", 5), ("3", 6), ("1", 6), ("2", 6)]


@needs_namespaces
def test_finished_runs_are_kept_and_not_run_again(tmp_path: Path):
    runs = [_emulation.EmulatedRun(experiment(0.5, 0.6), variant, 1) for variant in ("0.5", "0.6")]
    said = []
    done = _emulation.run_all(
        runs, at_once=2, out=tmp_path, progress=lambda now, total, _: said.append(now / total)
    )
    assert [run.tries for run in runs] == [1, 1]
    assert all(sample["emulation"]["valid"] for _, sample in done)
    assert all(0 <= share <= 1 for share in said)
    again = [_emulation.EmulatedRun(run.experiment, run.variant, 1) for run in runs]
    kept = _emulation.run_all(again, at_once=2, out=tmp_path, progress=None)
    assert [run.tries for run in again] == [0, 0]
    assert [sample["goodput"] for _, sample in kept] == [sample["goodput"] for _, sample in done]
    other = _emulation.EmulatedRun(again[0].experiment, again[0].variant, 2)
    _emulation.run_all([other], at_once=1, out=tmp_path, progress=None)
    assert other.tries == 1, "another seed is another run"


@needs_namespaces
def test_an_invalid_run_is_repeated_once_and_again_by_the_next_call(tmp_path: Path):
    late = Experiment("e", "e", ("x",), lambda *_: wire(0.5, "1 us"), extract, seeds=1)
    for _ in range(2):
        run = _emulation.EmulatedRun(late, "x", 1)
        ((_, sample),) = _emulation.run_all([run], at_once=1, out=tmp_path, progress=None)
        assert (run.tries, sample["emulation"]["valid"]) == (2, False)


@needs_namespaces
def test_ctrl_c_ends_running_emulations_and_leaves_no_namespace(tmp_path: Path):
    runs = [_emulation.EmulatedRun(experiment(60, 61), variant, 1) for variant in ("60", "61")]

    def stop(now_s: float, *_):
        if now_s > 0.5:
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        _emulation.run_all(runs, at_once=2, out=tmp_path, progress=stop)
    folder = Path("/run/netns")
    mine = f"thalweg-{__import__('os').getpid()}-"
    assert not folder.is_dir() or not [entry for entry in folder.iterdir() if entry.name.startswith(mine)]


# --- judging ---------------------------------------------------------------------------------------------------------


def sample(video: float, tcp: float, valid: bool = True):
    times = np.arange(1.0, 301.0)
    return {
        "times_s": times,
        "rate video": np.full(300, video),
        "rate tcp": np.full(300, tcp),
        "emulation": {"valid": valid},
    }


def test_a_measure_without_its_runs_has_no_quantity():
    for name, measure in MEASURES:
        assert measure(Samples({})) == {}, name


def test_shares_are_those_of_the_tests_that_were_run():
    samples = Samples(
        {
            ("friendliness", "3000 20"): [sample(1e6, 2e6)],
            ("friendliness", "3000 200"): [sample(2e6, 1e6)],
            ("beside", "linux 3000 20"): [sample(1e6, 1e6)],
            ("beside", "cubic 3000 20"): [sample(1e6, 3e6)],
            ("beside", "cubic 3000 200"): [sample(1e6, 9e6)],
        }
    )
    wanted = ("fairness", "short", "long", "worst", "cubic")
    found = {name: getattr(real_measures, name)(samples) for name in wanted}
    assert found["fairness"]["share"].mean == pytest.approx(0.5)
    assert found["short"]["share"].mean == pytest.approx(1 / 3)
    assert found["long"]["more"].mean == pytest.approx(1 / 3)
    assert found["worst"]["worst"].mean == pytest.approx(2)
    assert found["cubic"]["less"].mean == pytest.approx(0.25), "only tests that both have"


def test_an_emulated_claim_has_the_simulation_of_the_same_tests():
    def share(samples: Samples):
        values = real_measures.each(samples, "e", lambda s, _: s["rate video"][0])
        return {"share": Quantity((float(np.mean(values)),))} if values else {}

    claims = [
        _claims.Claim(
            id="T-1",
            kind="N",
            source="§1",
            statement="s",
            expected="a half",
            measure=Measure(("e",), share),
            accept=(_claims.Check.parse("share in 0.4..0.6"),),
        )
    ]
    one = experiment(1, 2)
    simulated = Samples({("e", "1"): [sample(0.9, 0)], ("e", "2"): [sample(0.1, 0)]})
    runs = [
        (_emulation.EmulatedRun(one, "1", 1), sample(0.5, 0)),
        (_emulation.EmulatedRun(one, "2", 1), sample(0.0, 0, valid=False)),
    ]
    pair = Pair(simulated, Samples({("e", "1"): [runs[0][1]]}))
    (row,) = _emulation.side_by_side(claims, pair, runs)
    assert (row["verdict"], row["measured"]) == ("reproduced", 0.5)
    assert (row["simulated"]["verdict"], row["simulated"]["measured"]) == ("not reproduced", 0.9)
    assert (row["valid_runs"], row["all_runs"]) == (1, 2)
    (row,) = _emulation.side_by_side(claims, Pair(simulated, Samples({})), runs[1:])
    assert (row["verdict"], row["simulated"]) == ("not testable", None), "it was run, and was not valid"
    others = [
        (_emulation.EmulatedRun(Experiment("other", "o", ("x",), one.tree, extract), "x", 1), sample(1, 0))
    ]
    assert _emulation.side_by_side(claims, pair, others) == [], "what was not run is not listed"


def test_what_is_stored_of_a_paper_marks_emulated_rows_with_the_same_checks(monkeypatch):
    """A row counts as in a simulation: apart, if phases decide it or other schemes pass it; not if its checks are others."""
    one = Experiment("e", "e", ("0.5",), lambda variant, _: wire(float(variant)), extract, seeds=1)

    def claim(name, check="goodput >= 0"):
        def goodput(samples):
            cases = samples.by_case.get(("e", "0.5"), [])
            return {"goodput": Quantity(tuple(s["goodput"] for s in cases))} if cases else {}

        return _claims.Claim(
            id=name,
            kind="N",
            source="§1",
            statement="s",
            expected="any",
            measure=Measure(("e",), goodput),
            accept=(_claims.Check.parse(check),),
        )

    rows = [claim("T-1"), claim("T-2"), claim("T-3", "goodput >= -1"), claim("T-4")]
    accepted = ("goodput >= 0",)
    phased = _phases.Row("reproduced", "not reproduced", 0.0, "goodput −1", accepted)
    passed = _specific.Tried(accepted, {"other": "reproduced"})
    paper = Paper(
        name="small",
        title="A small paper",
        experiments=lambda: {"e": one},
        figure_specs=list,
        choices=dict,
        claims=lambda: [claim(row.id) for row in rows],
        phases=lambda: _phases.Phases(10, 1, False, {"T-1": phased, "T-3": phased}),
        substitution=lambda: _specific.Substitution(
            False, 1, {"other": "another scheme"}, {"T-2": passed, "T-3": passed}, {}
        ),
        emulated=lambda: Emulated(
            experiments=lambda: {"e": one},
            cases=lambda: [("e", "0.5")],
            figure_specs=list,
            choices=dict,
            claims=lambda: rows,
        ),
    )

    def without_namespaces(runs, **_):
        emulation = {"valid": True, "tries": 1, "kernel": "-", "faults": [], "notes": []}
        return [(run, {"goodput": 1.0, "emulation": emulation}) for run in runs]

    monkeypatch.setattr(_emulation, "run_all", without_namespaces)
    done = paper.emulate()
    found = {row["id"]: (row.get("standing"), row["not_specific"]) for row in done.claims}
    assert found == {
        "T-1": ("phase-dependent", False),
        "T-2": (None, True),
        "T-3": (None, False),
        "T-4": (None, False),
    }
    counts = done.counts()
    assert (counts["reproduced"], counts["phase_dependent"], counts["not_specific"]) == (2, 1, 1)
    assert done.substitutes == {"other": "another scheme"}


def test_figures_show_cases_that_were_simulated_and_emulated():
    both = Samples({("figure 3", "10"): [sample(1e6, 2e6)], ("friendliness", "3000 20"): [sample(1e6, 2e6)]})
    drawn = {spec.id: spec.draw(Pair(both, both)) for spec in real_figures.figure_specs()}
    assert {name for name, plate in drawn.items() if plate is not None} == {"figure-3", "figure-4", "tests"}
    assert set(drawn["figure-3"].tables) == {"simulated-10", "emulated-10"}
    rows = list(drawn["tests"].rows())
    assert {row["emulated_over_simulated"] for row in rows} == {1.0}
    assert all(spec.draw(Pair(both, Samples({}))) is None for spec in real_figures.figure_specs())


# --- agreement -------------------------------------------------------------------------------------------------------


def cell(a: float, b: float, queue: float):
    return {
        "goodput a": a,
        "goodput b": b,
        "queue_packets": queue,
        "utilisation": 1.0,
        "loss a": 0.0,
        "loss b": 0.0,
    }


def test_a_cell_agrees_when_shares_and_queue_are_within_the_bands():
    simulated = Samples({("newreno", "5 30 1"): [cell(1, 1, 10)], ("cubic", "5 30 1"): [cell(2, 1, 10)]})
    emulated = Samples({("newreno", "5 30 1"): [cell(1.1, 1, 12)], ("cubic", "5 30 1"): [cell(1, 2, 13)]})
    rows = figures.cell_rows(Pair(simulated, emulated))
    assert [(row["shares_agree"], row["queue_agrees"]) for row in rows] == [(True, True), (False, False)]
    first, second = figures.agreement(Pair(simulated, emulated)).rows()
    assert (first["cells"], first["both"], second["both"]) == (1, 1, 0)
    assert figures.shares_apart(0.55, 0.5) == pytest.approx(0.1)
    assert figures.shares_apart(0.85, 0.8) == pytest.approx(0.25), "the flow with less is farther"


def test_quic_stacks_have_24_cells_of_real_endpoints_and_narrow_bands():
    cells = [(kind, variant) for kind in agreement.STACKS for variant in agreement.EXPERIMENTS[kind].variants]
    assert len(cells) == 24
    for kind, variant in cells:
        flows = agreement.tree(kind, variant)["flows"][:2]
        assert [(flow["stack"], flow["live"]) for flow in flows] == [(kind, True)] * 2
    simulated = Samples({("quinn", "5 30 1"): [cell(1, 1, 10)], ("noq", "5 30 1"): [cell(1, 1, 10)]})
    emulated = Samples({("quinn", "5 30 1"): [cell(1.1, 1, 10.9)], ("noq", "5 30 1"): [cell(1.3, 1, 11.1)]})
    rows = figures.cell_rows(Pair(simulated, emulated))
    assert [(row["shares_agree"], row["queue_agrees"]) for row in rows] == [(True, True), (False, False)]


def test_each_cell_of_tcp_also_exists_with_little_random_traffic():
    """Without any, simulated senders cut at the same instants; 0.5 % is the minimum that every comparison has."""
    grids = {2.0: agreement.GRID, 0.5: agreement.LIGHT_GRID}
    for percent, grid in grids.items():
        for kind in ("newreno", "cubic", "bbr"):
            assert set(grid) <= set(agreement.EXPERIMENTS[kind].variants)
        for variant in grid:
            noise = agreement.tree("cubic", variant)["flows"][-1]["source"]
            mbps = agreement.parts(variant)[0]
            assert noise == {"kind": "poisson", "rate": f"{percent * 10 * mbps:g} kbit/s"}
    assert {variant for kind, variant in agreement.CASES if kind == "cubic"} == {
        *agreement.GRID,
        *agreement.LIGHT_GRID,
    }


def test_cells_are_counted_by_their_random_traffic():
    cases = {("cubic", "5 30 1"): [cell(1, 1, 10)], ("cubic", "5 30 1 0.5"): [cell(1, 1, 10)]}
    rows = figures.agreement(Pair(Samples(cases), Samples(cases))).rows()
    assert [(row["traffic_percent"], row["cells"]) for row in rows] == [(2.0, 1), (0.5, 1)]


def test_two_seeds_of_a_cell_are_two_simulations():
    tree = {**agreement.tree("newreno", "5 30 1"), "duration": "5 s", "warmup": "1 s"}
    hashes = {Scenario.from_tree(tree).plan(seed).run().trace_hash for seed in (1, 2)}
    assert len(hashes) == 2


@needs_namespaces
def test_a_small_cell_agrees_in_both_worlds():
    """Bands are wide: the run is short. When the machine could not keep up there is nothing to compare."""
    tree = {**agreement.tree("newreno", "5 30 1"), "duration": "12 s", "warmup": "3 s"}
    kept = Experiment("e", "e", ("x",), lambda *_: tree, agreement.extract, seeds=1)
    ((_, emulated),) = _emulation.run_all(
        [_emulation.EmulatedRun(kept, "x", 1)], at_once=1, out=None, progress=None
    )
    if not emulated["emulation"]["valid"]:
        pytest.skip(f"the machine could not keep up: {emulated['emulation']['faults']}")
    simulated = agreement.extract(Scenario.from_tree(tree).plan(1).run(), "x", Scale())
    assert emulated["utilisation"] > 0.9
    assert figures.apart(emulated["queue_packets"], simulated["queue_packets"]) < 0.5
    assert 0.2 < figures.share(emulated) < 0.8


# --- the command -----------------------------------------------------------------------------------------------------


@needs_namespaces
def test_a_study_from_end_to_end(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    one = Experiment("one", "one", ("x",), lambda *_: wire(1.0), extract, seeds=2)
    inside = Experiment("inside", "inside", ("x",), lambda *_: without_kernel(), extract, seeds=1)
    part = Emulated(
        experiments=lambda: {"one": one, "inside": inside},
        cases=lambda: [("one", "x")],
        figure_specs=tuple,
        choices=lambda: {"key": "choice"},
    )
    study = Study(
        name="small",
        title="A small one",
        experiments=dict,
        figure_specs=tuple,
        choices=dict,
        emulated=lambda: part,
        only_emulated=True,
    )
    monkeypatch.setattr(entry_points, "names", lambda: ["small"])
    monkeypatch.setattr(entry_points, "find", {"small": study}.__getitem__)
    assert call(["reproduce", "small", "--out", str(tmp_path), "--json"]) == 0
    said = json.loads(capsys.readouterr().out)
    assert [(run["experiment"], run["valid"], run["tries"]) for run in said["runs"]] == [("one", True, 1)]
    assert any("no real endpoint" in note for note in said["notes"])
    assert "in real time" in (tmp_path / "report.html").read_text(encoding="utf-8")


def without_kernel():
    tree = wire(1.0)
    tree["flows"] = [{"name": "tcp", "scheme": "reno"}]
    return tree


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["reproduce", "cvihis", "--full"], "--emulate"),
        (["reproduce", "cvihis", "--emulate", "--quick"], "--minutes"),
        (["reproduce", "cvihis", "--emulate", "--full", "--minutes", "3"], "--minutes"),
        (["reproduce", "mca", "--emulate"], "agreement, controllers, cvihis"),
    ],
)
def test_options_that_do_not_go_together_are_refused(
    words: list[str], hint: str, tmp_path: Path, capsys: pytest.CaptureFixture[str]
):
    assert call([*words, "--out", str(tmp_path)]) == 2
    assert hint in capsys.readouterr().err


@pytest.mark.parametrize(
    "words",
    [
        ["--with", "deviation=mean"],
        ["--search"],
        ["--readings"],
        ["--set", "flows.tcp.params.gamma=0.3"],
    ],
)
def test_a_study_in_real_time_only_refuses_what_needs_simulations(
    words: list[str], tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
):
    def started(*_given: object, **_settings: object) -> int:
        raise AssertionError("an emulation was started")

    monkeypatch.setattr("thalweg.cli.reproduce._run_emulated", started)
    assert call(["reproduce", "agreement", *words, "--out", str(tmp_path)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert f"`{words[0]}` works with simulations only" in said
    assert "`agreement` runs in real time only" in said


def test_scenarios_of_a_study_in_real_time_only_can_be_written(tmp_path: Path):
    assert call(["reproduce", "agreement", "--quick", "--export", str(tmp_path)]) == 0
    assert len(list(tmp_path.glob("*.toml"))) > 1


def test_every_kind_of_the_grid_exists():
    cells = list(itertools.product(agreement.BUFFERS_BDP, agreement.MBPS, agreement.RTT_MS))
    assert len(agreement.GRID) == len(agreement.LIGHT_GRID) == len(cells)
    kinds = {"newreno", "cubic", "cvihis", *agreement.ONLY_LIVE, *agreement.STACKS}
    assert {name for name, _ in agreement.CASES} == kinds
