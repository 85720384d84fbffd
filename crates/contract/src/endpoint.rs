//! A machine at an edge of the network.

use units::{Bytes, Time};

use crate::{Cx, Packet};

/// A state machine at an edge: a TCP sender, a multicast receiver, a traffic source.
///
/// One method in, one queue out (the outbox behind [`Cx::send`]), one deadline. The driver calls [`Endpoint::handle`], sends
/// what is in the outbox, and asks [`Endpoint::wake`] when to come back.
pub trait Endpoint {
    /// Takes one input.
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>);

    /// The earliest deadline of the machine and its parts; a pure function of its state. [`Input::Timer`] comes at or after
    /// it and may come early.
    fn wake(&self) -> Time {
        Time::NEVER
    }
}

/// What can happen to an endpoint.
#[derive(Clone, Copy, Debug)]
pub enum Input<'a> {
    /// Begin: a sender may send from now on, a receiver has joined.
    Start,
    /// A packet for this endpoint arrived.
    Packet(&'a Packet),
    /// The deadline may have passed.
    Timer,
    /// The application asks for something.
    App(Request),
    /// Change to the named mode, where the scheme has modes.
    Mode(&'a str),
    /// End: a sender sends nothing more, a receiver has left.
    Stop,
}

/// What an application asks of its sender.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Request {
    /// Send so many more bytes.
    Send(Bytes),
}
