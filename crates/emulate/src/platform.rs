//! The platform of the event loop: the clock, devices, programs, live endpoints, and their reports.
//!
//! The loop ([`crate::driver`]) accesses the host only through [`Platform`], so that tests drive it with a simulated clock.

use contract::{Endpoint, EndpointId, FlowId, Meter, Note, Random};
use units::{Bytes, Duration, Time};

use crate::Lateness;

/// What the loop asks of the machine that it runs on. Devices are numbered in the order of [`sim::Emulation::real`].
pub trait Platform {
    /// Time since the start of the run, by a clock that is never set.
    fn now(&mut self) -> Time;

    /// Returns when a device has a packet, or at `until`; `ready` is filled with the devices that have one. Says since when it
    /// watched the devices: it may rest before.
    fn wait(&mut self, until: Time, ready: &mut Vec<usize>) -> Time;

    /// The next packet of a device is put into `buffer`; its length, or `None` when there is none.
    fn receive(&mut self, device: usize, buffer: &mut [u8]) -> Option<usize>;

    /// Gives a packet to a device; false when it took none.
    fn send(&mut self, device: usize, bytes: &[u8]) -> bool;

    /// A flow's program shall begin.
    fn start(&mut self, flow: FlowId);

    /// A flow's program shall end.
    fn stop(&mut self, flow: FlowId);

    /// Tells what programs did since this was last asked.
    fn news(&mut self, tell: &mut dyn FnMut(News));

    /// A live endpoint shall begin, as this machine.
    fn begin(&mut self, endpoint: EndpointId, machine: LiveMachine);

    /// A live endpoint shall end.
    fn end(&mut self, endpoint: EndpointId);

    /// A live endpoint shall change its mode.
    fn mode(&mut self, endpoint: EndpointId, mode: &str);

    /// Tells what live endpoints said and counted since this was last asked.
    fn words(&mut self, tell: &mut dyn FnMut(EndpointId, &Said));
}

/// A machine to be run outside, and its stream of random numbers.
pub type LiveMachine = (Box<dyn Endpoint + Send>, Random);

/// What a live endpoint has said.
#[derive(Debug, Default)]
pub struct Said {
    /// What it has counted.
    pub meter: Meter,
    /// Values and events for the trace.
    pub notes: Vec<Note>,
    /// How late its deadlines were handled.
    pub late: Lateness,
}

/// What a flow's program did since it was last asked.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct News {
    /// The flow.
    pub flow: FlowId,
    /// Payload that its receiver was given.
    pub delivered: Bytes,
    /// When its work was done, if it is.
    pub completed: Option<Time>,
    /// How its sender stands, where that is known.
    pub sender: Option<Standing>,
}

/// How TCP of the kernel stands.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct Standing {
    /// Congestion window.
    pub window: Bytes,
    /// Slow-start threshold; unlimited before the first.
    pub threshold: Bytes,
    /// Payload in flight.
    pub in_flight: Bytes,
    /// Smoothed round-trip time; zero before the first.
    pub rtt: Duration,
    /// Segments retransmitted since the last time.
    pub retransmits: u64,
    /// Retransmission timers expired since the last time.
    pub timeouts: u64,
}
