"""Claims: read from ``claims.toml``, with their measures."""

from __future__ import annotations

import pkgutil
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from difflib import get_close_matches
from importlib import import_module
from pathlib import Path
from typing import Any, Literal

import msgspec

from thalweg.expect import Relation

from ._base import FULL, Measure, Scale


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


Evidence = Literal["independent", "fitted", "conformance", "derived", "literal", "set-up", "by construction"]
"""The evidence that a reproduced claim gives for the paper.

Results of the paper are ``independent``, where its statement was tested, or ``fitted``, where we chose by the row how to
read the paper. The others say nothing of its results. ``conformance``: the program follows a rule of the paper, as it was
written a second time. ``derived``: the statement is ours, computed from the paper's set-up or numbers. ``literal``: it
judges a profile that takes the text literally, which the paper's results do not come from. ``set-up``: it compares
scenarios and defaults with what they were written from, or computes with them. ``by construction``: nothing that a scheme
does can make it fail.
"""

RESULTS: frozenset[Evidence] = frozenset({"independent", "fitted"})
"""Results of the paper."""
OF_NO_SCHEME: frozenset[Evidence] = frozenset({"set-up", "by construction"})
"""What does not depend on a scheme: that its checks refuse mutants is no merit of the table."""

TOLERANCE = 0.1
"""Share of a printed number by which what is accepted may differ from it without a reason."""
ROUNDED = 0.005
"""The same for limits that are rounded to a few digits."""


class ClaimRow(msgspec.Struct, frozen=True, forbid_unknown_fields=True, kw_only=True):
    """A claim as it is written in ``claims.toml``."""

    id: str
    kind: Literal["N", "R", "G", "U", "D", "X"]
    source: str
    statement: str
    expected: str
    evidence: Evidence | None = None
    """By default ``conformance`` for a rule (kind U), and ``independent`` otherwise."""
    why: str | None = None
    printed: dict[str, float] = {}
    measure: str | None = None
    accept: tuple[str, ...] = ()
    needs: tuple[str, ...] = ()
    band: str | None = None
    changed: str | None = None
    testable: bool = True
    reason: str | None = None


@dataclass(frozen=True, kw_only=True)
class Claim:
    """A claim of a paper: its statement, its measure, and the accepted values."""

    id: str
    kind: str
    source: str
    statement: str
    expected: str
    evidence: Evidence = "independent"
    why: str | None = None
    """Why the evidence is what it is."""
    printed: Mapping[str, float] = field(default_factory=dict)
    """The paper's numbers by the quantity that is measured."""
    measure: Measure | None = None
    accept: tuple[Check, ...] = ()
    needs: tuple[Check, ...] = ()
    band: str | None = None
    """The reason if more than a tenth above or below the printed value is accepted."""
    changed: str | None = None
    """The earlier check, if it was changed after a measurement."""
    testable: bool = True
    reason: str | None = None

    def expected_at(self, scale: Scale) -> str:
        """What is accepted, with the times that the measure uses in runs of this scale."""
        spans = self.measure.spans if self.measure else {}
        return self.expected.format_map({name: span(scale) for name, span in spans.items()})


def read(path: Path, package: str) -> list[Claim]:
    """All rows, in the order of the file, with the measures that they name in modules of ``package``.

    Raises ``ValueError`` that names the file, the claim and the key.
    """
    with path.open("rb") as file:
        rows = tomllib.load(file)["claim"]
    claims = []
    for row in rows:
        try:
            claims.append(_claim(msgspec.convert(row, ClaimRow), package))
        except ValueError as error:
            raise ValueError(f"{path}: claim {row.get('id', '?')}: {error}") from error
    return claims


def _claim(row: ClaimRow, package: str) -> Claim:
    if row.testable and not (row.measure and row.accept):
        raise ValueError("a testable claim needs `measure` and `accept`")
    if not row.testable and not row.reason:
        raise ValueError("a claim that cannot be tested needs a `reason`")
    evidence = row.evidence or ("conformance" if row.kind == "U" else "independent")
    if (evidence == "fitted" or evidence in OF_NO_SCHEME) and not row.why:
        raise ValueError(f"`evidence = {evidence!r}` needs a `why`")
    if row.kind == "D" and evidence == "independent":
        raise ValueError("a derived number (kind D) is no independent evidence; write `evidence`")
    if row.kind == "U" and evidence in RESULTS:
        raise ValueError("a rule (kind U) is no result of the paper; a result has another kind")
    if row.kind == "N" and row.testable and not row.printed:
        raise ValueError(
            "a number of the text (kind N) needs `printed`; a row without one is a relation (kind R)"
        )
    claim = Claim(
        **{
            **msgspec.structs.asdict(row),
            "evidence": evidence,
            "measure": None if row.measure is None else find_measure(package, row.measure),
            "accept": tuple(map(Check.parse, row.accept)),
            "needs": tuple(map(Check.parse, row.needs)),
        }
    )
    try:
        claim.expected_at(FULL)
    except (KeyError, ValueError, IndexError) as error:
        known = list(claim.measure.spans) if claim.measure else []
        raise ValueError(
            f"expected: {error} is no span of the measure{nearest(str(error.args[0]), known)}"
        ) from error
    if (name := _wider_than_tolerance(claim)) and not row.band:
        raise ValueError(
            f"accept: {name} may differ from the printed {claim.printed[name]:g} by more than {TOLERANCE:.0%}; "
            "say why in `band`"
        )
    return claim


def _wider_than_tolerance(claim: Claim) -> str | None:
    """A quantity for which more than a tenth above or below the printed value is accepted."""
    for name, value in claim.printed.items():
        checks = [check for check in claim.accept if check.name == name]
        ends = [value * (1 + side * (TOLERANCE + ROUNDED)) for side in (-1, 1)]
        if any(all(check.holds(end) for check in checks) for end in ends) and checks:
            return name
    return None


def find_measure(package: str, key: str) -> Measure:
    """The measure of this module and name. Raises ``ValueError`` with the nearest name where there is none."""
    module, _, name = key.partition(".")
    modules = [known.name for known in pkgutil.iter_modules(import_module(package).__path__)]
    if module not in modules:
        raise ValueError(f"measure: no module `{module}` in {package}{nearest(module, modules)}")
    home = import_module(f"{package}.{module}")
    found: Any = home
    for part in name.split("."):
        found = getattr(found, part, None)
    if not isinstance(found, Measure):
        known = [word for word, value in vars(home).items() if isinstance(value, Measure)]
        raise ValueError(f"measure: no `{name}` in {package}.{module}{nearest(name, known)}")
    return found


def nearest(word: str, known: list[str]) -> str:
    """The end of a message: the nearest known word, or all known words."""
    near = get_close_matches(word, known, 1, 0.5)
    return f"; did you mean `{near[0]}`?" if near else f"; there are: {', '.join(known) or 'none'}"
