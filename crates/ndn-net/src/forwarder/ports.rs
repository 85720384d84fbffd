//! Ports: each has a queue, an optional rate, and frames.

use std::collections::VecDeque;
use std::sync::Arc;

use contract::{Backlog, Ecn, NackReason, NodeId, NodeView, Packet, PortId, PortView};
use units::{Bytes, Carry, Duration, Rate, Time};
use wire::ndn::{Fragmenter, LinkHeader, Reason, Reassembly, Token};

use super::marks::Marker;
use super::settings::LinkSettings;
use super::{Frames, Peer};

/// Header bytes of a frame over UDP and IPv4.
const DATAGRAM_V4: usize = 28;
/// Header bytes of a frame over UDP and IPv6.
const DATAGRAM_V6: usize = 48;

/// A port with its queue. Links come first, then programs on this host.
#[derive(Debug)]
pub(super) struct Port {
    /// The other end; `None` if the port is free.
    pub(super) peer: Option<Peer>,
    /// It is in the settings, and permanent.
    pub(super) fixed: bool,
    /// When the port can be used again.
    pub(super) free_from: Time,
    /// Last arrival.
    pub(super) last_arrival: Time,
    pub(super) reassembly: Reassembly,
    fragmenter: Fragmenter,
    pub(super) rate: Rate,
    rate_in: Rate,
    limit: u32,
    /// Packets are marked from this backlog on, if a controller commanded that.
    mark_above: u32,
    delay: Duration,
    queue: VecDeque<Waiting>,
    queued: u64,
    free_at: Time,
    carry: Carry,
    /// Frames on the link, if it has a delay.
    in_flight: VecDeque<(Time, Vec<u8>)>,
    /// Bytes of packets that wait and frames on the link.
    queued_bytes: usize,
    /// Maximum number of incomplete packets in reassembly.
    in_pieces: usize,
    marker: Option<Marker>,
    pub(super) counts: Counts,
}

/// Maximum number of incomplete packets in reassembly for known links, strangers and programs. Our choice: for
/// strangers enough for one or two losses; the stream of a program contains whole packets.
pub(super) const IN_PIECES: usize = Reassembly::PACKETS;
pub(super) const IN_PIECES_STRANGER: usize = 8;
pub(super) const IN_PIECES_PROGRAM: usize = 4;
/// Bytes counted for each waiting packet or frame on the link in addition to its own.
const OVERHEAD: usize = size_of::<Waiting>();

/// Counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Frames received.
    pub frames_in: u64,
    /// Their bytes.
    pub bytes_in: u64,
    /// Frames sent.
    pub frames_out: u64,
    /// Their bytes.
    pub bytes_out: u64,
    /// Packets dropped because the queue was full.
    pub dropped: u64,
    /// Packets marked because of the queue.
    pub marked: u64,
    /// Interests received here and refused because a limit was reached.
    pub refused: u64,
    /// Frames that the system did not accept.
    pub overruns: u64,
    /// Received frames that are not valid packets.
    pub malformed: u64,
}

impl std::ops::AddAssign for Counts {
    fn add_assign(&mut self, other: Self) {
        self.frames_in += other.frames_in;
        self.bytes_in += other.bytes_in;
        self.frames_out += other.frames_out;
        self.bytes_out += other.bytes_out;
        self.dropped += other.dropped;
        self.marked += other.marked;
        self.refused += other.refused;
        self.overruns += other.overruns;
        self.malformed += other.malformed;
    }
}

/// A waiting packet.
#[derive(Debug)]
pub(super) struct Waiting {
    pub(super) packet: Packet,
    pub(super) body: Arc<[u8]>,
    pub(super) token: Token,
    pub(super) nack: Option<NackReason>,
    pub(super) since: Time,
}

impl Port {
    pub(super) fn new(settings: &LinkSettings, peer: Option<Peer>, in_pieces: usize, first: u64) -> Self {
        Self {
            fixed: peer.is_some(),
            peer,
            free_from: Time::ZERO,
            last_arrival: Time::ZERO,
            reassembly: Reassembly::for_packets(in_pieces),
            fragmenter: Fragmenter::new(settings.mtu.max(Fragmenter::MIN_MTU), first),
            rate: settings.rate,
            rate_in: settings.rate_in,
            limit: settings.buffer,
            mark_above: u32::MAX,
            delay: settings.delay,
            queue: VecDeque::new(),
            queued: 0,
            free_at: Time::ZERO,
            carry: Carry::default(),
            in_flight: VecDeque::new(),
            queued_bytes: 0,
            in_pieces,
            marker: settings.marks.map(Marker::new),
            counts: Counts::default(),
        }
    }

    /// Frees the port; it can be used again from `free_from` on.
    pub(super) fn close(&mut self, free_from: Time) {
        self.peer = None;
        self.free_from = free_from;
        self.queue.clear();
        self.in_flight.clear();
        (self.queued, self.queued_bytes) = (0, 0);
        self.reassembly = Reassembly::for_packets(self.in_pieces);
    }

    /// Bytes that wait or are on the link.
    pub(super) const fn queued_bytes(&self) -> usize {
        self.queued_bytes
    }

    /// Executes a controller's command about the queue limit and the marking threshold.
    pub(super) fn command_queue(&mut self, limit: Option<u32>, mark_above: u32) {
        self.limit = limit.unwrap_or(self.limit);
        self.mark_above = mark_above;
    }

    /// Executes a controller's command about the maximum rate, from the next packet on.
    pub(super) fn command_cap(&mut self, rate: Rate) {
        self.rate = rate;
    }

    /// Restores queue and rate of the settings.
    pub(super) fn forget_commands(&mut self, settings: &LinkSettings) {
        (self.limit, self.mark_above, self.rate) = (settings.buffer, u32::MAX, settings.rate);
    }

    /// Whether a packet that is enqueued now is to be marked.
    pub(super) fn marks(&self) -> bool {
        self.queue.len() as u64 >= u64::from(self.mark_above)
    }

    /// Whether there is room for a packet.
    pub(super) fn has_room(&self) -> bool {
        self.queue.len() < self.limit as usize
    }

    pub(super) fn push(&mut self, waiting: Waiting) {
        self.queued_bytes += waiting.body.len() + OVERHEAD;
        self.queued += u64::from(waiting.packet.size_bytes);
        self.queue.push_back(waiting);
    }

    /// The next packet whose transmission has started by `now`, and when.
    pub(super) fn next(&mut self, now: Time) -> Option<(Time, Waiting)> {
        if self.free_at > now {
            return None;
        }
        let waiting = self.queue.pop_front()?;
        self.queued_bytes -= waiting.body.len() + OVERHEAD;
        self.queued -= u64::from(waiting.packet.size_bytes);
        Some((self.free_at.max(waiting.since), waiting))
    }

    /// Transmits a packet from `start` on. Its frames leave at once, or with a delay when their last bit would arrive.
    pub(super) fn transmit(&mut self, waiting: &Waiting, start: Time, frames: &mut dyn Frames) {
        let Some(peer) = self.peer else { return };
        let marked = match &mut self.marker {
            Some(marker) => marker.on_packet(self.queued + frames.waiting(peer), start),
            None => false,
        };
        self.counts.marked += u64::from(marked);
        let header = LinkHeader {
            token: waiting.token,
            nack: waiting.nack.map(Reason::from),
            mark: u64::from(marked || waiting.packet.ecn == Ecn::Marked),
            label: waiting.packet.label,
            ..LinkHeader::default()
        };
        let header_bytes = header_bytes(peer);
        let (counts, in_flight, queued_bytes) =
            (&mut self.counts, &mut self.in_flight, &mut self.queued_bytes);
        let delayed = self.delay > Duration::ZERO;
        let (mut size, first) = (0, in_flight.len());
        self.fragmenter.cut(&waiting.body, header, |frame| {
            size += frame.len() + header_bytes;
            if delayed {
                *queued_bytes += frame.len() + OVERHEAD;
                in_flight.push_back((Time::ZERO, frame.to_vec()));
            } else {
                send(counts, peer, frame, frames);
            }
        });
        let (span, carry) = self.rate.serialise(Bytes::new(size as u64), self.carry);
        (self.free_at, self.carry) = (start + span, carry);
        let arrives = start + span + self.delay;
        self.in_flight.iter_mut().skip(first).for_each(|(due, _)| *due = arrives);
    }

    /// Sends the frames that have reached the end of the link.
    pub(super) fn arrive(&mut self, now: Time, frames: &mut dyn Frames) {
        let Some(peer) = self.peer else { return };
        while self.in_flight.front().is_some_and(|(due, _)| *due <= now) {
            let Some((_, frame)) = self.in_flight.pop_front() else { return };
            self.queued_bytes -= frame.len() + OVERHEAD;
            send(&mut self.counts, peer, &frame, frames);
        }
    }

    /// The next deadline.
    pub(super) fn wake(&self) -> Time {
        let next = if self.queue.is_empty() { Time::NEVER } else { self.free_at };
        next.min(self.in_flight.front().map_or(Time::NEVER, |(due, _)| *due))
    }

    pub(super) fn view(&self, port: PortId, now: Time) -> PortView {
        PortView {
            port,
            to: NodeId(port.0 + 1),
            rate: self.rate,
            rate_in: self.rate_in,
            backlog: Backlog { packets: self.queue.len() as u32, bytes: Bytes::new(self.queued) },
            busy: self.free_at > now,
            limit: Backlog { packets: self.limit, bytes: Bytes::UNLIMITED },
        }
    }
}

fn send(counts: &mut Counts, peer: Peer, frame: &[u8], frames: &mut dyn Frames) {
    counts.frames_out += 1;
    counts.bytes_out += frame.len() as u64;
    counts.overruns += u64::from(!frames.send(peer, frame));
}

/// Header bytes of a frame.
pub(super) fn header_bytes(place: Peer) -> usize {
    match place {
        Peer::Udp(address) if address.is_ipv4() => DATAGRAM_V4,
        Peer::Udp(_) => DATAGRAM_V6,
        Peer::Program(_) => 0,
        // as on a separate link
        Peer::App(_) => DATAGRAM_V4,
        // not a face
        Peer::Controller => 0,
    }
}

/// The node in the form that the state machine sees.
pub(super) struct View<'a> {
    pub(super) ports: &'a [Port],
    pub(super) now: Time,
}

impl NodeView for View<'_> {
    fn port(&mut self, port: PortId) -> PortView {
        self.ports[port.index()].view(port, self.now)
    }

    /// There is no forwarding by address.
    fn next(&self, _to: NodeId) -> Option<PortId> {
        None
    }

    fn cost(&self, _to: NodeId) -> Option<u64> {
        None
    }
}
