"""Profiles: another set-up of all of a paper's experiments, in which each claim is judged once more, apart from the totals.

A profile changes scenarios and nothing else. What it leaves as it is does not run again.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from copy import deepcopy
from dataclasses import dataclass, replace
from typing import Any

from ._base import Experiment, ExperimentKey, Scale, Tree
from ._claims import RESULTS


@dataclass(frozen=True)
class Profile:
    """An alternative set-up that a paper may have had; the verdicts in the totals are of the default one."""

    name: str
    sentence: str
    """Description, and the reason to try it."""
    change: Callable[[Tree], None]
    """Edits a scenario in place; it is given a copy. A scenario that it does not concern is left as it is."""
    fitted: tuple[str, ...] = ()
    """Claims by which we chose what the profile changes: passing them in it is no independent evidence."""
    mark: str = "fitted"
    """The word for them."""

    def experiments(
        self, usual: Mapping[ExperimentKey, Experiment], scale: Scale
    ) -> dict[ExperimentKey, Experiment]:
        """The experiments of which a scenario is another in this profile, with these scenarios."""
        edited = {
            key: replace(experiment, tree=self.edited(experiment))
            for key, experiment in usual.items()
            if experiment.measure is None
        }
        return {
            key: experiment
            for key, experiment in edited.items()
            if any(experiment.tree(v, scale) != usual[key].tree(v, scale) for v in experiment.variants)
        }

    def edited(self, experiment: Experiment) -> Callable[[str, Scale], Tree]:
        """Scenarios of an experiment as the profile changes them."""

        def tree(variant: str, scale: Scale) -> Tree:
            edited = deepcopy(experiment.tree(variant, scale))
            self.change(edited)
            return edited

        return tree


def verdict(row: Mapping[str, Any], profile: Profile) -> dict[str, Any]:
    """The values of a claim in a profile, taken from the claim that was judged in it."""
    fitted = row["id"] in profile.fitted
    return {
        **{key: row[key] for key in COLUMNS},
        "one_run": row.get("one_run", False),
        "fitted": fitted,
        "mark": profile.mark if fitted else "",
    }


COLUMNS = (
    *(
        "measured",
        "quantity",
        "unit",
        "low",
        "high",
        "limit",
        "n",
        "verdict",
        "reason",
        "quantities",
        "checks",
    ),
)
"""Columns of a claim in a profile."""


def counts(claims: Sequence[Mapping[str, Any]], profile: str, verdicts: Sequence[str]) -> dict[str, int]:
    """Results of the paper by verdict in a profile, fitted ones too; without those that are not specific by default."""
    found = [
        claim["profiles"][profile]["verdict"]
        for claim in claims
        if claim["evidence"] in RESULTS
        and not claim.get("not_specific")
        and profile in claim.get("profiles", {})
    ]
    return {verdict: found.count(verdict) for verdict in verdicts}
