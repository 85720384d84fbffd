//! Endpoints (TCP, streams, datagrams, NDN consumers and producers) as the simulator holds them.

use contract::{
    Address, CongestionControl, Cx, Destination, Endpoint, FlowId, GroupId, Header, Input, LinkId, Meter,
    NodeId, Outputs, Packet, ParamError, Random, Setup,
};
use schemes::{AnyControl, AnyReceiver, AnySender, Build};
use stack::icn::Attachment;
use stack::log::{Log, Logged, LoggedSender};
use stack::{datagram, ndn, stream, tcp};
use units::{Bytes, Duration, Rate, Time};

use super::clocks::Clocked;
use crate::accounts::Delays;
use crate::{Blueprint, Cast, FlowKind, FlowSpec, LinkSpec};

/// Any endpoint.
#[expect(
    clippy::large_enum_variant,
    reason = "a pointer to follow for every packet would cost more than the space"
)]
pub(crate) enum AnyEndpoint {
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
}

/// The counters of an endpoint over the whole run.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Tally {
    pub received_packets: u64,
    pub received_bytes: u64,
    pub refused_bytes: u64,
    pub delay_sum_ns: u64,
    pub sent_packets: u64,
    pub sent_bytes: u64,
}

/// Makes an endpoint that is not built in, given its destination. It is called at every start of the flow.
pub type Factory = Box<dyn Fn(Destination) -> Box<dyn Endpoint + Send> + Send>;

/// An endpoint, its random stream and its counters.
pub(crate) struct EndpointState {
    pub endpoint: AnyEndpoint,
    /// When its pending `Wake` is due; any other is stale.
    pub armed: Time,
    pub address: Address,
    pub flow: FlowId,
    /// Whether it accepts packets.
    pub active: bool,
    pub active_since: Time,
    /// When its flow last restarted: packets sent before belong to an earlier connection.
    pub epoch: Time,
    /// Packets with an earlier time stamp take the slow path: `epoch`, or all packets if clocks are not exact.
    pub screen: Time,
    pub tally: Tally,
    pub delay_min: Duration,
    pub delay_max: Duration,
    /// Distribution of one-way delays at receivers and consumers, see [`crate::MANY_RECEIVERS`].
    pub delays: Option<Box<Delays>>,
    pub random: Random,
    pub meter: Meter,
    pub started_at: Option<Time>,
    /// Active time after the warm-up, up to `active_since`.
    pub active_for: Duration,
}

impl EndpointState {
    pub(crate) fn new(endpoint: AnyEndpoint, address: Address, flow: FlowId, random: Random) -> Self {
        Self {
            endpoint,
            armed: Time::NEVER,
            address,
            flow,
            active: false,
            active_since: Time::ZERO,
            epoch: Time::ZERO,
            screen: Time::ZERO,
            tally: Tally::default(),
            delay_min: Duration::MAX,
            delay_max: Duration::ZERO,
            delays: None,
            random,
            meter: Meter::default(),
            started_at: None,
            active_for: Duration::ZERO,
        }
    }

    /// Starts a period of activity.
    pub(crate) fn activate(&mut self, now: Time) {
        self.active = true;
        self.active_since = now;
        self.started_at.get_or_insert(now);
    }

    /// Ends a period of activity.
    pub(crate) fn deactivate(&mut self, now: Time) {
        self.active_for = self.active_until(now);
        self.active = false;
    }

    /// Makes packets to this endpoint that were sent before now belong to an earlier connection.
    pub(crate) fn begin_epoch(&mut self, now: Time) {
        self.epoch = now;
        self.screen = self.screen.max(now);
    }

    /// The context of the endpoint at `now`.
    pub(crate) fn cx<'a>(&'a mut self, now: Time, out: &'a mut Outputs) -> Cx<'a> {
        Cx::new(now, self.address, self.flow, &mut self.random, &mut self.meter, out)
    }

    /// Gives an input to the endpoint.
    #[inline]
    pub(crate) fn handle(&mut self, now: Time, input: Input<'_>, out: &mut Outputs) {
        let mut cx = Cx::new(now, self.address, self.flow, &mut self.random, &mut self.meter, out);
        self.endpoint.handle(input, &mut cx);
    }

    /// Counts a packet that the endpoint handed to the network.
    #[inline]
    pub(crate) fn count_sent(&mut self, size_bytes: u32) {
        self.tally.sent_packets += 1;
        self.tally.sent_bytes += u64::from(size_bytes);
    }

    /// Counts a packet of its flow that arrived, sent at `sent_at` by true time. Signals of a name-based network do not count, because they
    /// come from a router and not from the other end of the flow.
    #[inline]
    pub(crate) fn count_arrival(&mut self, now: Time, packet: &Packet, sent_at: Time) {
        if matches!(packet.header, Header::Signal(_)) {
            return;
        }
        let delay = now.saturating_since(sent_at);
        self.tally.received_packets += 1;
        self.tally.received_bytes += u64::from(packet.size_bytes);
        self.tally.delay_sum_ns += delay.as_nanos();
        self.delay_min = self.delay_min.min(delay);
        self.delay_max = self.delay_max.max(delay);
        if let Some(delays) = &mut self.delays {
            delays.add(delay);
        }
    }

    /// Ends the warm-up: resets what cannot be subtracted later.
    pub(crate) fn rebase(&mut self, now: Time) {
        (self.delay_min, self.delay_max) = (Duration::MAX, Duration::ZERO);
        if let Some(delays) = &mut self.delays {
            delays.clear();
        }
        self.meter.rtt_min = Duration::MAX;
        (self.meter.delay_min, self.meter.delay_max) = (Duration::MAX, Duration::ZERO);
        self.meter.delays = self.meter.delays.take().map(|_| Box::default());
        (self.active_for, self.active_since) = (Duration::ZERO, now);
    }

    /// Active time after the warm-up, up to `now`.
    pub(crate) fn active_until(&self, now: Time) -> Duration {
        if self.active { self.active_for + now.saturating_since(self.active_since) } else { self.active_for }
    }
}

/// A sender for `flow`, towards `receiver` or the flow's group.
pub(super) fn make_sender(
    flow: &FlowSpec,
    id: FlowId,
    receiver: Address,
    attachment: Option<Attachment>,
    log: Option<&Log>,
    blueprint: &Blueprint,
) -> Result<AnyEndpoint, ParamError> {
    let to = destination(flow, id, receiver);
    Ok(match &flow.kind {
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
                return Err(wrong_kind(flow, "a window law"));
            };
            let law = sender(&flow.params, &stream_setup(config))?;
            let law = match log {
                Some(log) => AnySender::Custom(Box::new(LoggedSender::new(law, log.clone()))),
                None => law,
            };
            let sender = stream::Sender::new(config, law, to);
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
            let mut law = build(&flow.params, &consumer_setup(config))?;
            if let Some(capacity) = access_capacity(flow.from, blueprint) {
                law.on_access(capacity);
            }
            AnyEndpoint::Consumer(Box::new(ndn::Consumer::new(config, logged(law, log))))
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
    match (&flow.kind, flow.cast) {
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
    Ok(match &flow.kind {
        FlowKind::Tcp(config) => AnyEndpoint::TcpReceiver(tcp::Receiver::new(config, sender)),
        FlowKind::Stream(config) => {
            let Build::Stream { receiver, .. } = scheme(flow)? else {
                return Err(wrong_kind(flow, "a window law"));
            };
            let law = receiver(&flow.params, &stream_setup(config))?;
            let receiver = stream::Receiver::new(config, law, sender);
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

/// The setup of a consumer's law, which counts Data packets on the wire.
fn consumer_setup(config: &ndn::ConsumerConfig) -> Setup {
    Setup {
        segment: config.data,
        header: Bytes::ZERO,
        initial_window: config.data * u64::from(config.initial_window),
    }
}

/// Rate of the fastest link into a node at the start of the run, except control links; `None` if it has no link.
fn access_capacity(node: NodeId, blueprint: &Blueprint) -> Option<Rate> {
    let inwards = |(id, link): (u32, &LinkSpec)| match link.ends {
        _ if blueprint.is_control(LinkId(id)) => None,
        (from, _) if from == node => Some(link.backward.rate),
        (_, to) if to == node => Some(link.forward.rate),
        _ => None,
    };
    (0u32..).zip(&blueprint.links).filter_map(inwards).max()
}

fn scheme(flow: &FlowSpec) -> Result<Build, ParamError> {
    let name = flow.scheme.as_deref().unwrap_or_default();
    schemes::find(name).map(|entry| entry.build).ok_or_else(|| ParamError {
        name: flow.name.clone(),
        message: format!("there is no scheme `{name}`"),
        hint: None,
        beside: None,
    })
}

fn wrong_kind(flow: &FlowSpec, what: &str) -> ParamError {
    let scheme = flow.scheme.as_deref().unwrap_or_default();
    ParamError {
        name: flow.name.clone(),
        message: format!("`{scheme}` is {what}, which this transport cannot use"),
        hint: None,
        beside: None,
    }
}
