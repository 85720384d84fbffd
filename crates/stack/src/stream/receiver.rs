//! A receiver of a stream: finds missing packets, gives its law what arrives, and sends what the law answers.

use contract::{
    Address, Answer, Arrival, Count, Cx, Ecn, Endpoint, Gap, Header, Input, Packet, ReceiverCx, ReceiverLaw,
    StreamHeader,
};
use units::{Bytes, Time};

use super::Config;
use super::gaps::{Gaps, Place};

/// A receiver of a stream. The first packet after joining sets the number that is expected.
///
/// The law hears of missing packets before the packet that revealed them, and of every packet at most once; numbers may go
/// back by what `reorder` allows. A packet that comes after it was given up is dropped in silence, like a copy.
#[derive(Clone, Debug)]
pub struct Receiver<R> {
    law: R,
    to: Address,
    feedback: Bytes,
    gaps: Gaps,
    running: bool,
    /// What the law answers to one input; kept so that answering allocates nothing.
    answers: Vec<Answer>,
}

impl<R: ReceiverLaw> Receiver<R> {
    /// A receiver that answers to `to` once it is started.
    pub fn new(config: &Config, law: R, to: Address) -> Self {
        Self {
            law,
            to,
            feedback: config.feedback,
            gaps: Gaps::new(config.reorder),
            running: false,
            answers: Vec::new(),
        }
    }

    /// The law.
    pub const fn law(&self) -> &R {
        &self.law
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
    }

    /// Sends one feedback packet for each answer.
    #[inline]
    fn answer(&mut self, cx: &mut Cx<'_>) {
        for answer in self.answers.drain(..) {
            cx.send(self.to.into(), self.feedback, Ecn::NotCapable, Header::Feedback, answer.label);
            cx.count(Count::Feedback, 1);
        }
    }
}

impl<R: ReceiverLaw> Endpoint for Receiver<R> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => {
                self.running = true;
                self.law.on_start(&mut ReceiverCx::new(cx, &mut self.answers));
            }
            _ if !self.running => {}
            Input::Stop => {
                self.running = false;
                self.law.on_stop(&mut ReceiverCx::new(cx, &mut self.answers));
            }
            Input::Packet(packet) => match packet.header {
                Header::Stream(header) if packet.flow == cx.flow() => self.on_data(packet, header, cx),
                _ => cx.count(Count::Ignored, 1),
            },
            Input::Timer => {
                if self.law.wake() <= cx.now() {
                    self.law.on_timer(&mut ReceiverCx::new(cx, &mut self.answers));
                }
            }
            Input::Mode(mode) => self.law.on_mode(mode, &mut ReceiverCx::new(cx, &mut self.answers)),
            Input::App(_) => {}
        }
        self.answer(cx);
    }

    #[inline]
    fn wake(&self) -> Time {
        if self.running { self.law.wake() } else { Time::NEVER }
    }
}
