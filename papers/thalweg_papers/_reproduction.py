"""What a reproduction or an emulation of a study gives."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from ._base import VERDICTS, Figure, Table

if TYPE_CHECKING:
    from ._phases import Phases


@dataclass
class Reproduction:
    """The results of a study."""

    paper: str
    title: str
    claims: list[dict[str, Any]]
    figures: dict[str, Figure]
    tables: dict[str, Table]
    runs: list[dict[str, Any]]
    """Experiment, variant, seed, trace hash, packet-hops of each run."""
    choices: dict[str, str]
    notes: list[str]
    quick: bool
    seed: int
    figure: str | None = None
    """The only requested figure or table; None for all."""
    claim: str | None = None
    """The only requested claim; None for all."""
    changes: dict[str, Any] = field(default_factory=dict)
    """Dotted keys of its scenarios that were changed, and their values."""
    readings: list[str] = field(default_factory=list)
    """Readings that were requested; claims were also judged with all of them, as one of the profiles."""
    of_paper: bool = True
    """Whether it is a paper, which makes claims, and not a comparison of Thalweg's own."""
    emulated: bool = False
    """Simulation and emulation are compared: claims also have `simulated`, and runs have `valid`."""
    profiles: dict[str, str] = field(default_factory=dict)
    """Other set-ups in which claims were also judged: name and description. Claims have `profiles`, by name."""
    phases: Phases | None = None
    """Results with drawn delays and starts, of this run with `jitter`, or as they were stored. Claims have `phases`."""
    jitter: bool = False
    """Whether this run drew delays and starts."""
    substitutes: dict[str, str] = field(default_factory=dict)
    """Schemes that took the place of the paper's: name and title. Claims have `substitutes`, the verdicts by name."""

    def counts(self) -> dict[str, Any]:
        """Independent results by verdict, and how many rows hold of each other kind of evidence."""
        from ._judge import counts

        return counts(self.claims)

    @property
    def all_notes(self) -> list[str]:
        """`notes`, and whether claims rest on too few seeds."""
        from thalweg.report.claims import few

        said = few(self.claims)
        return [*self.notes, *([f"{said}."] if said else [])]

    def profile_counts(self, name: str) -> dict[str, int]:
        """Claims by verdict in a profile."""
        from ._profiles import counts

        return counts(self.claims, name, VERDICTS)

    def as_dict(self) -> dict[str, Any]:
        """All values as JSON types; figures without their drawings."""
        from ._judge import by_evidence, summary, without_kills

        return {
            "paper": self.paper,
            "title": self.title,
            "quick": self.quick,
            "seed": self.seed,
            "figure": self.figure,
            "claim": self.claim,
            "changes": self.changes,
            "readings": self.readings,
            "jitter": self.jitter,
            "of_paper": self.of_paper,
            "emulated": self.emulated,
            "counts": self.counts(),
            "by_evidence": by_evidence(self.claims),
            "summary": summary(self.claims),
            "no_mutant_kills": without_kills(self.claims),
            "notes": self.all_notes,
            "choices": self.choices,
            "profiles": [
                {"name": name, "what": what, "counts": self.profile_counts(name)}
                for name, what in self.profiles.items()
            ],
            "substitutes": self.substitutes,
            "claims": self.claims,
            "figures": [
                {"id": name, "title": figure.title, "caption": figure.caption, "marks": figure.marks}
                for name, figure in self.figures.items()
            ],
            "tables": [
                {"id": name, "title": table.title, "rows": list(table.rows())}
                for name, table in self.tables.items()
            ],
            "runs": self.runs,
        }
