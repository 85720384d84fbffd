//! A test environment for congestion control.

use contract::{
    Ack, Cause, Congestion, CongestionControl, Cx, Delivery, EndpointId, Label, Meter, Outputs, Random, Sent,
    Setup,
};
use units::{Bytes, Duration, Time};

use super::linux::{Linux, Module};

/// A clock and context for a controller.
pub(crate) struct Bench {
    pub(crate) now: Time,
    /// Round-trip time of the acknowledgements that [`Bench::ack`] makes.
    pub(crate) rtt: Duration,
    random: Random,
    meter: Meter,
    out: Outputs,
}

impl Bench {
    /// At time zero, with a round-trip time of 100 ms.
    pub(crate) fn new() -> Self {
        Self {
            now: Time::ZERO,
            rtt: Duration::from_millis(100),
            random: Random::new(1, "bench", ""),
            meter: Meter::default(),
            out: Outputs::default(),
        }
    }

    /// Acknowledges one segment, now.
    pub(crate) fn ack(&mut self, controller: &mut impl CongestionControl) {
        let ack = self.an_ack(controller);
        self.deliver_ack(controller, &ack);
    }

    /// An acknowledgement of one segment with a full window.
    pub(crate) fn an_ack(&self, controller: &impl CongestionControl) -> Ack {
        Ack {
            bytes: SEGMENT,
            packets: 1,
            marked: false,
            marked_packets: 0,
            in_flight: controller.allowance().window,
            sent_at: self.now - self.rtt,
            ack_sent_at: self.now - self.rtt / 2,
            rtt: Some(self.rtt),
            rtt_smoothed: self.rtt,
            rtt_min: self.rtt,
            app_limited: false,
            recovering: false,
            round_ended: false,
            from: EndpointId(0),
            label: Label::default(),
        }
    }

    /// Passes `ack` to the controller.
    pub(crate) fn deliver_ack(&mut self, controller: &mut impl CongestionControl, ack: &Ack) {
        controller.on_ack(ack, &mut self.cx());
    }

    /// Acknowledges a window of segments, spread evenly over one round-trip time.
    pub(crate) fn round(&mut self, controller: &mut impl CongestionControl) {
        let acks = controller.allowance().window.as_u64() / SEGMENT.as_u64();
        for _ in 0..acks {
            self.now += self.rtt / acks;
            self.ack(controller);
        }
    }

    /// A congestion event with a full window in flight, the first of its episode.
    pub(crate) fn congestion(&mut self, controller: &mut impl CongestionControl, cause: Cause) {
        let in_flight = controller.allowance().window;
        let event = Congestion { cause, bytes: SEGMENT, in_flight, first: true };
        controller.on_congestion(&event, &mut self.cx());
    }

    /// What TCP does at an acknowledgement of `packets` segments in order, the newest of which took [`Bench::rtt`]:
    /// acknowledgement, delivery, and departures that fill the window again.
    pub(crate) fn deliver<M: Module>(&mut self, controller: &mut Linux<M>, packets: u32) {
        let ack = self.an_ack_of(controller, packets);
        self.deliver_as(controller, &ack);
    }

    /// An acknowledgement of `packets` segments.
    pub(crate) fn an_ack_of<M: Module>(&self, controller: &Linux<M>, packets: u32) -> Ack {
        let in_flight = Bytes::new(controller.socket().nxt - controller.socket().una);
        Ack { bytes: SEGMENT * u64::from(packets), packets, in_flight, ..self.an_ack(controller) }
    }

    /// Delivers `ack`.
    pub(crate) fn deliver_as<M: Module>(&mut self, controller: &mut Linux<M>, ack: &Ack) {
        self.deliver_ack(controller, ack);
        self.delivery(controller, ack.bytes, ack.rtt, ack.recovering);
        self.fill(controller);
    }

    /// Reports the delivery of `bytes`, without an acknowledgement in order, to a controller that asks for it.
    pub(crate) fn delivery<M: Module>(
        &mut self,
        controller: &mut Linux<M>,
        bytes: Bytes,
        rtt: Option<Duration>,
        recovering: bool,
    ) {
        if !controller.samples_delivery() {
            return;
        }
        let delivery = Delivery {
            bytes,
            total: bytes,
            total_when_sent: Bytes::ZERO,
            in_flight_when_sent: bytes,
            lost: Bytes::ZERO,
            rate: None,
            app_limited: false,
            rtt,
            delay: None,
            in_flight_before: bytes,
            in_flight: Bytes::ZERO,
            recovering,
        };
        controller.on_delivery(&delivery, &mut self.cx());
    }

    /// Sends segments until the window is full.
    pub(crate) fn fill<M: Module>(&mut self, controller: &mut Linux<M>) {
        loop {
            let socket = controller.socket();
            let in_flight = Bytes::new(socket.nxt - socket.una) + SEGMENT;
            if in_flight > controller.allowance().window {
                return;
            }
            let sent = Sent {
                bytes: SEGMENT,
                in_flight,
                retransmission: false,
                app_limited: false,
                idle: Duration::ZERO,
            };
            controller.on_sent(&sent, &mut self.cx());
        }
    }

    pub(crate) fn cx(&mut self) -> Cx<'_> {
        Cx::new(
            self.now,
            Default::default(),
            Default::default(),
            &mut self.random,
            &mut self.meter,
            &mut self.out,
        )
    }
}

/// Segment size of all tests.
pub(crate) const SEGMENT: Bytes = Bytes::new(1000);

/// Segments of 1000 bytes and an initial window of `initial` of them.
pub(crate) fn setup(initial: u64) -> Setup {
    Setup { segment: SEGMENT, header: Bytes::ZERO, initial_window: SEGMENT * initial }
}
