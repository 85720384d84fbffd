//! Scalable TCP: growth and reduction are shares of the window, so that the time to recover from a loss does not depend
//! on it [Kelly03].

use contract::{Documented, Family, Scheme, Setup, Source};

use crate::shared::Classic;

mod control;
#[cfg(test)]
mod tests;

pub use control::Scalable;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "scalable",
    title: "Scalable TCP: 1 % more per acknowledged window, an eighth less per loss",
    families: &[Family::Ip],
    sources: &[
        Source {
            key: "Kelly03",
            text: "Kelly: Scalable TCP: Improving Performance in Highspeed Wide Area Networks, ACM SIGCOMM Computer Communication Review 33(2), 2003",
        },
        Source { key: "LINUX", text: "Linux 6.1, net/ipv4/tcp_scalable.c, net/ipv4/tcp_cong.c" },
    ],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Acknowledged segments for which the window grows by one. A smaller window takes its own size instead, as Reno
    /// does.
    ai_count: u32 = 100, within 1..=1000000, from "LINUX, TCP_SCALABLE_AI_CNT; Kelly03: a = 0.01 per acknowledgement";
    /// Right shift of the window that gives the reduction after a loss: 3 takes an eighth.
    md_shift: u32 = 3, within 1..=16, from "LINUX, TCP_SCALABLE_MD_SCALE; Kelly03: b = 0.125";
}

/// The whole congestion control.
pub type Control = Classic<Scalable>;

/// Makes the congestion control of one connection.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Classic::new(Scalable::new(params), setup)
}
