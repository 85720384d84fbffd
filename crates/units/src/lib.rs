//! Quantities with units: time, rates, sizes; exact integer arithmetic and text such as `"50 Mbit/s"`. Below all
//! crates, it also has what several of them compute with: [`math`], [`Histogram`], and shortest paths in [`graph`].
//!
//! Floats are used only in [`Segments`] and [`Share`], for congestion control and metrics. One function converts bytes
//! to time: [`Rate::serialise`], which carries the remainder so that long runs are exact to the nanosecond.

mod bytes;
mod clock;
pub mod graph;
mod histogram;
mod lateness;
pub mod math;
mod rate;
mod text;
mod time;

pub use bytes::{Bytes, Segments, Share};
pub use clock::{Clock, Drift, Offset};
pub use histogram::{Bin, Histogram};
pub use lateness::Lateness;
pub use rate::{Carry, Rate};
pub use text::{UnitError, UnitText};
pub use time::{Duration, Time};
