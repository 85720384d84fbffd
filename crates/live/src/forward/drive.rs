//! The event loop of a forwarder: receive, handle due events, wait.

use std::net::SocketAddr;
use std::ops::Range;

use units::{Duration, Time};

use super::{Frames, Node, Place, Stats};
use crate::{Lateness, Watch};

/// What the loop asks of the machine that it runs on.
pub trait ForwarderPlatform: Frames {
    /// Time since the forwarder's clock began, by a clock that is never set.
    fn now(&mut self) -> Time;

    /// Returns when something may have come, or at `until`.
    fn wait(&mut self, until: Time);

    /// Puts what has come into `inbox`, up to a batch.
    fn receive(&mut self, inbox: &mut Inbox);

    /// Its own address towards a peer; `None` where nobody knows.
    fn end_towards(&self, _peer: SocketAddr) -> Option<SocketAddr> {
        None
    }
}

/// What came.
#[derive(Debug, Default)]
pub struct Inbox {
    bytes: Vec<u8>,
    found: Vec<(Arrival, Range<usize>)>,
}

/// What can come.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// A frame.
    Frame(Place),
    /// A program has gone.
    Gone(Place),
}

impl Inbox {
    /// Adds a frame.
    pub fn frame(&mut self, from: Place, frame: &[u8]) {
        let start = self.bytes.len();
        self.bytes.extend_from_slice(frame);
        self.found.push((Arrival::Frame(from), start..self.bytes.len()));
    }

    /// Adds that a program has gone.
    pub fn gone(&mut self, from: Place) {
        self.found.push((Arrival::Gone(from), 0..0));
    }

    /// The frames, and where they came from.
    pub fn frames(&self) -> impl Iterator<Item = (Place, &[u8])> {
        self.found.iter().filter_map(|(arrival, at)| match arrival {
            Arrival::Frame(from) => Some((*from, &self.bytes[at.clone()])),
            Arrival::Gone(_) => None,
        })
    }

    /// How many things came.
    pub fn len(&self) -> usize {
        self.found.len()
    }

    /// Whether nothing came.
    pub fn is_empty(&self) -> bool {
        self.found.is_empty()
    }

    fn clear(&mut self) {
        self.bytes.clear();
        self.found.clear();
    }
}

/// What another thread may ask of a forwarder that runs, and see of it.
pub type Control = Watch<Stats>;

/// Its standing is shown so often, and a wish to end is heard.
const LOOK: Duration = Duration::from_millis(100);

/// Runs `node` by the clock of `platform` until `until`, or `control` says stop. How late the loop was with what was due.
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
    let mut look = now;
    loop {
        let now = platform.now();
        if now >= look {
            control.show(node.stats());
            look = now + LOOK;
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
            // what is due before it is done first
            let now = platform.now();
            match arrival {
                Arrival::Frame(from) => node.on_frame(from, &inbox.bytes[at], now, platform),
                Arrival::Gone(from) => node.on_gone(from, now),
            }
        }
        let next = node.wake().min(look).min(until);
        if next > platform.now() {
            platform.wait(next);
        }
    }
    node.end(platform.now(), platform);
    control.show(node.stats());
    late
}
