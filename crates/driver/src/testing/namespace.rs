//! Network namespaces of tests.

use std::process::Command;

use nix::sched::{CloneFlags, unshare};

/// A network namespace for this thread and those that it starts, with a loopback device. Returns false, with a message,
/// if that is not permitted.
pub fn network_namespace() -> bool {
    if let Err(error) = unshare(CloneFlags::CLONE_NEWNET) {
        eprintln!("skipped: a network namespace: {error}");
        return false;
    }
    ip("link set lo up");
    true
}

/// Runs the command `ip` with these words.
///
/// # Panics
///
/// It is missing or fails.
pub fn ip(words: &str) {
    let done = Command::new("ip").args(words.split(' ')).output().expect("`ip` is there");
    assert!(done.status.success(), "ip {words}: {}", String::from_utf8_lossy(&done.stderr));
}
