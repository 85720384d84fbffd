//! Streams: paced data one way, small feedback the other. A scheme implements one trait at each end.

use ambassador::delegatable_trait;
use units::{Bytes, Duration, Rate, Time};

use crate::{Allowance, Cx, EndpointId, FeedbackTarget, Label};

/// A stream scheme's part at the source.
#[delegatable_trait]
pub trait SenderAlgorithm {
    /// Feedback of a receiver arrived.
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>);

    /// The current rate. The stream paces packets at it.
    fn allowance(&self) -> Allowance;

    /// The rate at which a live encoder is to produce frames, headers of packets included. It differs from the pacing
    /// rate where the scheme empties the queue of frames faster than the encoder fills it.
    fn media_rate(&self) -> Rate {
        self.allowance().rate
    }

    /// The encoder that follows [`Self::media_rate`] produced a frame, which waits in the RTP queue. Never called for
    /// other data.
    fn on_frame(&mut self, _frame: &EncodedFrame, _cx: &mut Cx<'_>) {}

    /// Whether packets of an ECN-capable stream identify as L4S: ECT(1) instead of ECT(0) [RFC9331 §4.1]. Read once,
    /// when the stream is made.
    fn l4s(&self) -> bool {
        false
    }

    /// The stream started.
    fn on_start(&mut self, _cx: &mut Cx<'_>) {}

    /// The scheme's header for the packet about to leave.
    fn stamp(&mut self, _sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        Label::default()
    }

    /// Whether the scheme sends control packets. If false when the stream is made, [`Self::control`] is never called.
    /// Such packets must not queue, so the network needs a class for them.
    fn out_of_band(&self) -> bool {
        false
    }

    /// The scheme's header for a control packet without data, which leaves at once; `None` for no packet. Called after
    /// each data packet. `after` has the number of the next data packet, and the bytes sent before it.
    fn control(&mut self, _after: &OutgoingPacket, _cx: &mut Cx<'_>) -> Option<Label> {
        None
    }

    /// The packet that was just sent took the last available data: until the next packet, the application limits the
    /// stream. Never called if the application always has data.
    fn on_idle(&mut self, _cx: &mut Cx<'_>) {}

    /// A deadline can have expired.
    fn on_timer(&mut self, _cx: &mut Cx<'_>) {}

    /// The next deadline, at which `on_timer` is called.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Change to the named mode, where the scheme has modes.
    fn on_mode(&mut self, _mode: &str, _cx: &mut Cx<'_>) {}
}

/// A stream scheme's part at a receiver.
#[delegatable_trait]
pub trait ReceiverAlgorithm {
    /// A data packet arrived. Losses that it reveals are passed to `on_loss` first.
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>);

    /// A control packet of the source arrived. It has the number, and the number of bytes before it, of the data packet
    /// that the source sent next.
    fn on_control(&mut self, _control: &Arrival, _cx: &mut ReceiverCx<'_, '_>) {}

    /// Consecutive packets are lost.
    fn on_loss(&mut self, _gap: &Gap, _cx: &mut ReceiverCx<'_, '_>) {}

    /// A data packet arrived that `on_loss` had declared lost: it was overtaken, and the loss was none. `on_data` is
    /// not called for it.
    fn on_late(&mut self, _data: &Arrival, _cx: &mut ReceiverCx<'_, '_>) {}

    /// Whether to measure the capacity of the access link when the receiver joins, if the network supports it.
    fn probes(&self) -> bool {
        false
    }

    /// The capacity of the access link, measured once, before `on_start`.
    fn on_access(&mut self, _capacity: Rate) {}

    /// The receiver joined.
    fn on_start(&mut self, _cx: &mut ReceiverCx<'_, '_>) {}

    /// A deadline can have expired.
    fn on_timer(&mut self, _cx: &mut ReceiverCx<'_, '_>) {}

    /// The next deadline, at which `on_timer` is called.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// Change to the named mode, where the scheme has modes.
    fn on_mode(&mut self, _mode: &str, _cx: &mut ReceiverCx<'_, '_>) {}

    /// The receiver leaves: the last opportunity to send.
    fn on_stop(&mut self, _cx: &mut ReceiverCx<'_, '_>) {}
}

/// Feedback at the sender.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Feedback {
    /// The receiver.
    pub from: EndpointId,
    /// The send time.
    pub sent_at: Time,
    /// The scheme's label.
    pub label: Label,
}

/// A frame that an encoder just produced.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct EncodedFrame {
    /// Its size on the wire, headers of its packets included.
    pub size: Bytes,
    /// Bytes that wait in the RTP queue, this frame included.
    pub queued: Bytes,
    /// Age of the oldest packet in the RTP queue: time since its frame was encoded.
    pub waited: Duration,
    /// Time between two frames.
    pub interval: Duration,
    /// Lowest rate of the encoder.
    pub min: Rate,
    /// Highest rate of the encoder.
    pub max: Rate,
}

/// A packet that is about to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingPacket {
    /// Its number, from 0.
    pub seq: u64,
    /// Its size on the wire.
    pub size: Bytes,
    /// Bytes sent before it.
    pub bytes_before: u64,
}

/// A data packet at its receiver.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Arrival {
    /// Its number, from 0.
    pub seq: u64,
    /// Its size on the wire.
    pub size: Bytes,
    /// Bytes its sender had sent before it.
    pub bytes_before: u64,
    /// Send time, by the sender's clock.
    pub sent_at: Time,
    /// Whether it is marked.
    pub marked: bool,
    /// The scheme's label.
    pub label: Label,
}

/// Consecutive lost packets.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Gap {
    /// Number of the first missing.
    pub first_missing: u64,
    /// Number of lost packets.
    pub packets: u64,
    /// The packet with a higher number at whose arrival the gap counts as lost: the first one, or a later one if
    /// packets are waited for.
    pub before: Arrival,
}

/// A receiver's context: [`Cx`], and feedback.
pub struct ReceiverCx<'a, 'b> {
    cx: &'a mut Cx<'b>,
    outgoing: &'a mut Vec<OutgoingFeedback>,
}

/// Feedback, to be sent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OutgoingFeedback {
    /// The destination.
    pub target: FeedbackTarget,
    /// The scheme's label.
    pub label: Label,
}

impl<'a, 'b> ReceiverCx<'a, 'b> {
    /// Constructor for the stream receiver; `outgoing` are the feedback packets to send.
    pub fn new(cx: &'a mut Cx<'b>, outgoing: &'a mut Vec<OutgoingFeedback>) -> Self {
        Self { cx, outgoing }
    }

    /// Sends `label` to the stream's sender.
    pub fn feedback(&mut self, label: Label) {
        self.outgoing.push(OutgoingFeedback { target: FeedbackTarget::Source, label });
    }

    /// Sends `label` to the parent tree node, whose part of the scheme can aggregate it; to the stream's sender, if the
    /// network has no such nodes.
    pub fn report(&mut self, label: Label) {
        self.outgoing.push(OutgoingFeedback { target: FeedbackTarget::Parent, label });
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
