//! FleCom at links: measures the trend of the queueing delay, writes reductions into Data, and shapes Interests with a single next hop.

use contract::{
    Admission, Crossing, Ecn, FaceId, Header, LaneId, LinkAlgorithm, LinkCx, Packet, PortView, Return,
    TransitCx,
};
use units::{Duration, Time};

use super::Params;
use super::trend::{Trend, cut_of, write_cut};

/// Trends and shapers of the links of a node.
#[derive(Clone, Debug)]
pub struct Trends {
    params: Params,
    /// How long Interests are shaped after a reduction.
    lasts: Duration,
    /// By face.
    links: Vec<Link>,
    operations: u64,
}

#[derive(Clone, Debug)]
struct Link {
    trend: Trend,
    heard: Second,
    /// Interests are shaped to one per `gap` until then.
    until: Time,
    gap: Duration,
    /// No Interest before this while they are shaped.
    next: Time,
    /// Interests in its lane.
    held: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            trend: Trend::default(),
            heard: Second::default(),
            until: Time::ZERO,
            gap: Duration::ZERO,
            next: Time::ZERO,
            held: 0,
        }
    }
}

/// Data of the last second, in tenths of a second.
#[derive(Clone, Copy, Debug, Default)]
struct Second {
    tenths: [u32; 10],
    /// Number of the present tenth.
    now: u64,
    /// Arrival of the first Data.
    since: Option<Time>,
}

impl Second {
    fn advance(&mut self, now: Time) {
        let tenth = (now - Time::ZERO).as_nanos() / TENTH_NS;
        for passed in self.now + 1..=tenth.min(self.now + 10) {
            self.tenths[(passed % 10) as usize] = 0;
        }
        self.now = tenth;
    }

    fn count(&mut self, now: Time) {
        self.advance(now);
        self.since = self.since.or(Some(now));
        self.tenths[(self.now % 10) as usize] += 1;
    }

    /// Mean interval of Data.
    fn gap(&mut self, now: Time) -> Duration {
        self.advance(now);
        // nine whole tenths and the present part
        let span = Duration::from_nanos((now - Time::ZERO).as_nanos() % TENTH_NS + 9 * TENTH_NS);
        let known = self.since.map_or(Duration::ZERO, |since| now - since);
        let count = u64::from(self.tenths.iter().sum::<u32>().max(1));
        Duration::from_nanos(span.min(known).as_nanos() / count)
    }
}

const TENTH_NS: u64 = 100_000_000;

impl Trends {
    /// The part, with its parameters.
    pub fn new(params: &Params) -> Self {
        let lasts = params.interval.scaled(params.shaping_intervals);
        Self { params: params.clone(), lasts, links: Vec::new(), operations: 0 }
    }

    fn link(&mut self, face: FaceId) -> &mut Link {
        if self.links.len() <= face.index() {
            self.links.resize_with(face.index() + 1, Link::default);
        }
        &mut self.links[face.index()]
    }

    #[cfg(test)]
    pub(super) fn trend(&mut self, face: FaceId) -> &mut Trend {
        &mut self.link(face).trend
    }
}

impl LinkAlgorithm for Trends {
    fn on_interest(&mut self, _interest: &mut Packet, way: &mut Crossing, cx: &mut dyn LinkCx) -> Admission {
        // multipath forwarding or Interest shaping                                        [LI23B]
        // our choice: routers shape; the node of a consumer leaves it to the window
        let shapes = cx.face(way.from).link.is_some();
        let now = cx.now();
        // one operation: whether the next Interest is due
        self.operations += u64::from(shapes);
        let link = self.link(way.to);
        if !shapes || (link.held == 0 && now >= link.until) {
            return Admission::Pass;
        }
        if link.held == 0 && now >= link.next {
            link.next = now + link.gap;
            return Admission::Pass;
        }
        link.held += 1;
        Admission::Hold(LaneId(way.to.0))
    }

    fn on_data_in(&mut self, data: &mut Packet, way: &Return, cx: &mut dyn LinkCx) {
        let (now, lasts, shaping) = (cx.now(), self.lasts, self.params.shaping);
        // the rate of the last second
        self.operations += 1;
        let link = self.link(way.from);
        link.heard.count(now);
        let cut = if data.ecn == Ecn::Marked { cut_of(data) } else { 0.0 };
        if shaping && way.hops < 2 && cut > 0.0 {
            // our choice: (1 − cut) of the Data's rate in the last second
            link.gap = link.heard.gap(now).scaled(1.0 / (1.0 - cut.min(0.99)));
            link.until = now + lasts;
        }
    }

    fn watches_departures(&self) -> bool {
        true
    }

    fn on_dequeue(
        &mut self,
        packet: &mut Packet,
        to: FaceId,
        _port: &PortView,
        waited: Duration,
        at: &mut TransitCx<'_>,
    ) {
        self.link(to);
        let Self { params, links, operations, .. } = self;
        let trend = &mut links[to.index()].trend;
        // operations: the delay of each packet and whether a measurement is due; then the trend, its comparison, and a reduction
        *operations += 2 + if trend.on_departure(at.now, waited.as_secs_f64(), params) { 3 } else { 0 };
        if trend.cut > 0.0 && matches!(packet.header, Header::Data(_)) {
            let cut = std::mem::take(&mut trend.cut);
            if packet.ecn != Ecn::NotCapable {
                packet.ecn = Ecn::Marked;
                *operations += 1;
                write_cut(packet, cut);
            }
        }
    }

    fn on_timer(&mut self, cx: &mut dyn LinkCx) {
        let now = cx.now();
        for (face, link) in (0u32..).zip(&mut self.links) {
            // when shaping ends, all others leave at once
            while link.held > 0 && (now >= link.until || now >= link.next) {
                if cx.release(LaneId(face)).is_none() {
                    link.held = 0;
                    break;
                }
                link.held = cx.lane(LaneId(face)).packets;
                link.next = now + link.gap;
            }
        }
    }

    fn operations(&self) -> u64 {
        self.operations
    }

    fn wake(&self) -> Time {
        let waiting = self.links.iter().filter(|link| link.held > 0);
        waiting.map(|link| link.next.min(link.until)).min().unwrap_or(Time::NEVER)
    }
}
