//! Hybla's window [Linux: hybla_cong_avoid]. ρ has three binary digits after the point, and increments have seven.

use contract::Cx;
use units::Duration;

use super::Params;
use crate::shared::linux::{Event, Module, Socket};

/// Hybla: per acknowledgement 2^ρ − 1 segments in slow start, and ρ²/W in congestion avoidance, with ρ = RTT/RTT₀.
#[derive(Clone, Debug)]
pub struct Hybla {
    params: Params,
    /// Off while something is repaired [hybla_en].
    enabled: bool,
    /// 128ths of a segment that are not yet a segment [snd_cwnd_cents].
    cents: u32,
    /// ρ·8, at least 8; zero before the first round-trip time [rho_3ls].
    pub(super) rho8: u32,
    /// Minimum of the smoothed round-trip time [minrtt_us].
    min: Duration,
}

impl Hybla {
    /// The module, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self { params: params.clone(), enabled: true, cents: 0, rho8: 0, min: Duration::MAX }
    }

    /// Computes ρ again if the smoothed round-trip time is the minimum so far.
    fn measure(&mut self, socket: &Socket) {
        if socket.srtt < self.min {
            self.min = socket.srtt;
            // ρ = max(RTT/RTT₀, 1), in eighths                                        [CF04, Linux: hybla_recalc_param]
            let eighths = 8 * socket.srtt.as_nanos() / (u64::from(self.params.rtt0) * 1_000_000);
            self.rho8 = u32::try_from(eighths).unwrap_or(u32::MAX).clamp(8, MAX_RHO8);
        }
    }

    /// The increment of an acknowledgement in slow start, in 128ths of a segment.
    fn in_slow_start(&self) -> u32 {
        // 2^ρ − 1 = 2^⌊ρ⌋·2^(ρ − ⌊ρ⌋) − 1                                                    [CF04]
        (1 << (self.rho8 / 8).min(16)) * EIGHTHS[(self.rho8 % 8) as usize] - 128
    }

    /// The increment in congestion avoidance with the window `cwnd`.
    fn in_congestion_avoidance(&self, cwnd: u64) -> u32 {
        // ρ²/W                                                                            [CF04]
        (u64::from(2 * self.rho8 * self.rho8) / cwnd) as u32
    }
}

impl Module for Hybla {
    const NEWEST_RTT: bool = false;

    /// The window starts with ρ segments.
    fn init(&mut self, socket: &mut Socket) {
        self.measure(socket);
        socket.cwnd = u64::from(self.rho8 / 8);
    }

    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, cx: &mut Cx<'_>) {
        self.measure(socket);
        if cx.probing() {
            cx.probe("rho", f64::from(self.rho8) / 8.0);
        }
        if !socket.cwnd_limited {
            return;
        }
        if !self.enabled {
            return socket.reno_cong_avoid(acked);
        }
        let slow_start = socket.in_slow_start();
        let increment = if slow_start {
            self.in_slow_start()
        } else {
            let increment = self.in_congestion_avoidance(socket.cwnd);
            if increment < 128 {
                socket.credit.add(1);
            }
            increment
        };
        socket.cwnd += u64::from(increment / 128);
        self.cents += increment % 128;
        if self.cents >= 128 {
            self.cents -= 128;
            socket.cwnd += 1;
            socket.credit.clear();
        }
        // an increment below 1/128 is Reno's segment per window of acknowledgements
        if increment == 0 && socket.credit.acked() >= socket.cwnd {
            socket.cwnd += 1;
            socket.credit.clear();
        }
        if slow_start {
            socket.cwnd = socket.cwnd.min(socket.ssthresh);
        }
        socket.cwnd = socket.cwnd.min(u64::from(self.params.max_window));
    }

    fn event(&mut self, _socket: &mut Socket, event: Event) {
        match event {
            Event::Repairing => self.enabled = false,
            Event::Open => self.enabled = true,
            _ => {}
        }
    }
}

/// 128·2^(n/8), as the kernel rounds it [Linux: hybla_fraction].
const EIGHTHS: [u32; 8] = [128, 139, 152, 165, 181, 197, 215, 234];
/// Maximum of ρ·8: above it the kernel's ρ² does not fit its 32 bits. Our choice: the maximum instead of the remainder
/// modulo 2³².
const MAX_RHO8: u32 = 46_340;
