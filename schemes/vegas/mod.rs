//! Vegas: a window that keeps a few packets in the queue, as Linux has it [BP95].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::linux::Linux;

mod control;
#[cfg(test)]
mod tests;

pub use control::Vegas;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "vegas",
    title: "Vegas: a few packets in the queue, as Linux has it",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "BP95",
            text: "Brakmo, Peterson: TCP Vegas: End to End Congestion Avoidance on a Global Internet, IEEE Journal on Selected Areas in Communications 13(8), 1995",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_vegas.c" },
    ],
    documented: Documented::Full,
    series: &[("diff", "packets", "flow", "estimated number of own packets in queues")],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Below this number of own packets in queues the window grows by a segment per round trip.
    alpha: u32 = 2, within 1..=10_000, from "LINUX: alpha; BP95 §IV measures 1 and 2";
    /// Above this number of own packets in queues the window shrinks by a segment per round trip.
    beta: u32 = 4, within 1..=10_000, from "LINUX: beta; BP95 §IV measures 3 and 4";
    /// Above this number of own packets in queues slow start ends.
    gamma: u32 = 1, within 0..=10_000, from "LINUX: gamma; BP95 §III";
    /// Number of round-trip time samples in a round from which they are used; with fewer, the round is Reno's.
    min_samples: u32 = 3, within 1..=1000, from "LINUX: tcp_vegas_cong_avoid: with two, each may be of a delayed acknowledgement";
}

/// The whole congestion control, in memory of its own because it is large.
pub type Control = Box<Linux<Vegas>>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Linux::new(Vegas::new(params), setup))
}
