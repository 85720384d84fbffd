//! Stream schemes as congestion control: the sender's and the receiver's part at one end, which learns arrivals from
//! acknowledgements.

use std::collections::VecDeque;

use contract::{
    Ack, Address, Allowance, Arrival, Cause, Congestion, CongestionControl, Cx, Feedback, Gap, Label,
    OutgoingFeedback, OutgoingPacket, ReceiverAlgorithm, ReceiverCx, SenderAlgorithm, Sent,
};
use units::{Bytes, Duration, Time};

/// Both parts of a stream scheme at the sender.
///
/// A packet that is acknowledged has arrived, at the instant `sent + delay`, where the delay is [`Ack::delay`]: a
/// round-trip time in QUIC. Lost packets are passed to the receiver's part when they are detected. Its feedback reaches
/// the sender's part at once.
#[derive(Clone, Debug)]
pub struct AtSender<S, R> {
    sender: S,
    receiver: R,
    /// Packets in flight, in order.
    out: VecDeque<Departure>,
    seq: u64,
    bytes_before: u64,
    /// The newest arrival, and when it was.
    newest: Option<(Arrival, Time)>,
    outgoing: Vec<OutgoingFeedback>,
    started: bool,
    idle: bool,
}

#[derive(Clone, Copy, Debug)]
struct Departure {
    sent_at: Time,
    seq: u64,
    size: Bytes,
    bytes_before: u64,
    label: Label,
    arrived: bool,
}

impl<S: SenderAlgorithm, R: ReceiverAlgorithm> AtSender<S, R> {
    /// Both parts of a scheme, before its start.
    pub fn new(sender: S, receiver: R) -> Self {
        Self {
            sender,
            receiver,
            out: VecDeque::new(),
            seq: 0,
            bytes_before: 0,
            newest: None,
            outgoing: Vec::new(),
            started: false,
            idle: false,
        }
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        if !self.started {
            self.started = true;
            self.sender.on_start(cx);
            self.receive(cx, |receiver, cx| receiver.on_start(cx));
        }
    }

    /// Runs the receiver's part, and passes its feedback to the sender's.
    fn receive(&mut self, cx: &mut Cx<'_>, call: impl FnOnce(&mut R, &mut ReceiverCx<'_, '_>)) {
        self.receive_at(cx.now(), cx, call);
    }

    /// Runs the receiver's part with its clock at `arrived_at`.
    fn receive_at(
        &mut self,
        arrived_at: Time,
        cx: &mut Cx<'_>,
        call: impl FnOnce(&mut R, &mut ReceiverCx<'_, '_>),
    ) {
        call(&mut self.receiver, &mut ReceiverCx::new(&mut cx.at(arrived_at), &mut self.outgoing));
        let Address { endpoint: from, .. } = cx.me();
        for answer in self.outgoing.drain(..) {
            self.sender.on_feedback(&Feedback { from, sent_at: arrived_at, label: answer.label }, cx);
        }
    }

    /// The oldest packet in flight that left at `sent_at`; it arrives now. Packets before it stay: they are late or
    /// lost.
    fn take(&mut self, sent_at: Time) -> Option<Departure> {
        let first = self.out.partition_point(|packet| packet.sent_at < sent_at);
        let found = self.out.range_mut(first..).find(|packet| !packet.arrived)?;
        if found.sent_at != sent_at {
            return None;
        }
        found.arrived = true;
        let found = *found;
        self.forget();
        Some(found)
    }

    fn forget(&mut self) {
        while self.out.front().is_some_and(|packet| packet.arrived) {
            self.out.pop_front();
        }
    }
}

impl<S: SenderAlgorithm, R: ReceiverAlgorithm> CongestionControl for AtSender<S, R> {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        self.start(cx);
        if ack.app_limited && !self.idle {
            self.sender.on_idle(cx);
        }
        self.idle = ack.app_limited;
        let Some(packet) = self.take(ack.sent_at) else { return };
        let before = self.newest.map_or(Time::ZERO, |(_, at)| at);
        let arrived_at = if ack.ack_sent_at == Time::NEVER { cx.now() } else { ack.ack_sent_at }.max(before);
        let arrival = Arrival {
            seq: packet.seq,
            size: packet.size,
            bytes_before: packet.bytes_before,
            sent_at: packet.sent_at,
            marked: ack.marked,
            label: packet.label,
        };
        self.newest = Some((arrival, arrived_at));
        self.receive_at(arrived_at, cx, |receiver, cx| receiver.on_data(&arrival, cx));
    }

    /// The oldest packets in flight are lost, until their bytes add up to the bytes of the event. A mark counts as the
    /// loss of the newest packet that arrived [RFC3168 §5].
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        self.start(cx);
        if event.cause == Cause::Mark
            && let Some((before, _)) = self.newest
        {
            let gap = Gap { first_missing: before.seq, packets: 1, before };
            return self.receive(cx, |receiver, cx| receiver.on_loss(&gap, cx));
        }
        let (mut lost, mut first_missing, mut packets) = (Bytes::ZERO, None, 0);
        for packet in &mut self.out {
            if lost >= event.bytes {
                break;
            }
            if !packet.arrived {
                packet.arrived = true;
                lost += packet.size;
                packets += 1;
                first_missing.get_or_insert(packet.seq);
            }
        }
        self.forget();
        let (Some(first_missing), Some((before, _))) = (first_missing, self.newest) else { return };
        let gap = Gap { first_missing, packets, before };
        self.receive(cx, |receiver, cx| receiver.on_loss(&gap, cx));
    }

    fn allowance(&self) -> Allowance {
        self.sender.allowance()
    }

    fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        self.start(cx);
        // what the path lost long ago and quinn never reported, such as packets with acknowledgements only
        while self.out.front().is_some_and(|old| cx.now().saturating_since(old.sent_at) > FORGOTTEN_AFTER) {
            self.out.pop_front();
        }
        self.idle &= sent.app_limited;
        let sending = OutgoingPacket { seq: self.seq, size: sent.bytes, bytes_before: self.bytes_before };
        let label = self.sender.stamp(&sending, cx);
        let OutgoingPacket { seq, size, bytes_before } = sending;
        self.out.push_back(Departure { sent_at: cx.now(), seq, size, bytes_before, label, arrived: false });
        self.seq += 1;
        self.bytes_before += size.as_u64();
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if self.sender.wake() <= cx.now() {
            self.sender.on_timer(cx);
        }
        if self.receiver.wake() <= cx.now() {
            self.receive(cx, |receiver, cx| receiver.on_timer(cx));
        }
    }

    fn wake(&self) -> Time {
        self.sender.wake().min(self.receiver.wake())
    }
}

/// Packets that are neither acknowledged nor lost after this time are not waited for.
const FORGOTTEN_AFTER: Duration = Duration::from_secs(30);
