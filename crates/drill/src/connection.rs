//! The TCP that is drilled: its sender and its receiver at one end of a connection, in virtual time, and a record of
//! the packets that leave.
//!
//! The sender of `stack` opens connections, so its SYN stands for the SYN-ACK where the other end opens. The sender's
//! data and the receiver's acknowledgements are one stream of packets here, as on a wire: data carry the
//! acknowledgement, and replace one that would leave with them.

use std::collections::VecDeque;

use std::collections::BTreeMap;

use contract::{
    Address, Count, Cx, Ecn, EcnFeedback, Endpoint, EndpointId, FlowId, Header, Input, Label, Meter, NodeId,
    Outputs, Packet, Random, Request, SackBlocks, Setup, TcpFlags, TcpHeader, Waited,
};
use schemes::{AnyControl, Build};
use stack::tcp::{Config, Inspection, Receiver, Sender};
use units::{Bytes, Duration, Time};

use crate::Options;
use crate::settings::{Agreed, Settings};

/// This end and the other.
const HERE: Address = Address { node: NodeId(0), endpoint: EndpointId(0) };
const THERE: Address = Address { node: NodeId(1), endpoint: EndpointId(1) };
const FLOW: FlowId = FlowId(0);

/// A packet that left.
#[derive(Clone, Debug)]
pub(crate) struct Departure {
    pub(crate) at: Time,
    pub(crate) kind: Kind,
    /// The acknowledgement number that it carries, from 0.
    pub(crate) ack: u64,
    /// Selective acknowledgements, as first byte and one past the last, from 0.
    pub(crate) blocks: Vec<(u64, u64)>,
    /// The bits AE, CWR and ECE.
    pub(crate) ace: u8,
    pub(crate) ecn: Ecn,
}

/// The kind of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    /// SYN, or SYN-ACK.
    Open,
    /// Payload: first byte and one past the last, from 0.
    Data(u64, u64),
    /// An acknowledgement without payload.
    Ack,
}

/// A segment and its transmissions.
#[derive(Clone, Debug)]
pub(crate) struct Segment {
    pub(crate) start: u64,
    pub(crate) end: u64,
    /// When it was sent, in order.
    pub(crate) sent: Vec<Time>,
    /// Whether it is known to have arrived.
    pub(crate) arrived: bool,
}

/// A connection.
pub(crate) struct Connection {
    sender: Sender<AnyControl>,
    receiver: Receiver,
    pub(crate) config: Config,
    pub(crate) agreed: Agreed,
    /// Whether this end opens the connection.
    active: bool,
    open: bool,
    out: Outputs,
    meter: Meter,
    receiver_meter: Meter,
    random: Random,
    pub(crate) now: Time,
    /// What left and was not compared yet.
    pub(crate) waiting: VecDeque<Departure>,
    /// Segments in order of their first bytes; the first byte of a segment is never within another.
    pub(crate) segments: Vec<Segment>,
    /// Acknowledgements sent up to this number, from 0.
    acked_there: u64,
    /// When the SYN or SYN-ACK left.
    opened: Vec<Time>,
    /// What an honest receiver would echo now [RFC7323 §4.3: TS.Recent].
    recent: Time,
    /// The acknowledgement number that arrived last, from 0.
    last_ack: u64,
    /// The latest time stamp of the other end, and when its last acknowledgement came that is known to be new.
    newest: (Option<u32>, Time),
    /// The last counters of bytes in options of accurate feedback that are known to be new.
    counters: BTreeMap<String, u32>,
    /// Minimum time from the departure of a segment to its acknowledgement.
    min_rtt: Duration,
    /// Marked packets that arrived [RFC9768 §3.2.1: r.cep, from 0].
    pub(crate) marks_arrived: u64,
    /// Segments retransmitted.
    pub(crate) retransmissions: u64,
    /// Packets and segments with payload that left.
    pub(crate) packets_out: u64,
    pub(crate) data_packets_out: u64,
    pub(crate) payload_out: u64,
    pub(crate) payload_again: u64,
    /// Timeouts since the last sample of the round-trip time, and since new data were last acknowledged.
    pub(crate) backoff: u64,
    pub(crate) retransmits: u64,
    timeouts: u64,
    /// The measured reordering, in segments, and how often there was some [Linux: tcp_check_sack_reordering].
    pub(crate) reordering: u64,
    pub(crate) reordered: u64,
    /// Segments that acknowledgements with ECE delivered.
    pub(crate) echoed: u64,
}

impl Connection {
    /// A connection that is not opened yet. The message says which parameter the scheme refuses.
    pub(crate) fn new(
        settings: &Settings,
        options: &Options,
        agreed: Agreed,
        active: bool,
    ) -> Result<Self, String> {
        let config = settings.config(&agreed);
        let entry = schemes::find(&settings.scheme)
            .ok_or_else(|| format!("no scheme is called `{}`", settings.scheme))?;
        let Build::Control(make) = entry.build else {
            return Err(format!("`{}` is no scheme for TCP", settings.scheme));
        };
        let setup = Setup {
            segment: config.segment,
            header: config.header,
            initial_window: Bytes::new(config.segment.as_u64() * u64::from(config.initial_window)),
        };
        let controller = make(&settings.params(options), &setup).map_err(|error| error.to_string())?;
        Ok(Self {
            sender: Sender::new(&config, controller, THERE),
            receiver: Receiver::new(&config, THERE),
            config,
            agreed,
            active,
            open: false,
            out: Outputs::default(),
            meter: Meter::default(),
            receiver_meter: Meter::default(),
            random: Random::new(1, "drill", ""),
            now: Time::ZERO,
            waiting: VecDeque::new(),
            segments: Vec::new(),
            acked_there: 0,
            opened: Vec::new(),
            recent: Time::ZERO,
            last_ack: 0,
            newest: (None, Time::ZERO),
            counters: BTreeMap::new(),
            min_rtt: Duration::MAX,
            marks_arrived: 0,
            retransmissions: 0,
            packets_out: 0,
            data_packets_out: 0,
            payload_out: 0,
            payload_again: 0,
            backoff: 0,
            retransmits: 0,
            timeouts: 0,
            reordering: DUPLICATES,
            reordered: 0,
            echoed: 0,
        })
    }

    pub(crate) fn inspect(&self) -> Inspection {
        self.sender.inspect()
    }

    /// Bytes that arrived in order, from 0.
    pub(crate) fn expected(&self) -> u64 {
        self.receiver.expected()
    }

    /// Retransmission timeouts so far.
    pub(crate) const fn timeouts(&self) -> u64 {
        self.timeouts
    }

    pub(crate) const fn is_open(&self) -> bool {
        self.open
    }

    /// Whether it opened the connection.
    pub(crate) const fn is_active(&self) -> bool {
        self.active
    }

    // ---- time

    /// The next deadline.
    pub(crate) fn wake(&self) -> Time {
        self.sender.wake().min(self.receiver.wake())
    }

    /// Lets timers expire before `at`, and sets the time.
    pub(crate) fn run_before(&mut self, at: Time) {
        while self.wake() < at {
            self.expire();
        }
        self.now = self.now.max(at);
    }

    /// Lets timers expire at or before `at` until something leaves. Returns whether something waits to be compared.
    pub(crate) fn run_until_departure(&mut self, at: Time) -> bool {
        while self.waiting.is_empty() && self.wake() <= at {
            self.expire();
        }
        !self.waiting.is_empty()
    }

    /// Lets the timers of the next deadline expire.
    fn expire(&mut self) {
        self.now = self.now.max(self.wake());
        if self.receiver.wake() <= self.now {
            let sent = self.give_receiver(Input::Timer);
            // data may have carried it since
            self.acknowledge(sent, true);
        }
        if self.sender.wake() <= self.now {
            let sent = self.give_sender(Input::Timer);
            self.transmit(sent);
        }
    }

    // ---- inputs

    /// Opens the connection: a SYN or SYN-ACK leaves.
    pub(crate) fn start(&mut self) {
        let sent = self.give_sender(Input::Start);
        self.transmit(sent);
    }

    /// The program writes.
    pub(crate) fn write(&mut self, bytes: u64) {
        let sent = self.give_sender(Input::App(Request::Send(Bytes::new(bytes))));
        self.transmit(sent);
    }

    /// A packet arrives. `echoed` is when the segment left whose time stamp it echoes, if it says so.
    pub(crate) fn arrive(&mut self, packet: &Arrival, echoed: Option<Time>) {
        let mut acks = Vec::new();
        if packet.ecn == Ecn::Marked && !packet.syn {
            self.marks_arrived += 1;
        }
        if packet.len > 0 || packet.syn {
            acks = self.take_data(packet);
        }
        let sent = match packet.ack {
            Some(ack) => self.take_ack(packet, ack, echoed),
            None => Vec::new(),
        };
        // data that leave now carry the acknowledgement
        let carried = sent.iter().any(|packet| !is_open(packet));
        self.transmit(sent);
        self.acknowledge(acks, carried);
    }

    /// Gives payload, or the SYN-ACK that this end acknowledges, to the receiver.
    fn take_data(&mut self, packet: &Arrival) -> Vec<Packet> {
        let classic = self.config.ecn && self.config.ecn_feedback != EcnFeedback::Accurate;
        let flags = TcpFlags {
            syn: packet.syn,
            psh: packet.psh,
            ace: if classic { packet.ace & TcpFlags::CWR } else { 0 },
            ..TcpFlags::default()
        };
        let header = TcpHeader { seq: packet.start, flags, ..TcpHeader::default() };
        let segment =
            self.packet(packet.len, if self.config.ecn { packet.ecn } else { Ecn::NotCapable }, header);
        self.give_receiver(Input::Packet(&segment))
    }

    fn take_ack(&mut self, packet: &Arrival, ack: u64, echoed: Option<Time>) -> Vec<Packet> {
        let flags = TcpFlags {
            syn: !self.open,
            ace: if self.config.ecn && self.open { packet.ace } else { 0 },
            ..TcpFlags::default()
        };
        let before = self.inspect();
        let echo = match echoed {
            Some(at) => at,
            None if !self.open => self.plausible(&self.opened),
            None => self.honest_echo(ack, before.high),
        };
        let header = TcpHeader {
            ack,
            echo,
            sack: self.blocks(packet, ack),
            window_bytes: packet.window.unwrap_or(u32::MAX),
            flags,
            ..TcpHeader::default()
        };
        if !self.open {
            self.open = true;
            self.min_rtt = self.now.saturating_since(echo);
            self.recent = echo;
            self.last_ack = ack;
            self.newest.0 = packet.time_stamp;
            let answer = self.packet(0, Ecn::NotCapable, header);
            return self.give_sender(Input::Packet(&answer));
        }
        if ack <= before.high && ack > before.una {
            self.min_rtt = self.min_rtt.min(self.now.saturating_since(echo));
            self.retransmits = 0;
        }
        if ack <= before.high {
            self.last_ack = ack;
        }
        // without a later time stamp or progress, an acknowledgement may be an old one
        if packet.time_stamp > self.newest.0 || ack > before.una || !header.sack.is_empty() {
            self.newest = (packet.time_stamp.max(self.newest.0), self.now);
            for (name, count) in &packet.counters {
                self.counters.insert(name.clone(), *count);
            }
        }
        let arrival = Packet { sent_at: self.newest.1, ..self.packet(0, Ecn::NotCapable, header) };
        let sent = self.give_sender(Input::Packet(&arrival));
        let after = self.inspect();
        if after.una > before.una && !after.backed_off {
            self.backoff = 0;
        }
        let delivered = self.note_arrivals(&before);
        if packet.ace & TcpFlags::ECE > 0
            && self.config.ecn
            && self.config.ecn_feedback != EcnFeedback::Accurate
        {
            self.echoed += delivered;
        }
        sent
    }

    /// A packet as `stack` has it. `len` is its payload.
    fn packet(&self, len: u64, ecn: Ecn, header: TcpHeader) -> Packet {
        Packet {
            flow: FLOW,
            size_bytes: (len + self.config.header.as_u64()) as u32,
            to: HERE.into(),
            source: THERE,
            sent_at: self.now,
            ecn,
            hops: 0,
            waited: Waited::default(),
            header: Header::Tcp(header),
            label: Label::default(),
        }
    }

    /// Selective acknowledgements, up to three. The first may be below the acknowledgement number: data that arrived
    /// twice [RFC2883 §4].
    fn blocks(&self, packet: &Arrival, ack: u64) -> SackBlocks {
        let mut blocks = SackBlocks::default();
        if !self.agreed.sack {
            return blocks;
        }
        let known = packet.blocks.iter().enumerate().filter(|(n, block)| *n == 0 || block.0 >= ack);
        for (block, (_, &(start, end))) in blocks.0.iter_mut().zip(known) {
            *block = if start >= ack {
                ((start - ack) as u32, (end - ack) as u32)
            } else {
                ((ack - start) as u32, ack.saturating_sub(end) as u32)
            };
        }
        blocks
    }

    /// Bytes that the other end reports to have arrived in packets of this kind, by the counter of its option, which
    /// begins at `first` [RFC9768 §3.2.3].
    pub(crate) fn reported(&self, counter: &str, first: u32) -> u32 {
        self.counters.get(counter).map_or(0, |count| count.wrapping_sub(first) & 0xFF_FFFF)
    }

    // ---- time stamps

    /// The last of these departures whose acknowledgement could be here by now.
    fn plausible(&self, sent: &[Time]) -> Time {
        let first = sent.first().copied().unwrap_or(self.now);
        if self.min_rtt == Duration::MAX {
            return sent.last().copied().unwrap_or(first);
        }
        let by_now = |at: &&Time| **at + self.min_rtt <= self.now;
        sent.iter().rev().find(by_now).copied().unwrap_or(first)
    }

    /// What an honest receiver echoes that acknowledges all bytes below `ack`: the time stamp of the segment at which
    /// its last acknowledgement ended [RFC7323 §4.3], of the transmission that can have arrived.
    fn honest_echo(&mut self, ack: u64, high: u64) -> Time {
        if ack > self.last_ack && ack <= high {
            let from = self.segments.partition_point(|segment| segment.end <= self.last_ack);
            if let Some(segment) = self.segments.get(from) {
                self.recent = self.plausible(&segment.sent).max(self.recent);
            }
        }
        self.recent
    }

    /// When the segment left whose time stamp exceeds the time stamp of the SYN or SYN-ACK by `ticks`.
    pub(crate) fn sent_at_tick(&self, ticks: u32, tick: Duration) -> Time {
        let first = self.opened.first().copied().unwrap_or(Time::ZERO);
        let near = first + tick * u64::from(ticks);
        let all = self.segments.iter().flat_map(|segment| &segment.sent).chain(&self.opened).copied();
        let distance = |at: &Time| near.saturating_since(*at).max(at.saturating_since(near));
        // values are rounded, and scripts allow deviations
        all.filter(|at| distance(at) <= tick * 10).min_by_key(distance).unwrap_or(near).min(self.now)
    }

    // ---- outputs

    fn give_sender(&mut self, input: Input<'_>) -> Vec<Packet> {
        let mut cx = Cx::new(self.now, HERE, FLOW, &mut self.random, &mut self.meter, &mut self.out);
        self.sender.handle(input, &mut cx);
        let timeouts = self.meter.count(Count::Timeouts);
        let expired = timeouts - std::mem::replace(&mut self.timeouts, timeouts);
        self.backoff += expired;
        self.retransmits += expired;
        self.drain()
    }

    fn give_receiver(&mut self, input: Input<'_>) -> Vec<Packet> {
        let mut cx = Cx::new(self.now, HERE, FLOW, &mut self.random, &mut self.receiver_meter, &mut self.out);
        self.receiver.handle(input, &mut cx);
        self.drain()
    }

    fn drain(&mut self) -> Vec<Packet> {
        let Outputs { arena, outbox, .. } = &mut self.out;
        let take = |id| {
            let packet = *arena.get(id);
            arena.release(id);
            packet
        };
        outbox.drain(..).map(take).collect()
    }

    /// Records what the sender sent.
    fn transmit(&mut self, sent: Vec<Packet>) {
        for packet in sent {
            let Header::Tcp(header) = packet.header else { continue };
            let len = packet.size().as_u64().saturating_sub(self.config.header.as_u64());
            let accurate = self.config.ecn && self.config.ecn_feedback == EcnFeedback::Accurate;
            let (kind, ace) = if header.flags.syn {
                self.opened.push(self.now);
                (Kind::Open, 0)
            } else {
                self.record(header.seq, header.seq + len);
                // with accurate feedback every packet has the counter                        [RFC9768 §3.2.2]
                let ace = if accurate { self.ace() } else { header.flags.ace };
                (Kind::Data(header.seq, header.seq + len), ace)
            };
            self.packets_out += 1;
            self.acked_there = self.acked_there.max(self.receiver.expected());
            self.waiting.push_back(Departure {
                at: self.now,
                kind,
                ack: self.receiver.expected(),
                blocks: Vec::new(),
                ace,
                ecn: packet.ecn,
            });
        }
    }

    /// The counter of marked packets that arrived, as packets have it [RFC9768 §3.2.1].
    const fn ace(&self) -> u8 {
        ((5 + self.marks_arrived) & 0b111) as u8
    }

    /// Records what the receiver sent. `carried`: what only acknowledges data that other packets have acknowledged does
    /// not leave.
    fn acknowledge(&mut self, sent: Vec<Packet>, carried: bool) {
        for packet in sent {
            let Header::Tcp(header) = packet.header else { continue };
            let opens = header.flags.syn;
            let blocks = sequence_numbers(&header.sack, header.ack);
            // the sender answers a SYN; what answers a SYN-ACK is an acknowledgement
            let silent = if opens { !self.active || carried } else { carried && blocks.is_empty() };
            if silent && header.ack <= self.acked_there {
                continue;
            }
            self.acked_there = self.acked_there.max(header.ack);
            self.packets_out += 1;
            let ace = header.flags.ace;
            self.waiting.push_back(Departure {
                at: self.now,
                kind: Kind::Ack,
                ack: header.ack,
                blocks,
                ace,
                ecn: packet.ecn,
            });
        }
    }

    /// Records the transmission of a segment.
    fn record(&mut self, start: u64, end: u64) {
        self.data_packets_out += 1;
        self.payload_out += end - start;
        let from = self.segments.partition_point(|segment| segment.end <= start);
        let mut again = false;
        for segment in self.segments[from..].iter_mut().take_while(|segment| segment.start < end) {
            segment.sent.push(self.now);
            again = true;
        }
        if again {
            self.retransmissions += 1;
            self.payload_again += end - start;
        }
        let known = self.segments.last().map_or(0, |segment| segment.end);
        if end > known {
            self.segments.push(Segment {
                start: start.max(known),
                end,
                sent: vec![self.now],
                arrived: false,
            });
        }
    }

    // ---- what acknowledgements show

    /// Notes which segments have arrived by now, and reordering: an original that arrives below what had arrived
    /// before. `before` is the state before this acknowledgement. Returns the number of segments.
    fn note_arrivals(&mut self, before: &Inspection) -> u64 {
        let after = self.inspect();
        let highest = before.sacked.last().map_or(before.una, |block| block.1);
        let (mut delivered, mut lowest) = (0, u64::MAX);
        let from = self.segments.partition_point(|segment| segment.end <= before.una);
        for segment in &mut self.segments[from..] {
            let covered = |blocks: &[(u64, u64)]| {
                blocks.iter().any(|block| block.0 <= segment.start && segment.end <= block.1)
            };
            let arrived = segment.end <= after.una || covered(&after.sacked);
            if arrived && !segment.arrived {
                segment.arrived = true;
                delivered += 1;
                if segment.sent.len() == 1 && segment.start < highest {
                    lowest = lowest.min(segment.start);
                }
            }
        }
        let highest = after.sacked.last().map_or(after.una, |block| block.1);
        if lowest < highest && self.agreed.sack {
            let segment = self.config.segment.as_u64();
            self.reordering = self.reordering.max((highest - lowest).div_ceil(segment)).min(MAX_REORDERING);
            self.reordered += 1;
        }
        delivered
    }
}

/// Blocks as first byte and one past the last; the first may be of data below `ack` that arrived twice.
pub(crate) fn sequence_numbers(blocks: &SackBlocks, ack: u64) -> Vec<(u64, u64)> {
    let below = blocks.duplicate(ack).filter(|block| block.0 < ack);
    below.into_iter().chain(blocks.arrived(ack)).collect()
}

fn is_open(packet: &Packet) -> bool {
    matches!(packet.header, Header::Tcp(TcpHeader { flags: TcpFlags { syn: true, .. }, .. }))
}

/// A packet that arrives. Numbers of bytes count from 0.
#[derive(Clone, Debug, Default)]
pub(crate) struct Arrival {
    pub(crate) syn: bool,
    pub(crate) psh: bool,
    pub(crate) ace: u8,
    pub(crate) ecn: Ecn,
    pub(crate) start: u64,
    pub(crate) len: u64,
    /// Absent in a SYN.
    pub(crate) ack: Option<u64>,
    pub(crate) blocks: Vec<(u64, u64)>,
    /// The receive window in bytes.
    pub(crate) window: Option<u32>,
    /// The value of its time stamp, where both ends have them.
    pub(crate) time_stamp: Option<u32>,
    /// The counters of bytes in its option of accurate feedback, by name: `e0b`, `e1b`, `ceb`.
    pub(crate) counters: Vec<(String, u32)>,
}

/// The measured reordering of a new connection [Linux: tcp_reordering], and its maximum [Linux: tcp_max_reordering].
const DUPLICATES: u64 = 3;
const MAX_REORDERING: u64 = 300;
