"""Scenarios: loaded from a file, or built with keyword arguments. The core checks, plans and runs them."""

from __future__ import annotations

import copy
import inspect
import itertools
import json
import math
import os
import re
import sys
import time
import warnings
from collections.abc import Callable, Iterator, Mapping, Sequence
from functools import cached_property
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import TYPE_CHECKING, Any

from . import _native
from ._files import read_stream
from ._lock import locked
from ._part import Keys, plain
from ._worker import WorkerThread
from .errors import EmulationError, Interrupted, Problem, ScenarioWarning, to_problems
from .parts import File

if TYPE_CHECKING:
    from typing import Unpack

    from .parts._files import FileKeys
    from .result import Progress, Result
    from .sweep import Sweep

CHECKPOINT_SPACING = 20
"""Minimum time between two checkpoints, as a multiple of the time to write one: they take a twentieth of a run."""

NO_FILES: _native.Files = {"capture": None, "qlog": [], "drill": None}
"""Nothing is written while a run runs, except its tables."""


class Scenario:
    """An experiment, not yet checked. `check`, `plan` and `run` raise `ScenarioError` with every mistake.

    What it is made of is a property (`title`, `toml`, `tree`, `warnings`); what is computed from it is a method (`check`,
    `plan`, `run`, `with_`, `sweep`). Keywords are the keys of a scenario file: an unknown one, and a number where a text
    with a unit is needed, raise ``TypeError`` at once.
    """

    __signature__ = inspect.signature(File)

    def __init__(self, **keys: Unpack[FileKeys]) -> None:
        self._tree: Keys | None = plain(File(**keys))
        self._native: _native.Scenario | None = None
        self.overrides: Keys = {}
        """Dotted keys that `with_` and sweeps have set, and their values."""
        self.folder = Path()
        """The folder in which the paths of its files begin."""

    __init__.__doc__ = File.__doc__

    @classmethod
    def load(cls, path: str | Path) -> Scenario:
        """Reads a scenario file. Raises `ScenarioError` for mistakes, `OSError` without a file or if it has no end."""
        if (text := read_stream(Path(path))) is not None:
            return cls.from_toml(text, str(path))
        return cls._of(_native.Scenario.from_file(str(path)), folder=Path(path).parent)

    @classmethod
    def from_toml(cls, text: str, name: str = "<text>") -> Scenario:
        """Reads the text of a scenario file; messages call it `name`."""
        return cls._of(_native.Scenario.from_text(text, name), folder=Path(name).parent)

    @classmethod
    def from_tree(cls, tree: Mapping[str, Any]) -> Scenario:
        """Takes the keys of a scenario as nested dicts."""
        scenario = cls()
        scenario._tree = plain(tree)
        return scenario

    @classmethod
    def _of(
        cls,
        native: _native.Scenario,
        overrides: Mapping[str, Any] | None = None,
        folder: Path = Path(),
    ) -> Scenario:
        scenario = cls()
        scenario._tree, scenario._native, scenario.folder = None, native, folder
        scenario.overrides = plain(overrides or {})
        return scenario

    @property
    def tree(self) -> Keys:
        """A copy of its keys, as nested dicts and lists."""
        return copy.deepcopy(self._keys)

    @property
    def _keys(self) -> Keys:
        if self._tree is None:
            self._tree = self._checked.tree
        return self._tree

    @property
    def title(self) -> str:
        """The title; empty without one."""
        return str(self._keys.get("title", ""))

    @property
    def toml(self) -> str:
        """The scenario as TOML: as given if it came from text. Raises `ScenarioError`."""
        return self._checked.text

    @property
    def _checked(self) -> _native.Scenario:
        if self._native is None:
            self._native = _native.Scenario.from_tree(self._keys)
        return self._native

    @property
    def warnings(self) -> list[Problem]:
        """Keys without effect, and expectations that cannot be measured. Raises `ScenarioError`.

        `run`, `emulate` and `sweep` issue each as a `ScenarioWarning`.
        """
        return to_problems(json.loads(self._checked.warnings))

    @property
    def warnings_picture(self) -> str:
        """The warnings with their lines of the text; may be empty."""
        return self._checked.warnings_picture

    def _warn(self) -> None:
        """Issues the warnings for the caller of the caller."""
        for problem in self.warnings:
            place = problem.file if problem.line is None else f"{problem.file}:{problem.line}"
            hint = "" if problem.hint is None else f" ({problem.hint})"
            warnings.warn(f"{place}: {problem.message}{hint}", ScenarioWarning, stacklevel=3)

    @cached_property
    def identity(self) -> str:
        """The plan with seed 0, as TOML: equal for scenarios that differ in seed and notation only."""
        return self._checked.plan(0).toml

    def with_(self, changes: Mapping[str, Any]) -> Scenario:
        """A copy with changed dotted keys: `{"topology.bottleneck.buffer": "1 bdp", "flows.cubic.count": 3}`.

        An entry of a list is named by its `name`, or by its number from 0; `*` is each entry. Raises `ScenarioError`.
        """
        return self._of(self._checked.with_all(dict(changes)), {**self.overrides, **changes}, self.folder)

    def with_kernel(self) -> tuple[Scenario, list[str], list[str]]:
        """A copy whose flows with scheme `reno`, `cubic` or `bbr` have the kernel's TCP of that name; see `thalweg.real`."""
        from .real import with_kernel

        return with_kernel(self)

    def grid(self, axes: Mapping[str, Sequence[Any]]) -> list[tuple[Keys, Scenario]]:
        """Every point of a grid: its keys, and a copy without `[sweep]` that has them set.

        The last key changes fastest. A series that only other points offer is not recorded at a point. Raises
        `ScenarioError`.
        """
        points = [dict(zip(axes, values, strict=True)) for values in itertools.product(*axes.values())]
        natives = self._checked.grid({key: list(values) for key, values in axes.items()})
        return [
            (values, self._of(native, {**self.overrides, **values}, self.folder))
            for values, native in zip(points, natives, strict=True)
        ]

    def without_sweep(self) -> Scenario:
        """A copy without its `[sweep]`. Series that only points of it offer are not recorded."""
        return self._of(self._checked.without_sweep(), self.overrides, self.folder)

    def check(self) -> Keys:
        """The plan as nested dicts, with every default and every relative unit filled in."""
        return self.plan().tree

    def plan(self, seed: int | None = None) -> Plan:
        """The plan of a run; `seed` replaces the scenario's."""
        return Plan(self._checked.plan(seed), self)

    def run(
        self,
        *,
        seed: int | None = None,
        progress: Callable[[Progress], object] | None = None,
        out: str | Path | None = None,
        keep_s: float = 60.0,
    ) -> Result:
        """Runs it on one thread, with the interpreter lock released.

        `progress` is called about ten times per second in the caller's thread. With `out`, the tables are written to that
        folder, and during the run a checkpoint every `keep_s` seconds, which `Result.load` reads after a crash. Ctrl-C
        raises `Interrupted`, whose `result` (also written) has the data until then. `ResultError` if another writes it.
        """
        self._warn()
        return self.plan(seed).run(progress=progress, out=out, keep_s=keep_s)

    def emulate(
        self,
        *,
        seed: int | None = None,
        progress: Callable[[Progress], object] | None = None,
        out: str | Path | None = None,
        urgent: bool = False,
    ) -> Result:
        """Runs it in real time, with TCP of the kernel and commands as the scenario says; needs root.

        `result.record["emulation"]` reports how well the host kept up. Do not use a result that is not `valid`. Raises
        `EmulationError` if emulation is impossible, and if no flow has `kernel`, `live` or `commands`: `with_kernel`
        gives flows the kernel's TCP. Otherwise as `run`.
        """
        self._warn()
        return self.plan(seed).emulate(progress=progress, out=out, urgent=urgent)

    def sweep(
        self,
        grid: Mapping[str, Sequence[Any]] | None = None,
        *,
        runs: int = 1,
        seeds: Sequence[int] | None = None,
    ) -> Sweep:
        """Runs over a grid of dotted keys, `runs` seeds each; over the scenario's own `[sweep]` if no grid is given.

        Seeds are the scenario's and those that follow it, unless `seeds` or the key `seed` of the grid lists them.
        """
        from .sweep import Sweep

        self._warn()
        return Sweep(self, grid if grid is not None else self._keys.get("sweep", {}), runs=runs, seeds=seeds)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, Scenario) and self._keys == other._keys

    __hash__ = None  # type: ignore[assignment]

    def _repr_html_(self) -> str:
        """The output in a notebook."""
        from .report._notebook import of_scenario

        return of_scenario(self)

    def __repr__(self) -> str:
        return f"<Scenario {self.title!r}>"


class Plan:
    """A checked scenario with one seed, every default and every relative unit filled in."""

    def __init__(self, native: _native.Plan, scenario: Scenario, argv: Sequence[str] | None = None) -> None:
        self._native = native
        self.scenario = scenario
        """The scenario of the plan."""
        self.argv = sys.argv if argv is None else argv
        """The command that the record of a run names."""

    @property
    def title(self) -> str:
        """The title."""
        return self._native.title

    @property
    def seed(self) -> int:
        """Seed of all random streams."""
        return self._native.seed

    @property
    def duration_s(self) -> float:
        """Simulated length, in seconds."""
        return self._native.duration_s

    @property
    def tree(self) -> Keys:
        """The plan with the keys of a scenario, as nested dicts."""
        keys: Keys = json.loads(self._native.resolved)
        return keys

    @property
    def has_real_ends(self) -> bool:
        """Whether a flow has `kernel`, `live` or `commands`, without which an emulation has no packets of programs."""
        return any({"kernel", "live", "commands"} & flow.keys() for flow in self.tree.get("flows", []))

    @property
    def toml(self) -> str:
        """The plan with the keys of a scenario, as TOML."""
        return self._native.toml

    @property
    def layout(self) -> Keys:
        """``{"nodes": [{"name", "x", "y"}], "links": [{"name", "from", "to"}]}``, with coordinates from 0 to 1."""
        keys: Keys = json.loads(self._native.layout)
        return keys

    def run(
        self,
        *,
        progress: Callable[[Progress], object] | None = None,
        out: str | Path | None = None,
        keep_s: float = 60.0,
        capture: Sequence[str] = (),
        qlog: Sequence[str] = (),
        drill: str | None = None,
    ) -> Result:
        """See `Scenario.run`. Packets on the links in `capture` are written to `capture.pcapng` in `out`.

        The congestion controller of each flow in `qlog` is logged in `FLOW.sqlog` in `out`, for programs such as qvis. What
        arrives at the sender of the flow `drill`, and what leaves, becomes a script for packetdrill, `FLOW.pkt` in `out`;
        `Result.record["drill"]` has the number of its packets, or why no script was made.
        """
        from ._run_folder import begin

        with locked(out):
            folder = None if out is None else begin(self, out)
            files = self._files(folder, capture, qlog, emulated=False, drill=drill)
            return self._watch(
                lambda control: self.carry_out(control, folder, files),
                folder,
                progress=progress,
                keep_s=keep_s,
            )

    def emulate(
        self,
        *,
        progress: Callable[[Progress], object] | None = None,
        out: str | Path | None = None,
        urgent: bool = False,
        spin_us: int = 50,
        poll_interval_us: int = 0,
        capture: Sequence[str] = (),
        qlog: Sequence[str] = (),
    ) -> Result:
        """See `Scenario.emulate`. `capture` and `qlog` as in `run`.

        The loop does not sleep when something is due within `spin_us`, and polls at most once per `poll_interval_us`; with
        `urgent` the system prefers it to ordinary processes. The output of commands is written to `out/commands`.
        """
        from ._run_folder import begin
        from .real import endpoint_hint
        from .scheme import registered

        if not self.has_real_ends:
            raise EmulationError("no flow of this scenario has a real endpoint", endpoint_hint(self.scenario))
        for flow in self.tree["flows"]:
            if flow.get("scheme") in registered():
                raise EmulationError(
                    f"flow `{flow['name']}`: `{flow['scheme']}` is written in Python, which runs in simulations only"
                )

        def work(control: _native.Control) -> Result:
            return self.carry_out_in_real_time(
                control,
                spin_us=spin_us,
                poll_interval_us=poll_interval_us,
                urgent=urgent,
                folder=folder,
                files=files,
            )

        with locked(out):
            folder = None if out is None else begin(self, out)
            files = self._files(folder, capture, qlog, emulated=True)
            # an emulation cannot wait until its tables are written
            return self._watch(work, folder, progress=progress, keep_s=math.inf)

    def record(self, folder: str | Path, *, progress: Callable[[Progress], object] | None = None) -> Result:
        """Runs it, and writes the record of every packet to `folder`: Parquet files and `record.json`.

        The run is the same as without a record. A record takes 15 to 25 bytes on disk per packet and link that it crosses.
        `docs/reference/packet-record.md` defines its files. Raises `OSError` if a file cannot be written.
        """
        return self._watch(
            lambda control: self.carry_out_recorded(control, Path(folder)),
            None,
            progress=progress,
            keep_s=math.inf,
        )

    def controlled(self, *, emulated: bool = False) -> list[str]:
        """Names of the flows with a congestion controller of this library, for `qlog`; fewer in an emulation."""
        return self._native.controlled(emulated=emulated)

    def drillable(self) -> list[str]:
        """Names of the flows of which a script can be written, for `drill`: those over TCP with one receiver."""
        return self._native.drillable()

    def _files(
        self,
        folder: Path | None,
        capture: Sequence[str],
        qlog: Sequence[str],
        *,
        emulated: bool,
        drill: str | None = None,
    ) -> _native.Files:
        """The arguments for the core; `KeyError` for an unknown link, or a flow without a controller of this library."""
        if folder is None and (capture or qlog or drill is not None):
            raise ValueError("a capture, a qlog file or a script needs a folder: set `out`")
        if drill is not None and drill not in self.drillable():
            raise KeyError(drill)
        links = {link["name"] for link in self.layout["links"]} if capture else set()
        flows = set(self.controlled(emulated=emulated)) if qlog else set()
        for name in [
            *(link for link in capture if link not in links),
            *(flow for flow in qlog if flow not in flows),
        ]:
            raise KeyError(name)
        return {
            "capture": (list(capture), f"{folder}/capture.pcapng") if capture else None,
            "qlog": [(flow, f"{folder}/{flow}.sqlog") for flow in qlog],
            "drill": None if drill is None else (drill, f"{folder}/{drill}.pkt"),
        }

    def _watch(
        self,
        run: Callable[[_native.Control], Result],
        folder: Path | None,
        *,
        progress: Callable[[Progress], object] | None,
        keep_s: float,
    ) -> Result:
        """Runs `run` in a thread, reports its progress, and stops it on Ctrl-C."""
        control = _native.Control()
        began = time.monotonic()
        checkpoints = None if folder is None else _Checkpoints(control, folder, keep_s)

        def call() -> Result:
            result = run(control)
            # here, so that another Ctrl-C does not interrupt it
            if folder is not None:
                result.save(folder)
            return result

        def poll() -> None:
            if checkpoints is not None:
                checkpoints.poll()
            if progress is not None:
                progress(self._progress(control, began))

        work = WorkerThread(call, control.stop, name="thalweg-run")
        interrupted = work.watch(poll)
        result = work.result()
        if interrupted:
            raise Interrupted(result)
        if progress is not None:
            progress(self._progress(control, began))
        return result

    def __reduce__(self) -> tuple[Callable[..., Plan], tuple[Any, ...]]:
        """The texts of the plan, and the files that it names by a relative path."""
        texts = (self.toml, self.scenario.toml, self._named_files())
        return _restore, (*texts, self.scenario.overrides, self.seed, list(self.argv))

    def _named_files(self) -> dict[str, bytes]:
        names = {
            text
            for text in _texts(self.tree)
            if re.search(r"\w\.\w+$", text) and not Path(text).is_absolute()
        }
        paths = {name: self.scenario.folder / name for name in names}
        return {name: path.read_bytes() for name, path in paths.items() if path.is_file()}

    def _progress(self, control: _native.Control, began: float) -> Progress:
        from .result import Progress

        return Progress(control.now_s, self.duration_s, control.events, time.monotonic() - began)

    def control(self, listen: str, key: bytes, watch: _native.SdnControl) -> str:
        """Controls forwarders in this thread, by the network and ``[sdn]``; returns the final status as JSON."""
        return _native.ndn_control(self._native, listen, key, watch)

    def _repr_html_(self) -> str:
        """The output in a notebook."""
        from .report._notebook import of_plan

        return of_plan(self)

    def carry_out(
        self,
        control: _native.Control,
        folder: Path | None = None,
        files: _native.Files | None = None,
    ) -> Result:
        """Runs in this thread; `control` can stop it from another, and have it write a checkpoint to `folder`."""
        from .result import Result

        wall, cpu = time.perf_counter(), time.thread_time()
        native = self._native.run(control, files or NO_FILES, None if folder is None else str(folder))
        return Result.of(self, native, time.perf_counter() - wall, time.thread_time() - cpu)

    def carry_out_recorded(self, control: _native.Control, folder: Path) -> Result:
        """Runs in this thread with a record of every packet; `control` can stop it from another."""
        from .result import Result

        wall, cpu = time.perf_counter(), time.thread_time()
        native = self._native.record(control, str(folder))
        return Result.of(self, native, time.perf_counter() - wall, time.thread_time() - cpu)

    def carry_out_in_real_time(
        self,
        control: _native.Control,
        *,
        spin_us: int = 50,
        poll_interval_us: int = 0,
        urgent: bool = False,
        folder: Path | None = None,
        files: _native.Files | None = None,
    ) -> Result:
        """Emulates in this thread; `control` can stop it from another. Several can run at the same time."""
        from .result import Result

        wall, cpu = time.perf_counter(), time.process_time()
        native = self._native.emulate(
            control,
            files or NO_FILES,
            spin_us=spin_us,
            poll_interval_us=poll_interval_us,
            urgent=urgent,
            logs=None if folder is None else str(folder / "commands"),
            began_ns=time.time_ns(),
        )
        return Result.of(self, native, time.perf_counter() - wall, time.process_time() - cpu)


class _Checkpoints:
    """Requests the checkpoints of a run, each `keep_s` after the one before, and later if they take long to write."""

    def __init__(self, control: _native.Control, folder: Path, keep_s: float) -> None:
        from ._run_folder import TABLES

        self._control, self._keep_s = control, keep_s
        self._file = folder / f"{TABLES[-1]}.parquet"
        self._requested: tuple[float, int] | None = None
        self._due = time.monotonic() + keep_s

    def poll(self) -> None:
        """Requests one if it is due and the one before is written; called periodically."""
        now = time.monotonic()
        if self._requested is not None:
            at, stamp = self._requested
            if self._stamp() == stamp:
                return
            self._requested = None
            self._due = now + max(self._keep_s, CHECKPOINT_SPACING * (now - at))
        if now >= self._due:
            self._requested = (now, self._stamp())
            self._control.keep()

    def _stamp(self) -> int:
        """When the last table of a checkpoint was written; 0 before the first."""
        try:
            return self._file.stat().st_mtime_ns
        except OSError:
            return 0


def _restore(
    plan: str, scenario: str, files: Mapping[str, bytes], overrides: Keys, seed: int, argv: Sequence[str]
) -> Plan:
    """A plan of another process. Its own text is a scenario that gives it."""
    with TemporaryDirectory(prefix="thalweg-") as work:
        # as deep as the paths go up
        folder = Path(work, *("up" for name in files for part in Path(name).parts if part == ".."))
        folder.mkdir(parents=True, exist_ok=True)
        for name, content in files.items():
            path = Path(os.path.normpath(folder / name))
            path.parent.mkdir(parents=True, exist_ok=True)
            path.write_bytes(content)
        native = _native.Scenario.from_text(plan, str(folder / "plan.toml")).plan(seed)
    restored = Plan(native, _Restored(scenario, overrides), argv)
    if restored.toml != plan:
        raise RuntimeError("the same plan differs in another process: the versions of thalweg differ")
    return restored


def _texts(value: Any) -> Iterator[str]:
    """Every text in nested dicts and lists."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict | list):
        for item in value.values() if isinstance(value, dict) else value:
            yield from _texts(item)


class _Restored(Scenario):
    """The scenario of a plan of another process: a text whose files may be missing here."""

    def __init__(self, text: str, overrides: Keys) -> None:
        super().__init__()
        self._text, self.overrides = text, overrides

    @property
    def toml(self) -> str:
        """The text."""
        return self._text


def load(path: str | Path) -> Scenario:
    """Reads a scenario file. Raises `ScenarioError` for mistakes, `OSError` if there is no file."""
    return Scenario.load(path)
