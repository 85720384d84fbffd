//! Numbers that wear their unit: time, rates, sizes; exact integer arithmetic and text such as `"50 Mbit/s"`.
//!
//! Floats appear only in [`Segments`] and [`Share`], which laws and metrics use. One place in the program turns
//! bytes into time: [`Rate::serialise`], which carries the remainder so that long runs end on the exact nanosecond.

mod bytes;
mod clock;
mod histogram;
mod lateness;
pub mod math;
mod rate;
mod text;
mod time;

pub use bytes::{Bytes, Segments, Share};
pub use clock::{Clock, Drift, Offset};
pub use histogram::{Bin, Counter, Histogram};
pub use lateness::Lateness;
pub use rate::{Carry, Rate};
pub use text::{UnitError, UnitText};
pub use time::{Duration, Time};
