//! Emulation: the simulator's links and routers in real time, with TUN devices for real kernels and programs.
//!
//! The network is a [`sim::World`], equal in every detail. Events are handled at the first opportunity after they are
//! due, each at its own instant, so that simulated state machines never observe that the loop was late. Only packets to
//! real programs can be late; the lateness is measured ([`Accuracy`]).
//!
//! `driver.rs` is the event loop; it accesses the operating system only through [`platform`]. `linux/` implements that:
//! network namespaces, TUN devices, TCP of the kernel, commands, and live endpoints.

mod accuracy;
mod datagrams;
mod driver;
mod error;
mod gates;
#[cfg(target_os = "linux")]
mod linux;
pub mod platform;
mod run;
mod settings;

pub use accuracy::Accuracy;
pub use error::Error;
#[cfg(target_os = "linux")]
pub use linux::{PREFIX, clean, permitted};
pub use run::{Outcome, run};
pub use settings::Settings;
pub use units::Lateness;
