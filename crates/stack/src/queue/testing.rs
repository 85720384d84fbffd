//! Test helpers of queue disciplines.

use contract::{Address, Ecn, FlowId, Header, Label, Packet};
use units::Time;

/// A datagram of a flow that is not ECN-capable.
pub(crate) fn packet(flow: u32, size_bytes: u32) -> Packet {
    Packet {
        flow: FlowId(flow),
        size_bytes,
        source: Address::default(),
        to: Address::default().into(),
        sent_at: Time::ZERO,
        label: Label::default(),
        header: Header::Datagram { seq: 0 },
        ecn: Ecn::NotCapable,
        hops: 0,
    }
}
