//! Average occupancies of a node's queues.

use contract::{PortId, PortView};
use units::Bytes;

use crate::srmcc::Params;

/// The sampled queues, sorted by port.
#[derive(Clone, Debug)]
pub(super) struct Queues {
    alpha: f64,
    in_service: bool,
    /// Maximum average, in packets, that counts as empty.
    empty: f64,
    packet: Bytes,
    averages: Vec<(PortId, f64)>,
}

impl Queues {
    pub(super) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            alpha: params.alpha,
            in_service: params.in_service,
            empty: params.empty,
            packet,
            averages: Vec::new(),
        }
    }

    /// Takes a sample of a queue.
    #[inline]
    pub(super) fn sample(&mut self, view: &PortView) {
        let sample = self.sampled(view);
        let average = match self.averages.binary_search_by_key(&view.port, |row| row.0) {
            Ok(at) => &mut self.averages[at].1,
            Err(at) => {
                self.averages.insert(at, (view.port, 0.0));
                &mut self.averages[at].1
            }
        };
        // qocc_av,i = α·qocc_c,i + (1 − α)·qocc_av,i−1                                (eq. 1)
        *average = self.alpha * sample + (1.0 - self.alpha) * *average;
    }

    /// Average occupancy of a queue for messages: 0 for a queue that counts as empty.
    pub(super) fn occupancy(&self, view: &PortView) -> f64 {
        let Ok(at) = self.averages.binary_search_by_key(&view.port, |row| row.0) else { return 0.0 };
        let average = self.averages[at].1;
        // differs: eq. 5 requires exactly 0, which eq. 1 reaches by underflow only
        if average * self.capacity_packets(view) <= self.empty { 0.0 } else { average }
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

/// `part` / `all_reported`, at most 1; 0 if `all_reported` is 0.
fn over(part: f64, all_reported: f64) -> f64 {
    if all_reported > 0.0 { (part / all_reported).min(1.0) } else { 0.0 }
}
