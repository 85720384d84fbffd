//! The two ends of the stream: the source sets the rate by the notifications of routers; receivers send nothing.

use contract::{
    Allowance, Arrival, Count, Cx, Feedback, Label, OutgoingPacket, ReceiverAlgorithm, ReceiverCx,
    SenderAlgorithm, Setup,
};
use units::{Rate, Time};

use super::{Params, mark};

/// The source's algorithm.
#[derive(Clone, Debug)]
pub struct Sender {
    params: Params,
    mark: u64,
    packet_bits: f64,
    /// In bit/s.
    rate: f64,
    /// A router sent a notification in this interval.
    cut: bool,
    next: Time,
}

impl Sender {
    /// The algorithm, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            params: params.clone(),
            mark: mark(params),
            packet_bits: setup.segment.as_f64() * 8.0,
            rate: params.initial_rate.as_bps_f64(),
            cut: false,
            next: Time::NEVER,
        }
    }
}

impl SenderAlgorithm for Sender {
    fn on_feedback(&mut self, feedback: &Feedback, cx: &mut Cx<'_>) {
        if feedback.label != Label([self.mark, 0, 0, 0]) {
            cx.count(Count::Ignored, 1);
            return;
        }
        if !self.cut {
            // R ← max(R_min, b_D·R), once per interval                                          [CJ89 §3]
            self.rate = (self.params.keep * self.rate).max(self.params.min_rate.as_bps_f64());
            self.cut = true;
            cx.count(Count::Episodes, 1);
        }
    }

    fn allowance(&self) -> Allowance {
        Allowance::rate(Rate::from_bps_f64(self.rate))
    }

    fn on_start(&mut self, cx: &mut Cx<'_>) {
        self.next = cx.now() + self.params.interval;
    }

    fn stamp(&mut self, _sending: &OutgoingPacket, _cx: &mut Cx<'_>) -> Label {
        Label([self.mark, 0, 0, 0])
    }

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        if cx.now() < self.next {
            return;
        }
        if !self.cut {
            // R ← R + a_I                                                                       [CJ89 §3]
            self.rate += self.params.increase * self.packet_bits / self.params.interval.as_secs_f64();
        }
        self.cut = false;
        self.next = cx.now() + self.params.interval;
    }

    fn wake(&self) -> Time {
        self.next
    }
}

/// The receiver's algorithm, which sends nothing.
#[derive(Clone, Debug)]
pub struct Receiver;

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, _data: &Arrival, _cx: &mut ReceiverCx<'_, '_>) {}
}
