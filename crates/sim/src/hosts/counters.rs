//! Counters of endpoints, and the records that are made of them.

use contract::{Address, DropReason, FlowId, Meter};
use units::{Duration, Time};

use crate::delays::Delays;
use crate::trace::{Arrivals, FlowRecord, ReceiverRecord};

/// Packets that an endpoint has handed to the network.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Sent {
    pub packets: u64,
    pub bytes: u64,
}

/// Packets that reached an endpoint, as far as every arrival counts.
#[derive(Clone, Copy, Debug)]
pub(super) struct Arrived {
    packets: u64,
    bytes: u64,
    delay_sum_ns: u64,
    wait_sum_ns: u64,
    pub delay_min: Duration,
    pub delay_max: Duration,
}

impl Default for Arrived {
    fn default() -> Self {
        let (delay_min, delay_max) = (Duration::MAX, Duration::ZERO);
        Self { packets: 0, bytes: 0, delay_sum_ns: 0, wait_sum_ns: 0, delay_min, delay_max }
    }
}

impl Arrived {
    /// Counts a packet with its one-way delay and its time in queues.
    #[inline(always)]
    pub(super) fn count(&mut self, size_bytes: u32, delay: Duration, waited: Duration) {
        self.packets += 1;
        self.bytes += u64::from(size_bytes);
        self.delay_sum_ns += delay.as_nanos();
        self.wait_sum_ns += waited.as_nanos();
        self.delay_min = self.delay_min.min(delay);
        self.delay_max = self.delay_max.max(delay);
    }

    /// All counters, with the counters of NACKs.
    pub(super) fn with_refused(self, refused: Sent) -> Arrivals {
        let Self { packets, bytes, delay_sum_ns, wait_sum_ns, delay_min, delay_max } = self;
        let Sent { packets: refused_packets, bytes: refused_bytes } = refused;
        Arrivals {
            packets,
            bytes,
            refused_packets,
            refused_bytes,
            delay_sum_ns,
            wait_sum_ns,
            delay_min,
            delay_max,
        }
    }
}

#[derive(Default)]
pub(super) struct Base {
    pub arrived: Arrivals,
    pub sent: Sent,
    pub meter: Meter,
}

/// What remains of an endpoint whose flow has ended. Its clock is exact.
pub(super) struct EndedState {
    pub address: Address,
    pub flow: FlowId,
    pub active: bool,
    pub sent: Sent,
    pub arrived: Arrivals,
    pub meter: Meter,
    pub waits: Option<Box<Delays>>,
    pub started_at: Time,
    pub active_since: Time,
    pub active_for: Duration,
    pub base: Option<Box<Base>>,
}

impl EndedState {
    pub(super) fn address(&self) -> Address {
        self.address
    }

    pub(super) fn is_active(&self) -> bool {
        self.active
    }

    pub(super) fn totals(&self) -> Totals {
        self.counters().totals()
    }

    /// The record of the flow that it sent, see [`EndpointState::flow_record`].
    pub(super) fn flow_record(
        &mut self,
        now: Time,
        drops: [u64; DropReason::ALL.len()],
        keep: bool,
    ) -> FlowRecord {
        let waits = recorded(&mut self.waits, keep);
        self.counters().flow_record(now, drops, waits)
    }

    /// The record of the receiver that it was, see [`EndpointState::receiver_record`].
    pub(super) fn receiver_record(&mut self, now: Time, keep: bool) -> ReceiverRecord {
        let waits = recorded(&mut self.waits, keep);
        self.counters().receiver_record(now, waits)
    }

    fn counters(&self) -> Counters<'_> {
        Counters {
            address: self.address,
            flow: self.flow,
            arrived: self.arrived,
            sent: self.sent,
            meter: &self.meter,
            base: self.base.as_deref(),
            started_at: self.started_at,
            active_since: self.active.then_some(self.active_since),
            active_for: self.active_for,
        }
    }
}

/// The distribution of waits for a record, and for later ones if it is to be kept.
pub(super) fn recorded(waits: &mut Option<Box<Delays>>, keep: bool) -> Option<Box<Delays>> {
    if keep { waits.clone() } else { waits.take() }
}

/// The counters of an endpoint.
pub(super) struct Counters<'a> {
    pub address: Address,
    pub flow: FlowId,
    pub arrived: Arrivals,
    pub sent: Sent,
    pub meter: &'a Meter,
    pub base: Option<&'a Base>,
    pub started_at: Time,
    /// While it is active.
    pub active_since: Option<Time>,
    pub active_for: Duration,
}

impl Counters<'_> {
    pub(super) fn totals(&self) -> Totals {
        Totals {
            sent_bytes: self.sent.bytes,
            arrived_bytes: self.arrived.bytes,
            arrived_packets: self.arrived.packets,
            delay_sum_ns: self.arrived.delay_sum_ns,
            wait_sum_ns: self.arrived.wait_sum_ns,
            delivered_bytes: self.meter.goodput_bytes,
        }
    }

    pub(super) fn flow_record(
        &self,
        now: Time,
        drops: [u64; DropReason::ALL.len()],
        waits: Option<Box<Delays>>,
    ) -> FlowRecord {
        let (arrived, sent, meter) = self.since_warmup();
        FlowRecord {
            sent_packets: sent.packets,
            sent_bytes: sent.bytes,
            drops,
            data_drops: 0,
            arrived,
            waits,
            meter,
            started_at: Some(self.started_at).filter(|at| *at < Time::NEVER),
            active: self.active_until(now),
        }
    }

    pub(super) fn receiver_record(&self, now: Time, waits: Option<Box<Delays>>) -> ReceiverRecord {
        let (arrived, _, meter) = self.since_warmup();
        ReceiverRecord {
            flow: self.flow,
            node: self.address.node,
            endpoint: self.address.endpoint,
            packets: arrived.packets,
            bytes: arrived.bytes,
            delay_sum_ns: arrived.delay_sum_ns,
            wait_sum_ns: arrived.wait_sum_ns,
            delay_min: arrived.delay_min,
            delay_max: arrived.delay_max,
            waits,
            meter,
            active: self.active_until(now),
        }
    }

    /// Active time after the warm-up, up to `now`.
    fn active_until(&self, now: Time) -> Duration {
        self.active_since.map_or(self.active_for, |since| self.active_for + now.saturating_since(since))
    }

    fn since_warmup(&self) -> (Arrivals, Sent, Meter) {
        let none = Base::default();
        let base = self.base.unwrap_or(&none);
        let meter = self.meter.since(&base.meter);
        let sent =
            Sent { packets: self.sent.packets - base.sent.packets, bytes: self.sent.bytes - base.sent.bytes };
        let arrived = Arrivals {
            packets: self.arrived.packets - base.arrived.packets,
            bytes: self.arrived.bytes - base.arrived.bytes,
            refused_packets: self.arrived.refused_packets - base.arrived.refused_packets,
            refused_bytes: self.arrived.refused_bytes - base.arrived.refused_bytes,
            delay_sum_ns: self.arrived.delay_sum_ns - base.arrived.delay_sum_ns,
            wait_sum_ns: self.arrived.wait_sum_ns - base.arrived.wait_sum_ns,
            ..self.arrived
        };
        (arrived, sent, meter)
    }
}

/// Running totals of an endpoint.
#[derive(Default)]
pub(crate) struct Totals {
    pub sent_bytes: u64,
    pub arrived_bytes: u64,
    pub arrived_packets: u64,
    pub delay_sum_ns: u64,
    pub wait_sum_ns: u64,
    pub delivered_bytes: u64,
}
