//! Election of the acker: the receiver with the lowest throughput of TCP.

use contract::EndpointId;
use units::Duration;

/// M, proportional to the reciprocal of TCP's throughput to a receiver with round-trip time `rtt` and loss rate `p` in
/// parts of 65536. Zero before the first loss.
pub(crate) fn slowness(rtt: Duration, p: u16) -> f64 {
    let p = f64::from(p) / 65536.0;
    // M = RTT·√p·(1 + 9p·(1 + 32p²))                                                 [PGMCC]
    // differs: OpenPGM compares RTT²·p, without the polynomial and without C
    rtt.as_secs_f64() * p.sqrt() * (1.0 + 9.0 * p * (1.0 + 32.0 * p * p))
}

/// The current and the previous acker.
#[derive(Clone, Copy, Debug)]
pub(super) struct Election {
    /// The hysteresis C.
    hysteresis: f64,
    acker: Option<(EndpointId, f64)>,
    /// The previous acker, which packets below this number name.
    previous: Option<(EndpointId, u64)>,
}

/// The effect of a report.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// The first acker is elected.
    Elected,
    /// Another receiver becomes the acker.
    Switched,
    /// It is from the acker.
    Kept,
    /// It is from another receiver, which is not slow enough.
    Refused,
}

impl Election {
    /// Without an acker.
    pub(super) const fn new(hysteresis: f64) -> Self {
        Self { hysteresis, acker: None, previous: None }
    }

    /// The acker.
    pub(super) fn acker(&self) -> Option<EndpointId> {
        self.acker.map(|(endpoint, _)| endpoint)
    }

    /// Takes a report of `endpoint` with slowness `m`. `next` is the number of the next packet.
    pub(super) fn report(&mut self, endpoint: EndpointId, m: f64, next: u64) -> Outcome {
        let outcome = match self.acker {
            None => Outcome::Elected,
            Some((acker, _)) if acker == endpoint => Outcome::Kept,
            // M_i·C > M_acker, which is T_i < C·T_acker                                [PGMCC]
            Some((acker, m_acker)) if m * self.hysteresis > m_acker => {
                self.previous = Some((acker, next));
                Outcome::Switched
            }
            Some(_) => return Outcome::Refused,
        };
        self.acker = Some((endpoint, m));
        outcome
    }

    /// Removes the acker and returns it.
    pub(super) fn remove_acker(&mut self) -> Option<EndpointId> {
        self.previous = None;
        self.acker.take().map(|(endpoint, _)| endpoint)
    }

    /// Whether packet `seq` named `endpoint` as acker, as far as is known.
    pub(super) fn named(&self, endpoint: EndpointId, seq: u64) -> bool {
        self.acker() == Some(endpoint)
            || self.previous.is_some_and(|(previous, before)| previous == endpoint && seq < before)
    }
}
