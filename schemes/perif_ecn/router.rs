//! PerIfwithECN in a router: measures the rate of each group on each interface, and sends a notification when a queue
//! is too long.

use contract::{Backlog, GroupId, Header, Packet, PortView, RouterAlgorithm, RouterCx, TransitCx};
use units::{Bytes, Duration, Time};

use super::Params;
use super::headers::{FeedbackMessage, Notify, mark};

/// The router's part [MF]. Memory grows with the number of interfaces and groups, not of packets.
#[derive(Clone, Debug)]
pub struct Router {
    mark: u64,
    threshold: f64,
    keep: f64,
    bin: Duration,
    meter_gain: f64,
    spacing: Duration,
    ports: Slots,
    groups: Slots,
    /// By number of the interface, then of the group.
    meters: Vec<Vec<Meter>>,
    /// Notifications to be sent at once.
    pending: Vec<(GroupId, Notify)>,
    /// Time of the last of them.
    found_at: Time,
}

/// Dense numbers for ids, in the order of their first use.
#[derive(Clone, Debug, Default)]
struct Slots {
    /// By id: its number plus one; zero for unknown ids.
    by_id: Vec<u32>,
    count: u32,
}

/// The smoothed rate of a group on an interface, measured in bins.
#[derive(Clone, Debug, Default)]
struct Meter {
    /// Start of the current bin; `None` before the first packet.
    bin_start: Option<Time>,
    bits: u64,
    /// In bit/s; `None` in the first bin.
    rate: Option<f64>,
    /// Number of the last packet.
    newest: u64,
    last_notification: Option<Time>,
}

impl Router {
    /// A router without measurements.
    pub(crate) fn new(params: &Params) -> Self {
        Self {
            mark: mark(params),
            threshold: params.threshold,
            keep: params.keep,
            bin: params.bin,
            meter_gain: params.meter_gain,
            spacing: params.spacing,
            ports: Slots::default(),
            groups: Slots::default(),
            meters: Vec::new(),
            pending: Vec::new(),
            found_at: Time::NEVER,
        }
    }

    fn meter(&mut self, port: usize, group: usize) -> &mut Meter {
        let (port, group) = (self.ports.of(port), self.groups.of(group));
        if self.meters.len() <= port {
            self.meters.resize_with(port + 1, Vec::new);
        }
        let meters = &mut self.meters[port];
        if meters.len() <= group {
            meters.resize_with(group + 1, Meter::default);
        }
        &mut meters[group]
    }

    /// Whether the queue is congested, by its limit in packets or bytes.
    fn congested(&self, view: &PortView) -> bool {
        let Backlog { packets, bytes } = view.limit;
        let (waiting, share) = (view.backlog, self.threshold);
        (packets != u32::MAX && f64::from(waiting.packets) >= share * f64::from(packets))
            || (bytes != Bytes::UNLIMITED && waiting.bytes.as_f64() >= share * bytes.as_f64())
    }
}

impl Slots {
    #[inline]
    fn of(&mut self, id: usize) -> usize {
        if self.by_id.len() <= id {
            self.by_id.resize(id + 1, 0);
        }
        if self.by_id[id] == 0 {
            self.count += 1;
            self.by_id[id] = self.count;
        }
        self.by_id[id] as usize - 1
    }
}

impl Meter {
    /// Counts packet number `seq`. Returns false for another copy of the last packet, because an interface can lead to
    /// several branches.
    fn add(&mut self, now: Time, seq: u64, size: Bytes, bin: Duration, gain: f64) -> bool {
        if self.bin_start.is_some() && self.newest == seq {
            return false;
        }
        self.newest = seq;
        self.close(now, bin, gain);
        self.bits += size.as_bits();
        true
    }

    /// Ends the bins that have passed.
    fn close(&mut self, now: Time, bin: Duration, gain: f64) {
        let bin_start = *self.bin_start.get_or_insert(now);
        let elapsed_bins = (now - bin_start).as_nanos() / bin.as_nanos();
        if elapsed_bins == 0 {
            return;
        }
        let sample = std::mem::take(&mut self.bits) as f64 / bin.as_secs_f64();
        // r ← r + (sample − r)/2, the first bin alone
        let mut rate = self.rate.map_or(sample, |rate| rate + (sample - rate) * gain);
        // the bins after it were empty
        for _ in 1..elapsed_bins {
            rate -= rate * gain;
            if rate < 1.0 {
                rate = 0.0;
                break;
            }
        }
        self.rate = Some(rate);
        self.bin_start = Some(bin_start + bin * elapsed_bins);
    }
}

impl RouterAlgorithm for Router {
    #[inline]
    fn on_enqueue(&mut self, packet: &mut Packet, view: &PortView, at: &mut TransitCx<'_>) {
        let Header::Stream(header) = packet.header else { return };
        if packet.label.0[0] != self.mark {
            return;
        }
        let (bin, gain, spacing, keep) = (self.bin, self.meter_gain, self.spacing, self.keep);
        let congested = self.congested(view);
        // a group has the number of its flow
        let group = GroupId(packet.flow.0);
        let meter = self.meter(view.port.index(), group.index());
        let fresh = meter.add(at.now, header.seq, packet.size(), bin, gain);
        let Some(rate) = meter.rate.filter(|_| fresh && congested) else { return };
        if meter.last_notification.is_some_and(|last_notification| at.now - last_notification < spacing) {
            return;
        }
        meter.last_notification = Some(at.now);
        // suggested = β·r
        self.pending.push((group, Notify { suggested_rate: keep * rate, trigger_sent_at: packet.sent_at }));
        self.found_at = at.now;
    }

    fn on_timer(&mut self, cx: &mut RouterCx<'_, '_, '_>) {
        for (group, notify) in self.pending.drain(..) {
            cx.probe("suggested_rate", notify.suggested_rate);
            cx.notify(group, FeedbackMessage::Notify(notify).encode());
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        if self.pending.is_empty() { Time::NEVER } else { self.found_at }
    }
}
