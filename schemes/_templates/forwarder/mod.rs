//! Template: in one sentence, what it does that others do not.

use contract::{Documented, Family, Scheme, Setup, Source};

mod strategy;
#[cfg(test)]
mod tests;

pub use strategy::Strategy;

/// The catalogue entry.
pub const SCHEME: Scheme = Scheme {
    name: "template",
    title: "One line for the catalogue",
    families: &[Family::Ndn],
    sources: &[Source {
        key: "YAMWZZ13",
        text: "Yi, Afanasyev, Moiseenko, Wang, B. Zhang, L. Zhang: A Case for Stateful Forwarding Plane, Computer Communications 36(7), 2013",
    }],
    documented: Documented::Full,
    series: &[],
    reorder: 1,
    needs: &[],
};

contract::params! {
    /// Next hops that are tried for one Interest before it is refused.
    tries: u32 = 3, within 1..=100, from "our choice: YAMWZZ13 tries all";
}

/// Makes the strategy of a node. `link` would make a link part, see [`contract::LinkAlgorithm`]; `control` a consumer's
/// algorithm, see [`contract::CongestionControl`].
pub fn strategy(params: &Params, _setup: &Setup) -> Strategy {
    Strategy::new(params)
}
