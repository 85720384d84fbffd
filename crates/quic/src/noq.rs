//! Controllers for noq-proto.
//!
//! noq paces at the rate that a controller reports, so that a rate stays a rate here. A window scheme reports none, and
//! noq paces at 1.25 windows per smoothed round-trip time. noq sends while a datagram fits into the window, and reports
//! each packet that is in flight by itself.

use std::any::Any;
use std::time::Instant;

use contract::CongestionControl;
use noq_proto::RttEstimator;
use noq_proto::congestion::{self, ControllerMetrics};

use crate::Controller;

impl<C: CongestionControl + Clone + Send + Sync + 'static> congestion::Controller for Controller<C> {
    fn on_packet_sent(&mut self, now: Instant, bytes: u16, _number: u64) {
        self.sent(now, bytes.into());
    }

    fn on_ack(
        &mut self,
        now: Instant,
        sent: Instant,
        bytes: u64,
        _number: u64,
        app_limited: bool,
        rtt: &RttEstimator,
    ) {
        self.acked(now, sent, bytes, app_limited, rtt.get());
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.frame_ended(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(
        &mut self,
        now: Instant,
        sent: Instant,
        persistent: bool,
        _marked: bool,
        lost_bytes: u64,
        _largest: u64,
    ) {
        self.congested(now, sent, persistent, lost_bytes);
    }

    fn on_spurious_congestion_event(&mut self) {
        self.nothing_lost();
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu_changed(new_mtu);
    }

    fn window(&self) -> u64 {
        self.windows().0
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.windows().0;
        metrics.ssthresh = self.threshold();
        // in bytes per second
        metrics.pacing_rate = self.rate_bps().map(|bps| bps / 8);
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.windows().1
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

factories! { noq_proto }

#[cfg(test)]
mod tests {
    use congestion::Controller as _;
    use contract::Allowance;
    use units::{Bytes, Rate};

    use super::*;
    use crate::controller::tests::controller;

    #[test]
    fn a_rate_is_reported_in_bytes_per_second_and_limits_no_window() {
        let (rate, _) = controller(Allowance::rate(Rate::from_mbps(8)));
        assert_eq!((rate.window(), rate.metrics().pacing_rate), (u64::MAX, Some(1_000_000)));
        let (window, _) = controller(Allowance::window(Bytes::new(12_000)));
        assert_eq!((window.window(), window.initial_window()), (12_000, 12_000));
        assert_eq!((window.metrics().congestion_window, window.metrics().pacing_rate), (12_000, None));
    }

    #[test]
    fn losses_that_were_none_are_undone() {
        let (mut controller, at) = controller(Allowance::window(Bytes::new(12_000)));
        controller.on_packet_sent(at(0), 1200, 1);
        controller.on_congestion_event(at(100), at(0), false, false, 1200, 1);
        controller.on_spurious_congestion_event();
        assert_eq!(controller.scheme().notes, [("sent", 1200), ("first loss", 1200), ("spurious", 100)]);
    }
}
