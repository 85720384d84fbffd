//! A consumer whose controller has a window for each source of Data, see [`SourceWindows`]: each source has its own flight, round-trip time,
//! retransmission timeout and episodes.
//!
//! A segment is charged to the source that its Data are expected from. If the window of that source is full, the segment waits in the line of
//! those to be requested again, and segments behind it can be requested from other sources.

use contract::{Ack, Cause, Congestion, CongestionControl, Count, Cx, Ecn, Label, Packet, SourceWindows};
use units::{Bytes, Duration, Time};

use super::timeout::{Estimator, tick};
use super::waiting::SegmentQueue;
use super::{Consumer, Taken, measured};
use crate::ndn::Timeout;

/// All sources that the controller has named.
#[derive(Clone, Debug)]
pub(super) struct Sources {
    list: Vec<Source>,
    /// The one whose Data came last.
    latest: usize,
    timeout: Timeout,
    /// Interests that are not retransmitted are given up after this time.
    fixed: Option<Duration>,
}

/// A source of Data.
#[derive(Clone, Debug)]
struct Source {
    /// In Data packets.
    window: u64,
    in_flight: u64,
    timeout: Estimator,
    /// When Data last came from it.
    heard_at: Time,
    /// Another cut needs a later order than this.
    recovery: u64,
}

impl Sources {
    /// A source by its number; it is made where it is new, with those before it.
    fn get(&mut self, number: u32) -> &mut Source {
        while self.list.len() <= number as usize {
            self.list.push(Source {
                window: 0,
                in_flight: 0,
                timeout: Estimator::new(self.timeout, self.fixed),
                heard_at: Time::ZERO,
                recovery: 0,
            });
        }
        &mut self.list[number as usize]
    }

    /// Whether a window has room.
    fn open(&self) -> bool {
        self.list.iter().any(|source| source.in_flight < source.window)
    }

    /// The smoothed round-trip time of the source whose Data came last.
    pub(super) fn smoothed(&self) -> Duration {
        let untried = || Estimator::new(self.timeout, self.fixed).smoothed();
        self.list.get(self.latest).map_or_else(untried, |source| source.timeout.smoothed())
    }
}

impl<C: CongestionControl> Consumer<C> {
    /// Asks the controller whether it has sources.
    pub(super) fn start_by_source(&mut self) {
        if self.sources.is_some() || self.controller.by_source().is_none() {
            return;
        }
        let fixed = (self.settings.retries == 0)
            .then_some(Duration::from_millis(u64::from(self.settings.lifetime_ms)));
        let timeout = self.timeout.config();
        self.sources = Some(Box::new(Sources { list: Vec::new(), latest: 0, timeout, fixed }));
        self.read_window(0);
    }

    /// The controller and the sources, which there are.
    fn parts(&mut self) -> (&mut dyn SourceWindows, &mut Sources) {
        let controller = self.controller.by_source().expect("it had sources at the start");
        (controller, self.sources.as_mut().expect("they are made at the start"))
    }

    fn source(&mut self, number: u32) -> &mut Source {
        self.parts().1.get(number)
    }

    /// Takes over the window of a source.
    fn read_window(&mut self, number: u32) {
        let data = self.settings.data;
        let (controller, sources) = self.parts();
        sources.get(number).window = controller.window(number).as_u64() / data;
    }

    /// Generates what the windows permit.
    pub(super) fn generate_by_source(&mut self, cx: &mut Cx<'_>) {
        let mut joined = 0;
        let mut next = self.waiting.first(SegmentQueue::Again);
        // a source that the controller has named and no segment was charged to yet waits for the next Data
        while self.parts().1.open() {
            let slot = match next {
                Some(slot) => {
                    next = self.waiting.behind(slot);
                    slot
                }
                None if self.waiting.count(SegmentQueue::Again) >= MAX_BLOCKED => return,
                None => match self.take(&mut joined, cx) {
                    Taken::Slot(slot) => {
                        let segment = self.waiting.get(slot).segment;
                        let number = self.parts().0.expect(segment);
                        self.waiting.get_mut(slot).source = number;
                        self.read_window(number);
                        slot
                    }
                    Taken::Joined => continue,
                    Taken::Nothing => return,
                },
            };
            let number = self.waiting.get(slot).source;
            let source = self.source(number);
            if source.in_flight < source.window {
                source.in_flight += 1;
                self.let_go(slot, cx);
            } else if self.waiting.get(slot).line == SegmentQueue::None {
                self.waiting.join(slot, SegmentQueue::Again);
            }
        }
    }

    /// The label of an Interest.
    pub(super) fn label_by_source(&mut self, slot: u32) -> Label {
        let segment = self.waiting.get(slot).segment;
        self.parts().0.label(segment)
    }

    /// Looks at the timers no later than an Interest that left now expires.
    pub(super) fn aim_by_source(&mut self, slot: u32) {
        let segment = *self.waiting.get(slot);
        let at = self.source(segment.source).timeout.looks_at(segment.sent_at);
        self.deadlines.timeout_at = self.deadlines.timeout_at.min(at);
    }

    /// Waits for a segment no longer.
    pub(super) fn forget_by_source(&mut self, slot: u32) {
        self.discharge(slot);
        self.waiting.remove(slot);
        if self.waiting.first(SegmentQueue::Out).is_none() {
            self.deadlines.timeout_at = Time::NEVER;
        }
    }

    /// A segment is no longer in flight.
    fn discharge(&mut self, slot: u32) {
        let segment = *self.waiting.get(slot);
        if segment.line == SegmentQueue::Out || segment.line == SegmentQueue::Held {
            self.source(segment.source).in_flight -= 1;
        }
    }

    /// What Data that crossed the network says.
    pub(super) fn learn_by_source(&mut self, slot: u32, packet: &Packet, cx: &mut Cx<'_>) {
        let (now, data) = (cx.now(), self.settings.data);
        let segment = *self.waiting.get(slot);
        let marked = self.settings.marks && packet.ecn == Ecn::Marked;
        let (controller, sources) = self.parts();
        let number = controller.identify(segment.segment, &packet.label);
        sources.latest = number as usize;
        let charged = sources.get(segment.source);
        let (in_flight, window) = (charged.in_flight, charged.window);
        let source = sources.get(number);
        source.heard_at = now;
        // of several Interests it is unknown which one was answered                  [RFC6298 §3]
        let rtt = (segment.tries == 1).then(|| now.saturating_since(segment.sent_at));
        let before = source.timeout.timeout();
        if let Some(rtt) = rtt {
            source.timeout.sample(rtt);
            measured(rtt, cx);
        }
        let shorter = source.timeout.timeout() < before;
        let (rtt_smoothed, rtt_min) = (source.timeout.smoothed(), source.timeout.min());
        self.deadlines.pause_until = Time::ZERO;
        if marked {
            cx.count(Count::Marks, 1);
            self.congested_by_source(slot, Cause::Mark, cx);
        }
        self.forget_by_source(slot);
        if shorter {
            self.aim_at_first(number, now);
        }
        if number == segment.source {
            let ack = Ack {
                bytes: Bytes::new(data),
                packets: 1,
                marked,
                marked_packets: u32::from(marked),
                in_flight: Bytes::new(in_flight * data),
                sent_at: segment.sent_at,
                answered_at: Time::NEVER,
                rtt,
                rtt_smoothed,
                rtt_min,
                // the window was not filled when the Data came
                app_limited: in_flight < window,
                recovering: false,
                round_ended: false,
                from: packet.source.endpoint,
                label: packet.label,
            };
            self.parts().0.on_ack(number, &ack, cx);
        }
        self.read_window(number);
    }

    /// The timeout of a source is shorter: no Interest of it left before the first that is out.
    fn aim_at_first(&mut self, number: u32, now: Time) {
        if let Some(first) = self.waiting.first(SegmentQueue::Out) {
            let sent_at = self.waiting.get(first).sent_at;
            let timeout = &self.source(number).timeout;
            let at = timeout.looks_at(sent_at).max(tick(now, timeout.config().scan, Duration::ZERO));
            self.deadlines.timeout_at = self.deadlines.timeout_at.min(at);
        }
    }

    /// Looks for segments that have waited for longer than the timeout of their source.
    #[cold]
    pub(super) fn expire_by_source(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let timeouts: Vec<Duration> =
            self.parts().1.list.iter().map(|source| source.timeout.timeout()).collect();
        let mut next = self.waiting.first(SegmentQueue::Out);
        while let Some(slot) = next {
            next = self.waiting.behind(slot);
            let segment = *self.waiting.get(slot);
            if segment.sent_at + timeouts[segment.source as usize] > now {
                continue;
            }
            if self.settings.retries > 0 {
                cx.count(Count::Timeouts, 1);
            }
            // others of its source are answered, so this one is lost; or none is answered
            let heard = self.source(segment.source).heard_at > segment.sent_at;
            let cause = if heard { Cause::Loss } else { Cause::Timeout };
            self.congested_by_source(slot, cause, cx);
            self.again_by_source(slot, cx);
        }
        self.deadlines.timeout_at = Time::NEVER;
        let mut next = self.waiting.first(SegmentQueue::Out);
        while let Some(slot) = next {
            self.aim_by_source(slot);
            next = self.waiting.behind(slot);
        }
    }

    /// The network says no to an Interest.
    pub(super) fn refused_by_source(&mut self, slot: u32, cx: &mut Cx<'_>) {
        self.congested_by_source(slot, Cause::Refused, cx);
        self.again_by_source(slot, cx);
    }

    fn again_by_source(&mut self, slot: u32, cx: &mut Cx<'_>) {
        self.discharge(slot);
        self.ask_again(slot, cx);
    }

    /// Informs the controller of the fate of an Interest. The timer of its source is backed off once per episode.
    fn congested_by_source(&mut self, slot: u32, cause: Cause, cx: &mut Cx<'_>) {
        let (data, wanted, retries) = (self.settings.data, self.progress.wanted, self.settings.retries);
        let segment = *self.waiting.get(slot);
        let (controller, sources) = self.parts();
        let source = sources.get(segment.source);
        // what was wanted before a cut belongs to its episode                          [ndn-tools 22.12: catchunks]
        let first = segment.order > source.recovery;
        if first {
            source.recovery = wanted;
            if retries > 0 && matches!(cause, Cause::Loss | Cause::Timeout) {
                source.timeout.back_off();
            }
        }
        let in_flight = Bytes::new(source.in_flight * data);
        let before = controller.window(segment.source);
        controller.on_congestion(
            segment.source,
            &Congestion { cause, bytes: Bytes::new(data), in_flight, first },
            cx,
        );
        if first && controller.window(segment.source) < before {
            cx.count(Count::Episodes, 1);
        }
        self.read_window(segment.source);
    }
}

/// Maximum number of segments that wait for the window of their source while others are requested. Our choice: enough to fill the window of one source
/// while that of another is full; a receiver delivers in order and stores what came before its turn.
const MAX_BLOCKED: u32 = 64;

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
