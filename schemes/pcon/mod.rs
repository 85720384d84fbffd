//! PCON: queues that mark by queueing delay, routers that move Interests away from marks, consumers with BIC [SYZZ16].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::Duration;

mod consumer;
mod link;
mod strategy;
#[cfg(test)]
mod tests;

pub use consumer::{Consumer, Marks, Window};
pub use link::{MarkAt, Marking};
pub use strategy::{InitialShares, Multipath, Retransmissions};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "pcon",
    title: "PCON: marks by waiting time, shares by next hop, and BIC",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "SYZZ16",
            text: "Schneider, Yi, B. Zhang, L. Zhang: A Practical Congestion Control Scheme for Named Data Networking, ACM ICN, 2016",
        },
        Source {
            key: "SCHNEIDER",
            text: "schneiderklaus/ndnSIM, /NFD and /ns-3-dev, tag pcon-0.1.0, public source by an author, 2016",
        },
        Source { key: "NDNSIM", text: "ndnSIM 2.8, public source of its consumer ConsumerPcon, 2018" },
        Source {
            key: "RFC8289",
            text: "Nichols, Jacobson, McGregor, Iyengar: Controlled Delay Active Queue Management, RFC 8289, 2018",
        },
    ],
    documented: Documented::Full,
    series: &[(
        "share",
        "1",
        "node",
        "share of the next hop with the lowest cost, for the prefix whose shares changed last",
    )],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Links: acceptable standing queueing delay.
    target: Duration = Duration::from_millis(5), within "1 us"..="100 s", from "SCHNEIDER, RFC8289 §4.4: 5 ms";
    /// Links: how long the queueing delay may exceed `target` before the first mark.
    interval: Duration = Duration::from_millis(100), within "1 us"..="100 s", from "SCHNEIDER, RFC8289 §4.3: 100 ms";
    /// Links: time between the first mark and the second, in intervals; after the n-th mark 1/√n of it.
    gap: f64 = 1.1, within 0.001..=1000.0, from "SCHNEIDER: 1.1";
    /// Links: the packet that is marked.
    mark_at: MarkAt = MarkAt::Enqueue, from "SCHNEIDER: the next packet that the strategy sends there; our choice for the other value: the mark arrives earlier by the queueing delay";
    /// Forwarders: fraction of its share that a next hop loses after a mark; after the expiry of an Interest, an absolute share.
    change: f64 = 0.02, within 0.0..=1.0, from "SCHNEIDER: CHANGE_PER_MARK, 0.02";
    /// Forwarders: probability that an Interest goes to all next hops.
    probing: f64 = 0.001, within 0.0..=1.0, from "SCHNEIDER: PROBING_PERCENTAGE, 0.001";
    /// Forwarders: minimum time between changes of shares by NACKs.
    pause: Duration = Duration::from_millis(110), within "0 s"..="100 s", from "SCHNEIDER: TIME_BETWEEN_FW_UPDATE, 110 ms, the maximum gap between marks";
    /// Forwarders: initial shares.
    initial_shares: InitialShares = InitialShares::Best, from "SCHNEIDER: INIT_SHORTEST_PATH is on";
    /// Forwarders: treatment of an Interest whose name is already pending.
    retransmissions: Retransmissions = Retransmissions::Suppressed, from "SCHNEIDER: the behaviour of the code; our choice for the other value: the behaviour that its comments describe";
    /// Consumers: growth of the window.
    window: Window = Window::Bic, from "SCHNEIDER: BIC; NDNSIM: AIMD by default, BIC, CUBIC";
    /// Consumers: share of the window kept after a congestion event.
    beta: f64 = 0.5, within 0.01..=0.99, from "SCHNEIDER: 0.5 (BIC); NDNSIM: 0.5 for AIMD, 0.8 for BIC and CUBIC";
    /// Consumers: marks that reduce the window.
    marks: Marks = Marks::Each, from "SCHNEIDER: each mark, because CoDel spaces them; NDNSIM: one mark in 1.5 windows";
}

/// The part at a consumer.
pub type Control = Box<Consumer>;

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Box::new(Consumer::new(params, setup))
}

/// The part that chooses next hops.
pub type Strategy = Multipath;

/// Makes the strategy of one node.
pub fn strategy(params: &Params, _setup: &Setup) -> Strategy {
    Multipath::new(params)
}

/// The part at the links.
pub type Link = Marking;

/// Makes the part at the links of one node.
pub fn link(params: &Params, _setup: &Setup) -> Link {
    Marking::new(params.target, params.interval, params.gap, None, params.mark_at)
}
