//! An authenticated channel: one end of an open session. It authenticates outgoing datagrams and verifies incoming ones.

use std::collections::VecDeque;
use std::net::SocketAddr;

use contract::Ecn;
use driver::{GsoBatches, Platform};
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, KEY, Order};

use crate::Stats;
use crate::keys::Key;
use crate::replay::Replay;

/// Retransmission of an order without acknowledgement: initial timeout, which doubles, and its maximum.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// Maximum number of orders that wait.
const ORDERS: usize = 16;

/// One end of an open session.
pub struct Channel {
    /// Address of the other end.
    pub to: SocketAddr,
    /// Number of the session.
    pub session: u32,
    seal: Key,
    open: Key,
    /// A value that only the two ends know, for applications.
    pub binding: [u8; KEY],
    /// A datagram of the other end with a valid tag has arrived, which proves its identity.
    pub known: bool,
    next: u64,
    seen: Replay,
    /// Upper bound of the round-trip time of the handshake; `None` if it was not measured.
    pub rtt: Option<Duration>,
    /// Arrival of the last valid datagram.
    pub heard_at: Time,
    /// Departure of the last datagram.
    spoke_at: Time,
    orders: VecDeque<Order>,
    /// Serial number of the first pending order.
    serial: u32,
    /// When it is sent next, and the timeout after that.
    say_at: Time,
    wait: Duration,
    /// Serial number of the next order of the other end.
    expected: u32,
}

impl Channel {
    /// A channel that authenticates with the key `seal` and verifies with `open`.
    pub(crate) fn new(
        to: SocketAddr,
        session: u32,
        [seal, open]: [Key; 2],
        binding: [u8; KEY],
        now: Time,
    ) -> Self {
        Self {
            to,
            session,
            seal,
            open,
            binding,
            known: false,
            next: 0,
            seen: Replay::new(),
            rtt: None,
            heard_at: now,
            spoke_at: now,
            orders: VecDeque::new(),
            serial: 0,
            say_at: Time::NEVER,
            wait: AGAIN.0,
            expected: 0,
        }
    }

    /// Bytes of IP and UDP headers on this path.
    pub fn outer_bytes(&self) -> u32 {
        outer_bytes(self.to)
    }

    /// The frame of a datagram from `from`; `None`, with a count of the reason, if it is not from the other end or is a duplicate.
    pub fn read<'a>(
        &mut self,
        bytes: &'a [u8],
        from: SocketAddr,
        now: Time,
        stats: &mut Stats,
    ) -> Option<Frame<'a>> {
        if from != self.to {
            stats.discarded.strangers += 1;
            return None;
        }
        let Some(body) = self.open.open(bytes) else {
            stats.discarded.forged += 1;
            return None;
        };
        let Ok(datagram) = Datagram::read(body) else {
            stats.discarded.malformed += 1;
            return None;
        };
        if !self.seen.take(datagram.number) {
            stats.discarded.repeated += 1;
            return None;
        }
        self.heard_at = now;
        self.known = true;
        stats.received.add(bytes.len());
        Some(datagram.frame)
    }

    /// Sends a frame. Returns the length in bytes.
    pub fn say(
        &mut self,
        frame: Frame<'_>,
        ecn: Ecn,
        now: Time,
        platform: &mut impl Platform,
        gso_batches: &mut GsoBatches,
        stats: &mut Stats,
    ) -> usize {
        let datagram = Datagram { session: self.session, number: self.next, frame };
        self.next += 1;
        self.spoke_at = now;
        let seal = &self.seal;
        let length = gso_batches.push(self.to, ecn, platform, |bytes| {
            let start = bytes.len();
            datagram.write(bytes);
            seal.seal(bytes, start);
        });
        stats.sent.add(length);
        length
    }

    /// Queues an order, which is retransmitted until it is acknowledged. A change of mode replaces one that waits.
    pub fn order(&mut self, order: Order, now: Time) {
        let first = usize::from(self.say_at != Time::NEVER && !self.orders.is_empty());
        if matches!(order, Order::Mode(_)) {
            let mut place = 0;
            self.orders.retain(|waiting| {
                place += 1;
                place <= first || !matches!(waiting, Order::Mode(_))
            });
        }
        if self.orders.len() < ORDERS {
            self.orders.push_back(order);
        }
        if self.say_at == Time::NEVER {
            (self.say_at, self.wait) = (now, AGAIN.0);
        }
    }

    /// Whether all orders were acknowledged.
    pub fn settled(&self) -> bool {
        self.orders.is_empty()
    }

    /// Takes the acknowledgement of an order.
    pub fn on_heard(&mut self, serial: u32, now: Time) {
        if serial == self.serial && self.orders.pop_front().is_some() {
            self.serial = self.serial.wrapping_add(1);
            self.wait = AGAIN.0;
            self.say_at = if self.orders.is_empty() { Time::NEVER } else { now };
        }
    }

    /// Takes an order of the other end: whether it is new, and whether it is to be acknowledged.
    pub fn on_order(&mut self, serial: u32) -> (bool, bool) {
        let behind = self.expected.wrapping_sub(serial);
        let new = behind == 0;
        if new {
            self.expected = self.expected.wrapping_add(1);
        }
        (new, behind <= 1 << 16)
    }

    /// The order that is due now, with its serial number.
    pub fn due(&mut self, now: Time) -> Option<(u32, Order)> {
        if self.say_at > now {
            return None;
        }
        let order = self.orders.front()?.clone();
        self.say_at = now + self.wait;
        self.wait = (self.wait * 2).min(AGAIN.1);
        Some((self.serial, order))
    }

    /// Whether a keep-alive is due.
    pub fn too_quiet(&self, now: Time, keep_alive: Duration) -> bool {
        now >= self.spoke_at + keep_alive
    }

    /// When an order or a keep-alive is due.
    pub fn wake(&self, keep_alive: Duration) -> Time {
        self.say_at.min(self.spoke_at + keep_alive)
    }
}

/// Bytes of IP and UDP headers on the path to `to`.
pub(crate) fn outer_bytes(to: SocketAddr) -> u32 {
    if to.is_ipv4() { 20 + 8 } else { 40 + 8 }
}
