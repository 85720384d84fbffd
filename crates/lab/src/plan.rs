//! A checked scenario with every default and every relative unit filled in: what a run is made of.

use contract::FlowId;
use sim::Blueprint;

use crate::Expectation;

/// A checked, immutable scenario with one seed.
#[derive(Clone, Debug, PartialEq)]
pub struct Plan {
    /// One line for people.
    pub title: String,
    /// What the simulator builds.
    pub blueprint: Blueprint,
    /// What the author expects of the results.
    pub expect: Vec<Expectation>,
    /// Flows that stand together in the scenario, in its order.
    pub groups: Vec<Group>,
    /// Where each node is drawn: `x` to the right, `y` downwards, both in 0..=1, by [`contract::NodeId`].
    pub positions: Vec<(f64, f64)>,
    /// The whole plan in the words of a scenario.
    pub resolved: serde_json::Value,
}

/// The flows that one entry of a scenario's `flows` makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name given in the scenario; its flows are `name`, or `name.1`, `name.2` …
    pub name: String,
    /// Its flows.
    pub flows: Vec<FlowId>,
}
