//! The receive rate over a moving window.

use units::{Bytes, Duration, Time};

/// The rate of arrivals, measured from one arrival to a later one, so that evenly spaced packets give their exact rate
/// whatever their number.
///
/// Memory is constant: at most 32 arrivals are stored, about one per sixteenth of the window, so that a window starts
/// at most that much too early.
#[derive(Clone, Debug)]
pub struct ReceiveRate {
    /// Boxed to keep controllers small.
    marks: Box<[Mark; KEPT]>,
    /// Number of stored arrivals; the newest is at `(count - 1) % KEPT`.
    count: usize,
    last: Mark,
}

/// The total of arrivals at an instant.
#[derive(Clone, Copy, Debug, Default)]
struct Mark {
    at: Time,
    bytes: u64,
    packets: u64,
}

impl ReceiveRate {
    /// A meter without arrivals.
    pub fn new() -> Self {
        Self { marks: Box::new([Mark::default(); KEPT]), count: 0, last: Mark::default() }
    }

    /// Takes an arrival. `window` is the longest window that will be requested.
    #[inline]
    pub fn record(&mut self, now: Time, size: Bytes, window: Duration) {
        self.last = Mark { at: now, bytes: self.last.bytes + size.as_u64(), packets: self.last.packets + 1 };
        let due = self.count == 0 || now.saturating_since(self.newest().at) >= window / (KEPT as u64 / 2);
        if due {
            self.marks[self.count % KEPT] = self.last;
            self.count += 1;
        }
    }

    /// Rate in bit/s over the last `window`, or over the last `packets` packets if these took longer. It ends at the
    /// latest arrival. `None` before two arrivals at different instants.
    pub fn rate_over(&self, window: Duration, packets: u64) -> Option<f64> {
        let until = self.last.at - window;
        let oldest = self.count.saturating_sub(KEPT);
        let mut start = None;
        for index in (oldest..self.count).rev() {
            let mark = self.marks[index % KEPT];
            if mark.at == self.last.at {
                continue;
            }
            start = Some(mark);
            if mark.at <= until && mark.packets + packets <= self.last.packets {
                break;
            }
        }
        let start = start?;
        let bits = (self.last.bytes - start.bytes) as f64 * 8.0;
        Some(bits / (self.last.at - start.at).as_secs_f64())
    }

    /// Rate in bit/s of arrivals in the last `window` before the latest arrival, as in RFCs. The divisor is the time
    /// since the last packet before the window, or `window` if no packet arrived for longer than that at its start.
    /// Zero before the first arrival.
    pub fn within(&self, window: Duration) -> f64 {
        if self.count == 0 || window == Duration::ZERO {
            return 0.0;
        }
        let until = self.last.at - window;
        let oldest = self.count.saturating_sub(KEPT);
        let marks = |index: usize| self.marks[index % KEPT];
        let start = (oldest..self.count).rev().find(|&index| marks(index).at <= until);
        let bits = |bytes: u64| bytes as f64 * 8.0;
        let Some(start) = start.filter(|_| self.last.at.as_nanos() >= window.as_nanos()) else {
            return bits(self.last.bytes - if oldest > 0 { marks(oldest).bytes } else { 0 })
                / window.as_secs_f64();
        };
        let (before, after) =
            (marks(start), if start + 1 < self.count { marks(start + 1) } else { self.last });
        let silent = after.at - before.at > window;
        let span = if silent { window } else { self.last.at - before.at };
        bits(self.last.bytes - before.bytes) / span.as_secs_f64()
    }

    fn newest(&self) -> Mark {
        self.marks[(self.count + KEPT - 1) % KEPT]
    }
}

impl Default for ReceiveRate {
    fn default() -> Self {
        Self::new()
    }
}

const KEPT: usize = 32;

#[cfg(test)]
mod tests {
    use super::*;

    fn at(us: u64) -> Time {
        Time::ZERO + Duration::from_micros(us)
    }

    fn arrivals(times_us: impl Iterator<Item = u64>, window: Duration) -> ReceiveRate {
        let mut meter = ReceiveRate::new();
        times_us.for_each(|us| meter.record(at(us), Bytes::new(1000), window));
        meter
    }

    #[test]
    fn evenly_spaced_packets_give_their_exact_rate() {
        let window = Duration::from_millis(50);
        for gap_us in [80, 1_000, 8_000, 49_000, 50_000, 200_000] {
            let meter = arrivals((0..2000).map(|i| 1 + i * gap_us), window);
            let rate = meter.rate_over(window, 1).expect("two arrivals");
            assert!((rate * gap_us as f64 / 8e9 - 1.0).abs() < 1e-12, "{gap_us}: {rate}");
        }
    }

    #[test]
    fn one_arrival_has_no_rate() {
        assert_eq!(ReceiveRate::new().rate_over(Duration::from_secs(1), 1), None);
        assert_eq!(
            arrivals([5].into_iter(), Duration::from_secs(1)).rate_over(Duration::from_secs(1), 1),
            None
        );
        assert_eq!(
            arrivals([5, 5].into_iter(), Duration::from_secs(1)).rate_over(Duration::from_secs(1), 1),
            None
        );
    }

    #[test]
    fn a_new_rate_is_seen_alone_after_one_window() {
        let window = Duration::from_millis(100);
        // 1 Mbit/s for a second, then 4 Mbit/s
        let before = (0..125).map(|i| i * 8_000);
        let after = (0..100).map(|i| 1_000_000 + i * 2_000);
        let meter = arrivals(before.chain(after), window);
        let rate = meter.rate_over(window, 1).expect("many arrivals");
        assert!((rate - 4e6).abs() < 1.0, "{rate}");
        let longer = meter.rate_over(Duration::from_millis(198), 1).expect("many arrivals");
        assert!((longer - 4e6).abs() < 0.4e6, "{longer}");
    }

    #[test]
    fn a_minimum_number_of_packets_widens_the_window() {
        let window = Duration::from_millis(10);
        // gaps of 30, 30, 30, 60 ms
        let meter = arrivals([0, 30_000, 60_000, 90_000, 150_000].into_iter(), window);
        let rate = |packets| meter.rate_over(window, packets).expect("five arrivals");
        assert!((rate(1) - 8_000.0 / 0.06).abs() < 1e-6);
        assert!((rate(4) - 4.0 * 8_000.0 / 0.15).abs() < 1e-6);
    }

    #[test]
    fn within_a_window_evenly_spaced_packets_give_their_exact_rate() {
        let window = Duration::from_millis(50);
        for gap_us in [80, 1_000, 8_000, 50_000] {
            let meter = arrivals((0..2000).map(|i| 1 + i * gap_us), window);
            let rate = meter.within(window);
            assert!((rate * gap_us as f64 / 8e9 - 1.0).abs() < 1e-12, "{gap_us}: {rate}");
        }
    }

    /// Three packets in 2 ms after a silence of a second, in a window of 100 ms: 24 kbit in 100 ms. One packet per 200
    /// ms: one in the window. At the start: all packets.
    #[test]
    fn after_a_silence_the_whole_window_counts() {
        let window = Duration::from_millis(100);
        let burst = arrivals([5_000_000, 6_000_000, 6_001_000, 6_002_000].into_iter(), window);
        assert!((burst.within(window) - 24_000.0 / 0.1).abs() < 1e-6, "{}", burst.within(window));
        let sparse = arrivals((1..20).map(|i| i * 200_000), window);
        assert!((sparse.within(window) - 8_000.0 / 0.1).abs() < 1e-6, "{}", sparse.within(window));
        let first = arrivals([5_000_000, 5_010_000].into_iter(), window);
        assert!((first.within(window) - 16_000.0 / 0.1).abs() < 1e-6, "{}", first.within(window));
        assert_eq!(ReceiveRate::new().within(window), 0.0);
    }
}
