"""Random scenarios of every kind: networks, disciplines, impairments, schemes, events, groups, named data, controllers.

`scenarios()` gives trees of keys that the loader takes. They are small: seconds of simulated time, links of a few Mbit/s.
"""

from __future__ import annotations

from typing import Any

from hypothesis import strategies as st

Tree = dict[str, Any]

SERIES = (
    *("rate", "throughput", "goodput", "owd", "queueing_delay"),
    *("backlog", "backlog_bytes", "utilisation", "drops", "queue_marks"),
)
"""The series that any run offers: all are recomputed."""

DURATION_MS = 3000

TCP = (
    *("aimd", "bbr", "bbr3", "bic", "copa", "cubic", "dctcp", "highspeed", "htcp", "hybla", "illinois"),
    *("ledbat", "ledbat_pp", "prague", "reno", "scalable", "tcp_lp", "vegas", "veno", "westwood", "yeah"),
)
STREAMS = ("cvihis", "gcc", "nada", "scream", "tfrc", "mca", "pgmcc", "tfmcc", "asmp")
GROUPS = ("mca", "pgmcc", "tfmcc", "asmp")
NAMED_GROUPS = ("perif_ecn", "srmcc", "pgmcc", "tfmcc", "asmp")
CONSUMERS = (
    *("aimd", "bic", "cubic", "reno", "cctcp", "cubic_ndn", "icp", "ndnsieve"),
    *("chopcop", "ecp", "his", "hobhis", "hr_icp", "mircc", "pcon", "raaqm", "ecn_rate", "flecom", "coopcon"),
    *("mircc_multipath", "nack"),
)
LINK_PARTS = {
    *("cctcp", "chopcop", "coopcon", "cubic_ndn", "ecn_rate", "ecp", "flecom", "his", "hobhis"),
    *("hr_icp", "mircc", "mircc_multipath", "ndnsieve", "pcon", "raaqm"),
}
STRATEGIES = ("best_route", "multicast", "weighted", "asf")
OWN_STRATEGY = {"coopcon", "ecn_rate", "flecom", "mircc_multipath", "nack", "pcon", "raaqm"}

moments = st.integers(0, DURATION_MS).map(lambda ms: f"{ms} ms")
early = st.integers(0, DURATION_MS // 2).map(lambda ms: f"{ms} ms")
delays = st.integers(0, 40).map(lambda ms: f"{ms} ms")
rates = st.integers(300, 8000).map(lambda kbps: f"{kbps} kbit/s")
losses = st.sampled_from([0.0, 0.0, 0.01, 0.1])

queues = st.one_of(
    st.sampled_from(["fifo", "fifo", "cake", "codel", "dualpi2", "fq", "fq_codel", "pie", "pfifo_head_drop"]),
    st.fixed_dictionaries(
        {"kind": st.just("red"), "min_th": st.just(3), "max_th": st.just(9), "adaptive": st.booleans()}
    ),
)

impairments = st.fixed_dictionaries(
    {},
    optional={
        "bursts": st.just({"to_bad": 0.02, "to_good": 0.4, "loss_in_bad": 0.7}),
        "duplicate": st.just(0.05),
        "corrupt": st.just(0.03),
        "jitter": st.just("1 ms"),
        "reorder": st.just(0.05),
        "release_every": st.just("7 ms"),
    },
)


@st.composite
def links(draw: st.DrawFn, *, plain: bool = False) -> Tree:
    """A link without its ends."""
    link: Tree = {"delay": draw(st.integers(1, 40).map(lambda ms: f"{ms} ms"))}
    shape = draw(st.integers(0, 9))
    if shape == 0 and not plain:
        link["trace"] = draw(st.sampled_from(["lte_driving", "wifi_crowded", "leo"]))
    else:
        link["rate"] = draw(rates)
    link["buffer"] = draw(st.sampled_from(["1 packets", "5 packets", "30 packets", "200 packets", "1 bdp"]))
    link["loss"] = draw(losses)
    if plain:
        return link
    if draw(st.integers(0, 3)) == 0:
        link["impair"] = draw(impairments)
    special = draw(st.integers(0, 11))
    if special == 0 and "trace" not in link:
        link["shaper"] = {"rate": draw(rates), "burst": "20 kB"}
    elif special == 1:
        link["policer"] = {"rate": draw(rates), "burst": "15 kB"}
    elif special == 2:
        link["classes"] = [1, 3]
    elif special == 3:
        link["mark_above"] = draw(st.integers(1, 6))
    elif special > 5:
        link["queue"] = draw(queues)
    if draw(st.integers(0, 3)) == 0 and "trace" not in link and "shaper" not in link:
        link["backward"] = {"rate": draw(rates), "loss": draw(losses)}
    return link


@st.composite
def networks(draw: st.DrawFn, *, plain: bool = False) -> tuple[Tree, list[str], list[str]]:
    """A topology, its hosts, and the names of its links."""
    routers = [f"r{number}" for number in range(1, draw(st.integers(1, 4)) + 1)]
    hosts = [f"h{number}" for number in range(1, draw(st.integers(2, 5)) + 1)]
    ends: list[tuple[str, str]] = []
    for place, router in enumerate(routers[1:], start=1):
        ends.append((routers[draw(st.integers(0, place - 1))], router))
    if len(routers) > 2 and draw(st.booleans()):
        extra = (routers[0], routers[-1])
        if extra not in ends:
            ends.append(extra)
    for place, host in enumerate(hosts):
        ends.append((host, routers[draw(st.integers(0, len(routers) - 1))] if place > 1 else routers[-place]))
    listed = []
    for number, pair in enumerate(ends, start=1):
        link = draw(links(plain=plain))
        listed.append({"name": f"l{number}", "ends": list(pair), **link})
    return (
        {"kind": "custom", "links": listed},
        hosts,
        [link["name"] for link in listed if "trace" not in link],
    )


@st.composite
def generated(draw: st.DrawFn) -> tuple[Tree, list[str], list[str]]:
    """A topology of a generator, its hosts, and names of links that events can change."""
    kind = draw(st.sampled_from(["dumbbell", "parking_lot", "star", "chain", "tree", "leaf_spine"]))
    link = draw(links())
    topology: Tree = {"kind": kind}
    if kind == "dumbbell":
        topology |= {"pairs": 2, "bottleneck": link}
        hosts, names = ["left1", "right1", "left2", "right2"], ["bottleneck"]
    elif kind == "parking_lot":
        topology |= {"hops": 2, "bottleneck": link}
        hosts, names = ["left", "right", "in1", "out1", "in2", "out2"], ["hop1", "hop2"]
    elif kind == "star":
        topology |= {"leaves": 4, "link": link}
        hosts = names = ["leaf1", "leaf2", "leaf3", "leaf4"]
    elif kind == "chain":
        topology |= {"hops": 3, "link": link}
        hosts, names = ["node1", "node4", "node2"], ["link1", "link2", "link3"]
    elif kind == "tree":
        topology |= {"arity": 2, "depth": 2, "link": link}
        hosts, names = ["leaf1", "leaf4", "leaf2", "leaf3"], ["inner1", "leaf4"]
    else:
        topology |= {"spines": 2, "leaves": 2, "hosts": 2, "link": link}
        hosts, names = ["host1", "host4", "host2", "host3"], ["spine1-leaf1", "spine2-leaf2"]
    return topology, hosts, [] if "trace" in link else names


@st.composite
def any_network(draw: st.DrawFn) -> tuple[Tree, list[str], list[str]]:
    """A topology of links that are listed, or of a generator."""
    return draw(generated() if draw(st.integers(0, 3)) == 0 else networks())


@st.composite
def churn(draw: st.DrawFn) -> Tree:
    """Random on and off periods."""
    return {"on": draw(st.sampled_from(["400 ms", "1 s"])), "off": "300 ms"}


@st.composite
def tcp_flows(draw: st.DrawFn) -> Tree:
    """A flow over TCP."""
    flow: Tree = {"scheme": draw(st.sampled_from(TCP))}
    kind = draw(st.integers(0, 9))
    if kind == 8:
        objects = [{"size": "9 kB"}, {"size": "30 kB", "after": [1]}, {"size": "4 kB", "after": [1, 2]}]
        flow["app"] = {"kind": "page", "objects": objects, "connections": 3, "think": "200 ms"}
    elif kind == 9:
        flow |= {"app": {"kind": "incast", "size": "12 kB"}, "count": 3}
    elif kind == 0:
        flow["arrivals"] = {"rate": 4.0, "size": "15 kB", "size_shape": 1.4}
    elif kind == 1:
        flow["app"] = {"kind": "requests", "size": "20 kB", "think": "100 ms"}
    elif kind == 2:
        flow["rate"] = draw(rates)
    elif kind < 5:
        flow["size"] = draw(st.sampled_from(["1 B", "1460 B", "40 kB", "200 kB"]))
    if draw(st.integers(0, 2)) == 0:
        flow["tcp"] = draw(
            st.fixed_dictionaries(
                {},
                optional={
                    "like": st.just("linux"),
                    "sack": st.booleans(),
                    "delayed_ack": st.booleans(),
                    "handshake": st.booleans(),
                    "ecn": st.booleans(),
                },
            )
        )
    if 1 < kind < 8 and draw(st.integers(0, 4)) == 0:
        flow["count"] = 2
        flow["start_spread"] = "100 ms"
    return flow


@st.composite
def stream_flows(draw: st.DrawFn) -> Tree:
    """A flow of a stream: data at the rate of a scheme, video, or a call."""
    flow: Tree = {"scheme": draw(st.sampled_from(STREAMS))}
    kind = draw(st.integers(0, 5))
    if kind == 0:
        flow["scheme"] = draw(st.sampled_from(["gcc", "nada", "scream"]))
        flow["encoder"] = {"max": "1 Mbit/s", "drop_after": "300 ms"}
    elif kind == 1:
        flow["source"] = {"kind": "frames", "rate": "600 kbit/s", "variation": 0.2}
        flow["player"] = {"startup": "300 ms", "late": draw(st.sampled_from(["wait", "skip"]))}
    return flow


@st.composite
def sources(draw: st.DrawFn) -> Tree:
    """A flow of datagrams without congestion control."""
    kind = draw(st.sampled_from(["constant", "poisson", "on_off"]))
    source: Tree = {"kind": kind, "rate": draw(rates)}
    if kind == "on_off":
        source |= {"on": "100 ms", "off": "200 ms"}
    return {"source": source, "packet": draw(st.sampled_from(["100 B", "1000 B", "1500 B"]))}


@st.composite
def unicast(draw: st.DrawFn, hosts: list[str]) -> Tree:
    """Any flow between two hosts."""
    ends = draw(st.permutations(hosts))[:2]
    flow = draw(st.one_of(tcp_flows(), tcp_flows(), stream_flows(), sources()))
    flow |= {"from": ends[0], "to": ends[1]}
    if draw(st.booleans()):
        flow["start"] = draw(early)
    if draw(st.integers(0, 3)) == 0:
        flow["stop"] = draw(st.integers(DURATION_MS // 2 + 1, DURATION_MS).map(lambda ms: f"{ms} ms"))
    elif "arrivals" not in flow and "app" not in flow and "size" not in flow and draw(st.integers(0, 7)) == 0:
        flow["churn"] = draw(churn())
    return flow


@st.composite
def groups(draw: st.DrawFn, hosts: list[str], *, named: bool = False) -> Tree:
    """A multicast flow, by address or by name."""
    source, *members = draw(st.permutations(hosts))
    members = members[: draw(st.integers(1, len(members)))]
    schemes = NAMED_GROUPS if named else GROUPS
    flow: Tree = {"scheme": draw(st.sampled_from(schemes)), "from": source}
    listed: list[Any] = []
    for member in members:
        if draw(st.integers(0, 2)) == 0:
            listed.append({"node": member, "start": draw(early)})
        else:
            listed.append(member)
    flow["to"] = listed
    if named:
        flow["network"] = "icn"
    else:
        flow["multicast"] = True
    # a receiver that has left a group by name still takes what is on its way, which its scheme does not count
    if not named and draw(st.integers(0, 3)) == 0:
        flow["receivers"] = {"churn": draw(churn())}
    return flow


@st.composite
def events(draw: st.DrawFn, names: list[str], flows: list[str]) -> list[Tree]:
    """Changes of links, starts and stops."""
    listed = []
    for _ in range(draw(st.integers(0, 3))):
        at = draw(moments)
        kind = draw(st.integers(0, 4))
        if kind == 4 and flows:
            action = draw(st.sampled_from(["start", "stop"]))
            listed.append({"at": at, "flow": draw(st.sampled_from(flows)), "action": action})
        elif names:
            change = (
                {"rate": draw(rates)},
                {"delay": draw(delays)},
                {"loss": draw(losses)},
                {"up": draw(st.booleans())},
            )[kind % 4]
            listed.append({"at": at, "link": draw(st.sampled_from(names)), **change})
    return listed


@st.composite
def by_address(draw: st.DrawFn) -> Tree:
    """A network that forwards by address."""
    topology, hosts, names = draw(any_network())
    flows = [{"name": f"f{number}", **draw(unicast(hosts))} for number in range(draw(st.integers(1, 4)))]
    for number in range(draw(st.sampled_from([0, 0, 1, 2]))):
        flows.append({"name": f"g{number}", **draw(groups(hosts))})
    tree: Tree = {"topology": topology, "flows": flows}
    single = [
        flow["name"]
        for flow in flows
        if not {"arrivals", "app", "churn", "size", "count", "receivers"} & flow.keys()
    ]
    tree["events"] = draw(events(names, single))
    if draw(st.integers(0, 4)) == 0:
        tree["clocks"] = [{"node": hosts[0], "offset": "3 ms", "drift": "80 ppm"}]
    return tree


@st.composite
def by_group_name(draw: st.DrawFn) -> Tree:
    """A network that routes groups by name."""
    topology, hosts, names = draw(networks(plain=True))
    flows = [
        {"name": f"g{number}", **draw(groups(hosts, named=True))} for number in range(draw(st.integers(1, 2)))
    ]
    if draw(st.booleans()):
        flows.append({"name": "f", **draw(tcp_flows()), "from": hosts[0], "to": hosts[1]})
    tree: Tree = {"topology": topology, "flows": flows, "icn": {"routers": ["r*"], "refresh": "700 ms"}}
    tree["events"] = draw(events(names, []))
    if draw(st.integers(0, 3)) == 0:
        tree["events"].append({"at": draw(moments), "node": "r1", "action": "reset"})
    return tree


@st.composite
def by_data_name(draw: st.DrawFn) -> Tree:
    """Named data."""
    topology, hosts, names = draw(any_network())
    scheme = draw(st.sampled_from(CONSUMERS))
    ndn: Tree = {}
    if scheme in OWN_STRATEGY:
        ndn["strategy"] = scheme
    else:
        ndn["strategy"] = draw(st.sampled_from(STRATEGIES))
    if scheme in LINK_PARTS:
        ndn["link"] = scheme
    if draw(st.booleans()):
        ndn["store"] = {
            "size": draw(st.sampled_from([5, 100])),
            "policy": draw(st.sampled_from(["lru", "fifo"])),
        }
    if draw(st.integers(0, 3)) == 0:
        ndn["lifetime"] = "300 ms"
    producers = [{"prefix": "/a", "node": hosts[0]}]
    if len(hosts) > 3 and draw(st.booleans()):
        producers.append({"prefix": "/a", "node": hosts[1], "delay": "2 ms"})
    flows = []
    for number in range(draw(st.integers(1, 3))):
        flow: Tree = {
            "name": f"c{number}",
            "network": "ndn",
            "from": draw(st.sampled_from(hosts[1:])),
            "prefix": "/a",
        }
        kind = draw(st.integers(0, 4))
        if kind == 0:
            flow["source"] = {"kind": draw(st.sampled_from(["constant", "poisson"])), "interests": 120}
        else:
            flow["scheme"] = scheme
            if kind == 1:
                flow["size"] = "60 kB"
        if kind == 2:
            flow["consumer"] = {"pattern": "zipf", "contents": 50}
        if draw(st.booleans()):
            flow["start"] = draw(early)
        flows.append(flow)
    return {
        "topology": topology,
        "flows": flows,
        "ndn": ndn,
        "producers": producers,
        "events": draw(events(names, [])),
    }


@st.composite
def with_a_controller(draw: st.DrawFn) -> Tree:
    """Named data whose forwarders report to an SDN controller."""
    tree = draw(by_data_name())
    for flow in tree["flows"]:
        if "scheme" in flow:
            flow["scheme"] = "ndnsieve"
    tree["ndn"] = {"link": "ndnsieve"}
    tree["sdn"] = {"app": draw(st.sampled_from(["ndnsieve", "least_loaded"])), "period": "200 ms"}
    return tree


@st.composite
def scenarios(draw: st.DrawFn) -> Tree:
    """Any scenario."""
    kind = draw(st.integers(0, 19))
    if kind < 12:
        tree = draw(by_address())
    elif kind < 14:
        tree = draw(by_group_name())
    elif kind < 19:
        tree = draw(by_data_name())
    else:
        tree = draw(with_a_controller())
    tree["seed"] = draw(st.integers(0, 2**32))
    tree["duration"] = f"{DURATION_MS} ms"
    tree["warmup"] = draw(st.sampled_from(["0 s", "500 ms", "1001 ms", "333333333 ns"]))
    every = draw(st.sampled_from(["100 ms", "100 ms", "250 ms", "300 ms", "1 s"]))
    record: Tree = {"every": every, "series": [*SERIES, "fairness"]}
    record["distributions"] = draw(st.booleans())
    tree["record"] = record
    return tree
