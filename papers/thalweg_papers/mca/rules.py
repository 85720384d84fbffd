"""Small scenarios that show one rule or one trade-off each, and what is kept of them.

Series are sampled every millisecond here: each control packet, cut and increase is then seen by itself.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from .. import _read
from .._base import Sample, Scale, Tree
from .._common import custom, link, recording
from .scenarios import FAST, mca

FINE = "1 ms"
WIDE = "1000 packets"


def fine(
    title: str, duration_s: float, links: list[Tree], flows: list[Tree], series: list[str], **more: Any
) -> Tree:
    """A scenario over listed links, with 1-ms series and events."""
    return custom(title, duration_s, links, flows, record=recording(FINE, *series, events=True), **more)


# --- one queue: thresholds, cuts, increases --------------------------------------------------------------------------


def one_queue(variant: str, _scale: Scale) -> Tree:
    """Three flows share 1 Mbit/s, with room for every packet or with ten packets of it."""
    buffer = {"wide": 200, "narrow": 10}[variant]
    links = [
        link("access", "s", "r", **FAST),
        link("bottleneck", "r", "d", rate="1 Mbit/s", delay="20 ms", buffer=f"{buffer} packets"),
    ]
    series = ["accumulation", "allowed_rate", "period", "srtt"]
    return fine(f"MCA rules, one queue, {variant}", 60.0, links, [mca("m", "s", "d", count=3)], series)


def keep_one_queue(result: Any, _variant: str, _scale: Scale) -> Sample:
    """The hysteresis replayed from the accumulation, and every change of rate held against the rules."""
    sample: Sample = {"epochs": 0, "violations": 0, "smallest_entry": np.inf, "largest_exit": -np.inf}
    totals = {
        "accumulation_cuts": 0,
        "loss_cuts": 0,
        "wrong_factor": 0,
        "too_soon": 0,
        "increases": 0,
        "wrong_step": 0,
    }
    for flow in ("m.1", "m.2", "m.3"):
        for key, value in _replay_hysteresis(result, flow).items():
            sample[key] = _together(key, sample[key], value)
        for key, value in _replay_rates(result, f"flow.{flow}").items():
            totals[key] += value
    return {
        **{key: float(value) for key, value in sample.items()},
        **{key: float(v) for key, v in totals.items()},
    }


def _together(key: str, a: float, b: float) -> float:
    if key == "smallest_entry":
        return min(a, b)
    return max(a, b) if key == "largest_exit" else a + b


def _replay_hysteresis(result: Any, flow: str) -> dict[str, float]:
    """Enter above 2000 bytes, leave below 1000: each begin and end, and every accumulation between them."""
    subject = f"receiver.{flow}@d"
    times, a = _read.one(result, "accumulation", subject)
    begins, entries, _ = _read.events(result, "congestion_begins", subject)
    ends, exits, _ = _read.events(result, "congestion_ends", subject)
    first, last = (np.searchsorted(times, when - 1e-9) for when in (begins, ends))
    congested = np.zeros(len(times), dtype=bool)
    last = np.append(last, [len(times)] * (len(first) - len(last))).astype(int)
    for begin, end in zip(first, last, strict=True):
        congested[begin:end] = True
    violations = np.sum(entries <= ENTER_BYTES) + np.sum(exits >= LEAVE_BYTES)
    violations += np.sum(a[~congested] > ENTER_BYTES) + np.sum(a[congested] < LEAVE_BYTES)
    return {
        "epochs": len(begins),
        "violations": int(violations),
        "smallest_entry": float(np.min(entries, initial=np.inf)),
        "largest_exit": float(np.max(exits, initial=-np.inf)),
    }


def _replay_rates(result: Any, subject: str) -> dict[str, int]:
    """Every step of the rate: down by 10 or 25 % and not twice in a period, or up by one packet per period."""
    times, rate = _read.one(result, "allowed_rate", subject)
    _, period = _read.one(result, "period", subject)
    period = np.concatenate([np.full(len(times) - len(period), period[0]), period])
    found = {
        "accumulation_cuts": 0,
        "loss_cuts": 0,
        "wrong_factor": 0,
        "too_soon": 0,
        "increases": 0,
        "wrong_step": 0,
    }
    last_cut = -np.inf
    for tick in (np.flatnonzero(np.diff(rate)) + 1).tolist():
        factor, increased = _explain(rate[tick - 1], rate[tick], period[tick - 1 : tick + 1])
        found["accumulation_cuts"] += factor == 0.90
        found["loss_cuts"] += factor == 0.75
        found["increases"] += increased
        if factor is None and not increased:
            found["wrong_factor" if rate[tick] < rate[tick - 1] else "wrong_step"] += 1
        if rate[tick] < rate[tick - 1] or factor is not None:
            # The period moves with each sample of the RTT, also within the tick; ticks are 1 ms apart.
            found["too_soon"] += bool(times[tick] - last_cut < np.min(period[tick - 1 : tick + 1]) - 0.001)
            last_cut = times[tick]
    return found


def _explain(before: float, after: float, periods: Any) -> tuple[float | None, bool]:
    """The cut and the increase that lead from one rate to another; both may fall into one tick, in either order."""
    for step in PACKET_BITS / np.asarray(periods):
        for factor in (0.90, 0.75):
            if abs(after / (before * factor) - 1) < TOLERANCE:
                return factor, False
            for both in ((before + step) * factor, before * factor + step):
                if abs(after / both - 1) < TOLERANCE:
                    return factor, True
        if abs(after / (before + step) - 1) < TOLERANCE:
            return None, True
    return None, False


ENTER_BYTES, LEAVE_BYTES, PACKET_BITS = 2000.0, 1000.0, 8000.0
TOLERANCE = 1e-4
"""Rates are whole bits per second."""


# --- synchronisation -------------------------------------------------------------------------------------------------


def changed_path(variant: str, _scale: Scale) -> Tree:
    """One flow well below the capacity of a path that becomes 5 ms shorter, or at its limit on one 40 ms longer."""
    links = [
        link("access", "s", "r", **FAST),
        link("path", "r", "d", rate="1 Mbit/s", delay="25 ms", buffer=WIDE),
    ]
    if variant == "shorter":
        still = {"initial_rate": "0.5 Mbit/s", "min_rate": "0.5 Mbit/s", "max_rate": "0.5 Mbit/s"}
        events = [{"at": "10 s", "link": "path", "delay": "20 ms"}]
        flows = [mca("m", "s", "d", params=still)]
        return fine(
            "MCA rules, shorter path", 20.0, links, flows, ["accumulation", "baseline"], events=events
        )
    events = [{"at": "100 s", "link": "path", "delay": "65 ms"}]
    tree = custom("MCA rules, longer path", 200.0, links, [mca("m", "s", "d")], events=events)
    tree["record"] = {"every": "1 s", "series": ["rate", "backlog"]}
    return tree


def keep_changed_path(result: Any, variant: str, _scale: Scale) -> Sample:
    """The baseline before and after, or the rate and the queue before and after."""
    if variant == "shorter":
        times, baseline = _read.one(result, "baseline", "receiver.m@d")
        _, a = _read.one(result, "accumulation", "receiver.m@d")
        before, after = baseline[np.searchsorted(times, 9.99)], baseline[-1]
        early = np.flatnonzero((times > 10.0) & (baseline < before))[0]
        return {
            "base_error_ms": round(float(abs((before - after) * 1e3 - 5.0)), 9),
            "residue_bytes": float(a[early]),
            "waited_s": float(times[early] - 10.0),
        }
    times, rate = _read.one(result, "rate", "flow.m")
    _, queue = _read.one(result, "backlog", "link.path")
    before, dip = (times > 40) & (times <= 100), (times > 100) & (times <= 140)
    return {
        "rate_before_bps": float(rate[before].mean()),
        "lowest_rate_bps": float(np.min(rate[dip])),
        "queue_in_dip": float(queue[dip][np.argmin(rate[dip])]),
        "rate_after_bps": float(rate[times > 140].mean()),
        "queue_after": float(queue[times > 140].mean()),
        "dip_s": float(np.sum(rate[times > 100] < 0.8 * rate[before].mean())),
    }


def drift(_variant: str, _scale: Scale) -> Tree:
    """One flow through one queue for more than a thousand epochs."""
    links = [
        link("access", "s", "r", **FAST),
        link("bottleneck", "r", "d", rate="4 Mbit/s", delay="5 ms", buffer=WIDE),
    ]
    tree = fine(
        "MCA rules, drift of the baseline", 600.0, links, [mca("m", "s", "d")], ["baseline", "accumulation"]
    )
    tree["record"]["every"] = "5 ms"
    return tree


def keep_drift(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Baseline (what an unqueued packet is believed to take) at the end of each epoch, against what it really takes."""
    when, _, _ = _read.events(result, "congestion_ends", "receiver.m@d")
    times, baseline = _read.one(result, "baseline", "receiver.m@d")
    at_ends = baseline[np.searchsorted(times, when - 1e-9).clip(0, len(times) - 1)]
    # Propagation and transmission on both links.
    true_s = 0.001 + 1000 * 8 / 100e6 + 0.005 + 1000 * 8 / 4e6
    packet_s = 1000 * 8 / 4e6
    error = (at_ends - true_s) / packet_s
    return {
        "epochs": float(len(when)),
        "drift_packet_times": float(abs(error[-100:].mean() - error[:100].mean())),
        "largest_error_packet_times": float(np.max(np.abs(error))),
    }


# --- representatives -------------------------------------------------------------------------------------------------


def branches(variant: str, _scale: Scale) -> Tree:
    """A group over branches of equal rate, one unicast flow on each: which is slowest changes at random."""
    params = {"k0": {"k": 0.0, "k_rx": 0.0}, "k1": {"k": 1.0, "k_rx": 0.0}, "k3": {"k": 3.0, "k_rx": 0.0}}
    numbers = range(1, 9)
    links = [
        link(f"branch{i}", "r", f"d{i}", rate="1 Mbit/s", delay="20 ms", buffer="50 packets") for i in numbers
    ]
    links.append(link("access", "s", "r", **FAST))
    flows = [mca("m", "s", [f"d{i}" for i in numbers], params=params.get(variant, {}))]
    flows += [mca(f"unicast{i}", "s", f"d{i}") for i in numbers]
    return fine(f"MCA rules, equal branches, {variant}", BRANCHES_S, links, flows, [])


BRANCHES_S = 300.0


def keep_branches(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Every CI of another receiver than the representative, against the bound U − kD, and what came of it."""
    switched, value, _ = _read.events(result, "representative", "flow.m")
    when, margin, _ = _read.events(result, "challenge", "flow.m")
    # When there is none, as at first and after an absence, a representative is taken without a bound.
    bound = (value >= 0) & (np.concatenate([[-1.0], value[:-1]]) >= 0)
    replaced, below = set(np.round(switched[bound], 9)), set(np.round(when[margin < 0], 9))
    switched = switched[value >= 0]
    return {
        "switches": float(len(switched)),
        "challenges": float(len(when)),
        "wrong_switches": float(len(replaced - below)),
        "missed_switches": float(len(below - replaced)),
        "ignored_difference": float(abs(_read.flow(result, "m")["ignored"] - np.sum(margin >= 0))),
        "switches_per_100_s": 100 * float(len(switched)) / BRANCHES_S,
    }


def absence(variant: str, _scale: Scale) -> Tree:
    """The slowest receiver of a group leaves and comes back, five times; nobody leaves a second group."""
    params = {} if variant == "n4" else {"n": int(variant[1:])}
    rates = {1: "1 Mbit/s", 2: "1.1 Mbit/s", 3: "1.1 Mbit/s", 4: "1.1 Mbit/s"}
    links = [
        link(f"branch{i}", "r", f"d{i}", rate=rate, delay="20 ms", buffer=WIDE) for i, rate in rates.items()
    ]
    links += [
        link(f"steady{i}", "q", f"e{i}", rate="1 Mbit/s", delay="20 ms", buffer="50 packets") for i in rates
    ]
    links += [link("access", "s", "r", **FAST), link("access2", "t", "q", **FAST)]
    flows = [
        mca("m", "s", [f"d{i}" for i in rates], params=params),
        mca("steady", "t", [f"e{i}" for i in rates], params=params),
        *(mca(f"unicast{i}", "t", f"e{i}") for i in rates),
    ]
    events = []
    for number in range(ABSENCES):
        events.append({"at": f"{30 + 40 * number} s", "flow": "m", "action": "leave", "node": "d1"})
        events.append({"at": f"{50 + 40 * number} s", "flow": "m", "action": "join", "node": "d1"})
    series = ["allowed_rate", "period", "absence_rate"]
    return fine(
        f"MCA rules, absent representative, {variant}",
        30.0 + 40.0 * ABSENCES,
        links,
        flows,
        series,
        events=events,
    )


ABSENCES = 5
LEAVING = 1
"""The receiver that leaves, as events number it."""


def keep_absence(result: Any, variant: str, _scale: Scale) -> Sample:
    """Time from the departure, and from the rate reaching U′ + 4D′, until the source gives the representative up.

    A departure counts where it is the representative that leaves: the source may have given it up before, or follow another.
    """
    n = int(variant[1:])
    times, rate = _read.one(result, "allowed_rate", "flow.m")
    period = _filled(result, "period", "flow.m", len(times))
    bound = _filled(result, "absence_rate", "flow.m", len(times))
    gone, _, _ = _read.events(result, "absent", "flow.m")
    switched, value, _ = _read.events(result, "representative", "flow.m")
    followed = [value[np.searchsorted(switched, 30.0 + 40.0 * number) - 1] for number in range(ABSENCES)]
    switched = switched[value >= 0]
    false_alarms, _, _ = _read.events(result, "absent", "flow.steady")
    departures, missed, late, delays = 0, 0, 0, []
    for number in range(ABSENCES):
        left = 30.0 + 40.0 * number
        if followed[number] != LEAVING:
            continue
        later = gone[(gone > left) & (gone < left + 20)]
        if not len(later):
            missed += 1
            continue
        departures += 1
        delays.append(later[0] - left)
        crossed = _crossed(times, rate, bound, left, later[0])
        tick = np.searchsorted(times, later[0])
        next_one = switched[switched >= later[0]]
        answer = next_one[0] if len(next_one) else np.inf
        # Two round trips of the new path, and one tick of the series at each end.
        allowed = (n + 1) * period[tick] + 2 * 0.3 + 0.002
        late += bool(answer - crossed > allowed)
    return {
        "departures": float(departures),
        "late": float(late),
        "detection_s": float(np.mean(delays)) if delays else float("nan"),
        "missed": float(missed),
        "false_alarms": float(len(false_alarms)),
    }


def _crossed(times: Any, rate: Any, bound: Any, left: float, given_up: float) -> float:
    """When the rate reaches the bound between two moments; the second of them if it does not."""
    there = times[(times > left) & (times <= given_up) & (rate >= bound)]
    return float(there[0]) if len(there) else given_up


def _filled(result: Any, name: str, subject: str, length: int) -> Any:
    """A series from the start: before its first value it has that value."""
    _, values = _read.one(result, name, subject)
    return np.concatenate([np.full(length - len(values), values[0]), values])


# --- losses and silence ----------------------------------------------------------------------------------------------


def bursts(_variant: str, _scale: Scale) -> Tree:
    """A link that nothing waits for fails for a tenth of a second, twenty times."""
    still = {"initial_rate": "0.5 Mbit/s", "min_rate": "0.5 Mbit/s", "max_rate": "0.5 Mbit/s"}
    links = [
        link("access", "s", "r", **FAST),
        link("path", "r", "d", rate="10 Mbit/s", delay="10 ms", buffer=WIDE),
    ]
    events = []
    for number in range(1, BURSTS + 1):
        events.append({"at": f"{number} s", "link": "path", "up": False})
        events.append({"at": f"{number}.1 s", "link": "path", "up": True})
    flows = [mca("m", "s", "d", params=still)]
    return fine("MCA rules, bursts of loss", BURSTS + 2.0, links, flows, [], events=events)


BURSTS = 20


def keep_bursts(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Indications of loss, and packets missing, per failure."""
    when, _, _ = _read.events(result, "indication_loss")
    missing = float(result.receivers["missing"].sum())
    counts = [int(np.sum((when > n) & (when < n + 1))) for n in range(1, BURSTS + 1)]
    return {
        "bursts": float(BURSTS),
        "packets_per_burst": missing / BURSTS,
        "indications_per_burst": float(np.mean(counts)),
        "worst_burst": float(np.max(counts)),
    }


def silence(_variant: str, _scale: Scale) -> Tree:
    """A congested group whose source stops: receivers that decide by timers would still send reports afterwards."""
    numbers = range(1, 9)
    links = [
        link(f"branch{i}", "r", f"d{i}", rate="1 Mbit/s", delay="20 ms", buffer="50 packets") for i in numbers
    ]
    links.append(link("access", "s", "r", **FAST))
    flows = [
        mca("m", "s", [f"d{i}" for i in numbers], stop="30 s"),
        *(mca(f"unicast{i}", "s", f"d{i}") for i in numbers),
    ]
    tree = fine("MCA rules, silence after the source stopped", 60.0, links, flows, [])
    tree["record"] = {"every": FINE, "series": ["throughput", "g_trac"], "events": False}
    return tree


def keep_silence(result: Any, _variant: str, _scale: Scale) -> Sample:
    """Indications, sent or suppressed, in a millisecond in which no packet of the flow arrived at that receiver.

    Each indication moves the mean of G-TRAC.
    """
    late = seen = 0
    for number in range(1, 9):
        subject = f"receiver.m@d{number}"
        _, arriving = _read.one(result, "throughput", subject)
        _, g_trac = _read.one(result, "g_trac", subject)
        moved = np.flatnonzero(np.diff(g_trac)) + 1 + len(arriving) - len(g_trac)
        seen += len(moved)
        late += int(np.sum(arriving[moved] == 0))
    return {"late_feedback": float(late), "indications": float(seen)}


# --- the fluid limit -------------------------------------------------------------------------------------------------


def fluid(variant: str, _scale: Scale) -> Tree:
    """A steady flow over a random chain whose links become too slow for it in turn; small packets are nearly fluid.

    The receiver never enters congestion here (threshold 1000 packets), so that it only measures: with control packets
    out of band, as §2.1 has them, or in band, as §2.2.
    """
    _, path, packet, *in_band = variant.split("-")
    random = np.random.default_rng(int(path))
    hops = int(random.integers(2, 6))
    rate_kbps = int(random.integers(800, 1600))
    rate = f"{rate_kbps} kbit/s"
    links = [link("access", "s", "r0", **FAST, **({} if in_band else OUT_OF_BAND))]
    events: list[Tree] = []
    for hop in range(1, hops + 1):
        delay_ms = int(random.integers(1, 6))
        links.append(
            link(
                f"hop{hop}",
                f"r{hop - 1}",
                f"r{hop}",
                rate=f"{4 * rate_kbps} kbit/s",
                delay=f"{delay_ms} ms",
                buffer="1 MB",
                **({} if in_band else OUT_OF_BAND),
            )
        )
    for number in range(6):
        hop = int(random.integers(1, hops + 1))
        begin = 3 + 5 * number
        slow = int(rate_kbps * float(random.uniform(0.5, 0.9)))
        events.append({"at": f"{begin} s", "link": f"hop{hop}", "rate": f"{slow} kbit/s"})
        events.append({"at": f"{begin + 1} s", "link": f"hop{hop}", "rate": f"{4 * rate_kbps} kbit/s"})
    params = {
        "initial_rate": rate,
        "min_rate": rate,
        "max_rate": rate,
        "enter": 1000.0,
        "control_interval": "1 ms",
        "control": "in_band" if in_band else "out_of_band",
    }
    flow = mca("m", "s", f"r{hops}", packet=f"{packet} B", params=params)
    flow["start_spread"] = "0 s"
    return fine(
        f"MCA rules, fluid limit, {variant}",
        33.0,
        links,
        [flow],
        ["accumulation", "backlog_bytes"],
        events=events,
    )


FLUID_PACKETS = (1000, 250, 62)
FLUID_PATHS = (1, 2, 3, 4, 5)
OUT_OF_BAND = {"classes": [1, 1]}
"""A link on which control packets do not wait for data."""
FLUID = tuple(
    f"path-{path}-{packet}{band}"
    for band, packets in (("", FLUID_PACKETS), ("-in band", (FLUID_PACKETS[0], FLUID_PACKETS[-1])))
    for packet in packets
    for path in FLUID_PATHS
)


def keep_fluid(result: Any, variant: str, _scale: Scale) -> Sample:
    """Share of samples in which accumulation and the path's backlog disagree about a queue, and the error of its size."""
    packet = float(variant.split("-")[2])
    subjects = [
        s for s in _read.series(result, "backlog_bytes") if not s.endswith(".backward") and "hop" in s
    ]
    queues = _read.series(result, "backlog_bytes", subjects)
    truth = np.sum(list(queues.values()), axis=0)
    times = _read.times(result, "backlog_bytes")
    own_times, own = _read.one(
        result, "accumulation", next(s for s in result.series["subject"].unique() if "receiver.m@" in s)
    )
    a = np.zeros(len(times))
    a[np.searchsorted(times, own_times - 1e-9)] = own
    # The receiver learns of a queue when the packet that waited arrives.
    later = times > 2.0
    seen, real = a[later], truth[later]
    zero = packet
    lag = _best_lag(seen > zero, real > zero)
    seen, real = (seen[lag:], real[:-lag]) if lag else (seen, real)
    return {
        "disagreement": float(np.mean((seen > zero) != (real > zero))),
        "false_zero": float(np.mean((seen <= zero) & (real > 2 * zero))),
        "false_positive": float(np.mean((seen > 2 * zero) & (real <= zero))),
        "error_bytes": float(np.mean(np.abs(seen - real))),
        "queued_share": float(np.mean(real > zero)),
        "lag_s": lag * 0.001,
    }


def _best_lag(seen: Any, real: Any) -> int:
    """Delay, in ticks, with which the receiver's view follows: the one with which the two agree best."""
    return min(range(60), key=lambda lag: float(np.mean(seen[lag:] != real[: len(real) - lag])))
