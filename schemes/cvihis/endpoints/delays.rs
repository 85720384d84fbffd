//! The delay space: minDelay, maxDelay, the seven areas between and around them, and pushing of minDelay.

use units::{Duration, Time};

use super::headers::Command;
use crate::cvihis::{Mode, Outer, Params};

/// One of the seven areas, from the lowest delay to the highest [CVIHIS Fig. 1].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Area {
    Lowest,
    OuterBelow,
    InnerBelow,
    Target,
    InnerAbove,
    OuterAbove,
    Highest,
}

/// One-way delays of a connection.
///
/// A raw delay is the arrival by the receiver's clock minus the departure by the source's clock, in nanoseconds. It
/// contains the clock offset, so it can be negative. Raw delays are stored unchanged, so that an offset has no effect;
/// the push uses `d = raw − raw_min + RTT_min/2`.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    edges: [f64; 6],
    outer: Outer,
    /// Minimum raw delay, without pushes; `None` before the first packet.
    raw_min: Option<i64>,
    /// minDelay, raw; not below `raw_min`.
    min: i64,
    /// maxDelay, raw; `None` before the first loss.
    max: Option<i64>,
    /// Raw delay of the last packet, without packets that overtook others.
    last: i64,
    /// Number of that packet.
    last_seq: u64,
    /// Minimum widths of the delay space: in gaps between packets at the highest rate, and in mean differences of
    /// delays.
    min_space: f64,
    noise: f64,
    /// Smoothed gap between the departures of two packets, in nanoseconds, its minimum, and the newest packet in it.
    gap: f64,
    min_gap: f64,
    newest: Option<Departure>,
    /// Mean difference of the delays of consecutive packets, in nanoseconds (the jitter of RFC 3550 §6.4.1).
    jitter: f64,
    /// The command of the last packet that did not overtake.
    command: Command,
    /// What the last loss changed, until it is too late for the packet to arrive.
    before_loss: Option<BeforeLoss>,
    window: Window,
}

/// The newest packet by its number.
#[derive(Clone, Copy, Debug)]
struct Departure {
    seq: u64,
    sent_at: Time,
}

/// The delay space before a loss, to be restored if the packet was not lost.
#[derive(Clone, Copy, Debug)]
struct BeforeLoss {
    raw_min: i64,
    min: i64,
    max: Option<i64>,
    /// Smallest raw delay since, without the packet after the gap.
    smallest: i64,
    /// The packet after the gap is still to come.
    revealing: bool,
}

/// The smallest delay in a window of packets, which is compared with minDelay [CVIHIS §4.6].
#[derive(Clone, Debug)]
struct Window {
    packets: u32,
    threshold: f64,
    times: u32,
    /// Packets of the current window, and the smallest raw delay among them.
    count: u32,
    min: i64,
    /// Consecutive windows whose smallest delay was above the threshold.
    above: u32,
}

impl Delays {
    /// Without measurements.
    pub(crate) fn new(params: &Params) -> Self {
        let edges =
            [params.edge_1, params.edge_2, params.edge_3, params.edge_4, params.edge_5, params.edge_6];
        let window = Window {
            packets: params.window,
            threshold: params.window_threshold,
            times: params.window_times,
            count: 0,
            min: i64::MAX,
            above: 0,
        };
        Self {
            edges,
            outer: params.outer,
            raw_min: None,
            min: 0,
            max: None,
            last: 0,
            last_seq: 0,
            min_space: params.min_space,
            noise: params.noise,
            gap: 0.0,
            min_gap: f64::INFINITY,
            newest: None,
            jitter: 0.0,
            command: Command::Hold,
            before_loss: None,
            window,
        }
    }

    /// minDelay, raw, in nanoseconds.
    pub(crate) const fn min(&self) -> i64 {
        self.min
    }

    /// maxDelay, raw, in nanoseconds.
    pub(crate) const fn max(&self) -> Option<i64> {
        self.max
    }

    /// Handles a loss: maxDelay is the delay of the last packet before it [CVIHIS §3.2].
    pub(crate) fn on_loss(&mut self) {
        if let Some(raw_min) = self.raw_min {
            let before =
                BeforeLoss { raw_min, min: self.min, max: self.max, smallest: i64::MAX, revealing: true };
            self.before_loss = Some(before);
            self.max = Some(self.last);
        }
    }

    /// Handles the arrival of a packet that was declared lost: there was no full queue, and the packet that overtook it
    /// had a delay that is not one of the path.
    pub(crate) fn on_late(&mut self) {
        let Some(before) = self.before_loss.take() else { return };
        self.raw_min = Some(before.raw_min.min(before.smallest));
        self.min = before.min.min(before.smallest);
        self.max = before.max;
    }

    /// Takes the departure of a packet, for the gap between packets. By the source's clock.
    pub(crate) fn on_departure(&mut self, seq: u64, sent_at: Time) {
        let Some(newest) = self.newest.replace(Departure { seq, sent_at }) else { return };
        if seq <= newest.seq {
            self.newest = Some(newest);
            return;
        }
        let sample = sent_at.saturating_since(newest.sent_at).as_nanos() as f64 / (seq - newest.seq) as f64;
        // with the gain of the round-trip time
        self.gap = if self.gap > 0.0 { self.gap + (sample - self.gap) * GAP_GAIN } else { sample };
        self.min_gap = self.min_gap.min(self.gap);
    }

    /// Takes a packet that overtook others, which are still waited for. Returns the command of the packet before it.
    pub(crate) const fn on_overtaking(&self) -> Command {
        self.command
    }

    /// Takes packet `seq` with the raw delay `raw`. Returns the command, which is for packets without a loss before
    /// them.
    pub(crate) fn on_packet(&mut self, seq: u64, raw: i64) -> Command {
        self.command = self.measure(seq, raw);
        self.command
    }

    fn measure(&mut self, seq: u64, raw: i64) -> Command {
        let (raw_min, before) = self.raw_min.map_or((raw, raw), |raw_min| (raw_min, self.last));
        if let Some(loss) = &mut self.before_loss {
            if !loss.revealing {
                loss.smallest = loss.smallest.min(raw);
            }
            loss.revealing = false;
        }
        // the gradient is that of two consecutive packets                           [CVIHIS §3.2]
        let consecutive = self.raw_min.is_none() || seq == self.last_seq.wrapping_add(1);
        let gradient = if consecutive { raw - before } else { 0 };
        if consecutive {
            self.jitter += (gradient.unsigned_abs() as f64 - self.jitter) * JITTER_GAIN;
        }
        self.last_seq = seq;
        // d < minDelay: minDelay ← d                                                 [CVIHIS §3.3]
        self.min = if self.raw_min.is_none() { raw } else { self.min.min(raw) };
        self.raw_min = Some(raw_min.min(raw));
        self.last = raw;
        if self.window.packets > 0 {
            self.watch(raw);
        }
        let Some(max) = self.full() else {
            // differs: the areas are undefined before the first loss, so the rate grows until then
            return Command::UpFar;
        };
        if max <= self.min {
            // differs: when minDelay is pushed above maxDelay, the areas have no width
            return if raw <= self.min { Command::UpFar } else { Command::DownFar };
        }
        self.command_in(self.area(self.position()), gradient)
    }

    /// Takes a delay into the window. At the end of the window minDelay may be replaced [CVIHIS §4.6].
    fn watch(&mut self, raw: i64) {
        let window = &mut self.window;
        window.min = window.min.min(raw);
        window.count += 1;
        if window.count < window.packets {
            return;
        }
        let (above, window_min) = (window.min - self.min, window.min);
        (window.count, window.min) = (0, i64::MAX);
        let delay_range = self.max.map_or(0, |max| max - self.min);
        let outdated = delay_range > 0 && above as f64 > window.threshold * delay_range as f64;
        window.above = if outdated { window.above + 1 } else { 0 };
        if window.above >= window.times {
            window.above = 0;
            self.min = window_min;
            self.raw_min = Some(window_min);
            // ours: a longer path also shifts the delay of a full queue
            self.max = Some(window_min + delay_range);
        }
    }

    /// x = (d − minDelay)/(maxDelay − minDelay) of the last packet; valid if maxDelay is above minDelay.
    pub(crate) fn position(&self) -> f64 {
        (self.last - self.min) as f64 / (self.full().unwrap_or(self.min) - self.min) as f64
    }

    /// The upper end of the delay space: maxDelay, or minDelay and the minimum width if that is more.
    pub(crate) fn full(&self) -> Option<i64> {
        // ours: a loss without a queue leaves a space of the width of noise
        let own = if self.min_gap.is_finite() { self.min_space * self.min_gap } else { 0.0 };
        let width = own.max(self.noise * self.jitter).min(WIDEST) as i64;
        self.max.map(|max| if width > 0 { max.max(self.min.saturating_add(width)) } else { max })
    }

    /// The area of the position `x`. An area includes its lower edge.
    pub(crate) fn area(&self, x: f64) -> Area {
        match self.edges.iter().take_while(|edge| x >= **edge).count() {
            0 => Area::Lowest,
            1 => Area::OuterBelow,
            2 => Area::InnerBelow,
            3 => Area::Target,
            4 => Area::InnerAbove,
            5 => Area::OuterAbove,
            _ => Area::Highest,
        }
    }

    /// The command in an area, if the delay has grown by `gradient` since the packet before [CVIHIS §3.2, Fig. 1]. If
    /// area and gradient disagree, the gradient decides; a gradient of zero disagrees with nothing.
    pub(crate) fn command_in(&self, area: Area, gradient: i64) -> Command {
        let strong = self.outer == Outer::Strong;
        match area {
            Area::Lowest => Command::UpFar,
            Area::OuterBelow | Area::InnerBelow if gradient > 0 => Command::DownGradient,
            Area::OuterBelow if strong => Command::UpFar,
            Area::OuterBelow | Area::InnerBelow => Command::Up,
            Area::Target => Command::Hold,
            Area::InnerAbove | Area::OuterAbove if gradient < 0 => Command::UpGradient,
            Area::OuterAbove if strong => Command::DownFar,
            Area::InnerAbove | Area::OuterAbove => Command::Down,
            Area::Highest => Command::DownFar,
        }
    }

    /// Pushes minDelay by `factor`, at most to the last delay. Half of `rtt_min`, the minimum round-trip time, is used
    /// as the one-way propagation delay.
    pub(crate) fn push(&mut self, factor: f64, rtt_min: Duration) {
        let Some(raw_min) = self.raw_min else { return };
        // differs: the paper multiplies the delay itself. With two clocks a raw delay is none, and may be negative, so
        // that the push multiplies d = raw − raw_min + RTT_min/2
        let base = (rtt_min.as_nanos() / 2) as i64 - raw_min;
        // minDelay ← min(1.05·minDelay, d)                                         [CVIHIS §3.3, Table 1]
        let pushed = ((self.min + base) as f64 * factor + 0.5) as i64 - base;
        self.min = pushed.min(self.last).max(self.min);
    }

    /// Changes the mode.
    pub(crate) fn switch(&mut self, mode: Mode) {
        if let (Mode::Background, Some(raw_min)) = (mode, self.raw_min) {
            self.min = raw_min;
        }
    }
}

/// Weight of a new gap between packets: that of a new round-trip time (RFC 6298 §2.3).
const GAP_GAIN: f64 = 0.125;
/// Weight of a new difference of delays (RFC 3550 §6.4.1).
const JITTER_GAIN: f64 = 1.0 / 16.0;
/// Maximum width of the delay space by its minima, in nanoseconds: an hour.
const WIDEST: f64 = 3.6e12;
