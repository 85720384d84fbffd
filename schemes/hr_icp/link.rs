//! HR-ICP at links: Interests of a flow leave at the fair rate of its Data. Routers shape; Interests of an endpoint on
//! the node are not delayed.

use contract::{
    Admission, FaceId, Header, InterestQueueId, LinkAlgorithm, LinkCx, NameId, Packet, PortView, Setup,
    Transit, TransitCx,
};
use units::Time;

use super::Params;
use super::rounds::Rounds;
use crate::shared::InterestQueueNumbers;

/// The shaper of a node.
#[derive(Clone, Debug)]
pub struct Shaper {
    /// The initial state of a link.
    fresh: Rounds,
    queue_limit: u32,
    /// Bytes of Data per Interest.
    data: u64,
    /// Per face.
    faces: Vec<Face>,
    interest_queues: InterestQueueNumbers,
    wake: Time,
    queued: u32,
}

/// A link on which Data leave to consumers.
#[derive(Clone, Debug)]
struct Face {
    rounds: Rounds,
    /// Interests that wait for its credits.
    queued: u32,
}

impl Face {
    fn advance(&mut self, now: Time, port: &PortView) {
        self.rounds.advance(now, port.rate);
        if self.queued == 0 {
            self.rounds.ended.clear();
        }
    }
}

impl Shaper {
    /// The part, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let (quantum, data) = (params.quantum.as_u64(), setup.segment.as_u64());
        Self {
            // our choice: at least one Data packet, otherwise a flow could never request
            fresh: Rounds::new(quantum, quantum.max(data)),
            queue_limit: params.queue_limit,
            data,
            faces: Vec::new(),
            interest_queues: InterestQueueNumbers::default(),
            wake: Time::NEVER,
            queued: 0,
        }
    }

    fn face(&mut self, face: FaceId) -> &mut Face {
        if self.faces.len() <= face.index() {
            self.faces.resize(face.index() + 1, Face { rounds: self.fresh.clone(), queued: 0 });
        }
        &mut self.faces[face.index()]
    }

    /// Sends the Interests that the credit of a flow allows.
    fn serve(&mut self, down: FaceId, flow: u32, cx: &mut dyn LinkCx) {
        let Face { rounds, queued } = &mut self.faces[down.index()];
        for interest_queue in self.interest_queues.of_flow(down, NameId(flow)) {
            let before = cx.interest_queue(interest_queue).packets;
            while cx.interest_queue(interest_queue).packets > 0 && rounds.admits(flow, self.data) {
                if cx.release(interest_queue).is_some() {
                    rounds.charge(flow, self.data);
                }
            }
            *queued -= before - cx.interest_queue(interest_queue).packets;
        }
    }

    fn show(&mut self, cx: &mut dyn LinkCx) {
        let queued = self.faces.iter().map(|face| face.queued).sum();
        if queued != self.queued {
            self.queued = queued;
            cx.probe("shaper_queue", f64::from(queued));
        }
    }
}

impl LinkAlgorithm for Shaper {
    fn on_interest(&mut self, interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let Header::Interest(asked) = interest.header else { return Admission::Pass };
        // Data for an endpoint on the node use no link
        let Some(port) = cx.face(path.from).link else { return Admission::Pass };
        let (flow, now, data, queue_limit) = (asked.name.prefix, cx.now(), self.data, self.queue_limit);
        let interest_queue: InterestQueueId = self.interest_queues.interest_queue(path.from, flow, path.to);
        let queue_length = cx.interest_queue(interest_queue).packets;
        let face = self.face(path.from);
        face.advance(now, &port);
        // Interests of a flow leave at the rate of its Data: each uses the credit of one     [MA24 Table 1, CCNPL]
        if queue_length == 0 && face.rounds.admits(flow.0, data) {
            face.rounds.charge(flow.0, data);
            return Admission::Pass;
        }
        // our choice: a separate limit per flow, so that a flow with too many Interests does not displace others
        // [CGM12]
        if queue_length >= queue_limit {
            return Admission::Drop;
        }
        face.queued += 1;
        let at = if face.rounds.ended.is_empty() { face.rounds.ends() } else { now };
        self.wake = self.wake.min(at);
        self.show(cx);
        Admission::Hold(interest_queue)
    }

    fn observes_enqueue(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &mut Packet, to: FaceId, port: &PortView, at: &mut TransitCx<'_>) {
        let Header::Data(data) = packet.header else { return };
        let (size, backlog, limit) = (packet.size(), port.backlog, port.limit);
        if backlog.packets >= limit.packets || backlog.bytes + size > limit.bytes {
            return;
        }
        let (now, face) = (at.now, self.face(to));
        face.advance(now, port);
        face.rounds.join(data.name.prefix.0, size.as_u64(), now, port.rate);
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        let now = cx.now();
        self.wake = Time::NEVER;
        for number in 0..self.faces.len() {
            let down = FaceId(number as u32);
            if self.faces[number].queued == 0 {
                continue;
            }
            let Some(port) = cx.face(down).link else { continue };
            self.faces[number].rounds.advance(now, port.rate);
            let ended = std::mem::take(&mut self.faces[number].rounds.ended);
            for flow in &ended {
                self.serve(down, *flow, cx);
            }
            let face = &mut self.faces[number];
            face.rounds.ended = ended;
            face.rounds.ended.clear();
            if face.queued > 0 {
                self.wake = self.wake.min(face.rounds.ends());
            }
        }
        self.show(cx);
    }

    fn wake(&self) -> Time {
        self.wake
    }
}
