//! ndnSieve at the links of a forwarder: Data that leave a severely congested queue are marked.

use contract::{Ecn, FaceId, Header, LinkAlgorithm, LinkCx, Packet, PortView, TransitCx};
use units::{Duration, Time};

use super::rules::Rules;
use crate::shared::filled;

/// The link part of a node [SIEVE §4.1]. In memory, what every departure needs comes first.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Link {
    /// By face.
    queues: Vec<Queue>,
    operations: u64,
    /// Start of detection periods.
    period_start: Time,
    rules: Rules,
}

/// The state of a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Queue {
    /// End of the current detection period; zero before the first departure, and without such periods.
    ends: Time,
    /// The minimum backlog in this period.
    min: u32,
    severe: bool,
    /// Number of the period.
    period: u64,
}

const NEW: Queue = Queue { ends: Time::ZERO, min: u32::MAX, severe: false, period: 0 };

impl Link {
    pub(crate) fn new(rules: &Rules) -> Self {
        Self { queues: Vec::new(), operations: 0, period_start: Time::ZERO, rules: rules.clone() }
    }

    /// Takes the backlog of a queue behind a packet that leaves now. Returns whether congestion is severe.
    #[inline]
    fn observe(&mut self, face: FaceId, port: &PortView, now: Time) -> bool {
        let Some(queue) = self.queues.get_mut(face.index()) else { return false };
        self.operations += 1;
        if now >= queue.ends {
            return self.begin_period(face, port, now);
        }
        queue.min = queue.min.min(port.backlog.packets);
        queue.severe
    }

    /// Takes the backlog behind the first packet that leaves in a period.
    #[inline(never)]
    fn begin_period(&mut self, face: FaceId, port: &PortView, now: Time) -> bool {
        let queue = &mut self.queues[face.index()];
        let (backlog, filled) = (port.backlog.packets, filled(port));
        let Some(span) = self.rules.detection else {
            // L: at each departure                                                                  [SIEVE §4.1]
            queue.severe = self.rules.is_severe(backlog, filled);
            return queue.severe;
        };
        // differs: a queue that is long for a moment is a burst and not congestion; the minimum length in a period
        // decides the next
        let span = Duration::from_nanos(span.as_nanos().max(1));
        let period = now.saturating_since(self.period_start).as_nanos() / span.as_nanos();
        queue.ends = self.period_start + span * (period + 1);
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
        let severe = self.observe(to, port, at.now);
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
