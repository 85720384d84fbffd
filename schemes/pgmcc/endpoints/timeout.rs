//! The timeout of acknowledgements.

use units::Duration;

use crate::pgmcc::Params;

/// Smoothed round-trip time and timeout [RFC6298].
#[derive(Clone, Copy, Debug)]
pub(crate) struct Timeout {
    initial: Duration,
    min: Duration,
    max: Duration,
    /// SRTT and RTTVAR, in seconds.
    estimate: Option<(f64, f64)>,
    span: Duration,
}

impl Timeout {
    /// Without samples.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            initial: params.initial_timeout,
            min: params.min_timeout,
            max: params.max_timeout.max(params.min_timeout),
            estimate: None,
            span: params.initial_timeout,
        }
    }

    /// The current timeout.
    #[inline]
    pub(crate) const fn span(&self) -> Duration {
        self.span
    }

    /// SRTT, in seconds.
    pub(crate) fn smoothed_s(&self) -> Option<f64> {
        self.estimate.map(|(srtt, _)| srtt)
    }

    /// Takes a sample.
    pub(crate) fn sample(&mut self, rtt: Duration) {
        let r = rtt.as_secs_f64();
        let (srtt, rttvar) = match self.estimate {
            // SRTT ← R ; RTTVAR ← R/2                                                 [RFC6298 §2.2]
            None => (r, r / 2.0),
            Some((srtt, rttvar)) => {
                // RTTVAR ← 3/4 RTTVAR + 1/4 |SRTT − R| ; SRTT ← 7/8 SRTT + 1/8 R       [RFC6298 §2.3]
                (0.875 * srtt + 0.125 * r, 0.75 * rttvar + 0.25 * (srtt - r).abs())
            }
        };
        self.estimate = Some((srtt, rttvar));
        // RTO ← SRTT + 4·RTTVAR
        let span = Duration::from_secs_f64(srtt + 4.0 * rttvar);
        self.span = span.max(self.min).min(self.max);
    }

    /// Doubles the timeout after its expiry                                            [RFC6298 §5.5]
    pub(crate) fn back_off(&mut self) {
        self.span = (self.span * 2).min(self.max).max(self.span);
    }

    /// Restarts for another acker, or for none.
    pub(crate) fn restart(&mut self) {
        self.estimate = None;
        self.span = self.initial;
    }
}
