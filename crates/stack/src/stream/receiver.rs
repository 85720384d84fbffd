//! Stream receiver: detects missing packets, passes arrivals to its scheme, and sends the scheme's feedback.

use contract::{
    Address, Arrival, Count, Cx, Ecn, Endpoint, FeedbackTarget, Gap, Header, Input, Label, OutgoingFeedback,
    Packet, ReceiverAlgorithm, ReceiverCx, StreamHeader,
};
use units::{Bytes, Time};

use super::Config;
use super::fragments::FrameDelays;
use super::gaps::{Gaps, SequenceClass};
use super::player::{FrameConsumer, Playing};
use crate::icn::Attachment;

/// A receiver of a stream. The first packet after joining sets the expected number.
///
/// The algorithm is notified of missing packets before the packet that revealed them, and of every packet at most once.
/// A stream whose packets overtake is not one that loses: once a packet came after a later one, missing packets are
/// waited for in time as well ([`Config::reordering_window`]). Numbers may decrease while packets are waited for. A
/// packet that arrives up to a second after it was declared lost is delivered, and the algorithm told that the loss was
/// none; duplicates are dropped.
///
/// # How it is driven
///
/// It is an [`Endpoint`]. [`Input::Start`] joins, [`Input::Packet`] is data, [`Input::Timer`] is a deadline of the
/// algorithm, the player or the attachment to a name router, [`Input::Stop`] leaves. Feedback is in the outbox after
/// any of them. Packets before `Start` are ignored.
#[derive(Clone, Debug)]
pub struct Receiver<R, P = ()> {
    algorithm: R,
    to: Address,
    /// Its attachment to a name-based network; `None` if packets are routed by address.
    attachment: Option<Box<Attachment>>,
    feedback: Bytes,
    gaps: Gaps,
    /// Delays of the frames of an encoder that follows the scheme.
    frame_delays: Option<Box<FrameDelays>>,
    /// What it does with the frames of a video.
    player: P,
    running: bool,
    /// Feedback of the algorithm to one input; kept to avoid allocation.
    outgoing: Vec<OutgoingFeedback>,
}

impl<R: ReceiverAlgorithm> Receiver<R> {
    /// A receiver that sends its feedback to `to` after its start.
    pub fn new(config: &Config, algorithm: R, to: Address) -> Self {
        Self {
            algorithm,
            to,
            frame_delays: config.video.as_ref().and_then(FrameDelays::of),
            player: (),
            attachment: None,
            feedback: config.feedback,
            gaps: Gaps::new(config.reorder, config.reordering_window),
            running: false,
            outgoing: Vec::new(),
        }
    }

    /// The receiver with a player.
    pub fn playing(self, player: Playing) -> Receiver<R, Playing> {
        let Self { algorithm, to, attachment, feedback, gaps, frame_delays, running, outgoing, player: () } =
            self;
        Receiver { algorithm, to, attachment, feedback, gaps, frame_delays, running, outgoing, player }
    }
}

impl<R: ReceiverAlgorithm, P: FrameConsumer> Receiver<R, P> {
    /// The receiver as a member of a group by name: it joins over the network, and sends feedback to its tree node.
    pub fn attached(self, attachment: Attachment) -> Self {
        Self { attachment: Some(Box::new(attachment)), ..self }
    }

    /// The receiver's part of the scheme.
    pub const fn algorithm(&self) -> &R {
        &self.algorithm
    }

    /// Starts the algorithm, because the receiver has joined.
    fn start_receiver(&mut self, cx: &mut Cx<'_>) {
        self.running = true;
        if let Some(capacity) = self.attachment.as_ref().and_then(|attachment| attachment.capacity()) {
            self.algorithm.on_access(capacity);
        }
        self.algorithm.on_start(&mut ReceiverCx::new(cx, &mut self.outgoing));
        if let Some(mode) = self.player.first_mode() {
            self.algorithm.on_mode(mode, &mut ReceiverCx::new(cx, &mut self.outgoing));
        }
    }

    #[inline]
    fn on_data(&mut self, packet: &Packet, header: StreamHeader, cx: &mut Cx<'_>) {
        let data = arrival(packet, header);
        let Self { algorithm, gaps, outgoing, .. } = self;
        let (now, window) = (cx.now(), gaps.window());
        let class = gaps.arrived(data.seq, now, |first_missing, packets| {
            cx.count(Count::Missing, packets);
            algorithm
                .on_loss(&Gap { first_missing, packets, before: data }, &mut ReceiverCx::new(cx, outgoing));
        });
        if class == SequenceClass::Old {
            return;
        }
        if gaps.window() != window {
            cx.event("reordering_window", gaps.window().as_secs_f64());
        }
        if data.marked {
            cx.count(Count::Marks, 1);
        }
        cx.deliver(data.size);
        match class {
            SequenceClass::Late => {
                cx.count(Count::Reordered, 1);
                cx.count(Count::Late, 1);
                algorithm.on_late(&data, &mut ReceiverCx::new(cx, outgoing));
            }
            SequenceClass::Reordered => {
                cx.count(Count::Reordered, 1);
                algorithm.on_data(&data, &mut ReceiverCx::new(cx, outgoing));
            }
            SequenceClass::New | SequenceClass::Old => {
                algorithm.on_data(&data, &mut ReceiverCx::new(cx, outgoing));
            }
        }
        if header.fragment.frame_bytes > 0 {
            if let Some(delays) = &mut self.frame_delays {
                delays.on_fragment(header.fragment, packet.size_bytes, packet.sent_at, cx);
            }
            self.player.on_fragment(header.fragment, packet.size_bytes, cx);
            self.change_mode(cx);
        }
    }

    /// Changes the mode of the scheme by the player's buffer, and notifies the source.
    fn change_mode(&mut self, cx: &mut Cx<'_>) {
        let Self { player, algorithm, outgoing, .. } = self;
        if let Some(mode) = player.next_mode(cx) {
            algorithm.on_mode(mode, &mut ReceiverCx::new(cx, outgoing));
        }
        if let Some(full) = player.buffer_notification(cx.now()) {
            let header = Header::Player { full };
            cx.send(self.to.into(), self.feedback, Ecn::NotCapable, header, Label::default());
        }
    }

    /// Sends one feedback packet for each answer.
    #[inline]
    fn send_feedback(&mut self, cx: &mut Cx<'_>) {
        for feedback in self.outgoing.drain(..) {
            let to = match (feedback.target, &self.attachment) {
                (FeedbackTarget::Parent, Some(attachment)) => attachment.above(),
                _ => self.to,
            };
            cx.send(to.into(), self.feedback, Ecn::NotCapable, Header::Feedback, feedback.label);
            cx.count(Count::Feedback, 1);
        }
    }
}

/// A packet of the source in the form that the algorithm takes.
#[inline]
fn arrival(packet: &Packet, header: StreamHeader) -> Arrival {
    Arrival {
        seq: header.seq,
        size: packet.size(),
        bytes_before: header.bytes_before,
        sent_at: packet.sent_at,
        marked: packet.ecn == Ecn::Marked,
        label: packet.label,
    }
}

impl<R: ReceiverAlgorithm, P: FrameConsumer> Endpoint for Receiver<R, P> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => {
                let probes = self.algorithm.probes();
                match &mut self.attachment {
                    Some(attachment) => attachment.start(probes, cx),
                    None => self.start_receiver(cx),
                }
            }
            Input::Stop => {
                if std::mem::replace(&mut self.running, false) {
                    self.algorithm.on_stop(&mut ReceiverCx::new(cx, &mut self.outgoing));
                    self.player.on_stop(cx);
                }
                if let Some(attachment) = &mut self.attachment {
                    attachment.stop(cx);
                }
            }
            _ if !self.running && self.attachment.is_none() => {}
            Input::Packet(packet) => match (packet.header, &mut self.attachment) {
                (Header::Stream(header), _) if self.running && packet.flow == cx.flow() => {
                    self.on_data(packet, header, cx);
                }
                (Header::StreamControl(header), _) if self.running && packet.flow == cx.flow() => {
                    let control = arrival(packet, header);
                    self.algorithm.on_control(&control, &mut ReceiverCx::new(cx, &mut self.outgoing));
                }
                (Header::Signal(signal), Some(attachment)) => {
                    if attachment.on_signal(&signal, packet.source, cx) {
                        self.start_receiver(cx);
                    }
                }
                // also data of a member that is on the tree, and still measures its path
                _ => cx.count(Count::Ignored, 1),
            },
            Input::Timer => {
                if let Some(attachment) = &mut self.attachment
                    && attachment.on_timer(cx)
                {
                    self.start_receiver(cx);
                }
                if self.running && self.algorithm.wake() <= cx.now() {
                    self.algorithm.on_timer(&mut ReceiverCx::new(cx, &mut self.outgoing));
                }
                if self.running && self.player.wake() <= cx.now() {
                    self.player.on_timer(cx);
                    self.change_mode(cx);
                }
            }
            Input::Mode(_) if !self.running => {}
            Input::Mode(mode) => self.algorithm.on_mode(mode, &mut ReceiverCx::new(cx, &mut self.outgoing)),
            Input::App(_) => {}
        }
        self.send_feedback(cx);
    }

    #[inline]
    fn wake(&self) -> Time {
        let own = if self.running { self.algorithm.wake().min(self.player.wake()) } else { Time::NEVER };
        self.attachment.as_ref().map_or(own, |attachment| own.min(attachment.wake()))
    }
}
