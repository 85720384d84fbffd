//! Names of subjects.

use contract::{FlowId, NameId, PortId};
use sim::{ReceiverRecord, Subject, Trace};

use crate::Plan;

/// Names of subjects in the tables and in the keys of `summary`.
pub(super) struct Names {
    pub(super) flows: Vec<String>,
    pub(super) receivers: Vec<String>,
    pub(super) ports: Vec<String>,
    pub(super) nodes: Vec<String>,
    pub(super) prefixes: Vec<String>,
}

impl Names {
    pub(super) fn new(plan: &Plan, trace: &Trace) -> Self {
        let blueprint = &plan.blueprint;
        let receiver = |record: &ReceiverRecord| {
            let flow = &blueprint.flows[record.flow.index()].name;
            format!("receiver.{flow}@{}", blueprint.nodes[record.node.index()])
        };
        Self {
            flows: blueprint.flows.iter().map(|flow| format!("flow.{}", flow.name)).collect(),
            receivers: trace.receivers.iter().map(receiver).collect(),
            ports: blueprint
                .links
                .iter()
                .flat_map(|link| [format!("link.{}", link.name), format!("link.{}.backward", link.name)])
                .collect(),
            nodes: blueprint.nodes.iter().map(|name| format!("node.{name}")).collect(),
            prefixes: blueprint.ndn.as_ref().map_or_else(Vec::new, |ndn| {
                (0..ndn.names.count() as u32).map(|prefix| ndn.names.text(NameId(prefix))).collect()
            }),
        }
    }

    pub(super) fn of(&self, subject: Subject) -> &str {
        match subject {
            Subject::Flow(flow) => &self.flows[flow.index()],
            Subject::Receiver(row) => &self.receivers[row as usize],
            Subject::Port(port) => &self.ports[port.index()],
            Subject::Node(node) => &self.nodes[node.index()],
        }
    }

    pub(super) fn flow(&self, row: usize) -> &str {
        self.of(Subject::Flow(FlowId(row as u32)))
    }

    pub(super) fn receiver(&self, row: usize) -> &str {
        self.of(Subject::Receiver(row as u32))
    }

    pub(super) fn port(&self, row: usize) -> &str {
        self.of(Subject::Port(PortId(row as u32)))
    }
}
