//! ndnSieve at the links of a forwarder: Data that leave a severely congested queue are marked.

use contract::{Ecn, FaceId, Header, LinkAlgorithm, LinkCx, Packet, PortView, TransitCx};
use units::{Duration, Time};

use super::rules::Rules;
use crate::shared::filled;

/// The link part of a node [SIEVE §4.1].
#[derive(Clone, Debug)]
pub struct Link {
    rules: Rules,
    /// By face.
    queues: Vec<Queue>,
    /// Start of detection periods.
    period_start: Time,
    operations: u64,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Queue {
    severe: bool,
    /// Number of the present detection period.
    period: u64,
    /// The minimum backlog in this period.
    min: u32,
}

const NEW: Queue = Queue { severe: false, period: 0, min: u32::MAX };

impl Link {
    pub(crate) fn new(rules: &Rules) -> Self {
        Self { rules: rules.clone(), queues: Vec::new(), period_start: Time::ZERO, operations: 0 }
    }

    /// Takes the backlog behind a packet that leaves now. Returns whether congestion is severe.
    fn observe(&mut self, face: FaceId, backlog: u32, filled: f64, now: Time) -> bool {
        let Some(queue) = self.queues.get_mut(face.index()) else { return false };
        self.operations += 1;
        let Some(span) = self.rules.detection else {
            // L: at each departure                                                                  [SIEVE §4.1]
            queue.severe = self.rules.is_severe(backlog, filled);
            return queue.severe;
        };
        // differs: a queue that is long for a moment is a burst and not congestion; the minimum length in a period decides the next
        let period = now.saturating_since(self.period_start).as_nanos() / span.as_nanos().max(1);
        if period != queue.period {
            self.operations += 1;
            let known = period == queue.period + 1 && queue.min != u32::MAX;
            queue.severe = known && self.rules.is_severe(queue.min, filled);
            (queue.period, queue.min) = (period, u32::MAX);
        }
        queue.min = queue.min.min(backlog);
        queue.severe
    }
}

impl LinkAlgorithm for Link {
    fn on_start(&mut self, cx: &mut dyn LinkCx) {
        self.queues = vec![NEW; cx.faces() as usize];
        self.period_start = cx.now();
    }

    fn observes_packets(&self) -> bool {
        false
    }

    fn observes_dequeue(&self) -> bool {
        true
    }

    #[inline]
    fn on_dequeue(
        &mut self,
        packet: &mut Packet,
        to: FaceId,
        port: &PortView,
        _waited: Duration,
        at: &mut TransitCx<'_>,
    ) {
        let severe = self.observe(to, port.backlog.packets, filled(port), at.now);
        // marks are kept, and no later queue clears them                                            [SIEVE §4.1]
        if severe && matches!(packet.header, Header::Data(_)) && packet.ecn.is_unmarked() {
            packet.ecn = Ecn::Marked;
            self.operations += 1;
        }
    }

    fn has_deadlines(&self) -> bool {
        false
    }

    fn operations(&self) -> u64 {
        self.operations
    }
}
