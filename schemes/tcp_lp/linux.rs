//! TCP-LP as Linux has it (net/ipv4/tcp_lp.c of 6.1): its delays are made of TCP timestamps, in 32 bits.
//!
//! All variables have the kernel's names, widths and units, as what its arithmetic loses decides what the controller
//! does.

use contract::{Ack, Cx};
use units::{Duration, Time};

use super::Params;
use crate::shared::linux::{Module, Socket};

/// The kernel's TCP-LP: Reno, and a smaller window when the smoothed one-way delay is above a threshold.
#[derive(Clone, Debug)]
pub struct LinuxLp {
    /// Time since the two hosts were started, in milliseconds, at time zero.
    uptime: u32,
    /// Offset of the timestamps of the other host [tsoffset]; `None` until it is drawn.
    pub(super) offset: Option<u32>,
    /// Position of the threshold in percent.
    percent: u32,
    /// Length of the inference phase in round trips.
    inferences: f64,
    /// The other host's clock rate is known [LP_VALID_RHZ].
    valid_rhz: bool,
    /// No window grows [LP_WITHIN_INF].
    within_inf: bool,
    /// Smoothed one-way delay, times eight.
    pub(super) sowd: u32,
    pub(super) owd_min: u32,
    pub(super) owd_max: u32,
    owd_max_rsv: u32,
    /// Estimated clock rate of the other host, in ticks per second.
    pub(super) remote_hz: u32,
    remote_ref_time: u32,
    local_ref_time: u32,
    /// When the window was last reduced; zero for never.
    last_drop: u32,
    /// Length of the inference phase in milliseconds.
    inference: u32,
    /// The timestamps of the last acknowledgement: of the other host, and of this host as the other returned it.
    rcv_tsval: u32,
    rcv_tsecr: u32,
}

impl LinuxLp {
    /// The module, with its parameters.
    pub fn new(params: &Params) -> Self {
        Self {
            uptime: millis(params.uptime.as_nanos()),
            offset: (!params.timestamp_offset).then_some(0),
            percent: (params.delta * 100.0 + 0.5) as u32,
            inferences: params.inference,
            valid_rhz: false,
            within_inf: false,
            sowd: 0,
            owd_min: u32::MAX,
            owd_max: 0,
            owd_max_rsv: 0,
            remote_hz: 0,
            remote_ref_time: 0,
            local_ref_time: 0,
            last_drop: 0,
            inference: 0,
            rcv_tsval: 0,
            rcv_tsecr: 0,
        }
    }

    /// The clock of timestamps at `at`, without an offset [tcp_time_stamp].
    fn stamp(&self, at: Time) -> u32 {
        self.uptime.wrapping_add(millis(at.as_nanos()))
    }

    /// Estimates the clock rate of the other host from the last two acknowledgements [tcp_lp_remote_hz_estimator].
    fn estimate_remote_hz(&mut self) {
        let mut rhz = i64::from(self.remote_hz.wrapping_shl(6));
        let known = self.remote_ref_time != 0 && self.local_ref_time != 0;
        if known && self.rcv_tsval != self.remote_ref_time && self.rcv_tsecr != self.local_ref_time {
            let remote = TS_HZ.wrapping_mul(self.rcv_tsval.wrapping_sub(self.remote_ref_time));
            let rate = i64::from(remote / self.rcv_tsecr.wrapping_sub(self.local_ref_time));
            // 63/64 of the old and 1/64 of the new; the fraction is lost with each step
            rhz = if rhz > 0 { rhz + rate - (rhz >> 6) } else { rate << 6 };
        }
        self.valid_rhz = rhz >> 6 > 0;
        (self.remote_ref_time, self.local_ref_time) = (self.rcv_tsval, self.rcv_tsecr);
        self.remote_hz = (rhz >> 6) as u32;
    }

    /// The one-way delay: the other host's time minus this one's, in milliseconds, as a number without sign
    /// [tcp_lp_owd_calculator].
    fn one_way_delay(&mut self) -> Option<u32> {
        self.estimate_remote_hz();
        let owd = self.valid_rhz.then(|| {
            // the factor is 0 above 1000 ticks per second, 1 down to 501, and 2 below
            let remote = self.rcv_tsval.wrapping_mul(TS_HZ / self.remote_hz);
            remote.wrapping_sub(self.rcv_tsecr)
        });
        owd.filter(|owd| *owd > 0)
    }

    /// Takes a sample of the one-way delay [tcp_lp_rtt_sample].
    fn sample(&mut self) {
        let Some(owd) = self.one_way_delay() else { return };
        self.owd_min = self.owd_min.min(owd);
        // the maximum is the sample before the largest one
        if owd > self.owd_max {
            if owd > self.owd_max_rsv {
                self.owd_max = if self.owd_max_rsv == 0 { owd } else { self.owd_max_rsv };
                self.owd_max_rsv = owd;
            } else {
                self.owd_max = owd;
            }
        }
        // 7/8 of the old and 1/8 of the new; three bits of a large delay do not fit
        self.sowd = if self.sowd == 0 {
            owd.wrapping_shl(3)
        } else {
            self.sowd.wrapping_add(owd).wrapping_sub(self.sowd >> 3)
        };
    }
}

impl Module for LinuxLp {
    const NEWEST_RTT: bool = false;

    /// Reno's, but not in the inference phase.
    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, _cx: &mut Cx<'_>) {
        if !self.within_inf {
            socket.reno_cong_avoid(acked);
        }
    }

    fn timestamps(&mut self, ack: &Ack, cx: &mut Cx<'_>) {
        let offset = *self.offset.get_or_insert_with(|| cx.random().bits() as u32);
        self.rcv_tsecr = self.stamp(ack.sent_at);
        self.rcv_tsval = self.stamp(ack.ack_sent_at).wrapping_add(offset);
    }

    fn pkts_acked(&mut self, socket: &mut Socket, rtt: Option<Duration>, cx: &mut Cx<'_>) {
        let now = self.stamp(socket.now);
        if rtt.is_some_and(|rtt| rtt.as_nanos() >= 1000) {
            self.sample();
        }
        let delta = now.wrapping_sub(self.rcv_tsecr);
        if delta as i32 > 0 {
            self.inference = (self.inferences * f64::from(delta)) as u32;
        }
        self.within_inf = self.last_drop != 0 && now.wrapping_sub(self.last_drop) < self.inference;
        let range = self.owd_max.wrapping_sub(self.owd_min);
        let threshold = self.owd_min.wrapping_add(self.percent.wrapping_mul(range) / 100);
        if self.sowd >> 3 < threshold {
            return;
        }
        // from here on the bounds are not delays of the path
        self.owd_min = self.sowd >> 3;
        (self.owd_max, self.owd_max_rsv) = (self.sowd >> 2, self.sowd >> 2);
        socket.cwnd = if self.within_inf { 1 } else { (socket.cwnd / 2).max(1) };
        cx.event(if self.within_inf { "persistent" } else { "early" }, socket.cwnd as f64);
        self.last_drop = now;
    }
}

/// Nanoseconds as milliseconds, in 32 bits.
const fn millis(nanos: u64) -> u32 {
    (nanos / 1_000_000) as u32
}

/// Ticks of timestamps per second [Linux: TCP_TS_HZ].
const TS_HZ: u32 = 1000;
