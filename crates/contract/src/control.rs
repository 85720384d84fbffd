//! Congestion control: the traits of window and rate schemes.

use ambassador::delegatable_trait;
use units::{Bytes, Duration, Rate, Segments, Time};

use crate::{Cx, EndpointId, Label};

/// Congestion control: the allowed data in flight. One trait for every transport; three methods are required.
#[delegatable_trait]
pub trait CongestionControl {
    /// New data were delivered.
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>);

    /// A loss, a mark, a timeout or a NACK.
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>);

    /// The current window and rate.
    fn allowance(&self) -> Allowance;

    /// Whether the transport measures its delivery rate and calls [`CongestionControl::on_delivery`]. Called once; if
    /// false, nothing is measured. TCP and QUIC support it.
    fn samples_delivery(&self) -> bool {
        false
    }

    /// An acknowledgement delivered data, cumulatively or selectively. Called after `on_ack` and after the losses of
    /// that acknowledgement, and only if [`CongestionControl::samples_delivery`] is true.
    fn on_delivery(&mut self, _delivery: &Delivery, _cx: &mut Cx<'_>) {}

    /// A packet was declared lost, also after a timeout. Called after the `on_congestion` that reports it, and only if
    /// [`CongestionControl::samples_delivery`] is true. QUIC stacks that report several lost packets as one event cause
    /// one call.
    fn on_lost(&mut self, _lost: &Lost, _cx: &mut Cx<'_>) {}

    /// A packet was sent.
    fn on_sent(&mut self, _sent: &Sent, _cx: &mut Cx<'_>) {}

    /// A deadline can have expired.
    fn on_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// The next deadline, at which `on_timer` is called.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// The connection is open, and its handshake took the round-trip time `rtt`. Called before the first data are sent.
    /// Only TCP with a handshake calls it.
    fn on_handshake(&mut self, _rtt: Duration, _cx: &mut Cx<'_>) {}

    /// An episode is over: all data that were in flight at its last loss or timeout were delivered, or, after marks,
    /// the data of the round that they started. `cause` is what the episode began with, or a loss or timeout in it.
    /// Called after `on_ack` and `on_delivery` of the acknowledgement that ends it, and not for a spurious episode,
    /// which ends with [`CongestionControl::on_spurious`]. Only TCP and QUIC call it.
    fn on_recovered(&mut self, _cause: Cause, _cx: &mut Cx<'_>) {}

    /// The last episode was spurious: nothing was lost. An implementation can restore its state before it.
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {}

    /// The connection is about to resume sending after it had nothing in flight for longer than a retransmission
    /// timeout.
    fn on_idle(&mut self, _idle: &Idle, _cx: &mut Cx<'_>) {}

    /// For a retransmission timeout no more than `used` bytes of the window were in flight, because the application or
    /// the receive window had no more. Only TCP with a window that decays calls it
    /// [RFC2861 §3.2; Linux: tcp_cwnd_application_limited].
    fn on_unused(&mut self, _used: Bytes, _cx: &mut Cx<'_>) {}

    /// NDN: the maximum rate of Data to the consumer's node, which is the rate of its fastest link. Called once, before
    /// anything else.
    fn on_access(&mut self, _capacity: Rate) {}

    /// NDN: the timer of an Interest, after which it counts as lost; `None` for the consumer's own timeout.
    fn timeout(&self) -> Option<Duration> {
        None
    }

    /// NDN: the controller's windows by source of Data; `None` for a controller with one window for all. It always
    /// returns the same of the two.
    fn by_source(&mut self) -> Option<&mut dyn SourceWindows> {
        None
    }

    /// Slow-start threshold (ssthresh) in bytes, for the trace; unlimited if the scheme has none.
    fn ssthresh(&self) -> Bytes {
        Bytes::UNLIMITED
    }
}

/// NDN: a controller with a window for each source of Data, that is for each node that answers Interests from its store
/// or its producer.
///
/// The consumer counts what is in flight and keeps a round-trip time and a retransmission timeout for each. It calls
/// these methods in place of [`CongestionControl::on_ack`] and [`CongestionControl::on_congestion`];
/// [`CongestionControl::allowance`] is then the sum of the windows, for the trace. Sources are numbers from 0 in the
/// order in which the controller first named them.
pub trait SourceWindows {
    /// The source from which the Data of a segment are expected. Called once for each segment that the consumer wants,
    /// before its first Interest, which is charged to the window of that source.
    fn expect(&mut self, segment: u64) -> u32;

    /// The source of Data of a segment, which arrived over the network with this label.
    fn identify(&mut self, segment: u64, label: &Label) -> u32;

    /// The label of an Interest for a segment.
    fn label(&self, segment: u64) -> Label;

    /// The window of a source.
    fn window(&self, source: u32) -> Bytes;

    /// Data arrived from the expected source. `in_flight`, `rtt_smoothed`, `rtt_min` and `app_limited` belong to the
    /// source.
    fn on_ack(&mut self, source: u32, ack: &Ack, cx: &mut Cx<'_>);

    /// An Interest that was charged to a source expired or was refused, or its Data were marked. Quantities and
    /// episodes belong to the source.
    fn on_congestion(&mut self, source: u32, event: &Congestion, cx: &mut Cx<'_>);
}

/// The smaller trait of loss-based schemes with a window: slow start, congestion avoidance and the reduction, in
/// segments.
///
/// `Clone`, because a spurious loss is undone by restoring the copy made before it. `schemes::shared::Classic` makes a
/// [`CongestionControl`] of it.
pub trait WindowUpdate: Clone {
    /// The window after `ack`, in congestion avoidance.
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, cx: &mut Cx<'_>) -> Segments;

    /// The window after `ack` in slow start; `step` is the increase of [RFC5681 §3.1]. `None` ends slow start.
    #[inline]
    fn slow_start(
        &mut self,
        window: Segments,
        step: Segments,
        _ack: &Ack,
        _cx: &mut Cx<'_>,
    ) -> Option<Segments> {
        Some(Segments(window.0 + step.0))
    }

    /// The slow-start threshold after a congestion event, called once per episode; it is also the new window, except
    /// after a timeout.
    fn ssthresh(&mut self, window: Segments, cut: &Cut, cx: &mut Cx<'_>) -> Segments;

    /// Whether cwnd is an integer number of segments, as in Linux: slow start then ends exactly at ssthresh.
    #[inline]
    fn integer_cwnd(&self) -> bool {
        false
    }

    /// With [`WindowUpdate::integer_cwnd`]: whether the segments left of the acknowledgement that ends slow start count
    /// for congestion avoidance. Some controllers of Linux discard them [Linux: the result of tcp_slow_start].
    #[inline]
    fn counts_excess(&self) -> bool {
        true
    }

    /// An acknowledgement that does not change the window: in recovery, marked, or application-limited. The time until
    /// it does not count.
    fn pause(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}

    /// A segment leaves while no other is in flight, `idle` after the last departure [Linux: CA_EVENT_TX_START].
    #[inline]
    fn on_transmission_start(&mut self, _idle: Duration, _cx: &mut Cx<'_>) {}
}

/// An idle time.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Idle {
    /// Time since the last departure.
    pub time: Duration,
    /// How often the window is halved, down to the initial window: once for each whole retransmission timeout
    /// [RFC2861 §3.2; Linux: tcp_cwnd_restart]. `None`: it is the initial window at once [RFC5681 §4.1].
    pub halvings: Option<u32>,
}

impl Idle {
    /// The window after the idle time, from `window` before it; `initial` is the initial window.
    pub fn restart(&self, window: f64, initial: f64) -> f64 {
        let halved = match self.halvings {
            Some(halvings) => (0..halvings.min(64)).fold(window, |window, _| window / 2.0),
            None => 0.0,
        };
        halved.max(initial.min(window))
    }
}

/// Input of a window reduction.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Cut {
    /// The cause.
    pub cause: Cause,
    /// Payload in flight at the detection, including lost data.
    pub flight: Segments,
}

/// Input of an acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Ack {
    /// Newly acknowledged payload. Over TCP all that is acknowledged cumulatively.
    pub bytes: Bytes,
    /// Newly delivered packets. Over TCP the packets of `bytes`; as in Linux, with `reduction = "proportional"`,
    /// without those that were selectively acknowledged before.
    pub packets: u32,
    /// It reports a congestion mark.
    pub marked: bool,
    /// Newly marked packets that it reports: their number with accurate feedback [RFC9768], otherwise all or none of
    /// `packets`.
    pub marked_packets: u32,
    /// Payload in flight before this acknowledgement.
    pub in_flight: Bytes,
    /// Send time of the newest packet that it covers.
    pub sent_at: Time,
    /// Its send time by the receiver's clock; [`Time::NEVER`] if the transport does not carry it.
    pub ack_sent_at: Time,
    /// A valid round-trip time sample, if there is one.
    pub rtt: Option<Duration>,
    /// Smoothed round-trip time; the initial value before the first sample.
    pub rtt_smoothed: Duration,
    /// Minimum round-trip time so far; [`Duration::MAX`] before the first sample.
    pub rtt_min: Duration,
    /// The application, the receive window or the send buffer has left the window unused, so that it need not grow.
    /// Over TCP: the window was not full at any time of the last round, and in slow start less than half of it was in
    /// flight [Linux: tcp_is_cwnd_limited].
    pub app_limited: bool,
    /// The transport is in loss recovery; classic windows do not change in that time.
    pub recovering: bool,
    /// It ends a round: it covers the first byte sent after the last round ended.
    pub round_ended: bool,
    /// The sender of the acknowledgement.
    pub from: EndpointId,
    /// The scheme's label.
    pub label: Label,
}

impl Ack {
    /// One-way delay of the segment whose timestamp is echoed, in nanoseconds: the receiver's clock at the
    /// acknowledgement minus the sender's clock at the transmission [RFC7323 §3]. `None` if the transport does not
    /// carry both.
    ///
    /// The two clocks are on different hosts, so that the value can be any number, also negative: only its changes have
    /// a meaning. It includes the delay of a delayed acknowledgement.
    #[inline]
    pub fn delay(&self) -> Option<i64> {
        (self.ack_sent_at != Time::NEVER).then(|| Self::delay_between(self.sent_at, self.ack_sent_at))
    }

    /// `ack_sent_at` minus `sent_at` in nanoseconds; the two are of different clocks.
    #[inline]
    pub const fn delay_between(sent_at: Time, ack_sent_at: Time) -> i64 {
        ack_sent_at.as_nanos().wrapping_sub(sent_at.as_nanos()) as i64
    }
}

/// Delivery-rate sample of one acknowledgement.
#[derive(Clone, Copy, Debug)]
pub struct Delivery {
    /// Newly delivered payload, acknowledged cumulatively or selectively.
    pub bytes: Bytes,
    /// Payload delivered in this connection so far, including this.
    pub total: Bytes,
    /// Payload delivered before the newest of these packets was sent.
    pub total_when_sent: Bytes,
    /// Payload in flight when the newest of these packets was sent, including it.
    pub in_flight_when_sent: Bytes,
    /// Payload declared lost since the newest of these packets was sent.
    pub lost: Bytes,
    /// Payload delivered per time, from then to now; `None` if that time is shorter than the minimum round-trip time.
    pub rate: Option<Rate>,
    /// The sender was application-limited when the newest of these packets was sent, so that `rate` is a lower bound.
    pub app_limited: bool,
    /// Round-trip time of the newest of these packets; `None` if it was retransmitted.
    pub rtt: Option<Duration>,
    /// One-way delay of the same packet, with the limits of [`Ack::delay`]. It does not include the time that an
    /// acknowledgement waited for a second segment.
    pub delay: Option<i64>,
    /// Payload in flight before this acknowledgement.
    pub in_flight_before: Bytes,
    /// Payload in flight after it, without lost data.
    pub in_flight: Bytes,
    /// The transport is in loss recovery, also after a timeout.
    pub recovering: bool,
}

/// A lost packet.
#[derive(Clone, Copy, Debug)]
pub struct Lost {
    /// Its payload.
    pub bytes: Bytes,
    /// Payload in flight when it was sent, including it.
    pub in_flight_when_sent: Bytes,
    /// Payload declared lost since it was sent, including it.
    pub lost: Bytes,
    /// Payload delivered in this connection so far.
    pub total: Bytes,
    /// The sender was application-limited when it was sent.
    pub app_limited: bool,
    /// It follows the packet of the last such call without a gap in the sequence. Always false over QUIC.
    pub adjoins: bool,
    /// The transport has selective acknowledgements, so that it detects several losses per round trip.
    pub selective: bool,
}

/// Input of a congestion event.
#[derive(Clone, Copy, Debug)]
pub struct Congestion {
    /// The kind of event.
    pub cause: Cause,
    /// Payload lost or marked.
    pub bytes: Bytes,
    /// Payload in flight at the detection, including lost data.
    pub in_flight: Bytes,
    /// The first event of its episode. Schemes with one reduction per round trip react to this only.
    pub first: bool,
}

/// How a TCP receiver reports congestion marks.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum EcnFeedback {
    /// A mark sets ECE on all acknowledgements until the sender reports a reduction: one bit per round trip
    /// [RFC3168 §6.1.3].
    #[default]
    Classic,
    /// ECE of an acknowledgement says whether the packets that it covers were marked; the receiver acknowledges at once
    /// where that changes [RFC8257 §3.2].
    Dctcp,
    /// Each acknowledgement has the low three bits of the number of marked packets (AccECN) [RFC9768].
    Accurate,
}

/// Use of explicit congestion notification by a scheme over TCP that requires it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EcnUse {
    /// The feedback that it needs.
    pub feedback: EcnFeedback,
    /// Its packets are ECT(1), which identifies L4S [RFC9331 §4.1].
    pub l4s: bool,
}

/// Kind of congestion event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Cause {
    /// Lost packets.
    Loss,
    /// Congestion marks.
    Mark,
    /// A retransmission timeout without any acknowledgement.
    Timeout,
    /// A NACK.
    Refused,
}

/// Input of a departure.
#[derive(Clone, Copy, Debug)]
pub struct Sent {
    /// Payload.
    pub bytes: Bytes,
    /// Payload in flight after it.
    pub in_flight: Bytes,
    /// It is a retransmission.
    pub retransmission: bool,
    /// The application has left the window unused since the last acknowledgement; over TCP known only if delivery is
    /// sampled.
    pub app_limited: bool,
    /// Time since the last departure; zero for the first, and over named data.
    pub idle: Duration,
}

/// The current window and rate. Both always have a value; `UNLIMITED` is one of each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Allowance {
    /// Maximum payload in flight.
    pub window: Bytes,
    /// Pacing rate, headers included.
    pub rate: Rate,
}

impl Allowance {
    /// No limit of the rate.
    pub const fn window(window: Bytes) -> Self {
        Self { window, rate: Rate::UNLIMITED }
    }

    /// No limit of the window.
    pub const fn rate(rate: Rate) -> Self {
        Self { window: Bytes::UNLIMITED, rate }
    }
}

/// Properties of an endpoint for its congestion control.
#[derive(Clone, Copy, Debug)]
pub struct Setup {
    /// TCP: payload of a full segment. Streams: bytes of a data packet on the wire. NDN: bytes of a Data packet on the
    /// wire, for consumers and for the parts of forwarders.
    pub segment: Bytes,
    /// TCP: bytes of header on every packet. Zero elsewhere, because the segment includes it.
    pub header: Bytes,
    /// TCP: the initial window.
    pub initial_window: Bytes,
}
