//! The event loop of a live endpoint: receive, handle due events, wait.

use std::net::SocketAddr;

use contract::Ecn;
use units::{Duration, Time};

use crate::{Batch, End, Platform};

/// How long a sender at a high packet rate pauses, so that packets leave in GSO batches.
const GSO_SPAN: Duration = Duration::from_micros(250);
/// Mean gap between packets below which the packet rate is high.
const THICK: Duration = Duration::from_micros(50);
/// Batches that are received before other work.
const BATCHES: usize = 4;
/// Size of a receive buffer: what one system call can return.
const ROOM: usize = 1 << 19;

/// What the loop drives: a session between two ends, or a sender with the receivers of a group.
pub(crate) trait EventLoop {
    /// Its platform.
    type Platform: Platform;
    /// Whether data leave here, possibly in GSO batches.
    const SENDS: bool;

    /// The platform.
    fn platform(&mut self) -> &mut Self::Platform;

    /// Handles a datagram. Returns how the session ends, if it does.
    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End>;

    /// Handles what is due. Returns how the session ends, if it does.
    fn turn(&mut self, now: Time) -> Option<End>;

    /// Sends the datagrams that wait for a batch.
    fn flush(&mut self);

    /// The next deadline.
    fn wake(&self, now: Time) -> Time;

    /// Number of data packets sent.
    fn packets(&self) -> u64;
}

/// Runs it to its end.
pub(crate) fn drive<T: EventLoop>(machine: &mut T) -> End {
    let mut batch = Batch::new(ROOM);
    // packets sent, and the time, at the last turn
    let (mut packets, mut turned_at) = (0, Time::ZERO);
    loop {
        if let Some(end) = take_in(machine, &mut batch) {
            machine.flush();
            return end;
        }
        let now = machine.platform().now();
        let end = machine.turn(now);
        machine.flush();
        if let Some(end) = end {
            return end;
        }
        let until = machine.wake(now);
        let sent = machine.packets() - packets;
        let thick = sent > 1 && now.saturating_since(turned_at) < THICK * sent;
        (packets, turned_at) = (machine.packets(), now);
        machine.platform().wait(if thick && T::SENDS { until.max(now + GSO_SPAN) } else { until });
    }
}

/// Receives datagrams, up to a maximum number of batches.
fn take_in(machine: &mut impl EventLoop, batch: &mut Batch) -> Option<End> {
    for _ in 0..BATCHES {
        if !machine.platform().receive(batch) {
            break;
        }
        let now = machine.platform().now();
        for (from, ecn, bytes) in batch.iter() {
            let end = machine.take(bytes, from, ecn, now);
            if end.is_some() {
                return end;
            }
        }
    }
    None
}
