"""Builders: queue disciplines.

Written by `make docs`: change the tables in `crates/lab/src/schema`, not this file.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from .._part import Part

if TYPE_CHECKING:
    from typing import ClassVar, TypedDict, Unpack

    class CakeQueueKeys(TypedDict, total=False):
        """Keys of `CakeQueue`."""

        target: str | None
        interval: str | None
        quantum: str | None
        mark: bool | None

    class CodelQueueKeys(TypedDict, total=False):
        """Keys of `CodelQueue`."""

        target: str | None
        interval: str | None
        mark: bool | None
        like: str | None

    class Dualpi2QueueKeys(TypedDict, total=False):
        """Keys of `Dualpi2Queue`."""

        target: str | None
        t_update: str | None
        alpha: float | None
        beta: float | None
        coupling: float | None
        native: str | None
        threshold: str | None
        min_qlen_step: int | None
        range: str | None
        classic_share: int | None
        drop_overload: bool | None
        packet: str | None

    class FqQueueKeys(TypedDict, total=False):
        """Keys of `FqQueue`."""

        quantum: str | None
        initial_quantum: str | None
        flow_limit: int | None
        refill_delay: str | None

    class FqCodelQueueKeys(TypedDict, total=False):
        """Keys of `FqCodelQueue`."""

        target: str | None
        interval: str | None
        flows: int | None
        quantum: str | None
        drop_batch: int | None
        mark: bool | None
        like: str | None

    class PieQueueKeys(TypedDict, total=False):
        """Keys of `PieQueue`."""

        target: str | None
        t_update: str | None
        alpha: float | None
        beta: float | None
        max_burst: str | None
        estimator: str | None
        mark: bool | None
        mark_below: float | None
        packet: str | None
        like: str | None

    class RedQueueKeys(TypedDict, total=False):
        """Keys of `RedQueue`."""

        min_th: float | None
        max_th: float | None
        max_p: float | None
        weight: float | None
        gentle: bool | None
        unit: str | None
        packet: str | None
        mark: bool | None
        adaptive: bool | None


class CakeQueue(Part):
    """CAKE without its shaper (Linux, sch_cake): fair queueing of flows in a set-associative table, COBALT for each.

    - `kind` (`"cake"`): Queue discipline.
    - `target` (such as `"5 ms"`): Acceptable standing queueing delay. Default: 5 ms. Source: Linux: 5 ms.
    - `interval` (such as `"100 ms"`): About the maximum usual round-trip time: how long the delay may exceed
      `target` before COBALT acts. Default: 100 ms. Source: Linux: 100 ms (rtt).
    - `quantum` (such as `"1514 B"`): Bytes that a flow may send per round. Default: 1514 B. Source: Linux:
      1514 B without a shaper.
    - `mark` (true or false): Mark ECT packets instead of dropping them, except for drops by BLUE. Default:
      true. Source: HTM18 §III; Linux: always.
    """

    KEYS: ClassVar = {
        "kind": ("str", "cake"),
        "target": ("str | None", "5 ms"),
        "interval": ("str | None", "100 ms"),
        "quantum": ("str | None", "1514 B"),
        "mark": ("bool | None", ""),
    }

    def __init__(self, kind: str, **keys: Unpack[CakeQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class CodelQueue(Part):
    """CoDel (RFC 8289): drops or marks packets while the queueing delay stays above its target.

    - `kind` (`"codel"`): Queue discipline.
    - `target` (such as `"5 ms"`): TARGET, the acceptable standing queueing delay. Default: 5 ms. Source:
      RFC8289 §4.4.
    - `interval` (such as `"100 ms"`): INTERVAL, how long the queueing delay may exceed `target` before CoDel
      acts: about the maximum usual round-trip time. Default: 100 ms. Source: RFC8289 §4.3.
    - `mark` (true or false): Mark ECT packets instead of dropping them. Default: true. Source: our choice: a
      mark signals the same congestion without a loss.
    - `like` (`rfc`, `linux`): Whose details apply where RFC 8289 and Linux differ. Default: rfc. Source: our
      choice: the specification.
    """

    KEYS: ClassVar = {
        "kind": ("str", "codel"),
        "target": ("str | None", "5 ms"),
        "interval": ("str | None", "100 ms"),
        "mark": ("bool | None", ""),
        "like": ("str | None", "rfc"),
    }

    def __init__(self, kind: str, **keys: Unpack[CodelQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class Dualpi2Queue(Part):
    """DualPI2 (RFC 9332): a queue of its own for L4S flows, marked early, coupled with a PI controller for all others.

    - `kind` (`"dualpi2"`): Queue discipline.
    - `target` (such as `"15 ms"`): Target of the queueing delay of classic flows. Default: 15 ms. Source:
      RFC9332 §A.1; Linux 6.17: 15 ms.
    - `t_update` (such as `"16 ms"`): Tupdate, the time between updates of the probability; `alpha` and `beta`
      are for this one. Default: 16 ms. Source: RFC9332 §A.1; Linux 6.17: 16 ms.
    - `alpha` (number): α, integral gain: increase of the probability per update and second of delay above
      `target`. Default: 0.16. Source: RFC9332 §A.1: 0.1·Tupdate/RTT_max², RTT_max = 100 ms; Linux 6.17: 0.16.
    - `beta` (number): β, proportional gain: increase of the probability per update and second by which the
      delay has grown since the last one. Default: 3.2. Source: Linux 6.17: 3.2; RFC9332 §A.1: 0.3/RTT_max,
      which is 3.
    - `coupling` (number): k, the coupling factor: the marking probability of scalable flows is k times the
      square root of the classic probability. Default: 2. Source: RFC9332 §A.1: 2; Linux 6.17: 2.
    - `native` (`step`, `ramp`): How the queue of scalable flows is marked by its own delay. Default: step.
      Source: Linux 6.17: step; RFC9332 §A.1: ramp.
    - `threshold` (such as `"1 ms"`): Queueing delay above which packets of scalable flows are marked; with
      `ramp`, minTh, above which some are. Default: 1 ms. Source: Linux 6.17: 1 ms; RFC9332 §A.1: 0.8 ms with
      a range of 0.4 ms.
    - `min_qlen_step` (whole number): Packets of scalable flows that must wait already when a packet arrives
      for its own delay to mark it. At low rates a packet then does not exceed `threshold` only because it
      waits for one other. Default: 0. Source: Linux 6.17: 0; kernels of the L4S project to 6.1: 2; RFC9332
      §A.1: Th_len, 1 that stays at the departure.
    - `range` (such as `"400 us"`): Width of the ramp. Default: 400 us. Source: RFC9332 §A.1: 400 us.
    - `classic_share` (whole number): Share of the link, in percent, that classic flows get if scalable ones
      want all of it. Default: 10. Source: Linux 6.17: 10; RFC9332 §A.1: a weight of 1/16 with WRR.
    - `drop_overload` (true or false): Drop packets of scalable flows, too, where marks are not enough: where
      their probability would exceed 1. Default: true. Source: RFC9332 §A.2; Linux 6.17: true.
    - `packet` (such as `"1514 B"`): Size of a full packet: a backlog of less than two is neither dropped from
      nor marked by the controller. Default: 1514 B. Source: Linux 6.17: the MTU with the Ethernet header.
    """

    KEYS: ClassVar = {
        "kind": ("str", "dualpi2"),
        "target": ("str | None", "15 ms"),
        "t_update": ("str | None", "16 ms"),
        "alpha": ("float | None", ""),
        "beta": ("float | None", ""),
        "coupling": ("float | None", ""),
        "native": ("str | None", "step"),
        "threshold": ("str | None", "1 ms"),
        "min_qlen_step": ("int | None", ""),
        "range": ("str | None", "400 us"),
        "classic_share": ("int | None", ""),
        "drop_overload": ("bool | None", ""),
        "packet": ("str | None", "1514 B"),
    }

    def __init__(self, kind: str, **keys: Unpack[Dualpi2QueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class FqQueue(Part):
    """FQ (Linux, sch_fq without pacing): fair queueing of flows; new flows are served first.

    - `kind` (`"fq"`): Queue discipline.
    - `quantum` (such as `"3028 B"`): Bytes that a flow may send per round. Default: 3028 B. Source: Linux:
      two MTUs with the Ethernet header.
    - `initial_quantum` (such as `"15140 B"`): Bytes that a flow may send in its first round. Default: 15140
      B. Source: Linux: ten MTUs with the Ethernet header.
    - `flow_limit` (whole number): Packets that may wait per flow, within the limit of the queue. Default:
      100. Source: Linux: 100.
    - `refill_delay` (such as `"40 ms"`): A flow that had no packet for longer has at least a quantum at its
      next packet. Default: 40 ms. Source: Linux: 40 ms.
    """

    KEYS: ClassVar = {
        "kind": ("str", "fq"),
        "quantum": ("str | None", "3028 B"),
        "initial_quantum": ("str | None", "15140 B"),
        "flow_limit": ("int | None", ""),
        "refill_delay": ("str | None", "40 ms"),
    }

    def __init__(self, kind: str, **keys: Unpack[FqQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class FqCodelQueue(Part):
    """FQ-CoDel (RFC 8290): fair queueing of flows, with CoDel for each; new flows are served first.

    - `kind` (`"fq_codel"`): Queue discipline.
    - `target` (such as `"5 ms"`): TARGET of CoDel, the acceptable standing queueing delay. Default: 5 ms.
      Source: RFC8290 §5.2; Linux: 5 ms.
    - `interval` (such as `"100 ms"`): INTERVAL of CoDel, about the maximum usual round-trip time. Default:
      100 ms. Source: RFC8290 §5.2; Linux: 100 ms.
    - `flows` (whole number): Queues to which flows are hashed. Default: 1024. Source: RFC8290 §5.2; Linux:
      1024.
    - `quantum` (such as `"1514 B"`): Bytes that a queue may send per round. Default: 1514 B. Source: RFC8290
      §5.2; Linux: the MTU with the Ethernet header.
    - `drop_batch` (whole number): When the limit is exceeded: the largest number of packets to drop at once.
      At most half of the bytes of the longest queue are dropped. Default: 64. Source: RFC8290 §4.1; Linux:
      64.
    - `mark` (true or false): Mark ECT packets instead of dropping them. Default: true. Source: RFC8290 §5.2;
      Linux: true.
    - `like` (`rfc`, `linux`): Whose details of CoDel apply where RFC 8289 and Linux differ. Default: rfc.
      Source: our choice: the specification.
    """

    KEYS: ClassVar = {
        "kind": ("str", "fq_codel"),
        "target": ("str | None", "5 ms"),
        "interval": ("str | None", "100 ms"),
        "flows": ("int | None", ""),
        "quantum": ("str | None", "1514 B"),
        "drop_batch": ("int | None", ""),
        "mark": ("bool | None", ""),
        "like": ("str | None", "rfc"),
    }

    def __init__(self, kind: str, **keys: Unpack[FqCodelQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class PieQueue(Part):
    """PIE (RFC 8033): drops or marks packets with a probability that follows the queueing delay and its trend.

    - `kind` (`"pie"`): Queue discipline.
    - `target` (such as `"15 ms"`): QDELAY_REF, the queueing delay at which the controller aims. Default: 15
      ms. Source: RFC8033 §4.2; Linux: 15 ms.
    - `t_update` (such as `"15 ms"`): T_UPDATE, the time between updates of the probability; `alpha` and
      `beta` are for this one. Default: 15 ms. Source: RFC8033 §4.2; Linux: 15 ms in whole ticks.
    - `alpha` (number): α: increase of the probability per update and second of delay above `target`. Default:
      0.125. Source: RFC8033 §4.2; Linux: 2/16.
    - `beta` (number): β: increase of the probability per update and second by which the delay has grown since
      the last one. Default: 1.25. Source: RFC8033 §4.2; Linux: 20/16.
    - `max_burst` (such as `"150 ms"`): MAX_BURST: how long a queue that builds up is not dropped from.
      Default: 150 ms. Source: RFC8033 §4.4; Linux: 150 ms.
    - `estimator` (`timestamps`, `dequeue_rate`): How the queueing delay is known. Default: timestamps.
      Source: RFC8033 appendix A and Linux; dequeue_rate: RFC8033 §5.2.
    - `mark` (true or false): Mark ECT packets instead of dropping them, as long as the probability is below
      `mark_below`. Default: true. Source: RFC8033 §5.1; Linux: false.
    - `mark_below` (number): mark_ecnth: probability from which ECT packets are dropped, too. Default: 0.1.
      Source: RFC8033 §5.1; Linux: 0.1.
    - `packet` (such as `"1514 B"`): MEAN_PKTSIZE: a backlog of two such packets is not dropped from. Default:
      1514 B. Source: Linux: the MTU with the Ethernet header; RFC8033 §4.1 has no number.
    - `like` (`rfc`, `linux`): Whose details apply where RFC 8033 and Linux differ. Default: rfc. Source: our
      choice: the specification.
    """

    KEYS: ClassVar = {
        "kind": ("str", "pie"),
        "target": ("str | None", "15 ms"),
        "t_update": ("str | None", "15 ms"),
        "alpha": ("float | None", ""),
        "beta": ("float | None", ""),
        "max_burst": ("str | None", "150 ms"),
        "estimator": ("str | None", "timestamps"),
        "mark": ("bool | None", ""),
        "mark_below": ("float | None", ""),
        "packet": ("str | None", "1514 B"),
        "like": ("str | None", "rfc"),
    }

    def __init__(self, kind: str, **keys: Unpack[PieQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})


class RedQueue(Part):
    """RED (Floyd and Jacobson, 1993): drops or marks packets with a probability that grows with the average queue length.

    - `kind` (`"red"`): Queue discipline.
    - `min_th` (number): Average queue length, in packets, below which nothing is dropped. Default: 5. Source:
      FJ93 §5.
    - `max_th` (number): Average queue length, in packets, at which the probability reaches `max_p`. Default:
      15. Source: FJ93 §5.
    - `max_p` (number): Probability of a drop at `max_th`. Default: 0.02. Source: FJ93 §5.
    - `weight` (number): w_q, the weight of the current queue length in the average, per arriving packet.
      Default: 0.002. Source: FJ93 §5.
    - `gentle` (true or false): From `max_th` to twice that the probability grows from `max_p` to 1; false:
      there it is 1 at once. Default: true. Source: F00; false in FJ93.
    - `unit` (`packets`, `bytes`): What the queue is measured in; with bytes, packets are dropped in
      proportion to their size. Default: packets. Source: FJ93 §4.
    - `packet` (such as `"500 B"`): Mean packet size: the packet of the thresholds where the unit is bytes,
      and of those that an idle link could have sent. Default: 500 B. Source: ns-2: mean_pktsize_.
    - `mark` (true or false): Mark ECT packets instead of dropping them, as long as the probability is below
      1. Default: true. Source: FJ93 §4.
    - `adaptive` (true or false): Adapt `max_p` each 0.5 s, so that the average stays near the middle between
      the thresholds; `max_p` is the first value. Default: false. Source: FGS01 §4; Linux: the flag
      adaptative.
    """

    KEYS: ClassVar = {
        "kind": ("str", "red"),
        "min_th": ("float | None", ""),
        "max_th": ("float | None", ""),
        "max_p": ("float | None", ""),
        "weight": ("float | None", ""),
        "gentle": ("bool | None", ""),
        "unit": ("str | None", "packets"),
        "packet": ("str | None", "500 B"),
        "mark": ("bool | None", ""),
        "adaptive": ("bool | None", ""),
    }

    def __init__(self, kind: str, **keys: Unpack[RedQueueKeys]) -> None:
        super().__init__({"kind": kind, **keys})
