//! World two: the simulator's links and routers, driven by the wall clock, with devices where real kernels and programs attach.
//!
//! The network is a [`sim::World`], the same in every detail. Events are handled at the first opportunity after they are due, each at
//! its own instant: machines inside never see that the loop was late. Only packets that leave for a program outside can be late, and by
//! how much is measured ([`Accuracy`]).
//!
//! `driver.rs` is the loop; it knows no operating system, only its [`surroundings`]. `linux/` is what stands around it: network namespaces, TUN devices, TCP of
//! the kernel, commands, and our own live endpoints.

mod accuracy;
mod datagrams;
mod driver;
mod gates;
#[cfg(target_os = "linux")]
mod linux;
mod run;
pub mod surroundings;

pub use accuracy::Accuracy;
#[cfg(target_os = "linux")]
pub use linux::{PREFIX, clean, permitted};
pub use run::{Error, Outcome, Settings, run};
pub use units::Lateness;
