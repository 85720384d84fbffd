"""Simulated queues against closed forms: waits of M/D/1, M/M/1 and M/G/1, Little's law, losses, tandem queues.

Sources with Poisson arrivals feed one link with a deep FIFO buffer. Every closed form is written here, for arrivals at rate
lambda, mean service time s, load rho = lambda s and second moment m2 of the service time (Kleinrock, Queueing Systems I).
"""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy
import pytest

import thalweg as tw
from thalweg import Result

RATE = 10e6
"""Rate of the link in bit/s."""

PACKETS = 4_000_000
"""Packets per run: the mean wait at a load of 0.7 is then within 0.3 % (one standard deviation)."""


def queue(sizes: Sequence[int], shares: Sequence[float], load: float, *, packets: int = PACKETS) -> Result:
    """One link, and a Poisson source for each packet size. `shares` are the shares of all packets.

    Independent Poisson processes together are one Poisson process whose packets have independent sizes.
    """
    mean = math.fsum(size * share for size, share in zip(sizes, shares, strict=True))
    rate = load * RATE / (8 * mean)
    flows = [
        {
            "name": f"size{size}",
            "from": "a",
            "to": "b",
            "packet": f"{size} B",
            "source": {"kind": "poisson", "rate": f"{rate * share * 8 * size:.9f} bit/s"},
        }
        for size, share in zip(sizes, shares, strict=True)
    ]
    link = {
        "name": "link",
        "ends": ["a", "b"],
        "rate": f"{RATE:.0f} bit/s",
        "delay": "1 ms",
        "buffer": "1000000 packets",
    }
    span = packets / rate
    return tw.Scenario.from_tree(
        {
            "duration": f"{1.1 * span:.3f} s",
            "warmup": f"{0.1 * span:.3f} s",
            "topology": {"kind": "custom", "links": [link]},
            "flows": flows,
            "record": {"distributions": True},
        }
    ).run()


def service(sizes: Sequence[int], shares: Sequence[float], moment: int) -> float:
    """A moment of the service time."""
    return math.fsum(share * (8 * size / RATE) ** moment for size, share in zip(sizes, shares, strict=True))


def wait_m_g_1(arrivals: float, mean: float, second: float) -> float:
    """Mean wait of M/G/1 (Pollaczek and Khinchine): lambda m2 / (2 (1 - rho))."""
    return arrivals * second / (2 * (1 - arrivals * mean))


def wait_m_d_1(load: float, mean: float) -> float:
    """Mean wait of M/D/1: rho s / (2 (1 - rho))."""
    return load * mean / (2 * (1 - load))


def wait_m_m_1(load: float, mean: float) -> float:
    """Mean wait of M/M/1: rho s / (1 - rho)."""
    return load * mean / (1 - load)


def distribution_m_d_1(load: float, waits: float) -> float:
    """P(wait <= `waits` service times) of M/D/1 (Erlang 1909; Crommelin 1932)."""
    whole = math.floor(waits)
    terms = [
        (-load * (waits - k)) ** k / math.factorial(k) * math.exp(load * (waits - k))
        for k in range(whole + 1)
    ]
    return (1 - load) * math.fsum(terms)


def exponential_sizes(mean: int) -> tuple[list[int], list[float]]:
    """Sizes and shares whose first moments equal those in an exponential distribution (Gauss-Laguerre quadrature)."""
    nodes, weights = numpy.polynomial.laguerre.laggauss(9)
    kept = [(round(mean * x), w) for x, w in zip(nodes, weights, strict=True) if w > 1e-7]
    whole = math.fsum(w for _, w in kept)
    return [size for size, _ in kept], [w / whole for _, w in kept]


def assert_waits(result: Result, mean_wait: float) -> None:
    """The wait at the link and of each packet of the flows is `mean_wait`, and Little's law holds."""
    link = result.links.row(0, named=True)
    assert link["drops"] == 0
    assert link["queue_s"] == pytest.approx(mean_wait, rel=0.01)
    departures = link["sent_packets"] / result["run.measured"]
    assert link["queue_packets"] == pytest.approx(departures * link["queue_s"], rel=1e-9)
    assert link["queue_packets"] == pytest.approx(departures * mean_wait, rel=0.01)
    flows = result.flows
    packets = flows["arrived_packets"].to_numpy()
    waits = flows["queueing_delay_s"].to_numpy()
    # arrivals of a Poisson process see time averages: packets of every size wait equally long
    assert float(numpy.average(waits, weights=packets)) == pytest.approx(mean_wait, rel=0.01)
    assert result["flows.queueing_delay"] == pytest.approx(
        float(numpy.average(waits, weights=packets)), rel=1e-9
    )


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_m_d_1(load: float) -> None:
    size = 1250
    result = queue([size], [1.0], load)
    mean = service([size], [1.0], 1)
    assert_waits(result, wait_m_d_1(load, mean))
    assert result["link.link.utilisation"] == pytest.approx(load, rel=0.005)
    link = result.links.row(0, named=True)
    for name, share in (("queue_p50_s", 0.5), ("queue_p95_s", 0.95), ("queue_p99_s", 0.99)):
        if share <= 1 - load:
            assert link[name] <= 1.1e-6
            continue
        # the share of packets that wait at most as long as printed
        assert distribution_m_d_1(load, link[name] / mean) == pytest.approx(share, abs=0.004)


@pytest.mark.parametrize("load", [0.3, 0.5, 0.7])
def test_m_m_1(load: float) -> None:
    sizes, shares = exponential_sizes(1000)
    mean, second = service(sizes, shares, 1), service(sizes, shares, 2)
    assert second == pytest.approx(2 * mean**2, rel=1e-3)
    assert_waits(queue(sizes, shares, load), wait_m_m_1(load, mean))


@pytest.mark.parametrize(
    ("sizes", "shares"),
    [([64, 1500], [0.5, 0.5]), ([100, 600, 9000], [0.7, 0.28, 0.02])],
    ids=["bimodal", "jumbo"],
)
@pytest.mark.parametrize("load", [0.4, 0.7])
def test_m_g_1(sizes: list[int], shares: list[float], load: float) -> None:
    mean, second = service(sizes, shares, 1), service(sizes, shares, 2)
    assert_waits(queue(sizes, shares, load), wait_m_g_1(load / mean, mean, second))


def test_packets_of_one_size_wait_in_the_first_of_two_equal_queues_only() -> None:
    size, load = 1250, 0.6
    link = {"rate": f"{RATE:.0f} bit/s", "delay": "3 ms", "buffer": "1000000 packets"}
    result = tw.Scenario.from_tree(
        {
            "duration": "2200 s",
            "warmup": "200 s",
            "topology": {
                "kind": "custom",
                "links": [
                    {"name": "first", "ends": ["a", "b"], **link},
                    {"name": "second", "ends": ["b", "c"], **link},
                ],
            },
            "flows": [
                {
                    "name": "flow",
                    "from": "a",
                    "to": "c",
                    "packet": f"{size} B",
                    "source": {"kind": "poisson", "rate": f"{load * RATE:.0f} bit/s"},
                }
            ],
        }
    ).run()
    mean = 8 * size / RATE
    wait = wait_m_d_1(load, mean)
    assert result["link.first.queue"] == pytest.approx(wait, rel=0.01)
    assert result["link.second.queue"] == 0
    assert result["flow.flow.queueing_delay"] == pytest.approx(wait, rel=0.01)
    # two propagation delays and two transmissions
    assert result["flow.flow.base_delay"] == pytest.approx(2 * 0.003 + 2 * mean, rel=1e-9)


def test_a_queue_that_never_empties_has_the_wait_of_its_packets() -> None:
    """Eleven packets in flight for a path of one: the queue holds ten of them, which arrive one per transmission."""
    result = tw.Scenario.from_tree(
        {
            "duration": "30 s",
            "warmup": "10 s",
            "topology": {
                "kind": "custom",
                "links": [
                    {
                        "name": "link",
                        "ends": ["a", "b"],
                        "rate": "1 Mbit/s",
                        "delay": "0 s",
                        "buffer": "100 packets",
                    }
                ],
            },
            "flows": [
                {
                    "name": "flow",
                    "from": "a",
                    "to": "b",
                    "packet": "1000 B",
                    "source": {"kind": "constant", "rate": "1 Mbit/s"},
                },
                {
                    "name": "start",
                    "from": "a",
                    "to": "b",
                    "packet": "1000 B",
                    "stop": "90 ms",
                    "source": {"kind": "constant", "rate": "1 Mbit/s"},
                },
            ],
        }
    ).run()
    held = result["link.link.queue_packets"]
    assert held is not None
    assert held >= 10
    assert result["flow.flow.queueing_delay"] == pytest.approx(result["link.link.queue"], rel=1e-3)
    assert result["flow.flow.base_delay"] == pytest.approx(8e-3, rel=1e-9)


@pytest.mark.parametrize("loss", [0.01, 0.2])
def test_random_loss_is_binomial(loss: float) -> None:
    result = tw.Scenario.from_tree(
        {
            "duration": "1000 s",
            "topology": {
                "kind": "custom",
                "links": [
                    {"name": "link", "ends": ["a", "b"], "rate": "10 Mbit/s", "delay": "1 ms", "loss": loss}
                ],
            },
            "flows": [
                {
                    "name": "flow",
                    "from": "a",
                    "to": "b",
                    "packet": "1000 B",
                    "source": {"kind": "constant", "rate": "5 Mbit/s"},
                }
            ],
        }
    ).run()
    sent = result["flow.flow.sent_packets"]
    assert sent is not None
    error = math.sqrt(loss * (1 - loss) / sent)
    assert result["flow.flow.loss_ratio"] == pytest.approx(loss, abs=4 * error)
    assert result["link.link.loss_ratio"] == pytest.approx(loss, abs=4 * error)
