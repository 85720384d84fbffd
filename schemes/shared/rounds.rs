//! Packet-timed round trips: counted by deliveries, as in BBR (draft-ietf-ccwg-bbr §5.5.1).

use contract::Delivery;
use units::Bytes;

/// The count of round trips. A round ends with the delivery of a packet that was sent after the round began.
#[derive(Clone, Debug, Default)]
pub struct Rounds {
    count: u64,
    started: bool,
    /// The round ends with a packet that was sent when at least this was delivered.
    end: u64,
    /// Payload delivered so far.
    delivered: u64,
    /// Samples of packets sent between these counts of delivered payload are ignored.
    ignored: Option<(u64, u64)>,
}

impl Rounds {
    /// Rounds so far.
    pub fn count(&self) -> u64 {
        self.count
    }

    /// Whether the current acknowledgement starts a round.
    pub fn started(&self) -> bool {
        self.started
    }

    /// Payload delivered so far, in bytes.
    pub fn delivered(&self) -> u64 {
        self.delivered
    }

    /// So much payload is delivered, as a loss reports.
    pub fn set_delivered(&mut self, total: Bytes) {
        self.delivered = total.as_u64();
    }

    /// The current acknowledgement counts as the start of a round, whatever it covers.
    pub fn start(&mut self) {
        self.started = true;
    }

    /// A new round begins now.
    pub fn begin(&mut self) {
        self.end = self.delivered;
    }

    /// Takes an acknowledgement. Returns whether its sample is application-limited, or ignored.
    pub fn update(&mut self, delivery: &Delivery) -> bool {
        self.delivered = delivery.total.as_u64();
        let when_sent = delivery.total_when_sent.as_u64();
        // packet.delivered ≥ next_round_delivered
        self.started = when_sent >= self.end;
        if self.started {
            self.begin();
            self.count += 1;
        }
        let ignored = self.ignored.is_some_and(|(from, until)| (from..=until).contains(&when_sent));
        delivery.app_limited || ignored
    }

    /// Ignores samples of packets that leave until the `in_flight` bytes that are in flight now are delivered: the
    /// sender limits itself.
    pub fn ignore(&mut self, in_flight: u64) {
        let from =
            self.ignored.map_or(
                self.delivered,
                |(from, until)| {
                    if until >= self.delivered { from } else { self.delivered }
                },
            );
        self.ignored = Some((from, self.delivered + in_flight));
    }
}
