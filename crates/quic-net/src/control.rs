//! Control and status of a running session, for other threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// A handle by which other threads control and observe a session. No call blocks.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    mode: Mutex<Option<String>>,
    mode_changes: AtomicU32,
    /// Progress of the session.
    pub progress: Progress,
}

impl Control {
    /// Without requests.
    pub fn new() -> Self {
        Self::default()
    }

    /// Requests that the session closes and ends.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether the end was requested.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Requests that both ends change to this mode of the scheme.
    pub fn change_mode(&self, mode: &str) {
        *self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(mode.to_owned());
        self.mode_changes.fetch_add(1, Ordering::Release);
    }

    /// The requested mode, if it changed since `seen` was last updated.
    pub fn mode(&self, seen: &mut u32) -> Option<String> {
        let mode_changes = self.mode_changes.load(Ordering::Acquire);
        if mode_changes == *seen {
            return None;
        }
        *seen = mode_changes;
        self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// Progress of a session. Values are updated several times per second.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    /// Data packets sent or received.
    pub packets: AtomicU64,
    /// Their bytes, headers of IP and UDP included.
    pub bytes: AtomicU64,
    /// Bytes of content in them, retransmissions included.
    pub content: AtomicU64,
    /// Packets that the receiver found missing, or segments that the sender retransmitted.
    pub lost: AtomicU64,
    /// Paced schemes: packets that arrived after one that was sent later; at the sender, by the last report of the
    /// receiver.
    pub reordered: AtomicU64,
    /// Packets of `reordered` that had been declared lost.
    pub late: AtomicU64,
    /// Rate that the congestion controller and the limit of the sender allow, in bit/s; 0 for no limit.
    pub allowed_bps: AtomicU64,
    /// The sender's limit, in bit/s; 0 for none.
    pub limit_bps: AtomicU64,
    /// Latest round-trip time sample, in nanoseconds; 0 before the first.
    pub rtt_ns: AtomicU64,
    /// Number of other ends in the session.
    pub peers: AtomicU64,
    /// Datagrams with a wrong tag or signature: forged, damaged, or from a sender with another key.
    pub forged: AtomicU64,
    /// The network does not carry the group: a receiver has received no packet of it for a while; at a sender, no
    /// receiver has reported data.
    pub group_unreachable: AtomicBool,
    mode: Mutex<Option<String>>,
}

/// The phase of a session.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// A client connects, or a server waits for a client.
    #[default]
    Connecting,
    /// Data flow.
    Open,
    /// Nothing arrives from the other end.
    Silent,
    /// It is being closed.
    Closing,
    /// It is over.
    Over,
}

impl Phase {
    const ALL: [Self; 5] = [Self::Connecting, Self::Open, Self::Silent, Self::Closing, Self::Over];
}

impl Progress {
    /// The current phase.
    pub fn phase(&self) -> Phase {
        Phase::ALL.get(usize::from(self.phase.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// The last mode that either end requested; `None` for the initial one.
    pub fn mode(&self) -> Option<String> {
        self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    /// Publishes a mode that an end requested.
    pub fn set_mode(&self, mode: &str) {
        *self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(mode.to_owned());
    }

    /// Publishes another phase.
    pub fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }
}
