//! Settings of the host.

use std::path::PathBuf;

use units::Duration;

/// Settings of the host's part of an emulation.
#[derive(Clone, Debug)]
pub struct Settings {
    /// Time before a due event in which the loop does not sleep: more CPU time, less lateness.
    pub spin: Duration,
    /// Minimum interval between two looks at the devices: less CPU time at high packet rates, more lateness. For
    /// several emulations on one host.
    pub poll_interval: Duration,
    /// Gives the threads of the loop and of the kernel's TCP real-time priority, which needs the privilege. The loop
    /// then sleeps for a twelfth of the time, because the kernel would stop it for longer otherwise.
    pub urgent: bool,
    /// Folder for the output of commands; `None` discards it.
    pub logs: Option<PathBuf>,
}

impl Default for Settings {
    /// `spin` 50 µs, no minimum interval, normal priority, no logs.
    fn default() -> Self {
        Self { spin: Duration::from_micros(50), poll_interval: Duration::ZERO, urgent: false, logs: None }
    }
}
