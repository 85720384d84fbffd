//! TCP sender: sequence space (RFC 9293), retransmission timer (RFC 6298), and the parts for loss recovery and delivery
//! rate.
//!
//! This file contains the path of every acknowledgement, and `departures.rs` the path of every segment. The parts own
//! their state: [`SendSequence`], [`RetransmissionTimer`], [`Recovery`], the SACK [`Scoreboard`] (RFC 6675), [`Rack`]
//! (RFC 8985), [`Prr`] (RFC 9937), the delivery-rate [`Sampler`], and the application's [`AppData`]. `recovery.rs` and
//! `sack.rs` combine them in loss recovery.

mod app_data;
mod delivery;
mod departures;
mod frto;
mod gso;
mod inspect;
mod marks;
mod opening;
mod prr;
mod rack;
mod recovery;
mod sack;
mod scoreboard;
mod segments;
mod send_buffer;
mod sequence;
mod timer;
mod usage;

use contract::{
    Ack, Address, CongestionControl, Count, Cx, Ecn, EcnFeedback, Endpoint, Header, Input, Label, Packet,
    TcpHeader,
};
use memory::LINE;
use units::{Bytes, Duration, Rate, Time};

use self::app_data::AppData;
use self::delivery::Sampler;
use self::departures::Departures;
use self::gso::Batch;
pub use self::inspect::{Inspection, State};
use self::marks::MarkCounter;
use self::prr::Prr;
use self::rack::Rack;
use self::recovery::Recovery;
use self::scoreboard::Scoreboard;
use self::segments::SegmentEnds;
use self::send_buffer::SendBuffer;
use self::sequence::SendSequence;
use self::timer::RetransmissionTimer;
use self::usage::Usage;
use super::{AppLimited, Config, LossDetection, RecoveryTimer, Reduction, WindowPacing};
use crate::parts::Pacer;

/// The sender of one connection, with the congestion controller `C`. Sans-IO: it performs no I/O and reads no clock.
///
/// # How it is driven
///
/// 1. [`Sender::new`]; nothing is sent yet.
/// 2. Inputs go to [`Endpoint::handle`] in the order in which they happen, each with a [`Cx`] at that instant:
///    [`Input::Start`] opens the connection, [`Input::Packet`] is an acknowledgement, [`Input::Timer`] says that the
///    deadline may have passed, [`Input::App`] and a packet with [`Header::Request`] add data to send, [`Input::Stop`]
///    closes. Other packets and [`Input::Mode`] are ignored.
/// 3. **After every input** the driver sends all packets in the outbox of [`contract::Outputs`], in order, at once: the
///    sender paces by deadlines.
/// 4. The driver then polls [`Endpoint::wake`] and gives [`Input::Timer`] at or after that instant. An early timer
///    changes nothing. Every other input makes a polled deadline void.
///
/// The receiver must echo the time stamp of the segment that it acknowledges (`TcpHeader::echo`), or round-trip times
/// are wrong.
///
/// Its memory is laid out by cache lines: first the fields of every acknowledgement, then the controller, at the end
/// the fields that few acknowledgements use.
#[derive(Clone, Debug)]
#[repr(C)]
pub struct Sender<C> {
    limits: SendLimits,
    seq: SendSequence,
    timer: RetransmissionTimer,
    settings: Settings,
    phase: Phase,
    usage: Usage,
    to: Address,
    marks: MarkCounter,
    segment_ends: SegmentEnds,
    departures: Departures,
    recovery: Recovery,
    send_buffer: SendBuffer,
    app_data: AppData,
    /// With segmentation offload only.
    batch: Option<Box<Batch>>,
    /// With SACK only.
    scoreboard: Option<Box<Scoreboard>>,
    /// With [`LossDetection::Time`] only.
    rack: Option<Box<Rack>>,
    /// With controllers that request delivery rates only.
    sampler: Option<Box<Sampler>>,
    controller: C,
    /// Without a rate it is not used.
    pacer: Pacer,
    /// With proportional rate reduction only.
    prr: Option<Box<Prr>>,
}

/// The window and rate that the controller allows.
#[derive(Clone, Copy, Debug)]
struct SendLimits {
    /// Congestion window, in bytes of payload.
    window: u64,
    /// Pacing rate.
    rate: Rate,
}

/// The state of the connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    /// Not started, or stopped.
    Closed,
    /// A SYN is in flight.
    Opening,
    /// Data may flow.
    Open,
}

/// The settings that every packet needs.
#[derive(Clone, Copy, Debug)]
struct Settings {
    segment: u32,
    header_bytes: u32,
    handshake: bool,
    /// Of new data.
    ecn: Ecn,
    feedback: EcnFeedback,
    idle_restart: bool,
    idle_decay: bool,
    /// Whether a late segment is charged less [Linux: tcp_update_skb_after_send].
    late_credit: bool,
    limited_transmit: bool,
    fast_recovery: bool,
    undo: bool,
    time_stamps: bool,
    frto: bool,
    steady_timer: bool,
    limited_at_write: bool,
    pacing: WindowPacing,
}

impl<C: CongestionControl> Sender<C> {
    /// The cache lines from the first one on that an acknowledgement needs which shows no loss, with the first line of
    /// the controller.
    pub const LINES: usize = std::mem::offset_of!(Self, controller).div_ceil(LINE) + 1;

    /// A sender to the endpoint `to`. It sends nothing before [`Input::Start`].
    pub fn new(config: &Config, controller: C, to: Address) -> Self {
        Self {
            limits: SendLimits { window: 0, rate: Rate::UNLIMITED },
            to,
            settings: Settings {
                segment: config.segment.as_u64() as u32,
                header_bytes: config.header.as_u64() as u32,
                handshake: config.handshake,
                ecn: match (config.ecn, config.l4s) {
                    (false, _) => Ecn::NotCapable,
                    (true, false) => Ecn::Capable,
                    (true, true) => Ecn::CapableL4s,
                },
                feedback: config.ecn_feedback,
                idle_restart: config.idle_restart,
                idle_decay: config.idle_decay,
                late_credit: config.unpaced > 0,
                limited_transmit: config.limited_transmit,
                fast_recovery: config.fast_recovery || config.sack,
                undo: config.undo,
                time_stamps: config.time_stamps,
                frto: config.frto && config.sack,
                steady_timer: config.recovery_timer == RecoveryTimer::Steady,
                limited_at_write: config.app_limited == AppLimited::AtWrite,
                pacing: config.pacing,
            },
            phase: Phase::Closed,
            usage: Usage::new(config.idle_restart && config.idle_decay),
            seq: SendSequence::new(config.first_window()),
            segment_ends: SegmentEnds::default(),
            send_buffer: SendBuffer::new(config.send_buffer, config.segment, config.initial_window),
            timer: RetransmissionTimer::new(config),
            marks: MarkCounter::default(),
            departures: Departures {
                next_at: Time::NEVER,
                last_sent_at: Time::NEVER,
                // the last of them is the first that the pacer counts
                unpaced: config.unpaced.saturating_sub(1),
                probes: None,
            },
            pacer: Pacer::default(),
            batch: config.gso.then(|| {
                Box::new(Batch::new(config.segment.as_u64().max(1), u64::from(config.initial_window)))
            }),
            app_data: AppData::new(config.demand, config.segment),
            recovery: Recovery::default(),
            scoreboard: config.sack.then(Box::default),
            prr: (config.reduction == Reduction::Proportional).then(Box::default),
            rack: (config.sack && config.loss_detection == LossDetection::Time)
                .then(|| Box::new(Rack::new(config.tail_probe, config.timer_slack))),
            sampler: controller.samples_delivery().then(|| Box::new(Sampler::new())),
            controller,
        }
    }

    /// The congestion controller.
    pub fn controller(&self) -> &C {
        &self.controller
    }

    /// Payload in flight: sent, and neither acknowledged nor declared lost.
    pub fn in_flight(&self) -> Bytes {
        Bytes::new(self.flight())
    }

    #[inline]
    fn flight(&self) -> u64 {
        if self.recovery.by_pipe { self.pipe() } else { self.seq.unaccounted() }
    }

    /// One past the last byte that the congestion window allows.
    #[inline]
    fn limit(&self) -> u64 {
        self.seq.base.saturating_add(self.limits.window)
    }

    /// One past the last byte that the receive window and the send buffer allow.
    #[inline]
    fn edge(&self) -> u64 {
        self.seq.edge.min(self.send_buffer.edge(self.seq.una))
    }

    #[inline]
    fn segment(&self) -> u64 {
        u64::from(self.settings.segment)
    }

    // ---- acknowledgements

    #[inline]
    fn on_packet(&mut self, header: &TcpHeader, packet: &Packet, cx: &mut Cx<'_>) {
        if self.phase != Phase::Open {
            return self.on_handshake_packet(header, cx);
        }
        if header.ack > self.seq.high {
            // acknowledges data that were never sent
            cx.count(Count::Ignored, 1);
            return;
        }
        let (una, edge) = (self.seq.una, self.seq.edge);
        self.seq.open(header.ack, header.window_bytes);
        if self.recovery.by_pipe && header.ack > self.seq.una {
            self.check_reordering(header.ack);
        }
        let newly_sacked = if header.sack.is_empty() { 0 } else { self.read_blocks(header, cx.now()) };
        if header.flags.ece() || self.settings.feedback == EcnFeedback::Accurate {
            self.read_feedback(header, newly_sacked, packet.sent_at, cx);
        }
        let duplicate = header.ack == self.seq.una && self.seq.high > self.seq.una;
        if header.ack > self.seq.una {
            self.on_cumulative_ack(header, newly_sacked, packet, cx);
        } else if duplicate && self.scoreboard.is_none() {
            // one that moves the window is no duplicate                              [RFC5681 §2; Linux: FLAG_NOT_DUP]
            if self.seq.edge == edge {
                self.on_duplicate(cx);
            }
        } else if let Some(rack) = &mut self.rack
            && newly_sacked == 0
            && self.seq.edge == edge
        {
            rack.on_answer_twice(header.ack, None);
        }
        if self.recovery.frto.active && header.ack == una && (duplicate || newly_sacked > 0) {
            self.check_timeout(newly_sacked, false, cx);
        }
        if newly_sacked > 0 {
            self.on_sack(duplicate, cx);
        }
        if !header.sack.is_empty() {
            self.read_duplicate(header, cx);
        }
        let timed = self.rack.is_some();
        if timed {
            self.detect_losses_by_time(cx);
        }
        if self.sampler.is_some() {
            self.report_delivery_rate(packet.sent_at, cx);
        }
        if let Some(cause) = self.recovery.ongoing {
            self.end_episode(cause, cx);
        }
        if newly_sacked > 0 && header.ack <= una {
            self.report_disorder(newly_sacked, header.ack < una, packet, cx);
        }
        if self.recovery.reducing {
            self.apply_prr();
        }
        if let Some(sent) = self.departures.probes {
            self.postpone_probe(sent, cx.now());
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
    fn on_cumulative_ack(&mut self, header: &TcpHeader, newly_sacked: u64, packet: &Packet, cx: &mut Cx<'_>) {
        let in_flight = self.flight();
        let bytes = header.ack - self.seq.una;
        let delivered = if self.recovery.by_pipe || self.recovery.duplicates > 0 {
            self.delivered(header.ack, newly_sacked)
        } else {
            bytes
        };
        let rtt = self.sample_rtt(header, cx);
        self.seq.acknowledge(header.ack);
        if self.seq.una >= self.app_data.last {
            cx.complete();
        }
        if self.recovery.frto.active
            && let Some(scoreboard) = &self.scoreboard
        {
            self.recovery
                .frto
                .on_arrival(scoreboard.first_sent_once(), header.ack.min(self.recovery.recover));
        }
        let counted = self.recovery.by_pipe && self.advance_scoreboard();
        if self.recovery.suspect_sent_at != Time::NEVER {
            self.check_spurious(header.echo, cx);
        }
        if self.recovery.frto.active {
            self.check_timeout(newly_sacked, true, cx);
        }
        if self.rack.is_some() {
            self.check_probe(cx);
        }
        let reducing = self.recovery.reducing;
        let round_ended = self.seq.end_round(header.ack);
        if reducing {
            self.on_progress(bytes, counted, cx);
        } else {
            self.recovery.deflate(&mut self.seq);
            self.restart_timer(cx.now());
        }
        let packets = self.segment_ends.complete(header.ack, delivered, self.segment());
        let marked_packets = std::mem::take(&mut self.marks.pending);
        let ack = Ack {
            bytes: Bytes::new(bytes),
            packets,
            marked: marked_packets > 0,
            marked_packets,
            in_flight: Bytes::new(in_flight),
            sent_at: header.echo,
            ack_sent_at: packet.sent_at,
            rtt,
            rtt_smoothed: self.timer.rtt().smoothed(),
            rtt_min: self.timer.rtt().min(),
            app_limited: !self.is_window_limited(),
            // in Linux the acknowledgement that ends a recovery lets the window grow; without SACK the next one ends it
            //                                                          [Linux: tcp_cong_control, tcp_try_undo_recovery]
            recovering: reducing
                && (self.recovery.reducing || self.prr.is_none() || self.scoreboard.is_none()),
            round_ended,
            from: packet.source.endpoint,
            label: Label::default(),
        };
        if !reducing {
            self.usage.postpone_decay(cx.now());
        }
        self.controller.on_ack(&ack, cx);
        self.read_allowance();
    }

    /// Takes a sample of the round-trip time from an acknowledgement of data in sequence. Returns that for the
    /// controller.
    #[inline]
    fn sample_rtt(&mut self, header: &TcpHeader, cx: &mut Cx<'_>) -> Option<Duration> {
        let now = cx.now();
        // the echo identifies the transmission                                               [RFC7323 §4]
        let echoed = now.saturating_since(header.echo);
        cx.measured_rtt(echoed);
        if cx.probing() {
            cx.probe("rtt", echoed.as_secs_f64());
        }
        let ambiguous =
            !self.settings.time_stamps && self.recovery.covers_retransmission(self.seq.una, header.ack);
        let mut sample = (!ambiguous).then_some((echoed, echoed));
        if let Some(rack) = &mut self.rack {
            let scoreboard = self.scoreboard.as_deref().filter(|_| self.recovery.by_pipe);
            rack.on_acknowledged(self.seq.una, header.ack, scoreboard, self.timer.rtt().min(), now);
            let samples = rack.take_samples();
            if self.prr.is_some() {
                sample = samples.round_trips(self.settings.time_stamps.then_some(echoed), now);
            }
        }
        if let Some((first, _)) = sample {
            self.timer.sample(first);
        }
        sample.map(|(_, last)| last)
    }

    /// Reads the ECN feedback of an acknowledgement that left the receiver at `ack_sent_at` and reports `newly_sacked`
    /// bytes above gaps, and reduces the window if it reports marks. An acknowledgement that is older than one before
    /// has no feedback that is not known [Linux: tcp_ack, old_ack].
    #[cold]
    fn read_feedback(&mut self, header: &TcpHeader, newly_sacked: u64, ack_sent_at: Time, cx: &mut Cx<'_>) {
        if header.ack < self.seq.una {
            return;
        }
        let acked = match &self.scoreboard {
            Some(scoreboard) if !scoreboard.is_clear() => scoreboard.missing(header.ack),
            _ => header.ack - self.seq.una,
        };
        let packets = (acked + newly_sacked).div_ceil(self.segment()) as u32;
        match self.settings.feedback {
            EcnFeedback::Classic => self.marks.pending = packets,
            // without SACK, a duplicate acknowledgement is of one packet that arrived above a gap
            EcnFeedback::Dctcp => {
                self.marks.pending += packets.max(u32::from(self.scoreboard.is_none()));
            }
            EcnFeedback::Accurate => {
                if !self.marks.is_newest(ack_sent_at, header.ack > self.seq.una || newly_sacked > 0) {
                    return;
                }
                let marks = self.marks.read(header.flags.ace, packets);
                self.marks.pending += marks;
                if marks == 0 {
                    return;
                }
            }
        }
        self.on_echo(header.ack, cx);
    }

    /// Arms a tail loss probe where RACK-TLP is on.
    #[inline]
    fn arm(&mut self, cx: &Cx<'_>) {
        if self.rack.is_some() {
            self.arm_probe(cx.now());
        }
    }

    /// Reads the controller's window and rate.
    #[inline]
    fn read_allowance(&mut self) {
        let allowance = self.controller.allowance();
        self.limits.window = allowance.window.as_u64();
        self.limits.rate = allowance.rate;
        if self.settings.pacing != WindowPacing::Off && allowance.rate == Rate::UNLIMITED {
            self.limits.rate = self.rate_of_window();
        }
    }

    /// The rate at which the controller's window is paced, headers included; unlimited before the first sample of the
    /// round-trip time.
    fn rate_of_window(&self) -> Rate {
        let rtt = self.timer.rtt();
        if rtt.min() == Duration::MAX {
            return Rate::UNLIMITED;
        }
        let window = self.limits.window;
        let (payload, percent) = match self.settings.pacing {
            WindowPacing::Off => return Rate::UNLIMITED,
            WindowPacing::Quic => (window, 125),
            WindowPacing::Linux => {
                let starting = window < self.controller.ssthresh().as_u64() / 2;
                (window.max(self.flight()), if starting { 200 } else { 120 })
            }
        };
        let wire = u128::from(payload) * u128::from(self.segment() + u64::from(self.settings.header_bytes))
            / u128::from(self.segment());
        let bps = wire * 8 * percent * 1_000_000_000 / 100;
        let srtt_ns = u128::from(rtt.smoothed().as_nanos().max(1));
        Rate::from_bps((bps / srtt_ns).clamp(1, u128::from(u64::MAX)) as u64)
    }

    /// Restarts the retransmission timer, or stops it if all data are acknowledged [RFC6298 §5.2, §5.3].
    #[inline]
    fn restart_timer(&mut self, now: Time) {
        if self.seq.all_acknowledged() { self.timer.stop() } else { self.timer.start(now) }
    }

    // ---- time

    fn on_timer(&mut self, cx: &mut Cx<'_>) {
        let now = cx.now();
        if self.controller.wake() <= now {
            self.controller.on_timer(cx);
            self.read_allowance();
        }
        match self.phase {
            Phase::Closed => return,
            Phase::Opening if self.timer.is_due(now) => {
                cx.count(Count::Timeouts, 1);
                self.timer.back_off();
                self.open(cx);
            }
            Phase::Opening => {}
            Phase::Open => {
                if self.timer.is_due(now) {
                    if self.departures.probes.is_some() && self.seq.all_acknowledged() {
                        self.probe_window(cx);
                    } else if !self.on_early_timer(cx) {
                        self.on_timeout(cx);
                    }
                }
                if self.recovery.reducing {
                    self.apply_prr();
                }
                self.transmit(cx);
                self.arm(cx);
            }
        }
        if cx.probing() {
            self.probe(cx);
        }
    }

    // ---- the application

    /// Takes a request of the receiver's application, which may be repeated or late.
    #[cold]
    fn on_request(&mut self, (total, abandoned): (u64, u64), cx: &mut Cx<'_>) {
        if self.phase == Phase::Closed {
            return;
        }
        let skipped = self.app_data.abandon(abandoned, self.seq.high.max(self.seq.next));
        cx.count(Count::Skipped, skipped);
        if total > self.app_data.requested() {
            self.on_write();
            self.app_data.request_up_to(total);
            self.on_app_data(cx);
        }
    }

    /// There are more data to send.
    fn on_app_data(&mut self, cx: &mut Cx<'_>) {
        if self.phase == Phase::Open {
            self.transmit(cx);
            self.arm(cx);
        }
    }

    // ---- the trace

    #[cold]
    fn probe(&self, cx: &mut Cx<'_>) {
        cx.probe("window", self.limits.window as f64);
        let threshold = self.controller.ssthresh();
        if threshold != Bytes::UNLIMITED {
            cx.probe("ssthresh", threshold.as_f64());
        }
        cx.probe("in_flight", self.flight() as f64);
        let rtt = self.timer.rtt();
        if rtt.min() != Duration::MAX {
            cx.probe("srtt", rtt.smoothed().as_secs_f64());
        }
    }
}

impl<C: CongestionControl> Endpoint for Sender<C> {
    #[inline]
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>) {
        match input {
            Input::Packet(packet @ Packet { header: Header::Tcp(header), .. }) => {
                self.on_packet(header, packet, cx);
            }
            Input::Packet(Packet { header: Header::Request { total, abandoned }, .. }) => {
                self.on_request((*total, *abandoned), cx);
            }
            Input::Packet(_) | Input::Mode(_) => {}
            Input::Start => self.start(cx),
            Input::Timer => self.on_timer(cx),
            Input::App(request) => {
                self.on_write();
                self.app_data.request(request);
                self.on_app_data(cx);
            }
            Input::Stop => {
                self.phase = Phase::Closed;
                self.timer.stop();
                self.departures.next_at = Time::NEVER;
            }
        }
    }

    #[inline]
    fn wake(&self) -> Time {
        self.timer.expires_at().min(self.departures.next_at).min(self.controller.wake())
    }
}
