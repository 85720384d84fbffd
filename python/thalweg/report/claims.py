"""Claims of a reproduced paper in words: the numbers that decide them."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from collections.abc import Mapping


def check_texts(claim: Mapping[str, Any]) -> list[str]:
    """What each check of a claim measured, with its interval, limit and unit; those that do not hold first.

    Empty for a claim that no run can decide. Records of earlier versions have the mean and the check.
    """
    checks = sorted(claim.get("checks", ()), key=lambda check: bool(check["holds"]))
    return [
        check.get("text") or f"{check['mean']:.4g}, limit {check['check']}"
        for check in checks
        if check["mean"] is not None
    ]


def phases_text(claim: Mapping[str, Any]) -> str:
    """What becomes of a claim where delays and starts are drawn; empty where they were not."""
    found = claim.get("phases")
    if not found:
        return ""
    mark = "Phase-dependent: with" if found["dependent"] else "With"
    share = found["share_of_seeds"]
    seeds = "" if share is None else f", each check for at least {share:.0%} of the seeds"
    return f"{mark} drawn delays and starts {found['verdict']}{seeds} ({found['measured']})."


def few(claims: Any) -> str | None:
    """A sentence if claims rest on too few seeds for an interval to mean much."""
    from ..stats import few_seeds

    seeds = [claim["n"] for claim in claims if (claim.get("n") or 0) > 1]
    return few_seeds(min(seeds)) if seeds else None
