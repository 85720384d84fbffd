//! The tables of a scenario file, key by key. Module `resolve` checks their combinations.

use std::sync::Arc;

use units::{Bytes, Drift, Duration, Offset, Rate, Time};

use crate::schema::bounds::{count, share_of, within};
use crate::schema::emulation::{Commands, Emulation};
use crate::schema::link::Link;
use crate::schema::ndn::{Consumer, Ndn, Prefix, Producer};
use crate::schema::nodes::{Nodes, Targets};
use crate::schema::params::Params;
use crate::schema::quic::Quic;
use crate::schema::read::{At, Notes, tables, words};
use crate::schema::sdn::Sdn;
use crate::schema::tcp::Tcp;
use crate::schema::traffic::{App, Arrivals, Churn};
use crate::schema::tree::Location;
use crate::schema::values::{Expect, Instant, SchemeName, Senders, Sweep};
use crate::schema::video::{Encoder, Player};

tables! {
    /// A scenario: a network, the flows in it, what changes, what is recorded and expected.
    pub(crate) struct File = "a scenario" {
        /// Title of the scenario, one line.
        title: String,
        /// Seed of all random streams.
        seed: u64 = 1,
        /// Simulated time.
        duration: Duration = "60 s" where within("1 ns", "1000000000 s"),
        /// Start of the run that summaries leave out. Default: none.
        warmup: Duration where within("0 s", "1000000000 s"),
        /// Takes more than five CPU seconds; quick tests skip it.
        slow: bool,
        /// Nodes and links.
        topology: Topology,
        /// How routes are computed, and routes that override them.
        routing: Routing,
        /// Routing by group name, in addition to addresses. Default: all defaults, where a flow has `network = "icn"`.
        icn: Icn,
        /// Named Data Networking. Default: all defaults, where there are producers.
        ndn: Ndn,
        /// Producers of named data.
        producers: Vec<At<Producer>>,
        /// Clocks of nodes with an offset or a drift.
        clocks: Vec<At<Clock>>,
        /// An SDN controller and the nodes that it controls.
        sdn: Sdn,
        /// Senders and their receivers.
        flows: Vec<At<Flow>>,
        /// What changes during the run.
        events: Vec<At<Event>>,
        /// What is recorded in addition to the counters.
        record: Record,
        /// Settings of an emulation. A simulation ignores them.
        emulation: Emulation,
        /// Expected results: dotted key of a result, and a relation such as ">= 0.9" or "0.9 .. 0.95".
        expect: Expect,
        /// Dotted keys of this file and the values of each; every combination is run.
        sweep: Sweep,
    }

    /// Nodes and links: a generator and its keys, or `custom` with everything listed.
    pub(crate) struct Topology = "a topology" {
        /// The generator.
        kind: Kind,
        /// dumbbell: hosts on each side. Default: as many as the flows need.
        pairs: u32 where count(1, 1_000_000),
        /// dumbbell, parking_lot: links between hosts and routers. fat_tree, leaf_spine: those between hosts and switches; default: as `link`.
        edge: Link,
        /// dumbbell: the link between the routers. parking_lot: each link between routers.
        bottleneck: Link,
        /// star, chain, tree, random, graphml: every link. fat_tree, leaf_spine: links between switches.
        link: Link,
        /// parking_lot, chain: links between routers or nodes in a row.
        hops: u32 where count(1, 10_000),
        /// star: hosts around the hub. leaf_spine: leaf switches.
        leaves: u32 where count(1, 100_000),
        /// fat_tree: ports of each switch, an even number. There are k pods of k switches, k²/4 core switches and k³/4 hosts.
        k: u32 where count(2, 64),
        /// leaf_spine: spine switches, each with a link to every leaf switch.
        spines: u32 where count(1, 1000),
        /// leaf_spine: hosts at each leaf switch.
        hosts: u32 where count(1, 10_000),
        /// tree: children of each inner node.
        arity: u32 where count(1, 10_000),
        /// tree: levels below the root.
        depth: u32 where count(1, 20),
        /// random: mean number of links per node.
        degree: f64 where share_of(1.0, 1000.0),
        /// random: number of links, instead of `degree`.
        edges: u32 where count(1, 200_000),
        /// random: seed of the graph; the seed of the run does not change it. Default: 1.
        seed: u64,
        /// graphml: path of the file, relative to the scenario.
        file: String,
        /// graphml: compute the delay of each link from the great-circle distance of its ends, at two thirds of the speed of light. Links
        /// of nodes without latitude and longitude then have the `delay` of `link`.
        delay_by_distance: bool,
        /// graphml: a link with `LinkSpeedRaw` in the file has that rate, in bit/s, and others have the one of `link`. Default: true if
        /// `link` has no `rate` and no `trace`; or else all links have those.
        rate_from_file: bool,
        /// random: number of nodes. custom: the nodes, by name; default: those that the links name.
        nodes: Nodes,
        /// custom: the links. dumbbell, parking_lot, star, chain, tree, fat_tree, leaf_spine, random, graphml: the links that differ from
        /// their template, each with its `name` and the keys that differ.
        links: Vec<At<Link>>,
    }

    /// How routes are computed, and routes that override them.
    pub(crate) struct Routing = "routing" {
        /// What shortest paths minimise. Default: the delay.
        metric: MetricWord,
        /// Seed of the choice among paths of equal cost (ECMP): each flow keeps to one of them at each node, by a hash of flow, node and
        /// this seed. The seed of the run does not change it. Default: 0.
        ecmp_seed: u64,
        /// Routes that override the shortest path.
        routes: Vec<At<Route>>,
    }

    /// A static route: packets at a node for a destination take the link to a neighbour.
    pub(crate) struct Route = "a route" {
        /// The node.
        at: String,
        /// The destination.
        to: String,
        /// The next node.
        via: String,
    }

    /// Routing by group name, in addition to addresses. Sources and members of groups register with the nearest name router.
    pub(crate) struct Icn = "a name-based network" {
        /// The node that runs the name resolution system. It must not be a router or an endpoint of a flow that is sent by name.
        /// Default: a new node `nrs`, with a link of 1 Gbit/s and 1 ms to the first router.
        resolver: String,
        /// Nodes that also route by name, or patterns such as "r*"; other nodes forward by address only. Default: all nodes with
        /// more than one link that are neither the resolver nor an endpoint of a flow sent by name.
        routers: Vec<At<String>>,
        /// Refresh interval of soft state. Default: 5 s.
        refresh: Duration where within("1 ms", "1000000 s"),
        /// Soft state expires after this many refresh intervals without a refresh. Default: 3.
        lifetime: u32 where count(1, 1000),
        /// Retransmission timeout of requests; exponential backoff up to four times this value. Default: 500 ms.
        initial_rto: Duration where within("1 ms", "1000000 s"),
        /// Size on the wire of a signalling message. Default: 64 B.
        signal: Bytes where within("1 B", "65535 B"),
        /// Size on the wire of the packets that measure a receiver's access link. Default: 1000 B.
        probe: Bytes where within("1 B", "65535 B"),
        /// Number of these packets, sent back to back; with fewer than 2 nothing is measured. Default: 5.
        probe_packets: u32 where count(0, 255),
    }

    /// The clock of a node, or of several alike. Endpoints on the node read this clock: it determines time stamps, measured delays
    /// and timers. Tables and series are in true time.
    pub(crate) struct Clock = "a clock" {
        /// The node, or a pattern such as "s*".
        node: String,
        /// Clock offset at the start of the run; a negative offset is behind true time. Default: "0 s".
        offset: Offset where within("-1000000000 s", "1000000000 s"),
        /// Clock drift; a clock with negative drift is slow. Default: "0 ppm".
        drift: Drift,
    }

    /// One sender and its receivers, or several alike.
    pub(crate) struct Flow = "a flow" {
        /// Its name.
        name: String,
        /// Name of the group under which reports list it. Default: its own name.
        group: String,
        /// Number of copies, which are called name.1, name.2 and so on; 0: no flow.
        count: u32 where count(0, 1_000_000),
        /// The congestion-control scheme, by its name in the catalogue.
        scheme: SchemeName,
        /// Parameters of the scheme, where they differ from the default.
        params: Arc<Params>,
        /// The transport stack that sends and receives, instead of Thalweg's TCP or streams: its real code in virtual time. `scheme`
        /// is then plugged into the stack.
        stack: StackWord,
        /// With `stack`: the stack's own congestion control, instead of `scheme`: "cubic" or "newreno" of quinn and noq (default:
        /// "cubic"), "gcc" of str0m.
        controller: String,
        /// A live video encoder that follows the target rate of a stream's scheme, or the bandwidth estimate of stack = "str0m".
        encoder: Arc<Encoder>,
        /// Emulation: use TCP of the Linux kernel with this congestion control, such as "reno", "cubic" or "bbr". The endpoints are
        /// `real` nodes. A simulation uses Thalweg's TCP with the scheme of the same name, or with `scheme`.
        kernel: String,
        /// Emulation: run the endpoints of the simulation over UDP sockets, by the system's clock. The endpoints are `real` nodes.
        /// Flows with `stack` send its datagrams. Not for named data.
        live: bool,
        /// Emulation: run commands at the endpoints, which are `real` nodes. A simulation uses `scheme` or `source`, and sends
        /// nothing if neither is given.
        commands: Arc<Commands>,
        /// A source without congestion control, instead of a scheme; or, in addition to the scheme of a stream, the frames that the
        /// stream carries.
        source: Arc<Source>,
        /// The sender's node. With a list of nodes, or a pattern such as "leaf*", each copy takes the next node; the default of
        /// `count` is then the number of nodes.
        from: Senders,
        /// The receiver's node; or a group: a list of nodes or patterns such as "leaf*". Not with `network = "ndn"`.
        to: Targets,
        /// Send to a group along a multicast tree. Default: true if `to` is a list or `network = "icn"`.
        multicast: bool,
        /// Routing of its packets. With "ndn" the sender is a consumer of named data, and the producers of its `prefix` answer.
        /// Default: ip.
        network: NetworkWord,
        /// ndn: the prefix that it requests.
        prefix: Prefix,
        /// ndn: settings of the consumer.
        consumer: Arc<Consumer>,
        /// Start time; "never": an event starts it. Default: 0 s.
        start: Instant,
        /// Stop time. Default: the end of the run.
        stop: Instant,
        /// Each copy starts at a random time up to this long after `start`, drawn from the seed. Default: none. Set it, for
        /// instance to "100 ms", where several flows share a queue: flows that start together stay in phase at a drop-tail queue,
        /// and the phase decides which flow loses packets, not the scheme (Floyd and Jacobson, On Traffic Phase Effects in
        /// Packet-Switched Gateways, 1992). If nothing in a scenario is random, all seeds give the same run.
        start_spread: Duration where within("0 s", "1000000000 s"),
        /// The sender stops and restarts at random times.
        churn: Arc<Churn>,
        /// The receivers leave and join at random times.
        receivers: Arc<Receivers>,
        /// Traffic class in queues with classes, from 0.
        class: u32 where count(0, 255),
        /// TCP and QUIC: payload to send; the flow then ends. ndn: payload to request, rounded up to whole segments.
        size: Bytes where within("1 B", "1000000000 GB"),
        /// TCP: rate at which the application produces payload.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Size on the wire of a full data packet. With `stack`: the largest packet that the path carries (path MTU). Default: 1500 B
        /// for TCP and `stack`, otherwise 1000 B.
        packet: Bytes where within("1 B", "65535 B"),
        /// Settings of TCP.
        tcp: Arc<Tcp>,
        /// QUIC: flow control, with stack = "quinn" or "noq".
        quic: Arc<Quic>,
        /// Settings of a stream.
        stream: Arc<Stream>,
        /// Streams with a `source` of frames: how the receivers play them.
        player: Arc<Player>,
        /// Flows that arrive one after the other, at random or as a file lists them, instead of one flow: short flows over TCP or QUIC,
        /// calls of streams.
        arrivals: Arc<Arrivals>,
        /// An application at the receiver that requests data and waits for them, over TCP or QUIC: a closed loop.
        app: Arc<App>,
    }

    /// Churn of the members of a group.
    pub(crate) struct Receivers = "receivers" {
        /// Times between joining and leaving.
        churn: Arc<Churn>,
        /// Receivers that never leave.
        always: Vec<At<String>>,
    }

    /// Settings of a stream. All have defaults.
    pub(crate) struct Stream = "stream settings" {
        /// Random variation of each interval between packets, as a share of the interval. Default: 0.01.
        jitter: f64 where share_of(0.0, 0.999),
        /// Size on the wire of a feedback packet. Default: 40 B; 100 B with `live`, the size of a real datagram.
        feedback: Bytes where within("1 B", "65535 B"),
        /// Reordering threshold: number of later packets after which a missing packet is lost. Default: that of the scheme, 1 for
        /// most.
        reorder: u32 where count(1, 10_000),
        /// Once a packet was overtaken, a missing packet is waited for in time as well, a quarter longer than the longest time by which one came
        /// late, as in RACK (RFC 8985). Default: true.
        reordering_window: bool,
        /// Explicit congestion notification. Default: false.
        ecn: bool,
    }

    /// A datagram source or a consumer of named data without congestion control; or the encoder of a stream. Rates include headers.
    pub(crate) struct Source = "a source" {
        /// The departure process of datagrams; for a consumer, of Interests (constant or poisson); for a stream, of frames
        /// (constant, frames or trace).
        kind: SourceWord,
        /// Mean rate. on_off: the rate while on. ndn: the rate of the requested Data. trace: all sizes are scaled to this mean;
        /// default: not scaled.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// ndn: mean number of Interests per second, instead of `rate`.
        interests: f64 where share_of(1e-3, 1e9),
        /// on_off: mean length of an on period.
        on: Duration where within("1 us", "1000000000 s"),
        /// on_off: mean length of an off period.
        off: Duration where within("1 us", "1000000000 s"),
        /// on_off: shape of Pareto-distributed times, above 1. Default: exponential times.
        shape: f64 where share_of(1.000_001, 1000.0),
        /// on_off: all times have their mean length.
        fixed: bool,
        /// Streams: frames per second.
        frame_rate: f64 = 25 where share_of(0.01, 10_000.0),
        /// frames: frame types of a group of pictures.
        pattern: String = "IBBPBBPBBPBB",
        /// frames: relative mean sizes of I, P and B frames.
        sizes: Vec<At<f64>> = [5, 3, 1],
        /// frames: coefficient of variation (standard deviation / mean) of the sizes of one frame type, which are log-normal.
        variation: f64 = 0 where share_of(0.0, 10.0),
        /// trace: path of a text file, relative to the scenario. Each line is a frame: its size in bytes; its number, type and size, with
        /// its time before the size or without; or its size and type, as ffprobe writes CSV.
        file: String,
        /// trace: repeat the file after its last frame.
        repeat: bool = false,
        /// Streams: each frame becomes available when it has been encoded; false: all frames are available at the start.
        live: bool = true,
        /// Streams: maximum time that a frame waits at the sender before it is dropped. Default: no limit.
        drop_after: Duration where within("1 us", "1000000000 s"),
    }

    /// A change during the run: of a link, of a flow, of a route, or of a node.
    pub(crate) struct Event = "an event" {
        /// Time of the event.
        at: Duration where within("0 s", "1000000000 s"),
        /// The link that changes, both directions.
        link: String,
        /// Its new rate. Not of a link that follows a trace.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Its new propagation delay.
        delay: Duration where within("0 s", "1000000000 s"),
        /// Its new probability of loss, which then is independent from packet to packet.
        loss: f64 where share_of(0.0, 1.0),
        /// Whether the link is up.
        up: bool,
        /// The flow, or all flows of an entry.
        flow: String,
        /// The action on the flow or the node.
        action: Action,
        /// action = "mode": name of the mode.
        mode: String,
        /// action = "join" or "leave": the receiver's node. action = "reset", without a flow: the node that loses its state; it
        /// routes by name, runs the name resolution system, or forwards named data. action = "stop" or "start", without a flow: the
        /// SDN controller, which stops, or restarts without state.
        node: String,
        /// A static route that takes effect.
        route: Route,
    }

    /// What is recorded in addition to the counters.
    pub(crate) struct Record = "what is recorded" {
        /// Sampling interval of the series.
        every: Duration where within("1 us", "1000000000 s"),
        /// Names of series.
        series: Vec<At<String>>,
        /// Names of flows, or of `[[flows]]` with several: of senders and receivers only theirs have series. The series `rate` and
        /// `fairness` are those of all flows, because results of all are computed from them. Default: all flows.
        flows: Vec<At<String>>,
        /// Record the events that endpoints report. Default: false.
        events: bool,
        /// Record every dropped packet in the table `events`: when, on which link or at which node, why, and of which flow. Default:
        /// false.
        drops: bool,
        /// Record distributions: of the times that packets wait in each queue, of the queueing delays of flows also in large networks, of
        /// the delays of a consumer's segments; for percentiles and the table `distributions`. Default: false.
        distributions: bool,
        /// The time in which every packet is recorded in the table `packets`: when it reached the end of each link, or was dropped. At most
        /// 1 000 000 rows; the report draws them one by one. Default: none.
        packets: Window,
    }

    /// A time from its start up to and without its end.
    pub(crate) struct Window = "a time" {
        /// Its start.
        from: Duration where within("0 s", "1000000000 s"),
        /// Its end.
        to: Duration where within("0 s", "1000000000 s"),
    }
}

impl Window {
    /// Start and end; `None` if one is missing.
    pub(crate) fn to_spec(&self) -> Option<(Time, Time)> {
        let (from, to) = (self.from.present()?.value, self.to.present()?.value);
        Some((Time::ZERO + from, Time::ZERO + to))
    }

    /// Reports a missing key and an end before the start.
    pub(crate) fn check(&self, of: &str, location: Location, notes: &mut Notes) {
        self.from.required("from", of, location, notes);
        self.to.required("to", of, location, notes);
        if let (Some(from), Some(to)) = (self.from.present(), self.to.present())
            && to.value <= from.value
        {
            notes
                .wrong(to.location, format!("`to` is not after `from`, {}", from.value))
                .hint("write from = \"1 s\", to = \"1.1 s\"");
        }
    }
}

words! {
    /// The generators.
    pub(crate) enum Kind = "a kind of topology" {
        /// Hosts, router, bottleneck, router, hosts. Nodes: `left1`, `left2` …, `router_left`, `router_right`, `right1`, `right2` …
        /// Links: `bottleneck`, and `left1`, `right1` …, named after their hosts.
        Dumbbell = "dumbbell",
        /// A chain of routers with hosts at each. Nodes: `router1`, `router2` …, `left` and `right` at the ends, `in1` … before and
        /// `out1` … after each hop. Links: `hop1`, `hop2` …, and `left`, `right`, `in1`, `out1` …, named after their hosts.
        ParkingLot = "parking_lot",
        /// Hosts around a hub. Nodes: `hub`, `leaf1`, `leaf2` … Each link is named after its leaf.
        Star = "star",
        /// Nodes in a chain. Nodes: `node1`, `node2` … Links: `link1`, `link2` …
        Chain = "chain",
        /// A tree. Nodes: `root`, `inner1`, `inner2` … level by level, `leaf1`, `leaf2` … at the bottom. Each link is named after
        /// its lower node.
        Tree = "tree",
        /// A fat tree of switches with k ports each (SIGCOMM 2008, doi 10.1145/1402958.1402967). Nodes: `core1` …, pod by pod `agg1` … and
        /// `edge1` … with k/2 of each per pod, and k/2 hosts `host1` … at each edge switch. Links: `core1-agg1`, `agg1-edge1` and so on;
        /// that of a host is named after it.
        FatTree = "fat_tree",
        /// Leaf switches, each with a link to every spine switch (two-tier Clos). Nodes: `spine1` …, `leaf1` …, and leaf by leaf `host1` …
        /// Links: `spine1-leaf1` and so on; that of a host is named after it.
        LeafSpine = "leaf_spine",
        /// A connected random graph. Nodes: `n1`, `n2` … A link is named after its two nodes, such as `n1-n4`.
        Random = "random",
        /// Read from a GraphML file. A node is named after its label, with `_` for characters that names cannot contain; a link
        /// after its two nodes, with a hyphen.
        Graphml = "graphml",
        /// Nodes and links as listed, with their own names.
        Custom = "custom",
    }

    /// What a shortest path minimises.
    pub(crate) enum MetricWord = "a metric" {
        /// The sum of delays.
        Delay = "delay",
        /// The number of links.
        Hops = "hops",
    }

    /// Routing of a flow's packets.
    pub(crate) enum NetworkWord = "a network" {
        /// By IP address.
        Ip = "ip",
        /// By the name of a group; members join through the network.
        Icn = "icn",
        /// Named data: Interests go to producers of their prefix, and Data returns.
        Ndn = "ndn",
    }

    /// Transport stacks.
    pub(crate) enum StackWord = "a transport stack" {
        /// QUIC of quinn-proto: a client that uploads to its server.
        Quinn = "quinn",
        /// QUIC of noq-proto, a fork of quinn; with one path.
        Noq = "noq",
        /// WebRTC video of str0m, whose encoder follows its bandwidth estimation. Not in every build.
        Str0m = "str0m",
    }

    /// Departure processes of sources.
    pub(crate) enum SourceWord = "a kind of source" {
        /// At constant intervals.
        Constant = "constant",
        /// At exponentially distributed intervals.
        Poisson = "poisson",
        /// In bursts: on periods at a constant rate, and off periods.
        OnOff = "on_off",
        /// Streams: frames of types I, P and B in groups of pictures.
        Frames = "frames",
        /// Streams: frames with the sizes that a file lists.
        Trace = "trace",
    }

    /// Actions on flows and nodes.
    pub(crate) enum Action = "an action" {
        /// It starts.
        Start = "start",
        /// It stops.
        Stop = "stop",
        /// Its scheme changes mode.
        Mode = "mode",
        /// A receiver joins.
        Join = "join",
        /// A receiver leaves.
        Leave = "leave",
        /// A node that routes by name or forwards named data loses its state.
        Reset = "reset",
    }
}
