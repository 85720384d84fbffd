"""What the facts of pages mean, and the headings of sweeps: for `thalweg metrics`, which explains every printed word.

Columns of the tables have their meaning in the catalogue of metrics; these words have no column of their own.
"""

from __future__ import annotations

from .columns import words_of

WHERE = "pages"
"""The table under which `thalweg metrics` lists these words."""

FACTS: dict[str, tuple[str, str]] = {
    "fullest link": (
        "%",
        "highest utilisation of a direction of a link: the bits that it transmitted over those that it could have "
        "transmitted while it was up; with the name of the link",
    ),
    "throughput, all flows": (
        "Mbit/s",
        "sum of the throughputs of all flows over the measured time, headers included; "
        "with several receivers, the mean over them",
    ),
    "slowest receiver": (
        "",
        "the receivers with the lowest throughput of a flow that has several, and those within 1 % of it, with their "
        "goodput: payload that arrived there for the first time, per second of the measured time; none if all are alike",
    ),
    "longest queueing": (
        "",
        "the receiver of the same flow whose packets waited longest in queues on average, if receivers differ",
    ),
    "fairness": (
        "",
        "Jain's index over the goodputs, while active, of the flows that compete: 1 when all are equal",
    ),
    "completion time": (
        "s",
        "mean time from the start of a finite transfer of the group until all of its data are acknowledged, "
        "of the transfers that were completed",
    ),
    "dropped packets": (
        "packets",
        "packets of any kind that links and nodes dropped in the measured time: the sum of their reasons, which are the "
        "columns drops_REASON of links, and for drops at nodes those of flows; what arrives at an endpoint that does not "
        "listen is not counted",
    ),
    "by reason": (
        "packets",
        "dropped packets by the columns drops_REASON of links and flows, without those that are zero",
    ),
    "trace hash": ("", "digest of every event of a run in order: equal hashes are equal runs"),
    "seed": ("", "the number that all random streams of a run are derived from"),
    "seeds": ("", "number of the runs of a point, which differ by their seed; of a page, of different seeds"),
    "simulated": ("s", "the time that a run covers, its warm-up included"),
    "packet-hops": (
        "",
        "packets put on links, each counted once for each link: the unit of work of a simulation",
    ),
    "version": ("", "the version of Thalweg that made the runs"),
    "points": ("", "combinations of the values of a sweep"),
    "runs": ("", "simulations or emulations: one for each point and seed"),
    "a run": ("s", "how long each run of a sweep is, and how much of it is measured, after the warm-up"),
    "distinct runs": ("", "runs whose trace hashes differ: seeds that change nothing give the same run"),
    "key": (
        "",
        "key of the summary of a run, such as flows.fairness, of which the scenario expects something",
    ),
    "expected": ("", "what the scenario expects of a key, in its table [expect]"),
    "measured": ("", "value of the key in the run, or its range over the runs that failed"),
    "failed runs": ("", "runs of the point in which the expectation does not hold"),
    "folder": ("", "folder of a run, relative to that of the sweep"),
    "kind": ("", "what a scheme is evaluated as, which decides the batteries of its report card"),
    "references": (
        "",
        "schemes in the same networks with the same seeds, beside which a report card puts the scheme",
    ),
}
"""Unit and meaning by word. What follows the word after a comma, such as the name of a group, is not part of it."""


def facts_called(words: str) -> list[dict[str, str]]:
    """The facts with this name, as rows of the catalogue of metrics."""
    wanted = words_of(words)
    return [
        {"table": WHERE, "name": name, "unit": unit, "definition": definition, "measured": "page"}
        for name, (unit, definition) in FACTS.items()
        if wanted == name or wanted.startswith(f"{name}, ")
    ]
