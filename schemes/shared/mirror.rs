//! The contents of the queue of a link, by flow: a forwarder's ports report the length of a queue, not its contents.

use std::collections::VecDeque;

use contract::{Backlog, PortView};
use units::Bytes;

/// A copy of a FIFO with drop-tail. For another queue its length is right and its contents are an estimate.
#[derive(Clone, Debug, Default)]
pub struct FifoModel {
    /// Waiting packets in order: the number of the flow plus one; 0 for packets other than Data.
    line: VecDeque<u32>,
    /// Waiting Data per flow.
    data: Vec<u32>,
    /// Waiting Data in total.
    total: u32,
    /// Number of flows with waiting Data.
    flows: u32,
}

impl FifoModel {
    /// Takes a packet that is about to be offered. `tag` is the number of its flow plus one; 0 for packets other than
    /// Data.
    pub fn offer(&mut self, tag: u32, size: Bytes, port: &PortView) {
        self.update(&port.backlog);
        let Backlog { packets, bytes } = port.backlog;
        if packets >= port.limit.packets || bytes + size > port.limit.bytes {
            return;
        }
        self.line.push_back(tag);
        if tag > 0 {
            let flow = tag as usize - 1;
            if self.data.len() <= flow {
                self.data.resize(flow + 1, 0);
            }
            self.flows += u32::from(self.data[flow] == 0);
            self.data[flow] += 1;
            self.total += 1;
        }
    }

    /// Removes packets that have left, given the current backlog.
    pub fn update(&mut self, backlog: &Backlog) {
        while self.line.len() > backlog.packets as usize {
            let tag = self.line.pop_front().expect("it is longer than what waits");
            if tag > 0 {
                let flow = tag as usize - 1;
                self.data[flow] -= 1;
                self.flows -= u32::from(self.data[flow] == 0);
                self.total -= 1;
            }
        }
    }

    /// Waiting Data of a flow, and of all flows.
    pub fn data(&self, flow: u32) -> (u32, u32) {
        (self.data.get(flow as usize).copied().unwrap_or(0), self.total)
    }

    /// Number of flows with waiting Data.
    pub const fn flows(&self) -> u32 {
        self.flows
    }
}

/// Occupancy of a queue from 0 to 1: in packets if these are limited, otherwise in bytes.
pub fn filled(port: &PortView) -> f64 {
    match port.limit.packets {
        u32::MAX => port.backlog.bytes.as_f64() / port.limit.bytes.as_f64().max(1.0),
        packets => f64::from(port.backlog.packets) / f64::from(packets.max(1)),
    }
}

#[cfg(test)]
mod tests {
    use contract::{NodeId, PortId};
    use units::Rate;

    use super::*;

    #[test]
    fn the_model_counts_waiting_packets_per_flow() {
        let mut queue = FifoModel::default();
        let rate = Rate::from_mbps(10);
        let mut port = PortView {
            port: PortId(0),
            to: NodeId(1),
            rate,
            rate_in: rate,
            backlog: Backlog::default(),
            busy: false,
            limit: Backlog { packets: 3, bytes: Bytes::UNLIMITED },
        };
        let waiting = |packets| Backlog { packets, bytes: Bytes::new(1000) * u64::from(packets) };
        // the first is transmitted at once, and no longer waits when the second arrives
        for (tag, packets) in [(1, 0), (1, 0), (2, 1), (0, 2)] {
            port.backlog = waiting(packets);
            queue.offer(tag, Bytes::new(1000), &port);
        }
        queue.update(&waiting(3));
        assert_eq!((queue.data(0), queue.data(1), queue.data(2)), ((1, 2), (1, 2), (0, 2)));
        assert_eq!(queue.flows(), 2);
        // a fourth finds the queue full
        port.backlog = waiting(3);
        queue.offer(3, Bytes::new(1000), &port);
        queue.update(&waiting(3));
        assert_eq!(queue.data(2), (0, 2));
        queue.update(&waiting(1));
        assert_eq!((queue.data(0), queue.data(1), queue.flows()), ((0, 0), (0, 0), 0));
    }
}
