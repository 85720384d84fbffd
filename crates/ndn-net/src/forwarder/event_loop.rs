//! The event loop of a forwarder: receive, handle due events, wait.

use std::net::SocketAddr;
use std::ops::Range;

use driver::Watch;
use units::{Duration, Lateness, Time};

use super::{Frames, Node, Peer, Stats};

/// The interface of the loop to the host.
pub trait ForwarderPlatform: Frames {
    /// Time since the start of the forwarder, by a monotonic clock.
    fn now(&mut self) -> Time;

    /// Waits until something may have arrived, or until `until`.
    fn wait(&mut self, until: Time);

    /// Receives into `inbox`, at most one batch.
    fn receive(&mut self, inbox: &mut Inbox);

    /// Its own address towards a peer; `None` if unknown.
    fn local_address(&self, _peer: SocketAddr) -> Option<SocketAddr> {
        None
    }
}

/// Received frames and events.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    found: Vec<(Arrival, Range<usize>)>,
}

/// An event of a place.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A frame.
    Frame(Peer),
    /// A program has disconnected.
    Gone(Peer),
}

impl Inbox {
    /// Adds a frame.
    pub fn frame(&mut self, from: Peer, frame: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        self.found.push((Arrival::Frame(from), start..self.bytes.len()));
    }

    /// Adds that a program has disconnected.
    pub fn disconnected(&mut self, from: Peer) {
        self.found.push((Arrival::Gone(from), 0..0));
    }

    /// The frames with their places.
    pub fn frames(&self) -> impl Iterator<Item = (Peer, &[u8])> {
        self.found.iter().filter_map(|(arrival, at)| match arrival {
            Arrival::Frame(from) => Some((*from, &self.bytes[at.clone()])),
            Arrival::Gone(_) => None,
        })
    }

    /// Number of events.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether there is no event.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.found.clear();
    }
}

/// A handle by which other threads observe and stop a forwarder.
pub type Control = Watch<Stats>;

/// Interval at which the status is published and a stop is checked.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `node` by the clock of `platform` until `until`, or until `control` stops it. Returns the lateness of the loop.
pub fn drive(
    node: &mut Node,
    platform: &mut impl ForwarderPlatform,
    control: &Control,
    until: Time,
) -> Lateness {
    let mut late = Lateness::default();
    let mut inbox = Inbox::default();
    let now = platform.now();
    node.start(now, platform);
    let mut next_poll = now;
    loop {
        let now = platform.now();
        if now >= next_poll {
            control.publish(node.stats());
            next_poll = now + LOOK;
        }
        if now >= until || control.stopped() {
            break;
        }
        let due = node.wake();
        if due <= now {
            late.record(now - due);
        }
        node.on_time(now, platform);
        inbox.clear();
        platform.receive(&mut inbox);
        for (arrival, at) in inbox.found.drain(..) {
            // earlier deadlines are handled first
            let now = platform.now();
            match arrival {
                Arrival::Frame(from) => node.on_frame(from, &inbox.bytes[at], now, platform),
                Arrival::Gone(from) => node.on_gone(from, now),
            }
        }
        let next = node.wake().min(next_poll).min(until);
        if next > platform.now() {
            platform.wait(next);
        }
    }
    node.end(platform.now(), platform);
    control.publish(node.stats());
    late
}
