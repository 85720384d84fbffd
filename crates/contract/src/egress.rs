//! Egress: output of an endpoint that represents a real program, for its driver.

use units::Time;

use crate::{EndpointId, FlowId, Packet};

/// An egress event: output for a real program, with its due time.
#[derive(Clone, Copy, Debug)]
pub struct Egress {
    /// The due time.
    pub at: Time,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its flow.
    pub flow: FlowId,
    /// The event.
    pub event: EgressEvent,
}

/// Kinds of egress events.
#[derive(Clone, Copy, Debug)]
pub enum EgressEvent {
    /// The program starts.
    Start,
    /// The program ends.
    Stop,
    /// The mode of the endpoint changes. The number is an index into the driver's list of modes.
    Mode(u32),
    /// A packet for the program. It has left the network; the driver has its bytes.
    Packet(Packet),
}
