//! An authenticated channel: one end of an open session. It authenticates outgoing datagrams and verifies incoming ones.

use std::collections::VecDeque;
use std::net::SocketAddr;

use contract::Ecn;
use units::{Duration, Time};
use wire::stream::{Datagram, Frame, KEY, Order};

use crate::gso::GsoBatches;
use crate::keys::Key;
use crate::replay::Replay;
use crate::{Platform, Stats};

/// An order that is not acknowledged is retransmitted after this, then after twice as long, up to a second.
const AGAIN: (Duration, Duration) = (Duration::from_millis(100), Duration::from_secs(1));
/// Orders that may wait to be said.
const ORDERS: usize = 16;

/// One end of an open session.
pub(crate) struct Channel {
    /// The other end's address.
    pub(crate) to: SocketAddr,
    /// Number of the session.
    pub(crate) session: u32,
    seal: Key,
    open: Key,
    /// What only the two ends know, for what applications say.
    pub(crate) binding: [u8; KEY],
    /// The other end has said something in this session: it has the keys, and is who it says that it is.
    pub(crate) known: bool,
    next: u64,
    seen: Replay,
    /// The round-trip time that the handshake took, at most; `None` where it was not timed.
    pub(crate) rtt: Option<Duration>,
    /// When the other end was last heard.
    pub(crate) heard_at: Time,
    /// When this end last said anything.
    spoke_at: Time,
    orders: VecDeque<Order>,
    /// Number of the first of them.
    serial: u32,
    /// When it is to be said, again or for the first time, and how long to wait after that.
    say_at: Time,
    wait: Duration,
    /// Number of the next order of the other end.
    expected: u32,
}

impl Channel {
    /// An end that writes with the key `seal` and reads with `open`.
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

    /// Bytes of the headers of IP and UDP on this way.
    pub(crate) fn outer_bytes(&self) -> u32 {
        outer_bytes(self.to)
    }

    /// What a datagram from `from` says; `None`, and counted, where it is not from the other end or came before.
    pub(crate) fn read<'a>(
        &mut self,
        bytes: &'a [u8],
        from: SocketAddr,
        now: Time,
        stats: &mut Stats,
    ) -> Option<Frame<'a>> {
        if from != self.to {
            stats.refused.strangers += 1;
            return None;
        }
        let Some(body) = self.open.open(bytes) else {
            stats.refused.forged += 1;
            return None;
        };
        let Ok(datagram) = Datagram::read(body) else {
            stats.refused.malformed += 1;
            return None;
        };
        if !self.seen.take(datagram.number) {
            stats.refused.repeated += 1;
            return None;
        }
        self.heard_at = now;
        self.known = true;
        stats.received.add(bytes.len());
        Some(datagram.frame)
    }

    /// Says something; its length in bytes.
    pub(crate) fn say(
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

    /// Has an order said until it is heard. Of two changes of mode that wait, the later one counts.
    pub(crate) fn order(&mut self, order: Order, now: Time) {
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

    /// Whether all orders were heard.
    pub(crate) fn settled(&self) -> bool {
        self.orders.is_empty()
    }

    /// The other end heard an order.
    pub(crate) fn on_heard(&mut self, serial: u32, now: Time) {
        if serial == self.serial && self.orders.pop_front().is_some() {
            self.serial = self.serial.wrapping_add(1);
            self.wait = AGAIN.0;
            self.say_at = if self.orders.is_empty() { Time::NEVER } else { now };
        }
    }

    /// The other end gave an order: whether it is new, and whether it is to be answered.
    pub(crate) fn on_order(&mut self, serial: u32) -> (bool, bool) {
        let behind = self.expected.wrapping_sub(serial);
        let new = behind == 0;
        if new {
            self.expected = self.expected.wrapping_add(1);
        }
        (new, behind <= 1 << 16)
    }

    /// The order that is to be said now, if any, with its number.
    pub(crate) fn due(&mut self, now: Time) -> Option<(u32, Order)> {
        if self.say_at > now {
            return None;
        }
        let order = self.orders.front()?.clone();
        self.say_at = now + self.wait;
        self.wait = (self.wait * 2).min(AGAIN.1);
        Some((self.serial, order))
    }

    /// Whether it is time to say that this end lives.
    pub(crate) fn too_quiet(&self, now: Time, keep_alive: Duration) -> bool {
        now >= self.spoke_at + keep_alive
    }

    /// When something is to be said without being asked.
    pub(crate) fn wake(&self, keep_alive: Duration) -> Time {
        self.say_at.min(self.spoke_at + keep_alive)
    }
}

/// Bytes of the headers of IP and UDP on the way to `to`.
pub(crate) fn outer_bytes(to: SocketAddr) -> u32 {
    if to.is_ipv4() { 20 + 8 } else { 40 + 8 }
}
