//! Control and status of a long-running event loop, for other threads.

use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, Ordering};

/// A handle by which other threads observe and stop a loop. Its status is a `T`.
#[derive(Debug)]
pub struct Watch<T> {
    stop: AtomicBool,
    published: Mutex<Option<T>>,
}

impl<T> Default for Watch<T> {
    fn default() -> Self {
        Self { stop: AtomicBool::new(false), published: Mutex::new(None) }
    }
}

impl<T: Clone> Watch<T> {
    /// Requests the end.
    pub fn stop(&self) {
        self.stop.store(true, Ordering::Relaxed);
    }

    /// The last published status; `None` before the start.
    pub fn status(&self) -> Option<T> {
        self.published.lock().ok()?.clone()
    }

    /// Whether the end was requested.
    pub fn stopped(&self) -> bool {
        self.stop.load(Ordering::Relaxed)
    }

    /// Publishes a status.
    pub fn publish(&self, status: T) {
        if let Ok(mut published) = self.published.lock() {
            *published = Some(status);
        }
    }
}
