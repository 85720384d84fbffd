//! The platform of the event loop: the clock, devices, programs, live endpoints, and their reports.
//!
//! The loop ([`crate::driver`]) accesses the host only through [`Platform`], so that tests drive it with a simulated
//! clock.

use std::time::Instant;

use contract::{Endpoint, EndpointId, FlowId, Meter, Note, Random};
use units::{Bytes, Duration, Time};

use crate::Lateness;

/// The interface of the loop to the host. Devices are numbered in the order of [`sim::Emulation::real`].
pub trait Platform {
    /// Time since the start of the run, by a monotonic clock.
    fn now(&mut self) -> Time;

    /// Waits until a device has a packet, or until `until`. Fills `ready` with the devices that have one. Returns since
    /// when it watched the devices, because it may pause before.
    fn wait(&mut self, until: Time, ready: &mut Vec<usize>) -> Time;

    /// Reads the next packet of a device into `buffer`. Returns its length; `None` if no packet waits.
    fn receive(&mut self, device: usize, buffer: &mut [u8]) -> Option<usize>;

    /// Sends a packet to a device. Returns false if the device rejected it.
    fn send(&mut self, device: usize, bytes: &[u8]) -> bool;

    /// Starts the program of a flow.
    fn start(&mut self, flow: FlowId);

    /// Stops the program of a flow.
    fn stop(&mut self, flow: FlowId);

    /// Passes on the changes of programs since the last call.
    fn program_updates(&mut self, emit: &mut dyn FnMut(ProgramUpdate));

    /// Starts a live endpoint with its state machine.
    fn start_endpoint(&mut self, endpoint: EndpointId, machine: LiveEndpoint);

    /// Stops a live endpoint.
    fn stop_endpoint(&mut self, endpoint: EndpointId);

    /// Changes the mode of a live endpoint.
    fn mode(&mut self, endpoint: EndpointId, mode: &str);

    /// Passes on the reports of live endpoints since the last call.
    fn endpoint_reports(&mut self, emit: &mut dyn FnMut(EndpointId, &EndpointReport));
}

/// A state machine that runs outside the world, and its random stream.
pub type LiveEndpoint = (Box<dyn Endpoint + Send>, Random);

/// The report of a live endpoint.
#[derive(Debug, Default)]
pub struct EndpointReport {
    /// Counters.
    pub meter: Meter,
    /// Values and events for the trace.
    pub notes: Vec<Note>,
    /// Lateness of its deadlines.
    pub late: Lateness,
}

/// Changes of a flow's program since the last call.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct ProgramUpdate {
    /// The flow.
    pub flow: FlowId,
    /// Payload that its receiver read.
    pub delivered: Bytes,
    /// Its completion, if it is complete.
    pub completed: Option<Time>,
    /// State of its sender, if known.
    pub sender: Option<SenderState>,
}

/// State of a TCP sender of the kernel.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct SenderState {
    /// Congestion window.
    pub window: Bytes,
    /// Slow-start threshold; [`Bytes::UNLIMITED`] before the first loss.
    pub threshold: Bytes,
    /// Payload in flight.
    pub in_flight: Bytes,
    /// Smoothed round-trip time; zero before the first sample.
    pub rtt: Duration,
    /// Retransmitted segments since the last call.
    pub retransmits: u64,
    /// Retransmission timeouts since the last call.
    pub timeouts: u64,
}

/// Time since an instant.
pub(crate) fn since(began: Instant) -> Time {
    Time::from_nanos(began.elapsed().as_nanos() as u64)
}
