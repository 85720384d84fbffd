//! Endpoints (TCP, streams, datagrams, NDN consumers and producers) as the simulator holds them.

use std::mem::offset_of;

use contract::{
    Address, CongestionControl, Cx, Destination, DropReason, Endpoint, FlowId, GroupId, Header, Input,
    LinkId, Meter, Name, Outputs, Packet, ParamError, Random, Setup,
};
use schemes::{AnyControl, AnyReceiver, AnySender, Build};
use stack::icn::Attachment;
use stack::log::{Log, Logged, LoggedSender};
use stack::{datagram, ndn, stream, tcp};
use units::{Bytes, Clock, Duration, Rate, Time};

use memory::LINE;

use super::clocks::Clocked;
use super::counters::{Arrived, Base, Counters, EndedState, Sent, Totals, recorded};
use super::machines::{MachineId, Machines};
use crate::delays::Delays;
use crate::trace::{FlowRecord, ReceiverRecord};
use crate::{Blueprint, Cast, FlowKind, FlowSpec};

/// Any endpoint. Where it runs, see [`Machines`], the most frequent ones are in lists of their own.
pub(super) enum AnyEndpoint {
    TcpSender(Box<tcp::Sender<AnyControl>>),
    TcpReceiver(Box<tcp::Receiver>),
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

/// Gives an input to an endpoint. Returns its deadline.
#[inline]
pub(super) fn run<E: Endpoint + ?Sized>(endpoint: &mut E, input: Input<'_>, cx: &mut Cx<'_>) -> Time {
    endpoint.handle(input, cx);
    endpoint.wake()
}

impl AnyEndpoint {
    /// Gives an input to the endpoint and returns its deadline, with one look at the kind.
    #[inline]
    pub(super) fn run(&mut self, input: Input<'_>, cx: &mut Cx<'_>) -> Time {
        match self {
            Self::TcpSender(endpoint) => run(&mut **endpoint, input, cx),
            Self::TcpReceiver(endpoint) => run(&mut **endpoint, input, cx),
            Self::StreamSender(endpoint) => run(&mut **endpoint, input, cx),
            Self::StreamReceiver(endpoint) => run(&mut **endpoint, input, cx),
            Self::StreamPlayer(endpoint) => run(&mut **endpoint, input, cx),
            Self::Source(endpoint) => run(endpoint, input, cx),
            Self::Sink(endpoint) => run(endpoint, input, cx),
            Self::Consumer(endpoint) => run(&mut **endpoint, input, cx),
            Self::Steady(endpoint) => run(&mut **endpoint, input, cx),
            Self::Producer(endpoint) => run(&mut **endpoint, input, cx),
            Self::Clocked(endpoint) => run(&mut **endpoint, input, cx),
            Self::Custom(endpoint) => run(&mut **endpoint, input, cx),
        }
    }
}

impl AnyEndpoint {
    /// Bytes that have arrived above a gap.
    pub(super) fn held_bytes(&self) -> u64 {
        match self {
            Self::TcpReceiver(endpoint) => endpoint.held_bytes(),
            Self::Clocked(endpoint) => endpoint.machine.held_bytes(),
            _ => 0,
        }
    }
}

impl Endpoint for AnyEndpoint {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        self.run(input, cx);
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

    fn next_name(&self) -> Option<Name> {
        match self {
            Self::Consumer(endpoint) => endpoint.next_name(),
            Self::Steady(endpoint) => endpoint.next_name(),
            Self::Clocked(endpoint) => endpoint.next_name(),
            Self::Custom(endpoint) => endpoint.next_name(),
            _ => None,
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

/// The place of an endpoint's state machine, and its counters, laid out by cache lines: first the fields of every
/// arrival, at the end those that few packets use.
#[repr(C, align(64))]
pub(crate) struct EndpointState {
    /// Packets with an earlier time stamp take the slow path: `epoch`, or all packets if clocks are not exact or every
    /// packet is recorded.
    earliest_accepted: Time,
    /// When its pending `Wake` is due; any other is stale.
    armed: Time,
    address: Address,
    flow: FlowId,
    machine: MachineId,
    /// Whether it accepts packets.
    active: bool,
    /// Whether an application is notified of delivered bytes.
    notifies: bool,
    /// Distribution of the waits of packets at receivers and consumers, see [`crate::MANY_RECEIVERS`].
    waits: Option<Box<Delays>>,
    // sums in pairs: at a multiple of 16 bytes they take one instruction less
    sent: Sent,
    arrived: Arrived,
    /// Receivers count in its first field only.
    meter: Meter,
    /// When it last became active; [`Time::NEVER`] before the first time.
    active_since: Time,
    rare: Option<Box<Rare>>,
}

/// The fields of an endpoint that has been inactive or restarted, with a warm-up, an application or NACKs.
struct Rare {
    /// Counters at the end of the warm-up.
    base: Option<Box<Base>>,
    /// When its flow last restarted: packets sent before belong to an earlier connection.
    epoch: Time,
    /// Its first start, if `active_since` is later.
    started_at: Time,
    /// Active time after the warm-up, up to `active_since`.
    active_for: Duration,
    /// NACKs that arrived, and their bytes.
    refused: Sent,
    /// Delivered bytes at which an application is notified.
    next_event_at: u64,
}

impl Rare {
    /// Their initial values.
    const INITIAL: Self = Self {
        base: None,
        epoch: Time::ZERO,
        started_at: Time::NEVER,
        active_for: Duration::ZERO,
        refused: Sent { packets: 0, bytes: 0 },
        next_event_at: u64::MAX,
    };
}

/// Cache lines of an endpoint, beside its state machine, that every packet needs, and how many of them a receiver
/// needs.
pub(super) const STATE_LINES: usize = RECEIVER_LINES + 1;
pub(super) const RECEIVER_LINES: usize = (offset_of!(EndpointState, meter) + size_of::<u64>()).div_ceil(LINE);

const _: () = assert!(RECEIVER_LINES == 2 && offset_of!(Meter, goodput_bytes) == 0, "a receiver needs two");

const _: () =
    assert!(size_of::<EndpointState>() == 192, "an endpoint is three cache lines and a state machine");

impl EndpointState {
    /// An endpoint whose state machine is one of `machines` from now on. Its clock is exact.
    pub(super) fn new(
        endpoint: AnyEndpoint,
        address: Address,
        flow: FlowId,
        random: Random,
        machines: &mut Machines,
    ) -> Self {
        Self {
            earliest_accepted: Time::ZERO,
            armed: Time::NEVER,
            address,
            flow,
            machine: machines.add(endpoint, random),
            active: false,
            notifies: false,
            sent: Sent::default(),
            waits: None,
            arrived: Arrived::default(),
            meter: Meter::default(),
            active_since: Time::NEVER,
            rare: None,
        }
    }

    /// The fields that few endpoints have.
    fn rare(&self) -> &Rare {
        self.rare.as_deref().unwrap_or(&Rare::INITIAL)
    }

    /// The fields that few endpoints have, for modification. They take memory from the first call on.
    fn rare_mut(&mut self) -> &mut Rare {
        self.rare.get_or_insert_with(|| Box::new(Rare::INITIAL))
    }

    /// Makes all packets take the slow path, because clocks are not exact or every packet is recorded.
    pub(super) fn screen_all(&mut self) {
        self.earliest_accepted = Time::NEVER;
    }

    /// Replaces the endpoint by one in its initial state.
    pub(super) fn replace(&mut self, endpoint: AnyEndpoint, machines: &mut Machines) {
        let random = machines.remove(self.machine);
        self.machine = machines.add(endpoint, random);
    }

    /// Keeps the distribution of the waits of packets.
    pub(super) fn keep_waits(&mut self) {
        self.waits = Some(Box::default());
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
        self.active_since < Time::NEVER
    }

    /// Its first start; [`Time::NEVER`] before.
    fn started_at(&self) -> Time {
        self.rare().started_at.min(self.active_since)
    }

    /// Sets when it last became active, and keeps its first start.
    fn set_active_since(&mut self, now: Time) {
        if self.has_started() {
            self.rare_mut().started_at = self.started_at();
        }
        self.active_since = now;
    }

    /// The place of its state machine.
    #[inline]
    pub(super) fn machine(&self) -> MachineId {
        self.machine
    }

    // ---- activity

    /// Starts a period of activity.
    pub(crate) fn activate(&mut self, now: Time) {
        self.active = true;
        self.set_active_since(now);
    }

    /// Ends a period of activity.
    pub(crate) fn deactivate(&mut self, now: Time) {
        self.rare_mut().active_for = self.active_until(now);
        self.active = false;
    }

    /// Makes packets to this endpoint that were sent before now belong to an earlier connection.
    pub(super) fn begin_epoch(&mut self, now: Time) {
        self.rare_mut().epoch = now;
        self.earliest_accepted = self.earliest_accepted.max(now);
    }

    /// Active time after the warm-up, up to `now`.
    fn active_until(&self, now: Time) -> Duration {
        let more = if self.active { now.saturating_since(self.active_since) } else { Duration::ZERO };
        self.rare().active_for + more
    }

    // ---- inputs

    /// Whether it takes a packet with this time stamp on the fast path.
    #[inline]
    pub(crate) fn accepts(&self, sent_at: Time) -> bool {
        self.active && sent_at >= self.earliest_accepted
    }

    /// When a packet with the time stamp `sent_at` of `clock` was sent by true time; `None` if it is not accepted.
    pub(super) fn sent_by_clock(&self, clock: Clock, sent_at: Time) -> Option<Time> {
        // by the sender's clock, because a slow clock may show two instants as equal
        (self.active && sent_at >= clock.local_time(self.rare().epoch)).then(|| clock.first(sent_at))
    }

    /// Gives an arriving packet to the endpoint, sent at `sent_at` by true time. Returns whether an application is to
    /// be told, and the `Wake` to schedule.
    #[inline(always)]
    pub(crate) fn receive(
        &mut self,
        now: Time,
        (packet, sent_at): (&Packet, Time),
        machines: &mut Machines,
        out: &mut Outputs,
    ) -> (bool, Time) {
        self.count_arrival(now, packet, sent_at);
        let wake = self.run(now, Input::Packet(packet), machines, out);
        (self.has_news(machines), self.arm(now, wake).unwrap_or(Time::NEVER))
    }

    /// Gives an input to the endpoint.
    #[inline(never)]
    pub(crate) fn handle(&mut self, now: Time, input: Input<'_>, machines: &mut Machines, out: &mut Outputs) {
        self.run(now, input, machines, out);
    }

    /// Gives an input to the endpoint, in the path of every packet. Returns the deadline of the state machine.
    #[inline(always)]
    fn run(&mut self, now: Time, input: Input<'_>, machines: &mut Machines, out: &mut Outputs) -> Time {
        machines.handle(self.machine, input, |random| {
            Cx::new(now, self.address, self.flow, random, &mut self.meter, out)
        })
    }

    /// Calls `report` with the context of the endpoint at `now`, for an endpoint that runs elsewhere.
    pub(crate) fn report(
        &mut self,
        now: Time,
        machines: &mut Machines,
        out: &mut Outputs,
        report: impl FnOnce(&mut Cx<'_>),
    ) {
        let random = machines.random(self.machine);
        report(&mut Cx::new(now, self.address, self.flow, random, &mut self.meter, out));
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
    pub(crate) fn is_due(&self, now: Time, machines: &Machines) -> bool {
        self.active && machines.wake(self.machine) <= now
    }

    /// When to schedule its next `Wake` for the deadline `wake` of its state machine; `None` if one is pending that is
    /// early enough.
    #[inline]
    pub(super) fn arm(&mut self, now: Time, wake: Time) -> Option<Time> {
        let wake = wake.max(now);
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

    /// Counts a refusal (NACK) that arrived.
    pub(crate) fn count_refused(&mut self, size_bytes: u32) {
        let refused = &mut self.rare_mut().refused;
        refused.packets += 1;
        refused.bytes += u64::from(size_bytes);
    }

    /// Counts a packet of its flow that arrived, sent at `sent_at` by true time. Signals of a name-based network do not
    /// count, because they come from a router and not from the other end of the flow; refusals count on their own.
    #[inline]
    fn count_arrival(&mut self, now: Time, packet: &Packet, sent_at: Time) {
        if matches!(packet.header, Header::Signal(_) | Header::Nack(_)) {
            return;
        }
        let waited = packet.waited.total();
        self.arrived.count(packet.size_bytes, now.saturating_since(sent_at), waited);
        if let Some(waits) = &mut self.waits {
            waits.add(waited);
        }
    }

    /// Whether so much has been delivered that an application is to be told.
    #[inline]
    fn has_news(&self, machines: &Machines) -> bool {
        self.notifies
            && self.meter.goodput_bytes - machines.held_bytes(self.machine) >= self.rare().next_event_at
    }

    /// Sets the delivered bytes at which an application is notified.
    pub(super) fn set_news(&mut self, at: u64) {
        self.notifies = at < u64::MAX;
        self.rare_mut().next_event_at = at;
    }

    /// Its counters of the whole run.
    pub(super) fn meter(&self) -> &Meter {
        &self.meter
    }

    /// Bytes sent, arrived and delivered to the application over the whole run.
    pub(super) fn totals(&self) -> Totals {
        self.counters().totals()
    }

    /// Ends the warm-up: the counters are relative to this instant from now on, and what cannot be subtracted later is
    /// reset.
    pub(super) fn rebase(&mut self, now: Time) {
        let arrived = self.arrived.with_refused(self.rare().refused);
        let base = Box::new(Base { arrived, sent: self.sent, meter: self.meter.clone() });
        self.rare_mut().base = Some(base);
        (self.arrived.delay_min, self.arrived.delay_max) = (Duration::MAX, Duration::ZERO);
        if let Some(waits) = &mut self.waits {
            waits.clear();
        }
        self.meter.restart();
        self.rare_mut().active_for = Duration::ZERO;
        if self.has_started() {
            self.set_active_since(now);
        }
    }

    /// The record at `now` of the flow that it sends, with the flow's drops by reason. Distributions move into it
    /// unless they are to be kept for a later one.
    pub(super) fn flow_record(
        &mut self,
        now: Time,
        drops: [u64; DropReason::ALL.len()],
        keep: bool,
    ) -> FlowRecord {
        let waits = recorded(&mut self.waits, keep);
        self.counters().flow_record(now, drops, waits)
    }

    /// The record at `now` of the receiver that it is. Distributions move into it unless they are to be kept for a
    /// later one.
    pub(super) fn receiver_record(&mut self, now: Time, keep: bool) -> ReceiverRecord {
        let waits = recorded(&mut self.waits, keep);
        self.counters().receiver_record(now, waits)
    }

    fn counters(&self) -> Counters<'_> {
        Counters {
            address: self.address,
            flow: self.flow,
            arrived: self.arrived.with_refused(self.rare().refused),
            sent: self.sent,
            meter: &self.meter,
            base: self.rare().base.as_deref(),
            started_at: self.started_at(),
            active_since: self.active.then_some(self.active_since),
            active_for: self.rare().active_for,
        }
    }

    // ---- the end of a flow

    /// Whether its part of a finite transfer is complete.
    pub(super) fn is_complete(&self) -> bool {
        self.meter.completed_at < Time::NEVER
    }

    /// Whether it has no deadline.
    pub(super) fn has_no_deadline(&self, machines: &Machines) -> bool {
        machines.wake(self.machine) == Time::NEVER
    }
}

impl From<EndpointState> for EndedState {
    fn from(state: EndpointState) -> Self {
        let started_at = state.started_at();
        let rare = state.rare.map_or(Rare::INITIAL, |rare| *rare);
        Self {
            address: state.address,
            flow: state.flow,
            active: state.active,
            sent: state.sent,
            arrived: state.arrived.with_refused(rare.refused),
            meter: state.meter,
            waits: state.waits,
            started_at,
            active_since: state.active_since,
            active_for: rare.active_for,
            base: rare.base,
        }
    }
}

/// A sender for `flow`, towards `receiver` or the flow's group. `capacity` is the capacity of its node, see
/// [`access_capacities`].
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
            AnyEndpoint::TcpSender(Box::new(tcp::Sender::new(config, controller, receiver)))
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
        FlowKind::Tcp(config) => AnyEndpoint::TcpReceiver(Box::new(tcp::Receiver::new(config, sender))),
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

/// For each node the rate of the fastest link into it at the start of the run, except control links; `None` if it has
/// no link. Empty without named data, whose consumers are the ones to know it.
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
        name: flow.name.to_string(),
        message: format!("there is no scheme `{name}`"),
        hint: None,
        conflicts_with: None,
    })
}

fn wrong_kind(flow: &FlowSpec, what: &str) -> ParamError {
    let scheme = flow.scheme.as_deref().unwrap_or_default();
    ParamError {
        name: flow.name.to_string(),
        message: format!("`{scheme}` is {what}, which this transport cannot use"),
        hint: None,
        conflicts_with: None,
    }
}
