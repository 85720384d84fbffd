//! Retransmission timer [RFC6298].

use units::{Duration, Time};

use crate::parts::Rtt;
use crate::tcp::{Config, RtoFloor};

/// The retransmission timer of a connection and the estimator that sets it. RACK-TLP can set it to an earlier deadline.
#[derive(Clone, Copy, Debug)]
pub(super) struct RetransmissionTimer {
    /// When the timer expires; [`Time::NEVER`] if it is stopped.
    expires_at: Time,
    rtt: Rtt,
}

impl RetransmissionTimer {
    /// A stopped timer.
    pub(super) fn new(config: &Config) -> Self {
        let rtt = Rtt::new(config.initial_rto, config.min_rto, config.max_rto);
        let rtt = if config.rto_floor == RtoFloor::Variation { rtt.floor_of_variation() } else { rtt };
        Self { expires_at: Time::NEVER, rtt }
    }

    /// Takes a sample of the round-trip time.
    #[inline]
    pub(super) fn sample(&mut self, rtt: Duration) {
        self.rtt.sample(rtt);
    }

    #[inline]
    pub(super) const fn rtt(&self) -> &Rtt {
        &self.rtt
    }

    /// Doubles the next timeout [RFC6298 §5.5].
    pub(super) fn back_off(&mut self) {
        self.rtt.back_off();
    }

    /// Starts or restarts the timer.
    #[inline]
    pub(super) fn start(&mut self, now: Time) {
        self.expires_at = now + self.rtt.rto();
    }

    /// Starts or restarts the timer for a probe of a closed receive window, `doublings` of the timeout from now.
    pub(super) fn start_probe(&mut self, now: Time, doublings: u32) {
        let mut wait = self.rtt.rto();
        for _ in 0..doublings {
            wait = (wait * 2).min(self.rtt.max_rto());
        }
        self.expires_at = now + wait;
    }

    #[inline]
    pub(super) fn start_if_stopped(&mut self, now: Time) {
        if self.expires_at == Time::NEVER {
            self.start(now);
        }
    }

    #[inline]
    pub(super) fn stop(&mut self) {
        self.expires_at = Time::NEVER;
    }

    /// Sets the deadline.
    pub(super) fn set(&mut self, at: Time) {
        self.expires_at = at;
    }

    #[inline]
    pub(super) const fn expires_at(&self) -> Time {
        self.expires_at
    }

    #[inline]
    pub(super) fn is_due(&self, now: Time) -> bool {
        now >= self.expires_at
    }
}
