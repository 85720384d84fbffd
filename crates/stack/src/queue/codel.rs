//! CoDel: a FIFO that drops or marks packets after a persistent queueing delay [RFC 8289].
//!
//! A queue is good if some packet in every `interval` had less delay than `target`; such a queue absorbs bursts.
//! Otherwise it is a standing queue, and packets are dropped at departure with increasing frequency until one had less
//! delay. The control depends neither on the size of the queue nor on the rate of the link.
//!
//! FQ-CoDel has a [`State`] for each of its queues (`fq_codel.rs`).
//!
//! Linux [include/net/codel_impl.h of 6.1] differs from RFC 8289 in three ways: each drop in the dropping state is
//! counted, also the last one; a packet may be dropped only after the interval is over, not at its end; and 1/√count is
//! one step of Newton's method from the value before it, in 16 bits. `like = "linux"` is that form.

use contract::{Backlog, DropReason, Ecn, PacketCx, PacketId, QueueDiscipline, QueueLimit, Verdict};
use units::{Duration, Time};

use super::ActiveQueue;
use super::waiting::{Line, Waiting};

contract::choice! {
    /// Whose details apply where RFC 8289 and Linux differ.
    pub enum Like {
        /// RFC 8289 §5.
        Rfc = "rfc",
        /// Linux 6.1, include/net/codel_impl.h.
        Linux = "linux",
    }
}

contract::params! {
    /// TARGET, the acceptable standing queueing delay.
    target: Duration = Duration::from_millis(5), within "1 ns"..="1000 s", from "RFC8289 §4.4";
    /// INTERVAL, how long the queueing delay may exceed `target` before CoDel acts: about the maximum usual round-trip
    /// time.
    interval: Duration = Duration::from_millis(100), within "1 ns"..="1000 s", from "RFC8289 §4.3";
    /// Mark ECT packets instead of dropping them.
    mark: bool = true, from "our choice: a mark signals the same congestion without a loss";
    /// Whose details apply where RFC 8289 and Linux differ.
    like: Like = Like::Rfc, from "our choice: the specification";
}

/// The queue of a port.
#[derive(Debug)]
pub struct Codel {
    settings: Settings,
    limit: QueueLimit,
    waiting: Line,
    state: State,
}

/// What the queues of a discipline have in common.
#[derive(Debug)]
pub(super) struct Settings {
    target: Duration,
    interval: Duration,
    mark: bool,
    like: Like,
    /// The largest packet up to now, which stands for the MTU.
    largest: u64,
}

/// The state of the control law, of one queue.
#[derive(Clone, Debug)]
pub(super) struct State {
    /// When the delay will have exceeded `target` for a whole interval; [`Time::NEVER`] while it does not.
    late_at: Time,
    /// Whether it is in the dropping state.
    dropping: bool,
    /// When the next drop is due.
    next: Time,
    /// Drops since it entered the dropping state, and the count with which it entered.
    count: u32,
    count_at_start: u32,
    /// rec_inv_sqrt of Linux: 1/√count with 16 binary places.
    inverse_root: u16,
}

impl Default for State {
    fn default() -> Self {
        Self {
            late_at: Time::NEVER,
            dropping: false,
            next: Time::ZERO,
            count: 0,
            count_at_start: 0,
            inverse_root: 0,
        }
    }
}

impl ActiveQueue for Codel {
    const TITLE: &'static str =
        "CoDel (RFC 8289): drops or marks packets while the queueing delay stays above its target.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        let settings = Settings::new(params.target, params.interval, params.mark, params.like);
        Self { settings, limit, waiting: Line::default(), state: State::default() }
    }

    fn can_mark(params: &Params) -> bool {
        params.mark
    }
}

impl Settings {
    pub(super) const fn new(target: Duration, interval: Duration, mark: bool, like: Like) -> Self {
        Self { target, interval, mark, like, largest: 0 }
    }

    /// Notes the size of a packet that was enqueued.
    #[inline]
    pub(super) fn note_size(&mut self, size_bytes: u32) {
        self.largest = self.largest.max(u64::from(size_bytes));
    }
}

impl State {
    /// Takes the packet that leaves next from `line`. `others` is what waits in other queues of the link, in bytes.
    #[inline]
    pub(super) fn dequeue(
        &mut self,
        settings: &Settings,
        line: &mut Line,
        others: u64,
        cx: &mut PacketCx<'_>,
    ) -> Option<Waiting> {
        let now = cx.now;
        let Some((mut first, mut late)) = self.take(settings, line, others, now) else {
            // an empty queue ends the dropping state
            self.dropping = false;
            return None;
        };
        if self.dropping {
            self.dropping = late;
            // a long queue may have several drops due at once                             [RFC 8289 §5, deque]
            while self.dropping && now >= self.next {
                if settings.like == Like::Linux {
                    // count ← count + 1, whatever follows                                [Linux, codel_dequeue]
                    self.set_count(self.count.wrapping_add(1));
                }
                let taken = self.punish(settings, first, line, others, cx);
                // a marked packet leaves, and the next mark is for another one
                let marked = taken.is_some_and(|(next, _)| next.packet == first.packet);
                late = taken.is_some_and(|(_, late)| late);
                if late {
                    if settings.like == Like::Rfc {
                        self.count += 1;
                    }
                    self.next = self.after(settings, self.next);
                }
                self.dropping = late;
                first = taken?.0;
                if marked {
                    break;
                }
            }
        } else if late {
            let taken = self.punish(settings, first, line, others, cx);
            self.dropping = true;
            // soon after the last dropping state, the drop rate continues where it was   [RFC 8289 §5, deque]
            let before = self.count.wrapping_sub(self.count_at_start);
            let recent = now < self.next + sixteen(settings.interval);
            if before > 1 && recent {
                self.set_count(before);
            } else {
                self.count = 1;
                self.inverse_root = u16::MAX;
            }
            self.next = self.after(settings, now);
            self.count_at_start = self.count;
            first = taken?.0;
        }
        Some(first)
    }

    /// Takes the first packet. Returns whether it may be dropped: the delay exceeded the target for an interval.
    #[inline]
    fn take(
        &mut self,
        settings: &Settings,
        line: &mut Line,
        others: u64,
        now: Time,
    ) -> Option<(Waiting, bool)> {
        let Some(first) = line.pop() else {
            self.late_at = Time::NEVER;
            return None;
        };
        // below the target, or at most one packet is left                              [RFC 8289 §5, dodequeue]
        // our choice: the size of "one packet" is the largest up to now, because links have no MTU
        if now - first.since < settings.target || line.bytes() + others <= settings.largest {
            self.late_at = Time::NEVER;
            return Some((first, false));
        }
        if self.late_at == Time::NEVER {
            self.late_at = now + settings.interval;
            return Some((first, false));
        }
        let over = match settings.like {
            Like::Rfc => now >= self.late_at,
            // first_above_time is past                                                     [Linux, codel_should_drop]
            Like::Linux => now > self.late_at,
        };
        Some((first, over))
    }

    /// When the next drop follows a drop at `from`.
    fn after(&self, settings: &Settings, from: Time) -> Time {
        match settings.like {
            // t + INTERVAL / √count                                                        [RFC 8289 §5, control_law]
            Like::Rfc => from + settings.interval.over_sqrt(self.count),
            Like::Linux => {
                let nanos = u128::from(settings.interval.as_nanos()) * u128::from(self.inverse_root);
                from + Duration::from_nanos((nanos >> 16) as u64)
            }
        }
    }

    /// Sets the count, and moves 1/√count one step of Newton's method towards it.
    fn set_count(&mut self, count: u32) {
        self.count = count;
        // x ← x (3 − count x²) / 2, with 32 binary places and modulo 2^64: where the count has jumped, 3 − count x² is
        // negative and wraps, and two bits are shifted out before the product            [Linux, codel_Newton_step]
        let root = u64::from(self.inverse_root) << 16;
        let rest = (3u64 << 32).wrapping_sub(u64::from(count).wrapping_mul((root * root) >> 32)) >> 2;
        self.inverse_root = (rest.wrapping_mul(root) >> (31 + 16)) as u16;
    }

    /// Drops the packet and takes the next one, or marks it and keeps it.
    fn punish(
        &mut self,
        settings: &Settings,
        first: Waiting,
        line: &mut Line,
        others: u64,
        cx: &mut PacketCx<'_>,
    ) -> Option<(Waiting, bool)> {
        let ecn = &mut cx.arena.get_mut(first.packet).ecn;
        if settings.mark && *ecn != Ecn::NotCapable {
            // our choice: a packet that is marked already counts as marked again
            cx.marked += u64::from(ecn.is_unmarked());
            *ecn = Ecn::Marked;
            return Some((first, true));
        }
        cx.dropped.push((first.packet, DropReason::Early));
        self.take(settings, line, others, cx.now)
    }

    /// Notes that `packets` were dropped because the queue was too long: drops of its own will be closer.
    pub(super) fn note_overflow(&mut self, packets: u32) {
        self.count = self.count.wrapping_add(packets);
    }

    /// The count of drops.
    #[cfg(test)]
    pub(super) const fn count(&self) -> u32 {
        self.count
    }

    /// Notes that nothing waits: the queue has been served, or was emptied because the link failed.
    #[inline]
    pub(super) fn note_drained(&mut self) {
        self.late_at = Time::NEVER;
        self.dropping = false;
    }
}

impl QueueDiscipline for Codel {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let size_bytes = cx.arena.get(packet).size_bytes;
        if !self.waiting.has_room(&self.limit, size_bytes) {
            return Verdict::Drop(DropReason::QueueFull);
        }
        self.waiting.push(Waiting { packet, size_bytes, since: cx.now });
        self.settings.note_size(size_bytes);
        Verdict::Pass
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        let first = self.state.dequeue(&self.settings, &mut self.waiting, 0, cx)?;
        Some(first.packet)
    }

    #[inline]
    fn transit(
        &mut self,
        packet: PacketId,
        _idle_since: Option<Time>,
        cx: &mut PacketCx<'_>,
    ) -> (Verdict, Option<PacketId>) {
        // an empty queue ends the dropping state, and a packet that does not wait is below the target
        self.state.note_drained();
        let size_bytes = cx.arena.get(packet).size_bytes;
        if !self.waiting.has_room(&self.limit, size_bytes) {
            return (Verdict::Drop(DropReason::QueueFull), None);
        }
        self.settings.note_size(size_bytes);
        (Verdict::Pass, Some(packet))
    }

    fn backlog(&self) -> Backlog {
        self.waiting.backlog()
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.state.note_drained();
        self.waiting.drain().collect()
    }

    fn set_limit(&mut self, limit: QueueLimit) {
        self.limit = limit;
    }
}

/// How long a drop rate is remembered [RFC 8289 §5].
fn sixteen(interval: Duration) -> Duration {
    Duration::from_nanos(interval.as_nanos().saturating_mul(16))
}

#[cfg(test)]
#[path = "codel_tests.rs"]
mod tests;
