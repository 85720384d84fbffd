//! FleCom at links: measures the trend of the queueing delay, writes reductions into Data, and shapes Interests with a
//! single next hop.

use contract::{
    Admission, Ecn, FaceId, Header, InterestQueueId, LinkAlgorithm, LinkCx, Packet, PortView, ReturnPath,
    Transit, TransitCx,
};
use units::{Duration, Time};

use super::Params;
use super::trend::{Trend, cut_of, write_cut};

/// Trends and shapers of the links of a node.
#[derive(Clone, Debug)]
pub struct Trends {
    params: Params,
    /// How long Interests are shaped after a reduction.
    shaping_time: Duration,
    /// By face.
    links: Vec<Link>,
    operations: u64,
}

#[derive(Clone, Debug)]
struct Link {
    trend: Trend,
    measured: MeasuredSecond,
    /// Interests are shaped to one per `gap` until then.
    until: Time,
    gap: Duration,
    /// No Interest before this while they are shaped.
    next: Time,
    /// Interests in its Interest queue.
    queued: u32,
}

impl Default for Link {
    fn default() -> Self {
        Self {
            trend: Trend::default(),
            measured: MeasuredSecond::default(),
            until: Time::ZERO,
            gap: Duration::ZERO,
            next: Time::ZERO,
            queued: 0,
        }
    }
}

/// Data of the last second, in tenths of a second.
#[derive(Clone, Copy, Debug, Default)]
struct MeasuredSecond {
    tenths: [u32; 10],
    /// Number of the current tenth.
    now: u64,
    /// Arrival of the first Data.
    since: Option<Time>,
}

impl MeasuredSecond {
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
        // nine whole tenths and the current part
        let span = Duration::from_nanos((now - Time::ZERO).as_nanos() % TENTH_NS + 9 * TENTH_NS);
        let elapsed = self.since.map_or(Duration::ZERO, |since| now - since);
        let count = u64::from(self.tenths.iter().sum::<u32>().max(1));
        Duration::from_nanos(span.min(elapsed).as_nanos() / count)
    }
}

const TENTH_NS: u64 = 100_000_000;

impl Trends {
    /// The part, with its parameters.
    pub fn new(params: &Params) -> Self {
        let shaping_time = params.interval.scaled(params.shaping_intervals);
        Self { params: params.clone(), shaping_time, links: Vec::new(), operations: 0 }
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
    fn on_interest(&mut self, _interest: &mut Packet, path: &mut Transit, cx: &mut dyn LinkCx) -> Admission {
        // multipath forwarding or Interest shaping                                        [LI23B]
        // our choice: routers shape; the node of a consumer leaves it to the window
        let shapes = cx.face(path.from).link.is_some();
        let now = cx.now();
        // one operation: whether the next Interest is due
        self.operations += u64::from(shapes);
        let link = self.link(path.to);
        if !shapes || (link.queued == 0 && now >= link.until) {
            return Admission::Pass;
        }
        if link.queued == 0 && now >= link.next {
            link.next = now + link.gap;
            return Admission::Pass;
        }
        link.queued += 1;
        Admission::Hold(InterestQueueId(path.to.0))
    }

    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, cx: &mut dyn LinkCx) {
        let (now, shaping_time, shaping) = (cx.now(), self.shaping_time, self.params.shaping);
        // the rate of the last second
        self.operations += 1;
        let link = self.link(path.from);
        link.measured.count(now);
        let cut = if data.ecn == Ecn::Marked { cut_of(data) } else { 0.0 };
        if shaping && path.hops < 2 && cut > 0.0 {
            // our choice: (1 − cut) of the Data's rate in the last second
            link.gap = link.measured.gap(now).scaled(1.0 / (1.0 - cut.min(0.99)));
            link.until = now + shaping_time;
        }
    }

    fn observes_dequeue(&self) -> bool {
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
        // operations: the delay of each packet and whether a measurement is due; then the trend, its comparison, and a
        // reduction
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
            while link.queued > 0 && (now >= link.until || now >= link.next) {
                if cx.release(InterestQueueId(face)).is_none() {
                    link.queued = 0;
                    break;
                }
                link.queued = cx.interest_queue(InterestQueueId(face)).packets;
                link.next = now + link.gap;
            }
        }
    }

    fn operations(&self) -> u64 {
        self.operations
    }

    fn wake(&self) -> Time {
        let waiting = self.links.iter().filter(|link| link.queued > 0);
        waiting.map(|link| link.next.min(link.until)).min().unwrap_or(Time::NEVER)
    }
}
