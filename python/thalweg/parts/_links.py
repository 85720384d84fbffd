"""Builders: links and what they do to packets.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from collections.abc import Iterable, Mapping
    from typing import Any, ClassVar, Required, TypedDict, Unpack

    class LinkKeys(TypedDict, total=False):
        """Keys of `Link`."""

        name: str | None
        ends: Iterable[str] | None
        like: str | None
        rate: str | None
        trace: str | Mapping[str, Any] | None
        delay: str | None
        loss: float | None
        impair: Mapping[str, Any] | None
        policer: Mapping[str, Any] | None
        shaper: Mapping[str, Any] | None
        buffer: str | None
        queue: str | Mapping[str, Any] | None
        mark_above: int | bool | None
        classes: Iterable[int] | None
        backward: Mapping[str, Any] | None

    class ModelTraceKeys(TypedDict, total=False):
        """Keys of `ModelTrace`."""

        seed: int | None
        height_km: float | None
        min_elevation_deg: float | None

    class ImpairKeys(TypedDict, total=False):
        """Keys of `Impair`."""

        bursts: Mapping[str, Any] | None
        duplicate: float | None
        corrupt: float | None
        jitter: str | None
        keep_order: bool | None
        reorder: float | None
        gap: int | None
        release_every: str | None

    class BurstsKeys(TypedDict, total=False):
        """Keys of `Bursts`."""

        to_good: Required[float]
        loss_in_bad: float | None
        loss_in_good: float | None

    class BucketKeys(TypedDict, total=False):
        """Keys of `Bucket`."""

        rate: str | None
        burst: str | None

    class PortKeys(TypedDict, total=False):
        """Keys of `Port`."""

        rate: str | None
        trace: str | Mapping[str, Any] | None
        delay: str | None
        loss: float | None
        impair: Mapping[str, Any] | None
        policer: Mapping[str, Any] | None
        shaper: Mapping[str, Any] | None
        buffer: str | None
        queue: str | Mapping[str, Any] | None
        mark_above: int | bool | None
        classes: Iterable[int] | None


class Link(Part):
    """A link between two nodes, or a template for several.

    - `name` (text): Its name. In `links` of a generated topology the name of a link that differs, or a
      pattern such as "leaf*"; of two entries about one link, the later one counts.
    - `ends` (list of text): custom: its two nodes.
    - `like` (text): custom: name of a link that supplies the keys that are not written here.
    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate of a direction. A link needs it or
      `trace`; of `edge` 1 Gbit/s by default.
    - `trace` (such as `"lte_driving"`, `"traces/walk.up"`, `"traces/walk.csv"` or `ModelTrace`): The trace
      that the rate of a direction follows, instead of `rate`: a model of a kind of link, see ModelTrace; or
      the path of a file, relative to the scenario, which contains a dot or a slash. A file has the format of
      mahimahi: each line is a time in whole milliseconds at which 1500 bytes can leave, in one packet or
      several; a larger packet takes several such opportunities, and what no waiting packet uses is lost. Or
      it is CSV and ends in .csv: each line is a time in seconds and the rate from then on, `0.5,12 Mbit/s`,
      which can be 0; after a first line `time_s,rate_bps` or `time_ms,rate_mbps` they are numbers in these
      units. A third column, `delay_ms`, is a delay that is added to `delay`. The last line is the end: its
      rate is not used. Or its lines are two numbers with a space or a tab between them, as in traces for
      Pensieve: a time in seconds and the rate in Mbit/s up to it. Times of a rate are counted from the first
      one. A trace begins with the run and repeats from its end. Its mean rate counts where a rate is needed,
      as for a buffer in bdp.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Propagation delay of a direction. A link needs it; of
      `edge` 1 ms by default.
    - `loss` (number): Probability that a packet is lost at random after transmission. Default: 0.
    - `impair` (`Impair`): Impairments: bursty loss, corruption, jitter, reordering, duplication, release in
      bursts. Default: none.
    - `policer` (`Bucket`): Policer: a token bucket before the queue. Packets that exceed it are dropped.
      Default: none.
    - `shaper` (`Bucket`): Shaper: a token bucket behind the queue. A packet waits in the queue until the
      bucket has enough tokens, and then leaves at `rate`. Not with `trace`. Default: none.
    - `buffer` (such as `"100 packets"`, `"1 bdp"`, `"64 kB"`): Queue limit: packets, bytes, or multiples of
      the bandwidth-delay product. Of `edge` 10 000 packets by default. Default: 100 packets.
    - `queue` (`fifo`, `cake`, `codel`, `dualpi2`, `fq`, `fq_codel`, `pfifo_head_drop`, `pie`, `red` or
      `CakeQueue` or `CodelQueue` or `Dualpi2Queue` or `FqQueue` or `FqCodelQueue` or `PieQueue` or
      `RedQueue`): Queue discipline: `"fifo"` (drop-tail), another by its name, or a table with its name as
      `kind` and its parameters. Default: fifo.
    - `mark_above` (whole number or `false`): ECN threshold: an ECT packet is marked CE if, when it arrives,
      at least this many packets wait; `false`: never. Default: false.
    - `classes` (list of whole number): Weights of traffic classes, served by deficit round robin; each class
      has its own buffer. The last class also takes the control packets that streams send out of band.
      Default: none.
    - `backward` (`Port`): Settings that differ in the direction from the second end to the first.
    """

    KEYS: ClassVar = {
        "name": ("str | None", ""),
        "ends": ("Iterable[str] | None", ""),
        "like": ("str | None", ""),
        "rate": ("str | None", "50 Mbit/s"),
        "trace": ("str | Mapping[str, Any] | None", ""),
        "delay": ("str | None", "60 s"),
        "loss": ("float | None", ""),
        "impair": ("Mapping[str, Any] | None", ""),
        "policer": ("Mapping[str, Any] | None", ""),
        "shaper": ("Mapping[str, Any] | None", ""),
        "buffer": ("str | None", "100 packets"),
        "queue": ("str | Mapping[str, Any] | None", ""),
        "mark_above": ("int | bool | None", ""),
        "classes": ("Iterable[int] | None", ""),
        "backward": ("Mapping[str, Any] | None", ""),
    }

    def __init__(self, **keys: Unpack[LinkKeys]) -> None:
        super().__init__(keys)


class ModelTrace(Part):
    """A trace by a model, with its seed.

    - `model` (`lte_stationary`, `lte_walking`, `lte_driving`, `lte_tunnel`, `lte_train`, `nr_driving`,
      `nr_mmwave`, `wifi_home`, `wifi_crowded`, `leo`, `leo_pass`, `dsl`, `cable`): The model.
    - `seed` (whole number): Seed of the trace. The seed of the run does not change it, so all runs see the
      same link. Default: 1.
    - `height_km` (number): leo_pass: height of the orbit in km. Default: 550.
    - `min_elevation_deg` (number): leo_pass: lowest elevation in degrees at which a satellite is used.
      Default: 25.
    """

    KEYS: ClassVar = {
        "model": ("str", "lte_stationary"),
        "seed": ("int | None", ""),
        "height_km": ("float | None", ""),
        "min_elevation_deg": ("float | None", ""),
    }

    def __init__(self, model: str, **keys: Unpack[ModelTraceKeys]) -> None:
        super().__init__({"model": model, **keys})


class Impair(Part):
    """Impairments of a link or of one of its directions.

    They add to its delay and its independent loss, as those of netem in Linux.

    - `bursts` (`Bursts`): Loss in bursts, in addition to `loss`.
    - `duplicate` (number): Probability that a packet arrives twice.
    - `corrupt` (number): Probability that a packet arrives damaged. The checksum at the end of the link finds
      it, and the packet is dropped.
    - `jitter` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Jitter: maximum difference of the propagation delay
      of a packet from `delay`, in both directions; uniform and independent per packet. At most `delay`.
    - `keep_order` (true or false): With `jitter`: a packet that would overtake another arrives with it.
      Otherwise packets are reordered. Default: false.
    - `reorder` (number): Probability that a packet arrives without propagation delay, before those ahead of
      it.
    - `gap` (whole number): With `reorder`: a packet can be reordered if it is at least this many packets
      after the last reordered one. Default: 1.
    - `release_every` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Packets arrive only at multiples of this
      time, those that were to arrive since the last one together: aggregation, as of acknowledgements by
      Wi-Fi. Default: none.
    """

    KEYS: ClassVar = {
        "bursts": ("Mapping[str, Any] | None", ""),
        "duplicate": ("float | None", ""),
        "corrupt": ("float | None", ""),
        "jitter": ("str | None", "60 s"),
        "keep_order": ("bool | None", ""),
        "reorder": ("float | None", ""),
        "gap": ("int | None", ""),
        "release_every": ("str | None", "60 s"),
    }

    def __init__(self, **keys: Unpack[ImpairKeys]) -> None:
        super().__init__(keys)


class Bursts(Part):
    """The loss model of Gilbert and Elliott.

    The link is in a good or a bad state; the state decides about a packet, then it may change.

    - `to_bad` (number): Probability of a change from good to bad, per packet (`p` of netem).
    - `to_good` (number): Probability of a change from bad to good, per packet (`r`). A burst has 1 / to_good
      packets on average.
    - `loss_in_bad` (number): Probability of loss in the bad state (`1-h`). Default: 1.
    - `loss_in_good` (number): Probability of loss in the good state (`1-k`). Default: 0.
    """

    KEYS: ClassVar = {
        "to_bad": ("float", ""),
        "to_good": ("float", ""),
        "loss_in_bad": ("float | None", ""),
        "loss_in_good": ("float | None", ""),
    }

    def __init__(self, to_bad: float, **keys: Unpack[BurstsKeys]) -> None:
        super().__init__({"to_bad": to_bad, **keys})


class Bucket(Part):
    """A token bucket.

    It is full at the start, tokens for `rate` flow in up to `burst`, and a packet takes as many as it has
    bytes. An empty table: none.

    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate at which tokens flow in.
    - `burst` (such as `"1500 B"`, `"64 kB"`, `"10 MB"`): Capacity. A larger packet never passes.
    """

    KEYS: ClassVar = {
        "rate": ("str | None", "50 Mbit/s"),
        "burst": ("str | None", "1500 B"),
    }

    def __init__(self, **keys: Unpack[BucketKeys]) -> None:
        super().__init__(keys)


class Port(Part):
    """One direction of a link, with the keys of the link.

    A key that is not written is taken from the link. An empty table or list: none.

    - `rate` (such as `"50 Mbit/s"`, `"1 Gbit/s"`, `"900 kbit/s"`): Rate of a direction.
    - `trace` (such as `"lte_driving"`, `"traces/walk.up"`, `"traces/walk.csv"` or `ModelTrace`): The trace
      that the rate of a direction follows, instead of `rate`: a model of a kind of link, see ModelTrace; or
      the path of a file, relative to the scenario, which contains a dot or a slash.
    - `delay` (such as `"60 s"`, `"20 ms"`, `"500 us"`): Propagation delay of a direction.
    - `loss` (number): Probability that a packet is lost at random after transmission.
    - `impair` (`Impair`): Impairments: bursty loss, corruption, jitter, reordering, duplication, release in
      bursts.
    - `policer` (`Bucket`): Policer: a token bucket before the queue.
    - `shaper` (`Bucket`): Shaper: a token bucket behind the queue.
    - `buffer` (such as `"100 packets"`, `"1 bdp"`, `"64 kB"`): Queue limit: packets, bytes, or multiples of
      the bandwidth-delay product.
    - `queue` (`fifo`, `cake`, `codel`, `dualpi2`, `fq`, `fq_codel`, `pfifo_head_drop`, `pie`, `red` or
      `CakeQueue` or `CodelQueue` or `Dualpi2Queue` or `FqQueue` or `FqCodelQueue` or `PieQueue` or
      `RedQueue`): Queue discipline: `"fifo"` (drop-tail), another by its name, or a table with its name as
      `kind` and its parameters.
    - `mark_above` (whole number or `false`): ECN threshold: an ECT packet is marked CE if, when it arrives,
      at least this many packets wait; `false`: never.
    - `classes` (list of whole number): Weights of traffic classes, served by deficit round robin; each class
      has its own buffer.
    """

    KEYS: ClassVar = {
        "rate": ("str | None", "50 Mbit/s"),
        "trace": ("str | Mapping[str, Any] | None", ""),
        "delay": ("str | None", "60 s"),
        "loss": ("float | None", ""),
        "impair": ("Mapping[str, Any] | None", ""),
        "policer": ("Mapping[str, Any] | None", ""),
        "shaper": ("Mapping[str, Any] | None", ""),
        "buffer": ("str | None", "100 packets"),
        "queue": ("str | Mapping[str, Any] | None", ""),
        "mark_above": ("int | bool | None", ""),
        "classes": ("Iterable[int] | None", ""),
    }

    def __init__(self, **keys: Unpack[PortKeys]) -> None:
        super().__init__(keys)
