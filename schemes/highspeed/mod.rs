//! HighSpeed TCP: increase and reduction depend on the window, so that large windows need fewer losses (RFC 3649).

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod control;
#[cfg(test)]
mod tests;

pub use control::HighSpeed;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "highspeed",
    title: "HighSpeed TCP: a window of 0.12/p^0.835 at a loss of p",
    families: &[Family::Ip],
    sources: &[
        Source { key: "RFC3649", text: "Floyd: HighSpeed TCP for Large Congestion Windows, RFC 3649, 2003" },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_highspeed.c" },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Window in segments up to which it grows and is reduced as Reno's.
    low_window: u32 = 38, within 2..=1000, from "RFC3649: Low_Window; LINUX, first row";
    /// Window at which the reduction is `high_decrease`.
    high_window: u32 = 83000, within 2000..=10000000, from "RFC3649: High_Window";
    /// Share of the window that a loss takes there. At `low_window` it takes a half.
    high_decrease: f64 = 0.1, within 0.001..=0.5, from "RFC3649: High_Decrease";
    /// Scale k of the response function: a loss ratio of 1/(k·w^1.2) gives a window of w.
    response: f64 = 12.8, within 0.1..=1000.0, from "RFC3649 appendix B: 12.8, for p(w) = 0.078/w^1.2 of the RFC";
    /// Exponent of the response function.
    exponent: f64 = 1.2, within 0.5..=1.9, from "RFC3649: p(w) = 0.078/w^1.2";
    /// Number of rows of the table, and so the maximum increase per round trip.
    rows: u32 = 72, within 1..=500, from "LINUX, hstcp_aimd_vals; RFC3649 appendix B has 73";
}

/// The whole congestion control.
pub type Control = Classic<HighSpeed>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Classic::new(HighSpeed::new(params), setup)
}
