"""Repeats a run with a record of its packets. A run is deterministic, so the repetition is the same run."""

from __future__ import annotations

import tempfile
import time
from pathlib import Path
from typing import TYPE_CHECKING

from .. import _native, invariants
from .._worker import WorkerThread
from ..errors import Interrupted, ResultError
from ..result import Result
from ..scenario import Scenario
from .comparison import verify_record
from .record import Record

if TYPE_CHECKING:
    from ..scenario import Plan
    from .comparison import Verification


def verify(run: Result | Scenario) -> Verification:
    """Compares every number of a run, or of a scenario's run, with what the packets of the run give.

    Raises `ResultError` for an emulation, which cannot be repeated, for an incomplete run, and if the repetition is another
    run: its trace hash differs, because the versions of the program differ.
    """
    if isinstance(run, Scenario):
        return verify_plan(run.without_sweep().plan())
    if "emulation" in run.record:
        raise ResultError("an emulation cannot be repeated: verify a simulated run")
    if not run.complete:
        raise ResultError("the run is not complete: a repetition would go on to its end")
    return verify_plan(Scenario.from_toml(run.plan_toml, "plan.toml").plan(run.seed), run)


def verify_plan(plan: Plan, printed: Result | None = None) -> Verification:
    """Runs a plan with a record of its packets; compares the numbers of `printed`, or of this run, with them."""
    with tempfile.TemporaryDirectory(prefix="thalweg-verify-") as work:
        repeated = record_run(plan, Path(work))
        if printed is not None and printed.trace_hash != repeated.trace_hash:
            raise ResultError(
                f"the repetition is another run: trace {repeated.trace_hash}, not {printed.trace_hash}",
                f"the run is of version {printed.record.get('version')}: run it again with this version",
            )
        result = printed or repeated
        found = verify_record(result, Record.load(Path(work), plan.tree))
    found.violated += [violated.sentence for violated in invariants.check(result)]
    return found


def record_run(plan: Plan, folder: Path) -> Result:
    """Runs a plan and writes its packet record to a folder. Ctrl-C raises `Interrupted`."""
    control = _native.Control()
    wall, cpu = time.perf_counter(), time.process_time()
    work = WorkerThread(
        lambda: plan._native.record(control, str(folder)),
        control.stop,
        name="thalweg-record",
    )
    interrupted = work.watch(lambda: None)
    result = Result.of(plan, work.result(), time.perf_counter() - wall, time.process_time() - cpu)
    if interrupted:
        raise Interrupted(result)
    return result
