//! HoBHIS: each router shapes Interests so that the queue of their Data converges to a target [RF12].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::{Duration, Rate};

mod client;
mod router;
#[cfg(test)]
mod tests;

pub use client::Client;
pub use router::{QueuePer, Shaper, WhenFull};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "hobhis",
    title: "HoBHIS: hop-by-hop Interest shaping towards a target in the queue of Data",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "RF12",
            text: "Rozhnova, Fdida: An Effective Hop-by-Hop Interest Shaping Mechanism for CCN Communications, IEEE INFOCOM Workshops, 2012",
        },
        Source {
            key: "RF14",
            text: "Rozhnova, Fdida: An Extended Hop-by-Hop Interest Shaping Mechanism for Content-Centric Networking, IEEE GLOBECOM, 2014",
        },
        Source { key: "HOBHIS", text: "HoBHIS for ndnSIM, public source by the authors, 2014" },
    ],
    documented: Documented::Partial,
    series: &[
        ("shaper_queue", "packets", "node", "Interests that the shaper holds"),
        ("shaping_rate", "bps", "node", "rate of Data that the shaper used for the latest Interest"),
    ],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// h: gain of the control of the queue.
    h: f64 = 0.7, within 0.001..=2.0, from "HOBHIS: 0.1 by default, 0.7 in its examples; RF12 proves convergence";
    /// r: target length of the queue, in packets, divided among the conversations in the queue.
    target: f64 = 60.0, within 0.0..=100000.0, from "HOBHIS: 50 by default, 60 in its examples with queues of 100";
    /// Maximum number of Interests that wait per queue.
    queue_limit: u32 = 100, within 1..=1000000, from "HOBHIS: 100 by default, 10000 in its examples";
    /// Gain of the smoothed delay from Interest to Data.
    delay_gain: f64 = 0.8, within 0.001..=1.0, from "HOBHIS: 0.8, the weight of the new sample";
    /// Gain of the sizes of packets.
    size_gain: f64 = 0.125, within 0.001..=1.0, from "HOBHIS: 1/8";
    /// Time after which a negative rate is computed again.
    retry: Duration = Duration::from_micros(100), within "1 us"..="1 s", from "HOBHIS: 0.1 ms";
    /// Maximum gap before an Interest.
    max_gap: Duration = Duration::from_millis(100), within "1 us"..="100 s", from "our choice: the source has no limit; a rate near zero would stop a conversation permanently";
    /// Queues of Interests: one per link, or one per conversation, with a share of the downstream link for each.
    queue_per: QueuePer = QueuePer::Link, from "HOBHIS: one per link; our choice for the other value: RF12 shapes conversations, and the sum of several full link rates would not converge";
    /// Treatment of an Interest that finds its queue full.
    when_full: WhenFull = WhenFull::Drop, from "HOBHIS: drops, because its NACKs are off; our choice for the other value: a NACK informs the consumer";
    /// Whether routers write the permitted rate into Data, and clients obey it.
    client: bool = true, from "RF14; our choice: the field that carries the rate is not published, so this part is a reconstruction";
    /// h for the rate that is written into Data.
    client_h: f64 = 0.05, within 0.0..=2.0, from "our choice: a client responds one round trip later than the router, and overshoots with the router's h";
    /// Time without an Interest after which a conversation has no share of the rate that is written into Data.
    idle_timeout: Duration = Duration::from_millis(500), within "1 ms"..="100 s", from "our choice: a few round-trip times";
    /// Rate of a client before it has received one, or at all times if `client` is false.
    initial_rate: Rate = Rate::from_mbps(1), within "1 bit/s"..="1000 Gbit/s", from "our choice: in HOBHIS the scenario sets the rate of clients";
    /// Minimum rate of a client.
    min_rate: Rate = Rate::from_kbps(20), within "1 bit/s"..="1000 Gbit/s", from "our choice: a client that sends no Interests receives no rate";
}

/// The part at a client.
pub type Control = Client;

/// Makes the congestion control of one client.
pub const fn control(params: &Params, _setup: &Setup) -> Control {
    Client::new(params)
}

/// The part in a router.
pub type Link = Shaper;

/// Makes the shaper of one node.
pub fn link(params: &Params, setup: &Setup) -> Link {
    Shaper::new(params, setup)
}
