//! CoDel: a FIFO that drops or marks packets after a persistent queueing delay [RFC 8289].
//!
//! A queue is good if some packet in every `interval` had less delay than `target`; such a queue absorbs bursts. Otherwise it is a standing
//! queue, and packets are dropped at departure with increasing frequency until one had less delay. The control depends neither on the size
//! of the queue nor on the rate of the link.

use std::collections::VecDeque;

use contract::{Backlog, DropReason, Ecn, PacketCx, PacketId, QueueDiscipline, QueueLimit, Verdict};
use units::{Bytes, Duration, Time};

use super::ActiveQueue;

contract::params! {
    /// TARGET, the acceptable standing queueing delay.
    target: Duration = Duration::from_millis(5), within "1 ns"..="1000 s", from "RFC8289 §4.4";
    /// INTERVAL, how long the queueing delay may exceed `target` before CoDel acts: about the maximum usual round-trip time.
    interval: Duration = Duration::from_millis(100), within "1 ns"..="1000 s", from "RFC8289 §4.3";
    /// Mark ECT packets instead of dropping them.
    mark: bool = true, from "our choice: a mark signals the same congestion without a loss";
}

/// The queue of a port.
#[derive(Debug)]
pub struct Codel {
    params: Params,
    limit: QueueLimit,
    packets: VecDeque<Waiting>,
    bytes: u64,
    /// The largest packet up to now, which stands for the MTU.
    largest: u64,
    state: State,
}

#[derive(Clone, Copy, Debug)]
struct Waiting {
    packet: PacketId,
    size_bytes: u32,
    since: Time,
}

/// The state of the control law.
#[derive(Clone, Debug)]
struct State {
    /// When the delay will have exceeded `target` for a whole interval; [`Time::NEVER`] while it does not.
    late_at: Time,
    /// Whether it is in the dropping state.
    dropping: bool,
    /// When the next drop is due.
    next: Time,
    /// Drops since it entered the dropping state, and the count with which it entered.
    count: u32,
    count_at_start: u32,
}

impl ActiveQueue for Codel {
    const TITLE: &'static str =
        "CoDel (RFC 8289): drops or marks packets while the queueing delay stays above its target.";
    type Params = Params;

    fn new(params: &Params, limit: QueueLimit) -> Self {
        let state =
            State { late_at: Time::NEVER, dropping: false, next: Time::ZERO, count: 0, count_at_start: 0 };
        Self { params: params.clone(), limit, packets: VecDeque::new(), bytes: 0, largest: 0, state }
    }

    fn can_mark(params: &Params) -> bool {
        params.mark
    }
}

impl Codel {
    /// Takes the first packet. Returns whether it may be dropped: the delay exceeded the target for an interval.
    #[inline]
    fn take(&mut self, now: Time) -> Option<(Waiting, bool)> {
        let Some(first) = self.packets.pop_front() else {
            self.state.late_at = Time::NEVER;
            return None;
        };
        self.bytes -= u64::from(first.size_bytes);
        // below the target, or at most one packet is left                              [RFC 8289 §5, dodequeue] our choice: the size of
        // "one packet" is the largest up to now, because links have no MTU
        if now - first.since < self.params.target || self.bytes <= self.largest {
            self.state.late_at = Time::NEVER;
            return Some((first, false));
        }
        if self.state.late_at == Time::NEVER {
            self.state.late_at = now + self.params.interval;
            return Some((first, false));
        }
        Some((first, now >= self.state.late_at))
    }

    /// When the next drop follows a drop at `from`.
    fn after(&self, from: Time, count: u32) -> Time {
        // t + INTERVAL / √count                                                          [RFC 8289 §5, control_law]
        from + self.params.interval.over_sqrt(count)
    }

    /// Drops the packet and takes the next one, or marks it and keeps it.
    fn punish(&mut self, first: Waiting, cx: &mut PacketCx<'_>) -> Option<(Waiting, bool)> {
        let ecn = &mut cx.arena.get_mut(first.packet).ecn;
        if self.params.mark && *ecn != Ecn::NotCapable {
            // our choice: a packet that is marked already counts as marked again
            cx.marked += u64::from(*ecn == Ecn::Capable);
            *ecn = Ecn::Marked;
            return Some((first, true));
        }
        cx.dropped.push((first.packet, DropReason::Early));
        self.take(cx.now)
    }
}

impl QueueDiscipline for Codel {
    #[inline]
    fn enqueue(&mut self, packet: PacketId, cx: &mut PacketCx<'_>) -> Verdict {
        let size_bytes = cx.arena.get(packet).size_bytes;
        let size = u64::from(size_bytes);
        if !self.limit.admits(self.packets.len() as u32, self.bytes, size) {
            return Verdict::Drop(DropReason::QueueFull);
        }
        self.packets.push_back(Waiting { packet, size_bytes, since: cx.now });
        self.bytes += size;
        self.largest = self.largest.max(size);
        Verdict::Pass
    }

    #[inline]
    fn dequeue(&mut self, cx: &mut PacketCx<'_>) -> Option<PacketId> {
        let now = cx.now;
        let Some((mut first, mut late)) = self.take(now) else {
            // an empty queue ends the dropping state
            self.state.dropping = false;
            return None;
        };
        if self.state.dropping {
            self.state.dropping = late;
            // a long queue may have several drops due at once                             [RFC 8289 §5, deque]
            while self.state.dropping && now >= self.state.next {
                let taken = self.punish(first, cx);
                // a marked packet leaves, and the next mark is for another one
                let marked = taken.is_some_and(|(next, _)| next.packet == first.packet);
                late = taken.is_some_and(|(_, late)| late);
                if late {
                    self.state.count += 1;
                    self.state.next = self.after(self.state.next, self.state.count);
                }
                self.state.dropping = late;
                first = taken?.0;
                if marked {
                    break;
                }
            }
        } else if late {
            let taken = self.punish(first, cx);
            self.state.dropping = true;
            // soon after the last dropping state, the drop rate continues where it was   [RFC 8289 §5, deque]
            let before = self.state.count.wrapping_sub(self.state.count_at_start);
            let soon = now < self.state.next + sixteen(self.params.interval);
            self.state.count = if before > 1 && soon { before } else { 1 };
            self.state.next = self.after(now, self.state.count);
            self.state.count_at_start = self.state.count;
            first = taken?.0;
        }
        Some(first.packet)
    }

    fn backlog(&self) -> Backlog {
        Backlog { packets: self.packets.len() as u32, bytes: Bytes::new(self.bytes) }
    }

    fn drain(&mut self) -> Vec<PacketId> {
        self.bytes = 0;
        self.state.late_at = Time::NEVER;
        self.state.dropping = false;
        self.packets.drain(..).map(|waiting| waiting.packet).collect()
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
