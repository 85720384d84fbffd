//! Template: in one sentence, what it does that others do not.

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod control;
#[cfg(test)]
mod tests;

pub use control::Template;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "template",
    title: "One line for the catalogue",
    families: &[Family::Ip],
    sources: &[Source {
        key: "RFC5681",
        text: "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009",
    }],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Share of the window kept after a loss.
    beta: f64 = 0.5, within 0.1..=0.9, from "RFC5681 §3.1";
}

/// The whole congestion controller: slow start, threshold, minimum and undo around the window update. If this frame
/// does not fit, implement [`contract::CongestionControl`] instead of [`contract::WindowUpdate`] and name that type
/// here.
pub type Control = Classic<Template>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Classic::new(Template::new(params), setup)
}
