//! SRMCC at a receiver: sends once per cycle the capacity of its access link and the age of the data.

use contract::{Arrival, Count, ReceiverAlgorithm, ReceiverCx};
use units::{Rate, Time};

use crate::srmcc::headers::{Header, Mcc};

/// The receiver's part [SRMCC §3.2]. It measures only its access link, once.
#[derive(Clone, Debug)]
pub struct Receiver {
    /// C_access; unlimited if the network could not measure it.
    c_access: Rate,
    newest: Option<Newest>,
    /// Time of its last message.
    last_report: Time,
}

/// The newest data packet.
#[derive(Clone, Copy, Debug)]
struct Newest {
    header: Header,
    sent_at: Time,
    arrived_at: Time,
}

impl Receiver {
    /// A receiver without a measurement of its access link.
    pub(crate) const fn new() -> Self {
        Self { c_access: Rate::UNLIMITED, newest: None, last_report: Time::ZERO }
    }

    /// Sends an MCC to its tree node.
    fn send_mcc(&mut self, newest: &Newest, cx: &mut ReceiverCx<'_, '_>) {
        let held = cx.now() - newest.arrived_at;
        self.last_report = cx.now();
        // Min fair = C_access, Max qocc = 0, Min qocc = 1                             [SRMCC §3.2]
        let mcc = Mcc {
            min_fair: self.c_access,
            max_qocc: 0.0,
            min_qocc: 1.0,
            round: newest.header.round,
            t_echo: newest.sent_at + held,
            t_adapt: newest.header.t_adapt,
        };
        cx.report(mcc.encode());
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(header) = Header::decode(data.label) else { return cx.count(Count::Ignored, 1) };
        let first = self.newest.is_none();
        // a packet out of order contains nothing new
        if self.newest.is_some_and(|newest| newest.sent_at > data.sent_at) {
            return;
        }
        let newest = Newest { header, sent_at: data.sent_at, arrived_at: cx.now() };
        self.newest = Some(newest);
        if first {
            self.send_mcc(&newest, cx);
        }
    }

    fn probes(&self) -> bool {
        true
    }

    fn on_access(&mut self, capacity: Rate) {
        self.c_access = capacity.max(Rate::from_bps(1));
    }

    fn on_start(&mut self, _cx: &mut ReceiverCx<'_, '_>) {
        self.newest = None;
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if let Some(newest) = self.newest
            && self.wake() <= cx.now()
        {
            self.send_mcc(&newest, cx);
        }
    }

    fn wake(&self) -> Time {
        self.newest.map_or(Time::NEVER, |newest| self.last_report + newest.header.t_adapt)
    }
}
