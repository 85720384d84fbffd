//! Warnings about schemes that do not get what they need where a scenario puts them.

use std::collections::BTreeMap;

use contract::{Need, NodeId, ParamValue};
use schemes::{Build, Entry};
use sim::{Cast, FlowKind, FlowSpec, NdnSpec};
use stack::ndn::{Policy, Store};
use units::Rate;

use super::{WarningPass, name_of};
use crate::schema::file::Flow;
use crate::schema::read::{At, Notes};
use crate::topology::{Paths, PortIndex};

/// Windows that the round-trip times of [`Need::Samples`] span at least: with fewer than about four, `icp` uses less
/// than a fifth of a link (`schemes/icp/README.md`, table of its validation).
const SPAN: f64 = 4.0;

/// Reports schemes whose part in routers does not see the bottleneck, and consumers whose samples span less than a few
/// windows.
pub(super) fn build(pass: &WarningPass<'_>, notes: &mut Notes) {
    let blueprint = pass.blueprint;
    let mut paths = Paths::new(pass.net, blueprint.metric, &blueprint.routes);
    let entries: Vec<(&At<Flow>, &[&FlowSpec])> = pass
        .file
        .flows
        .items()
        .iter()
        .filter_map(|table| Some((table, pass.entries.get(name_of(table)?)?.as_slice())))
        .collect();
    // the ports that Data to the consumers of each entry pass, and the number of these consumers
    let mut routes: BTreeMap<&str, (Vec<PortIndex>, usize)> = BTreeMap::new();
    let consumes = |flow: &&FlowSpec| matches!(*flow.kind, FlowKind::Ndn(_));
    // where stores answer, round-trip times differ, and no path is the window's
    let stored = pass.blueprint.ndn.as_ref().is_some_and(has_stores);
    let needs_samples =
        |entry: &Entry| entry.scheme.needs.iter().any(|need| matches!(need, Need::Samples(_)));
    let asked = !stored
        && entries.iter().any(|(table, _)| scheme_of(table).is_some_and(|entry| needs_samples(&entry)));
    for (table, flows) in entries.iter().filter(|_| asked) {
        if let (Some(name), Some(first)) = (name_of(table), flows.iter().copied().find(consumes))
            && let Some(way) = pass.data_way(first, &mut paths)
        {
            routes.insert(name, (way, flows.len()));
        }
    }
    for &(table, flows) in &entries {
        let (Some(entry), Some(flow)) = (scheme_of(table), flows.first()) else { continue };
        if matches!(entry.build, Build::Stream { router: Some(_), .. }) && flow.cast == Cast::Named {
            pass.unseen_bottleneck(table, flow, &mut paths, notes);
        }
        for need in entry.scheme.needs {
            if let (Need::Samples(param), FlowKind::Ndn(config)) = (need, &*flow.kind)
                && let Some((way, _)) = name_of(table).and_then(|name| routes.get(name))
                && let Some(slowest) = pass.slowest(way)
            {
                let sharing: usize =
                    routes.values().filter(|(way, _)| way.contains(&slowest)).map(|(_, flows)| flows).sum();
                let round_trip = paths.length(way) + paths.length(&back(way));
                let bits = pass.rate(slowest).as_bps_f64() * round_trip.as_secs_f64() / sharing.max(1) as f64;
                let window = bits / (8.0 * config.data.as_f64());
                pass.short_samples(table, &entry, flow, param, window, notes);
            }
        }
    }
}

fn scheme_of(table: &Flow) -> Option<Entry> {
    schemes::find(&table.scheme.present()?.0)
}

fn has_stores(ndn: &NdnSpec) -> bool {
    let holds = |store: &Store| store.size > 0 && store.policy != Policy::None;
    holds(&ndn.config.store) || ndn.stores.iter().any(|(_, store)| holds(store))
}

/// The same ports in the other direction, in reverse order.
fn back(way: &[PortIndex]) -> Vec<PortIndex> {
    way.iter().rev().map(|port| port ^ 1).collect()
}

impl WarningPass<'_> {
    pub(super) fn rate(&self, port: PortIndex) -> Rate {
        let link = &self.net.links[port / 2];
        if port.is_multiple_of(2) { link.forward.served() } else { link.backward.served() }
    }

    /// The slowest port of a way; of equal ones the first, where the queue is.
    pub(super) fn slowest(&self, way: &[PortIndex]) -> Option<PortIndex> {
        way.iter().copied().min_by_key(|port| self.rate(*port))
    }

    /// The way of Data to a consumer from its nearest producer.
    fn data_way(&self, flow: &FlowSpec, paths: &mut Paths<'_>) -> Option<Vec<PortIndex>> {
        let (FlowKind::Ndn(config), Some(ndn)) = (&*flow.kind, &self.blueprint.ndn) else { return None };
        let mut prefix = Some(config.prefix);
        while let Some(name) = prefix {
            let serving = ndn.producers.iter().filter(|producer| producer.config.prefix == name);
            let routes: Vec<_> = serving.filter_map(|producer| paths.way(flow.from, producer.node)).collect();
            if !routes.is_empty() {
                return routes.into_iter().min_by_key(|way| paths.length(way)).map(|way| back(&way));
            }
            prefix = ndn.names.parent(name);
        }
        None
    }

    /// Warns where the node before the slowest link towards a receiver does not take part in the routing by name.
    fn unseen_bottleneck(&self, table: &At<Flow>, flow: &FlowSpec, paths: &mut Paths<'_>, notes: &mut Notes) {
        let (Some(scheme), Some(icn)) = (table.scheme.present(), &self.blueprint.icn) else { return };
        for receiver in &flow.to {
            // the tree follows the receiver's way to the source in reverse
            let Some(way) = paths.way(receiver.node, flow.from).map(|way| back(&way)) else { continue };
            let Some(slowest) = self.slowest(&way) else { continue };
            let link = &self.net.links[slowest / 2];
            let before: NodeId = if slowest.is_multiple_of(2) { link.ends.0 } else { link.ends.1 };
            if icn.routers.binary_search(&before).is_ok() {
                continue;
            }
            let node = self.node_name(before);
            let hint = if before == flow.from {
                format!("give `{}` a higher rate than the links behind it", link.name)
            } else {
                format!("add `{node}` to icn.routers")
            };
            let (name, receiver) = (&scheme.0, self.node_name(receiver.node));
            notes
                .warn(
                    scheme.location,
                    format!(
                        "routers tell `{name}` of their queues, and `{node}`, before the slowest link to `{receiver}`, is no router by \
                         name: nothing limits the rate there"
                    ),
                )
                .hint(hint);
            return;
        }
    }

    /// Warns where a window is not several times below the number of samples.
    fn short_samples(
        &self,
        table: &At<Flow>,
        entry: &Entry,
        flow: &FlowSpec,
        param: &str,
        window: f64,
        notes: &mut Notes,
    ) {
        let given = flow.params.iter().find(|(name, _)| name == param).map(|(_, value)| value.clone());
        let default =
            || (entry.params)().into_iter().find(|info| info.name == param).map(|info| info.default);
        let (Some(ParamValue::Int(samples)), Some(scheme)) = (given.or_else(default), table.scheme.present())
        else {
            return;
        };
        if samples as f64 >= SPAN * window {
            return;
        }
        notes
            .warn(
                scheme.location,
                format!(
                    "`{}` compares {samples} round-trip times, and a full window is {window:.0} Data here: it will not fill the link",
                    entry.scheme.name
                ),
            )
            .hint(format!("write params = {{ {param} = {:.0} }}, or larger `data` in the producer", (30.0 * window).ceil()));
    }
}
