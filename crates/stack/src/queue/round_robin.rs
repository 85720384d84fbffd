//! Deficit round robin of classes.

use std::collections::VecDeque;

use contract::{Backlog, DropReason, Ecn, Header, PacketCx, PacketId, QueueDiscipline, QueueLimit, Verdict};
use units::Bytes;

/// Classes served by deficit round robin (Shreedhar and Varghese, SIGCOMM 1995): each class with packets sends in
/// proportion to its weight, whatever the sizes of packets. Out-of-band control packets of streams are in the last
/// class.
#[derive(Debug)]
pub struct RoundRobin {
    classes: Vec<Class>,
    class_of_flow: Vec<u8>,
    current: usize,
    /// The limit of each class.
    limit: QueueLimit,
    backlog: Backlog,
}

#[derive(Debug)]
struct Class {
    packets: VecDeque<(PacketId, u32)>,
    bytes: u64,
    quantum: u64,
    deficit: u64,
    /// Whether it has had its quantum in this visit.
    visited: bool,
}

/// Bytes per round of a class of weight one: one full Ethernet frame.
const QUANTUM_BYTES: u64 = 1500;

impl RoundRobin {
    /// A queue with one class per weight. `class_of_flow` is indexed by flow; a class beyond the last counts as the
    /// last.
    pub fn new(weights: &[u32], class_of_flow: Vec<u8>, limit: QueueLimit) -> Self {
        let class = |weight: &u32| Class {
            packets: VecDeque::new(),
            bytes: 0,
            quantum: u64::from(*weight) * QUANTUM_BYTES,
            deficit: 0,
            visited: false,
        };
        Self {
            classes: weights.iter().map(class).collect(),
            class_of_flow,
            current: 0,
            limit,
            backlog: Backlog::default(),
        }
    }
}

impl QueueDiscipline for RoundRobin {
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let header = cx.arena.get(packet);
        let (flow, size, ecn) = (header.flow, header.size_bytes, header.ecn);
        let last = self.classes.len() - 1;
        let class = match header.header {
            // out of band
            Header::StreamControl(_) => last,
            _ => usize::from(self.class_of_flow.get(flow.index()).copied().unwrap_or(0)).min(last),
        };
        let class = &mut self.classes[class];
        let waiting = class.packets.len() as u32;
        if !self.limit.admits(waiting, class.bytes, u64::from(size)) {
            return Verdict::Drop(DropReason::QueueFull);
        }
        class.packets.push_back((packet, size));
        class.bytes += u64::from(size);
        self.backlog.packets += 1;
        self.backlog.bytes += Bytes::new(u64::from(size));
        if waiting >= self.limit.mark_above && ecn != Ecn::NotCapable { Verdict::Mark } else { Verdict::Pass }
    }

    fn dequeue(&mut self, _cx: &mut PacketCx<'_>) -> Option<PacketId> {
        if self.backlog.packets == 0 {
            return None;
        }
        loop {
            let class = &mut self.classes[self.current];
            let Some(&(packet, size)) = class.packets.front() else {
                class.deficit = 0;
                self.advance();
                continue;
            };
            if !class.visited {
                class.visited = true;
                class.deficit += class.quantum;
            }
            if class.deficit < u64::from(size) {
                self.advance();
                continue;
            }
            class.deficit -= u64::from(size);
            class.packets.pop_front();
            class.bytes -= u64::from(size);
            self.backlog.packets -= 1;
            self.backlog.bytes -= Bytes::new(u64::from(size));
            return Some(packet);
        }
    }

    fn backlog(&self) -> Backlog {
        self.backlog
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.backlog = Backlog::default();
        let mut held = Vec::new();
        for class in &mut self.classes {
            held.extend(class.packets.drain(..).map(|(packet, _)| packet));
            (class.bytes, class.deficit, class.visited) = (0, 0, false);
        }
        held
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

impl RoundRobin {
    fn advance(&mut self) {
        self.classes[self.current].visited = false;
        self.current = (self.current + 1) % self.classes.len();
    }
}

#[cfg(test)]
mod tests {
    use contract::{Arena, Packet, Random, StreamHeader};
    use units::{Rate, Time};

    use super::*;
    use crate::queue::testing::packet;

    #[test]
    fn backlogged_classes_send_in_proportion_to_their_weights_whatever_their_sizes() {
        let limit = QueueLimit { packets: 10_000, bytes: Bytes::UNLIMITED, mark_above: u32::MAX };
        let mut queue = RoundRobin::new(&[1, 3], vec![0, 1], limit);
        let (mut arena, mut random, mut dropped) = (Arena::new(), Random::new(1, "", ""), Vec::new());
        let mut cx = PacketCx {
            now: Time::ZERO,
            rate: Rate::from_mbps(8),
            random: &mut random,
            arena: &mut arena,
            dropped: &mut dropped,
            marked: 0,
        };
        for _ in 0..6000 {
            for (flow, size) in [(0, 1000), (1, 400)] {
                let id = cx.arena.insert(packet(flow, size));
                assert_eq!(queue.enqueue(id, &mut cx), Verdict::Pass);
            }
        }
        let mut sent = [0u64; 2];
        for _ in 0..4000 {
            let id = queue.dequeue(&mut cx).expect("both classes are backlogged");
            sent[cx.arena.get(id).flow.index()] += u64::from(cx.arena.get(id).size_bytes);
        }
        let ratio = sent[1] as f64 / sent[0] as f64;
        assert!((ratio - 3.0).abs() < 0.02, "{sent:?}");
    }

    #[test]
    fn control_packets_out_of_band_overtake_the_data_of_their_flow_in_the_last_class() {
        let limit = QueueLimit { packets: 100, bytes: Bytes::UNLIMITED, mark_above: u32::MAX };
        let mut queue = RoundRobin::new(&[1, 1], vec![0], limit);
        let (mut arena, mut random, mut dropped) = (Arena::new(), Random::new(1, "", ""), Vec::new());
        let mut cx = PacketCx {
            now: Time::ZERO,
            rate: Rate::from_mbps(8),
            random: &mut random,
            arena: &mut arena,
            dropped: &mut dropped,
            marked: 0,
        };
        let control = Packet { header: Header::StreamControl(StreamHeader::default()), ..packet(0, 40) };
        for waiting in [packet(0, 1500), packet(0, 1500), packet(0, 1500), control] {
            let id = cx.arena.insert(waiting);
            queue.enqueue(id, &mut cx);
        }
        let mut sizes = Vec::new();
        while let Some(id) = queue.dequeue(&mut cx) {
            sizes.push(cx.arena.get(id).size_bytes);
        }
        // class 0 may send 1514 bytes before class 1
        assert_eq!(sizes, [1500, 40, 1500, 1500]);
    }

    #[test]
    fn a_class_has_a_limit_of_its_own() {
        let limit = QueueLimit { packets: 2, bytes: Bytes::UNLIMITED, mark_above: u32::MAX };
        let mut queue = RoundRobin::new(&[1, 1], vec![0, 1], limit);
        let (mut arena, mut random, mut dropped) = (Arena::new(), Random::new(1, "", ""), Vec::new());
        let mut cx = PacketCx {
            now: Time::ZERO,
            rate: Rate::from_mbps(8),
            random: &mut random,
            arena: &mut arena,
            dropped: &mut dropped,
            marked: 0,
        };
        let mut offer = |flow| {
            let id = cx.arena.insert(packet(flow, 1000));
            queue.enqueue(id, &mut cx)
        };
        assert_eq!([offer(0), offer(0)], [Verdict::Pass; 2]);
        assert_eq!(offer(0), Verdict::Drop(DropReason::QueueFull));
        assert_eq!(offer(1), Verdict::Pass);
        assert_eq!(queue.backlog(), Backlog { packets: 3, bytes: Bytes::new(3000) });
    }
}
