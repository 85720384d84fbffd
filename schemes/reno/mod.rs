//! Reno: one segment more per round trip, half the window after a loss [RFC5681].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod control;
#[cfg(test)]
mod tests;

pub use control::{Counting, Reno, SlowStart, Variant};

pub use crate::shared::Ending;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "reno",
    title: "Reno: the standard TCP congestion control",
    families: &[Family::Ip, Family::Ndn],
    sources: &[
        Source { key: "RFC5681", text: "Allman, Paxson, Blanton: TCP Congestion Control, RFC 5681, 2009" },
        Source {
            key: "RFC3465",
            text: "Allman: TCP Congestion Control with Appropriate Byte Counting (ABC), RFC 3465, 2003",
        },
        Source { key: "LINUX", text: "Linux 6.18, net/ipv4/tcp_cong.c" },
        Source {
            key: "HR11",
            text: "Ha, Rhee: Taming the Elephants: New TCP Slow Start, Computer Networks 55(9), 2011",
        },
        Source {
            key: "RFC9406",
            text: "Balasubramanian, Huang, Olson: HyStart++: Modified Slow Start for TCP, RFC 9406, 2023",
        },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Unit of congestion avoidance: each acknowledgement, or the acknowledged bytes.
    counting: Counting = Counting::Acks, from "RFC5681 §3.1, eq. 3; for `bytes`, the text before eq. 3, and RFC3465 §2.1";
    /// Unit of slow start: each acknowledgement, each acknowledged segment, or each acknowledged segment up to the
    /// limit of Appropriate Byte Counting.
    slow_start: SlowStart = SlowStart::Acks, from "RFC5681 §3.1, eq. 2; our choice for `segments`: as in Linux; RFC3465 §2.2, §2.3 for `abc`";
    /// Arithmetic of the RFC, or of Linux, which uses whole segments, and the window instead of the data in flight;
    /// with Linux, `counting` and `slow_start` have no effect, and bytes and segments count.
    variant: Variant = Variant::Rfc, from "RFC5681 §3.1; LINUX for the other value";
    /// End of slow start besides losses: none, HyStart as Linux has it for CUBIC, or HyStart++.
    hystart: Ending = Ending::Off, from "RFC5681 §3.1 has none; HR11 for `linux`, RFC9406 for `plus`";
}

/// The whole congestion control.
pub type Control = Classic<Reno>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Classic::new(Reno::new(params), setup)
}
