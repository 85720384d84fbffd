//! The frame of congestion controllers as modules of Linux have them (net/ipv4/tcp_cong.c and tcp_input.c of 6.1):
//! windows of whole segments.
//!
//! A module may change the window and the threshold at every event, unlike a [`contract::WindowUpdate`], and it is told
//! of the states of the connection.

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cx, Delivery, Idle, Sent, Setup};
use units::{Bytes, Duration, Time};

use super::Credit;

/// The variables of a connection that modules read and change [Linux: struct tcp_sock]. Windows are in segments.
#[derive(Clone, Debug)]
pub struct Socket {
    /// Congestion window [snd_cwnd].
    pub cwnd: u64,
    /// Slow-start threshold [snd_ssthresh]; [`INFINITE_SSTHRESH`] before the first loss.
    pub ssthresh: u64,
    /// Segments acknowledged towards the next growth [snd_cwnd_cnt].
    pub credit: Credit,
    /// Bytes acknowledged so far [snd_una].
    pub una: u64,
    /// Bytes sent so far [snd_nxt].
    pub nxt: u64,
    /// Payload of a segment, in bytes [mss_cache].
    pub mss: u64,
    /// Smoothed round-trip time; zero before the first sample [srtt_us / 8].
    pub srtt: Duration,
    /// Whether the window was full since the last acknowledgement [tcp_is_cwnd_limited].
    pub cwnd_limited: bool,
    /// The instant of the last input.
    pub now: Time,
    /// Whether a loss, a timeout or a mark is being repaired [ca_state above TCP_CA_Disorder].
    pub repairing: bool,
    /// Whether duplicate acknowledgements came and nothing is repaired yet [TCP_CA_Disorder]. Known only with
    /// [`Module::NEWEST_RTT`].
    pub disordered: bool,
}

impl Socket {
    /// Whether nothing is missing and nothing is repaired [TCP_CA_Open].
    #[inline]
    pub fn is_open(&self) -> bool {
        !self.repairing && !self.disordered
    }

    /// Whether the window is below the threshold [tcp_in_slow_start].
    #[inline]
    pub fn in_slow_start(&self) -> bool {
        self.cwnd < self.ssthresh
    }

    /// Slow start by `acked` segments up to the threshold; returns those that are left [tcp_slow_start].
    #[inline]
    pub fn slow_start(&mut self, acked: u64) -> u64 {
        let cwnd = (self.cwnd + acked).min(self.ssthresh);
        let excess = acked - (cwnd - self.cwnd);
        self.cwnd = cwnd;
        excess
    }

    /// One segment for each `per_segment` acknowledged [tcp_cong_avoid_ai].
    #[inline]
    pub fn cong_avoid_ai(&mut self, per_segment: u64, acked: u64) {
        self.cwnd = self.credit.grow(self.cwnd, per_segment, acked);
    }

    /// Reno's growth: slow start, then a segment for each window acknowledged [tcp_reno_cong_avoid].
    pub fn reno_cong_avoid(&mut self, acked: u64) {
        if !self.cwnd_limited {
            return;
        }
        let acked = if self.in_slow_start() { self.slow_start(acked) } else { acked };
        if acked > 0 {
            self.cong_avoid_ai(self.cwnd, acked);
        }
    }

    /// Reno's threshold after a congestion event: half the window, at least two segments [tcp_reno_ssthresh].
    pub fn reno_ssthresh(&self) -> u64 {
        (self.cwnd / 2).max(2)
    }

    /// The threshold, or three quarters of the window if that is more, but not while a recovery reduces the window
    /// [tcp_current_ssthresh].
    pub fn current_ssthresh(&self) -> u64 {
        self.ssthresh.max(self.cwnd / 2 + self.cwnd / 4)
    }
}

/// An event of the connection [Linux: enum tcp_ca_event, set_state].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// Data are sent while none are in flight [CA_EVENT_TX_START].
    TransmissionStart,
    /// Sending resumes after an idle time [CA_EVENT_CWND_RESTART].
    WindowRestart,
    /// A retransmission timeout, after the threshold was set [CA_EVENT_LOSS].
    Timeout,
    /// Any retransmission timeout, also while losses are repaired [set_state: TCP_CA_Loss].
    Loss,
    /// A reduction after losses or marks is complete, and the window is the threshold [CA_EVENT_COMPLETE_CWR].
    ReductionComplete,
    /// A loss, a timeout or a mark [set_state: TCP_CA_Recovery, TCP_CA_Loss, TCP_CA_CWR].
    Repairing,
    /// Everything is repaired [set_state: TCP_CA_Open].
    Open,
}

/// A congestion-control module of Linux [struct tcp_congestion_ops].
pub trait Module {
    /// Whether the round-trip time of [`Module::pkts_acked`] is measured with the newest segment that arrived, as in
    /// Linux, at the cost of a record for each segment in flight. Otherwise the transport measures it: the TCP of the
    /// RFCs with the echoed timestamp, from the oldest segment of a delayed acknowledgement.
    const NEWEST_RTT: bool;

    /// The growth of the window after `acked` segments, outside reductions [cong_avoid].
    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, cx: &mut Cx<'_>);

    /// The threshold after a loss, a mark or a timeout [ssthresh].
    fn ssthresh(&mut self, socket: &Socket) -> u64 {
        socket.reno_ssthresh()
    }

    /// The handshake took `socket.srtt`; called once, before the first data [init]. Not called without a handshake.
    fn init(&mut self, _socket: &mut Socket) {}

    /// An acknowledgement delivered something, also in a reduction; `rtt` is a sample of the round-trip time
    /// [pkts_acked].
    fn pkts_acked(&mut self, _socket: &mut Socket, _rtt: Option<Duration>, _cx: &mut Cx<'_>) {}

    /// Before [`Module::pkts_acked`]: `advance` bytes more are acknowledged cumulatively, zero for a duplicate
    /// acknowledgement [in_ack_event]. Duplicate acknowledgements are known only with SACK and with
    /// [`Module::NEWEST_RTT`].
    fn in_ack_event(&mut self, _socket: &mut Socket, _advance: u64, _cx: &mut Cx<'_>) {}

    /// The timestamps of an acknowledgement [rcv_tsecr, rcv_tsval].
    fn timestamps(&mut self, _ack: &Ack, _cx: &mut Cx<'_>) {}

    /// An event [cwnd_event, set_state].
    fn event(&mut self, _socket: &mut Socket, _event: Event) {}

    /// A reduction was spurious, and window and threshold are restored. Followed by [`Event::Open`] [undo_cwnd].
    fn undo(&mut self) {}
}

/// A congestion controller made of a [`Module`].
#[derive(Clone, Debug)]
pub struct Linux<M> {
    socket: Socket,
    module: M,
    /// The window in bytes.
    allowed: Bytes,
    segment: Bytes,
    initial: u64,
    /// Window and threshold before the last reduction [prior_cwnd, prior_ssthresh].
    prior: Option<(u64, u64)>,
    /// Whether the window is being reduced to the threshold [TCP_CA_Recovery, TCP_CA_CWR].
    reducing: bool,
    /// Whether the last acknowledgement is of data that left after the reduction, which is then over.
    ended: bool,
    /// What was acknowledged and waits for the sample of its round-trip time.
    pending: Option<Pending>,
    /// Segments of the current acknowledgement that let the window grow if it ends the reduction.
    deferred: u64,
}

/// Cumulatively acknowledged data.
#[derive(Clone, Copy, Debug)]
struct Pending {
    bytes: u64,
    packets: u64,
    /// Whether the window may grow.
    grows: bool,
}

impl<M: Module> Linux<M> {
    /// Starts in slow start, with the initial window.
    pub fn new(module: M, setup: &Setup) -> Self {
        let initial = (setup.initial_window.as_u64() / setup.segment.as_u64()).max(1);
        Self::starting_at(initial, module, setup)
    }

    /// Starts in slow start with a window of `cwnd` segments.
    pub fn starting_at(cwnd: u64, module: M, setup: &Setup) -> Self {
        let mss = setup.segment.as_u64();
        let socket = Socket {
            cwnd,
            ssthresh: INFINITE_SSTHRESH,
            credit: Credit::default(),
            una: 0,
            nxt: 0,
            mss,
            srtt: Duration::ZERO,
            cwnd_limited: true,
            now: Time::ZERO,
            repairing: false,
            disordered: false,
        };
        let initial = (setup.initial_window.as_u64() / mss).max(1);
        let mut linux = Self {
            socket,
            module,
            allowed: Bytes::ZERO,
            segment: setup.segment,
            initial,
            prior: None,
            reducing: false,
            ended: false,
            pending: None,
            deferred: 0,
        };
        linux.changed();
        linux
    }

    /// The variables of the connection.
    pub fn socket(&self) -> &Socket {
        &self.socket
    }

    /// The module.
    pub fn module(&self) -> &M {
        &self.module
    }

    /// The module, to change it.
    #[cfg(test)]
    pub(crate) fn module_mut(&mut self) -> &mut M {
        &mut self.module
    }

    /// Sets window and threshold.
    #[cfg(test)]
    pub(crate) fn set(&mut self, cwnd: u64, ssthresh: u64) {
        (self.socket.cwnd, self.socket.ssthresh) = (cwnd, ssthresh);
        self.changed();
    }

    #[inline]
    fn changed(&mut self) {
        self.socket.cwnd = self.socket.cwnd.max(1);
        self.allowed = self.segment * self.socket.cwnd;
    }

    /// Handles an acknowledgement of `pending`, whose round-trip time is now known [Linux: tcp_ack].
    fn acknowledged(&mut self, pending: Option<Pending>, rtt: Option<Duration>, cx: &mut Cx<'_>) {
        let advance = pending.map_or(0, |pending| pending.bytes);
        self.module.in_ack_event(&mut self.socket, advance, cx);
        self.module.pkts_acked(&mut self.socket, rtt, cx);
        if let Some(pending) = pending.filter(|pending| pending.grows) {
            self.module.cong_avoid(&mut self.socket, pending.packets, cx);
        }
        self.socket.disordered = !self.socket.repairing && M::NEWEST_RTT && advance == 0;
        self.changed();
    }

    fn event(&mut self, event: Event) {
        self.socket.repairing = match event {
            Event::Repairing => true,
            Event::Open => false,
            _ => self.socket.repairing,
        };
        self.socket.disordered &= !matches!(event, Event::Repairing | Event::Open);
        self.module.event(&mut self.socket, event);
    }
}

impl<M: Module> CongestionControl for Linux<M> {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let bytes = ack.bytes.as_u64();
        self.socket.now = cx.now();
        self.socket.una += bytes;
        self.socket.nxt = self.socket.nxt.max(self.socket.una);
        self.socket.srtt = ack.rtt_smoothed;
        self.socket.cwnd_limited = !ack.app_limited;
        self.module.timestamps(ack, cx);
        // no growth in a reduction [tcp_cong_control], which an echoed mark begins; the acknowledgement that ends one
        // counts once the window is the threshold
        let open = !ack.recovering && !ack.marked;
        let grows = open && !self.reducing;
        let acked = u64::from(ack.packets);
        let packets = if grows { acked } else { 0 };
        self.deferred = match (grows, self.ended && open) {
            (true, _) => 0,
            (_, true) => self.deferred + acked,
            _ => acked,
        };
        self.ended = open && !grows;
        if M::NEWEST_RTT {
            let earlier = self.pending.take().unwrap_or(Pending { bytes: 0, packets: 0, grows });
            let (bytes, packets) = (earlier.bytes + bytes, earlier.packets + packets);
            self.pending = Some(Pending { bytes, packets, grows });
        } else {
            self.acknowledged(Some(Pending { bytes, packets, grows }), ack.rtt, cx);
        }
    }

    fn samples_delivery(&self) -> bool {
        M::NEWEST_RTT
    }

    #[inline]
    fn on_delivery(&mut self, delivery: &Delivery, cx: &mut Cx<'_>) {
        self.socket.now = cx.now();
        let mut pending = self.pending.take();
        if let Some(pending) = &mut pending {
            // data that were acknowledged selectively before do not count again              [tcp_newly_delivered]
            pending.packets = pending.packets.min(delivery.bytes.as_u64().div_ceil(self.socket.mss));
        }
        self.acknowledged(pending, delivery.rtt, cx);
    }

    #[inline]
    fn on_sent(&mut self, sent: &Sent, cx: &mut Cx<'_>) {
        self.socket.now = cx.now();
        let (bytes, in_flight) = (sent.bytes.as_u64(), sent.in_flight.as_u64());
        if !self.socket.repairing {
            // nothing is lost, so that all that is not acknowledged is in flight
            self.socket.nxt = self.socket.una + in_flight.saturating_sub(bytes);
        }
        if in_flight <= bytes {
            // snd_nxt advances after the event [tcp_write_xmit]
            self.event(Event::TransmissionStart);
            self.changed();
        }
        if !sent.retransmission || !self.socket.repairing {
            self.socket.nxt += bytes;
        }
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        self.socket.now = cx.now();
        let timeout = event.cause == Cause::Timeout;
        if let Some(pending) = &mut self.pending {
            pending.grows = false;
        }
        if event.first {
            // tcp_init_cwnd_reduction, tcp_enter_loss
            self.prior = Some((self.socket.cwnd, self.socket.current_ssthresh()));
            self.socket.ssthresh = self.module.ssthresh(&self.socket).max(MIN_SSTHRESH);
            self.socket.credit.clear();
            if timeout {
                self.event(Event::Timeout);
            } else {
                self.socket.cwnd = self.socket.ssthresh;
            }
            (self.reducing, self.ended) = (!timeout, false);
        }
        if timeout {
            self.reducing = false;
            // the window is one segment above what is in flight, and all is lost [tcp_enter_loss]
            self.socket.cwnd = 1;
            self.socket.credit.clear();
            self.event(Event::Loss);
        }
        if event.first || timeout {
            self.event(Event::Repairing);
        }
        self.changed();
    }

    fn on_handshake(&mut self, rtt: Duration, cx: &mut Cx<'_>) {
        self.socket.now = cx.now();
        self.socket.srtt = rtt;
        self.module.init(&mut self.socket);
        self.changed();
    }

    #[cold]
    fn on_recovered(&mut self, cause: Cause, cx: &mut Cx<'_>) {
        if cause != Cause::Timeout {
            // tcp_end_cwnd_reduction
            if std::mem::take(&mut self.reducing) {
                self.socket.cwnd = self.socket.ssthresh;
            }
            self.event(Event::ReductionComplete);
        }
        self.event(Event::Open);
        // the acknowledgement that ends the reduction lets the window grow
        // [tcp_ack: tcp_fastretrans_alert, tcp_cong_control]
        let deferred = std::mem::take(&mut self.deferred);
        self.ended = false;
        if deferred > 0 {
            self.module.cong_avoid(&mut self.socket, deferred, cx);
        }
        self.changed();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance::window(self.allowed)
    }

    /// Restores window and threshold; what a module remembers is kept
    /// [Linux: tcp_undo_cwnd_reduction, tcp_reno_undo_cwnd].
    fn on_spurious(&mut self, _cx: &mut Cx<'_>) {
        self.reducing = false;
        if let Some((cwnd, ssthresh)) = self.prior.take() {
            self.socket.cwnd = self.socket.cwnd.max(cwnd);
            self.socket.ssthresh = self.socket.ssthresh.max(ssthresh);
        }
        self.module.undo();
        self.event(Event::Open);
        self.changed();
    }

    /// After an idle time the window is halved, down to the initial window, or is that at once
    /// [Linux: tcp_cwnd_restart; RFC5681 §4.1].
    fn on_idle(&mut self, idle: &Idle, _cx: &mut Cx<'_>) {
        self.event(Event::WindowRestart);
        self.socket.ssthresh = self.socket.current_ssthresh();
        self.socket.cwnd = idle.restart(self.socket.cwnd as f64, self.initial as f64) as u64;
        self.changed();
    }

    /// The window goes half of the way to what is used of it, at least the initial window
    /// [Linux: tcp_cwnd_application_limited].
    fn on_unused(&mut self, used: Bytes, _cx: &mut Cx<'_>) {
        let used = (used.as_u64() / self.socket.mss).max(self.initial);
        if used < self.socket.cwnd {
            self.socket.ssthresh = self.socket.current_ssthresh();
            self.socket.cwnd = (self.socket.cwnd + used) / 2;
            self.changed();
        }
    }

    fn ssthresh(&self) -> Bytes {
        if self.socket.ssthresh >= INFINITE_SSTHRESH {
            Bytes::UNLIMITED
        } else {
            self.segment * self.socket.ssthresh
        }
    }
}

/// No slow-start threshold [Linux: TCP_INFINITE_SSTHRESH].
pub const INFINITE_SSTHRESH: u64 = 0x7fff_ffff;
/// Minimum slow-start threshold after a congestion event, in segments.
const MIN_SSTHRESH: u64 = 2;
