//! The sending end: what is in flight, what is lost, when to send. How much may be in flight is the law's business.
//!
//! This file holds the path that every acknowledgement and every departure takes; `recovery.rs` holds losses, timeouts
//! and marks.

use contract::{
    Ack, Address, CongestionControl, Count, Cx, Ecn, Endpoint, Header, Input, Label, Packet, Sent, TcpFlags,
    TcpHeader,
};
use units::{Bytes, Rate, Time};

use super::delivery::Sampler;
use super::reduction::Accounts;
use super::scoreboard::Scoreboard;
use super::supply::Supply;
use super::times::Times;
use super::{Config, LossDetection, RecoveryTimer, Reduction, RtoFloor};
use crate::parts::{Pacer, Rtt};

/// The sender of one connection, with the law `C`.
#[derive(Clone, Debug)]
pub struct Sender<C> {
    /// Oldest byte not acknowledged [RFC9293: SND.UNA].
    pub(super) una: u64,
    /// Next byte to send [RFC9293: SND.NXT]. A timeout pulls it back to `una`.
    pub(super) next: u64,
    /// One past the highest byte ever sent.
    pub(super) high: u64,
    /// Where the window begins: `una`, moved on by what has left the network since [RFC6582: inflation].
    pub(super) base: u64,
    /// One past the last byte that the receiver is ready to take.
    pub(super) edge: u64,
    /// The law's window, in bytes of payload.
    pub(super) window: u64,
    /// The law's rate.
    rate: Rate,
    /// When the retransmission timer expires.
    pub(super) timeout_at: Time,
    /// When the pacer or the application lets the next segment go.
    send_at: Time,
    pub(super) rtt: Rtt,
    /// The round ends when a byte beyond this is acknowledged.
    round_end: u64,
    pub(super) segment: u32,
    header_bytes: u32,
    /// Duplicate acknowledgements in a row.
    pub(super) duplicates: u32,
    phase: Phase,
    /// In fast recovery.
    pub(super) recovering: bool,
    /// The window comes down: in fast recovery, or after a mark with proportional reduction.
    pub(super) reducing: bool,
    /// What is in flight is what the scoreboard says; otherwise it is all from `una` to `next`.
    pub(super) by_pipe: bool,
    app_limited: bool,
    /// Tell the receiver, on the next new data, that the window was reduced [RFC3168 §6.1.2].
    pub(super) reduced: bool,
    pub(super) switches: Switches,
    /// End of the data that was out when a loss was last noticed [RFC6582 §3.2: recover].
    pub(super) recover: u64,
    /// Until this byte is acknowledged, congestion belongs to the last episode.
    pub(super) episode_end: u64,
    /// When the retransmission left whose need is still in doubt [RFC3522].
    pub(super) doubt_since: Time,
    sent_last_at: Time,
    supply: Supply,
    pacer: Pacer,
    to: Address,
    /// With SACK only.
    pub(super) board: Option<Box<Scoreboard>>,
    /// With proportional rate reduction only.
    pub(super) reduction: Option<Box<Accounts>>,
    /// With losses found by time only.
    pub(super) times: Option<Box<Times>>,
    /// For laws that ask for it only.
    pub(super) sampler: Option<Box<Sampler>>,
    pub(super) law: C,
}

/// Where the connection stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started, or stopped.
    Closed,
    /// A SYN is out.
    Opening,
    /// Data may flow.
    Open,
}

/// What the configuration switches on.
#[derive(Clone, Copy, Debug)]
pub(super) struct Switches {
    handshake: bool,
    ecn: bool,
    idle_restart: bool,
    pub(super) limited_transmit: bool,
    pub(super) undo: bool,
    pub(super) steady_timer: bool,
}

impl<C: CongestionControl> Sender<C> {
    /// A sender to the endpoint `to`. It sends nothing before [`Input::Start`].
    pub fn new(config: &Config, law: C, to: Address) -> Self {
        let segment = config.segment;
        let rtt = Rtt::new(config.initial_rto, config.min_rto, config.max_rto);
        Self {
            una: 0,
            next: 0,
            high: 0,
            base: 0,
            edge: if config.receive_window < NO_WINDOW { config.receive_window.as_u64() } else { u64::MAX },
            window: 0,
            rate: Rate::UNLIMITED,
            timeout_at: Time::NEVER,
            send_at: Time::NEVER,
            rtt: if config.rto_floor == RtoFloor::Variation { rtt.floor_of_variation() } else { rtt },
            round_end: 0,
            segment: segment.as_u64() as u32,
            header_bytes: config.header.as_u64() as u32,
            duplicates: 0,
            phase: Phase::Closed,
            recovering: false,
            reducing: false,
            by_pipe: false,
            app_limited: false,
            reduced: false,
            switches: Switches {
                handshake: config.handshake,
                ecn: config.ecn,
                idle_restart: config.idle_restart,
                limited_transmit: config.limited_transmit,
                undo: config.undo,
                steady_timer: config.recovery_timer == RecoveryTimer::Steady,
            },
            recover: 0,
            episode_end: 0,
            doubt_since: Time::NEVER,
            sent_last_at: Time::NEVER,
            supply: Supply::new(config.demand, segment),
            pacer: Pacer::default(),
            to,
            board: config.sack.then(Box::default),
            reduction: (config.reduction == Reduction::Proportional).then(Box::default),
            times: (config.sack && config.loss_detection == LossDetection::Time)
                .then(|| Box::new(Times::new(config.tail_probe))),
            sampler: law.samples_delivery().then(|| Box::new(Sampler::new())),
            law,
        }
    }

    /// The law, for tests and tables.
    pub fn law(&self) -> &C {
        &self.law
    }

    /// Payload in flight: sent and not yet accounted for.
    pub fn in_flight(&self) -> Bytes {
        Bytes::new(self.flight())
    }

    #[inline]
    pub(super) fn flight(&self) -> u64 {
        if self.by_pipe { self.pipe() } else { self.next.saturating_sub(self.base) }
    }

    /// One past the last byte that the window permits.
    #[inline]
    pub(super) fn limit(&self) -> u64 {
        self.base.saturating_add(self.window)
    }

    // ---- acknowledgements

    #[inline]
    fn on_packet(&mut self, header: &TcpHeader, packet: &Packet, cx: &mut Cx<'_>) {
        if self.phase != Phase::Open {
            return self.on_answer(header, cx);
        }
        if header.ack > self.high {
            // nothing of the kind was sent
            cx.count(Count::Ignored, 1);
            return;
        }
        if header.window_bytes != u32::MAX {
            self.edge = self.edge.max(header.ack + u64::from(header.window_bytes));
        }
        if header.flags.ece {
            self.on_echo(header.ack, cx);
        }
        let news = if header.sack.0[0].1 > 0 { self.read_blocks(header, cx.now()) } else { 0 };
        let duplicate = header.ack == self.una && self.high > self.una;
        if header.ack > self.una {
            self.on_new_data(header, packet, cx);
        } else if duplicate && self.board.is_none() {
            self.on_duplicate(cx);
        }
        if news > 0 {
            self.on_arrivals(duplicate, cx);
        }
        let timed = self.times.is_some();
        if timed {
            self.watch(cx);
        }
        if self.sampler.is_some() {
            self.tell_delivery(packet.sent_at, cx);
        }
        if self.reducing {
            self.spread();
        }
        self.transmit(cx);
        if timed {
            self.arm_probe(cx.now());
        }
        if cx.probing() {
            self.probe(cx);
        }
    }

    #[inline]
    fn on_new_data(&mut self, header: &TcpHeader, packet: &Packet, cx: &mut Cx<'_>) {
        let in_flight = self.flight();
        let bytes = header.ack - self.una;
        // the echo says which transmission is answered, so the sample is never ambiguous  [RFC6298 §3, RFC7323 §4]
        let rtt = cx.now().saturating_since(header.echo);
        self.rtt.sample(rtt);
        cx.measured_rtt(rtt);
        if cx.probing() {
            cx.probe("rtt", rtt.as_secs_f64());
        }
        self.una = header.ack;
        self.next = self.next.max(header.ack);
        if self.una >= self.supply.last {
            cx.complete();
        }
        if self.by_pipe {
            self.advance_board();
        }
        if self.doubt_since != Time::NEVER {
            self.settle_doubt(header.echo, cx);
        }
        if self.times.is_some() {
            self.settle_probe(header.echo, cx);
        }
        let reducing = self.reducing;
        let round_ended = header.ack > self.round_end;
        if round_ended {
            self.round_end = self.next;
        }
        if reducing {
            self.on_progress(bytes, cx);
        } else {
            self.duplicates = 0;
            self.base = self.una;
            self.restart_timer(cx.now());
        }
        let segment = u64::from(self.segment);
        let ack = Ack {
            bytes: Bytes::new(bytes),
            packets: if bytes == segment { 1 } else { bytes.div_ceil(segment) as u32 },
            marked: header.flags.ece,
            in_flight: Bytes::new(in_flight),
            sent_at: header.echo,
            answered_at: packet.sent_at,
            rtt: Some(rtt),
            rtt_smoothed: self.rtt.smoothed(),
            rtt_min: self.rtt.min(),
            app_limited: self.app_limited,
            recovering: reducing,
            round_ended,
            from: packet.source.endpoint,
            label: Label::default(),
        };
        self.app_limited = false;
        self.law.on_ack(&ack, cx);
        self.read_allowance();
    }

    /// The timer may have to stand for a probe.
    #[inline]
    fn arm(&mut self, cx: &Cx<'_>) {
        if self.times.is_some() {
            self.arm_probe(cx.now());
        }
    }

    /// Takes over what the law now permits.
    #[inline]
    pub(super) fn read_allowance(&mut self) {
        let allowance = self.law.allowance();
        self.window = allowance.window.as_u64();
        self.rate = allowance.rate;
    }

    /// Starts the retransmission timer anew, or stops it when all is acknowledged [RFC6298 §5.2, §5.3].
    #[inline]
    pub(super) fn restart_timer(&mut self, now: Time) {
        self.timeout_at = if self.una == self.high { Time::NEVER } else { now + self.rtt.timeout() };
    }

    // ---- departures

    /// Sends what the window, the receiver, the pacer and the application permit.
    #[inline]
    fn transmit(&mut self, cx: &mut Cx<'_>) {
        self.send_at = Time::NEVER;
        if self.by_pipe {
            return self.transmit_by_pipe(cx);
        }
        if self.una == self.high {
            self.notice_silence(cx);
        }
        let limit = self.limit().min(self.edge);
        loop {
            let len = u64::from(self.segment).min(self.supply.ready - self.next);
            if len == 0 || self.next + len > limit {
                if len == 0 && self.new_data(cx.now()) > 0 {
                    continue;
                }
                let wanted = if len == 0 { u64::from(self.segment) } else { len };
                if self.next + wanted <= self.limit() {
                    self.note_shortage();
                    self.squeeze(cx);
                }
                return;
            }
            if self.waits_for_pacer(cx.now()) {
                return;
            }
            self.emit_next(len, cx);
        }
    }

    /// Whether the pacer lets nothing go yet; then it says when it will.
    #[inline]
    pub(super) fn waits_for_pacer(&mut self, now: Time) -> bool {
        let waits = self.rate != Rate::UNLIMITED && now < self.pacer.free_at();
        if waits {
            self.send_at = self.pacer.free_at();
        }
        waits
    }

    /// Bytes that the application has given and that were not yet sent.
    #[cold]
    pub(super) fn new_data(&mut self, now: Time) -> u64 {
        self.supply.refill(now);
        self.supply.ready - self.next
    }

    /// The window has room that the application, or the receiver, leaves unused.
    #[cold]
    pub(super) fn note_shortage(&mut self) {
        self.app_limited = true;
        let in_flight = self.flight();
        if let Some(sampler) = &mut self.sampler {
            sampler.limit(in_flight);
        }
        if self.supply.ready == self.next {
            self.send_at = self.supply.more_at;
        }
    }

    /// The receiver takes less than a segment and nothing is in flight that could make it take more: send what fits.
    #[cold]
    fn squeeze(&mut self, cx: &mut Cx<'_>) {
        let len = self.edge.saturating_sub(self.next).min(self.supply.ready - self.next);
        if self.next == self.una && len > 0 {
            self.emit_next(len, cx);
        }
    }

    /// Sends `len` bytes from `next` on, new or again.
    #[inline]
    pub(super) fn emit_next(&mut self, len: u64, cx: &mut Cx<'_>) {
        let seq = self.next;
        self.next += len;
        let again = seq < self.high;
        self.high = self.high.max(self.next);
        self.emit(seq, len, again, cx);
    }

    /// Sends a segment; `again` if any of it was sent before.
    #[inline]
    pub(super) fn emit(&mut self, seq: u64, len: u64, again: bool, cx: &mut Cx<'_>) {
        let now = cx.now();
        let mut flags = TcpFlags { fin: seq + len == self.supply.last, ..TcpFlags::default() };
        let mut ecn = Ecn::NotCapable;
        if again {
            cx.count(Count::Retransmits, 1);
        } else if self.switches.ecn {
            // retransmissions are not capable of marks, and CWR goes with new data     [RFC3168 §6.1.2, §6.1.5]
            ecn = Ecn::Capable;
            flags.cwr = std::mem::take(&mut self.reduced);
        }
        let size = Bytes::new(len + u64::from(self.header_bytes));
        let header = TcpHeader { seq, window_bytes: u32::MAX, flags, ..TcpHeader::default() };
        cx.send(self.to.into(), size, ecn, Header::Tcp(header), Label::default());
        if self.rate != Rate::UNLIMITED {
            self.pacer.charge(size, self.rate, now);
        }
        if self.timeout_at == Time::NEVER {
            self.timeout_at = now + self.rtt.timeout();
        }
        if let Some(times) = &mut self.times {
            times.on_sent(seq, seq + len, again, now);
        }
        self.sent_last_at = now;
        let in_flight = self.flight();
        if let Some(sampler) = &mut self.sampler {
            sampler.on_sent(seq, seq + len, in_flight, now);
        }
        let (bytes, in_flight) = (Bytes::new(len), Bytes::new(in_flight));
        self.law.on_sent(&Sent { bytes, in_flight, again, app_limited: self.app_limited }, cx);
    }

    /// Nothing is in flight. If there is something to send after a silence of one timeout, the window says nothing of the
    /// network any more [RFC5681 §4.1].
    #[cold]
    fn notice_silence(&mut self, cx: &mut Cx<'_>) {
        if self.sent_last_at == Time::NEVER || !self.switches.idle_restart {
            return;
        }
        let idle = cx.now().saturating_since(self.sent_last_at);
        if idle > self.rtt.timeout() && self.new_data(cx.now()) > 0 {
            self.law.on_idle(idle, cx);
            self.read_allowance();
        }
    }

    // ---- opening

    fn start(&mut self, cx: &mut Cx<'_>) {
        if self.phase != Phase::Closed {
            return;
        }
        self.supply.start(cx);
        self.read_allowance();
        if self.switches.handshake {
            self.phase = Phase::Opening;
            self.open(cx);
        } else {
            self.phase = Phase::Open;
            self.transmit(cx);
            self.arm(cx);
        }
        if cx.probing() {
            self.probe(cx);
        }
    }

    /// Sends a SYN.
    fn open(&mut self, cx: &mut Cx<'_>) {
        let flags = TcpFlags { syn: true, ..TcpFlags::default() };
        let header = TcpHeader { flags, window_bytes: u32::MAX, ..TcpHeader::default() };
        let size = Bytes::new(u64::from(self.header_bytes));
        cx.send(self.to.into(), size, Ecn::NotCapable, Header::Tcp(header), Label::default());
        self.timeout_at = cx.now() + self.rtt.timeout();
    }

    /// An answer to the SYN, or a packet that came too late.
    #[cold]
    fn on_answer(&mut self, header: &TcpHeader, cx: &mut Cx<'_>) {
        if self.phase != Phase::Opening || !header.flags.syn {
            return;
        }
        let rtt = cx.now().saturating_since(header.echo);
        self.rtt.sample(rtt);
        cx.measured_rtt(rtt);
        self.timeout_at = Time::NEVER;
        self.phase = Phase::Open;
        self.transmit(cx);
        self.arm(cx);
    }

    // ---- time

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        if self.law.wake() <= now {
            self.law.on_timer(cx);
            self.read_allowance();
        }
        match self.phase {
            Phase::Closed => return,
            Phase::Opening if now >= self.timeout_at => {
                cx.count(Count::Timeouts, 1);
                self.rtt.back_off();
                self.open(cx);
            }
            Phase::Opening => {}
            Phase::Open => {
                if now >= self.timeout_at && !self.on_early_timer(cx) {
                    self.on_timeout(cx);
                }
                if self.reducing {
                    self.spread();
                }
                self.transmit(cx);
                self.arm(cx);
            }
        }
        if cx.probing() {
            self.probe(cx);
        }
    }

    // ---- the trace

    #[cold]
    fn probe(&self, cx: &mut Cx<'_>) {
        cx.probe("window", self.window as f64);
        let threshold = self.law.threshold();
        if threshold != Bytes::UNLIMITED {
            cx.probe("ssthresh", threshold.as_f64());
        }
        cx.probe("in_flight", self.flight() as f64);
        cx.probe("srtt", self.rtt.smoothed().as_secs_f64());
    }
}

impl<C: CongestionControl> Endpoint for Sender<C> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Packet(packet @ Packet { header: Header::Tcp(header), .. }) => {
                self.on_packet(header, packet, cx);
            }
            Input::Packet(_) | Input::Mode(_) => {}
            Input::Start => self.start(cx),
            Input::Timer => self.on_timer(cx),
            Input::App(request) => {
                self.supply.request(request);
                if self.phase == Phase::Open {
                    self.transmit(cx);
                    self.arm(cx);
                }
            }
            Input::Stop => {
                self.phase = Phase::Closed;
                self.timeout_at = Time::NEVER;
                self.send_at = Time::NEVER;
            }
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.timeout_at.min(self.send_at).min(self.law.wake())
    }
}

/// From here on a receive window is too large for a header's field and does not limit.
const NO_WINDOW: Bytes = Bytes::new(u32::MAX as u64);
