//! Control and status of a running session, for other threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicU8, AtomicU32, AtomicU64, Ordering};

/// What another thread may ask of a session that runs, and see of it. All is said and read without waiting.
#[derive(Debug, Default)]
pub struct Control {
    stop: AtomicBool,
    mode: Mutex<Option<String>>,
    asked: AtomicU32,
    /// How far it is.
    pub progress: Progress,
}

impl Control {
    /// Nothing is asked yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks the session to say goodbye and end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// Whether it was asked to end.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Asks both ends to change to this mode of the scheme.
    pub fn change_mode(&self, mode: &str) {
        *self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(mode.to_owned());
        self.asked.fetch_add(1, Ordering::Release);
    }

    /// The mode that was asked for since `seen` was last brought up to date, if any.
    pub(crate) fn mode(&self, seen: &mut u32) -> Option<String> {
        let asked = self.asked.load(Ordering::Acquire);
        if asked == *seen {
            return None;
        }
        *seen = asked;
        self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }
}

/// How far a session is. Values are brought up to date some times a second.
#[derive(Debug, Default)]
pub struct Progress {
    phase: AtomicU8,
    /// Data packets sent, or received.
    pub packets: AtomicU64,
    /// Their bytes, headers of IP and UDP included.
    pub bytes: AtomicU64,
    /// Bytes of content in them, each as often as it was carried.
    pub content: AtomicU64,
    /// Packets that the receiver found missing; segments that the sender retransmitted.
    pub lost: AtomicU64,
    /// Rate that the law and the limit of the sender allow, in bit/s; 0 where neither says one.
    pub allowed_bps: AtomicU64,
    /// The sender's limit, in bit/s; 0 where it has none.
    pub limit_bps: AtomicU64,
    /// Latest round-trip time that the machine measured, in nanoseconds; 0 before the first.
    pub rtt_ns: AtomicU64,
    /// Other ends that are there.
    pub peers: AtomicU64,
    /// Datagrams that came with a wrong tag: their sender has another key, or they were damaged.
    pub forged: AtomicU64,
    /// Nothing that is sent to the group arrives: at a receiver, nothing was heard of it for a while; at a sender, no receiver has said so.
    pub deaf: AtomicBool,
    mode: Mutex<Option<String>>,
}

/// Where a session stands.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Phase {
    /// It calls, or waits to be called.
    #[default]
    Meeting,
    /// Data flow.
    Open,
    /// Nothing is heard from the other end.
    Silent,
    /// It says goodbye.
    Closing,
    /// It is over.
    Over,
}

impl Phase {
    const ALL: [Self; 5] = [Self::Meeting, Self::Open, Self::Silent, Self::Closing, Self::Over];
}

impl Progress {
    /// Where the session stands.
    pub fn phase(&self) -> Phase {
        Phase::ALL.get(usize::from(self.phase.load(Ordering::Relaxed))).copied().unwrap_or_default()
    }

    /// The mode of the scheme that was asked for last, at either end; `None` where it is the one at the start.
    pub fn mode(&self) -> Option<String> {
        self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner).clone()
    }

    pub(crate) fn set_mode(&self, mode: &str) {
        *self.mode.lock().unwrap_or_else(std::sync::PoisonError::into_inner) = Some(mode.to_owned());
    }

    pub(crate) fn enter(&self, phase: Phase) {
        self.phase.store(phase as u8, Ordering::Relaxed);
    }
}
