//! Endpoints: sans-IO state machines of senders and receivers.

use units::{Bytes, Time};

use crate::{Cx, Packet};

/// A state machine at an edge: a TCP sender, a multicast receiver, a traffic source. Sans-IO: it reads no clock and performs no I/O.
///
/// # How it is driven
///
/// A driver (the simulator, the emulator, a socket loop) does this for every endpoint, with one [`crate::Outputs`]:
///
/// 1. *Input*: [`Endpoint::handle`] takes one [`Input`], with a [`Cx`] at the instant at which it happens. [`Input::Start`] comes before any
///    other; after [`Input::Stop`] only `Start` means anything. Time does not go back from one input to the next.
/// 2. *Outputs*, after every input and before the next one: drain [`crate::Outputs::outbox`] and send the packets in order, at once; drain
///    [`crate::Outputs::egress`] and [`crate::Notes::pending`]. A packet belongs to the driver from here on: it releases it from the arena.
/// 3. *Poll*: [`Endpoint::wake`] is the next deadline. It replaces every deadline polled before; give [`Input::Timer`] at or after it. A timer
///    that comes early changes nothing, so a driver may forget to cancel one.
///
/// The endpoint calls nothing back, so a driver may hold any number of them in any order.
pub trait Endpoint {
    /// Input: takes what happened.
    fn handle(&mut self, input: Input<'_>, cx: &mut Cx<'_>);

    /// Poll: the earliest deadline of the state machine and its parts; a pure function of its state. [`Input::Timer`] comes at or after
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
