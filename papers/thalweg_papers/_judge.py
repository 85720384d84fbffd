"""Verdicts of claims from measured quantities, and their counts."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any, get_args

from ._base import FULL, VERDICTS, Measured, Quantity, Scale
from ._claims import Check, Claim, Evidence
from ._common import in_range
from ._phases import PHASE_DEPENDENT

REQUIRED_SHARE = {"U": 1.0, "G": 1.0}
"""Share of seeds for which a check must hold, besides in the mean: all for rules and gates."""
DEFAULT_REQUIRED_SHARE = 0.8

NOT_SPECIFIC = "not specific"
"""Kind of the results that other schemes give, too."""

UNITS = {
    "_kbps": "kbit/s",
    "_mbps": "Mbit/s",
    "_bps": "bit/s",
    "_percent": "%",
    "_bytes": "bytes",
    "_packets": "packets",
    "_ms": "ms",
    "_us": "µs",
    "_s": "s",
}
"""Units by the ending of the name of a quantity."""

PURE = frozenset({"", "1", "ratio"})
"""What a pure number has in place of a unit."""


def judge(claim: Claim, measured: Measured, *, scale: Scale = FULL) -> dict[str, Any]:
    """The result of a claim: the measured values, the verdict, and the reason if it is not reproduced.

    `quantity`, `measured`, `low`, `high`, `unit` and `limit` are of the check that decides: the first that does not hold, or
    the first of all. `checks` has these of every check.
    """
    results = [result(claim, check, measured) for check in claim.accept]
    missing = [check for check in claim.needs if not result(claim, check, measured)["holds"]]
    verdict = _verdict(claim, results, missing)
    reason = None
    if verdict != "reproduced":
        reason = _reason(claim, results, missing, measured, quick=scale.quick)
    return {
        "id": claim.id,
        "kind": claim.kind,
        "evidence": claim.evidence,
        "why": claim.why,
        "source": claim.source,
        "statement": claim.statement,
        "expected": claim.expected_at(scale),
        "band": claim.band,
        "changed": claim.changed,
        **_decisive(results, measured),
        "ratios": _ratios(claim, measured),
        "verdict": verdict,
        "reason": reason,
        "quantities": {
            name: {
                **_number(name, quantity),
                "published": claim.printed.get(name),
            }
            for name, quantity in measured.items()
        },
        "checks": results,
    }


def not_testable(claim: Claim) -> dict[str, Any]:
    """The result of a claim that no run can decide."""
    bare = replace(claim, printed={}, accept=(), needs=())
    return {**judge(bare, {}), "verdict": "not testable", "reason": claim.reason}


def result(claim: Claim, check: Check, measured: Measured) -> dict[str, Any]:
    """One check: it must hold in the mean, and for every seed (rules, gates) or for four of five (all others)."""
    if check.name not in measured:
        raise ValueError(f"{claim.id}: {check.name!r} is not measured; there are: {', '.join(measured)}")
    quantity = measured[check.name]
    share = sum(check.holds(value) for value in quantity.values) / max(len(quantity.values), 1)
    mean_holds = check.holds(quantity.mean)
    number = _number(check.name, quantity)
    limit = check.text.removeprefix(check.name).strip()
    return {
        "check": check.text,
        "quantity": check.name,
        **number,
        "limit": limit,
        "text": _text(check.name, number, limit),
        "mean_holds": mean_holds,
        "share_of_seeds": share,
        "holds": mean_holds and share >= REQUIRED_SHARE.get(claim.kind, DEFAULT_REQUIRED_SHARE),
    }


def _number(name: str, quantity: Quantity) -> dict[str, Any]:
    """A quantity in a record: mean, ends of the interval in the possible range, number of seeds, unit."""
    low, high = in_range(name, quantity).interval or (None, None)
    return {
        "mean": _finite(quantity.mean),
        "low": _finite(low),
        "high": _finite(high),
        "n": len(quantity.values),
        "unit": quantity.unit if quantity.unit not in ("", "1") else _unit_of(name),
    }


def _text(name: str, number: Mapping[str, Any], limit: str) -> str:
    """A checked number with its interval, its limit and its unit: `recovery 8.5 [0, 78] s, limit ≤ 20 s`."""
    from thalweg.report.numbers import number as written
    from thalweg.stats import interval_text

    words, unit = _words_and_unit(name, number["unit"])
    ends = None if number["low"] is None else (number["low"], number["high"])
    mean = number["mean"]
    value = "nothing measured" if mean is None else f"{interval_text(mean, ends, written, 4)} {unit}".rstrip()
    return f"{words} {value}, limit {_limit_text(limit)} {unit}".strip()


def _words_and_unit(name: str, unit: str) -> tuple[str, str]:
    """The words of a quantity and its unit, so that none is printed twice.

    `min_points` in points is `min` in points, `jain` as a Jain index has no words of its own, and `packets_lost` in packets
    has no unit after its number.
    """
    ending = next((ending for ending in UNITS if name.endswith(ending)), "")
    words = (name.removesuffix(ending) or name).replace("_", " ")
    if unit in PURE:
        return words, ""
    if f" {words.lower()} " in f" {unit.lower()} ":
        return "", unit
    if words.endswith(f" {unit}"):
        return words.removesuffix(f" {unit}"), unit
    return words, "" if f" {unit} " in f" {words} " else unit


def _limit_text(limit: str) -> str:
    """A relation as readers see it: `≤ 20`, `0.9 to 1.1`, `= 2`."""
    sign, _, rest = limit.partition(" ")
    if sign == "in":
        low, _, high = (part.strip() for part in rest.partition(".."))
        return f"= {low}" if low == high else f"{low} to {high}"
    return f"{({'<=': '≤', '>=': '≥', '==': '='}).get(sign, sign)} {rest}"


def _unit_of(name: str) -> str:
    """The unit that the name of a quantity ends in, such as `recovery_s`; empty for a pure number."""
    return next((unit for ending, unit in UNITS.items() if name.endswith(ending)), "")


def _decisive(results: Sequence[Mapping[str, Any]], measured: Measured) -> dict[str, Any]:
    """The number that decides, under the keys of a claim; the first quantity if nothing is checked."""
    name = next(iter(measured), "")
    shown: Mapping[str, Any] = {
        **_number(name, measured.get(name, Quantity(()))),
        "quantity": name,
        "limit": None,
    }
    if results:
        shown = next((one for one in results if not one["holds"]), results[0])
    return {
        "measured": shown["mean"],
        **{key: shown[key] for key in ("quantity", "low", "high", "n", "unit", "limit")},
    }


def counts(claims: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    """Totals: independent results of the paper by verdict; of each other kind of evidence, how many rows hold of how many.

    Rows by construction, and those that are not specific, always hold.
    """
    each = _by_verdict(_of_kind(claims, "independent"))
    mutants = [claim["mutants"] for claim in claims if claim.get("mutants")]
    others = ("fitted", "conformance", "derived", "literal", "set-up")
    return {
        "reproduced": each["reproduced"],
        "partly": each["partly"],
        "not": each["not reproduced"],
        "untestable": each["not testable"],
        "phase_dependent": each[PHASE_DEPENDENT],
        **{evidence.replace("-", "_"): _held(_of_kind(claims, evidence)) for evidence in others},
        "not_specific": len(_of_kind(claims, NOT_SPECIFIC)),
        "by_construction": len(_of_kind(claims, "by construction")),
        "mutants_killed": f"{sum(one['killed'] for one in mutants)}/{sum(one['total'] for one in mutants)}",
    }


def _of_kind(claims: Sequence[Mapping[str, Any]], kind: str) -> list[Mapping[str, Any]]:
    """Rows by their evidence; those that are not specific to the paper's scheme are a kind of their own.

    A row that depends on phases stays with its evidence: there it counts as nothing else.
    """

    def of(claim: Mapping[str, Any]) -> str:
        apart = claim.get("not_specific") and "standing" not in claim
        return NOT_SPECIFIC if apart else str(claim["evidence"])

    return [claim for claim in claims if of(claim) == kind]


def _held(claims: Sequence[Mapping[str, Any]]) -> str:
    """How many are reproduced, with any phases, of how many: `8/14`."""
    return f"{_by_verdict(claims)['reproduced']}/{len(claims)}"


def summary(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """What the rows of a paper say, in six lines: results, fitted and unspecific ones, rules, others, and checks.

    A line about rows that were not judged is left out.
    """
    each = {key: str(value).replace("/", " of ") for key, value in counts(claims).items()}
    known = len(_of_kind(claims, "independent"))
    others = [
        f"{evidence} {each[evidence.replace('-', '_').replace(' ', '_')]}"
        for evidence in ("derived", "literal", "set-up", "by construction")
        if _of_kind(claims, evidence)
    ]
    unharmed = without_kills(claims)
    lines = {
        f"Results: {each['reproduced']} of {known} statements are reproduced, {each['partly']} partly, {each['not']} not; "
        f"{each['phase_dependent']} depend on the phases of packets, {each['untestable']} cannot be tested.": known,
        f"Fitted: {each['fitted']} rows by which we chose how to read the paper are reproduced; they are no independent "
        "evidence.": _of_kind(claims, "fitted"),
        f"Not specific: {each['not_specific']}, which all substitute schemes also reproduce.": (
            _of_kind(claims, NOT_SPECIFIC)
        ),
        f"Conformance: the program follows {each['conformance']} rules of the paper, as they were written a second time.": (
            _of_kind(claims, "conformance")
        ),
        f"No results of the paper: {', '.join(others)}.": others,
        f"Checks: they reject {each['mutants_killed']} mutants (results made wrong on purpose)"
        + (f", and none of {', '.join(unharmed)}." if unharmed else "."): (
            not each["mutants_killed"].endswith(" of 0")
        ),
    }
    return [line for line, there in lines.items() if there]


def by_evidence(claims: Sequence[Mapping[str, Any]]) -> dict[str, dict[str, int]]:
    """Claims by verdict for each kind of evidence, and those that are not specific."""
    return {
        kind: _by_verdict(rows)
        for kind in (*get_args(Evidence), NOT_SPECIFIC)
        if (rows := _of_kind(claims, kind))
    }


def without_kills(claims: Sequence[Mapping[str, Any]]) -> list[str]:
    """Ids of claims with checks that hold and no mutant that makes one fail."""
    tried = [claim for claim in claims if claim.get("mutants")]
    return [
        claim["id"]
        for claim in tried
        if claim["verdict"] in ("reproduced", "partly") and not claim["mutants"]["killed"]
    ]


def _by_verdict(claims: Sequence[Mapping[str, Any]]) -> dict[str, int]:
    counted = [claim.get("standing", claim["verdict"]) for claim in claims]
    return {verdict: counted.count(verdict) for verdict in (*VERDICTS, PHASE_DEPENDENT)}


def _verdict(claim: Claim, results: list[dict[str, Any]], missing: list[Check]) -> str:
    if missing:
        return "not testable"
    if all(one["holds"] for one in results):
        return "reproduced"
    if claim.kind != "U" and any(one["holds"] for one in results):
        return "partly"
    return "not reproduced"


def _ratios(claim: Claim, measured: Measured) -> dict[str, float | None]:
    """Measured over printed, by quantity."""
    for name in claim.printed:
        if name not in measured:
            raise ValueError(
                f"{claim.id}: {name!r} of `printed` is not measured; there are: {', '.join(measured)}"
            )
    return {
        name: _finite(measured[name].mean / value) if value else None for name, value in claim.printed.items()
    }


def _reason(
    claim: Claim, results: list[dict[str, Any]], missing: list[Check], measured: Measured, *, quick: bool
) -> str:
    parts = []
    if missing:
        seen = ", ".join(f"{check.name} = {measured[check.name].mean:.4g}" for check in missing)
        parts.append(f"too few samples to judge ({seen})")
    else:
        failed = [one for one in results if not one["holds"]]
        parts.append("; ".join(_failure_text(one) for one in failed))
        if claim.reason is not None:
            parts.append(f"In full runs: {claim.reason}" if quick else claim.reason)
    if quick:
        parts.append("quick run: fewer seeds or shorter runs")
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def _failure_text(one: dict[str, Any]) -> str:
    mean = "nothing" if one["mean"] is None else f"{one['mean']:.4g}"
    if one["mean_holds"]:
        share = f"{one['share_of_seeds']:.0%}"
        return f"wanted {one['check']}, holds in the mean ({mean}) but only for {share} of seeds"
    return f"wanted {one['check']}, got {mean}"


def _finite(value: float | None) -> float | None:
    """JSON has no NaN."""
    return None if value is None or not math.isfinite(value) else value
