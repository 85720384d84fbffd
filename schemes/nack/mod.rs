//! Stateful forwarding with NACKs: routers limit the pending Interests of each face, refuse the rest, and derive the
//! status of faces from NACKs [YAMWZZ13].

use contract::{Documented, Family, Scheme, Setup, Source};
use units::{Bytes, Duration};

mod consumer;
mod limits;
mod strategy;
#[cfg(test)]
mod tests;

pub use consumer::{Consumer, Window};
pub use limits::Form;
pub use strategy::{Status, Strategy};

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "nack",
    title: "Stateful forwarding: limits on faces, and NACKs where they are reached",
    families: &[Family::Ndn],
    sources: &[
        Source {
            key: "YAMWZZ13",
            text: "Yi, Afanasyev, Moiseenko, Wang, B. Zhang, L. Zhang: A Case for Stateful Forwarding Plane, Computer Communications 36(7), 2013",
        },
        Source {
            key: "YIC",
            text: "yic/ndnSIM, branch congestion, public source by an author: limits of faces and their adaptation, 2013",
        },
        Source {
            key: "CAWKA",
            text: "cawka/ndnSIM-comcom-stateful-fw, public source by an author: the paper's scenarios, 2013",
        },
    ],
    documented: Documented::Partial,
    series: &[("limit", "packets", "node", "limit of the face that reported last")],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Limit of a face: pending Interests, their rate, or none.
    limit: Form = Form::Window, from "YIC: window or rate; CAWKA has experiments with both";
    /// Assumed round-trip time of a face. The limit is capacity × this time, in packets.
    rtt: Duration = Duration::from_millis(100), within "1 ms"..="100 s", from "CAWKA: 0.1 s in the congestion scenarios";
    /// Bytes that the limit adds to each Data packet for its Interest.
    interest: Bytes = Bytes::new(40), within "0 B"..="10000 B", from "CAWKA: 40 bytes";
    /// Whether limits adapt to the Data and the NACKs of their face.
    adapt: bool = false, from "YIC: its branch `congestion`";
    /// With `adapt`: maximum limit, in multiples of capacity × measured round-trip time.
    rtts: f64 = 1.0, within 0.01..=100.0, from "YIC: 1";
    /// Whether Interests are refused early and at random when the queue of their Data grows.
    early: bool = false, from "YIC: its branch `congestion`";
    /// With `early`: mean queue below which no Interest is refused, in packets.
    early_min_th: f64 = 5.0, within 0.0..=100000.0, from "YIC: 5";
    /// With `early`: mean queue at and above which every Interest is refused, in packets.
    early_max_th: f64 = 15.0, within 0.0..=100000.0, from "YIC: 15";
    /// With `early`: probability of a refusal just below `early_max_th`.
    early_max_p: f64 = 0.02, within 0.0..=1.0, from "YIC: 0.02";
    /// With `early`: gain of the mean, for each Interest.
    early_weight: f64 = 0.002, within 0.000001..=1.0, from "YIC: 0.002, per packet that enters the queue";
    /// Maximum window of a consumer, in segments.
    max_window: u32 = 1000, within 1..=1000000, from "our choice: CAWKA has no limit for windows that only grow, and its downloads end after 2000 Data";
    /// The congestion control of a consumer.
    consumer: Window = Window::Aimd, from "our choice: the literature describes consumers as AIMD on Data and NACKs; the other values are as in CAWKA and YIC";
    order early_min_th <= early_max_th;
}

/// The part at a consumer.
pub type Control = Consumer;

/// Makes the congestion control of one consumer.
pub fn control(params: &Params, setup: &Setup) -> Control {
    Consumer::new(params, setup)
}

/// Makes the strategy of one node.
pub fn strategy(params: &Params, setup: &Setup) -> Strategy {
    Strategy::new(params, setup)
}
