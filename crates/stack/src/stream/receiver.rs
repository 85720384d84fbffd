//! A receiver of a stream: finds missing packets, gives its law what arrives, and sends what the law answers.

use contract::{
    Address, Answer, Arrival, Count, Cx, Ecn, Endpoint, Gap, Header, Input, Packet, ReceiverCx, ReceiverLaw,
    StreamHeader, Toward,
};
use units::{Bytes, Time};

use super::Config;
use super::gaps::{Gaps, Place};
use super::player::Playing;
use crate::icn::Attachment;

/// A receiver of a stream. The first packet after joining sets the number that is expected.
///
/// The law hears of missing packets before the packet that revealed them, and of every packet at most once; numbers may go
/// back by what `reorder` allows. A packet that comes after it was given up is dropped in silence, like a copy.
#[derive(Clone, Debug)]
pub struct Receiver<R> {
    law: R,
    to: Address,
    /// Its place in a name-based network; none where packets come by address.
    attachment: Option<Box<Attachment>>,
    feedback: Bytes,
    gaps: Gaps,
    /// Plays the video that the stream carries.
    player: Option<Box<Playing>>,
    running: bool,
    /// What the law answers to one input; kept so that answering allocates nothing.
    answers: Vec<Answer>,
}

impl<R: ReceiverLaw> Receiver<R> {
    /// A receiver that answers to `to` once it is started.
    pub fn new(config: &Config, law: R, to: Address) -> Self {
        let player = config.player.as_ref().zip(config.video.as_ref());
        Self {
            law,
            to,
            player: player
                .map(|(player, video)| Box::new(Playing::new(player, video.interval(), video.count()))),
            attachment: None,
            feedback: config.feedback,
            gaps: Gaps::new(config.reorder),
            running: false,
            answers: Vec::new(),
        }
    }

    /// The same, as a member of a group that is known by name: it joins over the network, and speaks to the router it
    /// hangs from where its law speaks to the tree.
    pub fn attached(self, attachment: Attachment) -> Self {
        Self { attachment: Some(Box::new(attachment)), ..self }
    }

    /// The law.
    pub const fn law(&self) -> &R {
        &self.law
    }

    /// The law begins: the receiver is where the stream's packets come.
    fn begin(&mut self, cx: &mut Cx<'_>) {
        self.running = true;
        if let Some(capacity) = self.attachment.as_ref().and_then(|attachment| attachment.capacity()) {
            self.law.on_access(capacity);
        }
        self.law.on_start(&mut ReceiverCx::new(cx, &mut self.answers));
        if let Some(mode) = self.player.as_ref().and_then(|player| player.first_mode()) {
            self.law.on_mode(mode, &mut ReceiverCx::new(cx, &mut self.answers));
        }
    }

    #[inline]
    fn on_data(&mut self, packet: &Packet, header: StreamHeader, cx: &mut Cx<'_>) {
        let data = Arrival {
            seq: header.seq,
            size: packet.size(),
            bytes_before: header.bytes_before,
            sent_at: packet.sent_at,
            marked: packet.ecn == Ecn::Marked,
            label: packet.label,
        };
        let Self { law, gaps, answers, .. } = self;
        let place = gaps.arrived(data.seq, |first_missing, packets| {
            cx.count(Count::Missing, packets);
            law.on_loss(&Gap { first_missing, packets, before: data }, &mut ReceiverCx::new(cx, answers));
        });
        if place == Place::Old {
            return;
        }
        if data.marked {
            cx.count(Count::Marks, 1);
        }
        cx.deliver(data.size);
        law.on_data(&data, &mut ReceiverCx::new(cx, answers));
        if let Some(player) = &mut self.player
            && header.piece.frame_bytes > 0
        {
            player.on_piece(header.piece, packet.size_bytes, cx);
            self.change_mode(cx);
        }
    }

    /// Changes the mode of the scheme where the player's buffer says so.
    fn change_mode(&mut self, cx: &mut Cx<'_>) {
        let Self { player, law, answers, .. } = self;
        if let Some(mode) = player.as_mut().and_then(|player| player.next_mode(cx)) {
            law.on_mode(mode, &mut ReceiverCx::new(cx, answers));
        }
    }

    /// Sends one feedback packet for each answer.
    #[inline]
    fn answer(&mut self, cx: &mut Cx<'_>) {
        for answer in self.answers.drain(..) {
            let to = match (answer.toward, &self.attachment) {
                (Toward::Parent, Some(attachment)) => attachment.above(),
                _ => self.to,
            };
            cx.send(to.into(), self.feedback, Ecn::NotCapable, Header::Feedback, answer.label);
            cx.count(Count::Feedback, 1);
        }
    }
}

impl<R: ReceiverLaw> Endpoint for Receiver<R> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => {
                let probes = self.law.probes();
                match &mut self.attachment {
                    Some(attachment) => attachment.start(probes, cx),
                    None => self.begin(cx),
                }
            }
            Input::Stop => {
                if std::mem::replace(&mut self.running, false) {
                    self.law.on_stop(&mut ReceiverCx::new(cx, &mut self.answers));
                    if let Some(player) = &mut self.player {
                        player.on_stop(cx);
                    }
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
                (Header::Signal(signal), Some(attachment)) => {
                    if attachment.on_signal(&signal, packet.source, cx) {
                        self.begin(cx);
                    }
                }
                // on the tree already, and its law is not yet ready
                (Header::Stream(_), Some(_)) => {}
                _ => cx.count(Count::Ignored, 1),
            },
            Input::Timer => {
                if let Some(attachment) = &mut self.attachment
                    && attachment.on_timer(cx)
                {
                    self.begin(cx);
                }
                if self.running && self.law.wake() <= cx.now() {
                    self.law.on_timer(&mut ReceiverCx::new(cx, &mut self.answers));
                }
                if self.running
                    && let Some(player) = self.player.as_mut().filter(|player| player.wake() <= cx.now())
                {
                    player.on_timer(cx);
                    self.change_mode(cx);
                }
            }
            Input::Mode(_) if !self.running => {}
            Input::Mode(mode) => self.law.on_mode(mode, &mut ReceiverCx::new(cx, &mut self.answers)),
            Input::App(_) => {}
        }
        self.answer(cx);
    }

    #[inline]
    fn wake(&self) -> Time {
        let player = self.player.as_ref().map_or(Time::NEVER, |player| player.wake());
        let law = if self.running { self.law.wake().min(player) } else { Time::NEVER };
        self.attachment.as_ref().map_or(law, |attachment| law.min(attachment.wake()))
    }
}
