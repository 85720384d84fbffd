//! Stream sender: paces data at the rate of its scheme, and passes feedback of receivers to it.

use contract::{
    Count, Cx, Destination, Ecn, Endpoint, Feedback, Fragment, Header, Input, OutgoingPacket, Packet,
    SenderAlgorithm, StreamHeader,
};
use units::{Bytes, Time};

use super::frame_queue::FrameQueue;
use super::pacer::Pacer;
use super::{Config, Modes};
use crate::icn::Attachment;

/// The source of a stream. It has endless data or the frames of a video; its algorithm sets the rate.
///
/// Packets leave at the algorithm's rate, headers included; the first leaves at the start. When the rate changes, the
/// pending packet moves to `max(now, t_last + 8s/R)`, so that it does not wait for the end of a gap at the old rate.
///
/// A stream has no acknowledgements, so the sender does not know the data in flight. A window of the algorithm below
/// one packet stops the stream, and any other has no effect: an algorithm that counts packets in flight itself opens
/// and closes it.
///
/// # How it is driven
///
/// It is an [`Endpoint`]. [`Input::Start`] sends the first packet, or publishes the group if it is known by name. Each
/// later packet leaves at an [`Input::Timer`], one packet per deadline: a late driver gives the timer again until
/// [`Endpoint::wake`] is in the future. [`Input::Packet`] is feedback and may move the deadline either way. Over real
/// sockets, a driver without content calls [`Sender::wait_for_data`] instead of the timer, and polls again.
#[derive(Clone, Debug)]
pub struct Sender<L> {
    algorithm: L,
    to: Destination,
    /// Its attachment to a name-based network; `None` if packets are routed by address.
    attachment: Option<Box<Attachment>>,
    packet: Bytes,
    /// Size of a control packet; none where the scheme sends none.
    control: Option<Bytes>,
    ecn: Ecn,
    pacer: Pacer,
    /// The frames that it carries; `None` for endless data.
    frames: Option<Box<FrameQueue>>,
    /// Modes by the receiver's buffer, and whether the buffer was full in the last notification.
    modes: Option<Box<(Modes, bool)>>,
    running: bool,
    /// The application has no data before this; [`Time::ZERO`] if it always has some.
    data_at: Time,
    /// Sequence number of the next packet.
    seq: u64,
    /// Bytes of all packets before it.
    bytes_before: u64,
}

impl<L: SenderAlgorithm> Sender<L> {
    /// A source that sends to `to` after its start.
    pub fn new(config: &Config, algorithm: L, to: Destination) -> Self {
        let l4s = algorithm.l4s();
        Self {
            control: algorithm.out_of_band().then_some(config.feedback),
            algorithm,
            to,
            attachment: None,
            packet: config.packet,
            ecn: match (config.ecn, l4s) {
                (true, true) => Ecn::CapableL4s,
                (true, false) => Ecn::Capable,
                (false, _) => Ecn::NotCapable,
            },
            pacer: Pacer::new(config.packet, config.jitter),
            modes: config
                .player
                .as_ref()
                .and_then(|player| player.modes.clone())
                .map(|modes| Box::new((modes, false))),
            frames: config.video.as_ref().map(|video| Box::new(FrameQueue::new(video))),
            running: false,
            data_at: Time::ZERO,
            seq: 0,
            bytes_before: 0,
        }
    }

    /// The sender as the source of a group by name: it publishes the group, then sends to its access router.
    pub fn attached(self, attachment: Attachment) -> Self {
        Self { to: attachment.access().into(), attachment: Some(Box::new(attachment)), ..self }
    }

    /// The source's part of the scheme.
    pub const fn algorithm(&self) -> &L {
        &self.algorithm
    }

    /// Stops the stream until `until`, because the application has no data; the algorithm treats it as app-limited. For
    /// drivers whose application supplies the data, after a packet has left. Call it with the current instant when
    /// there are data again.
    pub fn wait_for_data(&mut self, until: Time, cx: &mut Cx<'_>) {
        let idle = until > cx.now() && self.data_at <= cx.now();
        self.data_at = until;
        if idle && self.running {
            self.algorithm.on_idle(cx);
            self.read_allowance(cx);
        }
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        self.encode(cx);
        if self.algorithm.wake() <= cx.now() {
            self.algorithm.on_timer(cx);
            self.read_allowance(cx);
        }
        if self.next_at() <= cx.now() {
            self.send(cx);
        }
    }

    /// Encodes the frames that are due, if the encoder follows the scheme.
    #[inline]
    fn encode(&mut self, cx: &mut Cx<'_>) {
        while let Some(frames) = &mut self.frames
            && frames.encodes_at() <= cx.now()
            && let Some(frame) = frames.encode(self.algorithm.media_rate(), cx)
        {
            self.algorithm.on_frame(&frame, cx);
            self.read_allowance(cx);
        }
    }

    /// When the next packet leaves: when the algorithm allows it and there are data.
    #[inline]
    fn next_at(&self) -> Time {
        let next = self.pacer.next().max(self.data_at);
        self.frames.as_ref().map_or(next, |frames| next.max(frames.ready_at()))
    }

    fn on_packet(&mut self, packet: &Packet, cx: &mut Cx<'_>) {
        match packet.header {
            Header::Feedback if self.running && packet.flow == cx.flow() => {
                cx.count(Count::FeedbackReceived, 1);
                let feedback =
                    Feedback { from: packet.source.endpoint, sent_at: packet.sent_at, label: packet.label };
                self.algorithm.on_feedback(&feedback, cx);
                self.read_allowance(cx);
            }
            Header::Player { full } if self.running && packet.flow == cx.flow() => {
                if let Some(modes) = self.modes.as_mut().filter(|modes| modes.1 != full) {
                    modes.1 = full;
                    self.algorithm.on_mode(modes.0.of(full), cx);
                    self.read_allowance(cx);
                }
            }
            Header::Signal(signal) => {
                if let Some(attachment) = &mut self.attachment
                    && attachment.on_signal(&signal, packet.source, cx)
                {
                    self.start_stream(cx);
                }
            }
            _ => cx.count(Count::Ignored, 1),
        }
    }

    /// Starts the algorithm and sends the first packet.
    fn start_stream(&mut self, cx: &mut Cx<'_>) {
        self.running = true;
        if let Some(frames) = &mut self.frames {
            frames.start(cx);
        }
        self.algorithm.on_start(cx);
        if let Some(modes) = &mut self.modes {
            modes.1 = false;
            self.algorithm.on_mode(modes.0.of(false), cx);
        }
        self.read_allowance(cx);
        self.on_timer(cx);
    }

    fn send(&mut self, cx: &mut Cx<'_>) {
        let Some(frames) = &mut self.frames else {
            return self.send_fragment(self.packet, Fragment::default(), cx);
        };
        let Some((size, fragment)) = frames.take(self.packet, cx) else { return };
        let waited = frames.age(fragment, cx.now());
        let (waiting, ready_at) = (frames.waiting(cx.now()), frames.ready_at());
        if frames.is_live() {
            cx.measured_delay(waited);
        }
        self.send_fragment(size, fragment, cx);
        cx.probe("waiting", waiting.as_secs_f64());
        if ready_at > cx.now() {
            self.algorithm.on_idle(cx);
            self.read_allowance(cx);
        }
    }

    #[inline]
    fn send_fragment(&mut self, size: Bytes, fragment: Fragment, cx: &mut Cx<'_>) {
        let packet = OutgoingPacket { seq: self.seq, size, bytes_before: self.bytes_before };
        let label = self.algorithm.stamp(&packet, cx);
        let header = StreamHeader { seq: self.seq, bytes_before: self.bytes_before, fragment };
        cx.send(self.to, size, self.ecn, Header::Stream(header), label);
        self.seq += 1;
        self.bytes_before += size.as_u64();
        if let Some(size) = self.control {
            self.send_control(size, cx);
        }
        let now = cx.now();
        self.pacer.sent(size, now, cx.random());
        self.read_allowance(cx);
    }

    /// Sends the scheme's control packet for the packet of data that comes next, if it has one.
    fn send_control(&mut self, size: Bytes, cx: &mut Cx<'_>) {
        let (seq, bytes_before) = (self.seq, self.bytes_before);
        if let Some(label) = self.algorithm.control(&OutgoingPacket { seq, size, bytes_before }, cx) {
            let header = StreamHeader { seq, bytes_before, fragment: Fragment::default() };
            cx.send(self.to, size, Ecn::NotCapable, Header::StreamControl(header), label);
        }
    }

    /// Reads the algorithm's rate and window.
    fn read_allowance(&mut self, cx: &mut Cx<'_>) {
        let (allowed, before) = (self.algorithm.allowance(), self.pacer.rate());
        self.pacer.set(allowed.rate, allowed.window < self.packet, cx.now());
        if allowed.rate != before {
            cx.probe("allowed_rate", allowed.rate.as_bps_f64());
        }
    }
}

impl<L: SenderAlgorithm> Endpoint for Sender<L> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => match &mut self.attachment {
                Some(attachment) => attachment.start(false, cx),
                None => self.start_stream(cx),
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
                    self.start_stream(cx);
                }
                if self.running {
                    self.on_timer(cx);
                }
            }
            _ if !self.running && self.attachment.is_none() => {}
            Input::Packet(packet) => self.on_packet(packet, cx),
            Input::Mode(_) if !self.running => {}
            Input::Mode(mode) => {
                self.algorithm.on_mode(mode, cx);
                self.read_allowance(cx);
            }
            Input::App(_) => {}
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        let encodes_at = self.frames.as_ref().map_or(Time::NEVER, |frames| frames.encodes_at());
        let own = match self.running {
            true => self.next_at().min(self.algorithm.wake()).min(encodes_at),
            false => Time::NEVER,
        };
        self.attachment.as_ref().map_or(own, |attachment| own.min(attachment.wake()))
    }
}
