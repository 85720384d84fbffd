//! Departures: what the congestion window, the receive window, the pacer and the application allow to leave.

use contract::{
    CongestionControl, Count, Cx, Ecn, EcnFeedback, Header, Idle, Label, Sent, TcpFlags, TcpHeader,
};
use units::{Bytes, Duration, Rate, Time};

use super::Sender;
use crate::tcp::WindowPacing;

/// Departure times of segments.
#[derive(Clone, Debug)]
pub(super) struct Departures {
    /// When the pacer or the application allows the next segment; [`Time::NEVER`] if neither delays it.
    pub(super) next_at: Time,
    /// When the last segment left.
    pub(super) last_sent_at: Time,
    /// Segments that are still to leave without pacing.
    pub(super) unpaced: u32,
    /// If the timer is for probes of a closed receive window: how many of them have left.
    pub(super) probes: Option<u32>,
}

/// Probes of a closed window after which the time between them does not grow.
const MAX_DOUBLINGS: u32 = 32;

impl<C: CongestionControl> Sender<C> {
    /// Sends what the congestion window, the receive window, the pacer and the application allow.
    #[inline]
    pub(super) fn transmit(&mut self, cx: &mut Cx<'_>) {
        self.departures.next_at = Time::NEVER;
        if self.recovery.by_pipe {
            return self.transmit_by_pipe(cx);
        }
        if self.seq.una == self.seq.high {
            self.check_idle(cx);
        }
        self.end_batch();
        let begin = self.seq.next;
        let mut limit = self.limit().min(self.edge());
        let full = loop {
            let len = self.segment().min(self.app_data.ready - self.seq.next);
            if len == 0 || self.seq.next + len > limit {
                if len == 0 && self.unsent(cx.now()) > 0 {
                    continue;
                }
                let needed = if len == 0 { self.segment() } else { len };
                if self.seq.next + needed <= self.limit() {
                    if len > 0 && self.send_buffer.grow(self.limits.window) {
                        limit = self.limit().min(self.edge());
                        continue;
                    }
                    self.on_app_limited();
                    self.send_partial_segment(cx);
                    break false;
                }
                // data that wait, or left just now, fill the window
                break len > 0 || self.seq.next > begin;
            }
            if self.holds_back(limit - self.seq.next, cx.now()) {
                break self.is_window_short();
            }
            self.emit_next(len, cx);
        };
        if full || self.seq.next > begin {
            self.record_usage(full, cx);
        }
    }

    /// Whether what holds the next segment back is as good as a full window: a batch that waits for more of the window
    /// [Linux: tcp_tso_should_defer], or the pacer, if it does not belong to the window.
    #[cold]
    pub(super) fn is_window_short(&self) -> bool {
        if self.departures.next_at == Time::NEVER {
            self.limit() < self.edge()
        } else {
            self.settings.pacing != WindowPacing::Linux
        }
    }

    /// Whether the pacer delays the next segment. If so, sets the deadline.
    #[inline]
    pub(super) fn waits_for_pacer(&mut self, now: Time) -> bool {
        let waiting = self.limits.rate != Rate::UNLIMITED && now < self.pacer.free_at();
        if waiting {
            self.departures.next_at = self.pacer.free_at();
        }
        waiting
    }

    /// Bytes that the application has produced and that were not yet sent.
    #[cold]
    pub(super) fn unsent(&mut self, now: Time) -> u64 {
        // for what became ready before, the sender did not wait: the window, or older data, were what held it back
        if self.app_data.next_data_at() == now {
            self.on_write();
        }
        self.app_data.refill(now);
        self.app_data.ready - self.seq.next
    }

    /// Records that the application, the receive window or the send buffer leaves the congestion window unused.
    #[cold]
    pub(super) fn on_app_limited(&mut self) {
        let in_flight = self.flight();
        if !self.settings.limited_at_write
            && let Some(sampler) = &mut self.sampler
        {
            sampler.limit(in_flight);
        }
        if self.app_data.ready == self.seq.next {
            self.departures.next_at = self.app_data.next_data_at();
        }
    }

    /// Called before the application has more data: they are the first after a gap if all were sent, and all lost ones
    /// retransmitted, and the window has room [Linux: tcp_rate_check_app_limited].
    #[cold]
    pub(super) fn on_write(&mut self) {
        if !self.settings.limited_at_write || self.sampler.is_none() {
            return;
        }
        let (segment, in_flight) = (self.segment(), self.flight());
        let waits =
            self.scoreboard.as_ref().is_some_and(|scoreboard| scoreboard.next_lost(segment).is_some());
        if let Some(sampler) = &mut self.sampler
            && self.app_data.ready.saturating_sub(self.seq.next) < segment
            && in_flight + segment <= self.limits.window
            && !waits
        {
            sampler.limit(in_flight);
        }
    }

    /// The receive window is smaller than a segment and nothing is in flight that could open it: sends what fits (RFC
    /// 9293 §3.8.6.2), or arms the timer of probes if nothing does (RFC 9293 §3.8.6.1).
    #[cold]
    fn send_partial_segment(&mut self, cx: &mut Cx<'_>) {
        let unsent = self.app_data.ready - self.seq.next;
        let len = self.seq.edge.saturating_sub(self.seq.next).min(unsent);
        if self.seq.next != self.seq.una || unsent == 0 {
            return;
        }
        if len > 0 {
            self.emit_next(len, cx);
        } else if self.seq.all_acknowledged() && self.departures.probes.is_none() {
            self.departures.probes = Some(0);
            self.timer.start(cx.now());
        }
    }

    /// The receive window is closed and nothing is in flight: sends a segment without data below it, which the receiver
    /// acknowledges with its window [RFC9293 §3.8.6.1; Linux: tcp_send_probe0].
    #[cold]
    pub(super) fn probe_window(&mut self, cx: &mut Cx<'_>) {
        let header =
            TcpHeader { seq: self.seq.una.saturating_sub(1), window_bytes: u32::MAX, ..TcpHeader::default() };
        let size = Bytes::new(u64::from(self.settings.header_bytes));
        cx.send(self.to.into(), size, Ecn::NotCapable, Header::Tcp(header), Label::default());
        let sent = self.departures.probes.map_or(1, |sent| sent.saturating_add(1).min(MAX_DOUBLINGS));
        self.departures.probes = Some(sent);
        self.timer.start_probe(cx.now(), sent);
    }

    /// An acknowledgement leaves the receive window closed: the time to the next probe counts from here, and the
    /// timeout of data is what it was [Linux: tcp_ack_probe, tcp_probe0_when].
    #[cold]
    pub(super) fn postpone_probe(&mut self, sent: u32, now: Time) {
        self.timer.start_probe(now, sent);
    }

    /// Sends `len` bytes from `next` on, which may be retransmissions.
    #[inline]
    pub(super) fn emit_next(&mut self, len: u64, cx: &mut Cx<'_>) {
        let (seq, retransmission) = self.seq.take(len);
        if len < self.segment() {
            self.segment_ends.on_short(seq + len);
        }
        self.emit(seq, len, retransmission, cx);
    }

    /// Sends a segment. `retransmission` means that some of its bytes were sent before.
    #[inline]
    pub(super) fn emit(&mut self, seq: u64, len: u64, retransmission: bool, cx: &mut Cx<'_>) {
        let now = cx.now();
        let mut flags = TcpFlags { fin: seq + len == self.app_data.last, ..TcpFlags::default() };
        let mut ecn = Ecn::NotCapable;
        if let Some(batch) = &mut self.batch
            && !retransmission
        {
            flags.psh = batch.take();
        }
        if retransmission {
            cx.count(Count::Retransmits, 1);
        } else if self.settings.ecn != Ecn::NotCapable {
            // retransmissions are not ECN-capable, and CWR is sent with new data            [RFC3168 §6.1.2, §6.1.5]
            ecn = self.settings.ecn;
            if std::mem::take(&mut self.recovery.cwr_due) && self.settings.feedback != EcnFeedback::Accurate {
                flags.ace = TcpFlags::CWR;
            }
        }
        let size = Bytes::new(len + u64::from(self.settings.header_bytes));
        let header = TcpHeader { seq, window_bytes: u32::MAX, flags, ..TcpHeader::default() };
        cx.send(self.to.into(), size, ecn, Header::Tcp(header), Label::default());
        if self.departures.unpaced > 0 {
            self.departures.unpaced -= 1;
        } else if self.limits.rate != Rate::UNLIMITED {
            self.pacer.charge(size, self.limits.rate, now, self.settings.late_credit);
        }
        if retransmission {
            self.recovery.retransmitted(self.seq.una, seq, seq + len);
        }
        if self.departures.probes.take().is_some() {
            self.timer.start(now);
        } else {
            self.timer.start_if_stopped(now);
        }
        if let Some(rack) = &mut self.rack {
            rack.on_sent(seq, seq + len, retransmission, now);
        }
        let last_sent_at = std::mem::replace(&mut self.departures.last_sent_at, now);
        let in_flight = self.flight();
        if let Some(sampler) = &mut self.sampler {
            sampler.on_sent(seq, seq + len, in_flight, now);
        }
        let sent = Sent {
            bytes: Bytes::new(len),
            in_flight: Bytes::new(in_flight),
            retransmission,
            app_limited: self.sampler.as_ref().is_some_and(|sampler| sampler.is_limited()),
            idle: if last_sent_at == Time::NEVER { Duration::ZERO } else { now - last_sent_at },
        };
        self.controller.on_sent(&sent, cx);
    }

    /// Called when nothing is in flight. If the sender resumes after an idle time of one retransmission timeout, the
    /// window is no longer valid, and the controller is notified [RFC5681 §4.1].
    #[cold]
    fn check_idle(&mut self, cx: &mut Cx<'_>) {
        if self.departures.last_sent_at == Time::NEVER || !self.settings.idle_restart {
            return;
        }
        let time = cx.now().saturating_since(self.departures.last_sent_at);
        let rto = self.timer.rtt().rto();
        if time > rto && self.unsent(cx.now()) > 0 {
            // one for each whole timeout that has passed                                 [Linux: tcp_cwnd_restart]
            let whole = (time.as_nanos() - 1) / rto.as_nanos().max(1);
            let halvings = self.settings.idle_decay.then_some(whole.min(u64::from(u32::MAX)) as u32);
            self.controller.on_idle(&Idle { time, halvings }, cx);
            self.usage.restart_decay(cx.now());
            self.read_allowance();
        }
    }
}
