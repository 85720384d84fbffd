//! The delay space: minDelay, maxDelay, the seven areas between and around them, and pushing of minDelay.

use units::Duration;

use super::words::Command;
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
/// Raw delays are arrival by the receiver's clock less departure by the source's, in nanoseconds: off by whatever the clocks are apart, and so
/// perhaps below zero. They are kept as they are, so that an offset changes nothing; the push works on `d = raw − raw_min + RTT_min/2`.
#[derive(Clone, Debug)]
pub(crate) struct Delays {
    edges: [f64; 6],
    outer: Outer,
    /// Least raw delay ever, not pushed; none before the first packet.
    least: Option<i64>,
    /// minDelay, raw; at or above `least`.
    min: i64,
    /// maxDelay, raw; none before the first loss.
    max: Option<i64>,
    /// Raw delay of the last packet.
    last: i64,
    window: Window,
}

/// The smallest delay among so many packets, held against minDelay [CVIHIS §4.6].
#[derive(Clone, Debug)]
struct Window {
    packets: u32,
    threshold: f64,
    times: u32,
    /// Packets of this window that came, and the smallest raw delay among them.
    came: u32,
    least: i64,
    /// Windows in a row whose smallest delay was above the threshold.
    above: u32,
}

impl Delays {
    /// Nothing measured.
    pub(crate) fn new(params: &Params) -> Self {
        let edges =
            [params.edge_1, params.edge_2, params.edge_3, params.edge_4, params.edge_5, params.edge_6];
        let window = Window {
            packets: params.window,
            threshold: params.window_threshold,
            times: params.window_times,
            came: 0,
            least: i64::MAX,
            above: 0,
        };
        Self { edges, outer: params.outer, least: None, min: 0, max: None, last: 0, window }
    }

    /// minDelay, raw, in nanoseconds.
    pub(crate) const fn min(&self) -> i64 {
        self.min
    }

    /// maxDelay, raw, in nanoseconds.
    pub(crate) const fn max(&self) -> Option<i64> {
        self.max
    }

    /// Packets are missing: maxDelay is the delay of the last one that came before them [CVIHIS §3.2].
    pub(crate) fn on_loss(&mut self) {
        if self.least.is_some() {
            self.max = Some(self.last);
        }
    }

    /// A packet came after the raw delay `raw`: what to do about the rate, unless packets before it are missing.
    pub(crate) fn on_packet(&mut self, raw: i64) -> Command {
        let (least, before) = self.least.map_or((raw, raw), |least| (least, self.last));
        // d < minDelay: minDelay ← d                                                 [CVIHIS §3.3]
        self.min = if self.least.is_none() { raw } else { self.min.min(raw) };
        self.least = Some(least.min(raw));
        self.last = raw;
        if self.window.packets > 0 {
            self.watch(raw);
        }
        let Some(max) = self.max else {
            // differs: there is no scale before the first loss, so the rate grows until there is one
            return Command::UpFar;
        };
        if max <= self.min {
            // differs: pushed past maxDelay, the areas have no width
            return if raw <= self.min { Command::UpFar } else { Command::DownFar };
        }
        self.command(self.area(self.position()), raw - before)
    }

    /// Takes a delay into the window, at the end of which minDelay may turn out to be outdated [CVIHIS §4.6].
    fn watch(&mut self, raw: i64) {
        let window = &mut self.window;
        window.least = window.least.min(raw);
        window.came += 1;
        if window.came < window.packets {
            return;
        }
        let (above, least) = (window.least - self.min, window.least);
        (window.came, window.least) = (0, i64::MAX);
        let room = self.max.map_or(0, |max| max - self.min);
        let outdated = room > 0 && above as f64 > window.threshold * room as f64;
        window.above = if outdated { window.above + 1 } else { 0 };
        if window.above >= window.times {
            window.above = 0;
            self.min = least;
            self.least = Some(least);
            // ours: a longer way moves the delay of a full queue, too
            self.max = Some(least + room);
        }
    }

    /// x = (d − minDelay)/(maxDelay − minDelay) of the last packet; of no use unless maxDelay is above minDelay.
    pub(crate) fn position(&self) -> f64 {
        (self.last - self.min) as f64 / (self.max.unwrap_or(self.min) - self.min) as f64
    }

    /// Where in the delay space this is. An area begins at its lower edge.
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

    /// The command in this area when the delay has grown by `gradient` since the packet before [CVIHIS §3.2, Fig. 1]. Where the two disagree the
    /// gradient wins; equal delays disagree with nothing.
    pub(crate) fn command(&self, area: Area, gradient: i64) -> Command {
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

    /// Pushes minDelay by `factor`, not above the last delay. `rtt_min` is the minimum round-trip time, half of which is taken for the way here.
    pub(crate) fn push(&mut self, factor: f64, rtt_min: Duration) {
        let Some(least) = self.least else { return };
        // differs: the paper multiplies the delay itself; with clocks that are apart that is not a delay, and may be negative
        // d = raw − raw_min + RTT_min/2
        let base = (rtt_min.as_nanos() / 2) as i64 - least;
        // minDelay ← min(1.05·minDelay, d)                                         [CVIHIS §3.3, Table 1]
        let pushed = ((self.min + base) as f64 * factor + 0.5) as i64 - base;
        self.min = pushed.min(self.last).max(self.min);
    }

    /// The mode is another from now on.
    pub(crate) fn switch(&mut self, mode: Mode) {
        if let (Mode::Background, Some(least)) = (mode, self.least) {
            self.min = least;
        }
    }
}
