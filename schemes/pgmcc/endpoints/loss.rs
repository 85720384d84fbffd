//! The loss rate that a receiver reports.

/// The share of packets lost, low-pass filtered packet by packet.
///
/// Fixed point. Sixteen bits go into reports, as in the draft; sixteen more are kept below them.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossRate {
    /// c, in 2⁻¹⁶.
    gain: u64,
    /// p, in 2⁻³².
    p: u64,
}

impl LossRate {
    /// Nothing lost yet; `gain` in parts of 65536.
    pub(crate) const fn new(gain: u32) -> Self {
        Self { gain: gain as u64, p: 0 }
    }

    /// A packet arrived.
    #[inline]
    pub(crate) fn arrived(&mut self) {
        // p ← (1 − c)·p                                                              [OPENPGM]
        // differs: the draft prints the constant at the wrong term
        self.p -= (self.p * self.gain) >> 16;
    }

    /// `packets` in a row were lost.
    pub(crate) fn lost(&mut self, packets: u64) {
        for _ in 0..packets.min(MANY) {
            // p ← c + (1 − c)·p                                                      [OPENPGM]
            self.arrived();
            self.p += self.gain << 16;
        }
    }

    /// In parts of 65536, as reported; 65535 is the maximum.
    #[inline]
    pub(crate) fn reported(&self) -> u16 {
        ((self.p + (1 << 15)) >> 16).min(u64::from(u16::MAX)) as u16
    }
}

/// This many losses in a row are no different from more.
const MANY: u64 = 1 << 16;
