//! CHoPCoP at links: random early marking of Data, and fair-share Interest shaping while a queue of Data is long.

use contract::{
    Admission, Ecn, FaceId, Header, InterestQueueId, LinkAlgorithm, LinkCx, Packet, PortView, Setup, Transit,
    TransitCx,
};
use units::{Duration, Time};

use super::Params;
use crate::shared::{FifoModel, InterestQueueNumbers, Red, RedRules, filled, serve_due};

/// The link part of a node.
#[derive(Debug)]
pub struct Hops {
    marking: RedRules,
    threshold: f64,
    queue_limit: u32,
    /// Size of a Data packet on the wire, in bits.
    data_bits: f64,
    /// By face.
    queues: Vec<Queue>,
    interest_queues: InterestQueueNumbers,
    /// By [`InterestQueueId`].
    lines: Vec<Line>,
    wake: Time,
    queued: u32,
}

/// The queue of Data on a link.
#[derive(Clone, Debug, Default)]
struct Queue {
    mirror: FifoModel,
    red: Red,
    /// The mean changed since it was last recorded.
    changed: bool,
}

/// The Interests of a flow for one link.
#[derive(Clone, Copy, Debug)]
struct Line {
    /// The link on which its Data leave.
    down: FaceId,
    /// When the last Interest left.
    last: Time,
    /// When the next Interest may leave; [`Time::NEVER`] if none waits.
    at: Time,
}

impl Hops {
    /// The part, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let Params { weight: gain, min_th: min, max_th: max, max_p: share, .. } = *params;
        Self {
            marking: RedRules { gain, min, max, share },
            threshold: params.threshold,
            queue_limit: params.queue_limit,
            data_bits: setup.segment.as_f64() * 8.0,
            queues: Vec::new(),
            interest_queues: InterestQueueNumbers::default(),
            lines: Vec::new(),
            wake: Time::NEVER,
            queued: 0,
        }
    }

    fn queue(&mut self, face: FaceId) -> &mut Queue {
        if self.queues.len() <= face.index() {
            self.queues.resize_with(face.index() + 1, Queue::default);
        }
        &mut self.queues[face.index()]
    }

    /// The gap between two Interests of a flow whose Data leave on `down`; `None` if they are not delayed.
    pub(super) fn gap(&mut self, down: FaceId, cx: &mut dyn LinkCx) -> Option<Duration> {
        let port = cx.face(down).link?;
        // rate control only if the queue length exceeds the threshold                     [MA24 §2.3]
        if filled(&port) <= self.threshold {
            return None;
        }
        let bits = self.data_bits;
        let mirror = &mut self.queue(down).mirror;
        mirror.update(&port.backlog);
        // our choice: the fair share of n flows with Data in the queue is C/n, a gap of n·S/C   [ZHANG14]
        let gap_s = f64::from(mirror.flows().max(1)) * bits / port.rate.as_bps_f64();
        Some(Duration::from_secs_f64(gap_s.min(LONGEST_S)).max(Duration::from_nanos(1)))
    }

    /// Sends the Interests of an Interest queue that are due.
    fn serve(&mut self, line: u32, cx: &mut dyn LinkCx) {
        let (interest_queue, now) = (InterestQueueId(line), cx.now());
        let down = self.lines[line as usize].down;
        while cx.interest_queue(interest_queue).packets > 0 {
            let last = self.lines[line as usize].last;
            if let Some(gap) = self.gap(down, cx)
                && now < last + gap
            {
                self.lines[line as usize].at = last + gap;
                return;
            }
            if cx.release(interest_queue).is_some() {
                self.lines[line as usize].last = now;
            }
        }
        self.lines[line as usize].at = Time::NEVER;
    }

    /// Records changed means.
    fn show(&mut self, cx: &mut dyn LinkCx) {
        let queued =
            (0..self.lines.len() as u32).map(|line| cx.interest_queue(InterestQueueId(line)).packets).sum();
        if queued != self.queued {
            self.queued = queued;
            cx.probe("shaper_queue", f64::from(queued));
        }
    }
}

impl LinkAlgorithm for Hops {
    fn on_interest(&mut self, interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let Header::Interest(asked) = interest.header else { return Admission::Pass };
        // Data for an endpoint on the node have no queue
        if cx.face(path.from).link.is_none() {
            return Admission::Pass;
        }
        let interest_queue = self.interest_queues.interest_queue(path.from, asked.name.prefix, path.to);
        if self.lines.len() <= interest_queue.index() {
            self.lines.push(Line { down: path.from, last: Time::ZERO, at: Time::NEVER });
        }
        let (gap, now) = (self.gap(path.from, cx), cx.now());
        let queue_length = cx.interest_queue(interest_queue).packets;
        let line = &mut self.lines[interest_queue.index()];
        if line.at == Time::NEVER {
            match gap.map(|gap| line.last + gap) {
                Some(free_at) if now < free_at => line.at = free_at,
                _ => {
                    line.last = now;
                    return Admission::Pass;
                }
            }
        } else if queue_length >= self.queue_limit {
            return Admission::Drop;
        } else if gap.is_none() {
            // waiting Interests are sent first, at once
            line.at = now;
        }
        self.wake = self.wake.min(line.at);
        self.queued += 1;
        cx.probe("shaper_queue", f64::from(self.queued));
        Admission::Hold(interest_queue)
    }

    fn on_data_out(&mut self, _data: &mut Packet, path: &Transit, cx: &mut dyn LinkCx) {
        let queue = self.queue(path.to);
        if std::mem::take(&mut queue.changed) {
            cx.probe("mean_queue", queue.red.mean());
        }
    }

    fn observes_enqueue(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &mut Packet, to: FaceId, port: &PortView, at: &mut TransitCx<'_>) {
        let (size, marking) = (packet.size(), self.marking);
        let queue = self.queue(to);
        let Header::Data(data) = packet.header else { return queue.mirror.offer(0, size, port) };
        queue.mirror.offer(data.name.prefix.0 + 1, size, port);
        queue.changed = true;
        // random early marking signals congestion explicitly                              [ZHANG14]
        // our choice: RED's mean, thresholds and probability                              [FJ93]
        let hit = queue.red.hits(filled(port), port.backlog.packets <= 1, &marking, at.random);
        if hit && packet.ecn.is_unmarked() {
            packet.ecn = Ecn::Marked;
        }
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        let (count, now) = (self.lines.len(), cx.now());
        self.wake = serve_due(
            self,
            count,
            now,
            |algorithm, at| algorithm.lines[at].at,
            |algorithm, at| algorithm.serve(at, cx),
        );
        self.show(cx);
    }

    fn wake(&self) -> Time {
        self.wake
    }
}

/// Our choice: a limit, so that a very slow link does not stop a flow permanently.
const LONGEST_S: f64 = 10.0;
