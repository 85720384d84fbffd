//! Whole segments for acknowledged segments, as the TCPs of Linux grow their windows.

/// Segments acknowledged towards the next growth of a window of whole segments [Linux: `snd_cwnd_cnt`].
#[derive(Clone, Copy, Debug, Default)]
pub struct Credit(u64);

impl Credit {
    /// The window after `acked` segments are acknowledged, if it grows by one segment for each `per_segment` of them,
    /// at least one [Linux: tcp_cong_avoid_ai]. Credit collected at a larger `per_segment` gives one segment, not
    /// several.
    #[inline]
    pub fn grow(&mut self, mut window: u64, per_segment: u64, acked: u64) -> u64 {
        if self.0 >= per_segment {
            self.0 = 0;
            window += 1;
        }
        self.0 += acked;
        window += self.0 / per_segment;
        self.0 %= per_segment;
        window
    }

    /// Counts `acked` segments without growth.
    #[inline]
    pub fn add(&mut self, acked: u64) {
        self.0 += acked;
    }

    /// The window after growth by one segment, if as many segments as the window are counted, which are then spent
    /// [Linux: hstcp_cong_avoid].
    #[inline]
    pub fn spend(&mut self, window: u64) -> u64 {
        if self.0 < window {
            return window;
        }
        self.0 -= window;
        window + 1
    }

    /// The segments counted since the last growth.
    #[inline]
    pub fn acked(&self) -> u64 {
        self.0
    }

    /// Forgets what was acknowledged.
    pub fn clear(&mut self) {
        self.0 = 0;
    }
}

#[cfg(test)]
mod tests {
    use super::Credit;

    /// Linux, tcp_cong_avoid_ai: 5 of 3 give one segment and 2 over; 2 more give another and 1 over; 10 give none for
    /// 20, with 11 over; at 4 they give one, and the new 3 stay.
    #[test]
    fn a_segment_for_each_per_segment_acknowledged() {
        let mut credit = Credit::default();
        assert_eq!(credit.grow(10, 3, 5), 11);
        assert_eq!(credit.grow(11, 3, 2), 12);
        assert_eq!(credit.grow(12, 20, 10), 12);
        assert_eq!(credit.grow(12, 4, 3), 13);
        assert_eq!(credit.grow(13, 4, 1), 14);
    }
}
