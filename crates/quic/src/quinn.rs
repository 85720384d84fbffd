//! Controllers for quinn-proto.
//!
//! quinn requests only a window from a controller, and paces at 1.25 windows per smoothed round-trip time. A rate *R*
//! therefore becomes the window *R* · srtt: the average rate is *R*, and bursts are shorter than 2 ms or 10 datagrams,
//! as quinn makes them.

use std::any::Any;
use std::time::Instant;

use contract::CongestionControl;
use quinn_proto::RttEstimator;
use quinn_proto::congestion::{self, ControllerMetrics};

use crate::Controller;

impl<C: CongestionControl + Clone + Send + Sync + 'static> congestion::Controller for Controller<C> {
    fn on_sent(&mut self, now: Instant, bytes: u64, _last_packet_number: u64) {
        // acknowledgements alone are not in flight
        if bytes >= SMALLEST_DATA {
            self.sent(now, bytes);
        }
    }

    fn on_ack(&mut self, now: Instant, sent: Instant, bytes: u64, app_limited: bool, rtt: &RttEstimator) {
        self.acked(now, sent, bytes, app_limited, rtt.get());
    }

    fn on_end_acks(&mut self, now: Instant, in_flight: u64, app_limited: bool, largest: Option<u64>) {
        self.frame_ended(now, in_flight, app_limited, largest);
    }

    fn on_congestion_event(&mut self, now: Instant, sent: Instant, persistent: bool, lost_bytes: u64) {
        self.congested(now, sent, persistent, lost_bytes);
    }

    fn on_mtu_update(&mut self, new_mtu: u16) {
        self.mtu_changed(new_mtu);
    }

    /// One byte more than may be in flight: quinn sends only while less than the window would be.
    fn window(&self) -> u64 {
        self.windows_at_rate().0.saturating_add(1)
    }

    fn metrics(&self) -> ControllerMetrics {
        let mut metrics = ControllerMetrics::default();
        metrics.congestion_window = self.windows_at_rate().0;
        metrics.ssthresh = self.threshold();
        metrics.pacing_rate = self.rate_bps();
        metrics
    }

    fn clone_box(&self) -> Box<dyn congestion::Controller> {
        Box::new(self.clone())
    }

    fn initial_window(&self) -> u64 {
        self.windows_at_rate().1.saturating_add(1)
    }

    fn into_any(self: Box<Self>) -> Box<dyn Any> {
        self
    }
}

factories! { quinn_proto }

/// Datagrams below this size carry acknowledgements only.
const SMALLEST_DATA: u64 = 100;

#[cfg(test)]
mod tests {
    use congestion::Controller as _;
    use contract::Allowance;
    use units::{Bytes, Rate};

    use super::*;
    use crate::controller::tests::controller;

    #[test]
    fn the_window_is_a_byte_more_than_may_be_in_flight() {
        let (window, _) = controller(Allowance::window(Bytes::new(12_000)));
        assert_eq!((window.window(), window.initial_window()), (12_001, 12_001));
        assert_eq!((window.metrics().congestion_window, window.metrics().pacing_rate), (12_000, None));
        // 1 MB/s · 333 ms
        let (rate, _) = controller(Allowance::rate(Rate::from_mbps(8)));
        assert_eq!((rate.window(), rate.metrics().pacing_rate), (333_001, Some(8_000_000)));
        let (unlimited, _) = controller(Allowance::window(Bytes::UNLIMITED));
        assert_eq!(unlimited.window(), u64::MAX);
    }

    #[test]
    fn acknowledgements_alone_are_not_in_flight() {
        let (mut controller, at) = controller(Allowance::window(Bytes::new(12_000)));
        controller.on_sent(at(0), 40, 1);
        controller.on_sent(at(1), 1200, 2);
        assert_eq!(controller.scheme().notes, [("sent", 1200)]);
    }
}
