//! Control and status of a long-running event loop, for other threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle by which other threads observe and stop a loop. Its status is a `T`.
#[derive(Debug)]
pub struct Watch<T> {
    stop: AtomicBool,
    shown: Mutex<Option<T>>,
}

impl<T> Default for Watch<T> {
    fn default() -> Self {
        Self { stop: AtomicBool::new(false), shown: Mutex::new(None) }
    }
}

impl<T: Clone> Watch<T> {
    /// Requests the end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The last published status; `None` before the start.
    pub fn stats(&self) -> Option<T> {
        self.shown.lock().ok()?.clone()
    }

    pub(crate) fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    pub(crate) fn show(&self, stats: T) {
        if let Ok(mut shown) = self.shown.lock() {
            *shown = Some(stats);
        }
    }
}
