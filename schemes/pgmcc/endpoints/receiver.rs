//! PGMCC at a receiver: measures losses, acknowledges while it is the acker, and otherwise reports losses only.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::Time;

use super::headers::{AckerField, DataHeader, PacketRange, ReceiverReport, ReportKind};
use super::loss::LossRate;
use super::naks::{Due, Naks};
use crate::pgmcc::Params;

/// The receiver's part [PGMCC]. Constant state.
#[derive(Clone, Debug)]
pub struct Receiver {
    loss: LossRate,
    naks: Naks,
    newest: Option<Newest>,
    /// Received packets among the newest and the 31 before; bit 0 is the newest. Packets sent before the first received
    /// one count as received.
    bitmap: u32,
}

/// The data packet with the highest number.
#[derive(Clone, Copy, Debug)]
struct Newest {
    seq: u64,
    sent_at: Time,
    arrived_at: Time,
    /// Whether it names this receiver as acker.
    names_me: bool,
}

impl Newest {
    /// Its departure time plus the time since its arrival.
    fn echo(&self, now: Time) -> Time {
        self.sent_at + now.saturating_since(self.arrived_at)
    }
}

impl Receiver {
    /// A receiver that has received nothing.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            loss: LossRate::new(params.loss_gain),
            naks: Naks::new(params.nak_delay),
            newest: None,
            bitmap: u32::MAX,
        }
    }

    /// Records a packet. Returns whether it is the newest.
    #[inline]
    fn note(&mut self, data: &Arrival, names_me: bool, now: Time) -> bool {
        let ahead = self.newest.map(|newest| data.seq.wrapping_sub(newest.seq) as i64);
        if let Some(ahead) = ahead.filter(|ahead| *ahead <= 0) {
            self.bitmap |= 1u32.checked_shl(ahead.unsigned_abs().min(32) as u32).unwrap_or(0);
            return false;
        }
        self.bitmap = match ahead {
            Some(ahead) => self.bitmap.checked_shl(ahead.min(32) as u32).unwrap_or(0) | 1,
            None => u32::MAX,
        };
        self.newest = Some(Newest { seq: data.seq, sent_at: data.sent_at, arrived_at: now, names_me });
        true
    }

    fn send_report(&self, kind: ReportKind, echo: Time, cx: &mut ReceiverCx<'_, '_>) {
        cx.feedback(ReceiverReport { echo, p: self.loss.reported(), kind }.encode());
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        self.loss.arrived();
        cx.probe("loss_rate", f64::from(self.loss.reported()) / 65536.0);
        let Some(stamp) = DataHeader::decode(data.label) else { return };
        let names_me = stamp.acker == AckerField::Acker(cx.me().endpoint);
        let newest = self.note(data, names_me, cx.now());
        if let Some(run) = stamp.confirmed {
            let confirmed = self.naks.confirmed(&run);
            cx.count(Count::Suppressed, confirmed as u64);
        }
        if newest {
            match stamp.acker {
                AckerField::Elect => {
                    let now = cx.now();
                    self.naks.elect(now, cx.random());
                }
                AckerField::Acker(_) if self.naks.elected() => cx.count(Count::Suppressed, 1),
                AckerField::Acker(_) => {}
            }
        }
        if let Some(newest) = self.newest.filter(|_| names_me) {
            let kind = ReportKind::Ack { newest: newest.seq, bitmap: self.bitmap, leaving: false };
            self.send_report(kind, data.sent_at, cx);
        }
    }

    fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
        self.loss.lost(gap.packets);
        let packets = u32::try_from(gap.packets).unwrap_or(u32::MAX).max(1);
        let now = cx.now();
        if !self.naks.missing(PacketRange { first: gap.first_missing, packets }, now, cx.random()) {
            cx.count(Count::Suppressed, 1);
        }
    }

    fn on_timer(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        let now = cx.now();
        while let Some(due) = self.naks.due(now) {
            let Some(newest) = self.newest else { continue };
            let kind = match due {
                Due::Nak(run) => ReportKind::Nak(run),
                Due::Dummy => ReportKind::Dummy,
            };
            self.send_report(kind, newest.echo(now), cx);
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.naks.next()
    }

    fn on_stop(&mut self, cx: &mut ReceiverCx<'_, '_>) {
        if let Some(newest) = self.newest.filter(|newest| newest.names_me) {
            let kind = ReportKind::Ack { newest: newest.seq, bitmap: self.bitmap, leaving: true };
            self.send_report(kind, newest.echo(cx.now()), cx);
        }
    }
}
