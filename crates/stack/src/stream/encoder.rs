//! A live video encoder whose rate follows the target rate of the scheme: the statistical model of RFC 8593 §4.

use std::collections::VecDeque;

use contract::{EncodedFrame, Random};
use units::{Bytes, Duration, Rate, Time, math};

/// Settings of an encoder that follows a target rate. Sizes are those on the wire.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct EncoderModel {
    /// R_min: lowest rate.
    pub min: Rate,
    /// R_max: highest rate.
    pub max: Rate,
    /// τ_v: minimum time between two changes of the rate. Requests in between are ignored.
    pub reaction: Duration,
    /// SCALE_B: scale of the Laplacian deviation of frame sizes, as a share of the mean size; 0 for none.
    pub variation: f64,
    /// Size of a key frame relative to the mean size of a frame, at least 1 and below `transient`.
    pub key_ratio: f64,
    /// Number of frames between two key frames; 0 if only the first frame is one.
    pub key_every: u32,
    /// K_d: number of frames, the key frame included, over which the mean rate is kept.
    pub transient: u32,
}

impl Default for EncoderModel {
    /// The example values of RFC 8593 §4, Table 1.
    fn default() -> Self {
        Self {
            min: Rate::from_kbps(150),
            max: Rate::from_kbps(1500),
            reaction: Duration::from_millis(200),
            variation: 0.15,
            // K_B/B0 = 13.5 kB / 4.17 kB
            key_ratio: 13.5 / 4.17,
            key_every: 0,
            transient: 8,
        }
    }
}

/// The encoder, and the queue of frames at the sender (RTP queue).
#[derive(Clone, Debug)]
pub struct LiveEncoder {
    model: EncoderModel,
    frame_rate: f64,
    random: Random,
    /// Number of the next frame.
    number: u32,
    /// R_v: the current rate, in bit/s.
    rate: f64,
    /// When it changed; `None` before the first frame.
    changed_at: Option<Time>,
    /// Frames since the last key frame.
    since_key: u32,
    /// The remainder of previous frames below a byte.
    carry: f64,
    /// Number and size of the frames that wait, in order.
    queue: VecDeque<(u32, u32)>,
    queued: Bytes,
}

impl LiveEncoder {
    /// An encoder before its first frame; `frame_rate` in frames per second.
    pub fn new(model: EncoderModel, frame_rate: f64, random: Random) -> Self {
        Self {
            model,
            frame_rate,
            random,
            number: 0,
            rate: 0.0,
            changed_at: None,
            since_key: 0,
            carry: 0.0,
            queue: VecDeque::with_capacity(QUEUED_AT_FIRST),
            queued: Bytes::ZERO,
        }
    }

    /// An encoder of this model before its first frame, with other random numbers.
    pub(super) fn restarted(&self, random: Random) -> Self {
        Self::new(self.model, self.frame_rate, random)
    }

    /// Number of the next frame.
    pub const fn number(&self) -> u32 {
        self.number
    }

    /// The current rate, in bit/s.
    pub const fn rate(&self) -> f64 {
        self.rate
    }

    /// Number of the first frame in the queue.
    pub(super) fn first(&self) -> Option<u32> {
        self.queue.front().map(|frame| frame.0)
    }

    /// Takes the first frame out of the queue: its number and size.
    pub fn pop(&mut self) -> Option<(u32, Bytes)> {
        let (number, size) = self.queue.pop_front()?;
        let size = Bytes::new(u64::from(size));
        self.queued -= size;
        Some((number, size))
    }

    /// Bytes in the queue.
    #[cfg(test)]
    pub(super) const fn queued(&self) -> Bytes {
        self.queued
    }

    /// Encodes the next frame and appends it to the queue, with the target rate `target` of the scheme. Returns its
    /// size.
    pub fn encode(&mut self, target: Rate, now: Time) -> Bytes {
        self.set_rate(target, now);
        let size = self.size();
        self.number += 1;
        self.since_key += 1;
        self.queue.push_back((self.number - 1, size));
        let size = Bytes::new(u64::from(size));
        self.queued += size;
        size
    }

    /// The description of a frame of `size` for the scheme; `waited` is the age of the oldest packet, and `partly_sent`
    /// what has been taken out of the queue and not been sent.
    pub(super) fn describe(
        &self,
        size: Bytes,
        partly_sent: Bytes,
        waited: Duration,
        interval: Duration,
    ) -> EncodedFrame {
        let EncoderModel { min, max, .. } = self.model;
        EncodedFrame { size, queued: self.queued + partly_sent, waited, interval, min, max }
    }

    /// Changes the rate to `target`, if the last change is old enough.
    fn set_rate(&mut self, target: Rate, now: Time) {
        let target = target.clamp(self.model.min, self.model.max).as_bps_f64();
        // requests within τ_v after a change are ignored                                       [RFC8593 §4.1]
        let ready = self.changed_at.is_none_or(|at| now.saturating_since(at) >= self.model.reaction);
        if ready && target != self.rate {
            self.rate = target;
            self.changed_at = Some(now);
        }
    }

    /// Size of the next frame in bytes, at least one.
    fn size(&mut self) -> u32 {
        if self.number == 0 || (self.model.key_every > 0 && self.since_key >= self.model.key_every) {
            self.since_key = 0;
        }
        // B0 = R_v/(8·FPS)                                                                     [RFC8593 §4.3]
        let mean = self.rate / 8.0 / self.frame_rate;
        let mut exact = mean * self.share();
        if self.model.variation > 0.0 {
            exact *= 1.0 + self.laplace();
        }
        exact += self.carry;
        let size = exact.floor().clamp(1.0, f64::from(u32::MAX));
        self.carry = (exact - size).clamp(0.0, 1.0);
        size as u32
    }

    /// Mean size of the next frame relative to the mean size of all frames.
    fn share(&self) -> f64 {
        let (ratio, frames) = (self.model.key_ratio, f64::from(self.model.transient));
        match self.since_key {
            0 => ratio,
            // (K_d·B0 − K_B)/(K_d − 1): the mean of the K_d frames is B0                       [RFC8593 §4.2]
            n if n < self.model.transient => ((frames - ratio) / (frames - 1.0)).max(0.0),
            _ => 1.0,
        }
    }

    /// A random number of the Laplace distribution with mean 0 and the scale of the model.
    fn laplace(&mut self) -> f64 {
        // the inverse of the distribution function: −b·sgn(u)·ln(1 − 2|u|), u uniform in [−½, ½)
        let u = self.random.unit() - 0.5;
        let distance = -self.model.variation * math::ln((1.0 - 2.0 * u.abs()).max(f64::MIN_POSITIVE));
        if u < 0.0 { -distance } else { distance }
    }
}

/// Frames for which the queue has space at the start.
const QUEUED_AT_FIRST: usize = 64;

#[cfg(test)]
mod tests {
    use super::*;

    fn encoder(model: EncoderModel) -> LiveEncoder {
        LiveEncoder::new(model, 30.0, Random::new(1, "video", ""))
    }

    fn at(ms: u64) -> Time {
        Time::ZERO + Duration::from_millis(ms)
    }

    fn plain() -> EncoderModel {
        EncoderModel { variation: 0.0, key_ratio: 1.0, ..EncoderModel::default() }
    }

    /// 1.2 Mbit/s at 30 frames per second are 5000 bytes, 600 kbit/s 2500 bytes.
    #[test]
    fn requests_within_the_reaction_time_after_a_change_are_ignored() {
        let mut encoder = encoder(plain());
        let mut encode = |kbps, ms| encoder.encode(Rate::from_kbps(kbps), at(ms)).as_u64();
        assert_eq!(encode(1200, 0), 5000);
        assert_eq!(encode(600, 100), 5000);
        assert_eq!(encode(600, 199), 5000);
        assert_eq!(encode(600, 200), 2500);
        assert_eq!(encode(1200, 399), 2500);
        assert_eq!(encode(1200, 400), 5000);
    }

    /// 150 kbit/s are 625 bytes, 1.5 Mbit/s 6250 bytes.
    #[test]
    fn the_rate_stays_within_the_range_of_the_encoder() {
        let mut encoder = encoder(plain());
        assert_eq!(encoder.encode(Rate::from_kbps(20), at(0)).as_u64(), 625);
        assert_eq!(encoder.encode(Rate::from_mbps(20), at(1000)).as_u64(), 6250);
    }

    /// At 1.2 Mbit/s, a key frame of 4.5 mean sizes has 22 500 bytes; the 7 frames after it share (8 − 4.5)·5000 = 17
    /// 500 bytes.
    #[test]
    fn a_key_frame_is_larger_and_the_frames_after_it_are_smaller() {
        let mut encoder = encoder(EncoderModel { key_ratio: 4.5, key_every: 10, ..plain() });
        let sizes: Vec<u64> =
            (0..12).map(|n| encoder.encode(Rate::from_kbps(1200), at(n * 33)).as_u64()).collect();
        assert_eq!(sizes, [22500, 2500, 2500, 2500, 2500, 2500, 2500, 2500, 5000, 5000, 22500, 2500]);
    }

    /// The mean of a Laplace distribution is 0, its mean deviation b and its variance 2b².
    #[test]
    fn frame_sizes_deviate_by_a_laplace_distribution() {
        let mut encoder = encoder(EncoderModel { variation: 0.15, ..plain() });
        let n = 100_000;
        let deviations: Vec<f64> = (0..n)
            .map(|_| {
                encoder.queue.clear();
                encoder.encode(Rate::from_kbps(1200), at(0)).as_u64() as f64 / 5000.0 - 1.0
            })
            .collect();
        let mean = |f: fn(f64) -> f64| deviations.iter().map(|x| f(*x)).sum::<f64>() / f64::from(n);
        assert!(mean(|x| x).abs() < 0.003, "{}", mean(|x| x));
        assert!((mean(f64::abs) - 0.15).abs() < 0.003, "{}", mean(f64::abs));
        assert!((mean(|x| x * x) - 0.045).abs() < 0.002, "{}", mean(|x| x * x));
    }

    #[test]
    fn frames_leave_the_queue_in_order() {
        let mut encoder = encoder(plain());
        encoder.encode(Rate::from_kbps(1200), at(0));
        encoder.encode(Rate::from_kbps(600), at(1000));
        assert_eq!((encoder.first(), encoder.queued()), (Some(0), Bytes::new(7500)));
        assert_eq!(encoder.pop(), Some((0, Bytes::new(5000))));
        assert_eq!(encoder.pop(), Some((1, Bytes::new(2500))));
        assert_eq!((encoder.pop(), encoder.queued()), (None, Bytes::ZERO));
    }
}
