//! ECP at links: Interests leave at the rate at which their Data can return, and the level of their queue is written
//! into Data.

use contract::{
    Admission, Ecn, FaceId, Header, InterestQueueId, LinkAlgorithm, LinkCx, NackReason, Packet, ReturnPath,
    Setup, Transit,
};
use units::{Duration, Time};

use super::Params;
use crate::shared::serve_due;

/// The Interest queues of a node. The Interest queue of a link has the number of its face.
#[derive(Clone, Debug)]
pub struct Levels {
    gain: f64,
    queue_limit: u32,
    /// Mean queues, in Interests, from which a link is busy and congested.
    busy: f64,
    congested: f64,
    /// Bits of Data per Interest.
    data_bits: f64,
    /// By face.
    queues: Vec<Queue>,
    wake: Time,
    queued: u32,
}

/// The Interest queue of a link.
#[derive(Clone, Copy, Debug)]
struct Queue {
    /// Mean length.
    mean: f64,
    /// When the next Interest may leave.
    free_at: Time,
    /// Whether Interests wait.
    waiting: bool,
}

impl Levels {
    /// The part, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let queue_limit = f64::from(params.queue_limit);
        Self {
            gain: params.weight,
            queue_limit: params.queue_limit,
            busy: params.busy * queue_limit,
            congested: params.congested * queue_limit,
            data_bits: setup.segment.as_f64() * 8.0,
            queues: Vec::new(),
            wake: Time::NEVER,
            queued: 0,
        }
    }

    fn queue(&mut self, face: FaceId) -> &mut Queue {
        if self.queues.len() <= face.index() {
            let new = Queue { mean: 0.0, free_at: Time::ZERO, waiting: false };
            self.queues.resize(face.index() + 1, new);
        }
        &mut self.queues[face.index()]
    }

    /// The level of a mean queue: 0 free, 1 busy, 2 congested.
    fn level(&self, mean: f64) -> u32 {
        u32::from(mean >= self.busy) + u32::from(mean >= self.congested)
    }

    /// Serialisation time of the Data of an Interest on the link.
    fn gap(&self, face: FaceId, cx: &mut dyn LinkCx) -> Duration {
        // our choice: L = C/size of Data; otherwise Interests would never wait and there would be no queue to monitor
        let rate = cx.face(face).link.map_or(f64::INFINITY, |port| port.rate_in.as_bps_f64());
        Duration::from_secs_f64((self.data_bits / rate).min(LONGEST_S)).max(Duration::from_nanos(1))
    }

    /// Sends Interests that are due.
    fn serve(&mut self, face: FaceId, cx: &mut dyn LinkCx) {
        let (interest_queue, now, gap) = (InterestQueueId(face.0), cx.now(), self.gap(face, cx));
        let queue = &mut self.queues[face.index()];
        while queue.free_at <= now && cx.interest_queue(interest_queue).packets > 0 {
            if cx.release(interest_queue).is_some() {
                queue.free_at = now + gap;
            }
        }
        queue.waiting = cx.interest_queue(interest_queue).packets > 0;
    }

    fn show(&mut self, cx: &mut dyn LinkCx) {
        let queued =
            (0..self.queues.len() as u32).map(|face| cx.interest_queue(InterestQueueId(face)).packets).sum();
        if queued != self.queued {
            self.queued = queued;
            cx.probe("shaper_queue", f64::from(queued));
        }
    }
}

impl Queue {
    /// When the first waiting Interest may leave; never if none waits.
    fn deadline(&self) -> Time {
        if self.waiting { self.free_at } else { Time::NEVER }
    }
}

impl LinkAlgorithm for Levels {
    fn on_interest(&mut self, _interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let (face, now, interest_queue, gain) = (path.to, cx.now(), InterestQueueId(path.to.0), self.gain);
        let queue_length = cx.interest_queue(interest_queue).packets;
        // the length of the outgoing Interest queue                                         [REN16]
        // our choice: avg ← 0.8·avg + 0.2·q with each Interest
        let queue = self.queue(face);
        queue.mean += gain * (f64::from(queue_length) - queue.mean);
        let mean = queue.mean;
        let level = self.level(mean);
        cx.probe("queue_level", f64::from(level));
        // the highest level of the path, stored in the PIT entry
        path.note = path.note.max(level);
        let gap = self.gap(face, cx);
        let queue = self.queue(face);
        if !queue.waiting && queue.free_at <= now {
            queue.free_at = now + gap;
            return Admission::Pass;
        }
        if queue_length >= self.queue_limit {
            // our choice: a full queue refuses
            return Admission::Refuse(NackReason::Congestion);
        }
        let queue = self.queue(face);
        queue.waiting = true;
        let free_at = queue.free_at;
        self.wake = self.wake.min(free_at);
        self.queued += 1;
        cx.probe("shaper_queue", f64::from(self.queued));
        Admission::Hold(interest_queue)
    }

    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, _cx: &mut dyn LinkCx) {
        if !matches!(data.header, Header::Data(_)) {
            return;
        }
        // explicit feedback to the receiver: two bits of the Data                           [REN16]
        let level = data.label.0[0].max(u64::from(path.note)).min(2);
        data.label.0[0] = level;
        if level == 2 && data.ecn.is_unmarked() {
            data.ecn = Ecn::Marked;
        }
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        let (count, now) = (self.queues.len(), cx.now());
        self.wake = serve_due(
            self,
            count,
            now,
            |algorithm, at| algorithm.queues[at].deadline(),
            |algorithm, at| algorithm.serve(FaceId(at), cx),
        );
        self.show(cx);
    }

    fn wake(&self) -> Time {
        self.wake
    }
}

/// Our choice: a limit, so that a very slow link does not stop permanently.
const LONGEST_S: f64 = 10.0;
