//! Prague's window and pacing rate. Its packets are ECT(1) [RFC9331 §4.1].

use contract::{Ack, Allowance, Cause, Congestion, CongestionControl, Cut, Cx, Idle, Setup, WindowUpdate};
use units::{Bytes, Duration, Rate, Segments, Time};

use super::Params;
use crate::shared::Classic;

/// The congestion control of one connection.
#[derive(Clone, Debug)]
pub struct Control {
    classic: Classic<Window>,
    gain: f64,
    virtual_rtt: Duration,
    real_rounds: u32,
    pace_start: f64,
    /// Bytes on the wire per segment.
    full: Bytes,
    rate: Rate,
    rtt: Duration,
    /// Packets acknowledged since the fraction was last updated, and how many of them were marked.
    acked: u64,
    marked: u64,
    /// `None` before the first acknowledgement.
    updated_at: Option<Time>,
    /// The last reduction after a mark, and the window before it, until a loss has taken its place.
    reduced: Option<(Time, Option<f64>)>,
}

impl Control {
    pub(super) fn new(params: &Params, setup: &Setup) -> Self {
        Self {
            classic: Classic::new(Window { alpha: None, slower: 1.0 }, setup),
            gain: params.gain,
            virtual_rtt: params.virtual_rtt,
            real_rounds: params.real_rounds,
            pace_start: params.pace_start,
            full: setup.segment + setup.header,
            rate: Rate::UNLIMITED,
            rtt: Duration::ZERO,
            acked: 0,
            marked: 0,
            updated_at: None,
            reduced: None,
        }
    }

    /// The congestion window.
    pub fn window(&self) -> Segments {
        self.classic.window()
    }

    /// The smoothed fraction of marked packets; 0 before the first mark.
    pub fn alpha(&self) -> f64 {
        self.classic.update().alpha.unwrap_or(0.0)
    }

    #[cfg(test)]
    pub(super) fn classic_alpha(&mut self, alpha: f64) {
        self.classic.update_mut().alpha = Some(alpha);
    }

    /// The virtual round-trip time.
    fn rtt_virt(&self) -> Duration {
        // rtt_virt = max(srtt, RTT_VIRT_MIN)                                              [PRAGUE04 §2.4.4]
        self.rtt.max(self.virtual_rtt)
    }

    /// Takes the packets of an acknowledgement into the fraction.
    fn observe(&mut self, ack: &Ack, now: Time) {
        self.acked += u64::from(ack.packets);
        self.marked += u64::from(ack.marked_packets);
        let since = *self.updated_at.get_or_insert(now);
        let due = ack.round_ended && now.saturating_since(since) >= self.rtt_virt();
        let alpha = &mut self.classic.update_mut().alpha;
        match alpha {
            // 1 at the first mark                                                           [PRAGUE04 §2.3.2]
            None if self.marked > 0 => *alpha = Some(1.0),
            // alpha += g·(frac − alpha), once per virtual round trip                       [PRAGUE04 §2.3.2, UDPPRAGUE]
            Some(alpha) if due => {
                let fraction = self.marked.min(self.acked) as f64 / self.acked.max(1) as f64;
                *alpha += self.gain * (fraction - *alpha);
            }
            _ if due => {}
            _ => return,
        }
        (self.acked, self.marked, self.updated_at) = (0, 0, Some(now));
    }

    /// Sets the pacing rate: a window per round trip.
    fn pace(&mut self) {
        if self.rtt == Duration::ZERO {
            return;
        }
        let gain = if self.classic.in_slow_start() { self.pace_start } else { 1.0 };
        let bytes = self.window().0 * self.full.as_u64() as f64;
        let bps = gain * 8.0 * bytes / self.rtt.as_secs_f64();
        self.rate = Rate::from_bps((bps as u64).max(1));
    }
}

impl CongestionControl for Control {
    #[inline]
    fn on_ack(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        self.rtt = ack.rtt_smoothed;
        self.observe(ack, cx.now());
        if ack.round_ended {
            self.real_rounds = self.real_rounds.saturating_sub(1);
        }
        if self.real_rounds == 0 {
            // the window grows per time as with the virtual round-trip time                [PRAGUE04 §2.4.4]
            let ratio = self.rtt.as_secs_f64() / self.rtt_virt().as_secs_f64();
            self.classic.update_mut().slower = ratio * ratio;
        }
        // each packet that was not marked adds its share                                    [PRAGUE04 §2.4.3]
        let grows = ack.packets.saturating_sub(ack.marked_packets);
        if grows > 0 {
            let bytes = Bytes::new(ack.bytes.as_u64() * u64::from(grows) / u64::from(ack.packets));
            let unmarked = Ack { packets: grows, bytes, marked: false, marked_packets: 0, ..*ack };
            self.classic.on_ack(&unmarked, cx);
        }
        self.pace();
        if cx.probing() {
            cx.probe("alpha", self.alpha());
        }
    }

    #[cold]
    fn on_congestion(&mut self, event: &Congestion, cx: &mut Cx<'_>) {
        let now = cx.now();
        let recent = self.reduced.is_some_and(|(at, _)| now.saturating_since(at) < self.rtt_virt());
        match event.cause {
            Cause::Mark => {
                // one reduction per virtual round trip                                     [PRAGUE04 §2.4.2, UDPPRAGUE]
                if !event.first || recent {
                    return;
                }
                self.classic.update_mut().alpha.get_or_insert(1.0);
                self.reduced = Some((now, Some(self.window().0)));
                self.classic.on_congestion(event, cx);
            }
            Cause::Loss | Cause::Timeout | Cause::Refused => {
                let mut event = *event;
                if recent
                    && event.cause == Cause::Loss
                    && let Some((_, Some(window))) = self.reduced
                {
                    // the reduction for the loss takes the place of that for the mark       [PRAGUE04 §2.4.1]
                    self.classic.restore(window);
                    self.reduced = Some((now, None));
                    event.first = true;
                }
                self.classic.on_congestion(&event, cx);
            }
        }
        self.pace();
    }

    #[inline]
    fn allowance(&self) -> Allowance {
        Allowance { rate: self.rate, ..self.classic.allowance() }
    }

    fn on_spurious(&mut self, cx: &mut Cx<'_>) {
        let retained = self.classic.update().clone();
        self.classic.on_spurious(cx);
        // the window is restored, the fraction goes on
        *self.classic.update_mut() = retained;
        self.pace();
    }

    fn on_idle(&mut self, idle: &Idle, cx: &mut Cx<'_>) {
        self.classic.on_idle(idle, cx);
        self.pace();
    }

    fn on_unused(&mut self, used: Bytes, cx: &mut Cx<'_>) {
        self.classic.on_unused(used, cx);
        self.pace();
    }

    fn ssthresh(&self) -> Bytes {
        self.classic.ssthresh()
    }
}

/// Growth and reductions.
#[derive(Clone, Debug)]
struct Window {
    /// The smoothed fraction of marked packets; `None` before the first mark.
    alpha: Option<f64>,
    /// Share of Reno's growth per round trip.
    slower: f64,
}

impl WindowUpdate for Window {
    #[inline]
    fn congestion_avoidance(&mut self, window: Segments, ack: &Ack, _cx: &mut Cx<'_>) -> Segments {
        // cwnd += (srtt/rtt_virt)²/cwnd per packet                                          [PRAGUE04 §2.4.3, §2.4.4]
        Segments(window.0 + f64::from(ack.packets) * self.slower / window.0)
    }

    #[inline]
    fn slow_start(
        &mut self,
        window: Segments,
        _step: Segments,
        ack: &Ack,
        _cx: &mut Cx<'_>,
    ) -> Option<Segments> {
        Some(Segments(window.0 + f64::from(ack.packets)))
    }

    fn ssthresh(&mut self, window: Segments, cut: &Cut, _cx: &mut Cx<'_>) -> Segments {
        match cut.cause {
            // cwnd = cwnd·(1 − alpha/2)                                                     [PRAGUE04 §2.4.2]
            Cause::Mark => Segments((window.0 * (1.0 - self.alpha.unwrap_or(1.0) / 2.0)).max(MIN_WINDOW)),
            // half, as Reno                                                                 [PRAGUE04 §2.4.1]
            Cause::Loss | Cause::Timeout | Cause::Refused => Segments((window.0 / 2.0).max(MIN_WINDOW)),
        }
    }
}

/// Minimum window after a reduction, in segments [UDPPRAGUE].
const MIN_WINDOW: f64 = 2.0;
