//! What an end sends with: the platform, datagrams that wait for a GSO batch, and counters.

use contract::Ecn;
use driver::{GsoBatches, Platform};
use units::Time;
use wire::stream::Frame;

use crate::Stats;
use crate::channel::Channel;

/// What an end sends with, on all of its channels.
pub struct Transmitter<'a, O> {
    /// The platform.
    pub platform: &'a mut O,
    /// Datagrams that wait for a GSO batch.
    pub gso_batches: GsoBatches,
    /// Counters.
    pub stats: Stats,
}

impl<'a, O: Platform> Transmitter<'a, O> {
    /// Sends through this platform.
    pub fn new(platform: &'a mut O) -> Self {
        Self { platform, gso_batches: GsoBatches::default(), stats: Stats::default() }
    }

    /// The context for sending on a channel.
    pub const fn on<'b>(&'b mut self, channel: &'b mut Channel) -> TxContext<'b, O> {
        TxContext {
            channel,
            gso_batches: &mut self.gso_batches,
            platform: self.platform,
            stats: &mut self.stats,
        }
    }

    /// Sends the datagrams that wait.
    pub fn flush(&mut self) {
        self.gso_batches.flush(self.platform);
    }
}

/// The context for sending on a channel.
pub struct TxContext<'a, O> {
    pub(crate) channel: &'a mut Channel,
    gso_batches: &'a mut GsoBatches,
    platform: &'a mut O,
    pub(crate) stats: &'a mut Stats,
}

impl<O: Platform> TxContext<'_, O> {
    /// Sends a frame. Returns its length without IP and UDP headers.
    pub fn say(&mut self, frame: Frame<'_>, ecn: Ecn, now: Time) -> usize {
        self.channel.say(frame, ecn, now, self.platform, self.gso_batches, self.stats)
    }
}
