//! Explicit rates: every link offers a rate, Data carry the minimum of their path, consumers send at it, and routers
//! choose the next hop that offers more [ZHOU15].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::{Duration, Rate};

mod control;
mod link;
mod strategy;
#[cfg(test)]
mod tests;

pub use control::Control;
pub use link::Offers;
pub use strategy::Choice;

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "ecn_rate",
    title: "Explicit rates by congestion notification: the minimum of the rates that links offer (reconstruction)",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "ZHOU15",
            text: "Zhou, Wu, Li, Kaafar, Xie: A Proactive Transport Mechanism with Explicit Congestion Notification for NDN, IEEE ICC, 2015; the abstract alone",
        },
        Source {
            key: "KATO",
            text: "T. Kato, T. Enda, R. Yamamoto, S. Ohzahata: A Study on Performance of Explicit Rate Report based Congestion Control under Coarse-grained Clock Management; what it says of ZHOU15",
        },
        Source {
            key: "RCP",
            text: "Dukkipati, Kobayashi, Zhang-Shen, McKeown: Processor Sharing Flows in the Internet, International Workshop on Quality of Service, 2005",
        },
    ],
    documented: Documented::Reconstruction,
    series: &[
        ("offered_rate", "bps", "flow", "rate that the last Data packet offered to the consumer"),
        (
            "share",
            "1",
            "node",
            "share of the next hop with the lowest cost, for the prefix whose shares changed last",
        ),
        (
            "link_rate",
            "bps",
            "node",
            "rate that the link offers by which most Data left in the last interval",
        ),
    ],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// T: time between two calculations of a rate.
    interval: Duration = Duration::from_millis(10), within "1 ms"..="10 s", from "our choice: RCP: 10 ms";
    /// a: gain of the unused capacity.
    a: f64 = 0.4, within 0.0..=10.0, from "our choice: RCP: 0.4";
    /// b: gain of the queue.
    b: f64 = 0.4, within 0.0..=10.0, from "our choice: RCP: 0.4";
    /// η: target utilisation of a link.
    eta: f64 = 0.95, within 0.01..=1.0, from "our choice: RCP: 0.95";
    /// Minimum rate of a link, as a share of its capacity.
    min_rate_share: f64 = 0.01, within 0.000001..=1.0, from "our choice: a consumer that sends few Interests receives few new rates";
    /// Rate of a link at the start, as a share of its capacity.
    initial_share: f64 = 0.5, within 0.000001..=1.0, from "our choice: RCP gives none";
    /// Gain of the mean round-trip time, per Interest.
    rtt_gain: f64 = 0.02, within 0.001..=1.0, from "our choice: RCP: 0.02";
    /// Round-trip time before the first sample.
    initial_rtt: Duration = Duration::from_millis(100), within "1 us"..="100 s", from "our choice: a usual order of magnitude";
    /// Consumers: rate before the first Data.
    initial_rate: Rate = Rate::from_mbps(1), within "1 bit/s"..="1000 Gbit/s", from "our choice: a low rate until Data carry one";
    /// Forwarders: share of the Interests sent to next hops other than the best.
    probing: f64 = 0.01, within 0.0..=1.0, from "our choice: without Interests, a next hop returns no Data and so no rate";
}

/// Makes the congestion control of one consumer.
pub const fn control(params: &Params, _setup: &Setup) -> Control {
    Control::new(params.initial_rate)
}

/// The part that chooses next hops.
pub type Strategy = Choice;

/// Makes the strategy of one node.
pub const fn strategy(params: &Params, _setup: &Setup) -> Strategy {
    Choice::new(params.probing)
}

/// The part at the links.
pub type Link = Offers;

/// Makes the part at the links of one node.
pub fn link(params: &Params, _setup: &Setup) -> Link {
    Offers::new(params)
}
