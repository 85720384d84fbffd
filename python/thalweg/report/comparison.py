"""Comparison of runs: their names, their differences, and the metrics that are shown."""

from __future__ import annotations

import os
import re
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from .. import plots
from .._points import value_text
from .._run_folder import with_overrides
from .._stored import parse_toml
from ..event_labels import event_marks
from ..invariants import wrong
from .columns import DIGITS, UNLESS_ZERO, known, known_digits, unit_of

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence
    from pathlib import Path

    from matplotlib.figure import Figure

    from ..result import Result

Named = tuple[str, "Result"]

MAX_KEYS = 6
"""Maximum number of differences in a warning."""

FEW = 4
"""Maximum number of runs that a title or a sentence names."""

DASHES: tuple[tuple[float, ...], ...] = ((), (7, 3), (2, 2), (9, 3, 2, 3))
"""Lengths of dashes and gaps in turn, in pixels, of the subjects of a series that a chart of several runs shows first."""

SHOWN = (
    "flows.throughput",
    "flows.goodput",
    "flows.fairness",
    r"flows\.[^.]+\.(throughput|goodput|fairness|rtt|queueing_delay|queueing_delay_p95|loss_ratio|retransmits|timeouts|feedback_packets|feedback_received|signals|completions|fct|fct_p50|fct_p95|fct_p99)",
    r"link\.(.+)\.(utilisation|queue_packets|queue|loss_ratio|drops)",
)
"""Keys of the summary in a comparison; of the links, those that are at least half full in one of the runs."""


def names(runs: Sequence[Result]) -> list[str]:
    """What each run is called: the name of the folder that a user gave it, or how it differs from the others.

    A folder that the program named says its seed and changed keys, of whatever scenario, or has a digest. Then the names are
    of the titles, if these differ, the keys that differ, such as the scheme, and the seeds: `buffer = 20 packets, seed=1`.
    Runs that differ in nothing have the names of their folders.
    """
    folders = [run.folder for run in runs]
    known = [folder for folder in folders if folder is not None]
    if len(known) == len(runs) and not any(_given_by_program(folder) for folder in known):
        return path_ends(known)
    described = _described(runs)
    if len(set(described)) < len(runs) == len({folder.resolve() for folder in known}):
        return path_ends(known)
    return [
        name if described.count(name) == 1 else f"{name} ({described[:number].count(name) + 1})"
        for number, name in enumerate(described)
    ]


def _given_by_program(folder: Path) -> bool:
    """Whether the name of a run's folder is made from its seed and keys, or has a digest."""
    return _SEED.search(folder.name) is not None or _DIGEST.search("/".join(folder.parts[-2:])) is not None


_SEED = re.compile(r"(^|,)seed=\d+($|,)")
"""The seed in the name of a folder that the program gave."""

_DIGEST = re.compile(r"(-[0-9a-f]{12}|(^|[,/])(plan|set|sweep)=[0-9a-f]{8,})(?=$|[,/])")
"""The digest in the name of a folder of runs: of a sweep's scenario, of a plan, of long keys."""


def path_ends(folders: Sequence[Path]) -> list[str]:
    """The shortest ends of the paths that distinguish the folders."""
    parts = [folder.resolve().parts for folder in folders]
    for length in range(1, max(map(len, parts), default=0) + 1):
        short = ["/".join(part[-length:]) for part in parts]
        if len(set(short)) == len(short):
            return short
    return [f"{'/'.join(part[-2:])} ({number})" for number, part in enumerate(parts, 1)]


def places(runs: Sequence[Named]) -> list[str]:
    """The folder of each run as Python of a page loads it, from the folder below which all are; its name in memory."""
    folders = [run.folder for _, run in runs]
    known = [folder for folder in folders if folder is not None]
    if len(known) < len(runs):
        return [name for name, _ in runs]
    if len(set(known)) == len(known):
        return path_ends(known)
    return [str(folder) for folder in known]


def _described(runs: Sequence[Result]) -> list[str]:
    """What a reader sees in each run that others do not have: title, keys, seed. Equal for runs that differ in nothing."""
    titles = {run.title for run in runs}
    seeds = {run.seed for run in runs}
    found = []
    for run in runs:
        first, *others = [other for other in runs if other.title == run.title]
        keys = list(dict.fromkeys(key for other in others for key in _written_differences(first, other)))
        last = [key.rsplit(".", 1)[-1] for key in keys]
        short = {key: word if last.count(word) == 1 else key for key, word in zip(keys, last, strict=True)}
        settings = {short[key]: value for key in keys if (value := _written(run, key)) is not None}
        words = with_overrides(run.title if len(titles) > 1 else "", settings)
        if not words:
            words = run.title if keys or len(seeds) == 1 else ""
        found.append(", ".join(filter(None, [words, f"seed={run.seed}" if len(seeds) > 1 else ""])))
    return found


def _written_differences(one: Result, other: Result) -> list[str]:
    """Dotted keys that the scenarios, as written, or what overrides them set differently."""
    (text, keys), (other_text, other_keys) = _scenario(one), _scenario(other)
    # an override can name an entry of a list by its place, `flows.0.scheme`
    overridden, other_overridden = _by_name(keys, text), _by_name(other_keys, other_text)
    changed = {
        key for key in [*overridden, *other_overridden] if overridden.get(key) != other_overridden.get(key)
    }
    return [
        *sorted(changed),
        *(key for key in _changed(text, other_text) if key != "title" and key not in changed),
    ]


def _by_name(keys: Mapping[str, Any], text: Mapping[str, Any]) -> dict[str, Any]:
    """Dotted keys with the names of the entries that they name by place: `flows.reno.scheme`."""
    found = {}
    for key, value in keys.items():
        words: list[str] = []
        at: Any = text
        for word in key.split("."):
            of_list = isinstance(at, list)
            at = _entry(at, word)
            words.append(str(at["name"]) if of_list and isinstance(at, dict) and "name" in at else word)
        found[".".join(words)] = value
    return found


def _entry(at: Any, word: str) -> Any:
    """What a word of a dotted key names; None if there is nothing of this name or at this place."""
    if isinstance(at, dict):
        return at.get(word)
    if isinstance(at, list) and word.isdecimal() and int(word) < len(at):
        return at[int(word)]
    return None


def _written(run: Result, key: str) -> str | None:
    """The value of a dotted key as it is written; tables with names are these. None if it is a default."""
    text, keys = _scenario(run)
    keys = _by_name(keys, text)
    if key in keys:
        return value_text(keys[key])
    value: Any = text
    for word in key.split("."):
        if isinstance(value, list):
            entries = [one for one in value if isinstance(one, dict) and one.get("name") == word]
            value = entries[0] if entries else value[int(word)] if word.isdecimal() else None
        else:
            value = value.get(word) if isinstance(value, dict) else None
    if value and isinstance(value, list) and all(isinstance(one, dict) for one in value):
        return ", ".join(str(one.get("name", number)) for number, one in enumerate(value))
    return None if value is None else value_text(value)


def violations(runs: Sequence[Named]) -> list[str]:
    """The invariants that the runs break: these numbers are wrong."""
    return [wrong(name, sentence) for name, run in runs for sentence in run.violated_invariants]


def differences(runs: Sequence[Named]) -> list[str]:
    """Warnings: numbers that are wrong, and differences of scenario or program besides the seed."""
    first_name, first = runs[0]
    warnings = violations(runs)
    for name, other in runs[1:]:
        if other.record["version"] != first.record["version"]:
            warnings.append(
                f"{name} was made by version {other.record['version']}, {first_name} by {first.record['version']}"
            )
        changed = _changed_keys(first, other)
        if changed:
            more = f" and {len(changed) - MAX_KEYS} more" if len(changed) > MAX_KEYS else ""
            keys = ", ".join(key + _schemes_of(key, other, first) for key in changed[:MAX_KEYS])
            warnings.append(f"the scenario of {name} differs from that of {first_name} in {keys}{more}")
        if not other.complete or not first.complete:
            warnings.append(f"{name if first.complete else first_name} was interrupted")
    return list(dict.fromkeys(warnings))


def _schemes_of(key: str, one: Result, other: Result) -> str:
    """The schemes that a key sets, ` (bbr, not reno)`, since flows keep their names; empty for a key of something else."""
    given = [_written(run, key) for run in (one, other)]
    return f" ({', not '.join(map(str, given))})" if key.endswith(".scheme") and all(given) else ""


def metrics(runs: Sequence[Named]) -> list[dict[str, Any]]:
    """One row per metric: `{metric, unit, values: {run: value}, change}`; the change is of two runs only."""
    values = [(name, run.values) for name, run in runs]
    rows = []
    for key in shown_keys(runs):
        unit, factor = unit_of(key)
        row = {name: _times(table.get(key), factor) for name, table in values}
        quiet = key.rsplit(".", 1)[-1] in UNLESS_ZERO
        if all(value is None or (quiet and value == 0) for value in row.values()):
            continue
        rows.append({"metric": key, "unit": unit, "values": row, "change": _change(key, list(row.values()))})
    return rows


def known_values(row: Mapping[str, Any]) -> dict[str, float | None]:
    """The values of a row of `metrics` without the digits that are not known."""
    return {name: known(row["metric"], value) for name, value in row["values"].items()}


def shown_keys(runs: Sequence[Named]) -> list[str]:
    """Keys of the summary that a comparison shows, in order."""
    values = [(name, run.values) for name, run in runs]
    return [key for key in dict.fromkeys(key for _, table in values for key in table) if _shown(key, values)]


def colours(runs: Sequence[Named]) -> list[str]:
    """A colour per run, the same in every bar and line of a page; runs that differ only by their seeds have its shades."""
    groups = _same_scenario(runs)
    every = len(plots.COLOURS)
    given = {}
    for place, group in enumerate(groups):
        for number, (name, _) in enumerate(group):
            shades = plots.shades(plots.COLOURS[place % every])
            given[name] = shades[(place // every + number) % len(shades)]
    return [given[name] for name, _ in runs]


@dataclass(frozen=True)
class RunLine:
    """A line of a chart in which several runs are drawn."""

    run: int
    """Which run, from 0."""
    subject: str
    label: str
    """The names of the run and of the subject, with the scheme of a flow that has another one in another run."""
    colour: str
    """That of the run."""
    dash: tuple[float, ...]
    """That of the subject."""
    shown: bool
    """The subject is among the first by its mean, and not near zero in this run unless it is a flow."""


def lines(runs: Sequence[Named], series: str) -> list[RunLine]:
    """The lines of a series in several runs: a colour per run, a kind of line per subject, in the order of the scenarios.

    The subjects with the largest means are shown, as many as there are kinds of lines.
    """
    import polars as pl

    means: list[dict[str, float]] = []
    for _, run in runs:
        rows = run.drawn_series.filter((pl.col("series") == series) & pl.col("value").is_not_nan())
        found = rows.group_by("subject", maintain_order=True).agg(pl.col("value").abs().mean())
        means.append(dict(found.drop_nulls().iter_rows()))
    order = list(dict.fromkeys(subject for table in means for subject in table))
    largest = sorted(order, key=lambda subject: -max(table.get(subject, 0.0) for table in means))
    quiet = [plots.quiet_subjects(table) for table in means]
    shown = {
        (number, subject)
        for number, table in enumerate(means)
        for subject in largest[: len(DASHES)]
        if subject in table and subject not in quiet[number]
    }
    first = {subject for _, subject in shown}
    # the subjects that are shown have the first kinds of lines
    places = sorted(order, key=lambda subject: subject not in first)
    given = colours(runs)
    schemes = schemes_that_differ(runs)
    return [
        RunLine(
            number,
            subject,
            f"{name}: {_with_scheme(subject, schemes, number, name)}",
            given[number],
            DASHES[place % len(DASHES)],
            (number, subject) in shown,
        )
        for place, subject in enumerate(places)
        for number, (name, _) in enumerate(runs)
        if subject in means[number]
    ]


def schemes_that_differ(runs: Sequence[Named]) -> dict[str, list[str | None]]:
    """The scheme of each run, by flow and by group of flows, of those that do not have the same one in all runs.

    A flow is called by its entry in the scenario, whatever it runs: `reno` runs BBR where only its scheme was changed.
    """
    tables: list[dict[str, str]] = [
        {
            name: scheme
            for column in ("group", "flow")
            for name, scheme in zip(run.flows[column], run.flows["scheme"], strict=True)
        }
        for _, run in runs
    ]
    names = dict.fromkeys(name for table in tables for name in table)
    found = {name: [table.get(name) for table in tables] for name in names}
    return {name: schemes for name, schemes in found.items() if len({*schemes} - {None}) > 1}


def _with_scheme(subject: str, schemes: Mapping[str, list[str | None]], number: int, run: str) -> str:
    """The name of a subject, with the scheme of a flow that has another one in another run: `reno (bbr)`.

    Not where the name of the run says it.
    """
    name = plots.subject_name(subject)
    of_flow = subject.startswith(("flow.", "receiver."))
    scheme = schemes[flow][number] if of_flow and (flow := name.partition("@")[0]) in schemes else None
    return name if scheme is None or re.search(rf"\b{re.escape(scheme)}\b", run) else f"{name} ({scheme})"


def groups_of_flows(runs: Sequence[Named]) -> dict[str, str]:
    """The groups of flows of the runs, each with its label: its schemes too, if they differ, `reno (reno, bbr)`."""
    schemes = schemes_that_differ(runs)
    return {
        group: f"{group} ({', '.join(filter(None, schemes[group]))})" if group in schemes else group
        for group in dict.fromkeys(group for _, run in runs for group in run.flows["group"])
    }


def overlay(runs: Sequence[Named], series: str) -> Figure:
    """The lines of a series that are shown first, of all runs in one figure."""
    import polars as pl
    from matplotlib import rc_context

    from .. import styles

    look = styles.page()
    unit, factor = plots.unit_of(series)
    title = runs[0][1].title_of(series)
    with rc_context(look.settings):
        figure, axes = styles.new_figure((8.2, 2.8), look)
        for line in lines(runs, series):
            if not line.shown:
                continue
            rows = runs[line.run][1].drawn_series.filter(
                (pl.col("series") == series) & (pl.col("subject") == line.subject)
            )
            axes.plot(
                rows["time_s"],
                rows["value"] * factor,
                label=line.label,
                color=line.colour,
                linestyle=(0, tuple(length / 1.4 for length in line.dash)) if line.dash else "-",
            )
        for at, _ in marks(runs):
            axes.axvline(at, color=plots.INK, linewidth=0.7, linestyle=(0, (2, 2)), zorder=1.5)
        axes.set_xlabel("time (s)")
        axes.set_ylabel(f"{title[0].lower()}{title[1:]}" + (f" ({unit})" if unit else ""))
        plots.from_zero(axes)
        axes.margins(x=0)
        plots.place_legend(axes, rows=3)
    return figure


def marks(runs: Sequence[Named]) -> list[tuple[float, str]]:
    """What the scenarios change over time, in order: once if all runs have it, otherwise with the name of the run."""
    of_runs = [event_marks(run.plan) for _, run in runs]
    return sorted(
        {
            (at, words if all((at, words) in other for other in of_runs) else f"{name}: {words}")
            for (name, _), listed in zip(runs, of_runs, strict=True)
            for at, words in listed
        }
    )


def question(runs: Sequence[Named]) -> str:
    """What is compared, as a title: the names of a few runs, or how many there are."""
    given = [name for name, _ in runs]
    short = " and ".join([", ".join(given[:-1]), given[-1]] if len(given) > 1 else given)
    return f"{short} compared" if len(given) <= FEW and len(short) <= 80 else f"{len(given)} runs compared"


def by_scenario(runs: Sequence[Named]) -> dict[str, list[Result]]:
    """The runs of each scenario, which differ only by their seeds; one per seed.

    A scenario is called by what its runs share, `cubic` for `cubic/seed=1` and `cubic/seed=2`, or by its first run.
    """
    found: dict[str, list[Result]] = {}
    for group in _same_scenario(runs):
        names = [name for name, _ in group]
        unseeded = {re.sub(r"[,/] ?seed=\d+$", "", name) for name in names}
        label = unseeded.pop() if len(names) > 1 and len(unseeded) == 1 else os.path.commonpath(names)
        if not label or label in found:
            label = names[0]
        found[label] = list({run.seed: run for _, run in group}.values())
    return found


def _same_scenario(runs: Sequence[Named]) -> list[list[Named]]:
    """The runs of each scenario, which differ only by their seeds."""
    groups: list[list[Named]] = []
    for name, run in runs:
        for group in groups:
            first = group[0][1]
            if first.record["version"] == run.record["version"] and not _changed_keys(first, run):
                group.append((name, run))
                break
        else:
            groups.append([(name, run)])
    return groups


def _shown(key: str, values: Sequence[tuple[str, Mapping[str, float | None]]]) -> bool:
    for pattern in SHOWN:
        if found := re.fullmatch(pattern, key):
            if not key.startswith("link."):
                return True
            full = f"link.{found[1]}.utilisation"
            return any((table.get(full) or 0.0) >= 0.5 for _, table in values)
    return False


def _times(value: float | None, factor: float) -> float | None:
    return None if value is None else value * factor


TENFOLD = 10.0
"""From here on a change is a factor, which is read more easily than thousands of percent."""


def _change(key: str, values: Sequence[float | None]) -> str | None:
    """How the second value differs from the first, both with the digits that are printed: in percent; or a factor.

    A change of percentiles, which are known to 0.4 %, is uncertain by half a percent or more: from ten on it has no decimal.
    """
    if len(values) != 2 or values[0] is None or values[1] is None:
        return None
    one, other = (known(key, value) for value in values)
    if one == other:
        return "same"
    if one == 0:
        return "from 0"
    if other / one >= TENFOLD:
        return f"× {other / one:.3g}"
    percent = 100 * (other - one) / abs(one)
    decimals = 1 if known_digits(key) == DIGITS or abs(percent) < 10 else 0
    return f"{percent:+.{decimals}f} %" if round(percent, decimals) else f"{0:.{decimals}f} %"


def _changed_keys(one: Result, other: Result) -> list[str]:
    """Keys whose values differ; none for runs of one scenario that differ only by seed, whatever was drawn from it."""
    if _scenario(one) == _scenario(other):
        return []
    changed = list(_changed(one.plan, other.plan))
    # as they are written: plans also differ in what is drawn from the seed
    return changed and (_written_differences(one, other) or changed)


def _scenario(run: Result) -> tuple[dict[str, Any], dict[str, Any]]:
    """What a run is of: the scenario and what overrides it, without the seed."""
    written = parse_toml(
        run.scenario_toml, "scenario.toml" if run.folder is None else run.folder / "scenario.toml"
    )
    overridden = run.record.get("overrides") or {}

    def unseeded(keys: Mapping[str, Any]) -> dict[str, Any]:
        return {key: value for key, value in keys.items() if key != "seed"}

    return unseeded(written), unseeded(overridden)


def _changed(one: Any, other: Any, key: str = "") -> Iterator[str]:
    """Dotted keys whose values differ; seeds do not count."""
    if isinstance(one, dict) and isinstance(other, dict):
        # each scheme has its own parameters: with another scheme, a difference of these has no meaning
        skipped = {"params"} if one.get("scheme") != other.get("scheme") else set()
        for word in dict.fromkeys([*one, *other]):
            if (key or word != "seed") and word not in skipped:
                yield from _changed(one.get(word), other.get(word), f"{key}.{word}".lstrip("."))
    elif isinstance(one, list) and isinstance(other, list) and len(one) == len(other):
        for number, (left, right) in enumerate(zip(one, other, strict=True)):
            name = left.get("name") if isinstance(left, dict) else None
            yield from _changed(left, right, f"{key}.{name or number}")
    elif one != other:
        yield key
