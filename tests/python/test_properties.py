"""What holds of every run, whatever the scenario. The core checks by itself that no packet is lost without a reason."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import thalweg as tw

MOMENTS = st.integers(0, 4000).map(lambda ms: f"{ms} ms")
RATES = st.integers(100, 20_000).map(lambda kbps: f"{kbps} kbit/s")
LINKS = st.fixed_dictionaries(
    {
        "rate": RATES,
        "delay": st.integers(0, 50).map(lambda ms: f"{ms} ms"),
        "loss": st.sampled_from([0.0, 0.01, 0.3]),
        "buffer": st.sampled_from(["1 packets", "7 packets", "30 packets"]),
    }
)
FLOWS = st.lists(
    st.one_of(
        st.fixed_dictionaries(
            {"scheme": st.sampled_from(["reno", "cubic", "aimd"])},
            optional={
                "size": st.just("50 kB"),
                "start": MOMENTS,
                "tcp": st.fixed_dictionaries({"sack": st.booleans()}),
            },
        ),
        st.fixed_dictionaries(
            {"scheme": st.just("mca"), "multicast": st.just(True)},
            optional={"churn": st.just({"on": "1 s", "off": "1 s"})},
        ),
        st.fixed_dictionaries({"source": st.fixed_dictionaries({"kind": st.just("poisson"), "rate": RATES})}),
    ),
    min_size=1,
    max_size=4,
)
EVENTS = st.lists(
    st.one_of(
        st.fixed_dictionaries({"at": MOMENTS, "link": st.just("bottleneck"), "rate": RATES}),
        st.fixed_dictionaries({"at": MOMENTS, "link": st.just("bottleneck"), "up": st.booleans()}),
    ),
    max_size=3,
)


@pytest.mark.filterwarnings(
    "ignore::thalweg.errors.ScenarioWarning"
)  # random events change what is so already
@settings(max_examples=60, deadline=None)
@given(st.integers(0, 2**32), LINKS, FLOWS, EVENTS)
def test_invariants_hold_for_every_run(seed, bottleneck, flows, events):
    scenario = tw.Scenario(
        seed=seed,
        duration="5 s",
        warmup="1 s",
        topology=tw.Dumbbell(edge=tw.Link(rate="1 Gbit/s", delay="1 ms"), bottleneck=bottleneck),
        flows=[{"name": f"f{number}", **flow} for number, flow in enumerate(flows)],
        events=events,
        record=tw.Record(every="250 ms", series=["rate", "backlog", "utilisation"], events=True),
    )
    result = scenario.run()
    assert result.complete
    assert result.trace_hash == tw.Scenario.from_toml(result.plan_toml).run().trace_hash
    packets = int(bottleneck["buffer"].split()[0])
    for row in result.links.to_dicts():
        assert row["utilisation"] is None or 0 <= row["utilisation"] <= 1.0001
        assert row["loss_ratio"] is None or 0 <= row["loss_ratio"] <= 1
        if row["link"] == "bottleneck":
            assert 0 <= row["queue_packets"] <= row["queue_max_packets"] <= packets
    for row in result.flows.to_dicts():
        assert row["active_s"] <= 4
        assert 0 <= (row["loss_ratio"] or 0) <= 1
        for low, high in (("owd_min_s", "owd_s"), ("owd_s", "owd_max_s"), ("rtt_min_s", "rtt_s")):
            assert row[low] is None or row[low] <= row[high] * (1 + 1e-12)
        assert (row["queueing_delay_s"] or 0) >= 0
    for column in (result.series["time_s"], result.events["time_s"]):
        assert column.is_between(0, 5).all()
    assert result.events["time_s"].is_sorted()
    assert not result.series["value"].is_nan().any()


@pytest.mark.parametrize("sack", [True, False], ids=["sack", "no sack"])
@pytest.mark.parametrize("scheme", ["htcp", "hybla", "vegas", "veno", "westwood"])
def test_a_module_of_linux_over_the_tcp_of_the_rfcs_has_no_series_of_timeouts(scheme, sack):
    """Bursts overflow a queue of two packets, and after a timeout one acknowledgement covers most of the flight.

    What it covers was delivered before, and does not count towards growth again; it did, and the next burst was lost.
    """
    scenario = tw.Scenario(
        duration="20 s",
        warmup="2 s",
        topology=tw.Dumbbell(
            edge=tw.Link(rate="100 Mbit/s", delay="1 ms"),
            bottleneck=tw.Link(rate="2.5 Mbit/s", delay="3 ms", buffer="2 packets"),
        ),
        flows=[{"name": "x", "scheme": scheme, "tcp": {"sack": sack}}],
    )
    result = scenario.run()
    assert result.flows.row(0, named=True)["timeouts"] <= 1
    assert result.values["link.bottleneck.utilisation"] >= 0.85
