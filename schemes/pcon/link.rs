//! PCON at links: detects standing queues, and marks the Data of that queue, or the Data that answer its Interests.

use contract::{Admission, Ecn, FaceId, Header, LinkAlgorithm, LinkCx, Packet, PortView, Transit, TransitCx};
use units::{Duration, Time};

use crate::shared::{StandingQueue, StandingQueueRules};

contract::choice! {
    /// Which packet of a link is marked.
    pub enum MarkAt {
        /// The next one that joins the queue.
        Enqueue = "enqueue",
        /// The Data whose departure makes the mark due.
        Dequeue = "dequeue",
    }
}

/// Marks for all links of a node.
///
/// With `heavy` set, a mark has a level in the first word of the Data's label: 2 if more than this share of the queue
/// limit is used, 1 otherwise. Without it there is only the mark.
#[derive(Clone, Debug)]
pub struct Marking {
    rules: StandingQueueRules,
    heavy: Option<f64>,
    mark_at: MarkAt,
    /// By face.
    queues: Vec<StandingQueue>,
    operations: u64,
}

impl Marking {
    /// `target` and `interval` are CoDel's; `gap` is the time between marks in intervals.
    pub fn new(target: Duration, interval: Duration, gap: f64, heavy: Option<f64>, mark_at: MarkAt) -> Self {
        let rules = StandingQueueRules { target, interval, gap: interval.scaled(gap) };
        Self { rules, heavy, mark_at, queues: Vec::new(), operations: 0 }
    }

    fn queue(&mut self, face: FaceId) -> &mut StandingQueue {
        if self.queues.len() <= face.index() {
            self.queues.resize_with(face.index() + 1, StandingQueue::default);
        }
        &mut self.queues[face.index()]
    }

    /// Takes the level of the pending mark of a link.
    fn take(&mut self, face: FaceId, cx: &mut dyn LinkCx) -> u8 {
        let Some(link) = cx.face(face).link else { return 0 };
        self.queue(face).take_mark(link.busy)
    }

    /// Marks Data if they are ECN-capable.
    fn write(&mut self, data: &mut Packet, level: u32) {
        if level == 0 || data.ecn == Ecn::NotCapable {
            return;
        }
        self.operations += u64::from(data.ecn != Ecn::Marked);
        data.ecn = Ecn::Marked;
        if self.heavy.is_some() {
            data.label.0[0] = data.label.0[0].max(u64::from(level));
        }
    }
}

impl LinkAlgorithm for Marking {
    fn on_interest(&mut self, _interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        // the link towards the producer is congested: the returning Data will be marked    [SCHNEIDER]
        // differs: a probe takes a mark like any Interest; the link cannot recognise probes
        let level = self.take(path.to, cx);
        path.note = path.note.max(u32::from(level));
        Admission::Pass
    }

    fn on_data_out(&mut self, data: &mut Packet, path: &Transit, cx: &mut dyn LinkCx) {
        // the mark of the arriving Data, of the Interest's path, or of the outgoing link   [SCHNEIDER]
        // differs: each downstream gets the mark of its own link; in the source the last one decides for all
        let level = u32::from(self.take(path.to, cx)).max(path.note);
        self.write(data, level);
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
        waited: Duration,
        at: &mut TransitCx<'_>,
    ) {
        // operations: the delay of each packet, and its comparison with the target
        self.operations += 2;
        let (rules, heavy, now): (_, _, Time) = (self.rules, self.heavy, at.now);
        let queue = self.queue(to);
        queue.on_departure(now, waited, &rules, || if is_heavy(heavy, port) { 2 } else { 1 });
        if self.mark_at == MarkAt::Dequeue && matches!(packet.header, Header::Data(_)) {
            let level = self.queue(to).take_mark(true);
            self.write(packet, u32::from(level));
        }
    }

    fn has_deadlines(&self) -> bool {
        false
    }

    fn operations(&self) -> u64 {
        self.operations
    }
}

/// Whether more than the share `heavy` of the queue limit is used.
fn is_heavy(heavy: Option<f64>, port: &PortView) -> bool {
    let Some(part) = heavy else { return false };
    let taken = |waiting: f64, limit: f64| waiting > part * limit;
    taken(f64::from(port.backlog.packets), f64::from(port.limit.packets))
        || taken(port.backlog.bytes.as_f64(), port.limit.bytes.as_f64())
}
