//! CVIHIS at the receiver: the area of the current delay, and the resulting command. It answers every packet.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::{Duration, Time};

use super::delays::Delays;
use super::headers::{Answer, Command, DataHeader};
use crate::cvihis::{Cadence, Mode, Params};
use crate::shared::{Order, Place};

/// The receiver's part [CVIHIS §3.2, §3.3]. Constant state, no timers.
#[derive(Clone, Debug)]
pub struct Receiver {
    params: Box<Params>,
    /// The mode in the newest data packet.
    mode: Mode,
    delays: Delays,
    order: Order,
    /// Packets were lost since the last answer.
    lost: bool,
    pushed_at: Option<Time>,
}

impl Receiver {
    /// A receiver.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            mode: params.mode,
            delays: Delays::new(params),
            order: Order::default(),
            lost: false,
            pushed_at: None,
            params: Box::new(params.clone()),
        }
    }

    /// Pushes minDelay if the mode has pushes and `command` reduces the rate.
    fn push(&mut self, command: Command, header: &DataHeader, now: Time) {
        let factor = match self.mode {
            Mode::RealTime => self.params.push,
            Mode::Background => self.params.background_push,
        };
        // differs: the paper pushes continuously, but only when competing is needed, and gives no details
        let slows = matches!(command, Command::DownFar | Command::Down | Command::DownGradient);
        if factor == 1.0 || !slows || self.delays.max().is_none() {
            return;
        }
        let span = match self.params.push_every {
            Cadence::Packet => Duration::ZERO,
            Cadence::Step => Duration::from_secs_f64(header.srtt.as_secs_f64().sqrt()),
            Cadence::Rtt => header.srtt,
        };
        if self.pushed_at.is_none_or(|at| now.saturating_since(at) >= span) {
            self.delays.push(factor, header.rtt_min.unwrap_or(self.params.initial_rtt));
            self.pushed_at = Some(now);
        }
    }

    fn probe(&self, command: Command, cx: &mut ReceiverCx<'_, '_>) {
        cx.probe("command", command.number() as f64);
        cx.probe("min_delay", self.delays.min() as f64 / 1e9);
        if let Some(max) = self.delays.max() {
            cx.probe("max_delay", max as f64 / 1e9);
            if self.delays.full().unwrap_or(max) > self.delays.min() {
                cx.probe("position", self.delays.position());
            }
        }
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_loss(&mut self, gap: &Gap, _cx: &mut ReceiverCx<'_, '_>) {
        self.delays.on_loss();
        self.order.lost(gap);
        self.lost = true;
    }

    /// The loss was none: the delay space is that before it. The rate recovers by itself.
    fn on_late(&mut self, _data: &Arrival, _cx: &mut ReceiverCx<'_, '_>) {
        self.delays.on_late();
    }

    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(header) = DataHeader::decode(data.label) else {
            cx.count(Count::Ignored, 1);
            return;
        };
        if header.mode != self.mode {
            self.mode = header.mode;
            self.delays.switch(self.mode);
            cx.event("mode", f64::from(u8::from(self.mode == Mode::RealTime)));
        }
        let raw = cx.now().as_nanos().wrapping_sub(data.sent_at.as_nanos()) as i64;
        // a clock offset of centuries is an error, and sums of delays must not overflow
        let raw = raw.clamp(-FARTHEST, FARTHEST);
        let place = self.order.take(data.seq);
        self.delays.on_departure(data.seq, data.sent_at);
        // a packet that overtook others which are not lost did not wait in their queue: it has no delay of the path
        let overtook = place == Place::Overtaking;
        let chosen = match overtook {
            true => self.delays.on_overtaking(),
            false => self.delays.on_packet(data.seq, raw),
        };
        let command = if std::mem::take(&mut self.lost) { Command::Decrease } else { chosen };
        if cx.probing() {
            self.probe(command, cx);
        }
        if !overtook {
            self.push(command, &header, cx.now());
        }
        cx.feedback(Answer { command, echo: data.sent_at }.encode());
    }

    fn on_start(&mut self, _cx: &mut ReceiverCx<'_, '_>) {
        (self.mode, self.delays) = (self.params.mode, Delays::new(&self.params));
        (self.order, self.lost, self.pushed_at) = (Order::default(), false, None);
    }
}

/// Maximum clock offset in nanoseconds: 36 years.
const FARTHEST: i64 = i64::MAX / 8;
