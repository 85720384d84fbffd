//! What sender and receiver have in common, and the receiver.

use std::net::SocketAddr;

use bytes::BytesMut;
use contract::{Count, Cx, Destination, Ecn, Endpoint, Fragment, Header, Input, Label, Packet, Random};
use stack::stream::FrameDelays;
use str0m::bwe::Bitrate;
use str0m::net::{Protocol, Receive};
use str0m::{Event, Output, Rtc};
use units::{Bytes, Duration, Time};

use super::Config;
use super::clock::CLOCK;
use super::session::{base, connect};
use crate::tls::seeded;
use crate::wire::DatagramStore;
use crate::{CLIENT, HEADERS, SERVER};

/// One end of a session.
pub(crate) struct Peer {
    to: Destination,
    out: DatagramStore,
    incoming: DatagramStore,
    mtu: u64,
    /// Addresses of this end and of the other, inside of str0m.
    addresses: (SocketAddr, SocketAddr),
    /// str0m, and its random numbers.
    session: Option<(Rtc, Random)>,
    pub(crate) deadline: Time,
    pub(crate) running: bool,
    /// Reports of str0m that have not been read.
    pub(crate) events: Vec<Event>,
}

impl Peer {
    pub(crate) fn new(mtu: Bytes, to: Destination, out: DatagramStore, incoming: DatagramStore) -> Self {
        let mtu = mtu.saturating_sub(HEADERS).as_u64();
        let (addresses, session, deadline) = ((SERVER, CLIENT), None, Time::NEVER);
        Self { to, out, incoming, mtu, addresses, session, deadline, running: false, events: Vec::new() }
    }

    /// Begins a session: the sender with the estimate `start`, the receiver without one.
    pub(crate) fn begin(&mut self, start: Option<Bitrate>, cx: &mut Cx<'_>) {
        let mut random = Random::new(cx.random().bits(), "str0m", "");
        if start.is_some() {
            self.addresses = (CLIENT, SERVER);
        }
        let (addresses, now) = (self.addresses, CLOCK.instant(cx.now()));
        let seed = random.bits();
        let rtc = seeded(&mut random, || {
            fastrand::seed(seed);
            let config = if start.is_some() { base().enable_bwe(start) } else { base() };
            let mut rtc = config.build(now);
            connect(&mut rtc, addresses, start.is_some());
            rtc
        });
        self.session = Some((rtc, random));
        self.running = true;
    }

    /// Falls silent, as a host that is switched off.
    pub(crate) fn stop(&mut self) {
        (self.session, self.running, self.deadline) = (None, false, Time::NEVER);
    }

    /// Calls str0m, with its random numbers. `None` without a session.
    pub(crate) fn call<T>(&mut self, call: impl FnOnce(&mut Rtc) -> T) -> Option<T> {
        let (rtc, random) = self.session.as_mut()?;
        let seed = random.bits();
        Some(seeded(random, || {
            fastrand::seed(seed);
            call(rtc)
        }))
    }

    /// A datagram arrived.
    pub(crate) fn receive(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        let Header::Datagram { seq } = packet.header else { return cx.count(Count::Ignored, 1) };
        let Some(datagram) = self.incoming.take(seq) else { return cx.count(Count::Ignored, 1) };
        let (now, (destination, source)) = (CLOCK.instant(cx.now()), self.addresses);
        let taken = self.call(|rtc| {
            let contents = datagram[..].try_into().ok()?;
            let datagram = Receive { proto: Protocol::Udp, source, destination, contents };
            rtc.handle_input(str0m::Input::Receive(now, datagram)).ok()
        });
        if taken.flatten().is_none() {
            cx.count(Count::Ignored, 1);
        }
    }

    /// Tells str0m the time, if its deadline has expired.
    pub(crate) fn expire(&mut self, cx: &mut Cx<'_>) {
        if self.deadline <= cx.now() {
            let now = CLOCK.instant(cx.now());
            // a failed session has no output
            let _ = self.call(|rtc| rtc.handle_input(str0m::Input::Timeout(now)));
        }
    }

    /// Sends what str0m permits now, keeps its events, and reads its next deadline.
    pub(crate) fn poll(&mut self, cx: &mut Cx<'_>) {
        self.deadline = Time::NEVER;
        while let Some(Ok(output)) = self.call(Rtc::poll_output) {
            match output {
                Output::Timeout(at) => {
                    self.deadline = CLOCK.time(at).max(cx.now() + RESOLUTION);
                    break;
                }
                Output::Transmit(datagram) => self.send(&datagram.contents, cx),
                Output::Event(event) => self.events.push(event),
            }
        }
    }

    fn send(&mut self, datagram: &[u8], cx: &mut Cx<'_>) {
        let size = datagram.len() as u64;
        // a router that may not fragment it drops it
        if size <= self.mtu {
            let seq = self.out.put(BytesMut::from(datagram), cx.now());
            let (size, header) = (Bytes::new(size) + HEADERS, Header::Datagram { seq });
            cx.send(self.to, size, Ecn::NotCapable, header, Label::default());
        }
    }
}

/// Number and size of a frame, at the beginning of the payload of its packets.
pub(crate) const FRAME_HEADER: usize = 8;

/// The beginning of a packet's payload.
pub(crate) fn frame_header(fragment: Fragment) -> [u8; FRAME_HEADER] {
    let mut header = [0; FRAME_HEADER];
    header[..4].copy_from_slice(&fragment.frame.to_be_bytes());
    header[4..].copy_from_slice(&fragment.frame_bytes.to_be_bytes());
    header
}

/// The frame of a packet with this payload; `None` if it has no frame.
fn fragment(payload: &[u8]) -> Option<Fragment> {
    let (frame, rest) = payload.split_first_chunk()?;
    let (frame_bytes, _) = rest.split_first_chunk()?;
    Some(Fragment { frame: u32::from_be_bytes(*frame), frame_bytes: u32::from_be_bytes(*frame_bytes) })
}

/// The receiver: an application that takes every RTP packet, and measures the delays of frames.
///
/// Its session begins when the first datagram arrives: both ends learn of a call at the same time, and str0m gives up a
/// session whose peer is silent.
pub(crate) struct Receiver {
    peer: Peer,
    listens: bool,
    frame_delays: FrameDelays,
    interval: Duration,
}

impl Receiver {
    pub(crate) fn new(config: &Config, to: Destination, out: DatagramStore, incoming: DatagramStore) -> Self {
        let interval = config.interval();
        let peer = Peer::new(config.mtu, to, out, incoming);
        Self { peer, listens: false, frame_delays: FrameDelays::new(interval), interval }
    }

    fn begin(&mut self, cx: &mut Cx<'_>) {
        self.frame_delays = FrameDelays::new(self.interval);
        self.peer.begin(None, cx);
    }
}

impl Endpoint for Receiver {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        let mut sent_at = cx.now();
        match input {
            Input::Start => self.listens = true,
            Input::Stop => {
                self.listens = false;
                return self.peer.stop();
            }
            Input::Packet(packet) => {
                if self.listens && !self.peer.running {
                    self.begin(cx);
                }
                sent_at = packet.sent_at;
                self.peer.receive(packet, cx);
            }
            Input::Timer | Input::Mode(_) | Input::App(_) => {}
        }
        self.peer.expire(cx);
        self.peer.poll(cx);
        for event in self.peer.events.drain(..) {
            if let Event::RtpPacket(packet) = event {
                let bytes = packet.payload.len() as u32;
                cx.deliver(Bytes::new(u64::from(bytes)));
                if let Some(fragment) = fragment(&packet.payload) {
                    self.frame_delays.on_fragment(fragment, bytes, sent_at, cx);
                }
            }
        }
    }

    fn wake(&self) -> Time {
        self.peer.deadline
    }
}

/// Time after which an expired deadline is handled again. str0m's own tests of its estimation have the same.
const RESOLUTION: Duration = Duration::from_micros(100);
