//! What a scheme in Python is told. The fields are those of the core (`contract::Ack` and the others), as plain numbers
//! with their units in the names.

use contract::{Cause, Cx};
use pyo3::prelude::*;
use units::{Duration, Time};

/// The name of a cause of congestion.
pub(super) const fn cause(cause: Cause) -> &'static str {
    match cause {
        Cause::Loss => "loss",
        Cause::Mark => "mark",
        Cause::Timeout => "timeout",
        Cause::Refused => "refused",
    }
}

fn seconds(duration: Duration) -> f64 {
    duration.as_secs_f64()
}

/// A minimum, which is `MAX` before the first sample.
fn measured(duration: Duration) -> Option<f64> {
    (duration != Duration::MAX).then(|| duration.as_secs_f64())
}

fn nanos(delay: i64) -> f64 {
    delay as f64 / 1e9
}

macro_rules! input {
    ($(#[doc = $doc:literal])+ $name:ident { $($(#[doc = $field_doc:literal])+ $field:ident: $type:ty,)* }) => {
        $(#[doc = $doc])+
        #[pyclass(frozen, get_all, module = "thalweg._native")]
        #[derive(Clone, Copy, Debug)]
        pub struct $name {
            $($(#[doc = $field_doc])+ pub(crate) $field: $type,)*
        }

        #[pymethods]
        impl $name {
            fn __repr__(&self) -> String {
                format!("{self:?}")
            }
        }
    };
}

input! {
    /// New data were acknowledged.
    Ack {
        /// Simulated time in seconds.
        now_s: f64,
        /// Newly delivered payload in bytes.
        bytes: u64,
        /// Newly delivered packets.
        packets: u32,
        /// It reports a congestion mark.
        marked: bool,
        /// Newly marked packets that it reports.
        marked_packets: u32,
        /// Payload in flight before this acknowledgement, in bytes.
        in_flight_bytes: u64,
        /// Round-trip time sample in seconds; None without a valid one.
        rtt_s: Option<f64>,
        /// Smoothed round-trip time in seconds.
        rtt_smoothed_s: f64,
        /// Minimum round-trip time so far in seconds; None before the first sample.
        rtt_min_s: Option<f64>,
        /// One-way delay between two clocks in seconds: only its changes have a meaning. None if the transport lacks it.
        delay_s: Option<f64>,
        /// The sender was application-limited at some time since the last acknowledgement.
        app_limited: bool,
        /// The transport is in loss recovery.
        recovering: bool,
        /// It ends a round trip.
        round_ended: bool,
    }
}

input! {
    /// A loss, a mark, a timeout or a NACK.
    Congestion {
        /// Simulated time in seconds.
        now_s: f64,
        /// `loss`, `mark`, `timeout` or `refused`.
        cause: &'static str,
        /// Payload lost or marked, in bytes.
        bytes: u64,
        /// Payload in flight at the detection, including lost data, in bytes.
        in_flight_bytes: u64,
        /// The first event of its episode: schemes with one reduction per round trip react to this only.
        first: bool,
    }
}

input! {
    /// The delivery-rate sample of an acknowledgement.
    Delivery {
        /// Simulated time in seconds.
        now_s: f64,
        /// Newly delivered payload in bytes.
        bytes: u64,
        /// Payload delivered in this connection so far, in bytes.
        total_bytes: u64,
        /// Payload delivered before the newest of these packets was sent, in bytes.
        total_when_sent_bytes: u64,
        /// Payload in flight when the newest of these packets was sent, including it, in bytes.
        in_flight_when_sent_bytes: u64,
        /// Payload declared lost since the newest of these packets was sent, in bytes.
        lost_bytes: u64,
        /// Payload delivered per time since then, in bit/s; None if that time is shorter than the minimum round-trip time.
        rate_bps: Option<f64>,
        /// The sender was application-limited when the newest of these packets was sent.
        app_limited: bool,
        /// Round-trip time of the newest of these packets in seconds; None if it was retransmitted.
        rtt_s: Option<f64>,
        /// One-way delay of it in seconds, as in `Ack`.
        delay_s: Option<f64>,
        /// Payload in flight before this acknowledgement, in bytes.
        in_flight_before_bytes: u64,
        /// Payload in flight after it, without lost data, in bytes.
        in_flight_bytes: u64,
        /// The transport is in loss recovery, also after a timeout.
        recovering: bool,
    }
}

input! {
    /// A packet was declared lost.
    Lost {
        /// Simulated time in seconds.
        now_s: f64,
        /// Its payload in bytes.
        bytes: u64,
        /// Payload in flight when it was sent, including it, in bytes.
        in_flight_when_sent_bytes: u64,
        /// Payload declared lost since it was sent, including it, in bytes.
        lost_bytes: u64,
        /// Payload delivered in this connection so far, in bytes.
        total_bytes: u64,
        /// The sender was application-limited when it was sent.
        app_limited: bool,
        /// It follows the packet of the last such call without a gap in the sequence.
        adjoins: bool,
    }
}

input! {
    /// A packet was sent.
    Sent {
        /// Simulated time in seconds.
        now_s: f64,
        /// Its payload in bytes.
        bytes: u64,
        /// Payload in flight after it, in bytes.
        in_flight_bytes: u64,
        /// It is a retransmission.
        retransmission: bool,
        /// The sender was application-limited at some time since the last acknowledgement.
        app_limited: bool,
    }
}

input! {
    /// A reduction of the window.
    Cut {
        /// Simulated time in seconds.
        now_s: f64,
        /// `loss`, `mark`, `timeout` or `refused`.
        cause: &'static str,
        /// Payload in flight at the detection, including lost data, in segments.
        flight: f64,
    }
}

input! {
    /// What happened in a round trip or an interval.
    Summary {
        /// Simulated time at its end, in seconds.
        now_s: f64,
        /// Its length in seconds.
        duration_s: f64,
        /// Payload delivered in it, in bytes.
        acked_bytes: u64,
        /// Packets delivered in it.
        acked_packets: u64,
        /// Packets that were reported as marked in it.
        marked_packets: u64,
        /// Payload that was declared lost in it, in bytes.
        lost_bytes: u64,
        /// Retransmission timeouts in it.
        timeouts: u32,
        /// Payload sent in it, retransmissions included, in bytes.
        sent_bytes: u64,
        /// Minimum of its round-trip time samples in seconds; None without one.
        rtt_min_s: Option<f64>,
        /// Mean of its round-trip time samples in seconds; None without one.
        rtt_mean_s: Option<f64>,
        /// Its last round-trip time sample in seconds; None without one.
        rtt_last_s: Option<f64>,
        /// Smoothed round-trip time of the transport at its last acknowledgement, in seconds; None before the first.
        rtt_smoothed_s: Option<f64>,
        /// Minimum round-trip time of the connection so far in seconds; None before the first sample.
        rtt_base_s: Option<f64>,
        /// Payload in flight at its last event, in bytes.
        in_flight_bytes: u64,
        /// Payload delivered per time, in bit/s.
        delivery_rate_bps: f64,
        /// Payload sent per time, in bit/s.
        sending_rate_bps: f64,
    }
}

impl Ack {
    pub(super) fn of(ack: &contract::Ack, cx: &Cx<'_>) -> Self {
        Self {
            now_s: cx.now().as_secs_f64(),
            bytes: ack.bytes.as_u64(),
            packets: ack.packets,
            marked: ack.marked,
            marked_packets: ack.marked_packets,
            in_flight_bytes: ack.in_flight.as_u64(),
            rtt_s: ack.rtt.map(seconds),
            rtt_smoothed_s: seconds(ack.rtt_smoothed),
            rtt_min_s: measured(ack.rtt_min),
            delay_s: ack.delay().map(nanos),
            app_limited: ack.app_limited,
            recovering: ack.recovering,
            round_ended: ack.round_ended,
        }
    }
}

impl Congestion {
    pub(super) fn of(event: &contract::Congestion, cx: &Cx<'_>) -> Self {
        Self {
            now_s: cx.now().as_secs_f64(),
            cause: cause(event.cause),
            bytes: event.bytes.as_u64(),
            in_flight_bytes: event.in_flight.as_u64(),
            first: event.first,
        }
    }
}

impl Delivery {
    pub(super) fn of(delivery: &contract::Delivery, cx: &Cx<'_>) -> Self {
        Self {
            now_s: cx.now().as_secs_f64(),
            bytes: delivery.bytes.as_u64(),
            total_bytes: delivery.total.as_u64(),
            total_when_sent_bytes: delivery.total_when_sent.as_u64(),
            in_flight_when_sent_bytes: delivery.in_flight_when_sent.as_u64(),
            lost_bytes: delivery.lost.as_u64(),
            rate_bps: delivery.rate.map(|rate| rate.as_bps_f64()),
            app_limited: delivery.app_limited,
            rtt_s: delivery.rtt.map(seconds),
            delay_s: delivery.delay.map(nanos),
            in_flight_before_bytes: delivery.in_flight_before.as_u64(),
            in_flight_bytes: delivery.in_flight.as_u64(),
            recovering: delivery.recovering,
        }
    }
}

impl Lost {
    pub(super) fn of(lost: &contract::Lost, cx: &Cx<'_>) -> Self {
        Self {
            now_s: cx.now().as_secs_f64(),
            bytes: lost.bytes.as_u64(),
            in_flight_when_sent_bytes: lost.in_flight_when_sent.as_u64(),
            lost_bytes: lost.lost.as_u64(),
            total_bytes: lost.total.as_u64(),
            app_limited: lost.app_limited,
            adjoins: lost.adjoins,
        }
    }
}

impl Sent {
    pub(super) fn of(sent: &contract::Sent, cx: &Cx<'_>) -> Self {
        Self {
            now_s: cx.now().as_secs_f64(),
            bytes: sent.bytes.as_u64(),
            in_flight_bytes: sent.in_flight.as_u64(),
            retransmission: sent.retransmission,
            app_limited: sent.app_limited,
        }
    }
}

impl Cut {
    pub(super) fn of(cut: &contract::Cut, cx: &Cx<'_>) -> Self {
        Self { now_s: cx.now().as_secs_f64(), cause: cause(cut.cause), flight: cut.flight.0 }
    }
}

/// Counts what happens between two summaries.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Tally {
    since: Time,
    acked_bytes: u64,
    acked_packets: u64,
    marked_packets: u64,
    lost_bytes: u64,
    timeouts: u32,
    sent_bytes: u64,
    rtt_count: u64,
    rtt_sum_ns: u64,
    rtt_min: Duration,
    rtt_last: Duration,
    rtt_smoothed: Duration,
    rtt_base: Duration,
    in_flight: u64,
}

impl Tally {
    pub(crate) fn new(since: Time) -> Self {
        Self {
            since,
            acked_bytes: 0,
            acked_packets: 0,
            marked_packets: 0,
            lost_bytes: 0,
            timeouts: 0,
            sent_bytes: 0,
            rtt_count: 0,
            rtt_sum_ns: 0,
            rtt_min: Duration::MAX,
            rtt_last: Duration::MAX,
            rtt_smoothed: Duration::MAX,
            rtt_base: Duration::MAX,
            in_flight: 0,
        }
    }

    pub(crate) fn on_ack(&mut self, ack: &contract::Ack) {
        self.acked_bytes += ack.bytes.as_u64();
        self.acked_packets += u64::from(ack.packets);
        self.marked_packets += u64::from(ack.marked_packets);
        if let Some(rtt) = ack.rtt {
            self.rtt_count += 1;
            self.rtt_sum_ns += rtt.as_nanos();
            self.rtt_min = self.rtt_min.min(rtt);
            self.rtt_last = rtt;
        }
        self.rtt_smoothed = ack.rtt_smoothed;
        self.rtt_base = ack.rtt_min;
        self.in_flight = ack.in_flight.saturating_sub(ack.bytes).as_u64();
    }

    pub(crate) fn on_congestion(&mut self, event: &contract::Congestion) {
        match event.cause {
            Cause::Loss => self.lost_bytes += event.bytes.as_u64(),
            Cause::Timeout => {
                self.lost_bytes += event.bytes.as_u64();
                self.timeouts += 1;
            }
            Cause::Mark | Cause::Refused => {}
        }
    }

    pub(crate) fn on_sent(&mut self, sent: &contract::Sent) {
        self.sent_bytes += sent.bytes.as_u64();
        self.in_flight = sent.in_flight.as_u64();
    }

    /// The smoothed round-trip time of the transport; [`Duration::MAX`] before the first acknowledgement.
    pub(crate) fn rtt_smoothed(&self) -> Duration {
        self.rtt_smoothed
    }

    /// What happened until now; a new summary begins.
    pub(crate) fn close(&mut self, now: Time) -> Summary {
        let duration = now.saturating_since(self.since);
        let rate = |bytes: u64| match duration {
            Duration::ZERO => 0.0,
            _ => bytes as f64 * 8.0 / duration.as_secs_f64(),
        };
        let summary = Summary {
            now_s: now.as_secs_f64(),
            duration_s: seconds(duration),
            acked_bytes: self.acked_bytes,
            acked_packets: self.acked_packets,
            marked_packets: self.marked_packets,
            lost_bytes: self.lost_bytes,
            timeouts: self.timeouts,
            sent_bytes: self.sent_bytes,
            rtt_min_s: measured(self.rtt_min),
            rtt_mean_s: (self.rtt_count > 0).then(|| self.rtt_sum_ns as f64 / self.rtt_count as f64 / 1e9),
            rtt_last_s: measured(self.rtt_last),
            rtt_smoothed_s: measured(self.rtt_smoothed),
            rtt_base_s: measured(self.rtt_base),
            in_flight_bytes: self.in_flight,
            delivery_rate_bps: rate(self.acked_bytes),
            sending_rate_bps: rate(self.sent_bytes),
        };
        let Self { rtt_smoothed, rtt_base, in_flight, .. } = *self;
        *self = Self { rtt_smoothed, rtt_base, in_flight, ..Self::new(now) };
        summary
    }
}
