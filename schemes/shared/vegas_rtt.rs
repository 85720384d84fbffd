//! Round-trip times of a round and of the connection, as Vegas and YeAH take them (net/ipv4/tcp_vegas.c of Linux 6.1).

use units::Duration;

use super::linux::{Event, Socket};

/// The measurements of Vegas, in microseconds [Linux: struct vegas].
#[derive(Clone, Debug)]
pub struct VegasRtt {
    /// Whether samples are used: not while something is repaired [doing_vegas_now].
    pub enabled: bool,
    /// Minimum since the start, or since nothing was in flight [baseRTT].
    pub base: u32,
    /// Minimum of this round [minRTT].
    pub min: u32,
    /// Samples of this round [cntRTT].
    pub samples: u32,
    /// The round ends when a byte above this is acknowledged [beg_snd_nxt].
    end: u64,
}

impl Default for VegasRtt {
    /// Without samples [tcp_vegas_init].
    fn default() -> Self {
        Self { enabled: true, base: NONE, min: NONE, samples: 0, end: 0 }
    }
}

impl VegasRtt {
    /// Takes a sample [tcp_vegas_pkts_acked].
    #[inline]
    pub fn sample(&mut self, rtt: Option<Duration>) {
        let Some(rtt) = rtt else { return };
        // never zero
        let micros = (rtt.as_nanos() / 1000) as u32 + 1;
        self.base = self.base.min(micros);
        self.min = self.min.min(micros);
        self.samples += 1;
    }

    /// Whether the last acknowledgement ends the round [tcp_vegas_cong_avoid].
    #[inline]
    pub fn round_ended(&self, socket: &Socket) -> bool {
        socket.una > self.end
    }

    /// Begins a round.
    #[inline]
    pub fn begin_round(&mut self, socket: &Socket) {
        self.end = socket.nxt;
        (self.min, self.samples) = (NONE, 0);
    }

    /// Handles an event of the connection [tcp_vegas_state, tcp_vegas_cwnd_event].
    pub fn event(&mut self, socket: &Socket, event: Event) {
        match event {
            Event::TransmissionStart | Event::WindowRestart => {
                *self = Self::default();
                self.begin_round(socket);
            }
            Event::Open => {
                self.enabled = true;
                self.begin_round(socket);
            }
            Event::Repairing => self.enabled = false,
            Event::Timeout | Event::Loss | Event::ReductionComplete => {}
        }
    }
}

/// No sample.
const NONE: u32 = 0x7fff_ffff;
