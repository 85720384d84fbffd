//! Congestion signals of a consumer: expired Interests, refusals, marks, and episodes.

use contract::{Cause, Congestion, CongestionControl, Count, Cx, Nack, NackReason};
use units::{Bytes, Rate, Time};

use super::waiting::Line;
use super::{Consumer, EpisodeCheck, OWN_NODE};

impl<C: CongestionControl> Consumer<C> {
    /// Looks for segments that have waited for longer than the timeout, which is the same for all of one look.
    #[cold]
    pub(super) fn expire(&mut self, cx: &mut Cx<'_>) {
        let (now, timeout) = (cx.now(), self.timeout.timeout());
        while let Some(slot) = self.waiting.first(Line::Out) {
            let (sent_at, order) = (self.waiting.get(slot).sent_at, self.waiting.get(slot).order);
            if sent_at + timeout > now {
                break;
            }
            if self.retries > 0 {
                cx.count(Count::Timeouts, 1);
                self.timeout.back_off();
            }
            // others are answered, so this one is lost; or nobody is
            let cause = if self.heard_at > sent_at { Cause::Loss } else { Cause::Timeout };
            self.congested(cause, order, self.flight(), cx);
            self.ask_again(slot, cx);
        }
        self.timeout_at = self
            .waiting
            .first(Line::Out)
            .map_or(Time::NEVER, |slot| self.timeout.looks_at(self.waiting.get(slot).sent_at));
    }

    /// The network says no.
    #[cold]
    pub(super) fn on_nack(&mut self, nack: &Nack, cx: &mut Cx<'_>) {
        let slot = if nack.name.prefix == self.prefix { self.waiting.find(nack.name.segment) } else { None };
        let meant = |slot: &u32| {
            let segment = self.waiting.get(*slot);
            segment.line == Line::Out && segment.nonce == nack.nonce
        };
        let Some(slot) = slot.filter(meant) else {
            // to an Interest that has been given up, or repeated since
            cx.count(Count::Ignored, 1);
            return;
        };
        cx.count(Count::Nacks, 1);
        if nack.reason != NackReason::Congestion {
            // a loop, or nobody who serves the name: no matter of how much is asked for. Its timer will tell
            return;
        }
        self.congested(Cause::Refused, self.waiting.get(slot).order, self.flight(), cx);
        self.ask_again(slot, cx);
        self.aim();
        if self.rate == Rate::UNLIMITED {
            // our choice: what was refused would be refused again, until Data comes or about a round trip has passed
            self.pause_until = cx.now() + self.timeout.smoothed().max(OWN_NODE);
        }
        self.generate(cx);
        self.release(cx);
        if cx.probing() {
            self.probe(cx);
        }
    }

    /// A segment is to be asked for again; or it is given up.
    fn ask_again(&mut self, slot: u32, cx: &mut Cx<'_>) {
        if self.waiting.get(slot).tries > self.retries {
            self.waiting.remove(slot);
            cx.count(Count::Missing, 1);
        } else {
            self.waiting.join(slot, Line::Again);
        }
    }

    /// Data came with a mark.
    #[cold]
    pub(super) fn on_mark(&mut self, in_flight: Bytes, cx: &mut Cx<'_>) {
        cx.count(Count::Marks, 1);
        self.congested(Cause::Mark, self.high, in_flight, cx);
    }

    /// Tells the law that the segment `order` was lost or refused, or that a mark came when it was the highest; and whether this is the
    /// first event of an episode.
    fn congested(&mut self, cause: Cause, order: u64, in_flight: Bytes, cx: &mut Cx<'_>) {
        let first = self.begins_episode(order);
        let event = Congestion { cause, bytes: Bytes::new(self.data), in_flight, first };
        let before = self.law.allowance();
        self.law.on_congestion(&event, cx);
        let after = self.law.allowance();
        if first && (after.window < before.window || after.rate < before.rate) {
            cx.count(Count::Episodes, 1);
        }
        self.read_allowance(cx);
    }

    /// Conservative window adaptation: what was asked for before a cut belongs to its episode, or so many windows of it.
    fn begins_episode(&mut self, order: u64) -> bool {
        let (reached, end) = match self.episode_check {
            // no second cut for what was already under way                  [ndn-tools 22.12: catchunks]
            EpisodeCheck::Segment => (order, self.wanted),
            // m_highData > m_recPoint, m_recPoint = m_seq                    [ndnSIM 2.8: ndn-consumer-pcon]
            EpisodeCheck::Highest => (self.high, self.wanted + 1),
        };
        if self.recovery.is_some_and(|recovery| reached <= recovery) {
            return false;
        }
        if self.episode > 0.0 {
            // with more windows than one, so much further on
            let window = end.saturating_sub(self.high);
            self.recovery = Some(self.high + (window as f64 * self.episode) as u64);
        }
        true
    }
}
