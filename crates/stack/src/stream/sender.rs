//! Stream sender: paces data at the rate of its scheme, and passes feedback of receivers to it.

use contract::{
    Count, Cx, Destination, Ecn, Endpoint, Feedback, Header, Input, Packet, Piece, SenderLaw, Sending,
    StreamHeader,
};
use units::{Bytes, Time};

use super::pacer::Pacer;
use super::supply::Supply;
use super::{Config, Modes};
use crate::icn::Attachment;

/// The source of a stream. It always has data, or has the frames of a video; its law decides how fast they leave.
///
/// Packets leave at the law's rate, headers included; the first leaves at the start. When the rate changes the pending packet
/// moves to `max(now, t_last + 8s/R)`, so that a slow stream need not wait out an old long gap.
///
/// A stream has no acknowledgements, so the sender cannot know what is in flight. Of the law's window it honours only
/// that a window below one packet holds the stream: a law that counts packets in flight by itself closes and opens it.
///
/// # How it is driven
///
/// As every [`Endpoint`]. [`Input::Start`] sends the first packet, or publishes the group where it is known by name. Each later one leaves at an [`Input::Timer`]: one packet per deadline, so a
/// driver that is late gives the timer again until [`Endpoint::wake`] lies ahead. [`Input::Packet`] is feedback and may move the deadline either
/// way. Over real sockets, a driver without content calls [`Sender::wait_for_data`] instead of the timer, and polls again.
#[derive(Clone, Debug)]
pub struct Sender<L> {
    law: L,
    to: Destination,
    /// Its place in a name-based network; none where packets go by address.
    attachment: Option<Box<Attachment>>,
    packet: Bytes,
    /// Size of a control packet.
    control: Bytes,
    ecn: Ecn,
    pacer: Pacer,
    /// The frames that it carries; endless data where there are none.
    supply: Option<Box<Supply>>,
    /// Modes that follow the buffer of the receiver's player, and whether that was full when it was last heard.
    modes: Option<Box<(Modes, bool)>>,
    running: bool,
    /// The application has nothing to send before. [`Time::ZERO`] where it always has.
    given_at: Time,
    /// Number of the next packet.
    seq: u64,
    /// Bytes sent before it.
    bytes_before: u64,
}

impl<L: SenderLaw> Sender<L> {
    /// A source that sends to `to` once it is started.
    pub fn new(config: &Config, law: L, to: Destination) -> Self {
        Self {
            law,
            to,
            attachment: None,
            packet: config.packet,
            control: config.feedback,
            ecn: if config.ecn { Ecn::Capable } else { Ecn::NotCapable },
            pacer: Pacer::new(config.packet, config.jitter),
            modes: config
                .player
                .as_ref()
                .and_then(|player| player.modes.clone())
                .map(|modes| Box::new((modes, false))),
            supply: config.video.as_ref().map(|video| Box::new(Supply::new(video))),
            running: false,
            given_at: Time::ZERO,
            seq: 0,
            bytes_before: 0,
        }
    }

    /// The same, as the source of a group that is known by name: it publishes before it sends, and sends to its access router.
    pub fn attached(self, attachment: Attachment) -> Self {
        Self { to: attachment.access().into(), attachment: Some(Box::new(attachment)), ..self }
    }

    /// The law.
    pub const fn law(&self) -> &L {
        &self.law
    }

    /// The application has nothing to send before `until`: nothing leaves, and the law knows that it is not what holds the stream. For
    /// drivers whose application gives the data, after a packet left; `until` is the present instant when there is something again.
    pub fn wait_for_data(&mut self, until: Time, cx: &mut Cx<'_>) {
        let idle = until > cx.now() && self.given_at <= cx.now();
        self.given_at = until;
        if idle && self.running {
            self.law.on_idle(cx);
            self.follow(cx);
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.law.wake() <= cx.now() {
            self.law.on_timer(cx);
            self.follow(cx);
        }
        if self.next_at() <= cx.now() {
            self.send(cx);
        }
    }

    /// When the next packet leaves: when the law permits it and there is something to send.
    #[inline]
    fn next_at(&self) -> Time {
        let next = self.pacer.next().max(self.given_at);
        self.supply.as_ref().map_or(next, |supply| next.max(supply.ready_at()))
    }

    fn on_packet(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        match packet.header {
            Header::Feedback if self.running && packet.flow == cx.flow() => {
                cx.count(Count::FeedbackReceived, 1);
                let feedback =
                    Feedback { from: packet.source.endpoint, sent_at: packet.sent_at, label: packet.label };
                self.law.on_feedback(&feedback, cx);
                self.follow(cx);
            }
            Header::Player { full } if self.running && packet.flow == cx.flow() => {
                if let Some(modes) = self.modes.as_mut().filter(|modes| modes.1 != full) {
                    modes.1 = full;
                    self.law.on_mode(modes.0.of(full), cx);
                    self.follow(cx);
                }
            }
            Header::Signal(signal) => {
                if let Some(attachment) = &mut self.attachment
                    && attachment.on_signal(&signal, packet.source, cx)
                {
                    self.begin(cx);
                }
            }
            _ => cx.count(Count::Ignored, 1),
        }
    }

    /// The law begins, and the first packet leaves.
    fn begin(&mut self, cx: &mut Cx<'_>) {
        self.running = true;
        if let Some(supply) = &mut self.supply {
            supply.start(cx);
        }
        self.law.on_start(cx);
        if let Some(modes) = &mut self.modes {
            modes.1 = false;
            self.law.on_mode(modes.0.of(false), cx);
        }
        self.follow(cx);
        self.on_timer(cx);
    }

    fn send(&mut self, cx: &mut Cx<'_>) {
        let Some(supply) = &mut self.supply else {
            return self.send_piece(self.packet, Piece::default(), cx);
        };
        let Some((size, piece)) = supply.take(self.packet, cx) else { return };
        let (waiting, ready_at) = (supply.waiting(cx.now()), supply.ready_at());
        self.send_piece(size, piece, cx);
        cx.probe("waiting", waiting.as_secs_f64());
        if ready_at > cx.now() {
            self.law.on_idle(cx);
            self.follow(cx);
        }
    }

    #[inline]
    fn send_piece(&mut self, size: Bytes, piece: Piece, cx: &mut Cx<'_>) {
        let sending = Sending { seq: self.seq, size, bytes_before: self.bytes_before };
        let label = self.law.stamp(&sending, cx);
        let header = StreamHeader { seq: self.seq, bytes_before: self.bytes_before, piece };
        cx.send(self.to, size, self.ecn, Header::Stream(header), label);
        self.seq += 1;
        self.bytes_before += size.as_u64();
        let after = Sending { seq: self.seq, size: self.control, bytes_before: self.bytes_before };
        if let Some(label) = self.law.control(&after, cx) {
            let header =
                StreamHeader { seq: self.seq, bytes_before: self.bytes_before, piece: Piece::default() };
            cx.send(self.to, self.control, Ecn::NotCapable, Header::StreamControl(header), label);
        }
        let now = cx.now();
        self.pacer.sent(size, now, cx.random());
        self.follow(cx);
    }

    /// Takes over what the law permits now.
    fn follow(&mut self, cx: &mut Cx<'_>) {
        let (allowed, before) = (self.law.allowance(), self.pacer.rate());
        self.pacer.set(allowed.rate, allowed.window < self.packet, cx.now());
        if allowed.rate != before {
            cx.probe("allowed_rate", allowed.rate.as_bps_f64());
        }
    }
}

impl<L: SenderLaw> Endpoint for Sender<L> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => match &mut self.attachment {
                Some(attachment) => attachment.start(false, cx),
                None => self.begin(cx),
            },
            Input::Stop => {
                self.running = false;
                if let Some(attachment) = &mut self.attachment {
                    attachment.stop(cx);
                }
            }
            Input::Timer => {
                if let Some(attachment) = &mut self.attachment
                    && attachment.on_timer(cx)
                {
                    self.begin(cx);
                }
                if self.running {
                    self.on_timer(cx);
                }
            }
            _ if !self.running && self.attachment.is_none() => {}
            Input::Packet(packet) => self.on_packet(packet, cx),
            Input::Mode(_) if !self.running => {}
            Input::Mode(mode) => {
                self.law.on_mode(mode, cx);
                self.follow(cx);
            }
            Input::App(_) => {}
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        let own = if self.running { self.next_at().min(self.law.wake()) } else { Time::NEVER };
        self.attachment.as_ref().map_or(own, |attachment| own.min(attachment.wake()))
    }
}
