//! A plan: a checked scenario with every default and every relative unit filled in. A run depends on nothing else.

mod text;

use std::sync::Arc;

use contract::{FlowId, LinkId};
use sim::{Blueprint, FlowEmulation, Shared};

use crate::Expectation;
use crate::schema::file::File;

/// A checked, immutable scenario with one seed.
#[derive(Clone, Debug)]
pub struct Plan {
    /// One line for people.
    pub title: String,
    /// What the simulator builds.
    pub blueprint: Shared<Blueprint>,
    /// What the author expects of the results.
    pub expect: Vec<Expectation>,
    /// Flows that stand together in the scenario, in its order.
    pub groups: Vec<Group>,
    /// Where each node is drawn: `x` to the right, `y` downwards, both in 0..=1, by [`contract::NodeId`].
    pub positions: Vec<(f64, f64)>,
    /// What is printed of it: the resolved tables that it is made of, or its generators if it is large.
    pub(crate) printed: Arc<File>,
}

/// Plans are equal where they say the same, wherever it is written.
impl PartialEq for Plan {
    fn eq(&self, other: &Self) -> bool {
        let Self { title, blueprint, expect, groups, positions, printed: _ } = self;
        (title, blueprint, expect, groups, positions)
            == (&other.title, &other.blueprint, &other.expect, &other.groups, &other.positions)
    }
}

/// The flows that one entry of a scenario's `flows` makes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// The name given in the scenario; its flows are `name`, or `name.1`, `name.2` …
    pub name: String,
    /// Its flows.
    pub flows: Vec<FlowId>,
}

impl Plan {
    /// The whole plan as a scenario: every default filled in, parameters of schemes included, relative units resolved,
    /// chance drawn. Loading it again gives the same blueprint.
    ///
    /// A plan of more than 20 000 flows and links has its generators of links and flows instead of a table for each,
    /// and what is drawn and relative stands as in the scenario.
    pub fn to_toml(&self) -> String {
        text::of(&self.printed.to_table())
    }

    /// Whether the scenario names this series under `record`.
    pub(crate) fn records(&self, series: &str) -> bool {
        let record = self.printed.record.present();
        record.is_some_and(|record| record.series.items().iter().any(|name| name.value == series))
    }

    /// The plan as the tables of an emulation name it: flows of the kernel have its congestion control as their scheme,
    /// flows of commands have none.
    pub fn as_emulated(&self) -> Self {
        let mut plan = self.clone();
        for flow in &mut plan.blueprint.flows {
            match flow.emulation.as_deref() {
                Some(FlowEmulation::Kernel(name)) => flow.scheme = Some(name.as_str().into()),
                Some(FlowEmulation::Commands { .. }) => flow.scheme = None,
                Some(FlowEmulation::Live) | None => {}
            }
        }
        plan
    }

    /// The link of that name.
    pub fn link(&self, name: &str) -> Option<LinkId> {
        let index = self.blueprint.links.iter().position(|link| link.name == name)?;
        Some(LinkId(index as u32))
    }

    /// The plan in JSON.
    pub fn to_json(&self) -> serde_json::Value {
        serde_json::to_value(self.printed.to_table())
            .expect("a plan has text, finite numbers, lists and tables only")
    }
}
