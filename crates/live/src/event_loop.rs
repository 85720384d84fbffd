//! The event loop of a live endpoint: receive, handle due events, wait.

use std::net::SocketAddr;

use contract::Ecn;
use units::{Duration, Time};

use crate::{Batch, End, Platform};

/// A sender whose packets come thick sends none for this long: they leave in GSO batches.
const GSO_SPAN: Duration = Duration::from_micros(250);
/// They come thick where the gaps between them are shorter than this on average.
const THICK: Duration = Duration::from_micros(50);
/// Batches taken in before anything else is looked at.
const BATCHES: usize = 4;
/// Room for a batch: what one call of the system can bring.
const ROOM: usize = 1 << 19;

/// What the loop drives: a session between two ends, or a sender with the receivers of a group.
pub(crate) trait EventLoop {
    /// The system, as it sees it.
    type Platform: Platform;
    /// Data leave here, and may leave in GSO batches.
    const SENDS: bool;

    /// The system.
    fn platform(&mut self) -> &mut Self::Platform;

    /// A datagram came. How it ends, if this ends it.
    fn take(&mut self, bytes: &[u8], from: SocketAddr, ecn: Ecn, now: Time) -> Option<End>;

    /// Does what is due. How it ends, if it does.
    fn turn(&mut self, now: Time) -> Option<End>;

    /// Hands the system what waits to leave together.
    fn flush(&mut self);

    /// When something is due next.
    fn wake(&self, now: Time) -> Time;

    /// Data packets sent so far.
    fn packets(&self) -> u64;
}

/// Drives it to its end.
pub(crate) fn drive<T: EventLoop>(machine: &mut T) -> End {
    let mut batch = Batch::new(ROOM);
    // packets sent, and when, at the turn before this one
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

/// Takes in some of what came.
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
