//! Congestion signals of a consumer: expired Interests, refusals, marks, and episodes.

use contract::{Cause, Congestion, CongestionControl, Count, Cx, Nack, NackReason};
use units::{Bytes, Rate, Time};

use super::waiting::SegmentQueue;
use super::{Consumer, EpisodeCheck, OWN_NODE};

impl<C: CongestionControl> Consumer<C> {
    /// Handles segments whose timeout has passed. All segments of one check have the same timeout.
    #[cold]
    pub(super) fn expire(&mut self, cx: &mut Cx<'_>) {
        let (now, timeout) = (cx.now(), self.timeout.timeout());
        while let Some(slot) = self.waiting.first(SegmentQueue::Out) {
            let (sent_at, order) = (self.waiting.get(slot).sent_at, self.waiting.get(slot).order);
            if sent_at + timeout > now {
                break;
            }
            if self.settings.retries > 0 {
                cx.count(Count::Timeouts, 1);
                self.timeout.back_off();
            }
            // a loss if later Interests were answered, otherwise a timeout
            let cause = if self.progress.last_data_at > sent_at { Cause::Loss } else { Cause::Timeout };
            self.congested(cause, order, self.flight(), cx);
            self.retry(slot, cx);
        }
        self.deadlines.timeout_at = self
            .waiting
            .first(SegmentQueue::Out)
            .map_or(Time::NEVER, |slot| self.timeout.next_check(self.waiting.get(slot).sent_at));
    }

    /// Handles a NACK.
    #[cold]
    pub(super) fn on_nack(&mut self, nack: &Nack, cx: &mut Cx<'_>) {
        let slot = if nack.name.prefix == self.settings.prefix {
            self.waiting.find(nack.name.segment)
        } else {
            None
        };
        let matches = |slot: &u32| {
            let segment = self.waiting.get(*slot);
            segment.queue == SegmentQueue::Out && segment.nonce == nack.nonce
        };
        let Some(slot) = slot.filter(matches) else {
            // the Interest was given up, or retransmitted with another nonce
            cx.count(Count::Ignored, 1);
            return;
        };
        cx.count(Count::Nacks, 1);
        if nack.reason != NackReason::Congestion {
            // a loop or a missing route does not depend on the rate; the retransmission timer handles it
            return;
        }
        if self.sources.is_some() {
            self.refused_by_source(slot, cx);
        } else {
            self.congested(Cause::Refused, self.waiting.get(slot).order, self.flight(), cx);
            self.retry(slot, cx);
            self.update_timeout();
        }
        if self.limits.rate == Rate::UNLIMITED {
            // our choice: further Interests would be refused too, until Data arrive or about one round trip has passed
            self.deadlines.pause_until = cx.now() + self.smoothed_rtt().max(OWN_NODE);
        }
        self.generate(cx);
        self.release(cx);
        if cx.probing() {
            self.probe(cx);
        }
    }

    /// Queues a segment for retransmission, or gives it up.
    pub(super) fn retry(&mut self, slot: u32, cx: &mut Cx<'_>) {
        if self.waiting.get(slot).tries > self.settings.retries {
            self.waiting.remove(slot);
            cx.count(Count::Missing, 1);
        } else {
            self.waiting.join(slot, SegmentQueue::Retransmit);
        }
    }

    /// Handles a marked Data packet.
    #[cold]
    pub(super) fn on_mark(&mut self, in_flight: Bytes, cx: &mut Cx<'_>) {
        cx.count(Count::Marks, 1);
        self.congested(Cause::Mark, self.progress.high, in_flight, cx);
    }

    /// Notifies the controller that the segment `order` was lost or refused, or was the highest one when a mark
    /// arrived, and whether this begins an episode.
    fn congested(&mut self, cause: Cause, order: u64, in_flight: Bytes, cx: &mut Cx<'_>) {
        let first = self.begins_episode(order);
        let event = Congestion { cause, bytes: Bytes::new(self.settings.data), in_flight, first };
        let before = self.controller.allowance();
        self.controller.on_congestion(&event, cx);
        let after = self.controller.allowance();
        if first && (after.window < before.window || after.rate < before.rate) {
            cx.count(Count::Episodes, 1);
        }
        self.read_allowance(cx);
    }

    /// Conservative window adaptation: whether a segment was requested after the episode of the last reduction.
    fn begins_episode(&mut self, order: u64) -> bool {
        let (reached, end) = match self.settings.episode_check {
            // no second reduction for segments that were in flight                [ndn-tools 22.12: catchunks]
            EpisodeCheck::Segment => (order, self.progress.requested),
            // m_highData > m_recPoint, m_recPoint = m_seq                    [ndnSIM 2.8: ndn-consumer-pcon]
            EpisodeCheck::Highest => (self.progress.high, self.progress.requested + 1),
        };
        if self.progress.recovery.is_some_and(|recovery| reached <= recovery) {
            return false;
        }
        if self.settings.episode > 0.0 {
            // an episode of several windows ends later by that number
            let window = end.saturating_sub(self.progress.high);
            self.progress.recovery =
                Some(self.progress.high + (window as f64 * self.settings.episode) as u64);
        }
        true
    }
}
