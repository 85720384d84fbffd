//! Two rates per upstream link: one for the first class, one for the capacity that the first class does not use.

use std::collections::BTreeMap;

use contract::{
    Admission, FaceId, FaceView, Header, LinkAlgorithm, LinkCx, NameId, Packet, ReturnPath, Transit,
};
use units::{Bytes, Rate, Time};

use crate::mircc::router::bucket::Bucket;
use crate::mircc::router::rate::{Constants, LinkRate, Measurements};
use crate::mircc_multipath::Params;
use crate::mircc_multipath::headers::{self, Class, Offer};
use crate::mircc_multipath::paths::Paths;

/// The link part of a forwarder [MIRCC].
#[derive(Clone, Debug)]
pub struct Link {
    params: Box<Params>,
    rule: Constants,
    data_bits: f64,
    upstreams: Vec<Upstream>,
    /// Division of the Interests of consumers on this node into classes, by prefix.
    flows: BTreeMap<NameId, Division>,
    next_tick: Time,
}

/// A link towards producers.
#[derive(Clone, Copy, Debug)]
struct Upstream {
    primary: InterestQueue,
    secondary: InterestQueue,
    rtt: Option<f64>,
    interests: u64,
}

/// One class of a link.
#[derive(Clone, Copy, Debug)]
struct InterestQueue {
    /// Its capacity, in Data packets per second.
    capacity: f64,
    rater: LinkRate,
    bucket: Bucket,
    count: u32,
}

/// The division of one prefix's Interests at this node.
#[derive(Clone, Debug, Default)]
struct Division {
    paths: Paths,
    /// Interests that the second class is entitled to at each link.
    owed: Vec<f64>,
}

impl InterestQueue {
    fn new(capacity: f64) -> Self {
        Self { capacity, rater: LinkRate::new(capacity), bucket: Bucket::default(), count: 0 }
    }

    /// Computes the rate of the next interval. Returns the rate of Interests.
    fn tick(&mut self, rule: &Constants, capacity: f64, elapsed_s: f64, d: f64, now: Time) -> f64 {
        let y = f64::from(self.count) / elapsed_s;
        let q = self.bucket.level(now, self.capacity);
        self.capacity = capacity;
        self.rater.tick(rule, &Measurements { capacity, y, q, d });
        self.count = 0;
        y
    }
}

impl Link {
    /// The link part of a forwarder, for Data packets of the size `data` on the wire.
    pub(crate) fn new(params: &Params, data: Bytes) -> Self {
        Self {
            rule: params.rule(),
            params: Box::new(params.clone()),
            data_bits: data.as_f64() * 8.0,
            upstreams: Vec::new(),
            flows: BTreeMap::new(),
            next_tick: Time::NEVER,
        }
    }

    fn capacity(&self, view: &FaceView) -> f64 {
        view.link.map_or(1.0, |port| port.rate_in.as_bps_f64()).max(1.0) / self.data_bits
    }

    /// The class of the next Interest of a consumer on this node. The share of the second class is its share of the
    /// path's rate.
    fn divide(&mut self, interest: &Packet, to: FaceId, now: Time) -> Class {
        let Header::Interest(header) = &interest.header else { return Class::Primary };
        let division = self.flows.entry(header.name.prefix).or_default();
        let share =
            division.paths.shares(&self.params, now).find(|(face, _)| *face == to).map(|(_, share)| share);
        let share = share.unwrap_or_default();
        division.owed.resize(self.upstreams.len(), 0.0);
        let owed = &mut division.owed[to.index()];
        // a path without Data yet is used in the first class; one that is only kept known, in the second
        *owed += if share.total() > 0.0 {
            share.secondary / share.total()
        } else if division.paths.has_path(to) {
            1.0
        } else {
            0.0
        };
        if *owed >= 0.5 {
            *owed -= 1.0;
            Class::Secondary
        } else {
            Class::Primary
        }
    }

    fn tick(&mut self, cx: &mut dyn LinkCx) {
        let (now, elapsed_s) = (cx.now(), self.params.interval.as_secs_f64());
        let selected = (0..self.upstreams.len()).rev().max_by_key(|face| self.upstreams[*face].interests);
        for face in 0..self.upstreams.len() {
            let capacity = self.capacity(&cx.face(FaceId(face as u32)));
            let upstream = &mut self.upstreams[face];
            let d = upstream.rtt.unwrap_or(self.params.initial_rtt.as_secs_f64()).max(MIN_RTT_S);
            let y1 = upstream.primary.tick(&self.rule, capacity, elapsed_s, d, now);
            // C₂ = max(0, ηC − y₁)
            let available = (self.params.eta * capacity - y1).max(self.params.min_rate_share * capacity);
            let y2 = upstream.secondary.tick(&self.rule, available, elapsed_s, d, now);
            if selected == Some(face) {
                cx.probe("primary_offer", upstream.primary.rater.rate);
                cx.probe("secondary_offer", upstream.secondary.rater.rate);
                cx.probe("primary_interest_rate", y1);
                cx.probe("secondary_interest_rate", y2);
            }
        }
    }
}

impl LinkAlgorithm for Link {
    fn on_start(&mut self, cx: &mut dyn LinkCx) {
        for face in 0..cx.faces() {
            let view = cx.face(FaceId(face));
            if view.link.is_none() {
                break;
            }
            let interest_queue = InterestQueue::new(self.capacity(&view));
            self.upstreams.push(Upstream {
                primary: interest_queue,
                secondary: interest_queue,
                rtt: None,
                interests: 0,
            });
        }
        self.next_tick = cx.now() + self.params.interval;
    }

    fn on_interest(&mut self, interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        let now = cx.now();
        if cx.face(path.from).link.is_none() {
            let class = self.divide(interest, path.to, now);
            headers::classify(&mut interest.label, class);
        }
        let upstream = &mut self.upstreams[path.to.index()];
        upstream.interests += 1;
        let interest_queue = match headers::class(interest.label) {
            Class::Primary => &mut upstream.primary,
            Class::Secondary => &mut upstream.secondary,
        };
        interest_queue.count += 1;
        if interest_queue.bucket.add(now, interest_queue.capacity, self.params.depth) {
            Admission::Pass
        } else {
            Admission::Drop
        }
    }

    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, cx: &mut dyn LinkCx) {
        let upstream = &mut self.upstreams[path.from.index()];
        if let Some(sample) = path.rtt {
            let sample = sample.as_secs_f64();
            upstream.rtt =
                Some(upstream.rtt.map_or(sample, |rtt| rtt + self.params.rtt_gain * (sample - rtt)));
        }
        let bps = |rate: f64| Rate::from_bps_f64(rate * self.data_bits);
        let own = Offer {
            primary: bps(upstream.primary.rater.rate),
            secondary: bps(upstream.secondary.rater.rate),
            path: path.from,
        };
        headers::stamp(&mut data.label, own);
        // only the nodes of consumers divide; other nodes have no entry for the prefix
        if let Header::Data(header) = &data.header
            && let Some(division) = self.flows.get_mut(&header.name.prefix)
            && let Some(offer) = headers::offered(data.label)
        {
            division.paths.on_offer(&offer, cx.now());
        }
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        if cx.now() >= self.next_tick {
            self.tick(cx);
            self.next_tick = cx.now() + self.params.interval;
        }
    }

    fn wake(&self) -> Time {
        self.next_tick
    }
}

/// Minimum round-trip time, which is a divisor.
const MIN_RTT_S: f64 = 1e-6;
