//! HIS at links: every node shapes at every link, including the nodes of consumers.

use contract::{
    Admission, FaceId, Header, InterestQueueId, LinkAlgorithm, LinkCx, NackReason, Packet, ReturnPath, Setup,
    Transit,
};
use units::{Bytes, Duration, Time};

use super::Params;
use super::drops::{Codel, Pie, Queue};
use super::share::LinkRates;
use crate::shared::serve_due;

/// The shaper of a node. The Interest queue of a link has the number of its face.
#[derive(Clone, Debug)]
pub struct Shaper {
    params: Params,
    data: f64,
    /// Per face; used for links only.
    links: Vec<Link>,
    wake: Time,
    queued: u32,
}

/// The state of a link.
#[derive(Clone, Debug)]
struct Link {
    i_out: f64,
    i_in: f64,
    d_out: f64,
    d_in: f64,
    /// Bytes of Interests received since `since`.
    counted: u64,
    since: Time,
    /// Rate of received Interests, in bit/s.
    observed: f64,
    /// When the next Interest may leave.
    free_at: Time,
    /// Whether Interests wait.
    waiting: bool,
    pie: Pie,
    codel: Codel,
}

impl Shaper {
    /// The part, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            params: params.clone(),
            data: setup.segment.as_f64().max(1.0),
            links: Vec::new(),
            wake: Time::NEVER,
            queued: 0,
        }
    }

    fn link(&mut self, face: FaceId) -> &mut Link {
        if self.links.len() <= face.index() {
            let interest = self.params.interest.as_f64();
            let new = Link {
                i_out: interest,
                i_in: interest,
                d_out: self.data,
                d_in: self.data,
                counted: 0,
                since: Time::ZERO,
                observed: 0.0,
                free_at: Time::ZERO,
                waiting: false,
                pie: Pie::default(),
                codel: Codel::default(),
            };
            self.links.resize(face.index() + 1, new);
        }
        &mut self.links[face.index()]
    }

    /// The rate s of a link, in bit/s of Interests.
    pub(super) fn rate(&mut self, face: FaceId, cx: &mut dyn LinkCx) -> f64 {
        let Some(port) = cx.face(face).link else { return f64::INFINITY };
        let (every, headroom, now) = (self.params.interval, self.params.headroom, cx.now());
        let link = self.link(face);
        link.observe(now, every);
        let Link { i_out, i_in, d_out, d_in, observed, .. } = *link;
        let both =
            LinkRates { c1: port.rate.as_bps_f64(), c2: port.rate_in.as_bps_f64(), i_out, i_in, d_out, d_in };
        both.rate(observed, headroom)
    }

    /// Counts an Interest of `size` that leaves: the next may follow after a gap.
    fn charge(&mut self, face: FaceId, size: Bytes, cx: &mut dyn LinkCx) {
        let gain = self.params.size_gain;
        let link = self.link(face);
        link.i_out += gain * (size.as_f64() - link.i_out);
        let shaped = self.params.headroom * self.rate(face, cx);
        cx.probe("shaped_rate", shaped);
        // gap = size·8/(h·s)                                                              [CCNEW]
        let gap_s = size.as_f64() * 8.0 / shaped;
        self.link(face).free_at = cx.now() + Duration::from_secs_f64(gap_s.min(LONGEST_S));
    }

    /// Sends Interests that are due.
    fn serve(&mut self, face: FaceId, cx: &mut dyn LinkCx) {
        let (interest_queue, now) = (InterestQueueId(face.0), cx.now());
        while self.links[face.index()].free_at <= now {
            let view = cx.interest_queue(interest_queue);
            if self.params.queue == Queue::Codel && view.packets > 0 {
                let params = &self.params;
                if self.links[face.index()].codel.refuses(&view, now, params) {
                    cx.refuse(interest_queue, NackReason::Congestion);
                    continue;
                }
            }
            let Some(size) = cx.release(interest_queue) else {
                self.links[face.index()].waiting = false;
                return;
            };
            self.charge(face, size, cx);
        }
        self.links[face.index()].waiting = cx.interest_queue(interest_queue).packets > 0;
    }

    fn count_held(&mut self, cx: &mut dyn LinkCx) {
        let queued =
            (0..self.links.len() as u32).map(|face| cx.interest_queue(InterestQueueId(face)).packets).sum();
        if queued != self.queued {
            self.queued = queued;
            cx.probe("shaper_queue", f64::from(queued));
        }
    }
}

impl Link {
    /// When the first waiting Interest may leave; never if none waits.
    fn deadline(&self) -> Time {
        if self.waiting { self.free_at } else { Time::NEVER }
    }

    /// Measures the rate of received Interests, if an interval has ended.
    fn observe(&mut self, now: Time, every: Duration) {
        let span = now.saturating_since(self.since);
        if span >= every {
            // differs: it is measured at use as well, so that the rate of a silent side decreases
            self.observed = self.counted as f64 * 8.0 / span.as_secs_f64();
            (self.counted, self.since) = (0, now);
        }
    }
}

impl LinkAlgorithm for Shaper {
    fn on_start(&mut self, cx: &mut dyn LinkCx) {
        let now = cx.now();
        for face in 0..cx.faces() {
            if cx.face(FaceId(face)).link.is_some() {
                self.link(FaceId(face)).since = now;
            }
        }
    }

    fn on_interest_in(&mut self, interest: &Packet, from: FaceId, cx: &mut dyn LinkCx) {
        let (gain, every, now) = (self.params.size_gain, self.params.interval, cx.now());
        let link = self.link(from);
        link.i_in += gain * (interest.size().as_f64() - link.i_in);
        // the Interest that ends an interval counts in it; the release omits it            [CCNEW]
        link.counted += interest.size().as_u64();
        link.observe(now, every);
    }

    fn on_interest(&mut self, interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let (face, now, size) = (path.to, cx.now(), interest.size());
        let interest_queue = cx.interest_queue(InterestQueueId(face.0));
        let link = self.link(face);
        if !link.waiting && link.free_at <= now {
            self.charge(face, size, cx);
            return Admission::Pass;
        }
        let refused = interest_queue.packets >= self.params.queue_limit
            || (self.params.queue == Queue::Pie
                && self.links[face.index()].pie.refuses(&interest_queue, now, &self.params, cx.random()));
        if refused {
            return if self.params.nacks {
                Admission::Refuse(NackReason::Congestion)
            } else {
                Admission::Drop
            };
        }
        let link = &mut self.links[face.index()];
        link.waiting = true;
        self.wake = self.wake.min(link.free_at);
        cx.probe("shaper_queue", f64::from(self.queued + 1));
        self.queued += 1;
        Admission::Hold(InterestQueueId(face.0))
    }

    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, _cx: &mut dyn LinkCx) {
        if let Header::Data(_) = data.header {
            let gain = self.params.size_gain;
            let link = self.link(path.from);
            link.d_in += gain * (data.size().as_f64() - link.d_in);
        }
    }

    fn on_data_out(&mut self, data: &mut Packet, path: &Transit, _cx: &mut dyn LinkCx) {
        if let Header::Data(_) = data.header {
            let gain = self.params.size_gain;
            let link = self.link(path.to);
            link.d_out += gain * (data.size().as_f64() - link.d_out);
        }
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        let (count, now) = (self.links.len(), cx.now());
        self.wake = serve_due(
            self,
            count,
            now,
            |algorithm, at| algorithm.links[at].deadline(),
            |algorithm, at| algorithm.serve(FaceId(at), cx),
        );
        self.count_held(cx);
    }

    fn wake(&self) -> Time {
        self.wake
    }
}

/// Our choice: a limit, so that a very slow link does not stop permanently.
const LONGEST_S: f64 = 10.0;
