//! SDN agent: measures the ports of a node, reports over the southbound channel, and has commands executed.

use std::sync::Arc;

use contract::{
    Address, Command, Control, Count, DropReason, Ecn, FlowId, Header, Hop, Label, MILLION, NameId, NodeCx,
    Packet, PortId, PortView, Requirements, RouterInput, Share, Status, Subject, Traffic,
};
use memory::prefetch;
use units::{Duration, Rate, Time};

use super::Config;

/// The agent of an SDN controller at a node.
///
/// It keeps the commands that it executed. If the controller is silent, the node continues with the last ones.
///
/// # How it is driven
///
/// It runs beside the state machine of its node, or alone. [`Agent::handle`] takes [`RouterInput::Start`], control
/// messages as [`RouterInput::Packet`] or [`RouterInput::Local`], and [`RouterInput::Timer`]. After each input the
/// driver drains `forwards`, `outbox` and [`contract::Outputs::commands`], executes the commands at the node, and polls
/// [`Agent::wake`]. It calls [`Agent::on_enqueue`] or [`Agent::on_offer`] for every packet that is about to be offered
/// to a port of the node; these only count. [`Agent::reset`] is for a node that loses its memory; the driver first
/// undoes the commands in [`Agent::installed`].
#[derive(Clone, Debug)]
pub struct Agent {
    config: Config,
    controller: Address,
    /// The port to the controller, if there is a separate one; otherwise messages are routed by address.
    control_port: Option<PortId>,
    signal_above: Option<u32>,
    /// By prefix of the network: the served prefix that covers it.
    served: Arc<Vec<NameId>>,
    /// Sorted.
    ports: Vec<Measured>,
    /// When the period ends; [`Time::NEVER`] before the start.
    next_status: Time,
    /// When the detection period ends; [`Time::NEVER`] without one.
    next_detection: Time,
    /// The earlier of both.
    next: Time,
    /// The latest command per subject, sorted by subject.
    installed: Vec<(Subject, u64, Command)>,
}

/// A port and the bytes offered to it.
#[derive(Clone, Debug)]
struct Measured {
    port: PortId,
    /// Bytes since the start.
    offered_bytes: u64,
    /// Bytes before the current period.
    reported_bytes: u64,
    /// Bytes before the current detection period.
    detected_bytes: u64,
    /// Bytes by traffic in the current period. Rows stay when it ends.
    shares: Vec<(Traffic, u64)>,
    /// The row that was used last: consecutive packets are often of the same traffic.
    latest: usize,
}

impl Measured {
    #[inline]
    fn add(&mut self, what: Traffic, bytes: u64) {
        match self.shares.get_mut(self.latest) {
            Some(share) if share.0 == what => share.1 += bytes,
            _ => self.add_other(what, bytes),
        }
    }

    #[inline(never)]
    fn add_other(&mut self, what: Traffic, bytes: u64) {
        self.latest = match self.shares.binary_search_by_key(&what, |share| share.0) {
            Ok(index) => index,
            Err(index) => {
                self.shares.insert(index, (what, 0));
                index
            }
        };
        self.shares[self.latest].1 += bytes;
    }
}

impl Agent {
    /// An agent for `ports`, which must be sorted and exclude the port to the controller. `served` gives, for each
    /// prefix of the network, the served prefix that covers it, or the prefix itself.
    pub fn new(
        config: &Config,
        controller: Address,
        control_port: Option<PortId>,
        requirements: Requirements,
        ports: &[PortId],
        served: Arc<Vec<NameId>>,
    ) -> Self {
        let measured = |port: &PortId| Measured {
            port: *port,
            offered_bytes: 0,
            reported_bytes: 0,
            detected_bytes: 0,
            shares: Vec::new(),
            latest: 0,
        };
        Self {
            config: config.clone(),
            controller,
            control_port,
            signal_above: requirements.signal_above,
            served,
            ports: ports.iter().map(measured).collect(),
            next_status: Time::NEVER,
            next_detection: Time::NEVER,
            next: Time::NEVER,
            installed: Vec::new(),
        }
    }

    /// The latest command per subject, with its number.
    pub fn installed(&self) -> impl Iterator<Item = (u64, &Command)> {
        self.installed.iter().map(|(_, number, command)| (*number, command))
    }

    /// The next hops that were commanded.
    pub fn next_hops(&self) -> impl Iterator<Item = (NameId, &[Hop])> {
        self.installed.iter().filter_map(|(_, _, command)| match command {
            Command::NextHops { prefix, hops } => Some((*prefix, hops.list())),
            _ => None,
        })
    }

    /// Forgets all commands.
    pub fn reset(&mut self) {
        self.installed.clear();
    }

    /// Requests from memory what [`Agent::on_enqueue`] reads first.
    #[inline]
    pub fn prefetch(&self) {
        if let Some(port) = self.ports.first() {
            prefetch(port, 2);
        }
    }

    /// Counts a packet that is about to be offered to a port.
    #[inline]
    pub fn on_enqueue(&mut self, packet: &Packet, port: PortId) {
        let what = match packet.header {
            Header::Data(data) => {
                let index = data.name.prefix.index();
                Some(Traffic::Prefix(self.served.get(index).copied().unwrap_or(data.name.prefix)))
            }
            // Interests and NACKs are not traffic that can be rerouted by itself
            Header::Interest(_) | Header::Nack(_) | Header::Control(_) => None,
            _ => packet.to.node().filter(|_| !packet.to.is_own_node()).map(Traffic::Node),
        };
        self.on_offer(u64::from(packet.size_bytes), what, port);
    }

    /// Counts `bytes` that are about to be offered to a port. `what` is `None` for traffic that cannot be rerouted by
    /// itself.
    #[inline]
    pub fn on_offer(&mut self, bytes: u64, what: Option<Traffic>, port: PortId) {
        // a node has few ports
        let Some(measured) = self.ports.iter_mut().find(|measured| measured.port == port) else { return };
        measured.offered_bytes += bytes;
        if let Some(what) = what {
            measured.add(what, bytes);
        }
    }

    /// Handles an input: a control message, the deadline, or the start.
    pub fn handle(&mut self, input: RouterInput<'_>, cx: &mut NodeCx<'_, '_>) -> Option<DropReason> {
        match input {
            RouterInput::Packet(packet, _) | RouterInput::Local(packet) => self.on_message(packet, cx),
            RouterInput::Timer => {
                if cx.now() >= self.next_status {
                    self.report(cx);
                }
                if cx.now() >= self.next_detection {
                    self.detect(cx);
                }
                self.next = self.next_status.min(self.next_detection);
            }
            RouterInput::Start => {
                let start = cx.now() + self.config.phase;
                self.next_status = start + self.config.period;
                self.next_detection = self.config.detection.map_or(Time::NEVER, |span| start + span);
                self.next = self.next_status.min(self.next_detection);
            }
        }
        None
    }

    /// When a period ends.
    #[inline]
    pub fn wake(&self) -> Time {
        self.next
    }

    fn on_message(&mut self, packet: &Packet, cx: &mut NodeCx<'_, '_>) {
        let number = packet.label.0[0];
        match packet.header {
            Header::Control(Control::Command(command)) => {
                self.take(number, command, cx);
                // also for a repeated command, because the acknowledgement may have been lost
                self.send_control(Control::Ack, numbered(number), cx);
            }
            Header::Control(Control::Hello) => {
                for index in 0..self.installed.len() {
                    let (_, number, command) = self.installed[index];
                    self.send_control(Control::Installed(command), numbered(number), cx);
                }
                self.send_control(
                    Control::StateComplete { installed: self.installed.len() as u32 },
                    numbered(number),
                    cx,
                );
            }
            _ => cx.count(Count::Ignored, 1),
        }
    }

    /// Executes a command, unless a later one for the same subject is known.
    fn take(&mut self, number: u64, command: Command, cx: &mut NodeCx<'_, '_>) {
        let subject = command.subject();
        match self.installed.binary_search_by_key(&subject, |installed| installed.0) {
            Ok(index) if self.installed[index].1 >= number => return cx.count(Count::Ignored, 1),
            Ok(index) => self.installed[index] = (subject, number, command),
            Err(index) => self.installed.insert(index, (subject, number, command)),
        }
        cx.count(Count::Commands, 1);
        cx.execute(command);
    }

    /// Ends the period: sends the status of every port, then signals, unless these have periods of their own.
    fn report(&mut self, cx: &mut NodeCx<'_, '_>) {
        let mut loaded: Vec<PortId> = Vec::new();
        for index in 0..self.ports.len() {
            let view = cx.port(self.ports[index].port);
            let rate = if cx.up(view.port) { view.rate } else { Rate::ZERO };
            let measured = &mut self.ports[index];
            let bytes = measured.offered_bytes - measured.reported_bytes;
            let load = load(bytes, rate, self.config.period);
            let row = |(what, bytes): &(Traffic, u64)| {
                let bytes = u32::try_from(*bytes).unwrap_or(u32::MAX);
                (bytes > 0).then_some(Share { what: *what, bytes })
            };
            let shares: Vec<Share> = measured.shares.iter().filter_map(row).collect();
            measured.reported_bytes = measured.offered_bytes;
            measured.shares.iter_mut().for_each(|share| share.1 = 0);
            let status = Status {
                port: view.port,
                rate,
                load,
                occupancy: occupancy(&view),
                backlog: view.backlog.packets,
                shares: u16::try_from(shares.len()).unwrap_or(u16::MAX),
            };
            cx.count(Count::Statuses, 1);
            let mut chunks = shares.chunks(Share::IN_A_LABEL);
            self.send_control(Control::Status(status), Share::pack(chunks.next().unwrap_or_default()), cx);
            for chunk in chunks {
                let count = chunk.len() as u8;
                self.send_control(Control::Shares { port: view.port, count }, Share::pack(chunk), cx);
            }
            if self.config.detection.is_none() && self.is_loaded(load, cx) {
                loaded.push(view.port);
            }
        }
        // signals are sent last, so that the controller knows the statuses of the node when it handles its signals
        self.signal(loaded, cx);
        self.next_status = cx.now() + self.config.period;
    }

    /// Ends the detection period: sends the signals of its loads.
    fn detect(&mut self, cx: &mut NodeCx<'_, '_>) {
        let Some(span) = self.config.detection else { return };
        let mut loaded: Vec<PortId> = Vec::new();
        for index in 0..self.ports.len() {
            let view = cx.port(self.ports[index].port);
            let rate = if cx.up(view.port) { view.rate } else { Rate::ZERO };
            let measured = &mut self.ports[index];
            let bytes = measured.offered_bytes - measured.detected_bytes;
            measured.detected_bytes = measured.offered_bytes;
            if self.is_loaded(load(bytes, rate, span), cx) {
                loaded.push(view.port);
            }
        }
        self.signal(loaded, cx);
        self.next_detection = cx.now() + span;
    }

    /// Whether a load needs a signal.
    fn is_loaded(&self, load: u32, cx: &mut NodeCx<'_, '_>) -> bool {
        // β, ε and their comparison                                                        [SIEVE eq. 6]
        cx.count(Count::Operations, 3);
        self.signal_above.is_some_and(|above| load > above)
    }

    fn signal(&self, ports: Vec<PortId>, cx: &mut NodeCx<'_, '_>) {
        for port in ports {
            cx.count(Count::Signals, 1);
            cx.count(Count::Operations, 1);
            self.send_control(Control::Signal { port }, Label::default(), cx);
        }
    }

    fn send_control(&self, message: Control, label: Label, cx: &mut NodeCx<'_, '_>) {
        send_control(message, label, self.controller, self.control_port, &self.config, cx);
    }
}

/// Offered bytes divided by what the link carries in `span`, in millionths. Zero for a link that is down.
fn load(bytes: u64, rate: Rate, span: Duration) -> u32 {
    if rate == Rate::ZERO || rate == Rate::UNLIMITED {
        return 0;
    }
    // β = x / C                                                                        [SIEVE eq. 1]
    let carried = u128::from(rate.as_bps()) * u128::from(span.as_nanos());
    let offered = u128::from(bytes) * 8 * 1_000_000_000 * u128::from(MILLION);
    u32::try_from(offered / carried.max(1)).unwrap_or(u32::MAX)
}

/// A label that contains a number in its first word.
pub(super) fn numbered(number: u64) -> Label {
    Label([number, 0, 0, 0])
}

/// Queue occupancy in millionths, in packets if the limit is in packets, otherwise in bytes.
fn occupancy(view: &PortView) -> u32 {
    let (held, limit) = match view.limit.packets {
        u32::MAX => (view.backlog.bytes.as_u64(), view.limit.bytes.as_u64()),
        packets => (u64::from(view.backlog.packets), u64::from(packets)),
    };
    // ε = q / Q                                                                            [SIEVE eq. 2]
    let millionths = u128::from(held) * u128::from(MILLION) / u128::from(limit.max(1));
    u32::try_from(millionths).unwrap_or(u32::MAX)
}

/// Sends a message by the given port, or by address.
pub(super) fn send_control(
    message: Control,
    label: Label,
    to: Address,
    control_port: Option<PortId>,
    config: &Config,
    cx: &mut NodeCx<'_, '_>,
) {
    let header = Header::Control(message);
    let Some(port) = control_port else {
        return cx.send(to.into(), config.message, Ecn::NotCapable, header, label);
    };
    let packet = Packet {
        flow: NO_FLOW,
        size_bytes: config.message.as_u64() as u32,
        source: cx.me(),
        to: to.into(),
        sent_at: cx.now(),
        label,
        header,
        ecn: Ecn::NotCapable,
        hops: 0,
        waited: Default::default(),
    };
    cx.forward(&packet, port);
}

/// The flow of control messages, which belong to none.
const NO_FLOW: FlowId = FlowId(u32::MAX);
