//! Egress: output of an endpoint that represents a real program, for its driver.

use units::Time;

use crate::{EndpointId, FlowId, Packet};

/// Something that leaves the network for a real program, with the instant at which it is due.
#[derive(Clone, Copy, Debug)]
pub struct Egress {
    /// When.
    pub at: Time,
    /// The endpoint.
    pub endpoint: EndpointId,
    /// Its flow.
    pub flow: FlowId,
    /// What.
    pub event: EgressEvent,
}

/// What leaves the network.
#[derive(Clone, Copy, Debug)]
pub enum EgressEvent {
    /// The program shall begin.
    Start,
    /// The program shall end.
    Stop,
    /// The endpoint shall change its mode: to the one with this number in a list that the endpoint was given by its driver.
    Mode(u32),
    /// A packet for the program. It is no longer in the network; its bytes still are with the driver.
    Packet(Packet),
}
