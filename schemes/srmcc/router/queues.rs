//! Average occupancies of a node's queues.

use contract::{GroupId, PortId, PortView};
use units::Bytes;

use crate::srmcc::{Occupancy, Params};

/// The sampled queues, sorted by port.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    alpha: f64,
    in_service: bool,
    /// Maximum average, in packets, that counts as empty.
    empty: f64,
    packet: Bytes,
    /// Whether messages contain extremes.
    extremes: bool,
    averages: Vec<Average>,
}

/// The average occupancy of a queue.
#[derive(Clone, Debug)]
struct Average {
    port: PortId,
    value: f64,
    /// Its extremes since the last message of each group, if messages contain them.
    extremes: Vec<Extremes>,
}

/// Maximum and minimum since the last message of a group.
#[derive(Clone, Copy, Debug)]
struct Extremes {
    group: GroupId,
    max: f64,
    min: f64,
}

impl Queues {
    pub(super) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            alpha: params.alpha,
            in_service: params.in_service,
            empty: params.empty,
            packet,
            extremes: params.occupancy == Occupancy::Extremes,
            averages: Vec::new(),
        }
    }

    /// Takes a sample of a queue.
    #[inline]
    pub(super) fn sample(&mut self, view: &PortView) {
        let sample = self.sampled(view);
        let average = match self.averages.binary_search_by_key(&view.port, |row| row.port) {
            Ok(at) => &mut self.averages[at],
            Err(at) => {
                self.averages.insert(at, Average { port: view.port, value: 0.0, extremes: Vec::new() });
                &mut self.averages[at]
            }
        };
        // qocc_av,i = α·qocc_c,i + (1 − α)·qocc_av,i−1                                (eq. 1)
        average.value = self.alpha * sample + (1.0 - self.alpha) * average.value;
        for extremes in &mut average.extremes {
            extremes.max = extremes.max.max(average.value);
            extremes.min = extremes.min.min(average.value);
        }
    }

    /// Maximum and minimum occupancy of a queue for a message of `group`: 0 for a queue that counts as empty. Extremes
    /// are those since the last call for the group.
    pub(super) fn occupancy(&mut self, view: &PortView, group: GroupId) -> (f64, f64) {
        let Ok(at) = self.averages.binary_search_by_key(&view.port, |row| row.port) else {
            return (0.0, 0.0);
        };
        let Average { value, extremes, .. } = &mut self.averages[at];
        let (mut max, mut min) = (*value, *value);
        if self.extremes {
            match extremes.binary_search_by_key(&group, |row| row.group) {
                Ok(at) => {
                    (max, min) = (extremes[at].max, extremes[at].min);
                    (extremes[at].max, extremes[at].min) = (*value, *value);
                }
                Err(at) => extremes.insert(at, Extremes { group, max, min }),
            }
        }
        // differs: eq. 5 requires exactly 0, which eq. 1 reaches by underflow only
        let capacity = self.capacity_packets(view);
        let counts = |average: f64| if average * capacity <= self.empty { 0.0 } else { average };
        (counts(max), counts(min))
    }

    /// qocc: backlog over the limit; 0 without a limit.
    fn sampled(&self, view: &PortView) -> f64 {
        let more = self.in_service && view.busy;
        let (mut share, backlog, limit) = (0.0_f64, view.backlog, view.limit);
        if limit.packets != u32::MAX {
            share = over(f64::from(backlog.packets) + f64::from(u8::from(more)), f64::from(limit.packets));
        }
        if limit.bytes != Bytes::UNLIMITED {
            let extra = if more { self.packet } else { Bytes::ZERO };
            share = share.max(over((backlog.bytes + extra).as_f64(), limit.bytes.as_f64()));
        }
        share
    }

    /// Qmax: the limit in packets; 0 without a limit, whose occupancy is 0 in any case.
    fn capacity_packets(&self, view: &PortView) -> f64 {
        let limit = view.limit;
        let by_bytes = if limit.bytes == Bytes::UNLIMITED {
            f64::INFINITY
        } else {
            limit.bytes.as_f64() / self.packet.as_f64().max(1.0)
        };
        let by_packets = if limit.packets == u32::MAX { f64::INFINITY } else { f64::from(limit.packets) };
        let packets = by_packets.min(by_bytes);
        if packets.is_finite() { packets } else { 0.0 }
    }
}

/// `backlog` / `limit`, at most 1; 0 if `limit` is 0.
fn over(backlog: f64, limit: f64) -> f64 {
    if limit > 0.0 { (backlog / limit).min(1.0) } else { 0.0 }
}
