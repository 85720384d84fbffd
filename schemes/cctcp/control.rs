//! At the consumers: Reno's window for each source of Data.

use contract::{
    Ack, Allowance, Cause, Congestion, CongestionControl, Cut, Cx, Label, Setup, SourceWindows, WindowUpdate,
};
use units::{Bytes, Duration, Segments};

use super::Params;
use super::link::{lead, source};
use crate::shared::Classic;

contract::choice! {
    /// The source that a segment without a prediction is charged to.
    pub enum Unpredicted {
        /// The one with the longest round-trip time: a timer that is too short would expire for Data that are on their
        /// way.
        Farthest = "farthest",
        /// The source whose Data arrived last.
        Latest = "latest",
    }
}

/// The windows of a consumer, one for each source.
#[derive(Clone, Debug)]
pub struct Cctcp {
    limit: usize,
    unpredicted: Unpredicted,
    /// A window that no Data have been heard of.
    fresh: Classic<Reno>,
    /// By the number of the source.
    sources: Vec<Windowed>,
    /// The source of the latest Data.
    latest: u32,
    /// The last segment that was wanted.
    newest: u64,
    /// Where segments are expected from, by the lower bits of their numbers.
    predictions: Vec<Predicted>,
    /// Data that came, and how many of them came from the source that they were charged to.
    received: u64,
    right: u64,
}

/// A source and its window.
#[derive(Clone, Debug)]
struct Windowed {
    /// The word of its node; 0 before the first Data, and where forwarders write none.
    node: u64,
    controller: Classic<Reno>,
    /// Its smoothed round-trip time; zero before the first.
    rtt: Duration,
}

/// What was said of a segment.
#[derive(Clone, Copy, Debug)]
struct Predicted {
    segment: u64,
    source: u32,
}

impl Predicted {
    /// Nothing.
    const NONE: Self = Self { segment: u64::MAX, source: 0 };
}

/// Additive increase by one, multiplicative decrease to a share.
#[derive(Clone, Copy, Debug)]
struct Reno {
    beta: f64,
}

impl WindowUpdate for Reno {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, _ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        // cwnd += 1/cwnd                                                            [RFC5681 §3.1, eq. 3]
        Segments(window.0 + 1.0 / window.0)
    }

    fn ssthresh(&mut self, window: Segments, _cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        // ssthresh = cwnd/2                                                         [RFC5681 §3.1, eq. 4]
        Segments(self.beta * window.0)
    }
}

impl Cctcp {
    /// The controller, with its parameters.
    pub fn new(params: &Params, setup: &Setup) -> Self {
        let fresh = Classic::new(Reno { beta: params.beta }, setup);
        Self {
            limit: params.sources as usize,
            unpredicted: params.unpredicted,
            // the first segments are charged to the source of the first Data, whichever it is
            sources: vec![Windowed { node: 0, controller: fresh.clone(), rtt: Duration::ZERO }],
            fresh,
            latest: 0,
            newest: 0,
            predictions: vec![Predicted::NONE; REMEMBERED],
            received: 0,
            right: 0,
        }
    }

    /// The number of sources that it has a window for.
    pub const fn sources(&self) -> usize {
        self.sources.len()
    }

    /// The number of the source with this word.
    fn number(&mut self, node: u64) -> u32 {
        if let Some(at) = self.sources.iter().position(|source_entry| source_entry.node == node) {
            return at as u32;
        }
        if self.sources[0].node == 0 {
            self.sources[0].node = node;
            return 0;
        }
        if self.sources.len() < self.limit {
            self.sources.push(Windowed { node, controller: self.fresh.clone(), rtt: Duration::ZERO });
        }
        self.sources.len() as u32 - 1
    }

    fn controller(&mut self, source: u32) -> &mut Classic<Reno> {
        &mut self.sources[source as usize].controller
    }
}

impl SourceWindows for Cctcp {
    fn expect(&mut self, segment: u64) -> u32 {
        self.newest = segment;
        let source_entry = &mut self.predictions[segment as usize % REMEMBERED];
        if source_entry.segment == segment {
            return std::mem::replace(source_entry, Predicted::NONE).source;
        }
        match self.unpredicted {
            Unpredicted::Latest => self.latest,
            Unpredicted::Farthest => {
                let sources = self.sources.iter().enumerate();
                sources.max_by_key(|(_, source)| source.rtt).map_or(0, |(at, _)| at as u32)
            }
        }
    }

    fn identify(&mut self, segment: u64, label: &Label) -> u32 {
        self.received += 1;
        let [first, predicted @ ..] = label.0;
        if source(first) == 0 {
            return self.latest;
        }
        self.latest = self.number(source(first));
        // anticipated Interests predict the source of a chunk before it is requested       [SCP13]
        let next = segment + lead(first);
        for (ahead, node) in predicted.into_iter().enumerate().filter(|(_, node)| *node > 0) {
            let segment = next + ahead as u64;
            let source = self.number(node);
            self.predictions[segment as usize % REMEMBERED] = Predicted { segment, source };
        }
        self.latest
    }

    fn label(&self, segment: u64) -> Label {
        // our choice: the first segment that will be requested when the Data have come: those that are wanted already,
        // and a window of all sources
        let window: u64 = self.sources.iter().map(|source| source.controller.window().0 as u64).sum();
        let lead = self.newest.saturating_sub(segment) + window;
        Label([lead.min(FARTHEST) << 32, 0, 0, 0])
    }

    fn window(&self, source: u32) -> Bytes {
        self.sources[source as usize].controller.allowance().window
    }

    fn on_ack(&mut self, source: u32, ack: &Ack, cx: &mut Cx<'_>) {
        self.right += 1;
        self.controller(source).on_ack(ack, cx);
        self.sources[source as usize].rtt = ack.rtt_smoothed;
        if cx.probing() {
            cx.probe("sources", self.sources.len() as f64);
            cx.probe("predicted", self.right as f64 / self.received.max(1) as f64);
        }
    }

    fn on_congestion(&mut self, source: u32, event: &Congestion, cx: &mut Cx<'_>) {
        // our choice: one cut per window, as conservative window adaptation has it; no source knows marks
        if !event.first || event.cause == Cause::Mark {
            return;
        }
        // our choice: a timeout is the only sign of loss, after which cwnd = 1             [RFC5681 §3.1]
        let cause = if event.cause == Cause::Loss { Cause::Timeout } else { event.cause };
        self.controller(source).on_congestion(&Congestion { cause, ..*event }, cx);
    }
}

/// As a controller with one window, of transports that do not say which segment an event is about: all is about the
/// source of the latest Data.
impl CongestionControl for Cctcp {
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        SourceWindows::on_ack(self, self.latest, ack, cx);
    }

    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        SourceWindows::on_congestion(self, self.latest, event, cx);
    }

    /// The sum of the windows.
    fn allowance(&self) -> Allowance {
        let sum = self.sources.iter().map(|source| source.controller.allowance().window.as_u64()).sum();
        Allowance::window(Bytes::new(sum))
    }

    fn by_source(&mut self) -> Option<&mut dyn SourceWindows> {
        Some(self)
    }
}

/// Our choice: how many predictions are remembered. A segment that is this number later overwrites one.
const REMEMBERED: usize = 4096;
/// Our choice: the largest lead, so that predictions that are still to be used do not overwrite each other.
const FARTHEST: u64 = REMEMBERED as u64 / 2;
