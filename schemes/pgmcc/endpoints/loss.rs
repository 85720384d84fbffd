//! The loss rate that a receiver reports.

/// The loss rate, low-pass filtered per packet.
///
/// Fixed point: reports contain sixteen bits, as in the draft; sixteen more are kept.
#[derive(Clone, Copy, Debug)]
pub(crate) struct LossRate {
    /// c, in 2⁻¹⁶.
    gain: u64,
    /// p, in 2⁻³².
    p: u64,
}

impl LossRate {
    /// Without losses; `gain` in parts of 65536.
    pub(crate) const fn new(gain: u32) -> Self {
        Self { gain: gain as u64, p: 0 }
    }

    /// A packet arrived.
    #[inline]
    pub(crate) fn arrived(&mut self) {
        // p ← (1 − c)·p                                                              [OPENPGM]
        // differs: the draft has the constant at the wrong term
        self.p -= (self.p * self.gain) >> 16;
    }

    /// Takes `packets` consecutive losses.
    pub(crate) fn lost(&mut self, packets: u64) {
        for _ in 0..packets.min(MANY) {
            // p ← c + (1 − c)·p                                                      [OPENPGM]
            self.arrived();
            self.p += self.gain << 16;
        }
    }

    /// In parts of 65536, as in reports; 65535 is the maximum.
    #[inline]
    pub(crate) fn reported(&self) -> u16 {
        ((self.p + (1 << 15)) >> 16).min(u64::from(u16::MAX)) as u16
    }
}

/// More consecutive losses than this have no further effect.
const MANY: u64 = 1 << 16;
