//! A consumer whose controller has a window for each source of Data, see [`SourceWindows`]: each source has its own
//! flight, round-trip time, retransmission timeout and episodes.
//!
//! A segment is charged to the source that its Data are expected from. If the window of that source is full, the
//! segment waits in the queue of those to be retransmitted, and later segments can be requested from other sources.

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
    /// The source whose Data arrived last.
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
    /// Time of the last Data from it.
    last_data_at: Time,
    /// A further reduction requires a later order than this.
    recovery: u64,
}

impl Sources {
    /// A source by its number. A new one is created with those before it.
    fn get(&mut self, number: u32) -> &mut Source {
        while self.list.len() <= number as usize {
            self.list.push(Source {
                window: 0,
                in_flight: 0,
                timeout: Estimator::new(self.timeout, self.fixed),
                last_data_at: Time::ZERO,
                recovery: 0,
            });
        }
        &mut self.list[number as usize]
    }

    /// Whether a window has room.
    fn has_window(&self) -> bool {
        self.list.iter().any(|source| source.in_flight < source.window)
    }

    /// The smoothed round-trip time of the source whose Data arrived last.
    pub(super) fn smoothed(&self) -> Duration {
        let initial = || Estimator::new(self.timeout, self.fixed).smoothed();
        self.latest().map_or_else(initial, Estimator::smoothed)
    }

    /// The round-trip times of that source.
    pub(super) fn latest(&self) -> Option<&Estimator> {
        self.list.get(self.latest).map(|source| &source.timeout)
    }
}

impl<C: CongestionControl> Consumer<C> {
    /// Creates the sources, if the controller has windows for them.
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

    /// The controller and the sources, which must exist.
    fn parts(&mut self) -> (&mut dyn SourceWindows, &mut Sources) {
        let controller = self.controller.by_source().expect("it had sources at the start");
        (controller, self.sources.as_mut().expect("they are made at the start"))
    }

    fn source(&mut self, number: u32) -> &mut Source {
        self.parts().1.get(number)
    }

    /// Reads the window of a source.
    fn read_window(&mut self, number: u32) {
        let data = self.settings.data;
        let (controller, sources) = self.parts();
        sources.get(number).window = controller.window(number).as_u64() / data;
    }

    /// Generates what the windows permit.
    pub(super) fn generate_by_source(&mut self, cx: &mut Cx<'_>) {
        let mut joined = 0;
        let mut next = self.waiting.first(SegmentQueue::Retransmit);
        // a source that the controller has named and no segment was charged to yet waits for the next Data
        while self.parts().1.has_window() {
            let slot = match next {
                Some(slot) => {
                    next = self.waiting.next_in_queue(slot);
                    slot
                }
                None if self.waiting.count(SegmentQueue::Retransmit) >= MAX_BLOCKED => return,
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
                self.dispatch(slot, cx);
            } else if self.waiting.get(slot).queue == SegmentQueue::None {
                self.waiting.join(slot, SegmentQueue::Retransmit);
            }
        }
    }

    /// The label of an Interest.
    pub(super) fn label_by_source(&mut self, slot: u32) -> Label {
        let segment = self.waiting.get(slot).segment;
        self.parts().0.label(segment)
    }

    /// Schedules a check of the timers for the expiry of an Interest that leaves now.
    pub(super) fn update_timeout_by_source(&mut self, slot: u32) {
        let segment = *self.waiting.get(slot);
        let at = self.source(segment.source).timeout.next_check(segment.sent_at);
        self.deadlines.timeout_at = self.deadlines.timeout_at.min(at);
    }

    /// Removes a segment.
    pub(super) fn forget_by_source(&mut self, slot: u32) {
        self.remove_from_flight(slot);
        self.waiting.remove(slot);
        if self.waiting.first(SegmentQueue::Out).is_none() {
            self.deadlines.timeout_at = Time::NEVER;
        }
    }

    /// A segment is no longer in flight.
    fn remove_from_flight(&mut self, slot: u32) {
        let segment = *self.waiting.get(slot);
        if segment.queue == SegmentQueue::Out || segment.queue == SegmentQueue::Held {
            self.source(segment.source).in_flight -= 1;
        }
    }

    /// Handles Data that arrived over the network.
    pub(super) fn on_data_by_source(&mut self, slot: u32, packet: &Packet, cx: &mut Cx<'_>) {
        let (now, data) = (cx.now(), self.settings.data);
        let segment = *self.waiting.get(slot);
        let marked = self.settings.marks && packet.ecn == Ecn::Marked;
        let (controller, sources) = self.parts();
        let number = controller.identify(segment.segment, &packet.label);
        sources.latest = number as usize;
        let charged = sources.get(segment.source);
        let (in_flight, window) = (charged.in_flight, charged.window);
        let source = sources.get(number);
        source.last_data_at = now;
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
            self.advance_timeout(number, now);
        }
        if number == segment.source {
            let ack = Ack {
                bytes: Bytes::new(data),
                packets: 1,
                marked,
                marked_packets: u32::from(marked),
                in_flight: Bytes::new(in_flight * data),
                sent_at: segment.sent_at,
                ack_sent_at: Time::NEVER,
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

    /// Schedules an earlier check after the timeout of a source decreased: no pending Interest is older than the first
    /// one.
    fn advance_timeout(&mut self, number: u32, now: Time) {
        if let Some(first) = self.waiting.first(SegmentQueue::Out) {
            let sent_at = self.waiting.get(first).sent_at;
            let timeout = &self.source(number).timeout;
            let at = timeout.next_check(sent_at).max(tick(now, timeout.config().scan, Duration::ZERO));
            self.deadlines.timeout_at = self.deadlines.timeout_at.min(at);
        }
    }

    /// Handles segments for which the timeout of their source has passed.
    #[cold]
    pub(super) fn expire_by_source(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        let timeouts: Vec<Duration> =
            self.parts().1.list.iter().map(|source| source.timeout.timeout()).collect();
        let mut next = self.waiting.first(SegmentQueue::Out);
        while let Some(slot) = next {
            next = self.waiting.next_in_queue(slot);
            let segment = *self.waiting.get(slot);
            if segment.sent_at + timeouts[segment.source as usize] > now {
                continue;
            }
            if self.settings.retries > 0 {
                cx.count(Count::Timeouts, 1);
            }
            // a loss if later Interests of its source were answered, otherwise a timeout
            let recent_data = self.source(segment.source).last_data_at > segment.sent_at;
            let cause = if recent_data { Cause::Loss } else { Cause::Timeout };
            self.congested_by_source(slot, cause, cx);
            self.retry_by_source(slot, cx);
        }
        self.deadlines.timeout_at = Time::NEVER;
        let mut next = self.waiting.first(SegmentQueue::Out);
        while let Some(slot) = next {
            self.update_timeout_by_source(slot);
            next = self.waiting.next_in_queue(slot);
        }
    }

    /// Handles a NACK for an Interest.
    pub(super) fn refused_by_source(&mut self, slot: u32, cx: &mut Cx<'_>) {
        self.congested_by_source(slot, Cause::Refused, cx);
        self.retry_by_source(slot, cx);
    }

    fn retry_by_source(&mut self, slot: u32, cx: &mut Cx<'_>) {
        self.remove_from_flight(slot);
        self.retry(slot, cx);
    }

    /// Notifies the controller of a lost, refused or marked Interest. The timer of its source is backed off once per
    /// episode.
    fn congested_by_source(&mut self, slot: u32, cause: Cause, cx: &mut Cx<'_>) {
        let (data, requested, retries) = (self.settings.data, self.progress.requested, self.settings.retries);
        let segment = *self.waiting.get(slot);
        let (controller, sources) = self.parts();
        let source = sources.get(segment.source);
        // segments requested before a reduction belong to its episode                      [ndn-tools 22.12: catchunks]
        let first = segment.order > source.recovery;
        if first {
            source.recovery = requested;
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

/// Maximum number of segments that wait for the window of their source while others are requested. Our choice: enough
/// to fill the window of one source while the window of another is full; a receiver delivers in order and buffers early
/// segments.
const MAX_BLOCKED: u32 = 64;

#[cfg(test)]
#[path = "sources_tests.rs"]
mod tests;
