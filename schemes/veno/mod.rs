//! TCP Veno: Vegas' estimate of the queue tells random losses from congestion, and Reno reacts to both [FL03].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::linux::Linux;

mod control;
#[cfg(test)]
mod tests;

pub use control::Veno;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "veno",
    title: "TCP Veno: a smaller reduction for losses without a queue",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "FL03",
            text: "Fu, Liew: TCP Veno: TCP Enhancement for Transmission over Wireless Access Networks, IEEE Journal on Selected Areas in Communications 21(2), 2003",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_veno.c, net/ipv4/tcp_cong.c" },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Segments of the flow in the queue from which on the path is congested.
    beta: f64 = 3.0, within 0.5..=1000.0, from "LINUX, beta, in halves of a segment; FL03: β = 3";
    /// Share of the window kept after a loss with a shorter queue.
    random_keep: f64 = 0.8, within 0.01..=0.99, from "LINUX, tcp_veno_ssthresh: 4/5; FL03";
    /// Share kept after a loss on a congested path.
    congestion_keep: f64 = 0.5, within 0.01..=0.99, from "LINUX, tcp_veno_ssthresh: 1/2; FL03";
}

/// The whole congestion control.
pub type Control = Linux<Veno>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Linux::new(Veno::new(params), setup)
}
