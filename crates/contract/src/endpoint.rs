//! Endpoints: sans-IO state machines of senders and receivers.

use units::{Bytes, Time};

use crate::{Cx, Header, Name, Packet};

/// A state machine at an end of the network: a TCP sender, a multicast receiver, a traffic source. Sans-IO: it reads no
/// clock and performs no I/O.
///
/// # How it is driven
///
/// A driver (the simulator, the emulator, a socket loop) does this for every endpoint, with one [`crate::Outputs`]:
///
/// 1. *Input*: [`Endpoint::handle`] takes one [`Input`], with a [`Cx`] at its instant. [`Input::Start`] comes before
///    any other; after [`Input::Stop`] only `Start` has an effect. Time does not decrease between inputs.
/// 2. *Outputs*, after every input and before the next one: drain [`crate::Outputs::outbox`] and send the packets in
///    order, immediately; drain [`crate::Outputs::egress`] and [`crate::Notes::pending`]. A packet then belongs to the
///    driver, which releases it from the arena.
/// 3. *Poll*: [`Endpoint::wake`] is the next deadline. It replaces every earlier deadline; call with [`Input::Timer`]
///    at or after it. An early timer has no effect, so that a driver need not cancel timers.
///
/// There are no callbacks, so that a driver can call any number of endpoints in any order.
pub trait Endpoint {
    /// Handles one input.
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>);

    /// Poll: the earliest deadline of the state machine and its parts; a pure function of its state. [`Input::Timer`]
    /// is called at or after it and can be early.
    fn wake(&self) -> Time {
        Time::NEVER
    }

    /// The name that it will probably request next, if it can tell. A driver can request from memory what the forwarder
    /// of its node needs then. Results do not depend on it.
    fn next_name(&self) -> Option<Name> {
        None
    }

    /// Takes the payload of a packet of its outbox into `payload`, for a driver over sockets. Returns false for packets
    /// that have a size and no bytes: the packets of all state machines except transport stacks with real datagrams.
    fn take_payload(&mut self, _packet: &Packet, _payload: &mut Vec<u8>) -> bool {
        false
    }

    /// Stores the payload of a datagram that a driver over sockets receives at `now`. Returns the header of the packet
    /// that the driver gives it next; `None` if its packets have no bytes.
    fn put_payload(&mut self, _payload: &[u8], _now: Time) -> Option<Header> {
        None
    }
}

/// Inputs of an endpoint.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Start: a sender can send, a receiver has joined.
    Start,
    /// A packet for this endpoint arrived.
    Packet(&'a Packet),
    /// A deadline can have expired.
    Timer,
    /// A request of the application.
    App(Request),
    /// Change of the scheme's mode.
    Mode(&'a str),
    /// Stop: a sender sends nothing more, a receiver has left.
    Stop,
}

/// Requests of an application to its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Send this number of additional bytes.
    Send(Bytes),
}
