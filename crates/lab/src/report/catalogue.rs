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
    /// Unit in which it is printed, such as `ms` for `s`; empty for values that are printed as they are.
    pub display: &'static str,
    /// How it is printed in its table, `summary` being the table of groups; `None` for a column that is not printed.
    pub shown: Option<Shown>,
    /// How its mean over a group of flows is printed in the table of groups.
    pub groups: Option<Shown>,
}

impl Metric {
    /// Factor from `unit` to `display`.
    pub fn factor(&self) -> f64 {
        match (self.unit, self.display) {
            ("s", "ms") => 1e3,
            ("1", "%") => 100.0,
            ("bytes", "kB") => 1e-3,
            ("bps", "Mbit/s") | ("bit/s²", "Mbit/s²") => 1e-6,
            (_, "") => 1.0,
            (unit, display) => {
                assert_eq!(unit, display, "units of `{}`", self.name);
                1.0
            }
        }
    }
}

/// How a column is printed in a terminal and on pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// Columns are printed in ascending order of this number, and in the order of the catalogue if it is equal.
    pub place: u8,
    /// Heading without its unit.
    pub heading: &'static str,
    /// Importance from 1: where not all columns fit, columns with a low rank are kept, and columns without a rank are
    /// the first to go.
    pub rank: Option<u8>,
    /// Omitted if all rows are zero.
    pub unless_zero: bool,
    /// In a terminal printed with `--full` only; pages have all columns.
    pub in_full: bool,
}

impl Shown {
    const fn new(place: u8, heading: &'static str) -> Self {
        Self { place, heading, rank: None, unless_zero: false, in_full: false }
    }

    const fn rank(self, rank: u8) -> Self {
        Self { rank: Some(rank), ..self }
    }

    const fn unless_zero(self) -> Self {
        Self { unless_zero: true, ..self }
    }

    const fn in_full(self) -> Self {
        Self { in_full: true, ..self }
    }
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
    ($($table:literal { $(
        $name:literal [$unit:literal $(as $display:literal)?] at $measured:literal: $definition:literal
        $(, shown $place:literal $heading:literal $($flag:ident $($value:literal)?)*)?
        $(, groups $group_place:literal $group_heading:literal $($group_flag:ident $($group_value:literal)?)*)?;
    )* })*) => {
        &[$($(Metric {
            table: $table,
            name: $name,
            unit: $unit,
            definition: $definition,
            measured: $measured,
            display: concat!($($display)?),
            shown: metrics!(@shown $($place, $heading $(, $flag $($value)?)*)?),
            groups: metrics!(@shown $($group_place, $group_heading $(, $group_flag $($group_value)?)*)?),
        },)*)*]
    };
    (@shown) => { None };
    (@shown $place:literal, $heading:literal $(, $flag:ident $($value:literal)?)*) => {
        Some(Shown::new($place, $heading)$(.$flag($($value)?))*)
    };
}

/// Every column of every table in order, then the keys that only `summary` has.
///
/// A row is `"name" ["unit" as "printed unit"] at "place": "definition"`, then `shown` with a place, a heading and the
/// flags of [`Shown`] if it is printed, and `groups` with the same if the table of groups prints its mean too.
///
/// Numbers are decimal: 1 Mbit/s is 10⁶ bit/s. An empty cell is *not measured*, never zero.
pub const METRICS: &[Metric] = metrics! {
    "flows" {
        "flow" [""] at "scenario": "name of the flow", shown 1 "flow" rank 1;
        "group" [""] at "scenario": "group of the flow: the name that its copies share", groups 1 "group" rank 1;
        "scheme" [""] at "scenario": "congestion-control scheme, or controller of the stack; empty for sources without one", shown 1 "scheme" rank 4;
        "transport" [""] at "scenario": "tcp, stream, datagram or ndn; or the stack that the flow names, such as quinn";
        "prefix" [""] at "scenario": "prefix that a consumer of named data requests; otherwise empty", shown 2 "prefix";
        "from" [""] at "scenario": "node of the sender; for named data, of the consumer, which sends Interests", shown 1 "from" in_full;
        "receivers" ["receivers"] at "scenario": "number of receivers, whether they are members or not; none for a consumer of named data";
        "started_s" ["s" as "s"] at "sender": "time of its first start, warm-up included";
        "completed_s" ["s" as "s"] at "sender": "time at which a finite transfer was complete, warm-up included: the sender has received the acknowledgement of all data, or the consumer all data; in an emulation, for the kernel's TCP and for programs, the receiver has received all data";
        "active_s" ["s" as "s"] at "sender": "time during which the sender was active; it ends when a finite transfer is complete";
        "sent_packets" ["packets"] at "sender": "packets that the sender sent, retransmissions included";
        "sent_bytes" ["bytes"] at "sender": "bytes that the sender sent, headers included";
        "rate_bps" ["bps" as "Mbit/s"] at "sender": "bits that the sender sent, headers included, per second of the measured time; empty for a consumer of named data";
        "interests_bps" ["bps" as "Mbit/s"] at "sender": "bits of the Interests that a consumer of named data sent, headers included, per second of the measured time; empty for other flows", shown 4 "Interests sent" rank 16;
        "arrived_packets" ["packets"] at "receiver": "packets that arrived at its receivers, summed; for a consumer, Data and NACKs that arrived";
        "throughput_bps" ["bps" as "Mbit/s"] at "receiver": "RFC 5166 §2.1.1: bits of its data packets that arrived, headers included, per second of the measured time, whether the flow was active in all of it or not; with several receivers the mean over those that were members; for a consumer, of the Data that arrived", shown 3 "throughput" rank 2, groups 2 "throughput" rank 3;
        "goodput_bps" ["bps" as "Mbit/s"] at "receiver": "RFC 2647 §3.17, RFC 5166 §2.1.1: payload bits that arrived, each byte counted at its first arrival only, in any order, per second of the measured time; receivers as for throughput_bps; for a consumer, of the Data that it had requested. Of streams, a packet that a later one overtook counts if its receiver still waits for it, or if it comes at most one second after the first later one. Of datagrams it does not count: their receivers keep no list of what is missing. Of QUIC stacks, the kernel's TCP and programs, which show what their application reads only, that", shown 3 "goodput" rank 5, groups 2 "goodput" rank 11;
        "active_throughput_bps" ["bps" as "Mbit/s"] at "receiver": "the same bits as throughput_bps per second of the time in which the sender was active and the receiver a member; a sender whose user thinks or whose application has nothing to send is active", shown 3 "throughput while active" in_full;
        "active_goodput_bps" ["bps" as "Mbit/s"] at "receiver": "the same bits as goodput_bps per second of that time", shown 3 "goodput while active" in_full;
        "loss_ratio" ["1" as "%"] at "receiver, ports": "loss of data (RFC 7680): with one receiver, data_drops / (data_drops + data packets that arrived), so over packets whose fate was decided in the measured time; with several, the mean over receivers of missing / (missing + arrived). Acknowledgements do not count", shown 4 "loss" rank 6, groups 3 "loss" rank 10;
        "ack_loss_ratio" ["1" as "%"] at "ports, sender": "loss of acknowledgements: ack_drops / (ack_drops + acknowledgements and feedback that arrived at the sender); for a consumer ack_drops / Interests sent, and 1 if these are fewer, because Interests of the warm-up may be dropped after it", shown 4 "ACK loss" unless_zero;
        "data_drops" ["packets"] at "ports": "data packets of the flow that the network dropped: those from its sender, retransmissions and connection set-up included; in named data, Data";
        "ack_drops" ["packets"] at "ports": "packets of the flow in the other direction that the network dropped: acknowledgements, feedback, requests; in named data, Interests and NACKs";
        "drops" ["packets"] at "ports": "data_drops + ack_drops: the sum of `drops_*` without `drops_not_listening`";
        "drops_queue_full" ["packets"] at "queue": "dropped because a queue was full";
        "drops_early" ["packets"] at "queue": "dropped by active queue management before the queue was full";
        "drops_random_loss" ["packets"] at "link": "lost at random after transmission";
        "drops_link_down" ["packets"] at "link": "lost because a link was down or went down during their transmission";
        "drops_policed" ["packets"] at "queue": "dropped by a policer, or larger than the burst of a shaper";
        "drops_corrupted" ["packets"] at "link": "arrived damaged at the end of a link and were dropped by its checksum";
        "drops_no_route" ["packets"] at "node": "dropped because no route led to their destination", shown 4 "drops, no route" unless_zero;
        "drops_not_listening" ["packets"] at "node": "arrived at an endpoint that had stopped or had not started", shown 5 "not listening" unless_zero in_full;
        "drops_hop_limit" ["packets"] at "node": "dropped after more hops than any route has: the route loops", shown 4 "drops, hop limit" unless_zero;
        "retransmits" ["packets"] at "sender": "segments retransmitted", shown 6 "retransmitted" rank 10 unless_zero;
        "timeouts" ["events"] at "sender": "retransmission timers that expired", shown 6 "timeouts" rank 11 unless_zero;
        "episodes" ["events"] at "sender": "congestion episodes: number of reductions of the window or rate";
        "feedback_packets" ["packets"] at "receiver": "feedback packets that its receivers sent", shown 7 "feedback" unless_zero;
        "feedback_received" ["packets"] at "sender": "feedback packets that reached the source, those of routers included", shown 7 "feedback received" rank 18 unless_zero;
        "suppressed" ["packets"] at "receiver": "feedback that was due and that its receivers suppressed; for a consumer, requests for a segment that was already in flight";
        "ignored" ["packets"] at "sender, receiver": "packets that arrived and were not applied: feedback that was filtered, stale or malformed; data that reached a member of a group by name before it had measured its path; for a consumer, Data and NACKs that it had not requested";
        "missing" ["packets"] at "receiver": "packets that its receivers found missing, summed; for a consumer, segments that it gave up";
        "reordered" ["packets"] at "receiver": "streams: packets that arrived after one that was sent later (RFC 4737 §3), summed over its receivers; TCP, QUIC and consumers of named data do not count them";
        "late" ["packets"] at "receiver": "of these, packets that had been declared lost: reordering that was taken for loss";
        "marks" ["packets"] at "receiver": "congestion marks that its receivers received, summed; where receivers do not count marks, those echoed to the sender";
        "signals" ["packets"] at "sender, receiver": "signalling messages of a name-based network that its sender and its receivers sent, such as joins and leaves", shown 7 "signals" unless_zero;
        "nacks" ["packets"] at "sender": "NACKs of Interests that a consumer had pending", shown 6 "NACKs" unless_zero;
        "rtt_s" ["s" as "ms"] at "sender": "mean of the round-trip times that the sender measured, each sample counted once. A sender has few samples while it recovers from losses, and a consumer none of retransmitted segments, so that this mean can be below owd_s, which is over all packets", shown 5 "RTT" rank 9;
        "rtt_min_s" ["s" as "ms"] at "sender": "minimum";
        "delay_s" ["s" as "ms"] at "consumer, receiver": "named data: mean time from the first Interest for a segment to its arrival; a stream with an `encoder`: mean frame delay, from the time at which a frame was encoded to the arrival of its last packet, over the complete frames", shown 5 "delay" rank 15;
        "delay_std_s" ["s" as "ms"] at "consumer, receiver": "standard deviation of these delays over all segments or frames", shown 5 "delay deviation" in_full;
        "delay_min_s" ["s" as "ms"] at "consumer, receiver": "minimum";
        "delay_max_s" ["s" as "ms"] at "consumer, receiver": "maximum";
        "delay_p5_s" ["s" as "ms"] at "consumer, receiver": "5th percentile, exact to 0.1 %; for named data recorded if record.distributions is true";
        "delay_p25_s" ["s" as "ms"] at "consumer, receiver": "first quartile";
        "delay_p50_s" ["s" as "ms"] at "consumer, receiver": "median";
        "delay_p75_s" ["s" as "ms"] at "consumer, receiver": "third quartile";
        "delay_p95_s" ["s" as "ms"] at "consumer, receiver": "95th percentile";
        "rtp_queue_s" ["s" as "ms"] at "sender": "streams with an `encoder`: mean time that a packet waited in the RTP queue at the sender, from the time at which its frame was encoded until it left", shown 5 "RTP queue";
        "rtp_queue_p95_s" ["s" as "ms"] at "sender": "95th percentile, exact to 0.1 %; of a group over all packets";
        "rtp_queue_max_s" ["s" as "ms"] at "sender": "maximum";
        "owd_s" ["s" as "ms"] at "receiver": "mean one-way delay (RFC 7679) of the data packets that arrived, over all of its receivers: base_delay_s + queueing_delay_s; for Data, from the producer or content store that answered", shown 5 "one-way delay" rank 14;
        "owd_min_s" ["s" as "ms"] at "receiver": "minimum one-way delay";
        "owd_max_s" ["s" as "ms"] at "receiver": "maximum one-way delay";
        "base_delay_s" ["s" as "ms"] at "receiver": "mean over the same packets of the one-way delay without the time in queues: propagation, serialisation, processing and jitter on the path that the packet took, at the rates and delays that the links had then. Exact in simulation and emulation, not a minimum over time", shown 5 "base delay" in_full;
        "queueing_delay_s" ["s" as "ms"] at "receiver": "mean over the same packets of the time in queues: the sum over the links of a packet's path of the time from its offer to the queue to the start of its transmission", shown 5 "queueing" rank 7, groups 6 "queueing" rank 8;
        "queueing_delay_p50_s" ["s" as "ms"] at "receiver": "median of these sums over all packets. The p-th percentile is the smallest value that p % of the packets do not exceed (nearest rank; RFC 2330 §11.3); it is exact to 0.4 % of its value plus 0.5 µs. Empty for plans with more than 10 000 receivers, unless record.distributions is true", shown 5 "queueing p50" in_full, groups 6 "queueing p50" in_full;
        "queueing_delay_p95_s" ["s" as "ms"] at "receiver": "95th percentile", shown 5 "queueing p95" rank 17, groups 6 "queueing p95" rank 12;
        "queueing_delay_p99_s" ["s" as "ms"] at "receiver": "99th percentile", shown 5 "queueing p99" in_full, groups 6 "queueing p99" in_full;
        "worst_receiver" [""] at "receiver": "node of the receiver with the lowest throughput; among equals of the one that lost most, then of the first; empty for a consumer", shown 2 "slowest receiver" rank 8;
        "throughput_worst_bps" ["bps" as "Mbit/s"] at "receiver": "lowest throughput_bps of its receivers; the worst of each measure may be another receiver's", shown 2 "throughput, lowest" rank 12;
        "throughput_best_bps" ["bps" as "Mbit/s"] at "receiver": "highest throughput_bps of its receivers";
        "goodput_worst_bps" ["bps" as "Mbit/s"] at "receiver": "lowest goodput_bps of its receivers";
        "loss_ratio_worst" ["1" as "%"] at "receiver": "highest loss_ratio of its receivers", shown 2 "loss, highest" rank 13;
        "owd_worst_s" ["s" as "ms"] at "receiver": "highest owd_s of its receivers";
        "queueing_delay_worst_s" ["s" as "ms"] at "receiver": "highest queueing_delay_s of its receivers", shown 2 "queueing, longest";
        "fct_s" ["s" as "s"] at "sender": "flow completion time: from the start of a finite transfer, handshake included, to completed_s; completed_s of the receivers says when the last byte arrived, one one-way delay earlier", shown 11 "completed in" rank 3, groups 5 "FCT mean" rank 6;
        "frames_dropped" ["frames"] at "sender": "video frames that the sender dropped because they had waited too long; the receivers count them as lost", shown 10 "dropped by the sender" unless_zero;
        "frames_played" ["frames"] at "receiver": "frames that its receivers played and could show, summed over receivers", shown 9 "frames played";
        "frames_late" ["frames"] at "receiver": "frames that were complete only after they were due, summed over receivers", shown 9 "late" unless_zero;
        "frames_lost" ["frames"] at "receiver": "frames that were due and never complete, summed over receivers", shown 9 "lost";
        "frames_undecodable" ["frames"] at "receiver": "frames that were complete when due and could not be shown because a frame that they depend on was lost, summed over receivers", shown 9 "undecodable" unless_zero;
        "stalls" ["events"] at "receiver": "number of stalls: playback stopped because the next frame had not arrived; summed over receivers", shown 8 "stalls" rank 19;
        "stalled_s" ["s" as "s"] at "receiver": "mean of the stalled_s of its receivers", shown 8 "stalled";
        "startup_s" ["s" as "s"] at "receiver": "mean of the startup_s of its receivers", shown 7 "plays after";
    }
    "receivers" {
        "flow" [""] at "scenario": "name of its flow", shown 1 "flow" rank 1;
        "node" [""] at "scenario": "its node", shown 1 "node" rank 2;
        "packets" ["packets"] at "receiver": "packets that arrived";
        "bytes" ["bytes"] at "receiver": "bytes that arrived, headers included";
        "active_s" ["s" as "s"] at "receiver": "time during which it was a member";
        "completed_s" ["s" as "s"] at "receiver": "time at which all data of a finite transfer had arrived, warm-up included";
        "throughput_bps" ["bps" as "Mbit/s"] at "receiver": "bits that arrived, headers included, per second of the measured time; empty if it was no member of an active flow", shown 1 "throughput" rank 3;
        "goodput_bps" ["bps" as "Mbit/s"] at "receiver": "payload bits that arrived for the first time, per second of the measured time", shown 1 "goodput" rank 4;
        "active_throughput_bps" ["bps" as "Mbit/s"] at "receiver": "the same bits as throughput_bps per second of the time in which it was a member or its sender was active, whichever is shorter";
        "active_goodput_bps" ["bps" as "Mbit/s"] at "receiver": "the same bits as goodput_bps per second of that time";
        "loss_ratio" ["1" as "%"] at "receiver, ports": "lost / (lost + arrived): lost are the data_drops of its flow if it is the only receiver, otherwise the packets that it found missing", shown 1 "loss" rank 5;
        "owd_s" ["s" as "ms"] at "receiver": "mean one-way delay of the packets that arrived: base_delay_s + queueing_delay_s", shown 1 "one-way delay" rank 7;
        "owd_min_s" ["s" as "ms"] at "receiver": "minimum one-way delay";
        "owd_max_s" ["s" as "ms"] at "receiver": "maximum one-way delay", shown 1 "one-way delay, maximum";
        "base_delay_s" ["s" as "ms"] at "receiver": "mean one-way delay without the time in queues, as in flows";
        "queueing_delay_s" ["s" as "ms"] at "receiver": "mean time in queues, as in flows", shown 1 "queueing" rank 6;
        "queueing_delay_p50_s" ["s" as "ms"] at "receiver": "median of the times in queues; precision as in flows";
        "queueing_delay_p95_s" ["s" as "ms"] at "receiver": "95th percentile", shown 1 "queueing p95" rank 8;
        "queueing_delay_p99_s" ["s" as "ms"] at "receiver": "99th percentile";
        "feedback_packets" ["packets"] at "receiver": "feedback packets that it sent", shown 2 "feedback" unless_zero;
        "suppressed" ["packets"] at "receiver": "feedback that was due and that it suppressed", shown 2 "suppressed" unless_zero;
        "missing" ["packets"] at "receiver": "packets that it found missing", shown 1 "missing" unless_zero;
        "reordered" ["packets"] at "receiver": "streams: packets that arrived after one that was sent later", shown 1 "reordered" unless_zero;
        "late" ["packets"] at "receiver": "of these, packets that it had declared lost", shown 1 "late" unless_zero;
        "marks" ["packets"] at "receiver": "congestion marks that it received";
        "signals" ["packets"] at "receiver": "signalling messages of a name-based network that it sent, such as joins and leaves", shown 2 "signals" unless_zero;
        "frames_played" ["frames"] at "receiver": "video frames that it played and could show", shown 4 "frames played";
        "frames_late" ["frames"] at "receiver": "frames that were complete only after they were due", shown 4 "late" unless_zero;
        "frames_lost" ["frames"] at "receiver": "frames that were due and never complete", shown 4 "lost";
        "frames_undecodable" ["frames"] at "receiver": "frames that were complete when due and could not be shown because a frame that they depend on was lost", shown 4 "undecodable" unless_zero;
        "stalls" ["events"] at "receiver": "number of stalls: playback stopped because the next frame had not arrived", shown 3 "stalls" rank 9;
        "stalled_s" ["s" as "s"] at "receiver": "total duration of its stalls, an unfinished one included", shown 3 "stalled";
        "startup_s" ["s" as "s"] at "receiver": "start-up delay: from the start of its flow, or from its join if that was later, until its first frame; warm-up included", shown 2 "plays after";
    }
    "links" {
        "link" [""] at "scenario": "name of the link", shown 1 "link" rank 1;
        "direction" [""] at "scenario": "forward: from its first end to its second; backward: the opposite direction", shown 1 "direction" rank 2;
        "from" [""] at "scenario": "node that sends on it";
        "to" [""] at "scenario": "node that it leads to";
        "rate_bps" ["bps" as "Mbit/s"] at "link": "bits that it could have transmitted / measured time: its mean rate, with changes by events and traces, and zero while it was down; empty for an unlimited rate", shown 1 "rate" rank 4;
        "delay_s" ["s" as "ms"] at "link": "its propagation delay averaged over the measured time: events and traces change it; without the variation by jitter", shown 1 "delay" rank 9;
        "offered_packets" ["packets"] at "queue": "packets offered to its queue";
        "sent_packets" ["packets"] at "link": "packets whose transmission started, and was not cut off because the link went down";
        "sent_bytes" ["bytes"] at "link": "bytes transmitted; of a packet in transmission when the measured time begins or ends, its part";
        "utilisation" ["1" as "%"] at "link": "bits transmitted, as in sent_bytes / bits that it could have transmitted while it was up", shown 1 "utilisation" rank 3;
        "queue_packets" ["packets"] at "queue": "time average of the packets in the queue, the packet in transmission excluded", shown 1 "queue (packets)" rank 6;
        "queue_bytes" ["bytes"] at "queue": "time average of the bytes in the queue";
        "queue_s" ["s" as "ms"] at "queue": "mean time that a packet waited in the queue: ∫ packets in the queue dt / packets transmitted (Little's law). Waits of packets that were dropped from inside count; where the queue is longer at one end of the measured time than at the other, packets that left waited longer or shorter", shown 2 "wait" rank 8;
        "queue_p50_s" ["s" as "ms"] at "queue": "median of the times that packets waited in the queue, dropped packets excluded: of those that a FIFO accepted, by what was ahead of them and the rate of the link at that instant, also if they still wait at the end; of those that another discipline sent. Recorded if record.distributions is true, exact to 0.4 % of its value plus 1 µs", shown 2 "wait p50" in_full;
        "queue_p95_s" ["s" as "ms"] at "queue": "95th percentile", shown 2 "wait p95";
        "queue_p99_s" ["s" as "ms"] at "queue": "99th percentile", shown 2 "wait p99" in_full;
        "queue_max_packets" ["packets"] at "queue": "maximum number of packets in the queue", shown 1 "maximum (packets)";
        "marked_packets" ["packets"] at "queue": "packets marked", shown 3 "marked" unless_zero;
        "loss_ratio" ["1" as "%"] at "queue, link": "drops / packets offered, those that wait at the end included, at most 1 (a packet may be offered before the warm-up ends and dropped after it); that of a flow is over packets that arrived or were lost", shown 2 "loss" rank 5;
        "drops" ["packets"] at "queue, link": "packets dropped, for any reason", shown 2 "drops" rank 7;
        "drops_queue_full" ["packets"] at "queue": "dropped because the queue was full", shown 2 "drops, queue full" unless_zero in_full;
        "drops_early" ["packets"] at "queue": "dropped by active queue management before the queue was full", shown 2 "drops, early" unless_zero in_full;
        "drops_random_loss" ["packets"] at "link": "lost at random after transmission", shown 2 "drops, random loss" unless_zero in_full;
        "drops_link_down" ["packets"] at "link": "lost because the link was down or went down during their transmission", shown 2 "drops, link down" unless_zero in_full;
        "drops_policed" ["packets"] at "queue": "dropped by a policer, or larger than the burst of a shaper", shown 2 "drops, policed" unless_zero in_full;
        "drops_corrupted" ["packets"] at "link": "arrived damaged at the end of a link and were dropped by its checksum", shown 2 "drops, corrupted" unless_zero in_full;
    }
    "nodes" {
        "node" [""] at "scenario": "name of the node; listed are nodes that route or forward by name, the name resolution system, nodes that report to an SDN controller, and the controller", shown 1 "node" rank 1;
        "role" [""] at "scenario": "router: routes by name and by address; resolver: the name resolution system; forwarder: forwards named data; switch: forwards by address and reports to an SDN controller; controller: the SDN controller", shown 1 "role" rank 2;
        "groups" ["groups"] at "node": "groups in its tables at the end of the run", shown 1 "groups" rank 4 unless_zero;
        "sent_packets" ["packets"] at "node": "packets that it originated, such as signalling and feedback; forwarded packets are not counted", shown 3 "sent (packets)" unless_zero;
        "sent_bytes" ["bytes" as "kB"] at "node": "bytes that it originated", shown 3 "sent" unless_zero;
        "forwarded_packets" ["packets"] at "node": "packets that it forwarded by name: copies of a group's packets, and feedback of schemes without a part in routers; Interests, Data and NACKs. Packets from or for endpoints on the node are not counted", shown 1 "forwarded" unless_zero;
        "feedback_received" ["packets"] at "node": "feedback packets that it received, those that it ignored included", shown 2 "feedback received" rank 7 unless_zero;
        "feedback_packets" ["packets"] at "node": "feedback packets that it sent; each aggregates the feedback of its branches", shown 2 "feedback sent" unless_zero;
        "signals" ["packets"] at "node": "signalling messages of the name-based network that it sent: joins, registrations, probes and their replies; with an SDN controller, the congestion signals that a node sent, or that reached the controller", shown 2 "signals" unless_zero;
        "ignored" ["packets"] at "node": "signalling messages that arrived and were not applied: unknown, stale or malformed", shown 3 "ignored" unless_zero;
        "statuses" ["packets"] at "sdn": "status reports of ports that a node sent, or that reached the controller in time", shown 1 "statuses" unless_zero;
        "commands" ["commands"] at "sdn": "commands that the controller sent, or that a node executed, each counted once", shown 1 "commands";
        "commands_retransmitted" ["commands"] at "sdn": "retransmissions of commands by the controller for lack of an acknowledgement";
        "reroutes" ["commands"] at "sdn": "commands that rerouted traffic: at a node, those that changed its first choice; at the controller, those that its app intended to", shown 1 "reroutes";
        "operations" ["operations"] at "sdn": "operations as papers count them: at a node, 3 per port and period of detection and 1 per signal; at the controller, those of its app";
        "filter_operations" ["operations"] at "sdn": "of these, the app's operations for sorting signals";
        "search_operations" ["operations"] at "sdn": "of these, the app's operations for choosing the node to act at";
        "switch_operations" ["operations"] at "sdn": "of these, the app's operations for computing commands";
        "part_operations" ["operations"] at "forwarder": "operations of the scheme's parts in the forwarder: quantities computed or compared to detect or control congestion, marks set, shares changed; 0 for schemes that do not count them";
        "pending" ["packets"] at "forwarder": "Interests pending at the end of the run";
        "pending_peak" ["packets"] at "forwarder": "maximum number of pending Interests after the warm-up", shown 5 "pending, maximum";
        "stored" ["packets"] at "forwarder": "Data packets in its content store at the end of the run";
        "hit_ratio" ["1" as "%"] at "forwarder": "hits / (hits + misses) of its content store; empty if there was no lookup", shown 4 "hits" rank 3 unless_zero;
        "interests_in" ["packets"] at "forwarder": "Interests received from links and from consumers on the node", shown 3 "Interests in" rank 5;
        "interests_out" ["packets"] at "forwarder": "Interests sent to links and to producers on the node", shown 3 "Interests out";
        "data_in" ["packets"] at "forwarder": "Data received", shown 3 "Data in";
        "data_out" ["packets"] at "forwarder": "Data sent", shown 3 "Data out" rank 6;
        "nacks_in" ["packets"] at "forwarder": "NACKs received";
        "nacks_out" ["packets"] at "forwarder": "NACKs sent", shown 5 "NACKs sent" unless_zero;
        "hits" ["packets"] at "forwarder": "Interests that its content store satisfied";
        "misses" ["packets"] at "forwarder": "Interests that its content store could not satisfy";
        "aggregated" ["packets"] at "forwarder": "Interests aggregated with a pending Interest of another face for the same name", shown 4 "aggregated" unless_zero;
        "repeated" ["packets"] at "forwarder": "Interests from a face that already had an Interest pending for the same name";
        "loops" ["packets"] at "forwarder": "Interests NACKed because their nonce had been seen before";
        "no_route" ["packets"] at "forwarder": "Interests NACKed because the FIB had no next hop for their name", shown 5 "NACKed, no route" unless_zero;
        "delayed" ["packets"] at "forwarder": "Interests that waited in a queue of its link part";
        "nacked" ["packets"] at "forwarder": "Interests that its link part NACKed";
        "policed" ["packets"] at "forwarder": "Interests that its link part dropped", shown 5 "policed" unless_zero;
        "expired" ["packets"] at "forwarder": "pending Interests that expired unsatisfied", shown 5 "expired" unless_zero;
        "unsolicited" ["packets"] at "forwarder": "Data dropped because no Interest was pending for them", shown 5 "unsolicited Data" unless_zero;
        "stale" ["packets"] at "forwarder": "NACKs dropped because no matching Interest was pending";
    }
    "apps" {
        "app" [""] at "scenario": "name of the application", shown 1 "application" rank 1;
        "kind" [""] at "scenario": "requests, which incast is too; page; or player", shown 1 "kind" rank 7;
        "node" [""] at "scenario": "node of the client, which receives its flows";
        "connections" ["connections"] at "scenario": "number of its flows", shown 1 "connections";
        "exchanges" ["exchanges"] at "client": "rounds, loads of the page, or segments that were completed, warm-up included; the other columns are over these", shown 1 "completed" rank 2;
        "exchange_bytes" ["bytes"] at "client": "payload of these";
        "duration_s" ["s" as "s"] at "client": "mean time from the first request of an exchange to the last byte of its answers, the opening of connections included: the page load time of a page, the query completion time of incast", shown 1 "time, mean" rank 3;
        "duration_p50_s" ["s" as "s"] at "client": "median of these times. The p-th percentile is the smallest time that p % of the exchanges do not exceed", shown 1 "p50";
        "duration_p95_s" ["s" as "s"] at "client": "95th percentile", shown 1 "p95" rank 4;
        "duration_p99_s" ["s" as "s"] at "client": "99th percentile", shown 1 "p99";
        "startup_s" ["s" as "s"] at "player": "start-up delay: from the first request to the start of playback", shown 1 "plays after";
        "stalls" ["events"] at "player": "number of stalls: playback stopped because the buffer was empty", shown 1 "stalls" rank 5;
        "stalled_s" ["s" as "s"] at "player": "total duration of its stalls, an unfinished one included", shown 1 "stalled";
        "switches" ["events"] at "player": "number of changes of quality from one segment to the next", shown 1 "switches";
        "abandoned" ["requests"] at "player": "number of requests that it abandoned for a lower quality of the same segment, because they would have taken too long", shown 1 "abandoned" unless_zero;
        "bitrate_bps" ["bps" as "Mbit/s"] at "player": "mean of the rates of the qualities of its segments", shown 1 "bit rate" rank 6;
        "qoe_bps" ["bps" as "Mbit/s"] at "player": "linear quality of experience per segment (Yin et al., SIGCOMM 2015, equation 5): (Σ rate − Σ |change of rate| − μ (stalled + start-up)) / segments, where μ is the highest rate per second. It is no standardised score such as ITU-T P.1203", shown 1 "QoE, linear";
    }
    "exchanges" {
        "app" [""] at "scenario": "name of the application";
        "number" ["exchanges"] at "client": "number of the exchange, from 1: a round, a load of the page, or a segment";
        "started_s" ["s" as "s"] at "client": "time of its first request, warm-up included";
        "completed_s" ["s" as "s"] at "client": "time at which the last byte had arrived, warm-up included; empty if it did not";
        "duration_s" ["s" as "s"] at "client": "the difference";
        "bytes" ["bytes"] at "client": "payload that was requested";
        "quality" ["qualities"] at "player": "number of the quality of the segment, from 1, the lowest";
        "buffer_s" ["s"] at "player": "video in the buffer when the segment had arrived, itself included";
        "abandoned" ["requests"] at "player": "number of requests for the segment that it abandoned; their bytes do not count";
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
        "event" [""] at "subject": "what happened; dropped_REASON for a drop, with the reasons of the columns drops_REASON of flows; connection_lost where an end of a QUIC connection lost it, recorded in every run: the flow ends when its sender does";
        "value" ["of the event"] at "subject": "numeric value; an event about a receiver has the number of its endpoint, -1 for none; an event about a port, node or prefix has its number; a drop has the number of the flow, -1 for a control message";
        "text" [""] at "subject": "name of the receiver, port, node, prefix or flow that the number stands for; why a connection was lost";
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
        "fairness" ["1"] at "receiver": "Jain's fairness index (Σx)² / (n Σx²) of active_goodput of all flows that have a scheme, are not finite transfers, and were active in the measured time; empty for fewer than two such flows, and if they were never all active at the same time", shown 3 "fairness (Jain)" rank 9;
        "fairness_mean" ["1"] at "sender": "mean of the series fairness over the windows that end after the warm-up: Jain's index over windows of 1 s. Needs the series `rate`", shown 3 "fairness over 1 s, mean" in_full;
        "fairness_min" ["1"] at "sender": "its minimum", shown 3 "fairness over 1 s, minimum" in_full;
        "power" ["bit/s²" as "Mbit/s²"] at "receiver": "power (Kleinrock, ICC 1979): throughput / mean one-way delay of the packets that arrived; for a group, its throughput / mean over all its packets";
        "recovery" ["s" as "s"] at "sender": "recovery time, the settling time of the total rate: from an event of the scenario until the beginning of the window from which on the rate stays within ±10 % of its final value. Windows are those of the series fairness, from the first that begins at the event or later to the last that ends at the next event, or at the end of the run; of a flow that was not active in all of a window nothing counts. The final value is the mean over the second half of them, which has one more if their number is odd. With several events the longest. Empty without events, if there are fewer than two windows after an event, and if the rate stays there later than from the beginning of the second half. Needs the series `rate`", shown 3 "recovery after an event";
        "throughput_mean" ["bps" as "Mbit/s"] at "receiver": "mean of throughput over the flows of the group", shown 2 "throughput per flow" in_full;
        "goodput_mean" ["bps" as "Mbit/s"] at "receiver": "mean of goodput over the flows of the group";
        "transfers" ["flows"] at "sender": "finite transfers that started, warm-up included", shown 3 "transfers" rank 14 unless_zero in_full;
        "unfinished" ["flows"] at "sender": "of these, those that were not complete at the end of the run: they have no completion time, so fct and its percentiles leave them out", shown 4 "unfinished" rank 5 unless_zero;
        "completions" ["flows"] at "sender": "of these, those that were complete; flow completion times are computed over these", shown 3 "completed" rank 4 unless_zero;
        "fct_p50" ["s" as "s"] at "sender": "median of the flow completion times. The p-th percentile is the smallest time that p % of the completed transfers do not exceed; fct is their mean", shown 5 "FCT p50" rank 13;
        "fct_p95" ["s" as "s"] at "sender": "95th percentile of the flow completion times", shown 5 "FCT p95" rank 7;
        "fct_p99" ["s" as "s"] at "sender": "99th percentile of the flow completion times", shown 5 "FCT p99" rank 15 in_full;
        "count" ["flows"] at "scenario": "number of flows", shown 1 "flows" rank 2;
        "cov" ["1"] at "sender": "coefficient of variation (standard deviation with n − 1 / mean) of the recorded series `rate` over the intervals that end after the warm-up and in which the flow was active. It was active in an interval that ends after its first start and not after its completion or its last stop, so that of two intervals in part the first counts and the last does not; if it stops and starts again (churn, events), in those of these in which it sent. Empty for fewer than two; for a group, the mean over its flows";
        "convergence" ["s" as "s"] at "sender": "convergence time: from the flow's first start until the beginning of the first 5 windows in a row in which its rate is within ±10 % of its fair value, and zero if they begin before the start. Windows are those of the series fairness; the fair value of a window is the mean over all flows with a scheme that were active in all of it. Needs the series `rate`. For a group, the maximum, if all of its flows with a scheme converged";
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

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use super::*;

    #[test]
    fn a_word_is_printed_in_one_unit_wherever_it_is_measured() {
        let mut units = BTreeMap::new();
        for row in METRICS.iter().filter(|row| !row.display.is_empty()) {
            let own = (row.unit, row.display, row.factor().to_bits());
            let first = *units.entry(word(row.name)).or_insert(own);
            assert_eq!(first, own, "{}.{}", row.table, row.name);
        }
    }

    #[test]
    fn a_rank_of_a_table_is_that_of_one_column() {
        let mut ranked = BTreeMap::new();
        for row in METRICS {
            for (table, shown) in [(row.table, row.shown), ("summary", row.groups)] {
                if let Some(rank) = shown.and_then(|shown| shown.rank) {
                    let before = ranked.insert((table, rank), row.name);
                    assert_eq!(before, None, "rank {rank} of {table} is the rank of {} too", row.name);
                }
            }
        }
        for ((table, rank), name) in &ranked {
            assert!(
                *rank == 1 || ranked.contains_key(&(*table, rank - 1)),
                "no rank before {name} of {table}"
            );
        }
    }
}
