//! MIRCC in a forwarder, also at consumers and producers: one rate per upstream link, computed at every
//! tick.

use contract::{Admission, FaceId, FaceView, LinkAlgorithm, LinkCx, NackReason, Packet, ReturnPath, Transit};
use units::{Bytes, Rate, Time};

use self::bucket::Bucket;
use self::rate::{Constants, LinkRate, Measurements, TickResult};
use super::{Counting, Params, Policing};
use crate::shared::offer::stamp;

pub(crate) mod bucket;
pub(crate) mod rate;

/// The link part of a forwarder [KATO §3.1].
#[derive(Clone, Debug)]
pub struct Link {
    params: Box<Params>,
    rule: Constants,
    /// Size of a Data packet on the wire, which an Interest counts as, because it will cause one.
    data_bits: f64,
    upstreams: Vec<Upstream>,
    next_tick: Time,
    last_tick: Time,
}

/// A link towards producers.
#[derive(Clone, Copy, Debug)]
struct Upstream {
    /// C, in Data packets per second.
    capacity: f64,
    rater: LinkRate,
    /// The rate R in the form that Data carry.
    offer: Rate,
    bucket: Bucket,
    /// Interests since the last tick.
    count: u32,
    /// Interests since the start.
    interests: u64,
    /// d, in seconds; `None` before the first sample.
    rtt: Option<f64>,
}

impl Link {
    /// The link part of a forwarder, for Data packets of the size `data` on the wire.
    pub(crate) fn new(params: &Params, data: Bytes) -> Self {
        Self {
            rule: params.rule(),
            params: Box::new(params.clone()),
            data_bits: data.as_f64() * 8.0,
            upstreams: Vec::new(),
            next_tick: Time::NEVER,
            last_tick: Time::ZERO,
        }
    }

    /// The capacity C of a link in the direction of Data.
    fn capacity(&self, view: &FaceView) -> f64 {
        view.link.map_or(1.0, |port| port.rate_in.as_bps_f64()).max(1.0) / self.data_bits
    }

    fn tick(&mut self, cx: &mut dyn LinkCx) {
        let now = cx.now();
        let elapsed = (now - self.last_tick).as_secs_f64();
        self.last_tick = now;
        // the series belong to the link with the most Interests, among equals to the lowest face
        let selected = (0..self.upstreams.len()).rev().max_by_key(|face| self.upstreams[*face].interests);
        for face in 0..self.upstreams.len() {
            let capacity = self.capacity(&cx.face(FaceId(face as u32)));
            let upstream = &mut self.upstreams[face];
            upstream.capacity = capacity;
            let facts = Measurements {
                capacity,
                // y(t): Interests received in [t−T, t) over T                                         [KATO §3.1 (2)]
                y: f64::from(upstream.count) / elapsed,
                q: upstream.bucket.level(now, capacity),
                d: upstream.rtt.unwrap_or(self.params.initial_rtt.as_secs_f64()).max(MIN_RTT_S),
            };
            let found = upstream.rater.tick(&self.rule, &facts);
            upstream.offer = offer(upstream.rater.rate, self.data_bits);
            upstream.count = 0;
            if selected == Some(face) {
                show(&self.params, &facts, &found, upstream.rater.rate, cx);
            }
        }
    }
}

impl LinkAlgorithm for Link {
    fn on_start(&mut self, cx: &mut dyn LinkCx) {
        let now = cx.now();
        for face in 0..cx.faces() {
            let view = cx.face(FaceId(face));
            if view.link.is_none() {
                break;
            }
            let capacity = self.capacity(&view);
            self.upstreams.push(Upstream {
                capacity,
                rater: LinkRate::new(capacity),
                offer: offer(capacity, self.data_bits),
                bucket: Bucket::default(),
                count: 0,
                interests: 0,
                rtt: None,
            });
        }
        self.last_tick = now;
        self.next_tick =
            now + if self.params.phase.as_nanos() > 0 { self.params.phase } else { self.params.interval };
    }

    #[inline]
    fn on_interest(&mut self, _interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let upstream = &mut self.upstreams[path.to.index()];
        let passes = upstream.bucket.add(cx.now(), upstream.capacity, self.params.depth);
        upstream.interests += 1;
        if passes || self.params.counting == Counting::Received {
            upstream.count += 1;
        }
        match (passes, self.params.policing) {
            (true, _) => Admission::Pass,
            (false, Policing::Drop) => Admission::Drop,
            (false, Policing::Nack) => Admission::Refuse(NackReason::Congestion),
        }
    }

    #[inline]
    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, _cx: &mut dyn LinkCx) {
        let upstream = &mut self.upstreams[path.from.index()];
        if let Some(sample) = path.rtt {
            let sample = sample.as_secs_f64();
            upstream.rtt =
                Some(upstream.rtt.map_or(sample, |rtt| rtt + self.params.rtt_gain * (sample - rtt)));
        }
        // a rate that is larger than R(t) becomes R(t)                                              [KATO §2.2]
        stamp(&mut data.label, upstream.offer);
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        if cx.now() >= self.next_tick {
            self.tick(cx);
            self.next_tick = cx.now() + self.params.interval;
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next_tick
    }
}

/// The rate R in the form that Data carry.
fn offer(rate: f64, data_bits: f64) -> Rate {
    Rate::from_bps_f64(rate * data_bits)
}

/// Offers the nine quantities of KATO Table 1 as series.
fn show(params: &Params, facts: &Measurements, found: &TickResult, rate: f64, cx: &mut dyn LinkCx) {
    cx.probe("stamping_rate", rate);
    cx.probe("upstream_capacity", facts.capacity);
    cx.probe("full_rate_flows", found.n);
    cx.probe("rate_interval", params.interval.as_secs_f64());
    cx.probe("inflated_queue", facts.q);
    cx.probe("interest_rate", facts.y);
    cx.probe("upstream_rtt", facts.d);
    cx.probe("beta", found.beta);
    cx.probe("target_utilisation", params.eta);
}

/// Minimum round-trip time, which is a divisor.
const MIN_RTT_S: f64 = 1e-6;
