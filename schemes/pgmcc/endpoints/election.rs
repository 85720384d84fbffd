//! Election of the acker: the receiver for which TCP would be slowest.

use contract::EndpointId;
use units::Duration;

/// M, the reciprocal of the throughput that TCP would have to a receiver, up to a constant: round-trip time `rtt`, loss rate `p`
/// in parts of 65536. Zero before the first loss.
pub(crate) fn slowness(rtt: Duration, p: u16) -> f64 {
    let p = f64::from(p) / 65536.0;
    // M = RTT·√p·(1 + 9p·(1 + 32p²))                                                 [PGMCC]
    // differs: OpenPGM compares RTT²·p, without the polynomial and without C
    rtt.as_secs_f64() * p.sqrt() * (1.0 + 9.0 * p * (1.0 + 32.0 * p * p))
}

/// The acker, and who was it before.
#[derive(Clone, Copy, Debug)]
pub(super) struct Election {
    /// C.
    hysteresis: f64,
    acker: Option<(EndpointId, f64)>,
    /// The last one, named by packets below this number.
    previous: Option<(EndpointId, u64)>,
}

/// What a report did.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Outcome {
    /// There was no acker; now there is.
    Elected,
    /// Another receiver is the acker now.
    Switched,
    /// The acker spoke.
    Kept,
    /// Another receiver spoke, and is not slow enough.
    Refused,
}

impl Election {
    /// Nobody yet.
    pub(super) const fn new(hysteresis: f64) -> Self {
        Self { hysteresis, acker: None, previous: None }
    }

    /// The acker.
    pub(super) fn acker(&self) -> Option<EndpointId> {
        self.acker.map(|(endpoint, _)| endpoint)
    }

    /// Takes a report of `endpoint`, whose slowness is `m`; the next packet to be sent is `next`.
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

    /// There is no acker any more. Returns who it was.
    pub(super) fn depose(&mut self) -> Option<EndpointId> {
        self.previous = None;
        self.acker.take().map(|(endpoint, _)| endpoint)
    }

    /// Whether `endpoint` was named as acker by packet `seq`, as far as is remembered.
    pub(super) fn named(&self, endpoint: EndpointId, seq: u64) -> bool {
        self.acker() == Some(endpoint)
            || self.previous.is_some_and(|(previous, before)| previous == endpoint && seq < before)
    }
}
