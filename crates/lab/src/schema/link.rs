//! Links: the keys of a direction, declared once for the link and for `backward`, and what they mean to the simulator.

use std::collections::BTreeMap;
use std::sync::Arc;

use sim::{Limit, PortSpec, QueueSpec, RateTrace};
use units::{Duration, Rate};

use crate::schema::bounds::{share_of, within};
use crate::schema::bucket::Bucket;
use crate::schema::impair::Impair;
use crate::schema::queue::Queue;
use crate::schema::read::{At, tables};
use crate::schema::trace::{TraceKey, TraceSource};
use crate::schema::values::{Buffer, Ends, MarkAbove};

tables! {
    /// A link between two nodes, or a template for several.
    pub(crate) struct Link = "a link" {
        /// Its name. In `links` of a generated topology the name of a link that differs, or a pattern such as "leaf*"; of two entries about
        /// one link, the later one counts.
        name: String,
        /// custom: its two nodes.
        ends: Ends,
        /// custom: name of a link that supplies the keys that are not written here.
        like: String,
        /// The direction from the first end to the second; also the other one, unless `backward` has a key.
        [flat] forward: Port,
        /// Settings that differ in the direction from the second end to the first.
        backward: Arc<Port>,
    }

    /// One direction of a link, with the keys of the link. A key that is not written is taken from the link. An empty
    /// table or list: none.
    pub(crate) struct Port = "one direction of a link" in brief {
        /// Rate of a direction. A link needs it or `trace`; of `edge` 1 Gbit/s by default.
        rate: Rate where within("1 bit/s", "10000 Gbit/s"),
        /// The trace that the rate of a direction follows, instead of `rate`: a model of a kind of link, see ModelTrace; or the path
        /// of a file, relative to the scenario, which contains a dot or a slash. A file has the format of mahimahi: each line is a time
        /// in whole milliseconds at which 1500 bytes can leave, in one packet or several; a larger packet takes several such
        /// opportunities, and what no waiting packet uses is lost. Or it is CSV and ends in .csv: each line is a time in seconds and the
        /// rate from then on, `0.5,12 Mbit/s`, which can be 0; after a first line `time_s,rate_bps` or `time_ms,rate_mbps` they are
        /// numbers in these units. A third column, `delay_ms`, is a delay that is added to `delay`. The last line is the end: its rate
        /// is not used. Or its lines are two numbers with a space or a tab between them, as in traces for Pensieve: a time in seconds
        /// and the rate in Mbit/s up to it. Times of a rate are counted from the first one. A trace begins with the run and repeats from
        /// its end. Its mean rate counts where a rate is needed, as for a buffer in bdp.
        trace: TraceSource,
        /// Propagation delay of a direction. A link needs it; of `edge` 1 ms by default.
        delay: Duration where within("0 s", "1000000000 s"),
        /// Probability that a packet is lost at random after transmission.
        loss: f64 = 0 where share_of(0.0, 1.0),
        /// Impairments: bursty loss, corruption, jitter, reordering, duplication, release in bursts.
        impair: Arc<Impair> = {},
        /// Policer: a token bucket before the queue. Packets that exceed it are dropped.
        policer: Arc<Bucket> = {},
        /// Shaper: a token bucket behind the queue. A packet waits in the queue until the bucket has enough tokens, and then leaves at `rate`.
        /// Not with `trace`.
        shaper: Arc<Bucket> = {},
        /// Queue limit: packets, bytes, or multiples of the bandwidth-delay product. Of `edge` 10 000 packets by default.
        buffer: Buffer = "100 packets",
        /// Queue discipline: `"fifo"` (drop-tail), another by its name, or a table with its name as `kind` and its parameters.
        queue: Queue = "fifo",
        /// ECN threshold: an ECT packet is marked CE if, when it arrives, at least this many packets wait; `false`: never.
        mark_above: MarkAbove = false,
        /// Weights of traffic classes, served by deficit round robin; each class has its own buffer. The last class also takes the
        /// control packets that streams send out of band.
        classes: Vec<At<u32>> = [],
    }
}

/// The traces that rates of links follow.
pub(crate) type Traces = BTreeMap<TraceKey, Arc<RateTrace>>;

impl Port {
    /// Whether it says what its rate is.
    pub(crate) fn has_rate(&self) -> bool {
        !self.rate.is_missing() || !self.trace.is_missing()
    }

    /// The direction in the simulator. Every key without a default is written, and the buffer in packets or bytes.
    pub(crate) fn to_spec(&self, traces: &Traces) -> PortSpec {
        let trace = self.trace.present().map(|source| {
            traces.get(&source.key()).expect("the traces of a resolved tree are loaded").clone()
        });
        let by_trace = trace.as_ref().map_or(Duration::ZERO, |trace| trace.min_delay());
        PortSpec {
            rate: trace.as_ref().map_or_else(|| *self.rate.resolved(), |trace| trace.mean()),
            trace,
            delay: *self.delay.resolved() + by_trace,
            loss: *self.loss.resolved(),
            impair: self.impair.present().and_then(|table| table.to_spec()),
            policer: self.policer.present().and_then(|table| table.to_spec()),
            shaper: self.shaper.present().and_then(|table| table.to_spec()),
            queue: QueueSpec {
                limit: match self.buffer.resolved() {
                    Buffer::Packets(packets) => Limit::Packets(*packets),
                    Buffer::Bytes(size) => Limit::Bytes(*size),
                    Buffer::Bdp(_) => unreachable!("bandwidth-delay products are resolved"),
                },
                discipline: self.queue.present().and_then(|queue| queue.0.clone()),
                mark_above: self.mark_above.present().and_then(|at| at.value.0),
                class_weights: self.classes.items().iter().map(|weight| weight.value).collect(),
            },
        }
    }

    /// The bucket of its shaper.
    pub(crate) fn shaping(&self) -> Option<sim::TokenBucket> {
        self.shaper.present().and_then(|table| table.to_spec())
    }
}
