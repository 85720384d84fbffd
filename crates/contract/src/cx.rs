//! The context of a state machine: time, random numbers, sending, counting, recording.

use std::ops::{Index, IndexMut};

use units::{Bytes, Duration, Time};

use crate::{
    Address, Arena, Command, Delays, Destination, Ecn, Egress, EgressEvent, EndpointId, FlowId, Header,
    Label, Packet, PacketId, PortId, Random,
};

/// The context of a part: time, random numbers, output. It is the only interface of a part, so that its behaviour is
/// deterministic.
pub struct Cx<'a> {
    now: Time,
    me: Address,
    flow: FlowId,
    random: &'a mut Random,
    meter: &'a mut Meter,
    out: &'a mut Outputs,
}

impl<'a> Cx<'a> {
    /// The context of the endpoint `me` of `flow`. Called by drivers and tests.
    #[inline]
    pub fn new(
        now: Time,
        me: Address,
        flow: FlowId,
        random: &'a mut Random,
        meter: &'a mut Meter,
        out: &'a mut Outputs,
    ) -> Self {
        Self { now, me, flow, random, meter, out }
    }

    /// The current instant.
    #[inline]
    pub fn now(&self) -> Time {
        self.now
    }

    /// The same context at the instant `now`. Called by drivers for endpoints with a clock offset or drift.
    #[inline]
    pub fn at(&mut self, now: Time) -> Cx<'_> {
        let Self { me, flow, .. } = *self;
        Cx { now, me, flow, random: self.random, meter: self.meter, out: self.out }
    }

    /// The address of the running endpoint.
    pub fn me(&self) -> Address {
        self.me
    }

    /// Its flow.
    pub fn flow(&self) -> FlowId {
        self.flow
    }

    /// The part's stream of random numbers.
    pub fn random(&mut self) -> &mut Random {
        self.random
    }

    /// Sends a packet. The driver takes it after the part returns.
    #[inline]
    pub fn send(&mut self, to: Destination, size: Bytes, ecn: Ecn, header: Header, label: Label) {
        self.send_as(self.flow, to, size, ecn, header, label);
    }

    /// Sends a packet of another flow, for routers with several flows.
    pub fn send_for(&mut self, flow: FlowId, to: Destination, size: Bytes, header: Header, label: Label) {
        self.send_as(flow, to, size, Ecn::NotCapable, header, label);
    }

    /// Sends a packet of another flow with an ECN field.
    #[inline]
    pub fn send_as(
        &mut self,
        flow: FlowId,
        to: Destination,
        size: Bytes,
        ecn: Ecn,
        header: Header,
        label: Label,
    ) {
        let packet = Packet {
            flow,
            size_bytes: size.as_u64() as u32,
            source: self.me,
            to,
            sent_at: self.now,
            label,
            header,
            ecn,
            hops: 0,
            waited: Default::default(),
        };
        let id = self.out.arena.insert(packet);
        self.out.outbox.push(id);
    }

    /// Sends a copy of a packet to a port, see [`crate::NodeCx::forward`].
    #[inline(always)]
    pub(crate) fn forward(&mut self, packet: &Packet, port: PortId) -> &mut Packet {
        let id = self.out.arena.insert_copy(packet);
        self.out.forwards.push((id, port));
        self.out.arena.get_mut(id)
    }

    /// Sends the packet of the input itself to a port, see [`crate::NodeCx::forward_input`].
    #[inline(always)]
    pub(crate) fn forward_input(&mut self, packet: &Packet, port: PortId) -> &mut Packet {
        match self.out.input {
            RouterPacket::Offered(id) if self.out.forwards.is_empty() => {
                self.out.input = RouterPacket::Forwarded(id, port);
                self.out.arena.get_mut(id)
            }
            _ => self.forward(packet, port),
        }
    }

    /// Delivers a copy of a packet to an endpoint on the node, see [`crate::NodeCx::deliver`].
    #[inline(always)]
    pub(crate) fn deliver_to(&mut self, packet: &Packet, endpoint: EndpointId) -> &mut Packet {
        let id = self.out.arena.insert_copy(packet);
        self.out.deliveries.push((id, endpoint));
        self.out.arena.get_mut(id)
    }

    /// Delivers the packet of the input itself to an endpoint, see [`crate::NodeCx::forward_input`].
    #[inline(always)]
    pub(crate) fn deliver_input(&mut self, packet: &Packet, endpoint: EndpointId) -> &mut Packet {
        match self.out.input {
            RouterPacket::Offered(id) if self.out.deliveries.is_empty() => {
                self.out.input = RouterPacket::Delivered(id, endpoint);
                self.out.arena.get_mut(id)
            }
            _ => self.deliver_to(packet, endpoint),
        }
    }

    /// Executes a command, see [`crate::NodeCx::execute`].
    pub(crate) fn execute(&mut self, command: Command) {
        self.out.commands.push(command);
    }

    /// Passes an egress event to the driver, for endpoints that represent a real program.
    pub fn egress(&mut self, event: EgressEvent) {
        self.out.egress.push(Egress { at: self.now, endpoint: self.me.endpoint, flow: self.flow, event });
    }

    /// Adds to one of the endpoint's counters.
    #[inline]
    pub fn count(&mut self, what: Count, n: u64) {
        if n > 0 {
            self.meter.counts[what as usize] += n;
        }
    }

    /// Reports `payload` bytes that have arrived for the first time, in any order.
    #[inline]
    pub fn deliver(&mut self, payload: Bytes) {
        self.meter.goodput_bytes += payload.as_u64();
    }

    /// Reports a round-trip time sample.
    #[inline]
    pub fn measured_rtt(&mut self, rtt: Duration) {
        self.meter.rtt_count += 1;
        self.meter.rtt_sum_ns += rtt.as_nanos();
        self.meter.rtt_min = self.meter.rtt_min.min(rtt);
        self.meter.rtt_last = rtt;
    }

    /// Reports the time from the first request of a segment to its arrival, including retransmissions.
    #[inline]
    pub fn measured_delay(&mut self, delay: Duration) {
        let nanos = delay.as_nanos();
        let media = self.meter.media_mut();
        media.delay_count += 1;
        media.delay_sum_ns += nanos;
        media.delay_square_sum_ns2 += u128::from(nanos) * u128::from(nanos);
        media.delay_min = media.delay_min.min(delay);
        media.delay_max = media.delay_max.max(delay);
        if let Some(delays) = &mut media.delays {
            delays.add(delay);
        }
    }

    /// Reports that playback starts.
    pub fn playing(&mut self) {
        let media = self.meter.media_mut();
        media.played_at = media.played_at.min(self.now);
    }

    /// Reports that the endpoint has finished a finite transfer: at a receiver all data have arrived, at a sender all
    /// data are acknowledged.
    pub fn complete(&mut self) {
        self.meter.completed_at = self.meter.completed_at.min(self.now);
    }

    /// Reports that the connection of the endpoint's flow has ended before its end, and why. If the sender reports it,
    /// the driver ends the flow.
    #[cold]
    pub fn lose_connection(&mut self, reason: String) {
        self.out.notes.lost.push(LostConnection { flow: self.flow, endpoint: self.me.endpoint, reason });
        self.out.notes.due = true;
    }

    /// Whether series of endpoints are recorded, so that a part need not compute values for [`Cx::probe`] otherwise.
    #[inline]
    pub fn probing(&self) -> bool {
        self.out.notes.probing
    }

    /// Records the current value of a series, such as `window`. It costs one branch if it is not recorded.
    #[inline]
    pub fn probe(&mut self, series: &'static str, value: f64) {
        if self.out.notes.probing {
            self.out.notes.push(self.now, self.me, series, value, false);
        }
    }

    /// Records an event, such as a change of the representative, with one number.
    #[inline]
    pub fn event(&mut self, name: &'static str, value: f64) {
        if self.out.notes.events {
            self.out.notes.push(self.now, self.me, name, value, true);
        }
    }
}

/// Counters of an endpoint. The engine counts packets; these count what only the endpoint knows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Count {
    /// Segments retransmitted.
    Retransmits,
    /// Retransmission timers that expired.
    Timeouts,
    /// Congestion episodes (a window or rate was reduced).
    Episodes,
    /// Feedback packets sent.
    Feedback,
    /// Feedback packets that reached the source.
    FeedbackReceived,
    /// Suppressed feedback.
    Suppressed,
    /// Ignored feedback: filtered, stale or malformed.
    Ignored,
    /// Packets that the receiver detected as lost.
    Missing,
    /// Packets that arrived after one that was sent later (RFC 4737 §3: reordered packets).
    Reordered,
    /// Reordered packets that had been declared lost.
    Late,
    /// Congestion marks seen by the receiver or echoed to the sender.
    Marks,
    /// Signals of a name-based network that were sent: joins, registrations, probes and their answers. SDN: congestion
    /// signals that an agent sent or the controller received.
    Signals,
    /// NACKs that reached the consumer.
    Nacks,
    /// Bytes of abandoned answers that the sender did not send.
    Skipped,
    /// Frames that the source dropped after their deadline.
    FramesDropped,
    /// Played frames.
    FramesPlayed,
    /// Frames that were incomplete at their playing time.
    FramesMissed,
    /// Missed frames that were completed later.
    FramesLate,
    /// Frames that were complete in time and could not be shown, because a frame that they depend on was lost.
    FramesUndecodable,
    /// Stalls of playback, because the next frame was missing.
    Stalls,
    /// Nanoseconds of stalls.
    StallNanos,
    /// SDN: statuses that an agent sent or the controller received.
    Statuses,
    /// SDN: commands sent by the controller, or executed by an agent, each once.
    Commands,
    /// SDN: retransmissions of commands by the controller.
    CommandRetransmits,
    /// SDN: commands that rerouted traffic.
    Reroutes,
    /// SDN: operations that the scheme's paper counts, in total.
    Operations,
    /// SDN: operations that filter signals.
    Filtering,
    /// SDN: operations that search for the node to command.
    Searching,
    /// SDN: operations that compute commands.
    Switching,
}

impl Count {
    /// All counters, in order.
    pub const ALL: [Self; 29] = [
        Self::Retransmits,
        Self::Timeouts,
        Self::Episodes,
        Self::Feedback,
        Self::FeedbackReceived,
        Self::Suppressed,
        Self::Ignored,
        Self::Missing,
        Self::Reordered,
        Self::Late,
        Self::Marks,
        Self::Signals,
        Self::Nacks,
        Self::Skipped,
        Self::FramesDropped,
        Self::FramesPlayed,
        Self::FramesMissed,
        Self::FramesLate,
        Self::FramesUndecodable,
        Self::Stalls,
        Self::StallNanos,
        Self::Statuses,
        Self::Commands,
        Self::CommandRetransmits,
        Self::Reroutes,
        Self::Operations,
        Self::Filtering,
        Self::Searching,
        Self::Switching,
    ];

    /// The column of the counter in tables.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Retransmits => "retransmits",
            Self::Timeouts => "timeouts",
            Self::Episodes => "episodes",
            Self::Feedback => "feedback_packets",
            Self::FeedbackReceived => "feedback_received",
            Self::Suppressed => "suppressed",
            Self::Ignored => "ignored",
            Self::Missing => "missing",
            Self::Reordered => "reordered",
            Self::Late => "late",
            Self::Marks => "marks",
            Self::Signals => "signals",
            Self::Nacks => "nacks",
            Self::Skipped => "skipped_bytes",
            Self::FramesDropped => "frames_dropped",
            Self::FramesPlayed => "frames_played",
            Self::FramesMissed => "frames_missed",
            Self::FramesLate => "frames_late",
            Self::FramesUndecodable => "frames_undecodable",
            Self::Stalls => "stalls",
            Self::StallNanos => "stall_nanos",
            Self::Statuses => "statuses",
            Self::Commands => "commands",
            Self::CommandRetransmits => "commands_retransmitted",
            Self::Reroutes => "reroutes",
            Self::Operations => "operations",
            Self::Filtering => "filter_operations",
            Self::Searching => "search_operations",
            Self::Switching => "switch_operations",
        }
    }
}

/// Counters and samples of an endpoint.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Meter {
    /// Payload that has arrived, each byte counted once [RFC2647 §3.17], in bytes. Of stacks that show what their
    /// application reads only, that.
    pub goodput_bytes: u64,
    /// Number of round-trip time samples.
    pub rtt_count: u64,
    /// Their sum, in nanoseconds.
    pub rtt_sum_ns: u64,
    /// Minimum round-trip time; [`Duration::MAX`] before the first sample.
    pub rtt_min: Duration,
    /// The latest round-trip time.
    pub rtt_last: Duration,
    /// End of the endpoint's part of a finite transfer; [`Time::NEVER`] before.
    pub completed_at: Time,
    /// By [`Count`].
    pub counts: Counts,
}

/// Counters that consumers of named data and streams with frames have in addition.
#[derive(Clone, Debug)]
pub struct MediaMeter {
    /// Segments with a measured delay from their first request.
    pub delay_count: u64,
    /// Sum of these delays, in nanoseconds.
    pub delay_sum_ns: u64,
    /// Sum of their squares, in square nanoseconds.
    pub delay_square_sum_ns2: u128,
    /// Minimum delay; [`Duration::MAX`] before the first.
    pub delay_min: Duration,
    /// Maximum delay.
    pub delay_max: Duration,
    /// Distribution of these delays, if it is recorded.
    pub delays: Option<Box<Delays>>,
    /// Start of playback; [`Time::NEVER`] before.
    pub played_at: Time,
}

impl MediaMeter {
    const NONE: Self = Self {
        delay_count: 0,
        delay_sum_ns: 0,
        delay_square_sum_ns2: 0,
        delay_min: Duration::MAX,
        delay_max: Duration::ZERO,
        delays: None,
        played_at: Time::NEVER,
    };
}

/// Counters by [`Count`], and counters of media. The counters of every transport take memory from the first count of
/// one of them on; so do all others.
#[derive(Clone, Debug, Default)]
pub struct Counts {
    common: Option<Box<[u64; COMMON]>>,
    rare: Option<Box<Rare>>,
}

/// Counters that not every transport has.
#[derive(Clone, Debug)]
struct Rare {
    counts: [u64; Count::ALL.len() - COMMON],
    media: MediaMeter,
}

impl Rare {
    /// All of them at zero.
    #[cold]
    #[inline(never)]
    fn new() -> Box<Self> {
        Box::new(Self { counts: [0; Count::ALL.len() - COMMON], media: MediaMeter::NONE })
    }
}

/// The first of [`Count::ALL`], which all transports count.
const COMMON: usize = Count::Feedback as usize;

impl Counts {
    /// Each counter with its number.
    fn iter(&self) -> impl Iterator<Item = (usize, u64)> {
        let common = self.common.as_deref().unwrap_or(&[0; COMMON]);
        let rare = self.rare.iter().flat_map(|rare| rare.counts.iter());
        common.iter().chain(rare).copied().enumerate()
    }
}

impl Index<usize> for Counts {
    type Output = u64;

    #[inline]
    fn index(&self, what: usize) -> &u64 {
        match what.checked_sub(COMMON) {
            None => self.common.as_ref().map_or(&0, |common| &common[what]),
            Some(what) => self.rare.as_ref().map_or(&0, |rare| &rare.counts[what]),
        }
    }
}

impl IndexMut<usize> for Counts {
    #[inline]
    fn index_mut(&mut self, what: usize) -> &mut u64 {
        match what.checked_sub(COMMON) {
            None => &mut self.common.get_or_insert_default()[what],
            Some(what) => &mut self.rare.get_or_insert_with(Rare::new).counts[what],
        }
    }
}

impl Default for Meter {
    fn default() -> Self {
        Self {
            counts: Counts::default(),
            goodput_bytes: 0,
            rtt_count: 0,
            rtt_sum_ns: 0,
            rtt_min: Duration::MAX,
            rtt_last: Duration::ZERO,
            completed_at: Time::NEVER,
        }
    }
}

impl Meter {
    /// Adds the counts of another meter of the same endpoint.
    pub fn add(&mut self, more: &Self) {
        more.counts.iter().filter(|(_, more)| *more > 0).for_each(|(what, more)| self.counts[what] += more);
        self.goodput_bytes += more.goodput_bytes;
        self.rtt_count += more.rtt_count;
        self.rtt_sum_ns += more.rtt_sum_ns;
        self.rtt_min = self.rtt_min.min(more.rtt_min);
        if more.rtt_count > 0 {
            self.rtt_last = more.rtt_last;
        }
        if let Some(Rare { media: more, .. }) = more.counts.rare.as_deref() {
            let media = self.media_mut();
            media.delay_count += more.delay_count;
            media.delay_sum_ns += more.delay_sum_ns;
            media.delay_square_sum_ns2 += more.delay_square_sum_ns2;
            media.delay_min = media.delay_min.min(more.delay_min);
            media.delay_max = media.delay_max.max(more.delay_max);
            if let Some(more) = &more.delays {
                media.delays.get_or_insert_default().add_all(more);
            }
            media.played_at = media.played_at.min(more.played_at);
        }
        self.completed_at = self.completed_at.min(more.completed_at);
    }

    /// The counts since `base`, an earlier copy of this meter. Minima, maxima, instants and the distribution are as
    /// they are now.
    #[must_use]
    pub fn since(&self, base: &Self) -> Self {
        let mut since = self.clone();
        base.counts.iter().filter(|(_, base)| *base > 0).for_each(|(what, base)| since.counts[what] -= base);
        since.goodput_bytes -= base.goodput_bytes;
        since.rtt_count -= base.rtt_count;
        since.rtt_sum_ns -= base.rtt_sum_ns;
        if let (Some(since), Some(base)) = (&mut since.counts.rare, &base.counts.rare) {
            let (since, base) = (&mut since.media, &base.media);
            since.delay_count -= base.delay_count;
            since.delay_sum_ns -= base.delay_sum_ns;
            since.delay_square_sum_ns2 -= base.delay_square_sum_ns2;
        }
        since
    }

    /// The counters of segments and frames.
    pub fn media(&self) -> &MediaMeter {
        self.counts.rare.as_ref().map_or(&MediaMeter::NONE, |rare| &rare.media)
    }

    /// The counters of segments and frames, for modification. They take memory from the first call on.
    pub fn media_mut(&mut self) -> &mut MediaMeter {
        &mut self.counts.rare.get_or_insert_with(Rare::new).media
    }

    /// Resets what cannot be subtracted later: minima, maxima and the distribution, which is kept if it was.
    pub fn restart(&mut self) {
        self.rtt_min = Duration::MAX;
        if let Some(Rare { media, .. }) = self.counts.rare.as_deref_mut() {
            (media.delay_min, media.delay_max) = (Duration::MAX, Duration::ZERO);
            media.delays = media.delays.take().map(|_| Box::default());
        }
    }

    /// One counter.
    pub fn count(&self, what: Count) -> u64 {
        self.counts[what as usize]
    }
}

/// Outputs of parts, drained by the driver after each call.
#[derive(Debug, Default)]
pub struct Outputs {
    /// All packets.
    pub arena: Arena,
    /// The packet of a router's input, if the driver lets the router send it on.
    pub input: RouterPacket,
    /// Packets to be sent, in order.
    pub outbox: Vec<PacketId>,
    /// Copies that a router forwards, each with its port.
    pub forwards: Vec<(PacketId, PortId)>,
    /// Copies that a router delivers to endpoints on its node.
    pub deliveries: Vec<(PacketId, EndpointId)>,
    /// Commands that an agent executes at its node.
    pub commands: Vec<Command>,
    /// Egress events for real programs, in order.
    pub egress: Vec<Egress>,
    /// Values and events to be recorded.
    pub notes: Notes,
}

/// The packet of a router's input.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum RouterPacket {
    /// The router sends copies of it.
    #[default]
    None,
    /// It is in the arena, and the router can send it on, see [`crate::NodeCx::forward_input`].
    Offered(PacketId),
    /// The router has forwarded it to this port, before all copies in [`Outputs::forwards`].
    Forwarded(PacketId, PortId),
    /// The router has delivered it to this endpoint, before all copies in [`Outputs::deliveries`].
    Delivered(PacketId, EndpointId),
}

/// Values that parts recorded.
#[derive(Debug, Default)]
pub struct Notes {
    /// Whether series of endpoints are recorded.
    pub probing: bool,
    /// Whether events are recorded.
    pub events: bool,
    /// Whether the driver has something to do after the call: a part records something, or the driver itself looks at
    /// every call.
    pub due: bool,
    /// Values since the driver last drained them.
    pub pending: Vec<Note>,
    /// Lost connections since then.
    pub lost: Vec<LostConnection>,
}

/// A connection that an endpoint lost.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LostConnection {
    /// Its flow.
    pub flow: FlowId,
    /// The end that reports it.
    pub endpoint: EndpointId,
    /// Why.
    pub reason: String,
}

impl Notes {
    #[cold]
    fn push(&mut self, at: Time, from: Address, name: &'static str, value: f64, event: bool) {
        self.pending.push(Note { at, from, name, value, event });
        self.due = true;
    }
}

/// One recorded value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Note {
    /// Its time.
    pub at: Time,
    /// Its subject.
    pub from: Address,
    /// Series or event.
    pub name: &'static str,
    /// Its value; the unit is the series' own.
    pub value: f64,
    /// An event rather than a sample of a series.
    pub event: bool,
}
