"""A paper's results with other schemes in the place of its scheme: what is tried, what is specific, how it is counted."""

from __future__ import annotations

import dataclasses
import tomllib

import pytest

import thalweg_papers as papers
from cli_calls import refused_after
from thalweg_papers import _claims, _judge, _specific
from thalweg_papers._base import Experiment, ExperimentKey, Measure, Samples
from thalweg_papers._specific import Substitute, Substitutes, Tried
from thalweg_papers._study import Paper


class Key(ExperimentKey):
    OWN = "own"
    OTHERS = "others"
    INSIDE = "inside"


def tree(variant, _scale):
    return {
        "title": variant,
        "duration": "1 s",
        "topology": {
            "kind": "dumbbell",
            "edge": {"rate": "100 Mbit/s", "delay": "1 ms"},
            "bottleneck": {"rate": "4 Mbit/s", "delay": "5 ms", "buffer": "20 packets"},
        },
        "flows": [{"name": "f", "scheme": variant, "packet": "1000 B"}],
    }


NUMBERS = {"vegas": 1.0, "reno": 2.0, "cubic": 3.0}


def keep(result, _variant, _scale):
    """A number that the scheme of the scenario decides, so that the verdicts are known."""
    (flow,) = tomllib.loads(result.scenario_toml)["flows"]
    return {"number": NUMBERS[flow["scheme"]]}


def instead(scheme):
    def change(tree):
        for flow in tree["flows"]:
            if flow["scheme"] == "vegas":
                flow["scheme"] = scheme

    return change


SUBSTITUTES = Substitutes(
    schemes=(Substitute("reno", "NewReno", instead("reno")), Substitute("cubic", "CUBIC", instead("cubic"))),
    untried={"T-6": "its own reason", Key.INSIDE: "reason of an experiment"},
)


def row(name, *accept, experiment=Key.OWN, variant="vegas", **more):
    def measured(samples: Samples):
        return {"number": samples.each(experiment, variant, lambda s: s["number"])}

    return _claims.Claim(
        **{
            "id": name,
            "kind": "R",
            "source": "§1",
            "statement": f"statement {name}",
            "expected": "some",
            "measure": Measure((experiment,), measured),
            "accept": tuple(map(_claims.Check.parse, accept)),
            **more,
        }
    )


CLAIMS = (
    row("T-1", "number >= 0.5"),
    row("T-2", "number <= 1.5"),
    row("T-3", "number >= 1.5"),
    row("T-4", "number >= 0.5", kind="U", evidence="conformance"),
    row("T-5", "number >= 0.5", experiment=Key.OTHERS, variant="reno"),
    row("T-6", "number >= 0.5"),
    row("T-7", "number >= 0.5", experiment=Key.INSIDE),
    row("T-8", "number >= 0.5", evidence="fitted", why="a reason"),
    row("T-9", "number >= 0.5", testable=False, reason="a slip"),
    row("T-10", "number >= 1.5", variant="reno"),
)


def paper(*claims, substitution=lambda: None):
    experiments = {
        Key.OWN: Experiment(Key.OWN, "", ("vegas", "reno"), tree, keep, seeds=2, quick_seeds=1),
        Key.OTHERS: Experiment(Key.OTHERS, "", ("reno",), tree, keep, seeds=1, quick_seeds=1),
        Key.INSIDE: Experiment(Key.INSIDE, "", ("vegas",), tree, keep, seeds=1, quick_seeds=1),
    }
    return Paper(
        name="test",
        title="A paper",
        experiments=lambda: experiments,
        figure_specs=tuple,
        choices=dict,
        claims=lambda: list(claims),
        substitutes=lambda: SUBSTITUTES,
        substitution=substitution,
    )


def test_rows_are_tried_with_each_scheme_and_the_others_have_their_reasons():
    done = paper(*CLAIMS).substitute_schemes(jobs=1)
    assert {name: one.verdicts for name, one in done.substitution.tried.items()} == {
        "T-1": {"reno": "reproduced", "cubic": "reproduced"},
        "T-2": {"reno": "not reproduced", "cubic": "not reproduced"},
        "T-3": {"reno": "reproduced", "cubic": "reproduced"},
        "T-8": {"reno": "reproduced", "cubic": "reproduced"},
    }
    assert done.substitution.untried == {
        "T-4": "a rule of the scheme, or arithmetic",
        "T-5": "the scheme is in none of its scenarios",
        "T-6": "its own reason",
        "T-7": "reason of an experiment",
        "T-9": "a slip",
        "T-10": "its numbers are the same with each of the other schemes",
    }
    # what the paper's scheme fails is no result of it, even if the others pass
    assert done.not_specific == ["T-1", "T-8"]
    assert done.runs == 2 * 2 + 2 * 2


def test_one_row_is_tried_by_itself_and_a_row_that_is_not_tried_says_why():
    one = paper(*CLAIMS).substitute_schemes(claim="t-2", jobs=1)
    assert list(one.substitution.tried) == ["T-2"]
    assert [claim["verdict"] for claim in one.claims] == ["reproduced"]
    with pytest.raises(KeyError, match="T-6 is not tried with other schemes: its own reason"):
        paper(*CLAIMS).substitute_schemes(claim="T-6", jobs=1)


def test_the_file_keeps_all_and_a_row_with_other_checks_has_no_verdicts(tmp_path):
    found = paper(*CLAIMS).substitute_schemes(jobs=1).substitution
    path = tmp_path / "substitution.toml"
    path.write_text(found.toml("test"), encoding="utf-8")
    assert _specific.read(path) == found
    assert found.of(CLAIMS[0]) == {"reno": "reproduced", "cubic": "reproduced"}
    assert found.of(row("T-1", "number >= 0.6")) == {}
    assert found.of(CLAIMS[3]) == {}
    assert _specific.read(tmp_path / "none.toml") is None
    path.write_text("quick = 1\n", encoding="utf-8")
    with pytest.raises(ValueError, match=r"substitution\.toml"):
        _specific.read(path)


def test_rows_that_are_not_specific_are_apart_from_the_totals():
    stored = paper(*CLAIMS).substitute_schemes(jobs=1).substitution
    done = paper(*CLAIMS, substitution=lambda: stored).reproduce(jobs=1)
    rows = {claim["id"]: claim for claim in done.claims}
    assert [name for name, claim in rows.items() if claim["not_specific"]] == ["T-1", "T-8"]
    assert rows["T-2"]["substitutes"] == {"reno": "not reproduced", "cubic": "not reproduced"}
    plain = paper(*CLAIMS).reproduce(jobs=1).counts()
    counts = done.counts()
    assert (plain["reproduced"], plain["fitted"], plain["not_specific"]) == (6, "1/1", 0)
    assert (counts["reproduced"], counts["fitted"], counts["not_specific"]) == (5, "0/0", 2)
    assert done.as_dict()["by_evidence"]["not specific"]["reproduced"] == 2
    assert done.as_dict()["substitutes"] == {"reno": "NewReno", "cubic": "CUBIC"}
    assert any(
        line.startswith("Not specific: 2, which all substitute schemes")
        for line in _judge.summary(done.claims)
    )


def test_one_scheme_that_fails_makes_a_row_specific():
    stored = paper(*CLAIMS).substitute_schemes(jobs=1).substitution
    tried = {**stored.tried, "T-1": Tried(("number >= 0.5",), {"reno": "reproduced", "cubic": "partly"})}
    changed = _specific.Substitution(
        quick=False, seed=1, schemes=stored.schemes, tried=tried, untried=stored.untried
    )
    done = paper(*CLAIMS, substitution=lambda: changed).reproduce(jobs=1)
    assert [claim["id"] for claim in done.claims if claim["not_specific"]] == ["T-8"]


@pytest.mark.parametrize("name", [name for name, one in papers.PAPERS.items() if one.substitution()])
def test_what_is_stored_of_a_paper_is_of_the_rows_that_it_has_now(name):
    paper = papers.PAPERS[name]
    stored, claims = paper.substitution(), {claim.id: claim for claim in paper.claims()}
    assert stored is not None
    assert not stored.quick
    assert {*stored.tried, *stored.untried} == set(claims)
    assert list(stored.schemes) == [scheme.name for scheme in paper.substitutes().schemes]
    for row_id, tried in stored.tried.items():
        assert tried.accept == tuple(check.text for check in claims[row_id].accept), row_id
        assert list(tried.verdicts) == list(stored.schemes), row_id


@pytest.mark.parametrize("name", [name for name, one in papers.PAPERS.items() if one.substitutes()])
def test_reasons_of_a_paper_name_rows_and_experiments_that_it_has(name):
    paper = papers.PAPERS[name]
    known = {claim.id for claim in paper.claims()} | set(paper.experiments())
    assert set(paper.substitutes().untried) <= known
    assert len(paper.substitutes().schemes) == 3


def test_a_paper_without_other_schemes_is_refused(capsys):
    with pytest.raises(KeyError, match="names no schemes to put in the place of its own; these do: cvihis"):
        papers.substitute_schemes("background")
    assert "`background` names no schemes" in refused_after(capsys, "reproduce", "background", "--substitute")
    told = refused_after(capsys, "reproduce", "cvihis", "--substitute", "--readings")
    assert "`--substitute` excludes `--readings`" in told
    bare = dataclasses.replace(paper(*CLAIMS), substitutes=lambda: None)
    with pytest.raises(KeyError, match="names no schemes"):
        bare.substitute_schemes()
