//! The aggregate congestion signal (RFC 8698 §4.2). Delays in seconds.

use units::math;

use crate::nada::Params;

/// d_tilde: the queueing delay after the warping.
pub(crate) fn warped(delay: f64, params: &Params) -> f64 {
    let threshold = params.q_th.as_secs_f64();
    if delay < threshold {
        return delay;
    }
    // d_tilde = QTH·exp(−LAMBDA·(d_queue − QTH)/QTH)                                           [RFC8698 §4.2, eq. 1]
    threshold * math::exp(-params.lambda * (delay - threshold) / threshold)
}

/// The delay in the signal, `since_loss` packets after the last loss event, where loss events are `mean` packets apart
/// on average.
pub(crate) fn blended(delay: f64, since_loss: f64, mean: f64, params: &Params) -> f64 {
    // loss_exp = MULTILOSS·loss_int                                                            [RFC8698 §4.2]
    let after = since_loss - params.multi_loss * mean;
    if after < 0.0 {
        return warped(delay, params);
    }
    // ours: back to the unwarped delay over one mean interval, as in the authors' ns-3 module
    let share = (after / mean).min(1.0);
    share * delay + (1.0 - share) * warped(delay, params)
}

/// x_curr: the delay with the penalties of marks and losses.
pub(crate) fn signal(delay: f64, loss_ratio: f64, mark_ratio: f64, params: &Params) -> f64 {
    let (losses, marks) = (loss_ratio / params.loss_ref, mark_ratio / params.mark_ref);
    // x_curr = d_tilde + DMARK·(p_mark/PMRREF)² + DLOSS·(p_loss/PLRREF)²                       [RFC8698 §4.2, eq. 2]
    let signal =
        delay + params.d_mark.as_secs_f64() * marks * marks + params.d_loss.as_secs_f64() * losses * losses;
    signal.min(params.x_max.as_secs_f64())
}

/// A smoothed ratio of packets: lost, or marked.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Ratio(f64);

impl Ratio {
    /// The smoothed value.
    pub(crate) const fn value(self) -> f64 {
        self.0
    }

    /// Takes the ratio of the last window.
    pub(crate) fn add(&mut self, of_window: f64, alpha: f64) {
        // p_loss = ALPHA·p_inst + (1 − ALPHA)·p_loss                                           [RFC8698 §5.1.2]
        self.0 += alpha * (of_window - self.0);
    }
}
