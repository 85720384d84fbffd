"""Several readings at once: named by a command, searched for, and as a profile beside the default."""

from __future__ import annotations

import dataclasses
import json
import tomllib
from pathlib import Path

import msgspec
import pytest

import reproductions
import thalweg_papers as papers
from cli_calls import asked, refused_after
from thalweg.cli import call
from thalweg_papers import _claims, _joint, _runner, _search
from thalweg_papers._base import Experiment, ExperimentKey, Measure, Samples, Scale
from thalweg_papers._readings import Option, Reading
from thalweg_papers._study import Paper


class Key(ExperimentKey):
    TWO = "two"
    ONE = "one"


RATES = {"2": 2.0, "4": 4.0}


def tree(variant, _scale):
    return {
        "title": variant,
        "duration": "1 s",
        "topology": {
            "kind": "dumbbell",
            "edge": {"rate": "100 Mbit/s", "delay": "1 ms"},
            "bottleneck": {"rate": f"{variant} Mbit/s", "delay": "5 ms", "buffer": "20 packets"},
        },
        "flows": [
            {"name": "f", "scheme": "reno", "packet": "1000 B", "params": {}, "start_spread": "0.2 s"},
        ],
    }


def keep(result, _variant, _scale):
    """What the settings of the scenario are: the readings decide the numbers, and so the optimum is known."""
    scenario = tomllib.loads(result.scenario_toml)
    bottleneck = scenario["topology"]["bottleneck"]
    return {
        "rate": float(bottleneck["rate"].split()[0]),
        "buffer": float(bottleneck["buffer"].split()[0]),
        "delay": float(bottleneck["delay"].split()[0]),
        "packet": float(scenario["flows"][0]["packet"].split()[0]),
    }


def setting(part, key, value):
    """A change of a key of the bottleneck or of the flow."""

    def change(tree):
        place = tree["topology"]["bottleneck"] if part == "bottleneck" else tree["flows"][0]
        place[key] = value

    return change


READINGS = (
    Reading(
        "buffer",
        "How large?",
        (Option("20", "“20.”"), Option("30", "Ours.", setting("bottleneck", "buffer", "30 packets"))),
        default="20",
    ),
    Reading(
        "delay",
        "How long?",
        (
            Option("5-ms", "“5 ms.”"),
            Option("6-ms", "Ours.", setting("bottleneck", "delay", "6 ms")),
            Option("7-ms", "Ours.", setting("bottleneck", "delay", "7 ms")),
        ),
        default="5-ms",
    ),
    Reading(
        "packet",
        "How long?",
        (Option("1000", "“1000 B.”"), Option("500", "Ours.", setting("flow", "packet", "500 B"))),
        default="1000",
    ),
    Reading(
        "wire",
        "How long, again?",
        (Option("short", "Ours."), Option("long", "Ours.", setting("bottleneck", "delay", "8 ms"))),
        default="short",
    ),
)


def row(name, quantity, *accept, value=None):
    def measured(samples):
        return {quantity: samples.each(Key.TWO, "2", value or (lambda s: s[quantity]))}

    return _claims.Claim(
        id=name,
        kind="R",
        source="§1",
        statement=f"statement {name}",
        expected="some",
        measure=Measure((Key.TWO,), measured),
        accept=tuple(map(_claims.Check.parse, accept)),
    )


def both(sample):
    """One unless buffer and packet are changed together, and below it where only one of them is."""
    changed = (sample["buffer"] == 30) + (sample["packet"] == 500)
    return {0: 1.0, 1: 0.0, 2: 2.0}[changed]


def paper(*claims, readings=READINGS, joint=lambda: None):
    experiments = {
        Key.TWO: Experiment(Key.TWO, "", ("2", "4"), tree, keep, seeds=4, quick_seeds=2),
        Key.ONE: Experiment(Key.ONE, "", ("2",), tree, keep, seeds=1, quick_seeds=1),
    }
    return Paper(
        name="test",
        title="A paper",
        experiments=lambda: experiments,
        figure_specs=tuple,
        choices=dict,
        claims=lambda: list(claims),
        readings=lambda: readings,
        joint=joint,
    )


# 6 ms is the best delay; buffer and packet gain three rows together, and lose one where one of them is changed alone
CLAIMS = (
    row("T-1", "delay", "delay in 5.5..6.5"),
    row("T-2", "both", "both >= 1.5", value=both),
    row("T-3", "both", "both >= 1.6", value=both),
    row("T-4", "both", "both >= 0.5", value=both),
    row("T-5", "rate", "rate in 2..2"),
    row("T-6", "delay", "delay in 5..5"),
)
BEST = {"buffer": "30", "delay": "6-ms", "packet": "500"}


@pytest.mark.parametrize(("seed", "jobs"), [(1, 1), (2, 3), (7, 3)])
def test_a_search_finds_the_optimum_that_takes_two_changes_at_once(seed, jobs, tmp_path):
    # one start, so that it is the pairs that find it and no random combination
    found = paper(*CLAIMS[:5]).search_readings(seed=seed, jobs=jobs, starts=1, out=tmp_path)
    assert found.joint.settings == BEST
    assert found.joint.search.exhausted
    assert found.joint.training.default.confirmed == 2
    assert found.joint.training.joint.confirmed == 5


def test_what_a_search_finds_does_not_depend_on_jobs_or_on_what_is_kept(tmp_path):
    here = paper(*CLAIMS)
    once = here.search_readings(jobs=1, out=tmp_path)
    assert here.search_readings(jobs=4).as_dict() == once.as_dict()
    assert here.search_readings(jobs=2, out=tmp_path).as_dict() == once.as_dict()


def test_an_interrupted_search_continues_with_the_runs_that_it_has(tmp_path, monkeypatch):
    here = paper(*CLAIMS)
    whole = here.search_readings(jobs=1)
    run = []

    def stop(_done, _total, what):
        run.append(what)
        if what.startswith("combination 4,"):
            raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        here.search_readings(jobs=1, out=tmp_path, progress=stop)
    kept = set((tmp_path / "samples").iterdir())
    assert kept
    simulated = []
    simulate = _runner.Run.simulate
    monkeypatch.setattr(
        _runner.Run, "simulate", lambda run, control: simulated.append(run.key) or simulate(run, control)
    )
    again = here.search_readings(jobs=1, out=tmp_path)
    assert again.as_dict() == whole.as_dict()
    assert not {path.stem for path in kept} & set(simulated)


def test_a_search_judges_what_it_found_on_seeds_that_it_did_not_use():
    # the first two seeds like one delay and the others the other
    def liked(seed, delay):
        return 1.0 if (delay == 6) == (seed <= 2) else 0.0

    def keep_seed(result, variant, scale):
        return {**keep(result, variant, scale), "seed": float(result.seed)}

    here = paper(
        row("T-1", "liked", "liked >= 1", value=lambda s: liked(s["seed"], s["delay"])),
        row("T-2", "rate", "rate in 2..2"),
    )
    experiments = {
        key: dataclasses.replace(one, extract=keep_seed) for key, one in here.experiments().items()
    }
    found = dataclasses.replace(here, experiments=lambda: experiments).search_readings(jobs=1)
    assert found.joint.settings == {"delay": "6-ms"}
    assert found.joint.training.gained == ("T-1",)
    assert found.joint.held_out.lost == ("T-1",)
    assert (found.joint.held_out.default.confirmed, found.joint.held_out.joint.confirmed) == (2, 1)
    assert [claim["id"] for claim in found.changed] == ["T-1"]


def test_a_search_counts_settings_and_combinations_and_keeps_to_its_limit():
    found = paper(*CLAIMS).search_readings(jobs=1, starts=1, combinations=3)
    facts = found.joint.search
    assert (facts.combinations, facts.exhausted, facts.readings, facts.rows) == (3, False, 4, 6)
    sentence = found.joint.sentence()
    assert f"{len(found.joint.settings)} of 4 readings changed, the best of 3 combinations" in sentence
    assert "fitted jointly" in sentence
    for wrong in ({"starts": 0}, {"combinations": 0}):
        with pytest.raises(ValueError, match="at least 1"):
            paper(*CLAIMS).search_readings(**wrong)


def test_readings_that_exclude_each_other_are_no_combination():
    trials = _search._Trials(paper(*CLAIMS), quick=False, jobs=1, seed=1, out=None, progress=None, on=None)
    assert trials.agree(("30", "6-ms", "500", "short"))
    assert not trials.agree(("20", "6-ms", "1000", "long"))


def test_an_experiment_with_one_seed_takes_the_next_one_for_the_other_half():
    assert [list(_search._half_of(n, held_out=False)) for n in (1, 2, 3, 10)] == [[0], [0], [0], [*range(5)]]
    assert [list(_search._half_of(n, held_out=True)) for n in (1, 2, 3, 10)] == [
        *([1], [1], [1, 2], [*range(5, 10)]),
    ]


def test_a_ratio_to_nothing_confirms_no_row():
    divided = row("T-1", "inverse", "inverse >= 0", value=lambda s: 1 / (s["delay"] - 6))
    found = paper(divided, *CLAIMS[1:5]).search_readings(jobs=1)
    assert "T-1" in found.joint.training.gained
    assert found.joint.settings.get("delay") != "6-ms"
    chosen = ("20", "6-ms", "1000", "short")
    trials = _search._Trials(paper(divided), quick=True, jobs=1, seed=1, out=None, progress=None, on=None)
    assert trials.rows(chosen, held_out=False)["T-1"]["verdict"] == "not testable"


def test_readings_that_leave_an_experiment_nothing_to_measure_are_passed_over():
    def keep_some(result, variant, scale):
        sample = keep(result, variant, scale)
        return {**sample, "first": 1 / (sample["delay"] - 6)}

    here = paper(*CLAIMS[:5])
    experiments = {
        key: dataclasses.replace(one, extract=keep_some) for key, one in here.experiments().items()
    }
    found = dataclasses.replace(here, experiments=lambda: experiments).search_readings(jobs=1, starts=1)
    assert found.joint.settings == {"buffer": "30", "packet": "500"}


def test_a_mistake_of_an_experiment_is_no_reading_that_measures_nothing():
    def keep_wrongly(result, variant, scale):
        sample = keep(result, variant, scale)
        return {**sample, "first": [1.0][int(sample["delay"] == 6)]}

    here = paper(*CLAIMS[:5])
    experiments = {
        key: dataclasses.replace(one, extract=keep_wrongly) for key, one in here.experiments().items()
    }
    with pytest.raises(IndexError):
        dataclasses.replace(here, experiments=lambda: experiments).search_readings(jobs=1, starts=1)


def test_a_half_with_nothing_to_measure_leaves_no_row_testable():
    def keep_some(result, variant, scale):
        sample = keep(result, variant, scale)
        wrong = result.seed > 2 and sample["buffer"] == 30
        return {**sample, "first": 1 / float(not wrong)}

    here = paper(*CLAIMS[:5])
    experiments = {
        key: dataclasses.replace(one, extract=keep_some) for key, one in here.experiments().items()
    }
    found = dataclasses.replace(here, experiments=lambda: experiments).search_readings(jobs=1, starts=1)
    assert found.joint.settings == BEST
    assert found.joint.training.joint.confirmed == 5
    held_out = found.joint.held_out
    assert held_out.default.confirmed == 2
    assert (held_out.joint.confirmed, held_out.joint.partly, held_out.joint.contradicted) == (0, 0, 0)
    assert {claim["joint"]["verdict"] for claim in found.claims} == {"not testable"}
    assert found.joint.search.one_run == ()


def test_a_row_that_divides_by_nothing_under_requested_readings_is_not_testable(tmp_path):
    divided = row("T-1", "inverse", "inverse >= -2", value=lambda s: 1 / (s["delay"] - 6))
    here = paper(divided, *CLAIMS[1:3])
    done = here.reproduce(jobs=1, out=tmp_path, readings=["delay=6-ms"])
    first = done.claims[0]
    assert first["verdict"] == "reproduced"
    beside = first["profiles"]["with delay=6-ms"]
    assert (beside["verdict"], beside["measured"]) == ("not testable", None)
    assert "nothing is measured in these runs" in beside["reason"]
    assert done.claims[2]["profiles"]["with delay=6-ms"]["verdict"] != "not testable"
    (changed,) = here.compare_readings(jobs=1, out=tmp_path, claim="T-1").claims
    assert changed["options"]["delay"]["6-ms"]["verdict"] == "not testable"
    assert changed["options"]["delay"]["7-ms"]["verdict"] == "reproduced"


def test_settings_are_named_as_the_table_of_readings_names_them():
    settings = _joint.parse(READINGS, ["packet=500,delay=7-ms", "buffer=30"])
    assert _joint.words(settings) == "buffer=30, delay=7-ms, packet=500"
    for text, error, words in (
        (
            "delya=6-ms",
            KeyError,
            r"no reading is called 'delya'; did you mean delay\? There are: buffer, delay, packet",
        ),
        ("delay=6", KeyError, r"no option '6'; did you mean 6-ms\? There are: 5-ms, 6-ms, 7-ms"),
        ("delay", ValueError, "'delay' is not a reading and an option, such as buffer=30"),
        ("delay=6-ms,delay=7-ms", ValueError, "the reading delay is named twice"),
    ):
        with pytest.raises(error, match=words):
            _joint.parse(READINGS, [text])


def test_two_readings_that_give_one_key_different_values_are_refused():
    message = "delay=6-ms and wire=long give topology.bottleneck.delay different values"
    with pytest.raises(ValueError, match=message):
        paper().settings(["delay=6-ms,wire=long"])
    assert len(paper().settings(["delay=6-ms,packet=500", "wire=short"])) == 3


def test_a_rule_of_the_scheme_changes_all_experiments_together_with_others():
    scoped = Option("x", "", setting("bottleneck", "delay", "6 ms"), (Key.TWO,))
    whole = dataclasses.replace(scoped, whole=True)
    experiments = paper().experiments()
    for option, keys in ((scoped, {Key.TWO}), (whole, {Key.TWO, Key.ONE})):
        reading = Reading("r", "?", (Option("d", ""), option), "d")
        found = _joint.changed_experiments(experiments, _joint.Setting(reading, option), Scale())
        assert found == keys


def test_requested_readings_stand_beside_the_default_and_change_no_verdict_of_it(tmp_path):
    here = paper(*CLAIMS)
    usual = here.reproduce(jobs=2, out=tmp_path)
    done = here.reproduce(jobs=2, out=tmp_path, readings=["buffer=30,packet=500", "delay=6-ms"])
    name = "with buffer=30, delay=6-ms, packet=500"
    assert list(done.profiles) == [name]
    assert done.counts() == usual.counts()
    for before, after in zip(usual.claims, done.claims, strict=True):
        beside = after["profiles"][name]
        assert {key: after[key] for key in before if key != "profiles"} == before
        assert (beside["fitted"], beside["mark"]) == (False, "")
    assert done.profile_counts(name)["reproduced"] == 5
    assert json.loads(json.dumps(done.as_dict()))["readings"] == ["buffer=30,packet=500", "delay=6-ms"]
    # what the readings leave as it is runs once
    assert len({(run["experiment"], run["variant"], run["seed"]) for run in done.runs}) == len(done.runs)


def test_what_a_search_found_is_a_profile_of_which_each_row_is_fitted_jointly(tmp_path):
    found = paper(*CLAIMS[:5]).search_readings(jobs=2, out=tmp_path)
    file = tmp_path / "joint.toml"
    file.write_text(found.joint.toml("test"), encoding="utf-8")
    assert _joint.read(file) == found.joint
    done = paper(*CLAIMS[:5], joint=lambda: _joint.read(file)).reproduce(jobs=2, out=tmp_path)
    assert set(done.profiles) == {"joint"}
    assert "buffer=30, delay=6-ms, packet=500: 3 of 4 readings changed" in done.profiles["joint"]
    assert {claim["profiles"]["joint"]["mark"] for claim in done.claims} == {"fitted jointly"}
    assert done.claims[1]["verdict"] == "not reproduced"
    assert done.claims[1]["profiles"]["joint"]["verdict"] == "reproduced"
    assert _joint.read(tmp_path / "none.toml") is None
    file.write_text("[settings]\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"joint\.toml: .*search"):
        _joint.read(file)


def test_the_reproducibility_report_has_what_a_profile_gains_and_loses(tmp_path):
    found = paper(*CLAIMS).search_readings(jobs=2, out=tmp_path, starts=1)
    done = paper(*CLAIMS, joint=lambda: found.joint).reproduce(jobs=2, out=tmp_path)
    text = "\n".join(reproductions.profiles(json.loads(json.dumps(done.as_dict()))))
    assert "### Profile joint" in text
    assert "2 of 4 readings changed" in text
    assert "| T-2 | statement T-2 | not reproduced: both 1 ± 0, limit ≥ 1.5 | reproduced: both 2 ± 0" in text
    assert text.count("*(fitted jointly)*") == len(found.changed)


def test_seeds_that_give_one_run_are_said_to_be_one():
    def samples(*hashes):
        return Samples({(Key.TWO, "2"): [{"trace_hash": text} for text in hashes], (Key.ONE, "2"): [{}]})

    assert _runner.without_chance(samples("a", "a", "a"), [Key.TWO, Key.ONE])
    assert not _runner.without_chance(samples("a", "b", "a"), [Key.TWO])
    assert not _runner.without_chance(samples("a"), [Key.TWO])
    assert not _runner.without_chance(samples("a", "a"), [Key.ONE])


def test_ndnsieve_without_chance_is_one_run():
    here = papers.PAPERS["ndnsieve"]
    done = here.reproduce(claim="S3-21", quick=True, jobs=1, readings=["chance=none"])
    (claim,) = done.claims
    assert claim["one_run"] is False
    assert claim["profiles"]["with chance=none"]["one_run"] is True


def test_a_search_says_which_rows_rest_on_runs_that_are_the_same_in_both_halves():
    def without_spread(variant, scale):
        found = tree(variant, scale)
        del found["flows"][0]["start_spread"]
        return found

    def on_one(name, key):
        measured = Measure((key,), lambda samples: {"delay": samples.each(key, "2", lambda s: s["delay"])})
        return dataclasses.replace(row(name, "delay", "delay in 5.5..6.5"), measure=measured)

    here = paper(on_one("T-1", Key.TWO), on_one("T-2", Key.ONE))
    experiments = dict(here.experiments())
    experiments[Key.TWO] = dataclasses.replace(experiments[Key.TWO], tree=without_spread)
    found = dataclasses.replace(here, experiments=lambda: experiments).search_readings(jobs=1, starts=1)
    held_out = found.joint.held_out
    assert found.joint.search.one_run == ("two",)
    assert held_out.gained == ("T-1", "T-2")
    assert held_out.same_in_both_halves == ("T-1",)
    assert "Rows that rest on such runs alone: 1, of which 1 are better" in found.joint.sentence()
    assert found.joint.toml("test").startswith("# Written by `thalweg reproduce test --search --starts 1`:\n")


@pytest.mark.parametrize("name", list(papers.PAPERS))
def test_the_joint_profile_of_a_paper_names_its_readings_and_claims(name):
    here = papers.PAPERS[name]
    joint = here.joint()
    if joint is None:
        assert [profile.name for profile in here.all_profiles()] == [p.name for p in here.profiles()]
        return
    assert msgspec.convert(msgspec.to_builtins(joint), _joint.Joint) == joint
    assert len(here.settings(joint.texts)) == len(joint.settings)
    ids = {claim.id for claim in here.claims()}
    for half in (joint.training, joint.held_out):
        assert ids.issuperset((*half.gained, *half.lost))
        total = half.joint.confirmed + half.joint.partly + half.joint.contradicted
        assert total <= joint.search.rows
    trials = _search._Trials(
        here, quick=joint.search.quick, jobs=1, seed=joint.search.seed, out=None, progress=None, on=None
    )
    assert (len(trials.claims), len(trials.readings)) == (joint.search.rows, joint.search.readings)
    same = _search.rows_on(trials.claims, joint.search.one_run)
    assert list(joint.held_out.same_in_both_halves) == same
    file = Path(papers.__file__).parent / name / "joint.toml"
    assert file.read_text(encoding="utf-8") == joint.toml(name)
    assert here.all_profiles()[-1].fitted == tuple(claim.id for claim in here.claims())


def test_the_command_refuses_readings_that_do_not_exist_or_exclude_each_other(capsys, tmp_path):
    command = ("reproduce", "mca", "--out", str(tmp_path))
    for words, message in (
        (("--with", "deviatoin=mean"), "did you mean deviation?"),
        (("--with", "deviation=standard"), "there are: printed, mean"),
        (
            ("--with", "measurement-interval=25-ms,early-control-packet=unexplained-part-30-ms"),
            "control_interval different values",
        ),
        (("--with", "deviation=mean", "--readings"), "excludes"),
        (("--search", "--claim", "S004-19"), "excludes"),
        (("--starts", "2"), "--search"),
    ):
        shown = " ".join(refused_after(capsys, *command, *words).split())
        assert message in shown, words


def test_the_command_shows_requested_readings_beside_the_default(capsys, tmp_path):
    answer = asked(
        capsys,
        *("reproduce", "ndnsieve", "--claim", "S3-21", "--quick", "--with", "pcon-window=aimd"),
        *("--out", str(tmp_path)),
    )
    assert [profile["name"] for profile in answer["profiles"]][-1] == "with pcon-window=aimd"
    page = (tmp_path / "report.html").read_text(encoding="utf-8")
    assert "with pcon-window=aimd" in page
    assert "--with pcon-window=aimd" in page


def test_the_command_searches_and_says_what_it_chose_and_saw(capsys, tmp_path, monkeypatch):
    from thalweg import papers as installed

    monkeypatch.setattr(installed, "names", lambda: ["test"])
    monkeypatch.setattr(installed, "find", lambda _name: paper(*CLAIMS[:5]))
    words = ("reproduce", "test", "--search", "--starts", "1", "--jobs", "1", "--out", str(tmp_path))
    answer = asked(capsys, *words)
    assert answer["settings"] == BEST
    assert answer["mark"] == "fitted jointly"
    assert json.loads((tmp_path / "search.json").read_text(encoding="utf-8"))["settings"] == BEST
    found = _joint.read(tmp_path / "joint.toml")
    assert found is not None
    assert found.settings == BEST
    assert call(words) == 0
    shown = " ".join(capsys.readouterr().out.split())
    seen = answer["search"]["combinations"]
    assert f"3 of 4 readings changed, {seen} combinations seen, 1 start rows" in shown
    assert "the other half: 5 confirmed, 0 partly, 0 contradicted; by default 2 confirmed" in shown
    assert "(fitted jointly)" in shown


def test_an_interrupted_search_says_that_it_goes_on(capsys, tmp_path, monkeypatch):
    from thalweg import papers as installed

    def interrupt(**_settings):
        raise KeyboardInterrupt

    here = paper(*CLAIMS)
    object.__setattr__(here, "search_readings", interrupt)
    monkeypatch.setattr(installed, "names", lambda: ["test"])
    monkeypatch.setattr(installed, "find", lambda _name: here)
    assert call(["reproduce", "test", "--search", "--out", str(tmp_path)]) == 130
    assert "goes on with the runs that it has" in " ".join(capsys.readouterr().err.split())
