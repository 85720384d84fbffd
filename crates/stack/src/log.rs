//! A log of a congestion controller: its inputs, and the resulting window and rate.
//!
//! [`Logged`] wraps the controller of any transport, and [`LoggedSender`] the part of a stream scheme at the source.
//! Both pass every call on and report [`Event`]s to a [`Log`], so that a flow with a log sends the same packets as one
//! without. Events are from qlog's recovery category (draft-ietf-quic-qlog-quic-events); quantities that do not change
//! are not repeated.

use std::sync::{Arc, Mutex, PoisonError};

use contract::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Feedback, Idle, Label, Lost,
    OutgoingPacket, SenderAlgorithm, Sent, SourceWindows,
};
use units::{Bytes, Duration, Rate, Time};

/// Receives the events of one flow, in the order of time.
#[derive(Clone)]
pub struct Log(Arc<Mutex<Write>>);

/// What writes an event.
type Write = dyn FnMut(Time, &Event) + Send;

impl Log {
    /// A log that calls `write` for each event.
    pub fn new(write: impl FnMut(Time, &Event) + Send + 'static) -> Self {
        Self(Arc::new(Mutex::new(write)))
    }

    /// Reports an event.
    pub fn write(&self, now: Time, event: &Event) {
        // a panic of another thread in `write` leaves nothing behind that later events depend on
        (self.0.lock().unwrap_or_else(PoisonError::into_inner))(now, event);
    }
}

/// An event of a congestion controller.
#[derive(Clone, Copy, Debug)]
pub enum Event {
    /// A packet left.
    Sent {
        /// Its number among the packets of this sender, from 0; retransmissions have numbers of their own, as in QUIC.
        number: u64,
        /// TCP: its payload. Streams: its size on the wire.
        bytes: Bytes,
    },
    /// A datagram of a connection over real sockets arrived.
    Received {
        /// Its size on the wire.
        bytes: Bytes,
    },
    /// Quantities that changed.
    Metrics(Metrics),
    /// The controller is in another state.
    State {
        /// The last state; `None` at first.
        old: Option<State>,
        /// The current state.
        new: State,
        /// What caused a recovery.
        cause: Option<Cause>,
    },
    /// Losses, marks, a timeout or a NACK.
    Congestion(Congestion),
    /// The last episode was spurious: nothing was lost.
    Spurious,
}

/// State of a congestion controller [RFC9002 §7.3].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum State {
    /// The window is below the slow-start threshold.
    SlowStart,
    /// The window has reached the slow-start threshold.
    CongestionAvoidance,
    /// Between a congestion event and the acknowledgement of all data that were in flight then.
    Recovery,
    /// The application does not use the window.
    ApplicationLimited,
}

/// Inputs and decisions of a controller; `None` for what did not change since the last event, or does not exist.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Metrics {
    /// Minimum round-trip time so far.
    pub rtt_min: Option<Duration>,
    /// Smoothed round-trip time.
    pub rtt_smoothed: Option<Duration>,
    /// The newest sample of the round-trip time.
    pub rtt_latest: Option<Duration>,
    /// Congestion window.
    pub window: Option<Bytes>,
    /// Payload in flight.
    pub in_flight: Option<Bytes>,
    /// Slow-start threshold.
    pub ssthresh: Option<Bytes>,
    /// Pacing rate, headers included.
    pub rate: Option<Rate>,
}

impl Metrics {
    /// What of `self` differs from `known`, which takes it over.
    fn changes(&self, known: &mut Self) -> Self {
        fn change<T: Copy + PartialEq>(new: Option<T>, known: &mut Option<T>) -> Option<T> {
            let new = new.filter(|_| new != *known)?;
            known.replace(new);
            Some(new)
        }
        Self {
            rtt_min: change(self.rtt_min, &mut known.rtt_min),
            rtt_smoothed: change(self.rtt_smoothed, &mut known.rtt_smoothed),
            rtt_latest: change(self.rtt_latest, &mut known.rtt_latest),
            window: change(self.window, &mut known.window),
            in_flight: change(self.in_flight, &mut known.in_flight),
            ssthresh: change(self.ssthresh, &mut known.ssthresh),
            rate: change(self.rate, &mut known.rate),
        }
    }
}

/// Reports what happens to one sender to a log: what did not change is left out.
#[derive(Clone)]
pub struct Writer {
    log: Log,
    known: Metrics,
    state: Option<State>,
    /// Number of the next packet.
    next: u64,
}

impl Writer {
    /// A writer to `log` that knows nothing yet.
    pub fn new(log: Log) -> Self {
        Self { log, known: Metrics::default(), state: None, next: 0 }
    }

    /// Reports an event as it is.
    pub fn write(&self, now: Time, event: Event) {
        self.log.write(now, &event);
    }

    /// A packet left, the next by number.
    pub fn sent(&mut self, now: Time, bytes: Bytes) {
        self.write(now, Event::Sent { number: self.next, bytes });
        self.next += 1;
    }

    /// Reports what of `metrics` changed.
    pub fn metrics(&mut self, now: Time, metrics: Metrics) {
        let changes = metrics.changes(&mut self.known);
        if changes != Metrics::default() {
            self.write(now, Event::Metrics(changes));
        }
    }

    /// Reports the state, if it changed.
    pub fn state(&mut self, now: Time, new: State, cause: Option<Cause>) {
        if self.state != Some(new) {
            self.write(now, Event::State { old: self.state, new, cause });
            self.state = Some(new);
        }
    }
}

/// The finite limits of an allowance.
fn limits(allowance: Allowance) -> Metrics {
    Metrics {
        window: Some(allowance.window).filter(|window| *window != Bytes::UNLIMITED),
        rate: Some(allowance.rate).filter(|rate| *rate != Rate::UNLIMITED),
        ..Metrics::default()
    }
}

/// A congestion controller with a log.
#[derive(Clone)]
pub struct Logged<C> {
    controller: C,
    writer: Writer,
}

impl<C: CongestionControl> Logged<C> {
    /// `controller`, with its events in `log`.
    pub fn new(controller: C, log: Log) -> Self {
        Self { controller, writer: Writer::new(log) }
    }

    /// Reports the decisions of the controller after a call, with its inputs `inputs`.
    fn after(&mut self, now: Time, inputs: Metrics) {
        let Metrics { window, rate, .. } = limits(self.controller.allowance());
        let ssthresh = Some(self.controller.ssthresh()).filter(|threshold| *threshold != Bytes::UNLIMITED);
        self.writer.metrics(now, Metrics { window, rate, ssthresh, ..inputs });
    }

    /// The state outside of recoveries.
    fn growth(&self, app_limited: bool) -> State {
        if app_limited {
            return State::ApplicationLimited;
        }
        match self.controller.allowance().window < self.controller.ssthresh() {
            true => State::SlowStart,
            false => State::CongestionAvoidance,
        }
    }
}

impl<C: CongestionControl> CongestionControl for Logged<C> {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        self.controller.on_ack(ack, cx);
        let now = cx.now();
        self.after(
            now,
            Metrics {
                rtt_min: Some(ack.rtt_min).filter(|rtt| *rtt != Duration::MAX),
                rtt_smoothed: Some(ack.rtt_smoothed).filter(|_| ack.rtt_min != Duration::MAX),
                rtt_latest: ack.rtt,
                in_flight: Some(Bytes::new(ack.in_flight.as_u64().saturating_sub(ack.bytes.as_u64()))),
                ..Metrics::default()
            },
        );
        if !ack.recovering {
            let state = self.growth(ack.app_limited);
            self.writer.state(now, state, None);
        }
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        let now = cx.now();
        self.writer.write(now, Event::Congestion(*event));
        self.controller.on_congestion(event, cx);
        self.writer.state(now, State::Recovery, Some(event.cause));
        let lost = if event.cause == Cause::Mark { Bytes::ZERO } else { event.bytes };
        let remaining = event.in_flight.as_u64().saturating_sub(lost.as_u64());
        self.after(now, Metrics { in_flight: Some(Bytes::new(remaining)), ..Metrics::default() });
    }

    fn allowance(&self) -> Allowance {
        self.controller.allowance()
    }

    fn samples_delivery(&self) -> bool {
        self.controller.samples_delivery()
    }

    fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        self.controller.on_delivery(delivery, cx);
        self.after(cx.now(), Metrics { in_flight: Some(delivery.in_flight), ..Metrics::default() });
    }

    fn on_lost(&mut self, lost: &Lost, cx: &mut Cx<'_>) {
        self.controller.on_lost(lost, cx);
        self.after(cx.now(), Metrics::default());
    }

    fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        self.controller.on_sent(sent, cx);
        let now = cx.now();
        self.writer.sent(now, sent.bytes);
        self.after(now, Metrics { in_flight: Some(sent.in_flight), ..Metrics::default() });
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        self.controller.on_timer(cx);
        self.after(cx.now(), Metrics::default());
    }

    fn wake(&self) -> Time {
        self.controller.wake()
    }

    fn on_handshake(&mut self, rtt: Duration, cx: &mut Cx<'_>) {
        self.controller.on_handshake(rtt, cx);
        self.after(cx.now(), Metrics::default());
    }

    fn on_recovered(&mut self, cause: Cause, cx: &mut Cx<'_>) {
        self.controller.on_recovered(cause, cx);
        self.after(cx.now(), Metrics::default());
    }

    fn on_spurious(&mut self, cx: &mut Cx<'_>) {
        self.controller.on_spurious(cx);
        self.writer.write(cx.now(), Event::Spurious);
        self.after(cx.now(), Metrics::default());
    }

    fn on_idle(&mut self, idle: &Idle, cx: &mut Cx<'_>) {
        self.controller.on_idle(idle, cx);
    }

    fn on_unused(&mut self, used: Bytes, cx: &mut Cx<'_>) {
        self.controller.on_unused(used, cx);
        self.after(cx.now(), Metrics::default());
    }

    fn on_access(&mut self, capacity: Rate) {
        self.controller.on_access(capacity);
    }

    fn timeout(&self) -> Option<Duration> {
        self.controller.timeout()
    }

    fn by_source(&mut self) -> Option<&mut dyn SourceWindows> {
        self.controller.by_source()
    }

    fn ssthresh(&self) -> Bytes {
        self.controller.ssthresh()
    }
}

/// The part of a stream scheme at the source, with a log.
pub struct LoggedSender<L> {
    algorithm: L,
    writer: Writer,
}

impl<L: SenderAlgorithm> LoggedSender<L> {
    /// `algorithm`, with its events in `log`.
    pub fn new(algorithm: L, log: Log) -> Self {
        Self { algorithm, writer: Writer::new(log) }
    }

    fn after(&mut self, now: Time) {
        self.writer.metrics(now, limits(self.algorithm.allowance()));
    }
}

impl<L: SenderAlgorithm> SenderAlgorithm for LoggedSender<L> {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        self.algorithm.on_feedback(feedback, cx);
        self.after(cx.now());
    }

    fn allowance(&self) -> Allowance {
        self.algorithm.allowance()
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.algorithm.on_start(cx);
        self.after(cx.now());
    }

    fn stamp(&mut self, sending: &OutgoingPacket, cx: &mut Cx<'_>) -> Label {
        let label = self.algorithm.stamp(sending, cx);
        if self.writer.state == Some(State::ApplicationLimited) {
            self.writer.state(cx.now(), State::CongestionAvoidance, None);
        }
        self.writer.write(cx.now(), Event::Sent { number: sending.seq, bytes: sending.size });
        self.after(cx.now());
        label
    }

    fn out_of_band(&self) -> bool {
        self.algorithm.out_of_band()
    }

    fn control(&mut self, after: &OutgoingPacket, cx: &mut Cx<'_>) -> Option<Label> {
        self.algorithm.control(after, cx)
    }

    fn on_idle(&mut self, cx: &mut Cx<'_>) {
        self.algorithm.on_idle(cx);
        self.after(cx.now());
        // nothing of the source waits, whatever the scheme allows
        self.writer.state(cx.now(), State::ApplicationLimited, None);
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        self.algorithm.on_timer(cx);
        self.after(cx.now());
    }

    fn wake(&self) -> Time {
        self.algorithm.wake()
    }

    fn on_mode(&mut self, mode: &str, cx: &mut Cx<'_>) {
        self.algorithm.on_mode(mode, cx);
        self.after(cx.now());
    }
}
