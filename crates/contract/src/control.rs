//! Congestion control: the traits of window and rate schemes.

use ambassador::delegatable_trait;
use units::{Bytes, Duration, Rate, Segments, Time};

use crate::{Cx, EndpointId, Label};

/// How much may be under way. One trait for every transport; three methods are required.
#[delegatable_trait]
pub trait CongestionControl {
    /// New data is known delivered.
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>);

    /// A loss, a mark, a timeout or a refusal.
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>);

    /// What is permitted now.
    fn allowance(&self) -> Allowance;

    /// Whether the transport is to measure how fast it delivers and tell [`CongestionControl::on_delivery`]. Asked once; where the
    /// answer is no, nothing is measured. Only TCP does.
    fn samples_delivery(&self) -> bool {
        false
    }

    /// An acknowledgement told of deliveries, cumulative or selective. After `on_ack`, and after the losses that it showed; laws that
    /// answer no to [`CongestionControl::samples_delivery`] are never called.
    fn on_delivery(&mut self, _delivery: &Delivery, _cx: &mut Cx<'_>) {}

    /// A packet left.
    fn on_sent(&mut self, _sent: &Sent, _cx: &mut Cx<'_>) {}

    /// The deadline may have passed.
    fn on_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// When `on_timer` is wanted.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// The last episode was spurious: nothing had been lost. Laws that can, put back what they had.
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {}

    /// The connection is about to send again after it had nothing in flight for `idle`, longer than a retransmission timeout.
    fn on_idle(&mut self, _idle: Duration, _cx: &mut Cx<'_>) {}

    /// NDN: the rate at which Data can reach the consumer's node, that of its fastest link. Told once, before anything else.
    fn on_access(&mut self, _capacity: Rate) {}

    /// NDN: how long an Interest waits for its Data before it counts as lost; `None` leaves that to the consumer's own timer.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// Slow-start threshold in bytes, for the trace; unlimited where the law has none.
    fn threshold(&self) -> Bytes {
        Bytes::UNLIMITED
    }
}

/// The smaller trait of the classic family: congestion avoidance and the cut, in segments, as papers write them.
///
/// `Clone`, so that undoing a spurious loss is putting the copy back. `schemes::shared::Classic` makes a [`CongestionControl`] of it.
pub trait WindowLaw: Clone {
    /// The window after `ack`, in congestion avoidance.
    fn grow(&mut self, window: Segments, ack: &Ack, cx: &mut Cx<'_>) -> Segments;

    /// The window after `ack` in slow start, `step` being what [RFC5681 §3.1] adds; `None` ends slow start here.
    #[inline]
    fn climb(&mut self, window: Segments, step: Segments, _ack: &Ack, _cx: &mut Cx<'_>) -> Option<Segments> {
        Some(Segments(window.0 + step.0))
    }

    /// The window after a congestion event; called once per episode. For a timeout this is the new threshold.
    fn shrink(&mut self, window: Segments, cut: &Cut, cx: &mut Cx<'_>) -> Segments;

    /// Whether windows are whole segments: slow start then ends exactly at the threshold, and what an acknowledgement has left counts for
    /// congestion avoidance.
    #[inline]
    fn is_whole(&self) -> bool {
        false
    }

    /// An acknowledgement arrived that may not move the window, because the sender did not fill it: time that must not count.
    fn pause(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}
}

/// Facts about one cut of a window.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// What called for it.
    pub cause: Cause,
    /// What was in flight when it was noticed, the lost included.
    pub flight: Segments,
}

/// Facts about one arriving acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Payload newly known delivered.
    pub bytes: Bytes,
    /// Packets newly known delivered.
    pub packets: u32,
    /// It carries a congestion mark.
    pub marked: bool,
    /// Payload in flight before this acknowledgement.
    pub in_flight: Bytes,
    /// When the newest packet it covers was sent.
    pub sent_at: Time,
    /// When its receiver sent it, by the receiver's clock; [`Time::NEVER`] where the transport does not carry that.
    pub answered_at: Time,
    /// A valid round-trip sample, if it gives one.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; the initial value before the first sample.
    pub rtt_smoothed: Duration,
    /// Minimum round-trip time seen; [`Duration::MAX`] before the first.
    pub rtt_min: Duration,
    /// The sender had less to send than it was allowed, at some time since the last acknowledgement.
    pub app_limited: bool,
    /// The transport is repairing losses; classic windows stand still meanwhile.
    pub recovering: bool,
    /// It ends a round: it covers the first byte sent after the last round ended.
    pub round_ended: bool,
    /// Who acknowledged.
    pub from: EndpointId,
    /// The scheme's own words.
    pub label: Label,
}

impl Ack {
    /// One-way delay of the segment whose timestamp is echoed, in nanoseconds: the receiver's clock when it answered, less the sender's
    /// when the segment left [RFC7323 §3]. `None` where the transport does not carry both.
    ///
    /// The clocks are those of two hosts, so the value may be anything, below zero too: only its changes mean something. What a
    /// delayed acknowledgement waited is in it.
    #[inline]
    pub fn delay(&self) -> Option<i64> {
        (self.answered_at != Time::NEVER).then(|| Self::delay_between(self.sent_at, self.answered_at))
    }

    /// Nanoseconds from `sent_at` by one clock to `answered_at` by another.
    #[inline]
    pub const fn delay_between(sent_at: Time, answered_at: Time) -> i64 {
        answered_at.as_nanos().wrapping_sub(sent_at.as_nanos()) as i64
    }
}

/// Facts about what one acknowledgement delivered.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Payload newly known delivered, acknowledged cumulatively or selectively.
    pub bytes: Bytes,
    /// Payload delivered in this connection so far, this included.
    pub total: Bytes,
    /// What had been delivered when the newest of these packets left.
    pub total_when_sent: Bytes,
    /// Payload delivered over the time it took, from then to now; `None` where that is shorter than any round trip.
    pub rate: Option<Rate>,
    /// The sender had too little to send when the newest of these packets left, so that `rate` says little of the network.
    pub app_limited: bool,
    /// Round-trip time of the newest of these packets; `None` if that was sent more than once.
    pub rtt: Option<Duration>,
    /// One-way delay of the same packet, with the same reservations as [`Ack::delay`]. What an acknowledgement of two waited for the
    /// second is not in it.
    pub delay: Option<i64>,
    /// Payload in flight before this acknowledgement.
    pub in_flight_before: Bytes,
    /// Payload in flight after it, what it showed to be lost left out.
    pub in_flight: Bytes,
    /// The transport is repairing losses, after a timeout too.
    pub recovering: bool,
}

/// Facts about one congestion event.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// What happened.
    pub cause: Cause,
    /// Payload lost or marked.
    pub bytes: Bytes,
    /// Payload in flight when it was noticed, the lost included.
    pub in_flight: Bytes,
    /// The first of its episode. Laws that cut once per round trip look at this.
    pub first: bool,
}

/// Kind of congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Packets are missing.
    Loss,
    /// The network marked packets.
    Mark,
    /// Nothing was heard for a retransmission timeout.
    Timeout,
    /// The network refused: a NACK.
    Refused,
}

/// Facts about one departure.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Payload.
    pub bytes: Bytes,
    /// Payload in flight after it.
    pub in_flight: Bytes,
    /// It was sent before.
    pub again: bool,
    /// The sender had less to send than it was allowed, at some time since the last acknowledgement.
    pub app_limited: bool,
}

/// The window and rate now permitted. Always both; `UNLIMITED` is a value of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Payload that may be in flight.
    pub window: Bytes,
    /// Rate at which packets may leave, headers included.
    pub rate: Rate,
}

impl Allowance {
    /// No cap on the rate.
    pub const fn window(window: Bytes) -> Self {
        Self { window, rate: Rate::UNLIMITED }
    }

    /// No cap on the window.
    pub const fn rate(rate: Rate) -> Self {
        Self { window: Bytes::UNLIMITED, rate }
    }
}

/// What an endpoint knows when its law is made.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// TCP: payload of a full segment. Streams: bytes of a data packet on the wire. NDN: bytes of a Data packet on the wire, for
    /// consumers and for the parts of forwarders.
    pub segment: Bytes,
    /// TCP: bytes of header on every packet. Zero elsewhere: the segment is given with it.
    pub header: Bytes,
    /// TCP: the initial window.
    pub initial_window: Bytes,
}
