"""How claims get their verdicts, how verdicts are counted, and mutants: results made wrong that the checks must refuse."""

from __future__ import annotations

import dataclasses
import re
import tomllib
from pathlib import Path

import pytest

from thalweg.report.claims import check_texts
from thalweg_papers import _claims, _judge, _mutants
from thalweg_papers._base import Experiment, ExperimentKey, Measure, Quantity, Samples, Scale
from thalweg_papers.mca import rule_measures


class Key(ExperimentKey):
    RACE = "race"


def claim(kind="N", accept=("x in 1..2",), needs=(), reason=None, **more):
    return _claims.Claim(
        id="T-1",
        kind=kind,
        source="§1",
        statement="",
        expected="",
        measure=more.pop("measure", Measure((), lambda _: {})),
        accept=tuple(map(_claims.Check.parse, accept)),
        needs=tuple(map(_claims.Check.parse, needs)),
        reason=reason,
        **more,
    )


def verdict(claim, *values, **more):
    return _judge.judge(claim, {"x": Quantity(values), **more})["verdict"]


@pytest.mark.parametrize("kind", ["N", "R", "D", "X"])
def test_numbers_and_relations_must_hold_in_the_mean_and_in_four_seeds_of_five(kind):
    assert verdict(claim(kind), 1.5, 1.5, 1.5, 1.5, 2.5) == "reproduced"
    assert verdict(claim(kind), 1.0, 1.0, 1.0, 2.1, 2.1) == "not reproduced"
    assert verdict(claim(kind), 2.5, 2.5, 2.5, 2.5, 1.5) == "not reproduced"
    assert verdict(claim(kind), 1.9, 1.9, 1.9, 1.9, 3.0) == "not reproduced", "the mean is outside"


@pytest.mark.parametrize("kind", ["U", "G"])
def test_a_rule_must_hold_in_every_seed(kind):
    assert verdict(claim(kind, ("x <= 0",)), 0, 0, 0, 0, 0) == "reproduced"
    assert verdict(claim(kind, ("x <= 0.5",)), 0, 0, 0, 0, 1) == "not reproduced"


def test_a_claim_is_partly_true_where_some_of_its_checks_hold_whole():
    row = claim(accept=("x in 1..2", "y >= 3"))
    assert verdict(row, 1.5, y=Quantity((2.0,))) == "partly"
    assert verdict(row, 5.0, y=Quantity((2.0,))) == "not reproduced"
    too_few = Quantity((9.0, 9.0, 1.0))
    assert verdict(row, 5.0, y=too_few) == "not reproduced", "a mean that few seeds bear out is no part"
    assert verdict(claim("U", ("x in 1..2", "y >= 3")), 1.5, y=Quantity((2.0,))) == "not reproduced"


def test_a_claim_of_which_too_little_was_seen_is_not_judged():
    judged = _judge.judge(claim(needs=("x >= 100",)), {"x": Quantity((1.5,))})
    assert judged["verdict"] == "not testable"
    assert "x = 1.5" in judged["reason"]


def test_not_a_number_is_never_accepted():
    assert verdict(claim(), float("nan")) == "not reproduced"


def test_a_reason_says_what_was_missed_and_why():
    judged = _judge.judge(
        claim(reason="The link is shorter"), {"x": Quantity((3.0,))}, scale=Scale(fewer=True)
    )
    assert judged["reason"].startswith(
        "wanted x in 1..2, got 3. In full runs: The link is shorter. quick run"
    )
    assert (
        _judge.judge(claim(reason="Unused"), {"x": Quantity((1.0,))}, scale=Scale(fewer=True))["reason"]
        is None
    )


def test_ratios_are_measured_over_printed_values():
    judged = _judge.judge(claim(printed={"x": 2.0}), {"x": Quantity((1.0, 2.0))})
    assert judged["ratios"] == {"x": 0.75}
    assert judged["quantities"]["x"]["published"] == 2.0
    with pytest.raises(ValueError, match="'z' of `printed` is not measured"):
        _judge.judge(claim(printed={"z": 2.0}), {"x": Quantity((1.0,))})


def test_the_number_that_decides_is_printed_with_its_limit_and_unit():
    row = claim("R", accept=("spike_over_steady >= 1.2", "recovery_s <= 20"))
    spike, recovery = Quantity((2.2, 2.3, 2.1), "times"), Quantity((8.0, 9.0, 8.5), "s")
    judged = _judge.judge(row, {"spike_over_steady": spike, "recovery_s": recovery})
    assert judged["verdict"] == "reproduced"
    assert [check["text"] for check in judged["checks"]] == [
        "spike over steady 2.20 ± 0.25 times, limit ≥ 1.2 times",
        "recovery 8.5 ± 1.2 s, limit ≤ 20 s",
    ]
    # what fails decides, whatever is measured first
    slow = Quantity((28.0, 29.0, 28.5))
    judged = _judge.judge(row, {"spike_over_steady": spike, "recovery_s": slow})
    assert (judged["quantity"], judged["measured"], judged["limit"], judged["unit"]) == (
        "recovery_s",
        28.5,
        "<= 20",
        "s",
    )
    assert check_texts(judged)[0].startswith("recovery 28.5")


@pytest.mark.parametrize(
    ("name", "unit", "text"),
    [
        ("ratio", "ratio", "ratio 1.134, limit ≤ 2"),
        ("growth", "ratio", "growth 1.134, limit ≤ 2"),
        ("packets", "packets", "1.134 packets, limit ≤ 2 packets"),
        ("min_points", "points", "min 1.134 points, limit ≤ 2 points"),
        ("packets_lost", "packets", "packets lost 1.134, limit ≤ 2"),
        ("jain", "Jain index", "1.134 Jain index, limit ≤ 2 Jain index"),
        ("gain_percent", "%", "gain 1.134 %, limit ≤ 2 %"),
        ("sent_packets", "", "sent 1.134 packets, limit ≤ 2 packets"),
        ("drops_in_all", "packets", "drops in all 1.134 packets, limit ≤ 2 packets"),
    ],
)
def test_no_unit_is_printed_twice(name, unit, text):
    judged = _judge.judge(claim("R", accept=(f"{name} <= 2",)), {name: Quantity((1.134,), unit)})
    assert check_texts(judged) == [text]


def test_what_is_measured_first_decides_nothing_if_no_check_names_it():
    judged = _judge.judge(claim(accept=("y <= 3",)), {"x": Quantity((9.0,)), "y": Quantity((2.0,))})
    assert (judged["quantity"], judged["measured"], judged["limit"]) == ("y", 2.0, "<= 3")


@pytest.mark.parametrize(
    ("name", "values", "low", "high"),
    [
        ("drops", (0.0, 3.5, 7.0), 0.0, 12.19),  # counts are not negative
        ("jain_1_s", (0.9, 0.945, 0.99), 0.833, 1.0),  # an index is at most 1
        ("ratio", (0.9, 0.945, 0.99), 0.833, 1.057),
        ("longer_by_s", (0.0, 3.0, 6.0), -4.452, 10.452),  # a difference has any sign
        ("offset", (-1.0, 0.0, 1.0), -2.484, 2.484),
    ],
)
def test_the_interval_of_a_quantity_stays_in_its_range(name, values, low, high):
    row = claim("R", accept=(f"{name} >= 0.000001",))
    (check,) = _judge.judge(row, {name: Quantity(values)})["checks"]
    assert (check["low"], check["high"]) == (pytest.approx(low, abs=1e-2), pytest.approx(high, abs=1e-2))


def test_two_values_have_no_printed_interval():
    (check,) = _judge.judge(claim("R", accept=("x >= 1",)), {"x": Quantity((1.0, 3.0))})["checks"]
    assert (check["low"], check["high"], check["text"]) == (None, None, "x 2, limit ≥ 1")


def test_limits_are_written_for_readers():
    texts = [_judge._limit_text(text) for text in ("<= 3", ">= 0.5", "in 0.9..1.1", "in 2..2", "> 0")]
    assert texts == ["≤ 3", "≥ 0.5", "0.9 to 1.1", "= 2", "> 0"]


# --- counts ----------------------------------------------------------------------------------------------------------


def test_kinds_of_evidence_are_counted_apart():
    def row(evidence, verdict, killed=1):
        return {
            "id": evidence,
            "evidence": evidence,
            "verdict": verdict,
            "mutants": {"killed": killed, "total": 2},
        }

    rows = [
        row("independent", "reproduced"),
        row("independent", "partly", killed=0),
        row("fitted", "reproduced"),
        row("fitted", "not reproduced", killed=0),
        row("literal", "not reproduced"),
        row("conformance", "reproduced"),
        row("conformance", "not reproduced", killed=0),
        row("derived", "reproduced"),
        {"id": "s", "evidence": "set-up", "verdict": "reproduced"},
        {"id": "b", "evidence": "by construction", "verdict": "reproduced"},
    ]
    assert _judge.counts(rows) == {
        "reproduced": 1,
        "partly": 1,
        "not": 0,
        "untestable": 0,
        "phase_dependent": 0,
        "fitted": "1/2",
        "conformance": "1/2",
        "derived": "1/1",
        "literal": "0/1",
        "set_up": "1/1",
        "not_specific": 0,
        "by_construction": 1,
        "mutants_killed": "5/16",
    }
    sorts = _judge.by_evidence(rows)
    assert list(sorts) == [
        *("independent", "fitted", "conformance", "derived", "literal", "set-up", "by construction"),
    ]
    assert sorts["literal"]["not reproduced"] == 1
    words = [line.partition(":")[0] for line in _judge.summary(rows)]
    assert words == ["Results", "Fitted", "Conformance", "No results of the paper", "Checks"]
    first, *_, others, _ = _judge.summary(rows)
    assert first.startswith("Results: 1 of 2 statements are reproduced, 1 partly, 0 not;")
    assert others.endswith("derived 1 of 1, literal 0 of 1, set-up 1 of 1, by construction 1.")
    assert [line.partition(":")[0] for line in _judge.summary(rows[-1:])] == ["No results of the paper"]
    assert _judge.without_kills(rows) == ["independent"], (
        "that which is not reproduced has no check that could be refused"
    )


# --- mutants ---------------------------------------------------------------------------------------------------------


def run_mutants(*accept, samples=None, experiments=None, **quantities):
    row = claim(accept=accept)
    measured = {name: Quantity(tuple(values)) for name, values in quantities.items()}
    return _mutants.run_mutants(row, measured, samples or Samples({}), experiments or {})


@pytest.mark.parametrize(
    ("check", "value", "killed", "survived"),
    [
        ("x in 0.9..1.1", 1.0, 2, []),
        ("x in 0.2..2.5", 1.0, 0, ["x doubled", "x halved"]),
        ("x >= 0.9", 0.95, 1, []),
        ("x >= 0.3", 0.95, 0, ["x halved"]),
        ("x <= 4", 3.0, 1, []),
        ("x <= 4", 1.0, 0, ["x doubled"]),
        ("x <= 0", 0.0, 1, []),
        ("x <= 0", -2.0, 1, []),
        ("x >= 1e-9", 3.0, 1, []),
        ("x >= -5", -2.0, 0, ["x doubled"]),
        ("x >= 1", 1.6, 2, []),
        ("x >= 1", 1.0, 1, []),
        ("x <= 1", 0.4, 1, ["x doubled"]),
        ("x <= 0.02", 0.0, 1, []),
    ],
)
def test_mutants_have_values_that_a_check_should_reject(check, value, killed, survived):
    found = run_mutants(check, x=[value] * 5)
    assert (found["killed"], found["survived"]) == (killed, survived)
    assert found["total"] == killed + len(survived)


def test_only_checks_that_hold_have_mutants():
    assert run_mutants("x in 0.9..1.1", x=[3.0])["total"] == 0
    assert run_mutants("x in 0.9..1.1", "y <= 3", x=[3.0], y=[2.0])["total"] == 1


def race(fast, slow, reverse=False):
    """Two schemes with a rate each, and a claim about which is faster."""
    samples = Samples({(Key.RACE, "1-hare"): [{"rate": fast}], (Key.RACE, "1-tortoise"): [{"rate": slow}]})
    experiment = Experiment(
        Key.RACE, "", ("1-hare", "1-tortoise"), dict, dict, schemes=(("hare", "tortoise"), ("hare", "snail"))
    )

    def measure(samples):
        hare, tortoise = (
            samples.each(Key.RACE, f"1-{name}", lambda s: s["rate"]) for name in ("hare", "tortoise")
        )
        return {
            "x": hare,
            "y": Quantity(tuple(a / b for a, b in zip(hare.values, tortoise.values, strict=True))),
        }

    row = claim(measure=Measure((Key.RACE,), measure), accept=("y >= 1.1",) if not reverse else ("x <= 100",))
    return _mutants.run_mutants(row, measure(samples), samples, {Key.RACE: experiment})


def test_the_samples_of_two_schemes_are_exchanged():
    assert race(10.0, 6.0)["survived"] == []
    assert race(10.0, 6.0)["total"] == 2, "halved, exchanged; there is no snail"
    assert "hare and tortoise exchanged" in race(60.0, 6.0, reverse=True)["survived"]
    assert race(6.0, 6.0)["total"] == 0, "the claim does not hold"


def test_a_measure_that_the_other_scheme_lacks_has_no_mutant():
    samples = Samples({(Key.RACE, "hare"): [{"rate": 1.0}], (Key.RACE, "snail"): [{}]})
    experiment = Experiment(Key.RACE, "", ("hare", "snail"), dict, dict, schemes=(("hare", "snail"),))
    measure = Measure((Key.RACE,), lambda s: {"x": s.each(Key.RACE, "hare", lambda one: one["rate"])})
    row = claim(measure=measure, accept=("x in 0.9..1.1",))
    assert _mutants.run_mutants(row, measure(samples), samples, {Key.RACE: experiment})["total"] == 2


@pytest.mark.parametrize("evidence", ["set-up", "by construction"])
def test_a_row_of_no_scheme_is_judged_and_has_no_mutants(evidence):
    from thalweg_papers import _runner

    row = claim(measure=Measure((), lambda _: {"x": Quantity((1.5,))}))
    known = dataclasses.replace(row, evidence=evidence, why="it cannot fail")
    first, second = _runner.judge_claims([row, known], Samples({}), {}, whole=True, scale=Scale())
    assert first["mutants"]["killed"] == 2
    assert second["verdict"] == "reproduced"
    assert "mutants" not in second


def test_no_check_of_a_paper_has_a_limit_that_nobody_can_read() -> None:
    files = list(Path(_claims.__file__).parent.glob("*/claims.toml"))
    rows = [row for file in files for row in tomllib.loads(file.read_text(encoding="utf-8"))["claim"]]
    checks = [(row["id"], check) for row in rows for check in row.get("accept", ())]
    assert len(checks) > 100
    assert not [one for one in checks if re.search(r"\b0\.0000", one[1])]


def test_a_number_per_burst_has_its_unit_once() -> None:
    unit = rule_measures.UNITS["indications_per_burst"]
    row = claim("R", accept=("indications_per_burst in 1..1",))
    (check,) = _judge.judge(row, {"indications_per_burst": Quantity((1.0,), unit)})["checks"]
    assert check["text"] == "indications per burst 1, limit = 1"
