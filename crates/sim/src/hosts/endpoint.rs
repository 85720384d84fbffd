//! Endpoints (TCP, streams, datagrams, NDN consumers and producers) as the simulator holds them.

use std::mem::offset_of;

use contract::{
    Address, CongestionControl, Cx, Destination, DropReason, Endpoint, FlowId, GroupId, Header, Input,
    LinkId, Meter, Outputs, Packet, ParamError, Random, Setup,
};
use schemes::{AnyControl, AnyReceiver, AnySender, Build};
use stack::icn::Attachment;
use stack::log::{Log, Logged, LoggedSender};
use stack::{datagram, ndn, stream, tcp};
use units::{Bytes, Clock, Duration, Rate, Time};

use super::clocks::{Clocked, Clocks};
use super::counters::{Base, Counters, EndedState, Sent, Totals, recorded};
use crate::delays::Delays;
use crate::trace::{Arrivals, FlowRecord, ReceiverRecord};
use crate::{Blueprint, Cast, FlowKind, FlowSpec};
use memory::LINE;

/// Any endpoint.
#[expect(
    clippy::large_enum_variant,
    reason = "a pointer to follow for every packet would cost more than the space"
)]
pub(super) enum AnyEndpoint {
    TcpSender(tcp::Sender<AnyControl>),
    TcpReceiver(tcp::Receiver),
    StreamSender(Box<stream::Sender<AnySender>>),
    StreamReceiver(Box<stream::Receiver<AnyReceiver>>),
    StreamPlayer(Box<stream::Receiver<AnyReceiver, stream::Playing>>),
    Source(datagram::Source),
    Sink(datagram::Sink),
    Consumer(Box<ndn::Consumer<AnyControl>>),
    Steady(Box<ndn::Consumer<ndn::Steady>>),
    Producer(Box<ndn::Producer>),
    Clocked(Box<Clocked<Self>>),
    Custom(Box<dyn Endpoint + Send>),
}

impl Endpoint for AnyEndpoint {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match self {
            Self::TcpSender(endpoint) => endpoint.handle(input, cx),
            Self::TcpReceiver(endpoint) => endpoint.handle(input, cx),
            Self::StreamSender(endpoint) => endpoint.handle(input, cx),
            Self::StreamReceiver(endpoint) => endpoint.handle(input, cx),
            Self::StreamPlayer(endpoint) => endpoint.handle(input, cx),
            Self::Source(endpoint) => endpoint.handle(input, cx),
            Self::Sink(endpoint) => endpoint.handle(input, cx),
            Self::Consumer(endpoint) => endpoint.handle(input, cx),
            Self::Steady(endpoint) => endpoint.handle(input, cx),
            Self::Producer(endpoint) => endpoint.handle(input, cx),
            Self::Clocked(endpoint) => endpoint.handle(input, cx),
            Self::Custom(endpoint) => endpoint.handle(input, cx),
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        match self {
            Self::TcpSender(endpoint) => endpoint.wake(),
            Self::TcpReceiver(endpoint) => endpoint.wake(),
            Self::StreamSender(endpoint) => endpoint.wake(),
            Self::StreamReceiver(endpoint) => endpoint.wake(),
            Self::StreamPlayer(endpoint) => endpoint.wake(),
            Self::Source(endpoint) => endpoint.wake(),
            Self::Sink(endpoint) => endpoint.wake(),
            Self::Consumer(endpoint) => endpoint.wake(),
            Self::Steady(endpoint) => endpoint.wake(),
            Self::Producer(endpoint) => endpoint.wake(),
            Self::Clocked(endpoint) => endpoint.wake(),
            Self::Custom(endpoint) => endpoint.wake(),
        }
    }

    fn take_payload(&mut self, packet: &Packet, payload: &mut Vec<u8>) -> bool {
        match self {
            Self::Clocked(endpoint) => endpoint.take_payload(packet, payload),
            Self::Custom(endpoint) => endpoint.take_payload(packet, payload),
            _ => false,
        }
    }

    fn put_payload(&mut self, payload: &[u8], now: Time) -> Option<Header> {
        match self {
            Self::Clocked(endpoint) => endpoint.put_payload(payload, now),
            Self::Custom(endpoint) => endpoint.put_payload(payload, now),
            _ => None,
        }
    }
}

/// An endpoint, its random stream and its counters, laid out by cache lines: first the fields of every arrival, then the endpoint itself, then
/// the others.
#[repr(C, align(64))]
pub(crate) struct EndpointState {
    /// Packets with an earlier time stamp take the slow path: `epoch`, or all packets if clocks are not exact.
    screen: Time,
    /// When its pending `Wake` is due; any other is stale.
    armed: Time,
    address: Address,
    flow: FlowId,
    /// Whether it accepts packets.
    active: bool,
    /// Delivered bytes at which an application is notified.
    next_event_at: u64,
    sent: Sent,
    /// Distribution of one-way delays at receivers and consumers, see [`crate::MANY_RECEIVERS`].
    delays: Option<Box<Delays>>,
    arrived: Arrivals,
    meter: Meter,
    endpoint: AnyEndpoint,
    /// Counters at the end of the warm-up.
    base: Option<Box<Base>>,
    random: Random,
    active_since: Time,
    /// When its flow last restarted: packets sent before belong to an earlier connection.
    epoch: Time,
    /// Its first start; [`Time::NEVER`] before.
    started_at: Time,
    /// Active time after the warm-up, up to `active_since`.
    active_for: Duration,
}

/// What a packet needs of an endpoint.
#[derive(Clone, Copy, Debug)]
pub(super) enum Footprint {
    /// Its first [`ENDPOINT_LINES`] cache lines. It can answer a packet with another one.
    Answers,
    /// The cache lines of these bits, the lowest for the first line of the state. It answers no packet.
    Lines(u32),
}

/// Cache lines of an endpoint that a packet needs: its own counters and a TCP sender without SACK.
pub(super) const ENDPOINT_LINES: usize = 11;

const _: () = assert!(
    size_of::<EndpointState>() <= 768,
    "an endpoint is at most twelve cache lines: box a large scheme"
);

impl EndpointState {
    pub(super) fn new(endpoint: AnyEndpoint, address: Address, flow: FlowId, random: Random) -> Self {
        Self {
            endpoint,
            armed: Time::NEVER,
            address,
            flow,
            active: false,
            active_since: Time::ZERO,
            epoch: Time::ZERO,
            screen: Time::ZERO,
            arrived: Arrivals::default(),
            sent: Sent::default(),
            next_event_at: u64::MAX,
            delays: None,
            random,
            meter: Meter::default(),
            started_at: Time::NEVER,
            active_for: Duration::ZERO,
            base: None,
        }
    }

    /// The same endpoint with the clock of its node.
    pub(super) fn with_clock(mut self, clocks: &Clocks) -> Self {
        self.endpoint = clocks.wrap(self.address.node, self.endpoint);
        if !clocks.are_exact() {
            self.screen = Time::NEVER;
        }
        self
    }

    /// Replaces the endpoint by one in its initial state.
    pub(super) fn replace(&mut self, endpoint: AnyEndpoint) {
        self.endpoint = endpoint;
    }

    /// Keeps the distribution of one-way delays.
    pub(super) fn keep_delays(&mut self) {
        self.delays = Some(Box::default());
    }

    /// Keeps the distribution of the delays that the endpoint itself reports.
    pub(super) fn keep_reported_delays(&mut self) {
        self.meter.media_mut().delays = Some(Box::default());
    }

    pub(super) fn address(&self) -> Address {
        self.address
    }

    pub(crate) fn flow(&self) -> FlowId {
        self.flow
    }

    pub(crate) fn is_active(&self) -> bool {
        self.active
    }

    /// Whether it was active before.
    pub(super) fn has_started(&self) -> bool {
        self.started_at < Time::NEVER
    }

    /// A copy of its random stream.
    pub(super) fn random(&self) -> Random {
        self.random.clone()
    }

    /// What a packet needs.
    pub(super) fn footprint(&self) -> Footprint {
        let AnyEndpoint::Sink(sink) = &self.endpoint else { return Footprint::Answers };
        // the kind of the endpoint stands before it
        let first = offset_of!(Self, endpoint);
        let end = (first + align_of::<AnyEndpoint>() + size_of_val(sink)).div_ceil(LINE);
        // it counts in the first field of the meter, and in no other
        let counters = (offset_of!(Self, meter) + size_of::<u64>()).div_ceil(LINE);
        let until = |line: usize| (1u32 << line) - 1;
        Footprint::Lines(until(counters) | until(end) & !until(first / LINE))
    }

    // ---- activity

    /// Starts a period of activity.
    pub(crate) fn activate(&mut self, now: Time) {
        self.active = true;
        self.active_since = now;
        self.started_at = self.started_at.min(now);
    }

    /// Ends a period of activity.
    pub(crate) fn deactivate(&mut self, now: Time) {
        self.active_for = self.active_until(now);
        self.active = false;
    }

    /// Makes packets to this endpoint that were sent before now belong to an earlier connection.
    pub(super) fn begin_epoch(&mut self, now: Time) {
        self.epoch = now;
        self.screen = self.screen.max(now);
    }

    /// Active time after the warm-up, up to `now`.
    fn active_until(&self, now: Time) -> Duration {
        if self.active { self.active_for + now.saturating_since(self.active_since) } else { self.active_for }
    }

    // ---- inputs

    /// Whether it takes a packet with this time stamp on the fast path.
    #[inline]
    pub(crate) fn accepts(&self, sent_at: Time) -> bool {
        self.active && sent_at >= self.screen
    }

    /// When a packet with the time stamp `sent_at` of an inexact `clock` was sent by true time; `None` if it is not accepted.
    pub(super) fn sent_by_clock(&self, clock: Clock, sent_at: Time) -> Option<Time> {
        // by the sender's clock, because a slow clock may show two instants as equal
        (self.active && sent_at >= clock.local_time(self.epoch)).then(|| clock.first(sent_at))
    }

    /// Gives an arriving packet to the endpoint, sent at `sent_at` by true time.
    #[inline]
    pub(crate) fn receive(&mut self, now: Time, packet: &Packet, sent_at: Time, out: &mut Outputs) {
        self.count_arrival(now, packet, sent_at);
        self.handle(now, Input::Packet(packet), out);
    }

    /// Gives an input to the endpoint.
    #[inline]
    pub(crate) fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Outputs) {
        let mut cx = Cx::new(now, self.address, self.flow, &mut self.random, &mut self.meter, out);
        self.endpoint.handle(input, &mut cx);
    }

    /// Calls `report` with the context of the endpoint at `now`, for an endpoint that runs elsewhere.
    pub(crate) fn report(&mut self, now: Time, out: &mut Outputs, report: impl FnOnce(&mut Cx<'_>)) {
        report(&mut Cx::new(now, self.address, self.flow, &mut self.random, &mut self.meter, out));
    }

    /// Adds the counts of an endpoint that runs elsewhere.
    pub(crate) fn add_meter(&mut self, more: &Meter) {
        self.meter.add(more);
    }

    // ---- deadlines

    /// Takes the pending `Wake` if it is due now. Any other is stale.
    #[inline]
    pub(crate) fn take_wake(&mut self, now: Time) -> bool {
        let due = self.armed == now;
        if due {
            self.armed = Time::NEVER;
        }
        due
    }

    /// Whether its deadline has expired. It can have changed since the `Wake` was scheduled.
    #[inline]
    pub(crate) fn is_due(&self, now: Time) -> bool {
        self.active && self.endpoint.wake() <= now
    }

    /// When to schedule its next `Wake`; `None` if one is pending that is early enough.
    #[inline]
    pub(super) fn arm(&mut self, now: Time) -> Option<Time> {
        let wake = self.endpoint.wake().max(now);
        let earlier = wake < self.armed && self.active;
        if earlier {
            self.armed = wake;
        }
        earlier.then_some(wake)
    }

    // ---- counters

    /// Counts a packet that the endpoint handed to the network.
    #[inline]
    pub(crate) fn count_sent(&mut self, size_bytes: u32) {
        self.sent.packets += 1;
        self.sent.bytes += u64::from(size_bytes);
    }

    /// Counts a refusal (NACK) among the arrivals.
    pub(crate) fn count_refused(&mut self, size_bytes: u32) {
        self.arrived.refused_bytes += u64::from(size_bytes);
    }

    /// Counts a packet of its flow that arrived, sent at `sent_at` by true time. Signals of a name-based network do not count, because they
    /// come from a router and not from the other end of the flow.
    #[inline]
    fn count_arrival(&mut self, now: Time, packet: &Packet, sent_at: Time) {
        if matches!(packet.header, Header::Signal(_)) {
            return;
        }
        let delay = now.saturating_since(sent_at);
        let arrived = &mut self.arrived;
        arrived.packets += 1;
        arrived.bytes += u64::from(packet.size_bytes);
        arrived.delay_sum_ns += delay.as_nanos();
        arrived.delay_min = arrived.delay_min.min(delay);
        arrived.delay_max = arrived.delay_max.max(delay);
        if let Some(delays) = &mut self.delays {
            delays.add(delay);
        }
    }

    /// Whether so much has been delivered that an application is to be told.
    #[inline]
    pub(crate) fn has_news(&self) -> bool {
        self.meter.goodput_bytes >= self.next_event_at
    }

    /// Sets the delivered bytes at which an application is notified.
    pub(super) fn set_news(&mut self, at: u64) {
        self.next_event_at = at;
    }

    /// Bytes sent, arrived and delivered to the application over the whole run.
    pub(super) fn totals(&self) -> Totals {
        self.counters().totals()
    }

    /// Ends the warm-up: the counters are relative to this instant from now on, and what cannot be subtracted later is reset.
    pub(super) fn rebase(&mut self, now: Time) {
        self.base =
            Some(Box::new(Base { arrived: self.arrived, sent: self.sent, meter: self.meter.clone() }));
        (self.arrived.delay_min, self.arrived.delay_max) = (Duration::MAX, Duration::ZERO);
        if let Some(delays) = &mut self.delays {
            delays.clear();
        }
        self.meter.restart();
        (self.active_for, self.active_since) = (Duration::ZERO, now);
    }

    /// The record at `now` of the flow that it sends, with the flow's drops by reason. Distributions move into it unless they are to be kept for
    /// a later one.
    pub(super) fn flow_record(
        &mut self,
        now: Time,
        drops: [u64; DropReason::ALL.len()],
        keep: bool,
    ) -> FlowRecord {
        let delays = recorded(&mut self.delays, keep);
        let mut record = self.counters().flow_record(now, drops, delays);
        record.meter.completed_at = self.endpoint.true_time(record.meter.completed_at);
        record
    }

    /// The record at `now` of the receiver that it is, likewise.
    pub(super) fn receiver_record(&mut self, now: Time, keep: bool) -> ReceiverRecord {
        let delays = recorded(&mut self.delays, keep);
        let mut record = self.counters().receiver_record(now, delays);
        record.meter.completed_at = self.endpoint.true_time(record.meter.completed_at);
        record
    }

    fn counters(&self) -> Counters<'_> {
        Counters {
            address: self.address,
            flow: self.flow,
            arrived: &self.arrived,
            sent: self.sent,
            meter: &self.meter,
            base: self.base.as_deref(),
            started_at: self.started_at,
            active_since: self.active.then_some(self.active_since),
            active_for: self.active_for,
        }
    }

    // ---- the end of a flow

    /// Whether its part of a finite transfer is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.meter.completed_at < Time::NEVER
    }

    /// Whether it has no deadline.
    pub(super) fn rests(&self) -> bool {
        self.endpoint.wake() == Time::NEVER
    }
}

impl From<EndpointState> for EndedState {
    fn from(state: EndpointState) -> Self {
        Self {
            address: state.address,
            flow: state.flow,
            active: state.active,
            sent: state.sent,
            arrived: state.arrived,
            meter: state.meter,
            delays: state.delays,
            started_at: state.started_at,
            active_since: state.active_since,
            active_for: state.active_for,
            base: state.base,
        }
    }
}

/// A sender for `flow`, towards `receiver` or the flow's group. `capacity` is that of its node, see [`access_capacities`].
pub(super) fn make_sender(
    flow: &FlowSpec,
    id: FlowId,
    receiver: Address,
    attachment: Option<Attachment>,
    log: Option<&Log>,
    capacity: Option<Rate>,
) -> Result<AnyEndpoint, ParamError> {
    let to = destination(flow, id, receiver);
    Ok(match &*flow.kind {
        FlowKind::Tcp(config) => {
            let setup = Setup {
                segment: config.segment,
                header: config.header,
                initial_window: config.segment * u64::from(config.initial_window),
            };
            let Build::Control(build) = scheme(flow)? else { return Err(wrong_kind(flow, "a stream")) };
            let controller = logged(build(&flow.params, &setup)?, log);
            AnyEndpoint::TcpSender(tcp::Sender::new(config, controller, receiver))
        }
        FlowKind::Stream(config) => {
            let Build::Stream { sender, .. } = scheme(flow)? else {
                return Err(wrong_kind(flow, "a window-based controller"));
            };
            let controller = sender(&flow.params, &stream_setup(config))?;
            let controller = match log {
                Some(log) => AnySender::Custom(Box::new(LoggedSender::new(controller, log.clone()))),
                None => controller,
            };
            let sender = stream::Sender::new(config, controller, to);
            AnyEndpoint::StreamSender(Box::new(match attachment {
                Some(attachment) => sender.attached(attachment),
                None => sender,
            }))
        }
        FlowKind::Datagram(config) => AnyEndpoint::Source(datagram::Source::new(config, to)),
        // its factory replaces it when the world is built
        FlowKind::Stack(_) => AnyEndpoint::Sink(datagram::Sink::new()),
        FlowKind::Ndn(config) if flow.scheme.is_none() => {
            AnyEndpoint::Steady(Box::new(ndn::Consumer::new(config, ndn::Steady(config.rate))))
        }
        FlowKind::Ndn(config) => {
            let build = match scheme(flow)? {
                Build::Control(build) => build,
                Build::Stream { .. } => return Err(wrong_kind(flow, "a stream")),
                Build::Forwarder => return Err(wrong_kind(flow, "a part of forwarders")),
            };
            let mut controller = build(&flow.params, &consumer_setup(config))?;
            if let Some(capacity) = capacity {
                controller.on_access(capacity);
            }
            AnyEndpoint::Consumer(Box::new(ndn::Consumer::new(config, logged(controller, log))))
        }
    })
}

/// A congestion controller, with its log.
fn logged(controller: AnyControl, log: Option<&Log>) -> AnyControl {
    match log {
        Some(log) => AnyControl::Custom(Box::new(Logged::new(controller, log.clone()))),
        None => controller,
    }
}

/// The destination of a flow's sender: its receiver, its group, or the forwarder of its node.
pub(super) fn destination(flow: &FlowSpec, id: FlowId, receiver: Address) -> Destination {
    match (&*flow.kind, flow.cast) {
        (FlowKind::Ndn(_), _) => Destination::own_node(),
        (_, Cast::Multicast) => Destination::group(GroupId(id.0)),
        _ => receiver.into(),
    }
}

/// A receiver of `flow` that sends its answers to `sender`.
pub(super) fn make_receiver(
    flow: &FlowSpec,
    sender: Address,
    attachment: Option<Attachment>,
) -> Result<AnyEndpoint, ParamError> {
    Ok(match &*flow.kind {
        FlowKind::Tcp(config) => AnyEndpoint::TcpReceiver(tcp::Receiver::new(config, sender)),
        FlowKind::Stream(config) => {
            let Build::Stream { receiver, .. } = scheme(flow)? else {
                return Err(wrong_kind(flow, "a window-based controller"));
            };
            let controller = receiver(&flow.params, &stream_setup(config))?;
            let receiver = stream::Receiver::new(config, controller, sender);
            let receiver = match attachment {
                Some(attachment) => receiver.attached(attachment),
                None => receiver,
            };
            match stream::Playing::of(config) {
                Some(player) => AnyEndpoint::StreamPlayer(Box::new(receiver.playing(player))),
                None => AnyEndpoint::StreamReceiver(Box::new(receiver)),
            }
        }
        FlowKind::Datagram(_) | FlowKind::Stack(_) => AnyEndpoint::Sink(datagram::Sink::new()),
        FlowKind::Ndn(_) => unreachable!("consumers are checked to have no receivers"),
    })
}

pub(super) fn stream_setup(config: &stream::Config) -> Setup {
    Setup { segment: config.packet, header: Bytes::ZERO, initial_window: Bytes::UNLIMITED }
}

/// The setup of a consumer's controller, which counts Data packets on the wire.
fn consumer_setup(config: &ndn::ConsumerConfig) -> Setup {
    Setup {
        segment: config.data,
        header: Bytes::ZERO,
        initial_window: config.data * u64::from(config.initial_window),
    }
}

/// For each node the rate of the fastest link into it at the start of the run, except control links; `None` if it has no link. Empty without named
/// data, whose consumers are the ones to know it.
pub(super) fn access_capacities(blueprint: &Blueprint) -> Vec<Option<Rate>> {
    if blueprint.ndn.is_none() {
        return Vec::new();
    }
    let mut capacities = vec![None; blueprint.nodes.len()];
    for (id, link) in (0u32..).map(LinkId).zip(&blueprint.links) {
        if !blueprint.is_control(id) {
            let (from, to) = link.ends;
            for (node, rate) in [(from, link.backward.rate), (to, link.forward.rate)] {
                let known: &mut Option<Rate> = &mut capacities[node.index()];
                *known = (*known).max(Some(rate));
            }
        }
    }
    capacities
}

fn scheme(flow: &FlowSpec) -> Result<Build, ParamError> {
    let name = flow.scheme.as_deref().unwrap_or_default();
    schemes::find(name).map(|entry| entry.build).ok_or_else(|| ParamError {
        name: flow.name.clone(),
        message: format!("there is no scheme `{name}`"),
        hint: None,
        conflicts_with: None,
    })
}

fn wrong_kind(flow: &FlowSpec, what: &str) -> ParamError {
    let scheme = flow.scheme.as_deref().unwrap_or_default();
    ParamError {
        name: flow.name.clone(),
        message: format!("`{scheme}` is {what}, which this transport cannot use"),
        hint: None,
        conflicts_with: None,
    }
}
