//! What an endpoint that stands for a program outside hands to its driver.

use units::Time;

use crate::{FlowId, Packet, PeerId};

/// Something for the world outside, with the instant at which it is due there.
#[derive(Clone, Copy, Debug)]
pub struct Outward {
    /// When.
    pub at: Time,
    /// The endpoint.
    pub peer: PeerId,
    /// Its flow.
    pub flow: FlowId,
    /// What.
    pub what: Parting,
}

/// What leaves the network.
#[derive(Clone, Copy, Debug)]
pub enum Parting {
    /// The program shall begin.
    Start,
    /// The program shall end.
    Stop,
    /// The machine shall change its mode: to the one with this number in a list that the endpoint was given by its driver.
    Mode(u32),
    /// A packet for the program. It is no longer in the network; its bytes still are with the driver.
    Packet(Packet),
}
