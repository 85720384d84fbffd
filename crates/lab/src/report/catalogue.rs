//! Definitions of every column and key of a result. Tables, docs and reports use them.

use contract::SeriesInfo;

/// A column of a table, or a key of the table `summary` that is no column.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Metric {
    /// The table; `summary` for a key that is only in that table.
    pub table: &'static str,
    /// The column; in `summary` the last component of the key.
    pub name: &'static str,
    /// Unit: `s`, `bps`, `packets`, `bytes`, `1` for a ratio; empty for columns that are no measurement.
    pub unit: &'static str,
    /// Definition. Counts and times exclude the warm-up unless the definition says otherwise.
    pub definition: &'static str,
    /// Where the value is measured.
    pub measured: &'static str,
}

/// The definition of a column.
pub fn metric(table: &str, name: &str) -> Option<&'static Metric> {
    METRICS.iter().find(|row| row.table == table && row.name == name)
}

/// A column's name as the last component of a key, without the suffix of its unit.
pub(crate) fn word(column: &str) -> &str {
    column.strip_suffix("_bps").or_else(|| column.strip_suffix("_s")).unwrap_or(column)
}

/// The series of Jain's index over windows.
pub(crate) const FAIRNESS: &str = "fairness";

/// Series that are computed from others: name, unit, subject, meaning.
pub(crate) const DERIVED: &[SeriesInfo] = &[(
    FAIRNESS,
    "1",
    "flows",
    "Jain's fairness index of the rates of all flows, and of each group with several flows, over windows of 1 s: of flows with a scheme that were active in all intervals of the window, as `cov` defines; empty for fewer than two. Windows follow each other from the start of the run, and each has the fewest intervals that last 1 s together; the time is the end of the window. Computed from the series rate, which is recorded as well",
)];

macro_rules! metrics {
    ($($table:literal { $($name:literal [$unit:literal] at $measured:literal: $definition:literal;)* })*) => {
        &[$($(Metric { table: $table, name: $name, unit: $unit, definition: $definition, measured: $measured },)*)*]
    };
}

/// Every column of every table in order, then the keys that only `summary` has.
///
/// Numbers are decimal: 1 Mbit/s is 10⁶ bit/s. An empty cell is *not measured*, never zero.
pub const METRICS: &[Metric] = metrics! {
    "flows" {
        "flow" [""] at "scenario": "name of the flow";
        "group" [""] at "scenario": "group of the flow: the name that its copies share";
        "scheme" [""] at "scenario": "congestion-control scheme, or controller of the stack; empty for sources without one";
        "transport" [""] at "scenario": "tcp, stream, datagram or ndn; or the stack that the flow names, such as quinn";
        "prefix" [""] at "scenario": "prefix that a consumer of named data requests; otherwise empty";
        "from" [""] at "scenario": "node of the sender; for named data, of the consumer, which sends Interests";
        "receivers" ["receivers"] at "scenario": "number of receivers, whether they are members or not; none for a consumer of named data";
        "started_s" ["s"] at "sender": "time of its first start, warm-up included";
        "completed_s" ["s"] at "sender": "time at which a finite transfer was complete, warm-up included: the sender has received the acknowledgement of all data, or the consumer all data; in an emulation, for the kernel's TCP and for programs, the receiver has received all data";
        "active_s" ["s"] at "sender": "time during which the sender was active; it ends when a finite transfer is complete";
        "sent_packets" ["packets"] at "sender": "packets that the sender sent, retransmissions included";
        "sent_bytes" ["bytes"] at "sender": "bytes that the sender sent, headers included";
        "rate_bps" ["bps"] at "sender": "bits that the sender sent, headers included, per second of the measured time; empty for a consumer of named data";
        "interests_bps" ["bps"] at "sender": "bits of the Interests that a consumer of named data sent, headers included, per second of the measured time; empty for other flows";
        "arrived_packets" ["packets"] at "receiver": "packets that arrived at its receivers, summed; for a consumer, Data and NACKs that arrived";
        "throughput_bps" ["bps"] at "receiver": "RFC 5166 §2.1.1: bits of its data packets that arrived, headers included, per second of the measured time, whether the flow was active in all of it or not; with several receivers the mean over those that were members; for a consumer, of the Data that arrived";
        "goodput_bps" ["bps"] at "receiver": "RFC 2647 §3.17, RFC 5166 §2.1.1: payload bits that arrived, each byte counted at its first arrival only, in any order, per second of the measured time; receivers as for throughput_bps; for a consumer, of the Data that it had requested. Of streams, a packet that a later one overtook counts if its receiver still waits for it, or if it comes at most one second after the first later one. Of datagrams it does not count: their receivers keep no list of what is missing. Of QUIC stacks, the kernel's TCP and programs, which show what their application reads only, that";
        "active_throughput_bps" ["bps"] at "receiver": "the same bits as throughput_bps per second of the time in which the sender was active and the receiver a member; a sender whose user thinks or whose application has nothing to send is active";
        "active_goodput_bps" ["bps"] at "receiver": "the same bits as goodput_bps per second of that time";
        "loss_ratio" ["1"] at "receiver, ports": "loss of data (RFC 7680): with one receiver, data_drops / (data_drops + data packets that arrived), so over packets whose fate was decided in the measured time; with several, the mean over receivers of missing / (missing + arrived). Acknowledgements do not count";
        "ack_loss_ratio" ["1"] at "ports, sender": "loss of acknowledgements: ack_drops / (ack_drops + acknowledgements and feedback that arrived at the sender); for a consumer ack_drops / Interests sent, and 1 if these are fewer, because Interests of the warm-up may be dropped after it";
        "data_drops" ["packets"] at "ports": "data packets of the flow that the network dropped: those from its sender, retransmissions and connection set-up included; in named data, Data";
        "ack_drops" ["packets"] at "ports": "packets of the flow in the other direction that the network dropped: acknowledgements, feedback, requests; in named data, Interests and NACKs";
        "drops" ["packets"] at "ports": "data_drops + ack_drops: the sum of `drops_*` without `drops_not_listening`";
        "drops_queue_full" ["packets"] at "queue": "dropped because a queue was full";
        "drops_early" ["packets"] at "queue": "dropped by active queue management before the queue was full";
        "drops_random_loss" ["packets"] at "link": "lost at random after transmission";
        "drops_link_down" ["packets"] at "link": "lost because a link was down or went down during their transmission";
        "drops_policed" ["packets"] at "queue": "dropped by a policer, or larger than the burst of a shaper";
        "drops_corrupted" ["packets"] at "link": "arrived damaged at the end of a link and were dropped by its checksum";
        "drops_no_route" ["packets"] at "node": "dropped because no route led to their destination";
        "drops_not_listening" ["packets"] at "node": "arrived at an endpoint that had stopped or had not started";
        "drops_hop_limit" ["packets"] at "node": "dropped after more hops than any route has: the route loops";
        "retransmits" ["packets"] at "sender": "segments retransmitted";
        "timeouts" ["events"] at "sender": "retransmission timers that expired";
        "episodes" ["events"] at "sender": "congestion episodes: number of reductions of the window or rate";
        "feedback_packets" ["packets"] at "receiver": "feedback packets that its receivers sent";
        "feedback_received" ["packets"] at "sender": "feedback packets that reached the source, those of routers included";
        "suppressed" ["packets"] at "receiver": "feedback that was due and that its receivers suppressed; for a consumer, requests for a segment that was already in flight";
        "ignored" ["packets"] at "sender, receiver": "packets that arrived and were not applied: feedback that was filtered, stale or malformed; data that reached a member of a group by name before it had measured its path; for a consumer, Data and NACKs that it had not requested";
        "missing" ["packets"] at "receiver": "packets that its receivers found missing, summed; for a consumer, segments that it gave up";
        "reordered" ["packets"] at "receiver": "streams: packets that arrived after one that was sent later (RFC 4737 §3), summed over its receivers; TCP, QUIC and consumers of named data do not count them";
        "late" ["packets"] at "receiver": "of these, packets that had been declared lost: reordering that was taken for loss";
        "marks" ["packets"] at "receiver": "congestion marks that its receivers received, summed; where receivers do not count marks, those echoed to the sender";
        "signals" ["packets"] at "sender, receiver": "signalling messages of a name-based network that its sender and its receivers sent, such as joins and leaves";
        "nacks" ["packets"] at "sender": "NACKs of Interests that a consumer had pending";
        "rtt_s" ["s"] at "sender": "mean of the round-trip times that the sender measured, each sample counted once. A sender has few samples while it recovers from losses, and a consumer none of retransmitted segments, so that this mean can be below owd_s, which is over all packets";
        "rtt_min_s" ["s"] at "sender": "minimum";
        "delay_s" ["s"] at "consumer, receiver": "named data: mean time from the first Interest for a segment to its arrival; a stream with an `encoder`: mean frame delay, from the time at which a frame was encoded to the arrival of its last packet, over the complete frames";
        "delay_std_s" ["s"] at "consumer, receiver": "standard deviation of these delays over all segments or frames";
        "delay_min_s" ["s"] at "consumer, receiver": "minimum";
        "delay_max_s" ["s"] at "consumer, receiver": "maximum";
        "delay_p5_s" ["s"] at "consumer, receiver": "5th percentile, exact to 0.1 %; for named data recorded if record.distributions is true";
        "delay_p25_s" ["s"] at "consumer, receiver": "first quartile";
        "delay_p50_s" ["s"] at "consumer, receiver": "median";
        "delay_p75_s" ["s"] at "consumer, receiver": "third quartile";
        "delay_p95_s" ["s"] at "consumer, receiver": "95th percentile";
        "rtp_queue_s" ["s"] at "sender": "streams with an `encoder`: mean time that a packet waited in the RTP queue at the sender, from the time at which its frame was encoded until it left";
        "rtp_queue_p95_s" ["s"] at "sender": "95th percentile, exact to 0.1 %; of a group over all packets";
        "rtp_queue_max_s" ["s"] at "sender": "maximum";
        "owd_s" ["s"] at "receiver": "mean one-way delay (RFC 7679) of the data packets that arrived, over all of its receivers: base_delay_s + queueing_delay_s; for Data, from the producer or content store that answered";
        "owd_min_s" ["s"] at "receiver": "minimum one-way delay";
        "owd_max_s" ["s"] at "receiver": "maximum one-way delay";
        "base_delay_s" ["s"] at "receiver": "mean over the same packets of the one-way delay without the time in queues: propagation, serialisation, processing and jitter on the path that the packet took, at the rates and delays that the links had then. Exact in simulation and emulation, not a minimum over time";
        "queueing_delay_s" ["s"] at "receiver": "mean over the same packets of the time in queues: the sum over the links of a packet's path of the time from its offer to the queue to the start of its transmission";
        "queueing_delay_p50_s" ["s"] at "receiver": "median of these sums over all packets. The p-th percentile is the smallest value that p % of the packets do not exceed (nearest rank; RFC 2330 §11.3); it is exact to 0.4 % of its value plus 0.5 µs. Empty for plans with more than 10 000 receivers, unless record.distributions is true";
        "queueing_delay_p95_s" ["s"] at "receiver": "95th percentile";
        "queueing_delay_p99_s" ["s"] at "receiver": "99th percentile";
        "worst_receiver" [""] at "receiver": "node of the receiver with the lowest throughput; among equals of the one that lost most, then of the first; empty for a consumer";
        "throughput_worst_bps" ["bps"] at "receiver": "lowest throughput_bps of its receivers; the worst of each measure may be another receiver's";
        "throughput_best_bps" ["bps"] at "receiver": "highest throughput_bps of its receivers";
        "goodput_worst_bps" ["bps"] at "receiver": "lowest goodput_bps of its receivers";
        "loss_ratio_worst" ["1"] at "receiver": "highest loss_ratio of its receivers";
        "owd_worst_s" ["s"] at "receiver": "highest owd_s of its receivers";
        "queueing_delay_worst_s" ["s"] at "receiver": "highest queueing_delay_s of its receivers";
        "fct_s" ["s"] at "sender": "flow completion time: from the start of a finite transfer, handshake included, to completed_s; completed_s of the receivers says when the last byte arrived, one one-way delay earlier";
        "frames_dropped" ["frames"] at "sender": "video frames that the sender dropped because they had waited too long; the receivers count them as lost";
        "frames_played" ["frames"] at "receiver": "frames that its receivers played and could show, summed over receivers";
        "frames_late" ["frames"] at "receiver": "frames that were complete only after they were due, summed over receivers";
        "frames_lost" ["frames"] at "receiver": "frames that were due and never complete, summed over receivers";
        "frames_undecodable" ["frames"] at "receiver": "frames that were complete when due and could not be shown because a frame that they depend on was lost, summed over receivers";
        "stalls" ["events"] at "receiver": "number of stalls: playback stopped because the next frame had not arrived; summed over receivers";
        "stalled_s" ["s"] at "receiver": "mean of the stalled_s of its receivers";
        "startup_s" ["s"] at "receiver": "mean of the startup_s of its receivers";
    }
    "receivers" {
        "flow" [""] at "scenario": "name of its flow";
        "node" [""] at "scenario": "its node";
        "packets" ["packets"] at "receiver": "packets that arrived";
        "bytes" ["bytes"] at "receiver": "bytes that arrived, headers included";
        "active_s" ["s"] at "receiver": "time during which it was a member";
        "completed_s" ["s"] at "receiver": "time at which all data of a finite transfer had arrived, warm-up included";
        "throughput_bps" ["bps"] at "receiver": "bits that arrived, headers included, per second of the measured time; empty if it was no member of an active flow";
        "goodput_bps" ["bps"] at "receiver": "payload bits that arrived for the first time, per second of the measured time";
        "active_throughput_bps" ["bps"] at "receiver": "the same bits as throughput_bps per second of the time in which it was a member or its sender was active, whichever is shorter";
        "active_goodput_bps" ["bps"] at "receiver": "the same bits as goodput_bps per second of that time";
        "loss_ratio" ["1"] at "receiver, ports": "lost / (lost + arrived): lost are the data_drops of its flow if it is the only receiver, otherwise the packets that it found missing";
        "owd_s" ["s"] at "receiver": "mean one-way delay of the packets that arrived: base_delay_s + queueing_delay_s";
        "owd_min_s" ["s"] at "receiver": "minimum one-way delay";
        "owd_max_s" ["s"] at "receiver": "maximum one-way delay";
        "base_delay_s" ["s"] at "receiver": "mean one-way delay without the time in queues, as in flows";
        "queueing_delay_s" ["s"] at "receiver": "mean time in queues, as in flows";
        "queueing_delay_p50_s" ["s"] at "receiver": "median of the times in queues; precision as in flows";
        "queueing_delay_p95_s" ["s"] at "receiver": "95th percentile";
        "queueing_delay_p99_s" ["s"] at "receiver": "99th percentile";
        "feedback_packets" ["packets"] at "receiver": "feedback packets that it sent";
        "suppressed" ["packets"] at "receiver": "feedback that was due and that it suppressed";
        "missing" ["packets"] at "receiver": "packets that it found missing";
        "reordered" ["packets"] at "receiver": "streams: packets that arrived after one that was sent later";
        "late" ["packets"] at "receiver": "of these, packets that it had declared lost";
        "marks" ["packets"] at "receiver": "congestion marks that it received";
        "signals" ["packets"] at "receiver": "signalling messages of a name-based network that it sent, such as joins and leaves";
        "frames_played" ["frames"] at "receiver": "video frames that it played and could show";
        "frames_late" ["frames"] at "receiver": "frames that were complete only after they were due";
        "frames_lost" ["frames"] at "receiver": "frames that were due and never complete";
        "frames_undecodable" ["frames"] at "receiver": "frames that were complete when due and could not be shown because a frame that they depend on was lost";
        "stalls" ["events"] at "receiver": "number of stalls: playback stopped because the next frame had not arrived";
        "stalled_s" ["s"] at "receiver": "total duration of its stalls, an unfinished one included";
        "startup_s" ["s"] at "receiver": "start-up delay: from the start of its flow, or from its join if that was later, until its first frame; warm-up included";
    }
    "links" {
        "link" [""] at "scenario": "name of the link";
        "direction" [""] at "scenario": "forward: from its first end to its second; backward: the opposite direction";
        "from" [""] at "scenario": "node that sends on it";
        "to" [""] at "scenario": "node that it leads to";
        "rate_bps" ["bps"] at "link": "bits that it could have transmitted / measured time: its mean rate, with changes by events and traces, and zero while it was down; empty for an unlimited rate";
        "delay_s" ["s"] at "link": "its propagation delay averaged over the measured time: events and traces change it; without the variation by jitter";
        "offered_packets" ["packets"] at "queue": "packets offered to its queue";
        "sent_packets" ["packets"] at "link": "packets whose transmission started, and was not cut off because the link went down";
        "sent_bytes" ["bytes"] at "link": "bytes transmitted; of a packet in transmission when the measured time begins or ends, its part";
        "utilisation" ["1"] at "link": "bits transmitted, as in sent_bytes / bits that it could have transmitted while it was up";
        "queue_packets" ["packets"] at "queue": "time average of the packets in the queue, the packet in transmission excluded";
        "queue_bytes" ["bytes"] at "queue": "time average of the bytes in the queue";
        "queue_s" ["s"] at "queue": "mean time that a packet waited in the queue: ∫ packets in the queue dt / packets transmitted (Little's law). Waits of packets that were dropped from inside count; where the queue is longer at one end of the measured time than at the other, packets that left waited longer or shorter";
        "queue_p50_s" ["s"] at "queue": "median of the times that packets waited in the queue, dropped packets excluded: of those that a FIFO accepted, by what was ahead of them and the rate of the link at that instant, also if they still wait at the end; of those that another discipline sent. Recorded if record.distributions is true, exact to 0.4 % of its value plus 1 µs";
        "queue_p95_s" ["s"] at "queue": "95th percentile";
        "queue_p99_s" ["s"] at "queue": "99th percentile";
        "queue_max_packets" ["packets"] at "queue": "maximum number of packets in the queue";
        "marked_packets" ["packets"] at "queue": "packets marked";
        "loss_ratio" ["1"] at "queue, link": "drops / packets offered, those that wait at the end included, at most 1 (a packet may be offered before the warm-up ends and dropped after it); that of a flow is over packets that arrived or were lost";
        "drops" ["packets"] at "queue, link": "packets dropped, for any reason";
        "drops_queue_full" ["packets"] at "queue": "dropped because the queue was full";
        "drops_early" ["packets"] at "queue": "dropped by active queue management before the queue was full";
        "drops_random_loss" ["packets"] at "link": "lost at random after transmission";
        "drops_link_down" ["packets"] at "link": "lost because the link was down or went down during their transmission";
        "drops_policed" ["packets"] at "queue": "dropped by a policer, or larger than the burst of a shaper";
        "drops_corrupted" ["packets"] at "link": "arrived damaged at the end of a link and were dropped by its checksum";
    }
    "nodes" {
        "node" [""] at "scenario": "name of the node; listed are nodes that route or forward by name, the name resolution system, nodes that report to an SDN controller, and the controller";
        "role" [""] at "scenario": "router: routes by name and by address; resolver: the name resolution system; forwarder: forwards named data; switch: forwards by address and reports to an SDN controller; controller: the SDN controller";
        "groups" ["groups"] at "node": "groups in its tables at the end of the run";
        "sent_packets" ["packets"] at "node": "packets that it originated, such as signalling and feedback; forwarded packets are not counted";
        "sent_bytes" ["bytes"] at "node": "bytes that it originated";
        "forwarded_packets" ["packets"] at "node": "packets that it forwarded by name: copies of a group's packets, and feedback of schemes without a part in routers; Interests, Data and NACKs. Packets from or for endpoints on the node are not counted";
        "feedback_received" ["packets"] at "node": "feedback packets that it received, those that it ignored included";
        "feedback_packets" ["packets"] at "node": "feedback packets that it sent; each aggregates the feedback of its branches";
        "signals" ["packets"] at "node": "signalling messages of the name-based network that it sent: joins, registrations, probes and their replies; with an SDN controller, the congestion signals that a node sent, or that reached the controller";
        "ignored" ["packets"] at "node": "signalling messages that arrived and were not applied: unknown, stale or malformed";
        "statuses" ["packets"] at "sdn": "status reports of ports that a node sent, or that reached the controller in time";
        "commands" ["commands"] at "sdn": "commands that the controller sent, or that a node executed, each counted once";
        "commands_retransmitted" ["commands"] at "sdn": "retransmissions of commands by the controller for lack of an acknowledgement";
        "reroutes" ["commands"] at "sdn": "commands that rerouted traffic: at a node, those that changed its first choice; at the controller, those that its app intended to";
        "operations" ["operations"] at "sdn": "operations as papers count them: at a node, 3 per port and period and 1 per signal; at the controller, those of its app";
        "filter_operations" ["operations"] at "sdn": "of these, the app's operations for sorting signals";
        "search_operations" ["operations"] at "sdn": "of these, the app's operations for choosing the node to act at";
        "switch_operations" ["operations"] at "sdn": "of these, the app's operations for computing commands";
        "part_operations" ["operations"] at "forwarder": "operations of the scheme's parts in the forwarder: quantities computed or compared to detect or control congestion, marks set, shares changed; 0 for schemes that do not count them";
        "pending" ["packets"] at "forwarder": "Interests pending at the end of the run";
        "pending_peak" ["packets"] at "forwarder": "maximum number of pending Interests after the warm-up";
        "stored" ["packets"] at "forwarder": "Data packets in its content store at the end of the run";
        "hit_ratio" ["1"] at "forwarder": "hits / (hits + misses) of its content store; empty if there was no lookup";
        "interests_in" ["packets"] at "forwarder": "Interests received from links and from consumers on the node";
        "interests_out" ["packets"] at "forwarder": "Interests sent to links and to producers on the node";
        "data_in" ["packets"] at "forwarder": "Data received";
        "data_out" ["packets"] at "forwarder": "Data sent";
        "nacks_in" ["packets"] at "forwarder": "NACKs received";
        "nacks_out" ["packets"] at "forwarder": "NACKs sent";
        "hits" ["packets"] at "forwarder": "Interests that its content store satisfied";
        "misses" ["packets"] at "forwarder": "Interests that its content store could not satisfy";
        "aggregated" ["packets"] at "forwarder": "Interests aggregated with a pending Interest of another face for the same name";
        "repeated" ["packets"] at "forwarder": "Interests from a face that already had an Interest pending for the same name";
        "loops" ["packets"] at "forwarder": "Interests NACKed because their nonce had been seen before";
        "no_route" ["packets"] at "forwarder": "Interests NACKed because the FIB had no next hop for their name";
        "delayed" ["packets"] at "forwarder": "Interests that waited in a queue of its link part";
        "nacked" ["packets"] at "forwarder": "Interests that its link part NACKed";
        "policed" ["packets"] at "forwarder": "Interests that its link part dropped";
        "expired" ["packets"] at "forwarder": "pending Interests that expired unsatisfied";
        "unsolicited" ["packets"] at "forwarder": "Data dropped because no Interest was pending for them";
        "stale" ["packets"] at "forwarder": "NACKs dropped because no matching Interest was pending";
    }
    "apps" {
        "app" [""] at "scenario": "name of the application";
        "kind" [""] at "scenario": "requests, which incast is too; page; or player";
        "node" [""] at "scenario": "node of the client, which receives its flows";
        "connections" ["connections"] at "scenario": "number of its flows";
        "exchanges" ["exchanges"] at "client": "rounds, loads of the page, or segments that were completed, warm-up included; the other columns are over these";
        "exchange_bytes" ["bytes"] at "client": "payload of these";
        "duration_s" ["s"] at "client": "mean time from the first request of an exchange to the last byte of its answers, the opening of connections included: the page load time of a page, the query completion time of incast";
        "duration_p50_s" ["s"] at "client": "median of these times. The p-th percentile is the smallest time that p % of the exchanges do not exceed";
        "duration_p95_s" ["s"] at "client": "95th percentile";
        "duration_p99_s" ["s"] at "client": "99th percentile";
        "startup_s" ["s"] at "player": "start-up delay: from the first request to the start of playback";
        "stalls" ["events"] at "player": "number of stalls: playback stopped because the buffer was empty";
        "stalled_s" ["s"] at "player": "total duration of its stalls, an unfinished one included";
        "switches" ["events"] at "player": "number of changes of quality from one segment to the next";
        "bitrate_bps" ["bps"] at "player": "mean of the rates of the qualities of its segments";
        "qoe_bps" ["bps"] at "player": "linear quality of experience per segment (Yin et al., SIGCOMM 2015, equation 5): (Σ rate − Σ |change of rate| − μ (stalled + start-up)) / segments, where μ is the highest rate per second. It is no standardised score such as ITU-T P.1203";
    }
    "exchanges" {
        "app" [""] at "scenario": "name of the application";
        "number" ["exchanges"] at "client": "number of the exchange, from 1: a round, a load of the page, or a segment";
        "started_s" ["s"] at "client": "time of its first request, warm-up included";
        "completed_s" ["s"] at "client": "time at which the last byte had arrived, warm-up included; empty if it did not";
        "duration_s" ["s"] at "client": "the difference";
        "bytes" ["bytes"] at "client": "payload that was requested";
        "quality" ["qualities"] at "player": "number of the quality of the segment, from 1, the lowest";
        "buffer_s" ["s"] at "player": "video in the buffer when the segment had arrived, itself included";
    }
    "series" {
        "time_s" ["s"] at "clock": "end of the interval, warm-up included";
        "subject" [""] at "scenario": "what the value belongs to: flow.NAME, receiver.FLOW@NODE, link.NAME, link.NAME.backward or node.NAME";
        "series" [""] at "scenario": "name of the series; its entry states the unit";
        "value" ["of the series"] at "subject": "the value";
    }
    "events" {
        "time_s" ["s"] at "clock": "time of the event, warm-up included";
        "subject" [""] at "scenario": "what reported it, named as in series; for a drop, the link or node where it happened";
        "event" [""] at "subject": "what happened; dropped_REASON for a drop, with the reasons of the columns drops_REASON of flows";
        "value" ["of the event"] at "subject": "numeric value; an event about a receiver has the number of its endpoint, -1 for none; an event about a port, node or prefix has its number; a drop has the number of the flow, -1 for a control message";
        "text" [""] at "subject": "name of the receiver, port, node, prefix or flow that the number stands for";
    }
    "packets" {
        "time_s" ["s"] at "clock": "when the packet reached the end of the link, or was dropped, warm-up included; the table is empty unless record.packets names a time";
        "link" [""] at "scenario": "name of the link; empty for a drop at a node";
        "direction" [""] at "scenario": "forward or backward";
        "node" [""] at "scenario": "node of a drop that no link caused; empty otherwise";
        "flow" [""] at "scenario": "name of its flow; empty for a control message";
        "kind" [""] at "packet": "what its header is: tcp, datagram, stream, stream_control, feedback, request, player, signal, interest, data, nack, sdn, or external for one of a real program";
        "bytes" ["bytes"] at "packet": "size, headers included";
        "marked" ["1"] at "packet": "1 if it is marked CE, otherwise 0";
        "event" [""] at "link": "arrived, or dropped_REASON with the reasons of the columns drops_REASON of flows";
    }
    "distributions" {
        "subject" [""] at "scenario": "flow.NAME, link.NAME or link.NAME.backward; the table is empty unless record.distributions is true";
        "measure" [""] at "subject": "queueing_delay of the packets of a flow, or queue: how long packets waited in the queue of a link";
        "value_s" ["s"] at "subject": "a delay";
        "share" ["1"] at "subject": "share of packets whose delay does not exceed it: the cumulative distribution function (CDF)";
    }
    "summary" {
        "metric" [""] at "report": "dotted key: flow.NAME.x, receiver.FLOW@NODE.x, link.NAME.x, link.NAME.backward.x, node.NAME.x, app.NAME.x, flows.x, flows.GROUP.x, run.x; x is a column without its _bps or _s, or one of the keys below. For all flows and for a group, counts are summed, and so are rate, interests, throughput and goodput, which are over the same time for all flows; delays, loss ratios and round-trip times are over all packets or samples of its flows, as percentiles are (the loss ratio is a mean over flows if one has several receivers); minimum, maximum, worst and best are taken over its flows; all other values, such as active_throughput, are means over its flows. More than 50 000 flows, receivers or directions of links have no keys of their own, except those that expect names and links between nodes that both have other links; their tables have all";
        "value" ["of the metric"] at "report": "value; rates in bit/s, times in s";
        "fairness" ["1"] at "receiver": "Jain's fairness index (Σx)² / (n Σx²) of active_goodput of all flows that have a scheme, are not finite transfers, and were active in the measured time; empty for fewer than two such flows, and if they were never all active at the same time";
        "fairness_mean" ["1"] at "sender": "mean of the series fairness over the windows that end after the warm-up: Jain's index over windows of 1 s. Needs the series `rate`";
        "fairness_min" ["1"] at "sender": "its minimum";
        "power" ["bit/s²"] at "receiver": "power (Kleinrock, ICC 1979): throughput / mean one-way delay of the packets that arrived; for a group, its throughput / mean over all its packets";
        "recovery" ["s"] at "sender": "recovery time, the settling time of the total rate: from an event of the scenario until the beginning of the window from which on the rate stays within ±10 % of its final value. Windows are those of the series fairness, from the first that begins at the event or later to the last that ends at the next event, or at the end of the run; of a flow that was not active in all of a window nothing counts. The final value is the mean over the second half of them, which has one more if their number is odd. With several events the longest. Empty without events, if there are fewer than two windows after an event, and if the rate stays there later than from the beginning of the second half. Needs the series `rate`";
        "throughput_mean" ["bps"] at "receiver": "mean of throughput over the flows of the group";
        "goodput_mean" ["bps"] at "receiver": "mean of goodput over the flows of the group";
        "transfers" ["flows"] at "sender": "finite transfers that started, warm-up included";
        "unfinished" ["flows"] at "sender": "of these, those that were not complete at the end of the run: they have no completion time, so fct and its percentiles leave them out";
        "completions" ["flows"] at "sender": "of these, those that were complete; flow completion times are computed over these";
        "fct_p50" ["s"] at "sender": "median of the flow completion times. The p-th percentile is the smallest time that p % of the completed transfers do not exceed; fct is their mean";
        "fct_p95" ["s"] at "sender": "95th percentile of the flow completion times";
        "fct_p99" ["s"] at "sender": "99th percentile of the flow completion times";
        "count" ["flows"] at "scenario": "number of flows";
        "cov" ["1"] at "sender": "coefficient of variation (standard deviation with n − 1 / mean) of the recorded series `rate` over the intervals that end after the warm-up and in which the flow was active. It was active in an interval that ends after its first start and not after its completion or its last stop, so that of two intervals in part the first counts and the last does not; if it stops and starts again (churn, events), in those of these in which it sent. Empty for fewer than two; for a group, the mean over its flows";
        "convergence" ["s"] at "sender": "convergence time: from the flow's first start until the beginning of the first 5 windows in a row in which its rate is within ±10 % of its fair value, and zero if they begin before the start. Windows are those of the series fairness; the fair value of a window is the mean over all flows with a scheme that were active in all of it. Needs the series `rate`. For a group, the maximum, if all of its flows with a scheme converged";
        "packet_hops" ["packets"] at "engine": "packets put on links, warm-up included: those that a drop-tail queue accepted, whether they were transmitted by the end or not, and those whose transmission another queue started, at the instant of the end too";
        "events_handled" ["events"] at "engine": "events processed by the simulator, warm-up included: arrivals, timers, samples and changes that it had to plan, so that it depends on how it works";
        "ended" ["s"] at "engine": "simulated time at the end of the run";
        "measured" ["s"] at "engine": "simulated time after the warm-up; all counts are over this time";
    }
    "expect" {
        "key" [""] at "scenario": "dotted key of the result";
        "expected" [""] at "scenario": "the relation, as written";
        "measured" ["of the metric"] at "report": "measured value";
        "pass" [""] at "report": "whether the relation holds; false if nothing was measured";
    }
};
