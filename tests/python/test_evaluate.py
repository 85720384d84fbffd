"""Report cards: the verdicts, the batteries, and the judge judged by schemes with planted faults."""

from __future__ import annotations

import json
import math
import re
from pathlib import Path
from typing import Any

import pytest

import report_cards
from thalweg import Scenario, WindowUpdate, catalogue, register_scheme
from thalweg._native import Control
from thalweg.cli import call
from thalweg.cli.evaluate import _print as print_card
from thalweg.evaluation import Subject, batteries, evaluate, runner
from thalweg.evaluation.networks import Lab
from thalweg.evaluation.rows import (
    FAIL,
    NOT_APPLICABLE,
    PASS,
    RESOLUTION,
    UNDECIDED,
    UNITS,
    Limit,
    NotWorse,
    Row,
    Unfinished,
    decide,
)
from thalweg.jobs import run as run_jobs
from thalweg.report import _evaluation as card_page
from thalweg.scheme import Ack, Cut, registered

ROOT = Path(__file__).resolve().parent.parent.parent

EVERY = [(battery, row) for battery in batteries() for row in battery.rows]


def row(band: Limit | NotWorse, unit: str = "ratio") -> Row:
    return Row("id", "title", "source", "what", unit, band=band)


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.9, 1.0, 0.95], PASS),
        ([1.2, 1.3, 1.25], FAIL),
        ([0.9, 1.3, 1.0], UNDECIDED),
        ([1.0, math.nan, 1.0], UNDECIDED),
        ([0.5], UNDECIDED),
    ],
)
def test_a_band_of_a_document_is_decided_by_the_interval_over_seeds(
    values: list[float], verdict: str
) -> None:
    assert decide(row(Limit("at most 1.1", high=1.1)), values, {}).verdict == verdict


@pytest.mark.parametrize(
    ("values", "verdict"),
    [
        ([0.62, 0.81, 0.7], PASS),  # better than the worst reference with each seed
        ([0.6, 0.8, 0.7], PASS),  # the same as the worst
        ([0.58, 0.78, 0.68], PASS),  # within the 5 % that decide nothing
        ([0.4, 0.6, 0.5], FAIL),
        ([0.4, 0.9, 0.7], UNDECIDED),
    ],
)
def test_references_are_compared_seed_by_seed(values: list[float], verdict: str) -> None:
    references = {"good": [0.9, 0.9, 0.9], "worst": [0.6, 0.8, 0.7]}
    outcome = decide(row(NotWorse("higher", "rate")), values, references)
    assert outcome.verdict == verdict
    assert outcome.band == "at least the lowest of good, worst; a difference of up to 5 % counts as equal"
    # the opposite direction: what is not worse when higher is better is not better when lower is
    mirrored = {name: [1 - value for value in found] for name, found in references.items()}
    if verdict == FAIL:
        assert (
            decide(row(NotWorse("lower", "rate")), [1 - value for value in values], mirrored).verdict == FAIL
        )


def test_only_standards_track_references_count_where_the_document_says_so() -> None:
    band = NotWorse("lower", "loss", standards=True)
    references = {"cubic": [0.01] * 3, "bbr": [0.2] * 3}
    assert decide(row(band), [0.1] * 3, references).verdict == FAIL
    assert decide(row(NotWorse("lower", "loss")), [0.1] * 3, references).verdict == PASS
    assert decide(row(band), [0.1] * 3, {"bbr": [0.2] * 3}).verdict == PASS


def test_the_interval_that_is_printed_is_the_one_that_decides() -> None:
    # the interval of the scheme alone is far above the limit; the interval of the difference is not
    references = {"cubic": [3.9e6, 4.8e6, 5.5e6], "bbr": [0.5e6, 0.6e6, 0.4e6]}
    outcome = decide(
        row(NotWorse("higher", "rate", standards=True), "bit/s"), [5.9e6, 5.8e6, 5.8e6], references
    )
    assert outcome.verdict == UNDECIDED
    found = outcome.comparison
    assert found is not None
    assert (found.reference, found.worst, found.relation) == ("cubic", True, "undecided")
    assert found.difference.interval is not None
    assert found.difference.low < found.limit < found.difference.high
    # differences 2.0, 1.0, 0.3; t(0.975, 2) = 4.3027, deviation 0.8544, half width 2.122; limit 5 % of 4.7333
    assert outcome.decision == (
        "difference to cubic, the worst reference: +1.1 ± 2.1 Mbit/s; limit −0.237 Mbit/s: undecided"
    )
    assert outcome.counting == ("cubic",)
    assert outcome.references.keys() == {"cubic", "bbr"}


def test_a_scheme_passes_beside_itself_whatever_the_worst_reference_does() -> None:
    own = [5.7, 5.2, 6.3]
    references = {"worst": [5.9, 4.1, 6.2], "own": own, "best": [9.0, 9.0, 9.0]}
    outcome = decide(row(NotWorse("higher", "rate")), own, references)
    assert outcome.verdict == PASS
    assert outcome.comparison is not None
    assert (outcome.comparison.reference, outcome.comparison.worst) == ("own", False)
    assert outcome.decision == "difference to own: 0 ± 0 (ratio); limit −0.287 (ratio): equal to own"
    # worse than each of them: the largest difference that counts as equal is 5 % of the reference
    assert (
        decide(row(NotWorse("higher", "rate")), [0.9 * value for value in own], {"own": own}).verdict == FAIL
    )


@pytest.mark.parametrize(
    ("values", "relation", "verdict"),
    [
        ([346.0, 347.1, 347.0], "equal to", PASS),  # 1.7 % above, and up to 15 % counts as equal
        ([300.0, 301.0, 299.5], "better than", PASS),
        ([300.0, 390.0, 330.0], "undecided", UNDECIDED),
        ([450.0, 451.0, 449.0], "worse than", FAIL),
    ],
)
def test_a_pass_within_the_margin_is_called_equal(values: list[float], relation: str, verdict: str) -> None:
    outcome = decide(row(NotWorse("lower", "delay"), "s"), values, {"cubic": [341.0, 340.5, 341.2]})
    assert outcome.verdict == verdict
    assert outcome.comparison is not None
    assert outcome.comparison.relation == relation
    assert "limit +51.1 s" in outcome.decision
    if verdict == PASS:
        assert outcome.decision.endswith(f": {relation} the worst reference")


@pytest.mark.parametrize(
    ("better", "kind", "reference", "passes", "fails"),
    [
        ("higher", "rate", 1.0, 0.951, 0.949),  # 5 %
        ("lower", "rate", 1.0, 1.049, 1.051),
        ("lower", "delay", 0.1, 0.1149, 0.1151),  # 15 %
        ("lower", "delay", 0.001, 0.00299, 0.00301),  # or 2 ms
        ("lower", "loss", 0.01, 0.01199, 0.01201),  # 20 %
    ],
)
def test_the_limit_of_a_row_is_what_decides_nothing(
    better: str, kind: str, reference: float, passes: float, fails: float
) -> None:
    band = NotWorse(better, kind)
    for value, verdict in ((passes, PASS), (fails, FAIL)):
        outcome = decide(row(band), [value] * 3, {"cubic": [reference] * 3})
        assert outcome.verdict == verdict
        assert outcome.comparison is not None
        assert outcome.comparison.limit == pytest.approx(
            (-1 if better == "higher" else 1) * max(RESOLUTION[kind][0] * reference, RESOLUTION[kind][1])
        )


def test_the_interval_of_a_share_stays_within_its_limits() -> None:
    outcome = decide(row(Limit("at least 95 %", low=0.95), "share"), [1.0, 0.99, 0.8], {})
    assert outcome.verdict == UNDECIDED
    assert outcome.measured is not None
    assert outcome.measured.high == 1.0
    assert outcome.decision.endswith(", 100] %; minimum 95 %")
    both = decide(row(Limit("half to twice", low=0.5, high=2.0)), [1.0, 1.1, 0.9], {})
    assert both.decision == "1.00 ± 0.25 (ratio); limits 0.5 (ratio) to 2 (ratio)"


def test_what_did_not_happen_is_not_printed_as_a_time() -> None:
    cap = Unfinished(50.0, "not taken up")
    outcome = decide(
        row(NotWorse("lower", "delay"), "s"), [cap, cap, cap], {"cubic": [6.0, 6.1, 5.9], "reno": [cap] * 3}
    )
    assert outcome.verdict == PASS
    record = runner.row_record(outcome)
    assert card_page.measured(record) == "not taken up within 50 s in 3 of 3 runs"
    assert card_page.references(record) == "cubic 6 s, reno not taken up within 50 s in 3 of 3 runs"
    finished = decide(row(NotWorse("lower", "delay"), "s"), [7.0, 7.1, 7.2], {"cubic": [6.0, 6.1, 5.9]})
    assert card_page.measured(runner.row_record(finished)) == "7.1 s"


def test_values_that_differ_by_rounding_are_equal() -> None:
    values = [0.969, 0.969 + 1e-16, 0.969 - 1e-16]
    outcome = decide(row(NotWorse("higher", "rate")), values, {"cubic": [0.969] * 3})
    assert outcome.decision.startswith("difference to cubic, the worst reference: 0 ± 0 (ratio)")


def test_references_that_do_not_count_are_shown_only() -> None:
    band = NotWorse("lower", "delay", without=frozenset({"fifo"}))
    references = {"fifo": [0.1] * 3, "codel": [0.01] * 3}
    outcome = decide(row(band), [0.05] * 3, references)
    assert outcome.verdict == FAIL
    assert outcome.band == "at most the highest of codel; a difference of up to 15 % or 2 ms counts as equal"
    assert outcome.references.keys() == {"fifo", "codel"}
    assert outcome.counting == ("codel",)
    assert card_page.references(runner.row_record(outcome)) == "(fifo 0.1 (ratio)), codel 0.01 (ratio)"
    assert decide(row(band), [0.05] * 3, {"fifo": [0.1] * 3}).verdict == PASS


def test_rows_have_unique_names_and_say_what_they_are() -> None:
    names = [f"{battery.id}/{one.id}" for battery, one in EVERY]
    assert len(names) == len(set(names))
    for battery, one in EVERY:
        assert one.title, one.id
        assert one.source, one.id
        if one.never is None:
            assert one.what.endswith("."), one.id
            assert one.cases is not None, one.id
            assert one.value is not None, one.id
            assert one.band is not None, one.id
            assert one.unit in UNITS, one.id
            assert one.traits >= battery.traits, one.id


KINDS = (
    "cubic",
    "ledbat",
    "nada",
    "tfrc",
    "tfmcc",
    "perif_ecn",
    "pcon",
    "ndnsieve",
    "least_loaded",
    "codel",
    "quinn:cubic",
    "noq:newreno",
)
"""A scheme of every kind, a queue discipline, and transport stacks."""


@pytest.mark.parametrize("scheme", KINDS)
def test_every_row_that_applies_to_a_scheme_is_a_valid_scenario(scheme: str) -> None:
    subject = Subject.of(scheme)
    lab = Lab.of(subject.traits, quick=True)
    applied = 0
    seen = set()
    for battery, one in EVERY:
        if one.reason(subject) is not None:
            continue
        applied += 1
        assert one.cases is not None
        for case, tree in one.cases(subject, lab).items():
            text = json.dumps(tree, sort_keys=True)
            if text not in seen:
                seen.add(text)
                plan = Scenario.from_tree(tree).plan(1)
                assert plan.duration_s > 0, f"{battery.id}/{one.id}: {case}"
    families = {found["name"]: found["families"] for found in catalogue.schemes()}
    assert (applied == 0) == (families.get(scheme) == ["sdn"])


class Sound(WindowUpdate):
    """Reno, written in Python."""

    def congestion_avoidance(self, window: float, ack: Ack) -> float:
        return window + ack.packets / window

    def ssthresh(self, window: float, cut: Cut) -> float:
        return window / 2


class NoBackoff(Sound):
    """A fault: the window stays after a loss."""

    def ssthresh(self, window: float, cut: Cut) -> float:
        return window


class HalvesTwice(Sound):
    """A fault: a quarter of the window is left."""

    def ssthresh(self, window: float, cut: Cut) -> float:
        return window / 4


class EndlessSlowStart(Sound):
    """A fault: the window doubles in each round trip, also after losses."""

    def congestion_avoidance(self, window: float, ack: Ack) -> float:
        return window + ack.packets


class IgnoresMarks(Sound):
    """A fault: marks change nothing."""

    def ssthresh(self, window: float, cut: Cut) -> float:
        return window if cut.cause == "mark" else super().ssthresh(window, cut)


BACKOFF, START, WIRED = "rfc9743/5.1.1-full-backoff", "rfc9743/5.1.3-start", "rfc9743/6.3-wired"
HARM, LOSS, MARKS = "rfc9743/5.2.1-reno-shallow", "rfc9743/5.2-loss", "rfc9743/7.1-marks"
HIGH_DELAY = "rfc9743/7.5-high-delay"

COLUMNS = {
    "full backoff": BACKOFF,
    "loss at the start": START,
    "wired path": WIRED,
    "throughput left to reno": HARM,
    "loss given to CUBIC": LOSS,
    "marks": MARKS,
    "high delay": HIGH_DELAY,
}
CLOCKS = {
    "low delay": "background/target",
    "a fast clock": "background/skew-fast",
    "a slow clock": "background/skew-slow",
}
"""Columns of the matrices of docs/guide/8-evaluate.md, and their rows."""


def verdicts(columns: dict[str, str], *failing: str) -> dict[str, str]:
    """A row of a matrix: the columns that fail; all others pass."""
    assert set(failing) <= set(columns)
    return {name: FAIL if column in failing else PASS for column, name in columns.items()}


FAULTS: dict[str, tuple[type[WindowUpdate] | str, dict[str, Any], dict[str, str]]] = {
    "none": (Sound, {}, verdicts(COLUMNS)),
    # the wired path was expected to pass: without any reduction the flow lives on timeouts
    "no backoff": (
        NoBackoff,
        {},
        verdicts(
            COLUMNS,
            *("throughput left to reno", "loss given to CUBIC", "marks", "loss at the start"),
            *("wired path", "high delay"),
        ),
    ),
    "halves twice": (HalvesTwice, {}, verdicts(COLUMNS, "wired path", "high delay")),
    "slow start that never ends": (
        EndlessSlowStart,
        {},
        verdicts(COLUMNS, "throughput left to reno", "loss given to CUBIC", "marks", "loss at the start"),
    ),
    "ignores marks": (IgnoresMarks, {}, verdicts(COLUMNS, "marks")),
    "none, LEDBAT": ("ledbat", {}, verdicts(CLOCKS)),
    "drifting clock": ("ledbat", {"target": "5 ms", "base_history": 60}, verdicts(CLOCKS, "a fast clock")),
}
"""Faults: a scheme with the fault, and the verdicts that it must get."""


@pytest.fixture(autouse=True, scope="module")
def faulty_schemes() -> None:
    """Registers them, in this process."""
    for scheme, _, _ in FAULTS.values():
        if not isinstance(scheme, str):
            register_scheme(scheme)


@pytest.fixture(scope="module")
def measurements(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("measurements")


@pytest.mark.parametrize("fault", FAULTS)
def test_a_planted_fault_fails_the_rows_that_name_it_and_no_other(fault: str, measurements: Path) -> None:
    scheme, params, expected = FAULTS[fault]
    name = (
        scheme if isinstance(scheme, str) else next(n for n, known in registered().items() if known is scheme)
    )
    card = evaluate(
        name, params=params, against=("cubic", "reno"), rows=list(expected), quick=True, cache=measurements
    )
    assert card.verdicts() == expected


def test_the_guide_has_the_same_matrix() -> None:
    text = (ROOT / "docs" / "guide" / "8-evaluate.md").read_text(encoding="utf-8")
    printed = {}
    for columns in (COLUMNS, CLOCKS):
        head = f"| fault | {' | '.join(columns)} |"
        assert head in text
        for line in text.split(head)[1].split("\n\n")[0].splitlines()[2:]:
            fault, *cells = (cell.strip() for cell in line.strip("|").split("|"))
            signs = {"✓": PASS, "✗": FAIL}
            printed[fault] = {name: signs[cell] for name, cell in zip(columns.values(), cells, strict=True)}
    assert printed == {fault: expected for fault, (_, _, expected) in FAULTS.items()}


def test_known_weaknesses_of_published_schemes_are_found(measurements: Path) -> None:
    known = {
        "bbr": {"rfc9743/5.2.1-cubic-shallow": FAIL, "rfc9743/5.1.3-loss": FAIL},
        "vegas": {"rfc5166/2.3.1-beside-reno": FAIL, "rfc9743/5.2.1-reno-1bdp": PASS},
        "mca": {"multicast/tcp-fairness": FAIL, "multicast/two-groups": PASS},
    }
    for scheme, expected in known.items():
        card = evaluate(scheme, rows=list(expected), quick=True, cache=measurements)
        assert card.verdicts() == expected, scheme


def test_a_queue_discipline_is_compared_with_others_by_rfc_7928(measurements: Path) -> None:
    rows = ["rfc7928/5.1.1-droptail", "rfc7928/5.1.1-delay", "rfc7928/5.1.1-goodput", "rfc7928/8.2.4-delay"]
    card = evaluate("fq_codel", rows=rows, quick=True, cache=measurements)
    assert card.verdicts() == dict.fromkeys(rows, PASS)
    [(_, outcomes)] = card.outcomes
    assert set(outcomes[1].references) == {"fifo", "codel", "pie"}
    # a head-drop queue is no active queue management: it has the delay of drop-tail
    card = evaluate("pfifo_head_drop", rows=rows, quick=True, cache=measurements)
    assert card.verdicts()["rfc7928/5.1.1-delay"] == FAIL
    # a target of a queue is a parameter, as schemes have them
    card = evaluate("codel", params={"target": "100 ms"}, rows=rows[1:2], quick=True, cache=measurements)
    assert card.verdicts() == {"rfc7928/5.1.1-delay": FAIL}
    assert card.subject.label == "codel target=100 ms"


def test_a_card_does_not_depend_on_jobs_and_is_not_simulated_twice(tmp_path: Path) -> None:
    rows = ["rfc9743/6.3-wired", "rfc9743/5.1.4-fairness"]
    one = evaluate("veno", rows=rows, quick=True, cache=tmp_path)
    two = evaluate("veno", rows=rows, quick=True, jobs=2)
    again = evaluate("veno", rows=rows, quick=True, cache=tmp_path)
    assert one.cpu_s > 0
    assert again.cpu_s == 0
    kept = [{**card.as_dict(), "cpu_s": 0} for card in (one, two, again)]
    assert kept[0] == kept[1] == kept[2]


def test_memory_does_not_grow_with_the_rows_and_not_with_the_receivers(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    steps: list[str] = []
    plan = Scenario.plan

    def counted(self: Scenario, *args: Any) -> Any:
        steps.append("plan")
        return plan(self, *args)

    def watched(jobs: Any, **keys: Any) -> Any:
        steps.append(f"{len(jobs)} jobs")
        return run_jobs(jobs, **keys)

    monkeypatch.setattr(Scenario, "plan", counted)
    monkeypatch.setattr(runner, "run_jobs", watched)
    evaluate("vegas", rows=["rfc9743/6.3-wired"], against=["reno"], quick=True)
    assert steps[0] == "6 jobs", "a plan is made when its run begins, so that few exist at a time"
    assert steps.count("plan") == 6
    crowd = next(row for battery, row in EVERY if (battery.id, row.id) == ("multicast", "implosion"))
    assert crowd.cases is not None
    subject = Subject.of("tfmcc")
    tree = crowd.cases(subject, Lab.of(subject.traits, quick=True))["300"]
    output = runner._simulate(tree, 1, Control())
    assert output is not None
    kept = output["values"]
    assert "link.bottleneck.utilisation" in kept
    assert kept["flow.x.feedback_received"] > 0
    assert len(kept) < 1000, "values of 300 receivers and of their links are not kept"


def test_rows_of_other_kinds_say_why_they_do_not_apply() -> None:
    outcomes = {
        f"{battery.id}/{outcome.row.id}": outcome
        for battery, found in evaluate("least_loaded", quick=True).outcomes
        for outcome in found
    }
    assert len(outcomes) == len(EVERY)
    assert {outcome.verdict for outcome in outcomes.values()} == {NOT_APPLICABLE}
    assert all(
        outcome.reason.startswith("not applicable, because ") and not outcome.reason.endswith(".")
        for outcome in outcomes.values()
    )
    unicast = frozenset({"unicast", "tcp"})
    assert Subject.of("mca").lacks(unicast) == "it sends to groups, which the multicast battery judges"
    assert (
        Subject.of("codel").lacks(unicast) == "it is a queue discipline, which the battery of RFC 7928 judges"
    )
    # a scheme of one's own is of a kind when one says so
    assert Subject.of("vegas").lacks(frozenset({"background"})) is not None
    assert Subject.of("vegas", kind="background").lacks(frozenset({"background"})) is None


def test_a_stack_is_evaluated_with_its_own_controller(measurements: Path) -> None:
    rows = ["rfc9743/6.3-wired", "rfc9743/7.1-marks", "rfc9743/7.4-utilisation", "rfc9743/7.6-optimistic"]
    card = evaluate(
        "quinn:cubic", against=("cubic", "noq:newreno"), rows=rows, quick=True, cache=measurements
    )
    [(_, outcomes)] = card.outcomes
    assert [outcome.verdict for outcome in outcomes] == [PASS, PASS, NOT_APPLICABLE, NOT_APPLICABLE]
    assert outcomes[0].references.keys() == {"cubic", "noq:newreno"}
    assert "RFC 9000" in outcomes[2].reason
    assert outcomes[3].reason == "not applicable, because its receiver does not acknowledge by TCP"
    assert card.subject.kind == "transport stack"
    # the stack asks for marks and heeds them: without, the queue of 10 BDP fills, which is 400 ms
    assert outcomes[1].measured is not None
    assert 0.0 < outcomes[1].measured.mean < 0.05
    assert card.as_dict()["scheme"] == "quinn:cubic"


def test_a_flow_of_a_stack_runs_in_every_row_for_transfers(measurements: Path) -> None:
    names = {f"{battery.id}/{one.id}": one for battery, one in EVERY}
    for name in ("rfc9743/7.11-incast", "rfc5166/2.1.1-completion", "rfc5166/2.8-page"):
        one = names[name]
        assert one.cases is not None
        assert one.value is not None
        for scheme in ("noq:cubic", "cubic"):
            subject = Subject.of(scheme)
            lab = Lab.of(subject.traits, quick=True)
            samples = {}
            for case, tree in one.cases(subject, lab).items():
                output = runner._simulate(tree, 1, Control())
                assert output is not None
                samples[case] = runner._sample(output)
            assert 0 < one.value(samples, lab) < 10, (name, scheme)


def test_the_command_writes_a_page_and_one_object(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    out = tmp_path / "card"
    words = ["evaluate", "vegas", "--quick", "--row", "rfc9743/6.3-wired", "--row", "rfc9743/5.3.1"]
    words += ["--set", "alpha=3", "--against", "cubic,reno", "--out", str(out)]
    assert call([*words, "--json"]) == 0
    record = json.loads(capsys.readouterr().out)
    assert record["counts"] == {"pass": 1, "fail": 0, "undecided": 0, "not applicable": 1}
    assert record["params"] == {"alpha": 3}
    rows = {row["id"]: row for row in record["batteries"][0]["rows"]}
    assert rows["6.3-wired"]["references"].keys() == {"cubic", "reno"}
    assert json.loads((out / "evaluation.json").read_text(encoding="utf-8"))["counts"] == record["counts"]
    page = (out / "report.html").read_text(encoding="utf-8")
    assert page.count('data-verdict="pass"') == 2  # the row, and the button that shows such rows
    assert "Wired paths" in page
    assert "It is a duty of the document" not in page.split("do not apply")[0]
    again = "thalweg evaluate vegas --set alpha=3 --against cubic,reno --seed 1"
    assert f"{again} --row rfc9743/6.3-wired --row rfc9743/5.3.1 --quick" in page
    assert "Only rfc9743/6.3-wired, rfc9743/5.3.1 were decided" in page
    assert "http" not in page.replace("http://www.w3.org", "")
    decision = rows["6.3-wired"]["decision"]
    assert re.fullmatch(
        r"difference to (cubic|reno)(, the worst reference)?: \S+ ± \S+ percentage points; limit −\S+ .*",
        decision,
    )
    assert decision in page
    assert "3 seeds: too few for an interval to mean much" in page
    # many rows have a table for each verdict; what passes is folded, and comes last
    (wired,) = [row for row in record["batteries"][0]["rows"] if row["id"] == "6.3-wired"]
    verdicts = ["pass"] * 8 + ["undecided", "fail", "fail"]
    record["batteries"][0]["rows"] = [
        {**wired, "id": f"row-{number}", "verdict": verdict} for number, verdict in enumerate(verdicts)
    ]
    (out / "evaluation.json").write_text(json.dumps(record), encoding="utf-8")
    long = card_page.page(out)
    pieces = re.findall(
        r'<details class="piece"( open|)><summary>.*?</span>(\w+)</span> (.*?)</summary>', long
    )
    assert pieces == [(" open", "fail", "2 rows"), (" open", "undecided", "1 row"), ("", "pass", "8 rows")]
    tables = [f"table-rfc9743-{verdict}" for verdict in ("fail", "undecided", "pass")]
    assert re.findall(r'<table class="claims sortable" id="([^"]+)">', long) == tables
    assert f'data-filter="{" ".join(tables)} "' in long
    assert long.count('<tr data-verdict="') == 11
    assert call(words) == 0
    text = " ".join(capsys.readouterr().out.split())
    assert "✓ pass 1" in text
    assert decision in text
    assert "3 seeds: too few for an interval to mean much" in text


def test_the_terminal_prints_what_does_not_pass_and_counts_the_rest(
    measurements: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    rows = ["rfc9743/6.3-wired", "rfc9743/7.5-high-delay"]
    card = evaluate("reno", against=("reno", "cubic"), rows=rows, quick=True, cache=measurements)
    assert set(card.verdicts().values()) == {PASS}
    print_card(card, Path("report.html"), 1.0, every=False)
    text = " ".join(capsys.readouterr().out.split())
    assert "✓ pass 2" in text
    assert "6.3-wired" not in text
    equal = [
        outcome for _, outcomes in card.outcomes for outcome in outcomes if "equal to" in outcome.decision
    ]
    assert f"{len(equal)} of the rows that pass are equal to a reference, not better." in text
    print_card(card, Path("report.html"), 1.0, every=True)
    text = " ".join(capsys.readouterr().out.split())
    for _, outcomes in card.outcomes:
        for outcome in outcomes:
            assert outcome.decision in text


@pytest.mark.parametrize(
    ("words", "hint"),
    [
        (["evaluate", "vegs"], "vegas"),
        (["evaluate", "vegas", "--against", "cubicc"], "cubic"),
        (["evaluate", "vegas", "--against", ","], "cubic,reno"),
        (["evaluate", "vegas", "--row", "rfc9743/6.3-wire"], "rfc9743/6.3-wired"),
        (["evaluate", "vegas", "--set", "alfa=3"], "alpha"),
        (["evaluate", "vegas", "--jobs", "0"], "at least one"),
        (["evaluate", "fq_codl"], "fq_codel"),
        (["evaluate", "quiche:bbr"], "there are: quinn, noq, str0m"),
        (["evaluate", "quinn"], "the stack has cubic and newreno"),
        (["evaluate", "noq:compound"], "the stack has cubic and newreno"),
        (["evaluate", "noq:newrno"], "newreno"),
        (["evaluate", "quinn:bbr"], "the stack has cubic and newreno"),
        (["evaluate", "quinn:cubic", "--set", "beta=0.8"], "leave --set out"),
        (["evaluate", "quinn:cubic", "--kind", "media"], "leave it out"),
        (["evaluate", "vegas", "--against", "cubic,noq:cubik"], "cubic"),
        (["evaluate", "codel", "--quick", "--row", "rfc7928/5.1.1-delay", "--set", "targt=5ms"], "target"),
    ],
)
def test_mistakes_are_answered_with_a_hint(
    words: list[str], hint: str, capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    assert call([*words, "--out", str(tmp_path)]) == 2
    assert hint in capsys.readouterr().err


def test_cards_of_stacks_are_added_to_the_page_and_stay_there(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def folder(scheme: str, verdict: str) -> str:
        row: dict[str, Any] = {"id": "1", "title": "Title", "source": "RFC", "unit": "share", "band": ""}
        row |= {"verdict": verdict}
        row |= {"measured": {"mean": 0.5}, "references": {}, "counting": [], "decision": "50 %; minimum 60 %"}
        record: dict[str, Any] = {
            "scheme": scheme,
            "kind": "transport stack",
            "params": {},
            "against": ["cubic"],
            "runs": 1,
        }
        record |= {"seeds": 3, "quick": True, "batteries": [{"id": "b", "title": "Battery", "rows": [row]}]}
        path = tmp_path / scheme.replace(":", "-") / "card" / "evaluation.json"
        path.parent.mkdir(parents=True)
        path.write_text(json.dumps(record), encoding="utf-8")
        return str(path.parent.parent)

    monkeypatch.setattr(report_cards, "CARDS", tmp_path)
    monkeypatch.setattr(report_cards, "PICTURE", tmp_path / "picture.svg")
    for scheme, verdict in (("quinn:cubic", "fail"), ("cubic", "pass"), ("noq:cubic", "pass")):
        report_cards.main(folder(scheme, verdict))
    page = (tmp_path / "README.md").read_text(encoding="utf-8")
    rows = [line for line in page.splitlines() if line.startswith("| [")]
    assert [row.partition("]")[0] for row in rows] == ["| [cubic", "| [noq:cubic", "| [quinn:cubic"]
    assert rows[2].startswith("| [quinn:cubic](#quinncubic) | 3 |")
    assert rows[2].endswith("| 1 ✗ |")
    assert "| 50 %; minimum 60 % |" in page
    assert page.count("## quinn:cubic\n") == 1
    assert "quinn:cubic" in (tmp_path / "picture.svg").read_text(encoding="utf-8")


def test_the_first_sentence_of_a_card_counts_rows_that_are_only_equal() -> None:
    def row(verdict: str, relation: str | None) -> dict[str, Any]:
        return {"verdict": verdict, "comparison": relation and {"relation": relation}}

    rows = [
        row("pass", "equal to"),
        row("pass", "better than"),
        row("pass", None),
        row("undecided", "equal to"),
    ]
    counts = {"pass": 3, "fail": 0, "undecided": 1, "not applicable": 2}
    record = {"counts": counts, "seeds": 5, "batteries": [{"rows": rows}]}
    said = card_page._lead(record)
    assert said.startswith("3 of the 4 rows that apply pass (1 equal to a reference, not better), 0 fail")
    rows[0]["comparison"] = None
    assert "equal" not in card_page._lead(record)
