//! Explicit rates at links: one rate for all flows whose Data leave on a link, updated once per interval, and written
//! into these Data.

use contract::{
    Admission, FaceId, Header, LinkAlgorithm, LinkCx, Packet, PortView, ReturnPath, Transit, TransitCx,
};
use units::{Duration, Rate, Time};

use super::Params;
use crate::shared::offer;

/// The link part of a node.
#[derive(Clone, Debug)]
pub struct Offers {
    rule: Rule,
    interval: Duration,
    rtt_gain: f64,
    initial_rtt_s: f64,
    /// Per face; used for links only.
    links: Vec<Link>,
    at: Time,
}

/// The constants of the rate equation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Rule {
    pub a: f64,
    pub b: f64,
    pub eta: f64,
    pub min: f64,
    pub start: f64,
}

/// The state of a link.
#[derive(Clone, Copy, Debug)]
struct Link {
    /// R, in bit/s; 0 before the start.
    rate: f64,
    /// Bytes of Data offered since the last update.
    bytes: u64,
    /// Mean of the round-trip times in Interests, in seconds; 0 before the first.
    told_s: f64,
    /// Mean round-trip time of this node's own Interests on this link, in seconds; 0 before the first.
    own_s: f64,
}

/// Measurements of a link in an interval.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    /// C, in bit/s.
    pub capacity: f64,
    /// y: Data offered, in bit/s.
    pub y: f64,
    /// q: Data in the queue, in bits.
    pub q: f64,
    /// d: mean round-trip time, in seconds; above 0.
    pub d: f64,
    /// T, in seconds.
    pub interval: f64,
}

impl Rule {
    /// The rate R of the next interval, in bit/s.
    pub(super) fn next(&self, rate: f64, facts: &Facts) -> f64 {
        let Facts { capacity, y, q, d, interval } = *facts;
        let target = self.eta * capacity;
        // R ← R·(1 + (T/d)·(a·(ηC − y) − b·q/d)/(ηC))                                       [RCP]
        // differs: T/d is at most 1, as RCP has intervals that are shorter than round trips
        let step = (interval / d).min(1.0) * (self.a * (target - y) - self.b * q / d) / target;
        (rate * (1.0 + step)).clamp(self.min * capacity, capacity)
    }
}

impl Offers {
    /// The part, with its parameters.
    pub fn new(params: &Params) -> Self {
        let Params { a, b, eta, min_rate_share: min, initial_share: start, .. } = *params;
        Self {
            rule: Rule { a, b, eta, min, start: start.max(min) },
            interval: params.interval,
            rtt_gain: params.rtt_gain,
            initial_rtt_s: params.initial_rtt.as_secs_f64(),
            links: Vec::new(),
            at: Time::NEVER,
        }
    }

    /// The rate R of a link, in bit/s.
    #[cfg(test)]
    pub(super) fn rate(&self, face: FaceId) -> f64 {
        self.links[face.index()].rate
    }

    fn tick(&mut self, cx: &mut dyn LinkCx) {
        let mut busiest = (0, 0.0);
        for number in 0..self.links.len() {
            let Some(port) = cx.face(FaceId(number as u32)).link else { continue };
            let link = &mut self.links[number];
            let interval = self.interval.as_secs_f64();
            let facts = Facts {
                capacity: port.rate.as_bps_f64(),
                y: link.bytes as f64 * 8.0 / interval,
                q: port.backlog.bytes.as_f64() * 8.0,
                d: if link.told_s > 0.0 { link.told_s } else { self.initial_rtt_s },
                interval,
            };
            link.rate = self.rule.next(link.rate, &facts);
            if link.bytes > busiest.0 {
                busiest = (link.bytes, link.rate);
            }
            link.bytes = 0;
        }
        if busiest.0 > 0 {
            cx.probe("link_rate", busiest.1);
        }
    }
}

/// Updates a mean by a sample; the first sample is the mean.
fn smooth(mean: &mut f64, sample: f64, gain: f64) {
    *mean = if *mean == 0.0 { sample } else { *mean + gain * (sample - *mean) };
}

impl LinkAlgorithm for Offers {
    fn on_start(&mut self, cx: &mut dyn LinkCx) {
        for face in 0..cx.faces() {
            let Some(port) = cx.face(FaceId(face)).link else { break };
            let rate = self.rule.start * port.rate.as_bps_f64();
            self.links.push(Link { rate, bytes: 0, told_s: 0.0, own_s: 0.0 });
        }
        self.at = cx.now() + self.interval;
    }

    fn on_interest_in(&mut self, interest: &Packet, from: FaceId, _cx: &mut dyn LinkCx) {
        // d: the mean of the round-trip times in packets                                    [RCP]
        let reported_rtt = Duration::from_nanos(interest.label.0[0]).as_secs_f64();
        if reported_rtt > 0.0 {
            smooth(&mut self.links[from.index()].told_s, reported_rtt.min(LONGEST_S), self.rtt_gain);
        }
    }

    fn on_interest(&mut self, interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        // our choice: the node of a consumer writes its round-trip time into Interests
        if cx.face(path.from).link.is_none() {
            let own = Duration::from_secs_f64(self.links[path.to.index()].own_s);
            interest.label.0[0] = own.as_nanos();
        }
        Admission::Pass
    }

    fn on_data_in(&mut self, _data: &mut Packet, path: &ReturnPath, _cx: &mut dyn LinkCx) {
        if let Some(rtt) = path.rtt {
            smooth(
                &mut self.links[path.from.index()].own_s,
                rtt.as_secs_f64().max(SHORTEST_S),
                self.rtt_gain,
            );
        }
    }

    fn on_data_out(&mut self, data: &mut Packet, path: &Transit, _cx: &mut dyn LinkCx) {
        // the consumer has the minimum of the rates of all routers                          [KATO §2]
        offer::stamp(&mut data.label, Rate::from_bps_f64(self.links[path.to.index()].rate));
    }

    fn observes_enqueue(&self) -> bool {
        true
    }

    fn on_enqueue(&mut self, packet: &mut Packet, to: FaceId, _port: &PortView, _at: &mut TransitCx<'_>) {
        if matches!(packet.header, Header::Data(_)) {
            self.links[to.index()].bytes += packet.size().as_u64();
        }
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        if cx.now() >= self.at {
            self.tick(cx);
            self.at = cx.now() + self.interval;
        }
    }

    fn wake(&self) -> Time {
        self.at
    }
}

/// Minimum round-trip time, which is a divisor.
const SHORTEST_S: f64 = 1e-6;
/// Maximum round-trip time.
const LONGEST_S: f64 = 100.0;
