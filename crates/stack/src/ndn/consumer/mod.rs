//! NDN consumer: requests segments as its congestion control permits, retransmits Interests, and reports Data, losses
//! and marks to it.
//!
//! This file has the path of every Interest and every Data; `signals.rs` has losses, refusals and marks, `sources.rs`
//! what differs for a controller with a window for each source of Data. The consumer exchanges packets with the
//! forwarder of its own node, which treats it as a face like any other.

mod popularity;
mod requests;
mod signals;
mod sources;
mod timeout;
mod waiting;

#[cfg(test)]
mod tests;

use contract::{
    Ack, Allowance, Congestion, CongestionControl, Count, Cx, Data, Destination, Ecn, Endpoint, Header,
    Input, Interest, Label, Name, NameId, Packet, Sent, SeriesInfo,
};
use units::{Bytes, Duration, Rate, Time};

use self::requests::{Next, Requests};
use self::sources::Sources;
use self::timeout::{Estimator, tick};
use self::waiting::{SegmentQueue, Waiting};
use super::{ConsumerConfig, EpisodeCheck, Gaps};
use crate::parts::Pacer;

/// Time series of a consumer: name, unit, subject, meaning.
pub const CONSUMER_SERIES: &[SeriesInfo] = &[
    ("window", "bytes", "flow", "congestion window"),
    ("ssthresh", "bytes", "flow", "slow-start threshold"),
    (
        "in_flight",
        "bytes",
        "flow",
        "Data in flight: requested and neither received nor given up; size on the wire",
    ),
    ("rtt", "s", "flow", "latest sample of the round-trip time"),
    ("srtt", "s", "flow", "smoothed round-trip time"),
    ("delay", "s", "flow", "from the first Interest for the latest segment to its Data"),
    ("allowed_rate", "bps", "flow", "rate of Data that the scheme allows to request"),
    (
        "generated",
        "packets",
        "flow",
        "Interests generated since the start; a coarse clock may still hold the most recent ones",
    ),
];

/// A consumer of one prefix with the congestion controller `C`.
///
/// Windows are counted in whole Data packets. An Interest may leave while fewer are in flight than the window. With a
/// finite rate, Interests are generated at intervals of one Data packet's serialisation time. Retransmissions are sent
/// first.
///
/// With a coarse clock, generated Interests wait and leave back to back at the next tick; with jitter, a random time
/// later. They count as in flight meanwhile. Their timers and delays start when they leave.
///
/// # How it is driven
///
/// It is an [`Endpoint`] beside a forwarder. Interests in the outbox go to [`contract::Destination::own_node`], which
/// the driver hands to the forwarder of the node as [`contract::RouterInput::Local`] at the same instant. Data and
/// NACKs return as [`Input::Packet`]. [`Input::Start`] starts requests, [`Input::Timer`] retransmits and paces,
/// [`Input::Stop`] ends.
#[derive(Clone, Debug)]
pub struct Consumer<C> {
    controller: C,
    limits: SendLimits,
    running: bool,
    app_limited: bool,
    deadlines: Deadlines,
    progress: Progress,
    pacer: Pacer,
    timeout: Estimator,
    waiting: Waiting,
    requests: Requests,
    settings: Settings,
    /// Of a controller with a window for each source.
    sources: Option<Box<Sources>>,
}

/// What the controller allows.
#[derive(Clone, Copy, Debug)]
struct SendLimits {
    /// Window, in Data packets.
    window: u64,
    rate: Rate,
}

/// When something is due.
#[derive(Clone, Copy, Debug)]
struct Deadlines {
    /// When the next Interest may be generated.
    send_at: Time,
    /// When held Interests leave; [`Time::NEVER`] if none are held.
    release_at: Time,
    /// When timers are checked next; [`Time::NEVER`] if no Interest is pending. It can be too early, never too late.
    timeout_at: Time,
    /// No Interest is generated before this.
    pause_until: Time,
}

/// How far requests and Data are.
#[derive(Clone, Copy, Debug, Default)]
struct Progress {
    /// Number of segments taken from the pattern; also the order of the last one.
    requested: u64,
    /// The highest order whose Data arrived.
    high: u64,
    /// The round ends when Data of a higher order arrive.
    round_end: u64,
    /// The recovery point: the next reduction requires a higher order. `None` before the first reduction.
    recovery: Option<u64>,
    /// When Data last arrived over the network.
    last_data_at: Time,
    /// Segments received.
    got: u64,
    /// Interests generated.
    generated: u64,
}

/// What the configuration sets.
#[derive(Clone, Copy, Debug)]
struct Settings {
    prefix: NameId,
    /// Size of a Data packet, in bytes.
    data: u64,
    interest: Bytes,
    lifetime_ms: u32,
    tick: Duration,
    tick_phase: Duration,
    jitter: Duration,
    /// Whether Interests leave when they are generated: there is neither tick nor jitter.
    prompt: bool,
    gaps: Gaps,
    marks: bool,
    episode: f64,
    episode_check: EpisodeCheck,
    retries: u32,
}

impl<C: CongestionControl> Consumer<C> {
    /// A consumer. It requests nothing before [`Input::Start`].
    pub fn new(config: &ConsumerConfig, controller: C) -> Self {
        Self {
            controller,
            limits: SendLimits { window: 0, rate: Rate::UNLIMITED },
            running: false,
            app_limited: false,
            deadlines: Deadlines {
                send_at: Time::NEVER,
                release_at: Time::NEVER,
                timeout_at: Time::NEVER,
                pause_until: Time::ZERO,
            },
            progress: Progress::default(),
            pacer: Pacer::default(),
            timeout: Estimator::new(config.timeout, (config.retries == 0).then_some(config.lifetime)),
            waiting: Waiting::new(),
            requests: Requests::new(config),
            settings: Settings {
                prefix: config.prefix,
                data: config.data.as_u64().max(1),
                interest: config.interest,
                lifetime_ms: u32::try_from(config.lifetime.as_nanos() / 1_000_000).unwrap_or(u32::MAX),
                tick: config.tick,
                tick_phase: config.tick_phase,
                jitter: config.jitter,
                prompt: config.tick == Duration::ZERO && config.jitter == Duration::ZERO,
                gaps: config.gaps,
                marks: config.marks,
                episode: config.episode,
                episode_check: config.episode_check,
                retries: config.retries,
            },
            sources: None,
        }
    }

    /// The congestion controller.
    pub const fn controller(&self) -> &C {
        &self.controller
    }

    /// Segments in flight: requested or held, and neither answered nor expired nor refused.
    #[inline]
    pub fn in_flight(&self) -> u64 {
        u64::from(self.waiting.count(SegmentQueue::Out)) + u64::from(self.waiting.count(SegmentQueue::Held))
    }

    /// The smoothed round-trip time; with several sources, the time of the source whose Data arrived last.
    #[cold]
    fn smoothed_rtt(&self) -> Duration {
        self.sources.as_ref().map_or_else(|| self.timeout.smoothed(), |sources| sources.smoothed())
    }

    /// Whether [`Self::smoothed_rtt`] is of a sample.
    #[cold]
    fn has_rtt(&self) -> bool {
        let latest = self.sources.as_ref().map_or(Some(&self.timeout), |sources| sources.latest());
        latest.is_some_and(|timeout| timeout.min() != Duration::MAX)
    }

    /// Data in flight, in bytes on the wire.
    #[inline]
    fn flight(&self) -> Bytes {
        Bytes::new(self.in_flight() * self.settings.data)
    }

    /// Reads the controller's window and rate.
    #[inline]
    fn read_allowance(&mut self, cx: &mut Cx<'_>) {
        let Allowance { window, rate } = self.controller.allowance();
        self.limits.window =
            if window == Bytes::UNLIMITED { MAX_IN_FLIGHT } else { window.as_u64() / self.settings.data };
        if rate != self.limits.rate {
            self.limits.rate = rate;
            cx.probe("allowed_rate", rate.as_bps_f64());
        }
        if let Some(own) = self.controller.timeout()
            && self.settings.retries > 0
            && self.timeout.follow(own)
        {
            self.update_timeout();
        }
    }

    // ---- Interests

    /// Generates the Interests that window, rate and pattern allow.
    #[inline]
    fn generate(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        self.deadlines.send_at = Time::NEVER;
        if now < self.deadlines.pause_until || self.limits.rate == Rate::ZERO {
            self.deadlines.send_at =
                if self.limits.rate == Rate::ZERO { Time::NEVER } else { self.deadlines.pause_until };
            return;
        }
        if self.sources.is_some() {
            return self.generate_by_source(cx);
        }
        let mut joined = 0;
        while self.in_flight() < self.limits.window {
            if self.limits.rate != Rate::UNLIMITED && now < self.pacer.free_at() {
                self.deadlines.send_at = self.pacer.free_at();
                return;
            }
            let slot = match self.waiting.first(SegmentQueue::Retransmit) {
                Some(slot) => slot,
                None => match self.take(&mut joined, cx) {
                    Taken::Slot(slot) => slot,
                    Taken::Joined => continue,
                    Taken::Nothing => return,
                },
            };
            self.pace(cx);
            self.dispatch(slot, cx);
        }
    }

    /// The next segment that is wanted.
    #[inline]
    fn take(&mut self, joined: &mut u32, cx: &mut Cx<'_>) -> Taken {
        match self.requests.take(cx.now(), cx.random()) {
            Next::Segment(segment) => {
                self.progress.requested += 1;
                match self.waiting.add(segment, self.progress.requested) {
                    Some(slot) => Taken::Slot(slot),
                    None => {
                        // its Interest is in flight, and its Data answers both requests
                        self.join(joined, cx);
                        if *joined == MAX_JOINED { Taken::Nothing } else { Taken::Joined }
                    }
                }
            }
            Next::Later(at) => {
                self.app_limited = true;
                self.deadlines.send_at = at;
                Taken::Nothing
            }
            Next::Nothing => {
                self.app_limited = true;
                Taken::Nothing
            }
        }
    }

    /// An Interest is generated: it leaves, or waits for the clock.
    #[inline]
    fn dispatch(&mut self, slot: u32, cx: &mut Cx<'_>) {
        self.note_generated(cx);
        if self.settings.prompt {
            self.send(slot, cx);
        } else {
            self.hold(slot, cx);
        }
    }

    /// Holds an Interest until the next tick, and for its jitter.
    fn hold(&mut self, slot: u32, cx: &mut Cx<'_>) {
        self.waiting.join(slot, SegmentQueue::Held);
        if self.deadlines.release_at == Time::NEVER {
            let late = match self.settings.jitter.as_nanos() {
                0 => 0,
                max => cx.random().below(max + 1),
            };
            self.deadlines.release_at =
                tick(cx.now(), self.settings.tick, self.settings.tick_phase) + Duration::from_nanos(late);
        }
    }

    /// Handles a requested content whose segment is in flight already.
    #[cold]
    fn join(&mut self, joined: &mut u32, cx: &mut Cx<'_>) {
        self.pace(cx);
        cx.count(Count::Suppressed, 1);
        self.progress.got += 1;
        *joined += 1;
        if *joined == MAX_JOINED {
            self.app_limited = true;
        }
    }

    /// Delays the next Interest by the serialisation time of one Data packet.
    #[inline]
    fn pace(&mut self, cx: &mut Cx<'_>) {
        if self.limits.rate == Rate::UNLIMITED {
            return;
        }
        let (size, now) = (Bytes::new(self.settings.data), cx.now());
        match self.settings.gaps {
            Gaps::Even => self.pacer.charge(size, self.limits.rate, now, false),
            Gaps::Exponential => {
                let mean_s = size.as_f64() * 8.0 / self.limits.rate.as_bps_f64();
                let gap = Duration::from_secs_f64(cx.random().exponential(mean_s));
                self.pacer.wait(gap, now);
            }
        }
        if self.pacer.free_at() <= now {
            self.pacer.wait(SHORTEST_GAP, now);
        }
    }

    #[inline]
    fn note_generated(&mut self, cx: &mut Cx<'_>) {
        self.progress.generated += 1;
        if cx.probing() {
            cx.probe("generated", self.progress.generated as f64);
        }
    }

    /// Sends an Interest.
    #[inline]
    fn send(&mut self, slot: u32, cx: &mut Cx<'_>) {
        let now = cx.now();
        let nonce = (cx.random().bits() >> 32) as u32;
        let segment = self.waiting.get_mut(slot);
        let retransmission = segment.tries > 0;
        if retransmission {
            cx.count(Count::Retransmits, 1);
        } else {
            segment.first_at = now;
        }
        segment.sent_at = now;
        segment.nonce = nonce;
        segment.tries += 1;
        let name = Name { prefix: self.settings.prefix, segment: segment.segment };
        let header = Header::Interest(Interest { name, nonce, lifetime_ms: self.settings.lifetime_ms });
        let ecn = if self.settings.marks { Ecn::Capable } else { Ecn::NotCapable };
        let label = if self.sources.is_some() { self.label_by_source(slot) } else { Label::default() };
        cx.send(Destination::own_node(), self.settings.interest, ecn, header, label);
        self.waiting.join(slot, SegmentQueue::Out);
        if self.sources.is_some() {
            self.update_timeout_by_source(slot);
        } else if self.deadlines.timeout_at == Time::NEVER {
            self.deadlines.timeout_at = self.timeout.next_check(now);
        }
        let sent = Sent {
            bytes: Bytes::new(self.settings.data),
            in_flight: self.flight(),
            retransmission,
            app_limited: self.app_limited,
            idle: Duration::ZERO,
        };
        self.controller.on_sent(&sent, cx);
    }

    /// Sends all held Interests in order when they are due.
    #[inline]
    fn release(&mut self, cx: &mut Cx<'_>) {
        if cx.now() < self.deadlines.release_at {
            return;
        }
        while let Some(slot) = self.waiting.first(SegmentQueue::Held) {
            self.send(slot, cx);
        }
        self.deadlines.release_at = Time::NEVER;
    }

    // ---- Data

    #[inline]
    fn on_data(&mut self, data: &Data, packet: &Packet, cx: &mut Cx<'_>) {
        let slot = if data.name.prefix == self.settings.prefix {
            self.waiting.find(data.name.segment)
        } else {
            None
        };
        let Some(slot) = slot.filter(|&slot| self.waiting.get(slot).tries > 0) else {
            // late, duplicate, or for a previous run of the flow
            cx.count(Count::Ignored, 1);
            return;
        };
        let now = cx.now();
        let segment = *self.waiting.get(slot);
        let delay = now.saturating_since(segment.first_at);
        cx.measured_delay(delay);
        cx.deliver(Bytes::new(u64::from(data.payload_bytes)));
        self.progress.got += 1;
        self.progress.high = self.progress.high.max(segment.order);
        if now == segment.sent_at || packet.source.node == cx.me().node {
            self.on_data_of_own_node(slot, cx);
        } else if self.sources.is_some() {
            self.on_data_by_source(slot, packet, cx);
        } else {
            self.learn(slot, packet, cx);
        }
        if self.progress.got == self.requests.last() {
            cx.complete();
        }
        self.generate(cx);
        self.release(cx);
        if cx.probing() {
            cx.probe("delay", delay.as_secs_f64());
            self.probe(cx);
        }
    }

    /// Handles Data of a store or a producer of the own node, which carry no information about the network: the
    /// controller does not see them.
    #[cold]
    fn on_data_of_own_node(&mut self, slot: u32, cx: &mut Cx<'_>) {
        let (now, segment) = (cx.now(), self.waiting.get(slot));
        if segment.tries == 1 && now > segment.sent_at {
            let rtt = now - segment.sent_at;
            self.timeout.sample(rtt);
            measured(rtt, cx);
        }
        if self.limits.rate == Rate::UNLIMITED {
            self.deadlines.pause_until = self.deadlines.pause_until.max(now + OWN_NODE);
        }
        self.forget(slot);
    }

    /// Updates estimator and controller from Data that crossed the network.
    #[inline]
    fn learn(&mut self, slot: u32, packet: &Packet, cx: &mut Cx<'_>) {
        let now = cx.now();
        let segment = *self.waiting.get(slot);
        let in_flight = self.flight();
        // after a retransmission it is unknown which Interest was answered              [RFC6298 §3]
        let rtt = (segment.tries == 1).then(|| now.saturating_since(segment.sent_at));
        if let Some(rtt) = rtt {
            self.timeout.sample(rtt);
            measured(rtt, cx);
        }
        self.progress.last_data_at = now;
        self.deadlines.pause_until = Time::ZERO;
        let marked = self.settings.marks && packet.ecn == Ecn::Marked;
        if marked {
            self.on_mark(in_flight, cx);
        }
        self.forget(slot);
        let round_ended = segment.order > self.progress.round_end;
        if round_ended {
            self.progress.round_end = self.progress.requested;
        }
        let ack = Ack {
            bytes: Bytes::new(self.settings.data),
            packets: 1,
            marked,
            marked_packets: u32::from(marked),
            in_flight,
            sent_at: segment.sent_at,
            ack_sent_at: Time::NEVER,
            rtt,
            rtt_smoothed: self.timeout.smoothed(),
            rtt_min: self.timeout.min(),
            app_limited: self.app_limited,
            recovering: false,
            round_ended,
            from: packet.source.endpoint,
            label: packet.label,
        };
        self.app_limited = false;
        self.controller.on_ack(&ack, cx);
        self.read_allowance(cx);
    }

    /// Removes a segment.
    #[inline]
    fn forget(&mut self, slot: u32) {
        if self.sources.is_some() {
            return self.forget_by_source(slot);
        }
        self.waiting.remove(slot);
        self.update_timeout();
    }

    /// Sets the next check of the timers to the first expiry or earlier.
    #[inline]
    fn update_timeout(&mut self) {
        match self.waiting.first(SegmentQueue::Out) {
            None => self.deadlines.timeout_at = Time::NEVER,
            Some(slot) => {
                let sent = self.waiting.get(slot).sent_at;
                if sent + self.timeout.timeout() < self.deadlines.timeout_at {
                    self.deadlines.timeout_at = self.timeout.next_check(sent);
                }
            }
        }
    }

    // ---- time

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        if self.controller.wake() <= now {
            self.controller.on_timer(cx);
            self.read_allowance(cx);
        }
        if now >= self.deadlines.timeout_at {
            if self.sources.is_some() { self.expire_by_source(cx) } else { self.expire(cx) }
        }
        self.generate(cx);
        self.release(cx);
    }

    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.running {
            return;
        }
        self.running = true;
        self.requests.start(cx.now());
        self.read_allowance(cx);
        self.start_by_source();
        self.generate(cx);
        self.release(cx);
        if cx.probing() {
            self.probe(cx);
        }
    }

    #[cold]
    fn probe(&self, cx: &mut Cx<'_>) {
        let allowed = self.controller.allowance();
        if allowed.window != Bytes::UNLIMITED {
            cx.probe("window", allowed.window.as_f64());
        }
        cx.probe("in_flight", self.flight().as_f64());
        if self.has_rtt() {
            cx.probe("srtt", self.smoothed_rtt().as_secs_f64());
        }
        let threshold = self.controller.ssthresh();
        if threshold != Bytes::UNLIMITED {
            cx.probe("ssthresh", threshold.as_f64());
        }
    }
}

impl<C: CongestionControl> Endpoint for Consumer<C> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Start => self.start(cx),
            _ if !self.running => {}
            Input::Packet(packet) => match &packet.header {
                Header::Data(data) => self.on_data(data, packet, cx),
                Header::Nack(nack) => self.on_nack(nack, cx),
                _ => cx.count(Count::Ignored, 1),
            },
            Input::Timer => self.on_timer(cx),
            Input::Stop => self.running = false,
            Input::App(_) | Input::Mode(_) => {}
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        if !self.running {
            return Time::NEVER;
        }
        self.deadlines
            .send_at
            .min(self.deadlines.release_at)
            .min(self.deadlines.timeout_at)
            .min(self.controller.wake())
    }

    fn next_name(&self) -> Option<Name> {
        Some(Name { prefix: self.settings.prefix, segment: self.requests.next()? })
    }
}

/// The next segment.
enum Taken {
    /// It waits at this place.
    Slot(u32),
    /// Its Interest is in flight already.
    Joined,
    /// No segment is to be requested now.
    Nothing,
}

/// A round-trip time.
#[inline]
fn measured(rtt: Duration, cx: &mut Cx<'_>) {
    cx.measured_rtt(rtt);
    if cx.probing() {
        cx.probe("rtt", rtt.as_secs_f64());
    }
}

/// The controller of consumers without congestion control: a constant rate.
#[derive(Clone, Copy, Debug)]
pub struct Steady(pub Rate);

impl CongestionControl for Steady {
    fn on_ack(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}
    fn on_congestion(&mut self, _event: &Congestion, _cx: &mut Cx<'_>) {}
    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::rate(self.0)
    }
}

/// Maximum number of segments in flight for any controller, so that a controller without a limit sends a finite burst.
const MAX_IN_FLIGHT: u64 = 1 << 20;
/// Minimum gap under a finite rate: no two Interests are generated at the same instant.
const SHORTEST_GAP: Duration = Duration::from_nanos(1);
/// Maximum number of consecutive requests whose segments are in flight already, before the consumer waits for the next
/// Data. Our choice: without a bound, the draws from a catalogue smaller than the window would not end.
const MAX_JOINED: u32 = 16;
/// Processing time of Data that the own node had. Our choice: the cost of an Interest and its Data in a public
/// forwarder (ndnd 1.5.3: 52 µs of CPU time). Without it virtual time would not advance for a consumer that its own
/// store serves.
const OWN_NODE: Duration = Duration::from_micros(50);
