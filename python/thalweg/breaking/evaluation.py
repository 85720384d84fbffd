"""Runs networks and measures a property, several at a time; what was measured is kept in a file, so that nothing is lost."""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from .. import invariants, jobs
from .._stored import warn_of_damage
from ..errors import ResultError, ScenarioError
from ..scenario import Scenario
from .bounds import Network
from .properties import Property, finite
from .space import Space

if TYPE_CHECKING:
    from .._native import Control
    from ..result import Result

DURATION_S = 40.0
"""Simulated time of a trial; its second half is measured."""

LONG_S = 120.0
"""Simulated time of the run that shows whether a failure lasts."""


@dataclass(frozen=True)
class Measured:
    """What a run of a network showed."""

    value: float | None
    """The measured value of the property; None if the run cannot show it."""
    panic: str = ""
    """The message of a panic."""
    violated: tuple[str, ...] = ()
    """Invariants that the run violates, one sentence each."""


@dataclass(frozen=True)
class _Entry:
    """The place of one run in a log; see `jobs.OutputCache`."""

    log: Log
    key: str

    def load(self) -> Measured | None:
        return self.log.known.get(self.key)

    def save(self, output: Measured) -> Measured:
        self.log.append(self.key, output)
        return output


class Log:
    """A file with one line per run, and a first line that says of which search. Appended to by several threads."""

    def __init__(self, path: Path, header: dict[str, Any]) -> None:
        """Reads the runs that an earlier call kept. Raises `ResultError` for the file of another search."""
        self.path = path
        self.known: dict[str, Measured] = {}
        self._lock = threading.Lock()
        first = json.dumps(header, sort_keys=True)
        lines = path.read_text("utf-8", errors="replace").split("\n") if path.exists() else []
        if lines and lines[0] and lines[0] != first:
            raise ResultError(f"{path} is the log of another search: remove it, or choose another folder")
        for number, line in enumerate(lines[1:-1], start=2):
            try:
                row = json.loads(line)
                if row.get("violated") and row.get("invariants") != invariants.own_digest():
                    # found by other invariants than today's
                    continue
                self.known[row["run"]] = Measured(
                    row["value"], row.get("panic", ""), tuple(row.get("violated", ()))
                )
            except (ValueError, LookupError, TypeError, AttributeError, RecursionError) as error:
                damage = ResultError(f"{path}:{number} is damaged: {error!r}")
                warn_of_damage(damage, "this run is run again")
        path.parent.mkdir(parents=True, exist_ok=True)
        if not lines or not lines[0]:
            path.write_text(first + "\n", encoding="utf-8")
        elif lines[-1]:
            # the last line of a process that was killed
            path.write_text("\n".join(lines[:-1]) + "\n", encoding="utf-8")

    def append(self, key: str, measured: Measured) -> None:
        """Adds a run."""
        row: dict[str, Any] = {"run": key, "value": measured.value}
        if measured.panic:
            row["panic"] = measured.panic
        if measured.violated:
            row |= {"violated": measured.violated, "invariants": invariants.own_digest()}
        with self._lock, self.path.open("a", encoding="utf-8") as file:
            file.write(json.dumps(row) + "\n")
        self.known[key] = measured


@dataclass
class Evaluator:
    """Measures one property of one scheme in many networks."""

    space: Space
    wanted: Property
    at_once: int = 1
    """Runs at a time; no result depends on it."""
    log: Log | None = None
    run: Callable[[Scenario, int, Control], Result] | None = None
    """Runs a scenario with a seed, instead of the simulator: for tests."""
    _warned: set[tuple[str, tuple[str, ...]]] = field(default_factory=set, init=False, repr=False)

    def measure(
        self, networks: Sequence[Network], seeds: Sequence[int], duration_s: float = DURATION_S
    ) -> list[list[Measured]]:
        """What each network shows with each seed. Ctrl-C raises `Interrupted`; what was measured is kept."""
        listed = [self._job(network, seed, duration_s) for network in networks for seed in seeds]
        done = iter(jobs.run(listed, at_once=self.at_once))
        rows = [[next(done) for _ in seeds] for _ in networks]
        self._warn(
            (f"{self.space.scheme}, {self.wanted.name}: {_words(network)}, seed {seed}", measured.violated)
            for network, row in zip(networks, rows, strict=True)
            for seed, measured in zip(seeds, row, strict=True)
            if measured.violated
        )
        return rows

    def _warn(self, found: Iterable[tuple[str, tuple[str, ...]]]) -> None:
        """Says what runs violate, once for each."""
        new = [one for one in found if one not in self._warned]
        self._warned.update(new)
        invariants.warn(new)

    def margins(
        self,
        networks: Sequence[Network],
        seeds: Sequence[int],
        duration_s: float = DURATION_S,
        *,
        lasting: bool = False,
    ) -> list[float]:
        """The lowest margin of each network over the seeds; with `lasting` also of a long run with the first seed.

        The long run is only for properties that must last.
        """
        rows = self.measure(networks, seeds, duration_s)
        margins = [min(self.margin(one) for one in row) for row in rows]
        if lasting and self.wanted.lasting:
            holding = [number for number, margin in enumerate(margins) if margin > 0]
            longer = self.measure([networks[number] for number in holding], seeds[:1], LONG_S)
            for number, (one,) in zip(holding, longer, strict=True):
                margins[number] = min(margins[number], self.margin(one))
        return margins

    def margin(self, measured: Measured) -> float:
        """The margin of a run."""
        if self.wanted.name == "panic":
            return 1.0 if measured.panic else -1.0
        return self.wanted.margin(measured.value)

    def scenario(self, network: Network, duration_s: float) -> Scenario:
        """The scenario of a network, with what the measurement needs recorded."""
        return Scenario.from_tree(self.space.scenario(network, duration_s, self.wanted.record))

    def _job(self, network: Network, seed: int, duration_s: float) -> jobs.Job[Measured]:
        tree = self.space.scenario(network, duration_s, self.wanted.record)
        key = hashlib.sha256(json.dumps([tree, seed], sort_keys=True).encode()).hexdigest()[:20]
        entry = None if self.log is None else _Entry(self.log, key)
        return jobs.Job(
            key, lambda control: self._measured(Scenario.from_tree(tree), network, seed, control), entry
        )

    def _measured(self, scenario: Scenario, network: Network, seed: int, control: Control) -> Measured | None:
        """One run; None if it was stopped."""
        try:
            result = self.run(scenario, seed, control) if self.run else scenario.plan(seed).carry_out(control)
        except ScenarioError:
            # the network does not exist for this scheme, such as a queue that it refuses
            return Measured(None)
        except BaseException as error:
            if type(error).__name__ != "PanicException":
                raise
            return Measured(None, str(error))
        if not result.complete:
            return None
        violated = tuple(result.violated_invariants)
        return Measured(finite(self.wanted.measure(result, network)), violated=violated)


def _words(network: Network) -> str:
    """The parameters of a network in one line."""
    return ", ".join(
        f"{name} {value:.4g}" if isinstance(value, float) else f"{name} {value}"
        for name, value in network.items()
    )
