//! HR-ICP: ICP at receivers, and routers that delay the Interests of flows which ask for more than their fair share of
//! a link [CGM12].

use contract::{Documented, Family, Need, Scheme, Setup, Source};
use units::{Bytes, Duration};

use crate::icp;

mod link;
mod rounds;
#[cfg(test)]
mod tests;

pub use link::Shaper;

/// The title page.
pub const SCHEME: Scheme = Scheme {
    name: "hr_icp",
    title: "HR-ICP: ICP, and Interests shaped to each flow's fair rate (reconstruction)",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "CGM12",
            text: "Carofiglio, Gallo, Muscariello: Joint Hop-by-hop and Receiver-driven Interest Control Protocol for Content-centric Networks, ACM SIGCOMM Workshop on Information-Centric Networking, 2012; the abstract alone",
        },
        Source {
            key: "CCNPL",
            text: "ccnpl-sim, the simulator of the authors' group, public source of queues of Data, credits and ICP, 2012; the shaper itself is not in it",
        },
        Source { key: "MA24", text: "Ma et al.: ndnSieve, 2024; what it says of HR-ICP (§2.3, Table 1)" },
        Source {
            key: "SV95",
            text: "Shreedhar, Varghese: Efficient Fair Queuing Using Deficit Round Robin, ACM SIGCOMM, 1995",
        },
    ],
    documented: Documented::Reconstruction,
    series: &[("shaper_queue", "packets", "node", "Interests that routers delay")],
    reorder: 1,
    needs: &[Need::Samples("samples")],
};

contract::params! {
    /// Routers: bytes of a flow that are served per round, and the maximum credit of a flow.
    quantum: Bytes = Bytes::new(10_000), within "1 B"..="1000000 B", from "CCNPL: 80 000 bit for both";
    /// Routers: maximum number of Interests that wait per flow.
    queue_limit: u32 = 100, within 1..=1000000, from "our choice: no source gives one; per flow, because CGM12 tolerates receivers that misbehave";
    /// Receivers: number of round-trip times from which the timer is computed.
    samples: u32 = 30, within 1..=10000, from "CCNPL: 30, as for ICP";
    /// Receivers: position of the timer between the minimum (0) and the maximum (1) of them.
    delta: f64 = 0.8, within 0.0..=1.0, from "CCNPL: 0.8, as for ICP";
    /// Receivers: the timer before this number of samples exists; until then the window is not reduced.
    initial_timeout: Duration = Duration::from_secs(1), within "1 ms"..="100 s", from "our choice: as in our ICP";
    /// Receivers: segments added per window of Data.
    eta: u32 = 1, within 1..=1000, from "CCNPL: 1, as for ICP";
    /// Receivers: share of the window kept after a timeout.
    beta: f64 = 0.5, within 0.01..=0.99, from "CCNPL: one half, rounded down, as for ICP";
}

/// The part at a consumer: ICP.
pub type Control = icp::Icp;

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    // consumer: AIMD, as ICP                                                              [MA24 Table 1]
    let Params { samples, delta, initial_timeout, eta, beta, .. } = *params;
    icp::control(&icp::Params { samples, delta, initial_timeout, eta, beta }, setup)
}

/// The part at the links.
pub type Link = Shaper;

/// Makes the part at the links of one node.
pub fn link(params: &Params, setup: &Setup) -> Link {
    Shaper::new(params, setup)
}
