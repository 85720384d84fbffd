//! The tables of a scenario file, key by key. What they mean together is the business of [`crate::plan`].

use units::{Bytes, Drift, Duration, Offset, Rate, UnitText};

use crate::controlled::Sdn;
use crate::frames::Player;
use crate::named::{Consumer, Ndn, Prefix, Producer};
use crate::outside::{Commands, Emulation};
use crate::read::{At, tables, words};
use crate::tcp::Tcp;
use crate::values::{
    Buffer, Ends, Expect, Instant, MarkAbove, Nodes, Params, Queue, SchemeName, Senders, Sweep, Targets,
};

tables! {
    /// A scenario: a network, the flows in it, what changes, what is recorded and expected.
    pub(crate) struct File = "a scenario" {
        /// One line for people.
        title: String,
        /// Root of every random draw; 1 when not given.
        seed: u64,
        /// Simulated time; 60 s when not given.
        duration: Duration where within("1 ns", "1000000000 s"),
        /// Left out of every summary; none when not given.
        warmup: Duration where within("0 s", "1000000000 s"),
        /// More than five CPU seconds: left out of quick tests.
        slow: bool,
        /// Nodes and links.
        topology: Topology,
        /// How packets find their way.
        routing: Routing,
        /// Routing by name, beside addresses; with all defaults when not given and a flow has `network = "icn"`.
        icn: Icn,
        /// Forwarding of named data; with all defaults when not given and there are producers.
        ndn: Ndn,
        /// Who serves named data.
        producers: Vec<At<Producer>>,
        /// Clocks of nodes that are not right.
        clocks: Vec<At<Clock>>,
        /// An SDN controller and the nodes that it sees to.
        sdn: Sdn,
        /// Senders and their receivers.
        flows: Vec<At<Flow>>,
        /// What changes during the run.
        events: Vec<At<Event>>,
        /// What is recorded beside the counters.
        record: Record,
        /// What an emulation is told besides; a simulation does not look at it.
        emulation: Emulation,
        /// What the results should be: dotted key of a result, and a relation such as ">= 0.9" or "0.9 .. 0.95".
        expect: Expect,
        /// Dotted keys of this file and the values each takes; every combination is run.
        sweep: Sweep,
    }

    /// Nodes and links: a generator and its keys, or `custom` with everything listed.
    pub(crate) struct Topology = "a topology" {
        /// Which generator.
        kind: Kind,
        /// dumbbell: hosts on each side; enough for the flows when not given.
        pairs: u32 where count(1, 100_000),
        /// dumbbell, parking_lot: links between hosts and routers.
        edge: Link,
        /// dumbbell: the link between the routers. parking_lot: each link between routers.
        bottleneck: Link,
        /// star, chain, tree, random, graphml: every link.
        link: Link,
        /// parking_lot, chain: links between routers or nodes in a row.
        hops: u32 where count(1, 10_000),
        /// star: hosts around the hub.
        leaves: u32 where count(1, 100_000),
        /// tree: children of each inner node.
        arity: u32 where count(1, 10_000),
        /// tree: levels below the root.
        depth: u32 where count(1, 20),
        /// random: mean number of links at a node.
        degree: f64 where share_of(1.0, 1000.0),
        /// random: number of links, instead of `degree`.
        edges: u32 where count(1, 200_000),
        /// random: seed of the graph, apart from the seed of the run; 1 when not given.
        seed: u64,
        /// graphml: path of the file, relative to the scenario.
        file: String,
        /// graphml: delay of each link from the great-circle distance of its ends, at two thirds of the speed of light.
        delay_by_distance: bool,
        /// random: number of nodes. custom: the nodes, by name; those that the links name when not given.
        nodes: Nodes,
        /// custom: the links.
        links: Vec<At<Link>>,
    }

    /// A wire between two nodes, or a template for many.
    pub(crate) struct Link = "a link" {
        /// custom: its name.
        name: String,
        /// custom: its two nodes.
        ends: Ends,
        /// custom: a link by name, from which everything is taken that is not written here.
        like: String,
        /// Bits per second, both directions.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Propagation delay, each direction.
        delay: Duration where within("0 s", "1000000000 s"),
        /// Probability that a packet is lost on the wire.
        loss: f64 where share_of(0.0, 1.0),
        /// How much may wait: packets, bytes, or multiples of the bandwidth-delay product; 100 packets when not given.
        buffer: Buffer,
        /// How it is managed: `"fifo"`, when not given, or `"codel"`, or a table with CoDel's settings.
        queue: Queue,
        /// Packets that understand marks are marked when, on arrival, at least so many packets wait.
        mark_above: u32,
        /// Weights of classes served in turn, each with a buffer of its own.
        classes: Vec<At<u32>>,
        /// What differs from the second end to the first.
        backward: Port,
    }

    /// One direction of a link.
    pub(crate) struct Port = "one direction of a link" {
        /// Bits per second.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Propagation delay.
        delay: Duration where within("0 s", "1000000000 s"),
        /// Probability that a packet is lost on the wire.
        loss: f64 where share_of(0.0, 1.0),
        /// How much may wait.
        buffer: Buffer,
        /// How it is managed.
        queue: Queue,
        /// Packets that understand marks are marked when, on arrival, at least so many packets wait; `false` for never.
        mark_above: MarkAbove,
        /// Weights of classes served in turn; an empty list for none.
        classes: Vec<At<u32>>,
    }

    /// A managed queue.
    pub(crate) struct QueueTable = "a queue" {
        /// How it is managed.
        kind: QueueWord,
        /// codel: packets may wait so long for as long as they like; 5 ms when not given.
        target: Duration where within("1 ns", "1000 s"),
        /// codel: how long they may wait longer, about the longest usual round-trip time; 100 ms when not given.
        interval: Duration where within("1 ns", "1000 s"),
        /// codel: packets that understand marks are marked instead of dropped; they are when not given.
        mark: bool,
    }

    /// A node and where it is drawn.
    pub(crate) struct NodeTable = "a node" {
        /// Its name.
        name: String,
        /// To the right, 0 to 1.
        x: f64 where share_of(0.0, 1.0),
        /// Downwards, 0 to 1.
        y: f64 where share_of(0.0, 1.0),
    }

    /// How packets find their way.
    pub(crate) struct Routing = "routing" {
        /// What a shortest path minimises; the delay when not given.
        metric: MetricWord,
        /// Routes that override the shortest path.
        routes: Vec<At<Route>>,
    }

    /// Packets at a node for a destination take the link to a neighbour.
    pub(crate) struct Route = "a route" {
        /// Where.
        at: String,
        /// Destination.
        to: String,
        /// Next node.
        via: String,
    }

    /// Routing by name, beside addresses. Sources and members of groups speak to the name router that is nearest to them.
    pub(crate) struct Icn = "a name-based network" {
        /// The node that runs the name resolution system: no router, and no end of a flow that is sent by name. When not given,
        /// a node `nrs` is added, with a link of 1 Gbit/s and 1 ms to the first router.
        resolver: String,
        /// Nodes that route by name as well, or patterns such as "r*"; the others forward by address only. When not given, all
        /// nodes with more than one link that are no end of a flow sent by name and do not run the resolver.
        routers: Vec<At<String>>,
        /// What is held is said again after so long; 5 s when not given.
        refresh: Duration where within("1 ms", "1000000 s"),
        /// What was not said again for so many refreshes is forgotten; 3 when not given.
        lifetime: u32 where count(1, 1000),
        /// A question without an answer is asked again after so long, then after twice as long, up to four times as long; 500 ms when
        /// not given.
        retry: Duration where within("1 ms", "1000000 s"),
        /// Size on the wire of a signal; 64 B when not given.
        signal: Bytes where within("1 B", "65535 B"),
        /// Size on the wire of the packets that measure a receiver's access link; 1000 B when not given.
        probe: Bytes where within("1 B", "65535 B"),
        /// How many of them, back to back; nothing is measured with less than 2, 5 when not given.
        probe_packets: u32 where count(0, 255),
    }

    /// The clock of a node, or of several alike. Who runs there sees what it shows: time stamps, measured delays and timers are its own;
    /// tables and series stay in true time.
    pub(crate) struct Clock = "a clock" {
        /// The node, or a pattern such as "s*".
        node: String,
        /// How far it is ahead when the run starts, or behind where it is negative; "0 s" when not given.
        offset: Offset where within("-1000000000 s", "1000000000 s"),
        /// How much too fast it runs, or too slow where it is negative; "0 ppm" when not given.
        drift: Drift,
    }

    /// One sender and its receivers, or several alike.
    pub(crate) struct Flow = "a flow" {
        /// Its name.
        name: String,
        /// Name of the group it is listed under; its own name when not given.
        group: String,
        /// Copies, called name.1, name.2 and so on; 0 for none.
        count: u32 where count(0, 100_000),
        /// The congestion law, by its name in the catalogue.
        scheme: SchemeName,
        /// Parameters of the scheme that are not default.
        params: Params,
        /// TCP of the Linux kernel with this congestion control, such as "reno", "cubic" or "bbr", when the network is emulated; its
        /// ends are `real` nodes. A simulation uses our own TCP with the scheme of the same name, or with `scheme`.
        kernel: String,
        /// The same machines as in a simulation, over UDP sockets and by the clock of the system, when the network is emulated; its ends are
        /// `real` nodes. Not for named data.
        live: bool,
        /// Commands at its ends when the network is emulated; they are `real` nodes. A simulation uses `scheme` or `source`, and
        /// sends nothing where neither is given.
        commands: Commands,
        /// A source without congestion control, instead of a scheme; or, beside the scheme of a stream, the frames that it carries.
        source: Source,
        /// The sender's node. A list of nodes, or a pattern such as "leaf*": each copy takes the next, and there are as many
        /// copies as nodes unless `count` is given.
        from: Senders,
        /// The receiver's node, or a list of nodes or patterns such as "leaf*": a group. None with `network = "ndn"`.
        to: Targets,
        /// Sent to a group along a tree; true when `to` is a list, and with `network = "icn"`.
        multicast: bool,
        /// How its packets find their receivers; by address when not given. With "ndn" the sender is a consumer of named data, and the
        /// producers of its `prefix` answer.
        network: NetworkWord,
        /// ndn: the prefix that it asks for.
        prefix: Prefix,
        /// ndn: settings of the consumer.
        consumer: Consumer,
        /// When it starts; at once when not given, "never" to wait for an event.
        start: Instant,
        /// When it stops; at the end of the run when not given.
        stop: Instant,
        /// Each copy starts at random within so much after `start`, drawn from the seed. Nothing when not given: a scenario runs what it
        /// says. Flows that start together stay in phase at a drop-tail queue, and the phase, not the schemes, decides who loses
        /// (Floyd and Jacobson, On Traffic Phase Effects in Packet-Switched Gateways, 1992); all seeds give the same run where nothing
        /// else is random. So write it, such as "100 ms", wherever several flows share a queue.
        start_spread: Duration where within("0 s", "1000000000 s"),
        /// The sender stops and starts again at random.
        churn: Churn,
        /// The receivers leave and join at random.
        receivers: Receivers,
        /// Class in queues with classes, from 0.
        class: u32 where count(0, 255),
        /// TCP: payload to send, then done. ndn: payload to ask for, rounded up to whole segments.
        size: Bytes where within("1 B", "1000000000 GB"),
        /// TCP: the application produces payload at this rate.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Size on the wire of a full data packet; 1500 B for TCP, 1000 B otherwise.
        packet: Bytes where within("1 B", "65535 B"),
        /// Settings of TCP.
        tcp: Tcp,
        /// Settings of a stream.
        stream: Stream,
        /// Streams with a `source` of frames: how the receivers play them.
        player: Player,
        /// Short TCP flows that arrive at random, instead of one flow.
        arrivals: Arrivals,
    }

    /// A receiver of a group with times of its own.
    pub(crate) struct TargetTable = "a receiver" {
        /// Its node, or a pattern such as "leaf*".
        node: String,
        /// When it joins; with the sender's network, at 0 s, when not given.
        start: Instant,
        /// When it leaves; at the end of the run when not given.
        stop: Instant,
        /// It leaves and joins at random.
        churn: Churn,
    }

    /// Random presence: on for a while, off for a while, and so on. Exponential times unless a shape is given.
    pub(crate) struct Churn = "churn" {
        /// Mean time present.
        on: Duration where within("1 us", "1000000000 s"),
        /// Mean time absent.
        off: Duration where within("1 us", "1000000000 s"),
        /// Pareto times with this shape, above 1.
        shape: f64 where share_of(1.000_001, 1000.0),
        /// Times always of the same length.
        fixed: bool,
    }

    /// Churn of the members of a group.
    pub(crate) struct Receivers = "receivers" {
        /// They leave and join at random.
        churn: Churn,
        /// Those that always stay.
        always: Vec<At<String>>,
    }

    /// Settings of a stream; all have defaults.
    pub(crate) struct Stream = "stream settings" {
        /// Each gap between packets is stretched or shrunk by up to this share; 0.01 when not given.
        jitter: f64 where share_of(0.0, 0.999),
        /// Size on the wire of a feedback packet; 40 B when not given, 100 B with `live`, as our datagrams have.
        feedback: Bytes where within("1 B", "65535 B"),
        /// Packets that must arrive after a missing one before it counts as lost; what the scheme says when not given, 1 for most.
        reorder: u32 where count(1, 10_000),
        /// Explicit congestion notification; false when not given.
        ecn: bool,
    }

    /// Short TCP flows that arrive as a Poisson process, from `start` until `stop`.
    pub(crate) struct Arrivals = "arrivals" {
        /// Mean number of new flows per second.
        rate: f64 where share_of(1e-9, 1e6),
        /// No flow arrives after that many; when not given, they arrive until `stop`. Fewer arrive where `stop` or the end of the run comes
        /// first.
        count: u32 where count(1, 100_000),
        /// Mean payload of a flow; exactly this without a shape.
        size: Bytes where within("1 B", "1000000 GB"),
        /// Pareto sizes with this shape, above 1.
        size_shape: f64 where share_of(1.000_001, 1000.0),
    }

    /// A datagram source, or a consumer of named data, without congestion control; or what the encoder of a stream makes. Rates
    /// include headers.
    pub(crate) struct Source = "a source" {
        /// When datagrams leave, or Interests; a consumer is constant or poisson. For a stream what its frames are: constant, frames
        /// or trace.
        kind: SourceWord,
        /// Mean rate; for on_off the rate while on. ndn: of the Data that are asked for. trace: all sizes are scaled to this mean; as
        /// they are when not given.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// ndn: mean number of Interests per second, instead of `rate`.
        interests: f64 where share_of(1e-3, 1e9),
        /// on_off: mean length of an on-time.
        on: Duration where within("1 us", "1000000000 s"),
        /// on_off: mean length of an off-time.
        off: Duration where within("1 us", "1000000000 s"),
        /// on_off: Pareto times with this shape, above 1; exponential when not given.
        shape: f64 where share_of(1.000_001, 1000.0),
        /// on_off: times always of the same length.
        fixed: bool,
        /// Streams: frames per second; 25 when not given.
        frame_rate: f64 where share_of(0.01, 10_000.0),
        /// frames: types of the frames of a group of pictures; "IBBPBBPBBPBB" when not given.
        pattern: String,
        /// frames: mean sizes of frames of type I, P and B, in relation to each other; [5, 3, 1] when not given.
        sizes: Vec<At<f64>>,
        /// frames: standard deviation of the sizes of one type, as a share of their mean; log-normal; 0 when not given.
        variation: f64 where share_of(0.0, 10.0),
        /// trace: path of a text, relative to the scenario: a frame a line, its size in bytes, or its number, its type and its size.
        file: String,
        /// trace: begin again after the last frame; false when not given.
        repeat: bool,
        /// Streams: each frame is there when it has been encoded; true when not given. With false all are there from the start.
        live: bool,
        /// Streams: a frame that has waited at the sender for longer is dropped; never when not given.
        drop_after: Duration where within("1 us", "1000000000 s"),
    }

    /// A change during the run: of a link, of a flow, of a route, or of a node.
    pub(crate) struct Event = "an event" {
        /// When.
        at: Duration where within("0 s", "1000000000 s"),
        /// The link that changes, both directions.
        link: String,
        /// Its new rate.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// Its new propagation delay.
        delay: Duration where within("0 s", "1000000000 s"),
        /// Its new probability of loss.
        loss: f64 where share_of(0.0, 1.0),
        /// Whether it works.
        up: bool,
        /// The flow, or all flows of an entry.
        flow: String,
        /// What happens to the flow, or to the node.
        action: Action,
        /// action = "mode": the mode's name.
        mode: String,
        /// action = "join" or "leave": the receiver's node. action = "reset", without a flow: the node that loses its memory,
        /// which routes by name, runs the name resolution system, or forwards named data. action = "stop" or "start", without a flow: the SDN
        /// controller, which dies, or comes back without memory.
        node: String,
        /// A route that is pinned.
        route: Route,
    }

    /// What is recorded beside the counters.
    pub(crate) struct Record = "what is recorded" {
        /// Interval of the series.
        every: Duration where within("1 us", "1000000000 s"),
        /// Series, by name.
        series: Vec<At<String>>,
        /// Whether events that endpoints report are kept; false when not given.
        events: bool,
        /// Whether it is kept how the delays of a consumer's segments are distributed, for their percentiles; false when not given.
        distributions: bool,
    }
}

words! {
    /// The generators.
    pub(crate) enum Kind = "a kind of topology" {
        /// Hosts, router, bottleneck, router, hosts. Nodes `left1`, `left2` …, `router_left`, `router_right`, `right1`, `right2` …;
        /// links `bottleneck` and, called as their host, `left1`, `right1` …
        Dumbbell = "dumbbell",
        /// Routers in a row, hosts at each. Nodes `router1`, `router2` …, `left` and `right` at the ends, `in1` … and `out1` …
        /// before and behind each hop; links `hop1`, `hop2` … and, called as their host, `left`, `right`, `in1`, `out1` …
        ParkingLot = "parking_lot",
        /// Hosts around a hub. Nodes `hub`, `leaf1`, `leaf2` …; each link is called as its leaf.
        Star = "star",
        /// Nodes in a row. Nodes `node1`, `node2` …; links `link1`, `link2` …
        Chain = "chain",
        /// A root, its children, their children. Nodes `root`, `inner1`, `inner2` … level by level, `leaf1`, `leaf2` … at the
        /// bottom; each link is called as its lower node.
        Tree = "tree",
        /// A connected random graph. Nodes `n1`, `n2` …; a link is called as its two nodes with a hyphen, `n1-n4`.
        Random = "random",
        /// Read from a GraphML file. Nodes are called as their labels there, with `_` for what no name can contain; a link is called as
        /// its two nodes with a hyphen.
        Graphml = "graphml",
        /// As listed, nodes and links by their own names.
        Custom = "custom",
    }

    /// How queues are managed.
    pub(crate) enum QueueWord = "a kind of queue" {
        /// First in, first out; what does not fit is dropped.
        Fifo = "fifo",
        /// The same, and packets are dropped or marked that waited too long for too long (RFC 8289).
        Codel = "codel",
    }

    /// What a shortest path minimises.
    pub(crate) enum MetricWord = "a metric" {
        /// The sum of delays.
        Delay = "delay",
        /// The number of links.
        Hops = "hops",
    }

    /// How packets find their receivers.
    pub(crate) enum NetworkWord = "a network" {
        /// By address.
        Ip = "ip",
        /// By the name of a group, whose members join over the network.
        Icn = "icn",
        /// Named data: Interests go to whoever serves their prefix, and Data comes back.
        Ndn = "ndn",
    }

    /// Patterns of datagram sources, and what frames of streams are.
    pub(crate) enum SourceWord = "a kind of source" {
        /// Evenly.
        Constant = "constant",
        /// With exponential gaps.
        Poisson = "poisson",
        /// In bursts.
        OnOff = "on_off",
        /// Streams: frames of types I, P and B in groups of pictures.
        Frames = "frames",
        /// Streams: frames as a file lists their sizes.
        Trace = "trace",
    }

    /// What can happen to a flow, or to a node.
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
        /// A node of the name-based network, or with a forwarder of named data, loses its memory.
        Reset = "reset",
    }
}

/// A quantity between two others.
pub(crate) fn within<T: UnitText + PartialOrd + std::fmt::Display>(
    low: &'static str,
    high: &'static str,
) -> impl Fn(&T) -> Result<(), (String, String)> {
    move |value| {
        let (least, most) = (T::from_text(low), T::from_text(high));
        match (least, most) {
            (Ok(least), Ok(most)) if *value < least || *value > most => {
                Err((format!("`{value}` is out of range"), format!("it must lie within {low} and {high}")))
            }
            _ => Ok(()),
        }
    }
}

/// A count between two others.
pub(crate) fn count(low: u32, high: u32) -> impl Fn(&u32) -> Result<(), (String, String)> {
    move |value| {
        if (low..=high).contains(value) {
            return Ok(());
        }
        Err((format!("`{value}` is out of range"), format!("it must lie within {low} and {high}")))
    }
}

/// A number between two others.
pub(crate) fn share_of(low: f64, high: f64) -> impl Fn(&f64) -> Result<(), (String, String)> {
    move |value| {
        if *value >= low && *value <= high {
            return Ok(());
        }
        Err((format!("`{value}` is out of range"), format!("it must lie within {low} and {high}")))
    }
}
