//! Generic segmentation offload of Linux: segments leave in batches, whose last one has PSH, and a batch that is not
//! full may wait for the next acknowledgement \[Linux: tcp_tso_segs, tcp_tso_should_defer, `__tcp_transmit_skb`\].

use contract::CongestionControl;
use units::{Duration, Rate, Time};

use super::Sender;

/// The batch that leaves now, and the buffers of which batches are parts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Batch {
    /// Segments that are left of it.
    pub(super) left: u64,
    /// It has more than one segment.
    several: bool,
    /// Segments of a buffer, and the first segment of one. The first buffer is filled again when the initial window has
    /// left it [Linux: tcp_xmit_size_goal, tcp_sendmsg_locked].
    buffer: (u64, u64),
}

impl Batch {
    /// No batch, for segments of `segment` bytes.
    pub(super) fn new(segment: u64, initial_window: u64) -> Self {
        Self { left: 0, several: false, buffer: ((BUFFER / segment).max(1), initial_window) }
    }

    /// Segments of the buffer from segment `number` on. A batch does not reach into the next buffer.
    fn left_in_buffer(&self, number: u64) -> u64 {
        let (size, first) = self.buffer;
        size - (number + size - first % size) % size
    }

    /// A segment of the batch leaves. Returns whether it has PSH: it is the last of several.
    #[inline]
    pub(super) fn take(&mut self) -> bool {
        self.left = self.left.saturating_sub(1);
        self.several && self.left == 0
    }
}

impl<C: CongestionControl> Sender<C> {
    /// A call that sends what it may begins with no batch.
    #[inline]
    pub(super) fn end_batch(&mut self) {
        if let Some(batch) = &mut self.batch {
            (batch.left, batch.several) = (0, false);
        }
    }

    /// Whether the next new segment waits: for the pacer, or until the batch has more segments. `room` is what window
    /// and receiver allow, in bytes.
    #[inline]
    pub(super) fn holds_back(&mut self, room: u64, now: Time) -> bool {
        match self.batch.as_deref() {
            None => self.waits_for_pacer(now),
            Some(batch) if batch.left > 0 => false,
            Some(batch) => {
                let batch = *batch;
                self.waits_for_pacer(now) || self.waits_for_batch(batch, room, now)
            }
        }
    }

    /// Begins a batch, or waits for more segments.
    #[inline(never)]
    fn waits_for_batch(&mut self, batch: Batch, room: u64, now: Time) -> bool {
        let (segment, window) = (self.segment(), self.limits.window);
        let unsent = self.app_data.ready - self.seq.next;
        let segments = (room / segment).max(1);
        let largest = self.largest_batch();
        let whole = batch.left_in_buffer(self.seq.next / segment);
        // neither the end of the data nor the end of a buffer waits
        let full = segments >= largest.min(whole);
        if !full && unsent > room && self.expects_ack(segments * segment, now) {
            return true;
        }
        // not more than half a window at once                                          [Linux: tcp_cwnd_test]
        let size = segments.min(window / segment / 2).min(largest).min(whole).min(unsent / segment).max(1);
        if let Some(next) = &mut self.batch {
            **next = Batch { left: size, several: size > 1, ..batch };
        }
        false
    }

    /// Whether a batch of `bytes`, which is not full, is better sent after the next acknowledgement, which comes soon
    /// [Linux: tcp_tso_should_defer].
    fn expects_ack(&self, bytes: u64, now: Time) -> bool {
        let Some(head) = self.rack.as_ref().and_then(|rack| rack.oldest_sent_at()) else { return false };
        let paced = self.limits.rate != Rate::UNLIMITED;
        let free_at = if paced { self.pacer.free_at() } else { Time::ZERO };
        let last = self.departures.last_sent_at.max(free_at);
        if self.recovery.reducing || self.recovery.recovering || now > last + SOON {
            return false;
        }
        if bytes >= self.limits.window / WINDOW_DIVISOR {
            return false;
        }
        let srtt = self.timer.rtt().smoothed();
        now + SOON.min(srtt / 2) >= head + srtt
    }

    /// Maximum number of segments of a batch: what the pacing rate of Linux sends in 1/1024 s, at least two
    /// [Linux: tcp_tso_autosize].
    fn largest_batch(&self) -> u64 {
        let (window, segment) = (self.limits.window, self.segment());
        let rtt = self.timer.rtt();
        let (rate, minimum) = if self.limits.rate == Rate::UNLIMITED {
            let data = u128::from(window.max(self.flight()));
            // tcp_pacing_ss_ratio, tcp_pacing_ca_ratio                                  [Linux: tcp_update_pacing_rate]
            let percent = if window < self.controller.ssthresh().as_u64() / 2 { 200 } else { 120 };
            let nanos = u128::from(rtt.smoothed().as_nanos()).max(1);
            (data * percent * 10_000_000 / nanos, 2)
        } else {
            let whole = segment + u64::from(self.settings.header_bytes);
            let payload = u128::from(self.limits.rate.as_bps()) * u128::from(segment) / u128::from(8 * whole);
            // bbr_min_tso_rate                                                          [Linux: bbr_min_tso_segs]
            (payload, if payload < 150_000 { 1 } else { 2 })
        };
        let mut bytes = rate / 1024;
        // a short path has larger batches: half for each 512 us
        let halvings = rtt.min().as_nanos() / 512_000;
        if halvings < 32 {
            bytes += u128::from(LARGEST >> halvings);
        }
        (bytes.min(u128::from(LARGEST)) as u64 / segment).max(minimum)
    }
}

/// A batch waits only within this time of the last departure, and for acknowledgements that are expected within it.
const SOON: Duration = Duration::from_millis(1);
/// A share of the window that does not wait: 1/3 [Linux: tcp_tso_win_divisor].
const WINDOW_DIVISOR: u64 = 3;
/// Maximum bytes of a batch [Linux: GSO_LEGACY_MAX_SIZE].
const LARGEST: u64 = 65_536;
/// Maximum bytes of a buffer: without headers [Linux: sk_dst_gso_max_size, MAX_TCP_HEADER].
const BUFFER: u64 = LARGEST - 193;

#[cfg(test)]
mod tests {
    use super::*;

    /// 65 343 / 1448 = 45 segments. The first ten are in a buffer of which they are the end.
    #[test]
    fn buffers_begin_after_the_initial_window() {
        let batch = Batch::new(1448, 10);
        let left = [0, 9, 10, 53, 54, 55, 99].map(|number| batch.left_in_buffer(number));
        assert_eq!(left, [10, 1, 45, 2, 1, 45, 1]);
    }
}
