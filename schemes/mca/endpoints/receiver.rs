//! MCA at a receiver: detects congestion, measures its rate, and sends indications unless the representative is slower.

use contract::{Arrival, Count, Gap, ReceiverAlgorithm, ReceiverCx};
use units::{Bytes, Duration, Time};

use super::accumulation::{Accumulation, Arrivals, Finding};
use super::average::{Average, Frequency};
use super::headers::{Announcement, Indication, Kind};
use crate::mca::{Cadence, Form, Params};
use crate::shared::{Order, Place, ReceiveRate};

/// The receiver's part [MCA §3.2]. Constant state, no timers.
#[derive(Clone, Debug)]
pub struct Receiver {
    cadence: Cadence,
    k_rx: f64,
    rate_window: Duration,
    trac_packets: u64,
    accumulation: Accumulation,
    /// Arrivals since the expected arrival of the last control packet, if the accumulation counts them.
    arrivals: Option<Arrivals>,
    /// The accumulation before the last loss, to be restored if the packet was only late.
    before_loss: Option<Box<Accumulation>>,
    order: Order,
    arriving: ReceiveRate,
    /// Highest number received.
    newest: u64,
    /// Number of the last packet that was counted.
    last_counted: Option<u64>,
    /// Bytes of the source up to the end of the newest received packet.
    arrived_bytes: u64,
    announced: Announcement,
    /// It counts from the first data packet on.
    f: Frequency,
    g: Average,
    trac: Average,
}

impl Receiver {
    /// A receiver of packets of size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            cadence: params.indication,
            k_rx: params.k_rx,
            rate_window: params.rate_window,
            trac_packets: u64::from(params.trac_packets),
            accumulation: Accumulation::new(params, packet),
            arrivals: (params.accumulation == Form::Bytes).then(Arrivals::default),
            before_loss: None,
            order: Order::default(),
            arriving: ReceiveRate::new(),
            newest: 0,
            last_counted: None,
            arrived_bytes: 0,
            announced: Announcement { representative: None, u: 0.0, d: 0.0, srtt: params.initial_rtt },
            f: Frequency::new(params),
            g: Average::new(params.g_gain, params.first_deviation, params.g_deviation),
            trac: Average::new(params.trac_gain, params.first_deviation, params.trac_deviation),
        }
    }

    /// Counts a packet once.
    #[inline]
    fn note(&mut self, data: &Arrival, now: Time) {
        if self.last_counted == Some(data.seq) {
            return;
        }
        if self.last_counted.is_none() {
            self.f.start(data.seq);
        }
        self.last_counted = Some(data.seq);
        self.newest = self.newest.max(data.seq);
        self.arrived_bytes = self.arrived_bytes.max(data.bytes_before.saturating_add(data.size.as_u64()));
        self.count_arrival(now, data.size);
    }

    fn count_arrival(&mut self, now: Time, size: Bytes) {
        self.arriving.record(now, size, self.announced.srtt.max(self.rate_window));
        if let Some(arrivals) = &mut self.arrivals {
            arrivals.add(now, size);
        }
    }

    /// Handles congestion that a packet sent at `trigger_sent_at` revealed: sends an indication or suppresses it, at
    /// once.
    fn indicate(&mut self, kind: Kind, trigger_sent_at: Time, cx: &mut ReceiverCx<'_, '_>) {
        // f = indications ÷ packets sent by the source                              [MCA §3.1.3]
        let f = self.f.add(self.newest);
        let Some(trac) = self.arriving.rate_over(self.announced.srtt, self.trac_packets) else { return };
        // G-TRAC = TRAC·(1 − f)                                                     [MCA §3.1.3]
        self.g.add(trac * (1.0 - f));
        self.trac.add(trac);
        let (g, trac) = (self.g.values(), self.trac.values());
        cx.probe("g_trac", g.0);
        cx.probe("trac", trac.0);

        // suppressed while ḡ ≥ U − k_rx·D
        // differs: the paper suppresses above U itself; see k_rx
        let threshold = self.announced.u - self.k_rx * self.announced.d;
        let indicates = match self.announced.representative {
            None => true,
            Some(endpoint) => endpoint == cx.me().endpoint || g.0 < threshold,
        };
        if kind == Kind::Loss {
            cx.event("indication_loss", f64::from(u8::from(indicates)));
        }
        if indicates {
            cx.feedback(Indication { kind, trigger_sent_at, g, trac }.encode());
        } else {
            cx.count(Count::Suppressed, 1);
        }
    }
}

impl ReceiverAlgorithm for Receiver {
    fn on_data(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        self.note(data, cx.now());
        let place = self.order.take(data.seq);
        let Some(announced) = Announcement::decode(data.label) else { return };
        if place != Place::Behind {
            self.announced = announced;
        }
        if place == Place::Overtaking {
            // it has not waited where the bytes before it wait, and would move the baseline
            return;
        }
        let rate_bps = || self.arriving.rate_over(announced.srtt.max(self.rate_window), 1).unwrap_or(0.0);
        let counted = |expected| self.arrivals.as_mut().map_or(0.0, |arrivals| arrivals.after(expected));
        let finding = self.accumulation.on_control(data.sent_at, cx.now(), rate_bps, counted);
        cx.probe("baseline", self.accumulation.baseline_ns().map_or(0.0, |ns| ns as f64 / 1e9));
        self.report_finding(finding, data.sent_at, cx);
    }

    /// The loss was none, and the packet that overtook may have moved the baseline.
    fn on_late(&mut self, data: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        self.count_arrival(cx.now(), data.size);
        if let Some(before) = self.before_loss.take() {
            self.accumulation = *before;
        }
    }

    fn on_control(&mut self, control: &Arrival, cx: &mut ReceiverCx<'_, '_>) {
        let Some(announced) = Announcement::decode(control.label) else { return };
        self.announced = announced;
        // counting starts at the first data packet
        if self.last_counted.is_some() {
            let finding =
                self.accumulation.on_overtaking(control.bytes_before.saturating_sub(self.arrived_bytes));
            self.report_finding(finding, control.sent_at, cx);
        }
    }

    fn on_loss(&mut self, gap: &Gap, cx: &mut ReceiverCx<'_, '_>) {
        self.note(&gap.before, cx.now());
        self.order.lost(gap);
        match &mut self.before_loss {
            Some(before) => (**before).clone_from(&self.accumulation),
            None => self.before_loss = Some(Box::new(self.accumulation.clone())),
        }
        // one indication for consecutive losses                                     [MCA §3.1.3]
        self.indicate(Kind::Loss, gap.before.sent_at, cx);
    }
}

impl Receiver {
    /// Handles the result of a control packet sent at `trigger_sent_at`: records it, and indicates congestion.
    fn report_finding(&mut self, finding: Finding, trigger_sent_at: Time, cx: &mut ReceiverCx<'_, '_>) {
        cx.probe("accumulation", self.accumulation.bytes());
        match finding {
            Finding::Begins => {
                self.f.begin_epoch(self.newest);
                cx.event("congestion_begins", self.accumulation.bytes());
            }
            Finding::Ends => cx.event("congestion_ends", self.accumulation.bytes()),
            Finding::Clear | Finding::GoesOn => {}
        }
        let indicated = match self.cadence {
            Cadence::PerControlPacket => matches!(finding, Finding::Begins | Finding::GoesOn),
            Cadence::PerEpoch => finding == Finding::Begins,
        };
        if indicated {
            self.indicate(Kind::Accumulation, trigger_sent_at, cx);
        }
    }
}
