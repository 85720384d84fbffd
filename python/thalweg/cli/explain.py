"""`thalweg explain`: why a flow of a run got its share."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from .options import SchemeFiles, load_scheme_files
from .output import check_figure, console, number, print_table, quoted, show_json
from .usage import arguments, listed

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from ..explanation import Explanation

MAX_FLOWS = 10


def explain(
    run: Path, /, *, flow: str, scheme_file: SchemeFiles = (), out: Path | None = None, json: bool = False
) -> int:
    """Explain why a flow got its share: phases, limits, losses by queue, and who filled the queues.

    The run is repeated with a log of the flow's congestion controller, which takes as long as the run.

    Parameters
    ----------
    run
        Folder that `thalweg run` wrote, or a scenario file.
    flow
        Name of the flow.
    scheme_file
        Import this Python file and add its schemes to the catalogue, as for the run; may be repeated. It runs with your
        rights.
    out
        Write the figure to this file: SVG, PDF or PNG. Default: `explain-FLOW.svg` in the folder, or beside the scenario.
    json
        Print one JSON object.
    """
    from ..explanation import explain as explained
    from ..result import Result
    from ..scenario import load

    check_figure(out, "--json prints the numbers")
    load_scheme_files(scheme_file)
    source = load(run) if run.is_file() else Result.load(run)
    answer = explained(source, flow)
    figure = out or (run.parent if run.is_file() else run) / f"explain-{flow}.svg"
    answer.plot(out=figure)
    if json:
        show_json({**answer.as_json(), "figure": str(figure)})
    else:
        _print(answer)
        console().print(f"Figure: {figure}", soft_wrap=True, markup=False)
    return 0


def missing(parameter: str, words: Sequence[str]) -> str | None:
    """The hint without a flow: the flows of the run or scenario."""
    from ..errors import ResultError, ScenarioError
    from ..explanation import explainable
    from ..result import Result
    from ..scenario import load

    given = arguments(words)
    if parameter != "--flow" or not given or not Path(given[0]).exists():
        return None
    run = Path(given[0])
    try:
        flows = explainable(load(run) if run.is_file() else Result.load(run))
    except (ResultError, ScenarioError, OSError):
        return None
    if not flows:
        return "no flow of this run has a congestion controller whose decisions can be logged"
    flow = next((word for word in given[1:] if word in flows), flows[0])
    return f"`thalweg explain {quoted(run)} --flow {quoted(flow)}`; the flows are {listed(flows)}"


def _print(answer: Explanation) -> None:
    from ..explanation import LIMITS, PHASES

    screen = console()
    screen.print(answer.sentence, markup=False)
    _print_shares("Limited by", {LIMITS[name]: share for name, share in answer.limits().items()})
    phases = [
        {
            "phase": PHASES[phase],
            "share": _percent(share),
            "limits": ", ".join(
                f"{LIMITS[name]} {_percent(part)}" for name, part in answer.limits_by_phase()[phase].items()
            ),
        }
        for phase, share in answer.phases().items()
    ]
    print_table(
        "Phases, and what limited it in each",
        [("phase", ""), ("share", "of its time"), ("limits", "limited by")],
        phases,
    )
    if states := answer.states():
        _print_shares("States of the scheme", states)
    if lost := answer.losses():
        print_table(
            "Dropped packets, acknowledgements and warm-up included",
            [("place", "where"), ("reason", "reason"), ("packets", "packets")],
            lost,
        )
    if answer.congestion:
        counts = ", ".join(f"{cause} {count}" for cause, count in sorted(answer.congestion.items()))
        screen.print(f"Congestion events that the controller saw: {counts}", markup=False)
    held = answer.queue_shares()
    goodputs = answer.goodputs()
    rows = [
        {
            "flow": name,
            "goodput": f"{number(goodputs[name] / 1e6)} Mbit/s",
            "share": _percent(held.get(name, 0.0)),
        }
        for name in list(goodputs)
        if name == answer.flow or list(goodputs).index(name) < MAX_FLOWS
    ]
    print_table(
        "Who filled the queues (throughput × mean queueing delay)",
        [("flow", "flow"), ("goodput", "goodput"), ("share", "of all waits")],
        rows,
    )


def _print_shares(title: str, shares: Mapping[str, float]) -> None:
    rows = [{"what": name, "share": _percent(share)} for name, share in shares.items()]
    print_table(title, [("what", ""), ("share", "of its time")], rows)


def _percent(share: float) -> str:
    return f"{100 * share:.1f} %"
