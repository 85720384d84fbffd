//! DCTCP: the window is reduced in proportion to the fraction of marked packets [RFC8257].

use contract::{Documented, EcnFeedback, EcnUse, Family, Need, Scheme, Setup, Source};

mod control;
#[cfg(test)]
mod tests;

pub use control::{Control, Variant};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "dctcp",
    title: "DCTCP: reductions in proportion to the fraction of marked packets",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "RFC8257",
            text: "Bensley, Thaler, Balasubramanian, Eggert, Judd: Data Center TCP (DCTCP): TCP Congestion Control for Data Centers, RFC 8257, 2017",
        },
        Source {
            key: "AGM10",
            text: "Alizadeh, Greenberg, Maltz, Padhye, Patel, Prabhakar, Sengupta, Sridharan: Data Center TCP (DCTCP), SIGCOMM 2010",
        },
        Source { key: "RFC5681", text: "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009" },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_dctcp.c" },
    ],
    documented: Documented::Full,
    series: &[("alpha", "1", "flow", "smoothed fraction of marked packets, DCTCP.Alpha")],
    reorder: 1,
    // the receiver reports the marks of every packet                                     [RFC8257 §3.2]
    needs: &[Need::Ecn(EcnUse { feedback: EcnFeedback::Dctcp, l4s: false })],
};

contract::params! {
    /// g, the weight of the last window of data in the smoothed fraction of marked packets.
    gain: f64 = 0.0625, within 0.001..=1.0, from "RFC8257 §4.2";
    /// The smoothed fraction of marked packets before the first window of data.
    initial_alpha: f64 = 1.0, within 0.0..=1.0, from "RFC8257 §4.2: 1, the reaction of Reno to the first mark";
    /// Arithmetic of the RFC, or of Linux, which uses whole segments and 1024 parts of the fraction; `gain` is then
    /// rounded to a power of two.
    variant: Variant = Variant::Rfc, from "RFC8257 §3.3; LINUX for the other value";
}

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Control::new(params, setup)
}
