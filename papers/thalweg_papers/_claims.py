"""Claims: read from ``claims.toml``, judged from measured quantities."""

from __future__ import annotations

import math
import pkgutil
import tomllib
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec

from thalweg.expect import Relation

from ._base import Measure, Measured, Quantity


@dataclass(frozen=True)
class Check:
    """A quantity and a relation of `[expect]`: ``name <= 3``, ``name in 1 .. 3``."""

    text: str
    name: str
    relation: Relation = field(compare=False)
    """Part of the text."""

    @classmethod
    def parse(cls, text: str) -> Check:
        """Raises ``ValueError`` when the text is not a name and a relation."""
        name, _, rest = text.strip().partition(" ")
        try:
            return cls(text, name, Relation(rest))
        except ValueError as error:
            raise ValueError(f"{text!r} is not a name and a relation: {error}") from error

    def holds(self, value: float) -> bool:
        """Whether one value is accepted; never for NaN."""
        return self.relation.holds(value)


class Row(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A row of ``claims.toml`` as it is written."""

    id: str
    kind: Literal["N", "R", "G", "U", "D", "X"]
    source: str
    statement: str
    expected: str
    measure: str | None = None
    accept: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    fitted: bool = False
    testable: bool = True
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """What a paper claims, how it is measured, and what is accepted."""

    id: str
    kind: str
    source: str
    statement: str
    expected: str
    measure: Measure | None = None
    accept: tuple[Check, ...] = ()
    needs: tuple[Check, ...] = ()
    fitted: bool = False
    testable: bool = True
    reason: str | None = None


def read(path: Path, package: str) -> list[Claim]:
    """All rows, in the order of the file, with the measures that they name in modules of ``package``.

    Raises ``ValueError`` that names the file, the claim and the key.
    """
    with path.open("rb") as file:
        rows = tomllib.load(file)["claim"]
    claims = []
    for row in rows:
        try:
            claims.append(_claim(msgspec.convert(row, Row), package))
        except ValueError as error:
            raise ValueError(f"{path}: claim {row.get('id', '?')}: {error}") from error
    return claims


def _claim(row: Row, package: str) -> Claim:
    if row.testable and not (row.measure and row.accept):
        raise ValueError("a testable claim needs `measure` and `accept`")
    if not row.testable and not row.reason:
        raise ValueError("a claim that cannot be tested needs a `reason`")
    return Claim(
        **{
            **msgspec.structs.asdict(row),
            "measure": None if row.measure is None else find_measure(package, row.measure),
            "accept": tuple(map(Check.parse, row.accept)),
            "needs": tuple(map(Check.parse, row.needs)),
        }
    )


def find_measure(package: str, key: str) -> Measure:
    """The measure of this module and name. Raises ``ValueError`` with the nearest name where there is none."""
    module, _, name = key.partition(".")
    modules = [known.name for known in pkgutil.iter_modules(import_module(package).__path__)]
    if module not in modules:
        raise ValueError(f"measure: no module `{module}` in {package}{_nearest(module, modules)}")
    home = import_module(f"{package}.{module}")
    found: Any = home
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Measure):
        known = [word for word, value in vars(home).items() if isinstance(value, Measure)]
        raise ValueError(f"measure: no `{name}` in {package}.{module}{_nearest(name, known)}")
    return found


def _nearest(word: str, known: list[str]) -> str:
    near = get_close_matches(word, known, 1, 0.5)
    return f"; did you mean `{near[0]}`?" if near else f"; there are: {', '.join(known) or 'none'}"


def judge(claim: Claim, measured: Measured, *, quick: bool) -> dict[str, Any]:
    """The row as it is printed: what was measured, the verdict, and the reason when it is not reproduced."""
    first = next(iter(measured.values()), Quantity(()))
    results = [_result(claim, check, measured) for check in claim.accept]
    missing = [check for check in claim.needs if not _result(claim, check, measured)["holds"]]
    verdict = _verdict(claim, results, missing)
    reason = None
    if verdict != "reproduced":
        reason = _reason(claim, results, missing, measured, quick=quick)
    return {
        "id": claim.id,
        "kind": claim.kind,
        "source": claim.source,
        "statement": claim.statement,
        "expected": claim.expected,
        "measured": _number(first.mean),
        "unit": first.unit,
        "ci95": _number(first.ci95),
        "n": len(first.values),
        "verdict": verdict,
        "reason": reason,
        "fitted": claim.fitted,
        "quantities": {
            name: {
                "mean": _number(quantity.mean),
                "ci95": _number(quantity.ci95),
                "n": len(quantity.values),
                "unit": quantity.unit,
            }
            for name, quantity in measured.items()
        },
        "checks": results,
    }


def not_testable(claim: Claim) -> dict[str, Any]:
    """The row of a claim that no run can decide."""
    return {**judge(claim, {}, quick=False), "verdict": "not testable", "reason": claim.reason, "checks": []}


def _verdict(claim: Claim, results: list[dict[str, Any]], missing: list[Check]) -> str:
    if missing:
        return "not testable"
    if all(result["holds"] for result in results):
        return "reproduced"
    if claim.kind != "U" and any(result["holds"] or result["mean_holds"] for result in results):
        return "partly"
    return "not reproduced"


def _result(claim: Claim, check: Check, measured: Measured) -> dict[str, Any]:
    """Rules and gates must hold for every seed, relations in the mean and for four seeds of five, numbers in the mean."""
    if check.name not in measured:
        raise ValueError(f"{claim.id}: {check.name!r} is not measured; there are: {', '.join(measured)}")
    quantity = measured[check.name]
    share = sum(check.holds(value) for value in quantity.values) / max(len(quantity.values), 1)
    mean_holds = check.holds(quantity.mean)
    needed = {"U": 1.0, "G": 1.0, "R": 0.8}.get(claim.kind, 0.0)
    return {
        "check": check.text,
        "mean": _number(quantity.mean),
        "mean_holds": mean_holds,
        "share_of_seeds": share,
        "holds": mean_holds and share >= needed,
    }


def _reason(
    claim: Claim, results: list[dict[str, Any]], missing: list[Check], measured: Measured, *, quick: bool
) -> str:
    parts = []
    if missing:
        seen = ", ".join(f"{check.name} = {measured[check.name].mean:.4g}" for check in missing)
        parts.append(f"too little was seen to judge ({seen})")
    else:
        failed = [result for result in results if not result["holds"]]
        parts.append("; ".join(_miss(result) for result in failed))
        if claim.reason is not None:
            parts.append(claim.reason)
    if quick:
        parts.append("quick run: fewer seeds or shorter runs")
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def _miss(result: dict[str, Any]) -> str:
    mean = "nothing" if result["mean"] is None else f"{result['mean']:.4g}"
    if result["mean_holds"]:
        share = f"{result['share_of_seeds']:.0%}"
        return f"wanted {result['check']}, holds in the mean ({mean}) but only for {share} of seeds"
    return f"wanted {result['check']}, got {mean}"


def _number(value: float | None) -> float | None:
    """JSON has no NaN."""
    return None if value is None or not math.isfinite(value) else value
