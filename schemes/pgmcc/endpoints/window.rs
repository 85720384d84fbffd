//! The window and its tokens, in packets.

use crate::pgmcc::{Params, Tokens};

/// The window W and the tokens T. A packet may leave while T ≥ 1.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Window {
    ssthresh: f64,
    form: Tokens,
    w: f64,
    t: f64,
}

impl Window {
    /// W = T = 1.
    pub(crate) fn new(params: &Params) -> Self {
        Self { ssthresh: params.ssthresh, form: params.tokens, w: 1.0, t: 1.0 }
    }

    /// The window W.
    pub(crate) const fn window(&self) -> f64 {
        self.w
    }

    /// The tokens T; negative after a loss, until data in flight have left the network.
    pub(crate) const fn tokens(&self) -> f64 {
        self.t
    }

    /// Counts a packet that leaves.
    #[inline]
    pub(crate) fn send(&mut self) {
        // T ← T − 1
        self.t -= 1.0;
    }

    /// Restarts after a timeout.
    pub(crate) fn restart(&mut self) {
        (self.w, self.t) = (1.0, 1.0);
    }

    /// Returns the token of a packet that is not acknowledged.
    pub(crate) fn return_token(&mut self) {
        // T ← T + 1, for the first acker
        self.add(1.0);
    }

    /// Takes `acked` received and `lost` lost packets; the window grows.
    pub(crate) fn grow(&mut self, acked: u64, lost: u64) {
        let mut n = acked as f64;
        let mut tokens = self.back(lost);
        if self.w < self.ssthresh {
            // D = min(N, SSTHRESH − W) ; N ← N − D ; T ← T + 2D ; W ← W + D
            let d = n.min(self.ssthresh - self.w);
            n -= d;
            tokens += 2.0 * d;
            self.w += d;
        }
        // T ← T + N·(1 + 1/W) ; W ← W + N/W ; T ← min(T, W)
        tokens += n * (1.0 + 1.0 / self.w);
        self.w += n / self.w;
        self.add(tokens);
    }

    /// Takes received and lost packets without growth, until feedback for the packet sent after a loss arrives.
    pub(crate) fn hold(&mut self, acked: u64, lost: u64) {
        let n = acked as f64;
        let tokens = match self.form {
            // differs: OpenPGM grants N·(1 + 1/W), although W does not grow
            Tokens::Conserved => n,
            // T ← T + N·(1 + 1/W)                                                    [OPENPGM]
            Tokens::Granted => n * (1.0 + 1.0 / self.w),
        };
        let back = self.back(lost);
        self.add(tokens + back);
    }

    /// Takes received and lost packets; the window is halved.
    pub(crate) fn halve(&mut self, acked: u64, lost: u64) {
        // T ← T − W/2 ; W ← W/2
        // differs: W does not fall below one, or nothing could be sent
        let w = (self.w / 2.0).max(1.0);
        self.t -= self.w - w;
        self.w = w;
        if self.form == Tokens::Conserved {
            let back = self.back(lost);
            self.add(acked as f64 + back);
        }
    }

    /// Restores the window `w` from before a halving, with the tokens that the halving took.
    pub(crate) fn restore(&mut self, w: f64) {
        let more = (w - self.w).max(0.0);
        self.w += more;
        self.add(more);
    }

    /// Tokens of lost packets, which no acknowledgement returns.
    fn back(&self, lost: u64) -> f64 {
        // differs: a packet that PGM repairs would be acknowledged in the end; here it is lost, and its token would be
        // as well
        if self.form == Tokens::Conserved { lost as f64 } else { 0.0 }
    }

    fn add(&mut self, tokens: f64) {
        self.t = (self.t + tokens).min(self.w);
    }
}
