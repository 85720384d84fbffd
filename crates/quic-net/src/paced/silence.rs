//! A path that acknowledges nothing: the rate is halved within a few round-trip times, whatever feedback the scheme
//! expects, and when.
//!
//! Schemes of papers halve their rates after other times, or never: to some, silence is the absence of congestion. QUIC
//! acknowledges every packet with a DATAGRAM frame, so that here silence is an interruption [RFC8085 §3.1].

use units::{Duration, Time};

/// Round-trip times without an acknowledgement after which the rate is halved, and again after as many,
const HALVING_RTTS: u64 = 4;
/// each with the time that an acknowledgement may wait [RFC9000 §18.2].
const MAX_ACK_DELAY: Duration = Duration::from_millis(25);
/// Maximum interval between packets, so that the end of an interruption is noticed.
const MAX_GAP: Duration = Duration::from_secs(1);

/// What was sent since the last acknowledgement.
#[derive(Debug)]
pub(super) struct Silence {
    /// Acknowledgements of the connection until now.
    acks: u64,
    /// When the first packet after the last of them was sent.
    since: Time,
    /// How many packets were sent from then on, until the rate was first to be halved.
    sent: u64,
    last_sent: Time,
}

impl Silence {
    pub(super) const fn new() -> Self {
        Self { acks: 0, since: Time::NEVER, sent: 0, last_sent: Time::ZERO }
    }

    /// Takes the number of acknowledgements of the connection.
    pub(super) fn on_acks(&mut self, acks: u64) {
        if acks != self.acks {
            (self.acks, self.since, self.sent) = (acks, Time::NEVER, 0);
        }
    }

    /// A packet is sent.
    pub(super) fn on_sent(&mut self, now: Time, rtt: Duration) {
        self.since = self.since.min(now);
        self.sent += u64::from(now.saturating_since(self.since) < period(rtt));
        self.last_sent = now;
    }

    /// When the next packet may be sent.
    pub(super) fn next_at(&self, now: Time, rtt: Duration) -> Time {
        let period = period(rtt);
        let halvings = now.saturating_since(self.since).as_nanos() / period.as_nanos();
        if halvings == 0 {
            return now;
        }
        let gap = (period / self.sent.max(1)).as_nanos().saturating_mul(1 << halvings.min(30));
        self.last_sent + Duration::from_nanos(gap).min(MAX_GAP)
    }
}

fn period(rtt: Duration) -> Duration {
    (rtt + MAX_ACK_DELAY) * HALVING_RTTS
}

#[cfg(test)]
mod tests {
    use super::*;

    const RTT: Duration = Duration::from_millis(75);

    /// Packets in each of the first periods of 400 ms of a sender with this interval, and an acknowledgement at this
    /// time.
    fn sent(gap: Duration, ack_at: Time) -> Vec<u64> {
        let (mut silence, mut counts) = (Silence::new(), vec![0; 8]);
        let mut now = Time::ZERO;
        while now < Time::ZERO + Duration::from_millis(3200) {
            silence.on_acks(u64::from(now >= ack_at));
            let next_at = silence.next_at(now, RTT);
            if next_at <= now {
                silence.on_sent(now, RTT);
                counts[(now.as_nanos() / 400_000_000) as usize] += 1;
                now += gap;
            } else {
                now = if now < ack_at { next_at.min(ack_at) } else { next_at };
            }
        }
        counts
    }

    #[test]
    fn the_rate_is_halved_every_four_round_trips_down_to_a_packet_per_second() {
        let counts = sent(Duration::from_millis(1), Time::NEVER);
        assert_eq!(counts[0], 400);
        for (count, expected) in counts[1..6].iter().zip([200u64, 100, 50, 25, 13]) {
            assert!(count.abs_diff(expected) <= 2, "{counts:?}");
        }
        let slow = sent(Duration::from_secs(1), Time::NEVER);
        assert_eq!(slow.iter().sum::<u64>(), 4, "a slow sender is not stopped: {slow:?}");
    }

    #[test]
    fn an_acknowledgement_ends_it() {
        let counts = sent(Duration::from_millis(1), Time::ZERO + Duration::from_millis(1600));
        assert!(counts[3] <= 52 && counts[4] == 400, "{counts:?}");
    }
}
