//! What every column and every key of a result means, once. The tables, the docs and the reports read this.

/// One column of a table, or one key of the table `summary` that no column has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The table; `summary` for a key that is only there.
    pub table: &'static str,
    /// The column. In `summary` it is the last word of the key.
    pub name: &'static str,
    /// Its unit: `s`, `bps`, `packets`, `bytes`, `1` for a ratio; empty where nothing is measured.
    pub unit: &'static str,
    /// What it says. Counts and times are of the run after the warm-up unless it says otherwise.
    pub definition: &'static str,
    /// Where it is measured.
    pub measured: &'static str,
}

/// The row of [`METRICS`] for a column.
pub fn metric(table: &str, name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|row| row.table == table && row.name == name)
}

macro_rules! metrics {
    ($($table:literal { $($name:literal [$unit:literal] at $measured:literal: $definition:literal;)* })*) => {
        &[$($(Metric { table: $table, name: $name, unit: $unit, definition: $definition, measured: $measured },)*)*]
    };
}

/// Every column of every table, table by table in the order of the columns, then the keys that only `summary` has.
///
/// Numbers are decimal: 1 Mbit/s is 10⁶ bit/s. An empty cell is *not measured*, never zero.
pub const METRICS: &[Metric] = metrics! {
    "flows" {
        "flow" [""] at "scenario": "name of the flow";
        "group" [""] at "scenario": "name that the flow shares with its copies";
        "scheme" [""] at "scenario": "scheme of its congestion law; empty for sources without one";
        "transport" [""] at "scenario": "tcp, stream, datagram or ndn";
        "prefix" [""] at "scenario": "what a consumer of named data asks for; empty otherwise";
        "from" [""] at "scenario": "node of the sender; the consumer of named data is one, which sends Interests";
        "receivers" ["receivers"] at "scenario": "number of receivers, members or not; none for a consumer of named data";
        "started_s" ["s"] at "sender": "when it first started; the warm-up is not taken off";
        "completed_s" ["s"] at "sender": "when a finite transfer was done: the sender knew that all of it was acknowledged, or a consumer had all of it; for the kernel's TCP and for programs in an emulation when the receiver had all of it. The warm-up is not taken off";
        "active_s" ["s"] at "sender": "time during which the sender was on; ends with the completion of a finite transfer";
        "sent_packets" ["packets"] at "sender": "packets that the sender handed to the network, sent again ones included";
        "sent_bytes" ["bytes"] at "sender": "bytes that the sender handed to the network, headers included";
        "rate_bps" ["bps"] at "sender": "bits that the sender handed to the network, headers included, over its active time; empty for a consumer of named data";
        "interests_bps" ["bps"] at "sender": "bits of the Interests that a consumer of named data handed to the network, headers included, over its active time; empty for other flows";
        "arrived_packets" ["packets"] at "receiver": "packets that arrived at its receivers, summed; Data, and refusals, that arrived at a consumer";
        "throughput_bps" ["bps"] at "receiver": "mean over the receivers of their throughput_bps; bits of the Data that arrived at a consumer, headers included, over its active time";
        "goodput_bps" ["bps"] at "receiver": "mean over the receivers of their goodput_bps; payload bits of Data that a consumer waited for, over its active time";
        "loss_ratio" ["1"] at "receiver, ports": "streams and groups: mean over the receivers of missing / (missing + arrived); otherwise drops / sent packets";
        "drops" ["packets"] at "ports": "packets of the flow that the network dropped anywhere, feedback and acknowledgements included; not those that found their endpoint stopped";
        "retransmits" ["packets"] at "sender": "segments sent again";
        "timeouts" ["events"] at "sender": "retransmission timers that expired";
        "episodes" ["events"] at "sender": "congestion episodes: times that the window or rate was cut";
        "feedback_packets" ["packets"] at "receiver": "feedback packets that its receivers sent";
        "feedback_received" ["packets"] at "sender": "feedback packets that reached the source, those of routers included";
        "suppressed" ["packets"] at "receiver": "feedback that was due and suppressed by its receivers; requests of a consumer for a segment that was under way already";
        "ignored" ["packets"] at "sender": "feedback that arrived and was not applied: filtered, stale or malformed; Data and refusals that a consumer did not wait for";
        "missing" ["packets"] at "receiver": "packets that its receivers found missing, summed; segments that a consumer gave up";
        "marks" ["packets"] at "receiver": "congestion marks that its receivers saw, summed; the marks echoed to the sender where receivers count none";
        "signals" ["packets"] at "sender, receiver": "words of a name-based network that its sender and its receivers sent: joins, leaves and the like";
        "refusals" ["packets"] at "sender": "refusals (NACKs) of Interests that a consumer waited for";
        "rtt_s" ["s"] at "sender": "mean of the round-trip times that the sender measured; a consumer measures segments that it asked for once";
        "rtt_min_s" ["s"] at "sender": "least of them";
        "delay_s" ["s"] at "consumer": "mean over the segments that arrived of the time from the first Interest for it";
        "delay_std_s" ["s"] at "consumer": "standard deviation of these delays, over all segments";
        "delay_min_s" ["s"] at "consumer": "least of them";
        "delay_max_s" ["s"] at "consumer": "greatest of them";
        "delay_p5_s" ["s"] at "consumer": "5th percentile of them, to a thousandth; recorded with record.distributions";
        "delay_p25_s" ["s"] at "consumer": "first quartile";
        "delay_p50_s" ["s"] at "consumer": "median";
        "delay_p75_s" ["s"] at "consumer": "third quartile";
        "delay_p95_s" ["s"] at "consumer": "95th percentile";
        "owd_s" ["s"] at "receiver": "mean one-way delay over all packets that arrived, propagation included; for Data from the producer or store that answered";
        "owd_min_s" ["s"] at "receiver": "least one-way delay";
        "owd_max_s" ["s"] at "receiver": "greatest one-way delay";
        "queueing_delay_s" ["s"] at "receiver": "mean over all packets of one-way delay − least one-way delay at the same receiver";
        "queueing_delay_p50_s" ["s"] at "receiver": "median of these delays over all packets; a percentile is the smallest delay that so many of 100 packets do not exceed, known to 0.4 % of itself and a thousandth of the minimum one-way delay. Empty where more than 10 000 receivers are in a plan, unless record.distributions is true";
        "queueing_delay_p95_s" ["s"] at "receiver": "95th percentile of them";
        "queueing_delay_p99_s" ["s"] at "receiver": "99th percentile of them";
        "fct_s" ["s"] at "sender": "flow completion time: from the start of a finite transfer, opening included, to completed_s; the last byte was at the receiver one way earlier, see completed_s of the receivers";
        "frames_dropped" ["frames"] at "sender": "frames of a video that the sender dropped because they had waited too long; they count as lost at the receivers";
        "frames_played" ["frames"] at "receiver": "frames that its receivers played and could show, summed";
        "frames_late" ["frames"] at "receiver": "frames that became whole after they were due, summed";
        "frames_lost" ["frames"] at "receiver": "frames that were due and never became whole, summed";
        "frames_spoiled" ["frames"] at "receiver": "frames that were whole when they were due and could not be shown, as one that they depend on was lost, summed";
        "stalls" ["events"] at "receiver": "times that playing stopped because the next frame had not come, summed";
        "stalled_s" ["s"] at "receiver": "mean over the receivers of their stalled_s";
        "startup_s" ["s"] at "receiver": "mean over the receivers of their startup_s";
    }
    "receivers" {
        "flow" [""] at "scenario": "name of its flow";
        "node" [""] at "scenario": "its node";
        "packets" ["packets"] at "receiver": "packets that arrived";
        "bytes" ["bytes"] at "receiver": "bytes that arrived, headers included";
        "active_s" ["s"] at "receiver": "time during which it was a member";
        "completed_s" ["s"] at "receiver": "when all of a finite transfer had arrived; the warm-up is not taken off";
        "throughput_bps" ["bps"] at "receiver": "bits that arrived, headers included, over the time it was a member or its sender active, whichever is less";
        "goodput_bps" ["bps"] at "receiver": "payload bits given to the application once and in order, over the same time";
        "owd_s" ["s"] at "receiver": "mean one-way delay over the packets that arrived, propagation included";
        "owd_min_s" ["s"] at "receiver": "least one-way delay";
        "owd_max_s" ["s"] at "receiver": "greatest one-way delay";
        "feedback_packets" ["packets"] at "receiver": "feedback packets that it sent";
        "suppressed" ["packets"] at "receiver": "feedback that was due and suppressed";
        "missing" ["packets"] at "receiver": "packets that it found missing";
        "marks" ["packets"] at "receiver": "congestion marks that it saw";
        "signals" ["packets"] at "receiver": "words of a name-based network that it sent: joins, leaves and the like";
        "frames_played" ["frames"] at "receiver": "frames of a video that it played and could show";
        "frames_late" ["frames"] at "receiver": "frames that became whole after they were due";
        "frames_lost" ["frames"] at "receiver": "frames that were due and never became whole";
        "frames_spoiled" ["frames"] at "receiver": "frames that were whole when they were due and could not be shown, as one that they depend on was lost";
        "stalls" ["events"] at "receiver": "times that playing stopped because the next frame had not come";
        "stalled_s" ["s"] at "receiver": "time that it stood still in stalls, an open one included";
        "startup_s" ["s"] at "receiver": "from the start of its flow, or its joining if that was later, until it first played; the warm-up is not taken off";
    }
    "links" {
        "link" [""] at "scenario": "name of the link";
        "direction" [""] at "scenario": "forward: from the first of its ends to the second; backward: the other way";
        "from" [""] at "scenario": "node before it";
        "to" [""] at "scenario": "node after it";
        "rate_bps" ["bps"] at "scenario": "its rate at the start of the run";
        "delay_s" ["s"] at "scenario": "its propagation delay at the start of the run";
        "offered_packets" ["packets"] at "queue": "packets offered to its queue";
        "sent_packets" ["packets"] at "link": "packets transmitted";
        "sent_bytes" ["bytes"] at "link": "bytes transmitted";
        "utilisation" ["1"] at "link": "bits transmitted / bits that it could have carried while up";
        "queue_packets" ["packets"] at "queue": "time average of the packets waiting, the one in transmission excluded";
        "queue_bytes" ["bytes"] at "queue": "time average of the bytes waiting";
        "queue_s" ["s"] at "queue": "mean time that a packet waited: packets waiting, integrated over time / packets transmitted (Little)";
        "queue_max_packets" ["packets"] at "queue": "most packets that ever waited";
        "marked_packets" ["packets"] at "queue": "packets marked";
        "loss_ratio" ["1"] at "queue, link": "drops / packets offered";
        "drops" ["packets"] at "queue, link": "packets dropped, for any reason";
        "drops_queue_full" ["packets"] at "queue": "dropped because the queue was full";
        "drops_early" ["packets"] at "queue": "dropped early by the queue's own rule";
        "drops_random_loss" ["packets"] at "link": "lost at random on the wire";
        "drops_link_down" ["packets"] at "link": "lost because the link was down, or went down under them";
        "drops_no_route" ["packets"] at "link": "dropped because no route led to their destination";
        "drops_not_listening" ["packets"] at "link": "arrived for an endpoint that had stopped or not yet started";
        "drops_hop_limit" ["packets"] at "link": "dropped after more hops than any route has";
    }
    "nodes" {
        "node" [""] at "scenario": "name of the node; only those that route or forward by name, the name resolution system, those that report to an SDN controller, and the controller";
        "role" [""] at "scenario": "router: it routes by name and by address; resolver: it is the name resolution system; forwarder: it forwards named data; switch: it forwards by address and reports to an SDN controller; controller: it is the SDN controller";
        "groups" ["groups"] at "node": "groups in its tables at the end of the run";
        "sent_packets" ["packets"] at "node": "packets that it sent of itself: signals and feedback, not what it forwards";
        "sent_bytes" ["bytes"] at "node": "bytes that it sent of itself";
        "forwarded_packets" ["packets"] at "node": "packets that it forwarded by name: copies of a group's packets, and feedback of schemes without a part in routers; Interests, Data and refusals";
        "feedback_received" ["packets"] at "node": "feedback packets that it took from its branches";
        "feedback_packets" ["packets"] at "node": "feedback packets of its own that it sent, what its branches said folded in";
        "signals" ["packets"] at "node": "words of the name-based network that it sent: joins, registrations, probes and their answers; under an SDN controller the congestion signals that a node sent, or that reached the controller";
        "ignored" ["packets"] at "node": "words that arrived and were not applied: unknown, stale or malformed";
        "statuses" ["packets"] at "sdn": "statuses of ports that a node sent, or that reached the controller in time";
        "orders" ["orders"] at "sdn": "orders that the controller gave, or that a node executed, each counted once";
        "orders_repeated" ["orders"] at "sdn": "times that the controller said an order again, because nobody had acknowledged it";
        "moves" ["orders"] at "sdn": "orders that made traffic take another way: at a node those that changed its first choice, at the controller those that its app meant to";
        "operations" ["operations"] at "sdn": "operations as papers count them: of a node 3 for each port and period and 1 for each signal, of the controller those of its app";
        "filter_operations" ["operations"] at "sdn": "of these, those of the app that sort signals";
        "search_operations" ["operations"] at "sdn": "of these, those of the app that look for the node to act at";
        "switch_operations" ["operations"] at "sdn": "of these, those of the app that work out what to order";
        "part_operations" ["operations"] at "forwarder": "operations of the scheme's parts in the forwarder: quantities worked out or compared to find congestion or to act on it, marks set, shares changed; 0 where a scheme does not count them";
        "pending" ["packets"] at "forwarder": "Interests pending at the end of the run";
        "pending_peak" ["packets"] at "forwarder": "most Interests that were ever pending at once, warm-up included";
        "stored" ["packets"] at "forwarder": "Data packets in its content store at the end of the run";
        "hit_ratio" ["1"] at "forwarder": "hits / (hits + misses) of its content store; empty where it was never asked";
        "interests_in" ["packets"] at "forwarder": "Interests that came, from links and from consumers on the node";
        "interests_out" ["packets"] at "forwarder": "Interests that went, to links and to producers on the node";
        "data_in" ["packets"] at "forwarder": "Data that came";
        "data_out" ["packets"] at "forwarder": "Data that went";
        "nacks_in" ["packets"] at "forwarder": "refusals that came";
        "nacks_out" ["packets"] at "forwarder": "refusals that went";
        "hits" ["packets"] at "forwarder": "Interests that its content store answered";
        "misses" ["packets"] at "forwarder": "Interests that its content store was asked for in vain";
        "aggregated" ["packets"] at "forwarder": "Interests that joined those of another face for the same name";
        "repeated" ["packets"] at "forwarder": "Interests from a face that waited for the same name already";
        "loops" ["packets"] at "forwarder": "Interests refused because their nonce had been seen";
        "no_route" ["packets"] at "forwarder": "Interests refused because no next hop was known for their name";
        "held" ["packets"] at "forwarder": "Interests that waited in a lane of its link part";
        "refused" ["packets"] at "forwarder": "Interests that its link part refused";
        "policed" ["packets"] at "forwarder": "Interests that its link part dropped";
        "expired" ["packets"] at "forwarder": "pending Interests that expired without an answer";
        "unsolicited" ["packets"] at "forwarder": "Data dropped because nobody waited for it";
        "stale" ["packets"] at "forwarder": "refusals dropped because nothing was pending that they could be about";
    }
    "series" {
        "time_s" ["s"] at "clock": "end of the interval; the warm-up is included";
        "subject" [""] at "scenario": "whose value: flow.NAME, receiver.FLOW@NODE, link.NAME, link.NAME.backward or node.NAME";
        "series" [""] at "scenario": "name of the series, which says its unit";
        "value" ["of the series"] at "subject": "the value";
    }
    "events" {
        "time_s" ["s"] at "clock": "when; the warm-up is included";
        "subject" [""] at "scenario": "who reported it, named as in series";
        "event" [""] at "subject": "what happened";
        "value" ["of the event"] at "subject": "its number; one that names a receiver is the number of its endpoint, -1 for none; one that names a port, node or prefix is its number";
        "text" [""] at "subject": "what the number names, where it names a receiver, port, node or prefix";
    }
    "summary" {
        "metric" [""] at "report": "dotted key: flow.NAME.x, receiver.FLOW@NODE.x, link.NAME.x, link.NAME.backward.x, node.NAME.x, flows.x, flows.GROUP.x, run.x; x is a column without its _bps or _s, or one of the keys below. For all flows and for a group counts are summed, minimum and maximum are over all of its flows, percentiles are over all packets, segments or transfers of its flows, and the rest is the mean over its flows";
        "value" ["of the metric"] at "report": "its value; rates in bit/s, times in s";
        "fairness" ["1"] at "receiver": "Jain index (Σx)² / (n Σx²) of the goodputs of the flows that have a scheme, no end of their own (finite transfers are left out) and time in the measured span; empty for fewer than two, and where there is no instant at which all of them were on";
        "throughput_total" ["bps"] at "receiver": "bits that arrived in the measured span, headers included, of all flows together, over the length of that span; of a flow with several receivers the mean over those that were members, of a consumer its Data";
        "goodput_total" ["bps"] at "receiver": "payload bits given to applications in the measured span, of all flows together, over the length of that span; receivers and consumers as for throughput_total";
        "completions" ["flows"] at "sender": "finite transfers that were completed, in the warm-up or later: flow completion times are of these";
        "fct_p50" ["s"] at "sender": "median of the flow completion times: the smallest that so many of 100 completed transfers do not exceed; fct is their mean";
        "fct_p95" ["s"] at "sender": "95th percentile of the flow completion times";
        "fct_p99" ["s"] at "sender": "99th percentile of the flow completion times";
        "throughput_min" ["bps"] at "receiver": "throughput of the flow's worst receiver";
        "throughput_max" ["bps"] at "receiver": "throughput of the flow's best receiver";
        "count" ["flows"] at "scenario": "number of flows";
        "cov" ["1"] at "sender": "standard deviation / mean of the recorded series `rate` while the flow was active; for a group the mean over its flows";
        "convergence" ["s"] at "sender": "time from the flow's start until its rate, averaged over windows of 1 s, stays for 5 windows within ±10 % of its fair value, the mean over the flows with a scheme that are active; needs the series `rate`; for a group the longest, when all converged";
        "packet_hops" ["packets"] at "engine": "packets put on links, warm-up included";
        "events_handled" ["events"] at "engine": "agenda entries handled, warm-up included";
        "ended" ["s"] at "engine": "simulated time that the run reached";
        "measured" ["s"] at "engine": "simulated time after the warm-up, which all counts are of";
    }
    "expect" {
        "key" [""] at "scenario": "dotted key that the scenario expects something of";
        "expected" [""] at "scenario": "the relation, as written";
        "measured" ["of the metric"] at "report": "the value of the key";
        "pass" [""] at "report": "the relation holds; never when nothing was measured";
    }
};
