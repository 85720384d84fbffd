//! The round-trip time of a receiver: measured by echoes, and updated in between by the one-way delay of data.

use super::headers::Millis;

/// A receiver's round-trip time [RFC4654 §4.3.2, §4.3.3]. The clock offset of the two ends has no effect.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct RoundTrip {
    measured: Option<Measured>,
}

#[derive(Clone, Copy, Debug)]
struct Measured {
    /// R: smoothed over measurements, in seconds.
    smoothed: f64,
    /// D_r: delay to the sender in milliseconds, plus the sender's clock offset.
    back: i32,
    /// The current value, in seconds.
    now: f64,
}

impl RoundTrip {
    /// Takes a data packet sent at `ts` that echoes this receiver's timestamp `tr` and arrives at `now`. `q` is the
    /// weight of the old value; the first measurement is used unchanged. Returns whether it was the first.
    pub(crate) fn measure(&mut self, now: Millis, ts: Millis, tr: Millis, q: f64) -> bool {
        let sample = secs(now.since(tr));
        let before = self.measured.replace(Measured { smoothed: sample, back: ts.since(tr), now: sample });
        if let (Some(before), Some(measured)) = (before, &mut self.measured) {
            // R ← q·R + (1 − q)·sample                                            [RFC4654 §4.3.2]
            measured.smoothed = q * before.smoothed + (1.0 - q) * sample;
            measured.now = measured.smoothed;
        }
        before.is_none()
    }

    /// Takes a data packet sent at `ts` that arrives at `now` without an echo for this receiver.
    #[inline]
    pub(crate) fn adjust(&mut self, now: Millis, ts: Millis) {
        if let Some(measured) = &mut self.measured {
            // R = max(D_r + now − ts, 1 ms), until the next measurement             [RFC4654 §4.3.3]
            // differs: D_r is ts − tr_echo, the delay to the sender; with the opposite sign the two delays would be
            // subtracted
            measured.now = secs(measured.back.saturating_add(now.since(ts)));
        }
    }

    /// The current round-trip time in seconds, at least a millisecond; `None` before the first measurement.
    #[inline]
    pub(crate) fn secs(&self) -> Option<f64> {
        self.measured.map(|measured| measured.now)
    }
}

/// Milliseconds as seconds, at least one.
fn secs(ms: i32) -> f64 {
    f64::from(ms.max(1)) / 1e3
}

#[cfg(test)]
mod tests {
    use super::*;

    fn near(value: Option<f64>, ms: f64) {
        let value = value.expect("a round-trip time");
        assert!((value - ms / 1e3).abs() < 1e-12, "{value} is not {ms} ms");
    }

    /// The receiver's clock is `ahead` of the sender's. Its report of sender time 4000 takes 20 ms, is held for 80 ms,
    /// and is echoed by the packet of 4100, which takes 30 ms: 50 ms in all. Later packets take 45 and 25 ms: 65 and 45
    /// ms.
    #[test]
    fn the_way_here_keeps_it_up_between_measurements_whatever_the_clocks_say() {
        for ahead in [0, 1000, 5000, u32::MAX - 4050, u32::MAX - 1000] {
            let theirs = Millis;
            let ours = |ms: u32| Millis(ms.wrapping_add(ahead));
            let mut round_trip = RoundTrip::default();
            assert_eq!(round_trip.secs(), None);
            round_trip.adjust(ours(4030), theirs(4000));
            assert_eq!(round_trip.secs(), None);
            // tr_echo = 4000 + 80 by our clock
            assert!(round_trip.measure(ours(4130), theirs(4100), ours(4080), 0.5));
            near(round_trip.secs(), 50.0);
            round_trip.adjust(ours(4245), theirs(4200));
            near(round_trip.secs(), 65.0);
            round_trip.adjust(ours(4325), theirs(4300));
            near(round_trip.secs(), 45.0);
            // a measurement of 70 ms replaces the updates: 0.9·50 + 0.1·70 and 0.5·50 + 0.5·70
            let mut slow = round_trip;
            assert!(!slow.measure(ours(4450), theirs(4400), ours(4380), 0.9));
            near(slow.secs(), 52.0);
            assert!(!round_trip.measure(ours(4450), theirs(4400), ours(4380), 0.5));
            near(round_trip.secs(), 60.0);
        }
    }

    #[test]
    fn it_is_a_millisecond_at_least() {
        let mut round_trip = RoundTrip::default();
        round_trip.measure(Millis(100), Millis(99), Millis(100), 0.5);
        near(round_trip.secs(), 1.0);
        // D_r = −1, and a packet without delay
        round_trip.adjust(Millis(200), Millis(200));
        near(round_trip.secs(), 1.0);
        round_trip.measure(Millis(100), Millis(99), Millis(900), 0.0);
        near(round_trip.secs(), 1.0);
    }
}
