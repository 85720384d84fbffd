//! The event loop of a session, group or controller: receive, handle due events, send, wait.

use std::net::SocketAddr;

use contract::Ecn;
use units::{Duration, Time};

use crate::{Batch, Platform};

/// How long a sender at a high packet rate pauses, so that packets leave in GSO batches.
const GSO_SPAN: Duration = Duration::from_micros(250);
/// Mean gap between packets below which the packet rate is high.
const SHORT_GAP: Duration = Duration::from_micros(50);
/// Batches that are received before other work.
const BATCHES: usize = 4;
/// Size of a receive buffer: what one system call can return.
const BUFFER: usize = 1 << 19;

/// What the loop drives: a session between two ends, a sender with the receivers of a group, a controller with its agents.
pub trait EventLoop {
    /// Its platform.
    type Platform: Platform;
    /// How it ends.
    type Outcome;
    /// Whether data leave here, possibly in GSO batches.
    const SENDS: bool;

    /// The platform.
    fn platform(&mut self) -> &mut Self::Platform;

    /// Handles a datagram. Returns the outcome if the loop is over.
    fn on_datagram(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<Self::Outcome>;

    /// Handles what is due. Returns the outcome if the loop is over.
    fn on_time(&mut self, now: Time) -> Option<Self::Outcome>;

    /// Sends the datagrams that wait for a batch.
    fn flush(&mut self);

    /// The next deadline.
    fn wake(&self, now: Time) -> Time;

    /// Number of data packets sent so far.
    fn packets_sent(&self) -> u64;
}

/// Runs it to its end.
pub fn drive<T: EventLoop>(driven: &mut T) -> T::Outcome {
    let mut batch = Batch::new(BUFFER);
    // packets sent, and the time, when the last pass began to wait
    let (mut packets, mut passed_at) = (0, Time::ZERO);
    loop {
        if let Some(outcome) = receive(driven, &mut batch) {
            driven.flush();
            return outcome;
        }
        let now = driven.platform().now();
        let outcome = driven.on_time(now);
        driven.flush();
        if let Some(outcome) = outcome {
            return outcome;
        }
        let until = driven.wake(now);
        let sent = driven.packets_sent() - packets;
        let fast = sent > 1 && now.saturating_since(passed_at) < SHORT_GAP * sent;
        (packets, passed_at) = (driven.packets_sent(), now);
        driven.platform().wait(if fast && T::SENDS { until.max(now + GSO_SPAN) } else { until });
    }
}

/// Receives datagrams, up to a maximum number of batches.
fn receive<T: EventLoop>(driven: &mut T, batch: &mut Batch) -> Option<T::Outcome> {
    for _ in 0..BATCHES {
        if !driven.platform().receive(batch) {
            break;
        }
        let now = driven.platform().now();
        for (from, ecn, bytes) in batch.iter() {
            let outcome = driven.on_datagram(bytes, from, ecn, now);
            if outcome.is_some() {
                return outcome;
            }
        }
    }
    None
}
