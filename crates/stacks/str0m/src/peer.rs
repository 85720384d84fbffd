//! What sender and receiver have in common, and the receiver.

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration as StdDuration, Instant, SystemTime};

use bytes::BytesMut;
use contract::{Count, Cx, Destination, Ecn, Endpoint, Fragment, Header, Input, Label, Packet, Random};
use stack::stream::FrameDelays;
use stack_shared::clock::{self, Clock};
use stack_shared::tls::seeded;
use stack_shared::wire::DatagramStore;
use stack_shared::{CLIENT, HEADERS, SERVER};
use str0m::bwe::Bitrate;
use str0m::config::DtlsCert;
use str0m::ice::IceCreds;
use str0m::media::{MediaKind, Mid};
use str0m::net::{Protocol, Receive};
use str0m::rtp::rtcp::Rtcp;
use str0m::rtp::{RawPacket, RtpWrite, Ssrc};
use str0m::{Candidate, Event, Output, Rtc, RtcConfig};
use units::{Bytes, Duration, Time};

use crate::{Config, crypto, dtls};

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

/// Settings of both ends. The other ones are str0m's defaults.
fn base() -> RtcConfig {
    let cert = dtls::certificate();
    RtcConfig::new()
        .set_rtp_mode(true)
        .set_crypto_provider(Arc::new(crypto::PROVIDER))
        .set_dtls_cert(DtlsCert { certificate: cert.certificate, private_key: cert.private_key })
        .set_stats_interval(Some(STATS_INTERVAL))
}

/// Exchanges the data of signalling between the ends: addresses, credentials, fingerprints and streams of the other.
fn connect(rtc: &mut Rtc, (local, remote): (SocketAddr, SocketAddr), sender: bool) {
    rtc.add_local_candidate(Candidate::host(local, "udp").expect("it is an address"));
    rtc.add_remote_candidate(Candidate::host(remote, "udp").expect("it is an address"));
    let mut api = rtc.direct_api();
    let fingerprint = api.local_dtls_fingerprint().clone();
    api.set_remote_fingerprint(fingerprint);
    api.set_local_ice_credentials(credentials(sender));
    api.set_remote_ice_credentials(credentials(!sender));
    api.set_ice_controlling(sender);
    api.start_dtls(sender).expect("it was not started before");
    let (mid, ssrc, repairs) = (Mid::from("video"), media(), Some(Ssrc::from(2)));
    api.declare_media(mid, MediaKind::Video);
    if sender {
        api.declare_stream_tx(ssrc, repairs, mid, None);
    } else {
        api.expect_stream_rx(ssrc, repairs, mid, None);
        api.enable_twcc_feedback();
    }
}

/// As long as those that str0m draws.
fn credentials(sender: bool) -> IceCreds {
    let name = if sender { "simulated/sender" } else { "simulated/receiv" };
    IceCreds { ufrag: name.to_owned(), pass: format!("{name}/22byte") }
}

/// The stream of media.
pub(crate) fn media() -> Ssrc {
    Ssrc::from(1)
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
/// Its session begins when the first datagram arrives: both ends learn of a call at the same time, and str0m gives up a session whose peer is silent.
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

/// Instants of a simulation.
///
/// str0m maps instants to the time of day by clocks of the host, which it reads once in a process, and rounds times in reports to 1/65536 s. Time zero
/// of every simulation is at a multiple of [`DAY`] there, so that rounding is the same in every process.
pub(crate) static CLOCK: Clock = Clock::new(|| {
    let now = clock::now();
    let unix = seeded(&mut Random::new(0, "str0m", "clock"), || unix_time(now));
    now + DAY - StdDuration::from_nanos((unix.as_nanos() % DAY.as_nanos()) as u64)
});

/// The time after which the seconds in reports begin again.
const DAY: StdDuration = StdDuration::from_secs(1 << 16);

/// The time since 1970 that str0m takes `began` for, from a sender report [RFC3550 §6.4.1] in a session of two ends in memory.
fn unix_time(began: Instant) -> StdDuration {
    let addresses = [(CLIENT, SERVER), (SERVER, CLIENT)];
    let mut ends = [true, false].map(|sender| {
        fastrand::seed(u64::from(sender));
        let mut rtc = base().enable_raw_packets(true).build(began);
        connect(&mut rtc, addresses[usize::from(!sender)], sender);
        rtc
    });
    let mut under_way = [const { Vec::<Vec<u8>>::new() }; 2];
    for step in 0..MAX_STEPS {
        let now = began + STEP * step;
        for (at, (source, destination)) in addresses.iter().map(|(own, other)| (*other, *own)).enumerate() {
            let rtc = &mut ends[at];
            for datagram in std::mem::take(&mut under_way[at]) {
                let Ok(contents) = datagram[..].try_into() else { continue };
                let datagram = Receive { proto: Protocol::Udp, source, destination, contents };
                rtc.handle_input(str0m::Input::Receive(now, datagram)).expect("str0m sent it");
            }
            rtc.handle_input(str0m::Input::Timeout(now)).expect("time goes on");
            if let Some(pt) = crate::source::vp8(rtc)
                && let Some(stream) = rtc.direct_api().stream_tx(&media())
            {
                stream.write_rtp(RtpWrite::new(pt, u64::from(step).into(), step, now, vec![0; 100]));
            }
            loop {
                match rtc.poll_output().expect("the session goes on") {
                    Output::Timeout(_) => break,
                    Output::Transmit(datagram) => under_way[1 - at].push(datagram.contents.to_vec()),
                    Output::Event(Event::RawPacket(packet)) => {
                        if let RawPacket::RtcpTx(Rtcp::SenderReport(report)) = &*packet {
                            let unix = report.sender_info.ntp_time.duration_since(SystemTime::UNIX_EPOCH);
                            return unix.expect("it is after 1970") - (now - began);
                        }
                    }
                    Output::Event(_) => {}
                }
            }
        }
    }
    unreachable!("str0m sends a report every few seconds")
}

/// Steps of the session in memory: more than the interval of reports.
const STEP: StdDuration = StdDuration::from_millis(10);
const MAX_STEPS: u32 = 2000;

/// Time after which an expired deadline is handled again. str0m's own tests of its estimation have the same.
const RESOLUTION: Duration = Duration::from_micros(100);

/// Interval of str0m's statistics.
const STATS_INTERVAL: StdDuration = StdDuration::from_millis(100);
