//! A [`CongestionControl`] driven by the calls of QUIC stacks: departures, acknowledged packets, ends of ACK frames,
//! congestion.

use std::fmt;
use std::time::{Duration as StdDuration, Instant};

use contract::{
    Ack, Address, Allowance, Cause, Congestion, CongestionControl, Cx, EndpointId, FlowId, Idle, Label,
    Meter, NodeId, Outputs, Random, Sent, Setup,
};
use units::{Bytes, Duration, Rate, Time};

use crate::delivery::{Frame, Sampler};

/// The congestion control of one path. The traits of quinn and noq are implemented for it; another stack can call its
/// methods.
pub struct Controller<C> {
    scheme: C,
    driven: Driven,
    /// Time zero of the scheme.
    epoch: Instant,
    /// Payload of a datagram when the scheme was made: its segment. Payload of a datagram now, if the scheme does not
    /// count in segments.
    segment: u64,
    /// Payload of a datagram now.
    mtu: u64,
    in_segments: bool,
    /// What the scheme permits now.
    window: u64,
    /// The window for a stack that does not ask for a rate: at most a round trip at the scheme's rate.
    window_at_rate: u64,
    /// `window` and `window_at_rate` at the start.
    initial: (u64, u64),
    /// Packets of the ACK frame that is being read.
    frame: Vec<(Time, u64)>,
    /// The last word of the stack on whether it lacked data.
    app_limited: bool,
    in_flight: u64,
    rtt: Rtt,
    /// Departure of the newest acknowledged packet, and its number: several packets can leave at the same instant.
    newest_acked: Option<(Time, Option<u64>)>,
    round_began: Time,
    /// When the last episode began.
    recovery_began: Option<Time>,
    /// Its cause, until it is over.
    ongoing: Option<Cause>,
    last_sent: Option<Time>,
    /// The last call.
    now: Time,
    /// For schemes that ask for it only.
    sampler: Option<Box<Sampler>>,
}

/// What a scheme is driven with.
struct Driven {
    random: Random,
    meter: Meter,
    out: Outputs,
}

impl Driven {
    fn cx(&mut self, now: Time) -> Cx<'_> {
        let me = Address { node: NodeId(0), endpoint: EndpointId(0) };
        Cx::new(now, me, FlowId(0), &mut self.random, &mut self.meter, &mut self.out)
    }
}

impl Clone for Driven {
    /// The outputs are empty between calls.
    fn clone(&self) -> Self {
        Self { random: self.random.clone(), meter: self.meter.clone(), out: Outputs::default() }
    }
}

/// Round-trip times.
#[derive(Clone, Copy, Debug)]
struct Rtt {
    smoothed: Duration,
    min: Duration,
}

impl<C: Clone> Clone for Controller<C> {
    fn clone(&self) -> Self {
        let Self { epoch, segment, mtu, initial, window, window_at_rate, app_limited, in_flight, .. } = *self;
        let Self {
            in_segments, rtt, newest_acked, round_began, recovery_began, ongoing, last_sent, now, ..
        } = *self;
        Self {
            scheme: self.scheme.clone(),
            driven: self.driven.clone(),
            epoch,
            segment,
            mtu,
            in_segments,
            window,
            window_at_rate,
            initial,
            frame: self.frame.clone(),
            app_limited,
            in_flight,
            rtt,
            newest_acked,
            round_began,
            recovery_began,
            ongoing,
            last_sent,
            now,
            sampler: self.sampler.clone(),
        }
    }
}

impl<C> fmt::Debug for Controller<C> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Controller").field("window", &self.window).finish_non_exhaustive()
    }
}

impl<C: CongestionControl> Controller<C> {
    pub(crate) fn new(scheme: C, setup: &Setup, in_segments: bool, random: Random, epoch: Instant) -> Self {
        let segment = setup.segment.as_u64();
        let mut controller = Self {
            driven: Driven { random, meter: Meter::default(), out: Outputs::default() },
            epoch,
            segment,
            mtu: segment,
            in_segments,
            window: 0,
            window_at_rate: 0,
            initial: (0, 0),
            frame: Vec::new(),
            app_limited: false,
            in_flight: 0,
            rtt: Rtt { smoothed: INITIAL_RTT, min: Duration::MAX },
            newest_acked: None,
            round_began: Time::ZERO,
            recovery_began: None,
            ongoing: None,
            last_sent: None,
            now: Time::ZERO,
            sampler: scheme.samples_delivery().then(Box::default),
            scheme,
        };
        controller.read_allowance();
        controller.initial = (controller.window, controller.window_at_rate);
        controller
    }

    /// The scheme's congestion control.
    pub const fn scheme(&self) -> &C {
        &self.scheme
    }

    /// `now` by the scheme's clock.
    fn time(&self, now: Instant) -> Time {
        Time::ZERO + duration(now.saturating_duration_since(self.epoch))
    }

    /// Sets `now` to the time of a call, and returns it.
    fn clock(&mut self, now: Instant) -> Time {
        self.now = self.time(now);
        self.now
    }

    /// Bytes of the path as bytes of the scheme, whose segment does not change.
    fn counted(&self, bytes: u64) -> Bytes {
        Bytes::new(scale(bytes, self.segment, self.mtu))
    }

    /// Handles a deadline of the scheme that has expired.
    fn check_timer(&mut self, now: Time) {
        if self.scheme.wake() <= now {
            self.scheme.on_timer(&mut self.driven.cx(now));
        }
    }

    /// Takes over what the scheme permits now.
    fn read_allowance(&mut self) {
        let Allowance { window, rate } = self.scheme.allowance();
        // W ≤ R·srtt
        let paced =
            if rate == Rate::UNLIMITED { u64::MAX } else { rate.bytes_in(self.rtt.smoothed).as_u64() };
        // kMinimumWindow = 2 * max_datagram_size                                        [RFC9002 §7.2]
        let of_path = |bytes| scale(bytes, self.mtu, self.segment).max(2 * self.mtu);
        self.window = of_path(window.as_u64());
        self.window_at_rate = of_path(window.as_u64().min(paced));
    }

    /// Calls the scheme with each packet of an ACK frame, in the order in which they left.
    fn tell_acks(&mut self, in_flight: u64, largest: Option<u64>, now: Time) {
        let Some(&(newest, _)) = self.frame.last() else { return };
        let rtt = now.saturating_since(newest);
        // a sample only if the largest number is newly acknowledged                       [RFC9002 §5.1]
        let is_newer = self.newest_acked.is_none_or(|before| (newest, largest) > before);
        if is_newer {
            self.newest_acked = Some((newest, largest));
            self.rtt.min = self.rtt.min.min(rtt);
        }
        let round_ended = newest >= self.round_began;
        if round_ended {
            self.round_began = now;
        }
        let frame = std::mem::take(&mut self.frame);
        let before = in_flight + frame.iter().map(|(_, bytes)| bytes).sum::<u64>();
        for (at, &(sent_at, bytes)) in frame.iter().enumerate() {
            let last = at + 1 == frame.len();
            let ack = Ack {
                bytes: self.counted(bytes),
                packets: 1,
                marked: false,
                marked_packets: 0,
                in_flight: self.counted(before),
                sent_at,
                // every packet of a frame has the delay of its newest, because the others waited for the frame
                ack_sent_at: sent_at + rtt,
                rtt: (last && is_newer).then_some(rtt),
                rtt_smoothed: self.rtt.smoothed,
                rtt_min: self.rtt.min,
                app_limited: self.app_limited,
                recovering: self.recovers(sent_at),
                round_ended: last && round_ended,
                from: EndpointId(0),
                label: Label::default(),
            };
            self.scheme.on_ack(&ack, &mut self.driven.cx(now));
        }
        self.frame = frame;
    }

    /// Whether a packet that left then belongs to the last episode [RFC9002 §7.3.2].
    fn recovers(&self, sent_at: Time) -> bool {
        self.recovery_began.is_some_and(|began| sent_at <= began)
    }

    /// Passes the delivery rate of an ACK frame to the scheme, if it requests it.
    fn tell_delivery(&mut self, in_flight: u64, now: Time) {
        let Some(&(sent_at, _)) = self.frame.last() else { return };
        let bytes = self.frame.iter().map(|&(_, bytes)| self.counted(bytes).as_u64()).sum();
        let frame = Frame {
            bytes,
            sent_at,
            in_flight: self.counted(in_flight).as_u64(),
            rtt_min: self.rtt.min,
            recovering: self.recovers(sent_at),
            app_limited: self.app_limited,
        };
        if let Some(sampler) = &mut self.sampler
            && let Some(delivery) = sampler.on_frame(&frame, now)
        {
            self.scheme.on_delivery(&delivery, &mut self.driven.cx(now));
        }
    }

    /// An episode ends when a packet is acknowledged that left after it began [RFC9002 §7.3.2].
    fn end_episode(&mut self, now: Time) {
        let Some(&(newest, _)) = self.frame.last() else { return };
        if self.ongoing.is_some()
            && !self.recovers(newest)
            && let Some(cause) = self.ongoing.take()
        {
            self.scheme.on_recovered(cause, &mut self.driven.cx(now));
        }
    }

    /// The connection resumes after a silence longer than a retransmission timeout.
    fn check_silence(&mut self, now: Time) {
        let Some(last) = self.last_sent.filter(|_| self.in_flight == 0) else { return };
        let idle = now.saturating_since(last);
        // RTO ← SRTT + 4·RTTVAR, RTTVAR ← SRTT/2 as after one sample, at least one second [RFC6298 §2.2, §2.4]
        let smoothed = self.rtt.smoothed;
        if idle > (smoothed + smoothed + smoothed).max(Duration::from_secs(1)) {
            let idle = Idle { time: idle, halvings: None };
            self.scheme.on_idle(&idle, &mut self.driven.cx(now));
        }
    }
}

/// The calls of a stack. Instants do not decrease.
impl<C: CongestionControl> Controller<C> {
    /// A batch of datagrams with `bytes` in all leaves.
    pub fn sent(&mut self, now: Instant, bytes: u64) {
        let now = self.clock(now);
        self.check_silence(now);
        self.check_timer(now);
        if let Some(sampler) = &mut self.sampler {
            let in_flight = scale(self.in_flight + bytes, self.segment, self.mtu);
            sampler.on_sent(self.in_flight == 0, in_flight, now);
        }
        let mut remaining = bytes;
        while remaining > 0 {
            let size = remaining.min(self.mtu);
            remaining -= size;
            self.in_flight += size;
            let idle = self.last_sent.map_or(Duration::ZERO, |last| now.saturating_since(last));
            let sent = Sent {
                bytes: self.counted(size),
                in_flight: self.counted(self.in_flight),
                retransmission: false,
                app_limited: self.app_limited,
                idle,
            };
            self.last_sent = Some(now);
            self.scheme.on_sent(&sent, &mut self.driven.cx(now));
        }
        self.read_allowance();
    }

    /// An ACK frame acknowledges a packet that left at `sent`; `smoothed` is the stack's estimate of the round-trip
    /// time before the frame.
    pub fn acked(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        app_limited: bool,
        smoothed: StdDuration,
    ) {
        let (sent, now) = (self.time(sent), self.clock(now));
        self.app_limited = app_limited;
        self.frame.push((sent, bytes));
        // before the first sample, the stack's estimate is a constant
        self.rtt.smoothed = match self.newest_acked {
            None => now.saturating_since(sent),
            Some(_) => duration(smoothed),
        };
    }

    /// The ACK frame ends.
    pub fn frame_ended(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        let now = self.clock(now);
        self.app_limited = app_limited;
        self.check_timer(now);
        self.tell_acks(in_flight, largest, now);
        self.tell_delivery(in_flight, now);
        self.end_episode(now);
        self.frame.clear();
        self.in_flight = in_flight;
        self.read_allowance();
    }

    /// Packets are lost, or with `lost_bytes` of zero marked; the newest of them left at `sent`.
    pub fn congested(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        let (now, sent) = (self.clock(now), self.time(sent));
        self.check_timer(now);
        let first = !self.recovers(sent);
        if first {
            self.recovery_began = Some(now);
        }
        let cause = match (persistent, lost_bytes) {
            (true, _) => Cause::Timeout,
            (false, 0) => Cause::Mark,
            (false, _) => Cause::Loss,
        };
        if first || persistent {
            self.ongoing = Some(cause);
        }
        let event = Congestion {
            cause,
            bytes: self.counted(lost_bytes),
            in_flight: self.counted(self.in_flight),
            first,
        };
        self.scheme.on_congestion(&event, &mut self.driven.cx(now));
        if lost_bytes > 0
            && let Some(sampler) = &mut self.sampler
            && let Some(lost) = sampler.lose(event.bytes.as_u64(), sent)
        {
            self.scheme.on_lost(&lost, &mut self.driven.cx(now));
        }
        self.in_flight = self.in_flight.saturating_sub(lost_bytes);
        self.read_allowance();
    }

    /// Nothing was lost in the last episode.
    pub fn nothing_lost(&mut self) {
        self.ongoing = None;
        self.scheme.on_spurious(&mut self.driven.cx(self.now));
        self.read_allowance();
    }

    /// Path MTU discovery found another maximum.
    pub fn mtu_changed(&mut self, new_mtu: u16) {
        self.mtu = new_mtu.into();
        if !self.in_segments {
            self.segment = self.mtu;
        }
        self.read_allowance();
    }
}

/// Queries of a stack.
impl<C: CongestionControl> Controller<C> {
    /// The window of the scheme, in bytes, and its first value.
    #[must_use]
    pub const fn windows(&self) -> (u64, u64) {
        (self.window, self.initial.0)
    }

    /// The window of the scheme and its first value, each at most a round trip at the rate of the scheme.
    #[must_use]
    pub const fn windows_at_rate(&self) -> (u64, u64) {
        (self.window_at_rate, self.initial.1)
    }

    /// Slow-start threshold in bytes, if there is one.
    pub fn threshold(&self) -> Option<u64> {
        let threshold = self.scheme.ssthresh();
        (threshold != Bytes::UNLIMITED).then(|| scale(threshold.as_u64(), self.mtu, self.segment))
    }

    /// The rate of the scheme in bits per second, if it has one.
    pub fn rate_bps(&self) -> Option<u64> {
        let rate = self.scheme.allowance().rate;
        (rate != Rate::UNLIMITED).then(|| scale(rate.as_bps(), self.mtu, self.segment))
    }
}

/// `bytes` · `of` / `in_all`, without overflow.
fn scale(bytes: u64, of: u64, in_all: u64) -> u64 {
    if of == in_all {
        return bytes;
    }
    u64::try_from(u128::from(bytes) * u128::from(of) / u128::from(in_all)).unwrap_or(u64::MAX)
}

fn duration(span: StdDuration) -> Duration {
    Duration::from_nanos(u64::try_from(span.as_nanos()).unwrap_or(u64::MAX))
}

/// Round-trip time before the first sample [RFC9002 §6.2.2].
const INITIAL_RTT: Duration = Duration::from_millis(333);

#[cfg(test)]
pub(crate) mod tests {
    use super::*;

    /// Has a configured window, and records its calls.
    #[derive(Clone)]
    pub(crate) struct Recorder {
        allowance: Allowance,
        pub(crate) notes: Vec<(&'static str, u64)>,
    }

    impl CongestionControl for Recorder {
        fn on_ack(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}

        fn on_congestion(&mut self, event: &Congestion, _cx: &mut Cx<'_>) {
            let what = match (event.cause, event.first) {
                (Cause::Loss, true) => "first loss",
                (Cause::Loss, false) => "loss",
                (Cause::Mark, true) => "first mark",
                (Cause::Timeout, _) => "timeout",
                _ => "other",
            };
            self.notes.push((what, event.in_flight.as_u64()));
        }

        fn allowance(&self) -> Allowance {
            self.allowance
        }

        fn on_sent(&mut self, sent: &Sent, _cx: &mut Cx<'_>) {
            self.notes.push(("sent", sent.bytes.as_u64()));
        }

        fn on_spurious(&mut self, cx: &mut Cx<'_>) {
            self.notes.push(("spurious", cx.now().saturating_since(Time::ZERO).as_nanos() / 1_000_000));
        }

        fn on_recovered(&mut self, cause: Cause, _cx: &mut Cx<'_>) {
            self.notes.push(("recovered", u64::from(cause == Cause::Loss)));
        }

        fn on_idle(&mut self, idle: &Idle, _cx: &mut Cx<'_>) {
            self.notes.push(("idle", idle.time.as_nanos() / 1_000_000));
        }
    }

    pub(crate) fn controller(allowance: Allowance) -> (Controller<Recorder>, impl Fn(u64) -> Instant) {
        #[expect(
            clippy::disallowed_methods,
            reason = "stacks take instants; the tests use their differences only"
        )]
        let epoch = Instant::now();
        let segment = Bytes::new(1200);
        let setup = Setup { segment, header: Bytes::ZERO, initial_window: Bytes::new(12_000) };
        let random = Random::new(1, "test", "");
        let scheme = Recorder { allowance, notes: Vec::new() };
        (Controller::new(scheme, &setup, true, random, epoch), move |millis| {
            epoch + StdDuration::from_millis(millis)
        })
    }

    #[test]
    fn an_episode_lasts_until_a_later_packet_is_lost() {
        let (mut controller, at) = controller(Allowance::window(Bytes::new(12_000)));
        controller.sent(at(0), 2400);
        controller.congested(at(100), at(0), false, 1200);
        // it left before the episode began
        controller.congested(at(110), at(90), false, 1200);
        controller.sent(at(120), 1200);
        controller.congested(at(220), at(120), false, 0);
        controller.sent(at(230), 1200);
        controller.congested(at(900), at(230), true, 2400);
        let expected = [
            ("sent", 1200),
            ("sent", 1200),
            ("first loss", 2400),
            ("loss", 1200),
            ("sent", 1200),
            ("first mark", 1200),
            ("sent", 1200),
            ("timeout", 2400),
        ];
        assert_eq!(controller.scheme().notes, expected);
    }

    /// [RFC9002 §7.3.2]: a recovery ends when a packet that was sent during it is acknowledged.
    #[test]
    fn the_end_of_an_episode_is_told_once() {
        let (mut controller, at) = controller(Allowance::window(Bytes::new(12_000)));
        let rtt = StdDuration::from_millis(100);
        controller.sent(at(0), 1200);
        controller.sent(at(50), 1200);
        controller.congested(at(100), at(0), false, 1200);
        controller.sent(at(110), 2400);
        controller.acked(at(150), at(50), 1200, false, rtt);
        controller.frame_ended(at(150), 2400, false, Some(1));
        let ended = |controller: &Controller<Recorder>| {
            controller.scheme().notes.iter().filter(|note| **note == ("recovered", 1)).count()
        };
        assert_eq!(ended(&controller), 0);
        for (now, largest) in [(210, 2), (211, 3)] {
            controller.acked(at(now), at(110), 1200, false, rtt);
            controller.frame_ended(at(now), 0, false, Some(largest));
            assert_eq!(ended(&controller), 1);
        }
    }

    #[test]
    fn a_silence_is_reported() {
        let (mut controller, at) = controller(Allowance::window(Bytes::new(12_000)));
        controller.sent(at(0), 1200);
        controller.congested(at(100), at(0), false, 1200);
        controller.sent(at(3000), 1200);
        // in flight: no silence
        controller.sent(at(9000), 1200);
        assert_eq!(controller.scheme().notes[2..], [("idle", 3000), ("sent", 1200), ("sent", 1200)]);
    }

    #[test]
    fn the_window_keeps_its_segments_when_the_datagrams_grow_and_is_never_below_two() {
        let (mut sixth, _) = controller(Allowance::window(Bytes::new(6 * 1200)));
        assert_eq!((sixth.windows(), sixth.windows_at_rate()), ((7200, 7200), (7200, 7200)));
        sixth.mtu_changed(1452);
        assert_eq!(sixth.windows(), (6 * 1452, 7200));
        let (none, _) = controller(Allowance::window(Bytes::ZERO));
        assert_eq!(none.windows(), (2400, 2400));
        let (unlimited, _) = controller(Allowance::window(Bytes::UNLIMITED));
        assert_eq!(unlimited.windows().0, u64::MAX);
    }

    #[test]
    fn a_rate_is_the_window_of_a_round_trip() {
        let (controller, _) = controller(Allowance::rate(Rate::from_mbps(8)));
        // 1 MB/s · 333 ms
        assert_eq!((controller.windows().0, controller.windows_at_rate().0), (u64::MAX, 333_000));
        assert_eq!(controller.rate_bps(), Some(8_000_000));
    }
}
