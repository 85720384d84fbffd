//! Streams: paced data one way, small feedback the other. A scheme implements one trait at each end.

use ambassador::delegatable_trait;
use units::{Bytes, Rate, Time};

use crate::{Allowance, Cx, EndpointId, FeedbackTarget, Label};

/// A stream scheme's part at the source.
#[delegatable_trait]
pub trait SenderLaw {
    /// A receiver's word arrived.
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>);

    /// What is permitted now. The stream paces packets at its rate.
    fn allowance(&self) -> Allowance;

    /// The stream started.
    fn on_start(&mut self, _cx: &mut Cx<'_>) {}

    /// The scheme's header for the packet about to leave.
    fn stamp(&mut self, _sending: &Sending, _cx: &mut Cx<'_>) -> Label {
        Label::default()
    }

    /// The packet that just left took the last of the data: until the next one is stamped, the application limits the stream and
    /// not the law. Never told where the application always has data.
    fn on_idle(&mut self, _cx: &mut Cx<'_>) {}

    /// The deadline may have passed.
    fn on_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// When `on_timer` is wanted.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Change to the named mode, where the scheme has modes.
    fn on_mode(&mut self, _mode: &str, _cx: &mut Cx<'_>) {}
}

/// A stream scheme's part at a receiver.
#[delegatable_trait]
pub trait ReceiverLaw {
    /// A data packet arrived. Packets that were found missing before it were told to `on_loss` first.
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>);

    /// Consecutive packets are missing.
    fn on_loss(&mut self, _gap: &Gap, _cx: &mut ReceiverCx<'_, '_>) {}

    /// Whether the capacity of the access link is to be measured when the receiver joins, where the network can do so.
    fn probes(&self) -> bool {
        false
    }

    /// The capacity of the access link, measured once, before `on_start`.
    fn on_access(&mut self, _capacity: Rate) {}

    /// The receiver joined.
    fn on_start(&mut self, _cx: &mut ReceiverCx<'_, '_>) {}

    /// The deadline may have passed.
    fn on_timer(&mut self, _cx: &mut ReceiverCx<'_, '_>) {}

    /// When `on_timer` is wanted.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Change to the named mode, where the scheme has modes.
    fn on_mode(&mut self, _mode: &str, _cx: &mut ReceiverCx<'_, '_>) {}

    /// The receiver leaves: the last chance to speak.
    fn on_stop(&mut self, _cx: &mut ReceiverCx<'_, '_>) {}
}

/// A receiver's word, as its sender sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// Who speaks.
    pub from: EndpointId,
    /// When the word was sent.
    pub sent_at: Time,
    /// The scheme's own words.
    pub label: Label,
}

/// A packet about to leave.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sending {
    /// Its number, from 0.
    pub seq: u64,
    /// Its size on the wire.
    pub size: Bytes,
    /// Bytes sent before it.
    pub bytes_before: u64,
}

/// A data packet as its receiver sees it.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Its number, from 0.
    pub seq: u64,
    /// Its size on the wire.
    pub size: Bytes,
    /// Bytes its sender had sent before it.
    pub bytes_before: u64,
    /// When it was sent, by the sender's clock.
    pub sent_at: Time,
    /// The network marked it.
    pub marked: bool,
    /// The scheme's own words.
    pub label: Label,
}

/// Consecutive packets that did not arrive.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Number of the first missing.
    pub first_missing: u64,
    /// How many.
    pub packets: u64,
    /// The packet that revealed it.
    pub before: Arrival,
}

/// A receiver's context: [`Cx`], and the way to answer.
pub struct ReceiverCx<'a, 'b> {
    cx: &'a mut Cx<'b>,
    answers: &'a mut Vec<Answer>,
}

/// Feedback, to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Answer {
    /// To whom.
    pub target: FeedbackTarget,
    /// The scheme's own words.
    pub label: Label,
}

impl<'a, 'b> ReceiverCx<'a, 'b> {
    /// Made by the stream receiver around its own context; `answers` are the feedback packets to send.
    pub fn new(cx: &'a mut Cx<'b>, answers: &'a mut Vec<Answer>) -> Self {
        Self { cx, answers }
    }

    /// Sends `label` to the stream's sender.
    pub fn feedback(&mut self, label: Label) {
        self.answers.push(Answer { target: FeedbackTarget::Source, label });
    }

    /// Sends `label` to the next tree node above, whose part of the scheme may fold it into what others say; to the stream's
    /// sender, where the network has no such nodes.
    pub fn report(&mut self, label: Label) {
        self.answers.push(Answer { target: FeedbackTarget::Parent, label });
    }
}

impl<'b> std::ops::Deref for ReceiverCx<'_, 'b> {
    type Target = Cx<'b>;
    fn deref(&self) -> &Cx<'b> {
        self.cx
    }
}

impl<'b> std::ops::DerefMut for ReceiverCx<'_, 'b> {
    fn deref_mut(&mut self) -> &mut Cx<'b> {
        self.cx
    }
}
