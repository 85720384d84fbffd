//! HIS, the improved hop-by-hop Interest shaper: Interests are sent at a rate at which their Data, and the Interests
//! and Data of the other direction, fit into both directions of a link [WRNOR13].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::{Bytes, Duration};

mod consumer;
mod drops;
mod shaper;
mod share;
#[cfg(test)]
mod tests;

pub use consumer::{Consumer, NackReaction};
pub use drops::Queue;
pub use shaper::Shaper;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "his",
    title: "HIS: an improved hop-by-hop Interest shaper, for links with Data in both directions",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "WRNOR13",
            text: "Wang, Rozhnova, Narayanan, Oran, Rhee: An Improved Hop-by-Hop Interest Shaper for Congestion Control in Named Data Networking, ACM SIGCOMM Workshop on Information-Centric Networking, 2013",
        },
        Source {
            key: "CCNEW",
            text: "wygivan/ndnSIM, branch cc-new, public source by the first author, 2013",
        },
        Source {
            key: "RFC8033",
            text: "Pan, Natarajan, Baker, White: Proportional Integral Controller Enhanced (PIE), RFC 8033, 2017",
        },
        Source {
            key: "RFC8289",
            text: "Nichols, Jacobson, McGregor, Iyengar: Controlled Delay Active Queue Management, RFC 8289, 2018",
        },
    ],
    documented: Documented::Full,
    series: &[
        ("shaper_queue", "packets", "node", "Interests that the shaper holds"),
        ("shaped_rate", "bps", "node", "rate of Interests at the link on which the last one left"),
    ],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Headroom: the share of the rates that is used.
    headroom: f64 = 0.98, within 0.01..=1.0, from "CCNEW: 0.98 by default, 0.97 in its experiments";
    /// Measurement interval of the rate of incoming Interests.
    interval: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "CCNEW: 0.1 s";
    /// Gain of the sizes of packets.
    size_gain: f64 = 0.125, within 0.001..=1.0, from "CCNEW: 1/8";
    /// Assumed size of an Interest before the first one.
    interest: Bytes = Bytes::new(40), within "1 B"..="10000 B", from "CCNEW: 40 bytes";
    /// Maximum number of Interests that wait per link.
    queue_limit: u32 = 100, within 1..=1000000, from "CCNEW: 100";
    /// Queue management of the Interest queue.
    queue: Queue = Queue::DropTail, from "CCNEW has all three; drop-tail is its default";
    /// Whether rejected Interests are answered with a NACK; otherwise they are dropped.
    nacks: bool = true, from "CCNEW has both; WRNOR13 proposes NACKs";
    /// PIE: interval of the update of its probability.
    pie_update_interval: Duration = Duration::from_millis(30), within "1 ms"..="10 s", from "CCNEW: 30 ms";
    /// PIE: gain of the distance to the target, per second.
    pie_alpha: f64 = 0.125, within 0.0..=100.0, from "CCNEW: 0.125";
    /// PIE: gain of the change, per second.
    pie_beta: f64 = 1.25, within 0.0..=100.0, from "CCNEW: 1.25";
    /// PIE: target of the queueing delay.
    pie_target: Duration = Duration::from_millis(20), within "1 us"..="10 s", from "CCNEW: 20 ms";
    /// PIE: time after an empty queue in which no Interest is dropped.
    pie_max_burst: Duration = Duration::from_millis(100), within "0 s"..="10 s", from "CCNEW: 0.1 s";
    /// CoDel: target of the queueing delay.
    codel_target: Duration = Duration::from_millis(20), within "1 us"..="10 s", from "CCNEW: 20 ms";
    /// CoDel: time for which the queueing delay can exceed the target.
    codel_interval: Duration = Duration::from_millis(100), within "1 ms"..="10 s", from "CCNEW: 100 ms";
    /// Reaction of a consumer to a NACK.
    consumer: NackReaction = NackReaction::Aimd, from "CCNEW has both";
}

/// The part at a consumer.
pub type Control = Consumer;

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Consumer::new(params, setup)
}

/// The part at the links.
pub type Link = Shaper;

/// Makes the shaper of one node.
pub fn link(params: &Params, setup: &Setup) -> Link {
    Shaper::new(params, setup)
}
