//! Westwood+'s bandwidth estimate and window [Linux: tcp_westwood.c]. Times are in ticks of the kernel, bandwidths in
//! bytes per tick, in 32 bits.

use contract::Cx;
use units::{Duration, Time};

use super::Params;
use crate::shared::linux::{Event, Module, Socket};

/// Westwood+: Reno's growth; a loss sets the window to bandwidth times minimum round-trip time.
#[derive(Clone, Debug)]
pub struct Westwood {
    params: Params,
    /// The output of the first filter [bw_ns_est].
    first: u32,
    /// The output of the second: the estimate [bw_est].
    pub(super) bandwidth: u32,
    /// Start of the current sample [rtt_win_sx]; `None` before the first data are sent.
    since: Option<u32>,
    /// Bytes of the current sample [bk].
    bytes: u32,
    /// Bytes counted for duplicate acknowledgements that no cumulative acknowledgement has covered [accounted].
    accounted: u32,
    /// Last sample of the round-trip time [rtt].
    rtt: u32,
    /// Minimum since the last timeout [rtt_min].
    pub(super) rtt_min: u32,
    /// The next sample replaces the minimum [reset_rtt_min].
    reset: bool,
}

impl Westwood {
    /// The module, with its parameters.
    pub fn new(params: &Params) -> Self {
        let rtt = params.initial_rtt * params.hz;
        Self {
            params: params.clone(),
            first: 0,
            bandwidth: 0,
            since: None,
            bytes: 0,
            accounted: 0,
            rtt,
            rtt_min: rtt,
            reset: true,
        }
    }

    /// The clock in ticks.
    fn jiffies(&self, now: Time) -> u32 {
        let nanos = u128::from(now.as_nanos());
        (nanos * u128::from(self.params.hz) / 1_000_000_000) as u32
    }

    /// Ends the current sample if it is long enough [westwood_update_window].
    fn update_window(&mut self, now: u32) {
        let since = *self.since.get_or_insert(now);
        let delta = now.wrapping_sub(since);
        let minimum = self.params.min_interval * self.params.hz / 1000;
        if self.rtt > 0 && delta > self.rtt.max(minimum) {
            self.take(delta);
            self.bytes = 0;
            self.since = Some(now);
        }
    }

    /// Filters the current sample, of `delta` ticks [westwood_filter].
    fn take(&mut self, delta: u32) {
        let sample = self.bytes / delta;
        if self.first == 0 && self.bandwidth == 0 {
            (self.first, self.bandwidth) = (sample, sample);
        } else {
            // b ← (7·b + sample)/8, twice                                               [LINUX: westwood_do_filter]
            let weight = self.params.filter;
            let filter =
                |a: u32, b: u32| weight.wrapping_mul(a).wrapping_add((8 - weight).wrapping_mul(b)) >> 3;
            self.first = filter(self.first, sample);
            self.bandwidth = filter(self.bandwidth, self.first);
        }
    }

    /// Bytes that an acknowledgement delivered: a segment for a duplicate one; of a cumulative one what the duplicates
    /// have not counted [westwood_acked_count].
    fn acked_count(&mut self, advance: u32, mss: u32) -> u32 {
        if advance == 0 {
            self.accounted += mss;
            return mss;
        }
        if advance <= mss {
            return advance;
        }
        if self.accounted >= advance {
            self.accounted -= advance;
            return mss;
        }
        advance - std::mem::take(&mut self.accounted)
    }

    /// Bandwidth times minimum round-trip time, at least two segments [tcp_westwood_bw_rttmin].
    fn window(&self, socket: &Socket) -> u64 {
        (u64::from(self.bandwidth.wrapping_mul(self.rtt_min)) / socket.mss).max(2)
    }
}

impl Module for Westwood {
    const NEWEST_RTT: bool = true;

    fn cong_avoid(&mut self, socket: &mut Socket, acked: u64, _cx: &mut Cx<'_>) {
        socket.reno_cong_avoid(acked);
    }

    fn in_ack_event(&mut self, socket: &mut Socket, advance: u64, cx: &mut Cx<'_>) {
        let now = self.jiffies(cx.now());
        self.update_window(now);
        // acknowledgements in order take the fast path, which does not look at duplicates      [westwood_fast_bw]
        let delivered = if advance == 0 || socket.repairing {
            self.acked_count(advance as u32, socket.mss as u32)
        } else {
            advance as u32
        };
        self.bytes = self.bytes.wrapping_add(delivered);
        // the sample of the acknowledgement before                                    [update_rtt_min]
        self.rtt_min = if std::mem::take(&mut self.reset) { self.rtt } else { self.rtt_min.min(self.rtt) };
        if cx.probing() {
            let bytes_per_second = f64::from(self.bandwidth) * f64::from(self.params.hz);
            cx.probe("bandwidth_estimate", 8.0 * bytes_per_second);
        }
    }

    fn pkts_acked(&mut self, _socket: &mut Socket, rtt: Option<Duration>, _cx: &mut Cx<'_>) {
        if let Some(rtt) = rtt.filter(|rtt| rtt.as_nanos() >= 1000) {
            // rounded up to ticks                                                     [usecs_to_jiffies]
            let micros = u128::from(rtt.as_nanos() / 1000);
            self.rtt = (micros * u128::from(self.params.hz)).div_ceil(1_000_000) as u32;
        }
    }

    fn event(&mut self, socket: &mut Socket, event: Event) {
        match event {
            Event::TransmissionStart if self.since.is_none() => self.since = Some(self.jiffies(socket.now)),
            Event::ReductionComplete => {
                socket.ssthresh = self.window(socket);
                socket.cwnd = socket.ssthresh;
            }
            Event::Timeout => {
                socket.ssthresh = self.window(socket);
                self.reset = true;
            }
            _ => {}
        }
    }
}
