//! The sender: an encoder whose target rate is str0m's estimate.

use contract::{Count, Cx, Destination, Endpoint, Fragment, Input, Random};
use stack::stream::{EncoderModel, LiveEncoder};
use str0m::Event;
use str0m::bwe::{Bitrate, BweKind};
use str0m::rtp::RtpWrite;
use units::{Duration, Rate, Time};

use super::Config;
use super::clock::CLOCK;
use super::peer::{FRAME_HEADER, Peer, frame_header};
use super::session::{media, vp8};
use crate::wire::DatagramStore;

pub(crate) struct Sender {
    peer: Peer,
    config: Config,
    encoder: LiveEncoder,
    /// What str0m estimates, in bits per second.
    estimate: u64,
    falling: bool,
    /// When the next frame is captured; never before the session is connected.
    next_frame: Time,
    packets: u64,
    /// NACKs that were counted.
    nacks: u64,
}

impl Sender {
    pub(crate) fn new(config: &Config, to: Destination, out: DatagramStore, incoming: DatagramStore) -> Self {
        Self {
            peer: Peer::new(config.mtu, to, out, incoming),
            config: config.clone(),
            encoder: encoder(config, 0),
            estimate: config.start.as_bps(),
            falling: false,
            next_frame: Time::NEVER,
            packets: 0,
            nacks: 0,
        }
    }

    fn begin(&mut self, cx: &mut Cx<'_>) {
        let Config { start, encoder: EncoderModel { max, .. }, .. } = self.config;
        self.encoder = encoder(&self.config, cx.random().bits());
        (self.estimate, self.falling, self.next_frame) = (start.as_bps(), false, Time::NEVER);
        (self.packets, self.nacks) = (0, 0);
        self.peer.begin(Some(Bitrate::bps(self.estimate)), cx);
        self.peer.call(|rtc| rtc.bwe().set_bitrate(Bitrate::ZERO, Bitrate::bps(max.as_bps())));
    }

    /// Captures the frames that are due.
    fn capture(&mut self, cx: &mut Cx<'_>) {
        if self.next_frame == Time::NEVER && self.peer.call(|rtc| rtc.is_connected()) == Some(true) {
            self.next_frame = cx.now();
        }
        while self.next_frame <= cx.now() {
            self.write(cx);
            self.next_frame += self.config.interval();
        }
    }

    /// Encodes the next frame and gives it to str0m, in packets of equal size.
    fn write(&mut self, cx: &mut Cx<'_>) {
        let target = Rate::from_bps(self.estimate);
        self.encoder.encode(target, cx.now());
        let Some((frame, size)) = self.encoder.pop() else { return };
        if cx.probing() {
            cx.probe("target_rate", target.as_bps_f64());
            cx.probe("encoder_rate", self.encoder.rate());
        }
        let packets = size.as_u64().div_ceil(PACKET).max(1);
        let bytes = (size.as_u64() / packets).saturating_sub(OVERHEAD).max(FRAME_HEADER as u64);
        let frame_bytes = u32::try_from(bytes * packets).unwrap_or(u32::MAX);
        let mut payload = vec![0; bytes as usize];
        payload[..FRAME_HEADER].copy_from_slice(&frame_header(Fragment { frame, frame_bytes }));
        // 90 kHz [RFC7741 §4.1]
        let media_time = (u64::from(frame) * 90_000 / u64::from(self.config.frame_rate)) as u32;
        let now = CLOCK.instant(cx.now());
        for left in (0..packets).rev() {
            let (number, payload) = (self.packets, payload.clone());
            self.packets += 1;
            self.peer.call(|rtc| {
                let Some(pt) = vp8(rtc) else { return };
                if let Some(stream) = rtc.direct_api().stream_tx(&media()) {
                    let packet = RtpWrite::new(pt, number.into(), media_time, now, payload);
                    stream.write_rtp(packet.marker(left == 0).nackable(true));
                }
            });
            self.peer.poll(cx);
        }
    }

    /// Reads what str0m reports.
    fn report(&mut self, cx: &mut Cx<'_>) {
        for event in self.peer.events.drain(..) {
            match event {
                Event::EgressBitrateEstimate(BweKind::Twcc { estimate, .. }) => {
                    let falls = estimate.as_u64() < self.estimate;
                    cx.count(Count::Episodes, u64::from(falls && !self.falling));
                    (self.estimate, self.falling) = (estimate.as_u64(), falls);
                }
                Event::PeerStats(stats) => {
                    if let Some(rtt) = stats.rtt {
                        cx.measured_rtt(Duration::from_nanos(rtt.as_nanos() as u64));
                    }
                }
                Event::MediaEgressStats(stats) => {
                    cx.count(Count::Nacks, stats.nacks - self.nacks);
                    self.nacks = stats.nacks;
                }
                _ => {}
            }
        }
        if cx.probing() {
            cx.probe("allowed_rate", self.estimate as f64);
        }
    }
}

impl Endpoint for Sender {
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start if !self.peer.running => self.begin(cx),
            Input::Stop => {
                self.next_frame = Time::NEVER;
                return self.peer.stop();
            }
            Input::Packet(packet) => self.peer.receive(packet, cx),
            Input::Start | Input::Timer | Input::Mode(_) | Input::App(_) => {}
        }
        self.peer.expire(cx);
        self.peer.poll(cx);
        self.capture(cx);
        self.report(cx);
    }

    fn wake(&self) -> Time {
        self.peer.deadline.min(self.next_frame)
    }
}

fn encoder(config: &Config, seed: u64) -> LiveEncoder {
    LiveEncoder::new(config.encoder, f64::from(config.frame_rate), Random::new(seed, "video", "frames"))
}

/// A full packet: the 1150 bytes of str0m's default.
const PACKET: u64 = 1150;

/// Header of RTP (12 bytes), its extensions (16) and the tag of the cipher (16).
const OVERHEAD: u64 = 44;
