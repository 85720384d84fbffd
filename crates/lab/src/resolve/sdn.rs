//! An SDN controller: its node, its agents, and its control links.

use std::collections::BTreeSet;

use contract::NodeId;
use stack::sdn;

use super::endpoints::ends;
use super::icn::IcnNet;
use super::ndn::NdnNet;
use super::params::PartParams;
use crate::schema::file::{File, Flow};
use crate::schema::link::Port;
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::sdn::{ControlLink, Sdn};
use crate::schema::tree::Location;
use crate::schema::values::Buffer;
use crate::topology::{Net, NetPort};

/// The SDN controller and agents of a plan.
#[derive(Default)]
pub(super) struct SdnNet {
    /// The resolved table; `None` where there is no controller, or where something about it is noted.
    pub(super) table: Option<Sdn>,
    /// The controller's node, and nodes with an agent in ascending order.
    hosts: Option<(NodeId, Vec<NodeId>)>,
    /// Something about it is noted, so that what seems unknown may not be.
    partial: bool,
}

impl SdnNet {
    /// Nodes with an agent, then the controller.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.hosts.iter().flat_map(|(controller, nodes)| nodes.iter().copied().chain([*controller]))
    }

    /// Whether a node has an agent or is the controller, as far as that is known; `None` is a node that is not there.
    pub(super) fn knows(&self, node: Option<NodeId>) -> bool {
        self.partial || self.nodes().any(|known| Some(known) == node)
    }

    /// Whether a node is the controller, as far as that is known.
    pub(super) fn is_controller(&self, node: NodeId) -> bool {
        self.partial || self.hosts.as_ref().is_some_and(|(controller, _)| *controller == node)
    }

    /// The app.
    pub(super) fn app(&self) -> Option<&str> {
        self.table.as_ref()?.app.present().map(|at| at.0.as_str())
    }
}

/// The node that is written as the controller's.
pub(super) fn controller(file: &File, net: &Net) -> Option<NodeId> {
    net.node(file.sdn.present()?.controller.present()?)
}

/// The controller of a file, which has one when `[sdn]` is written. One that is not given a node becomes a node of
/// `net`.
pub(super) fn build(
    file: &File,
    flows: &[At<Flow>],
    net: &mut Net,
    icn: &IcnNet,
    ndn: &NdnNet,
    notes: &mut Notes,
) -> SdnNet {
    let before = notes.count();
    let table = match &file.sdn {
        Field::Present(at) => at,
        Field::Wrong => return SdnNet { partial: true, ..SdnNet::default() },
        Field::Missing => return SdnNet::default(),
    };
    let app = table.app.required("app", "software-defined networking", table.location, notes);
    let params = app
        .and_then(|app| PartParams::of_scheme(&app.0))
        .and_then(|part| part.resolved(&table.app_params, notes));
    let own = table.controller.present().and_then(|name| Some((name.location, net.find_node(name, notes)?)));
    if let Some((location, node)) = own {
        alone(location, node, flows, net, icn, ndn, notes);
        if let Some(link) = table.link.present() {
            notes
                .wrong(link.location, "`link` is of the links that are added when no controller is given")
                .hint("leave `link` out, or leave `controller` out");
        }
    }
    let controller = own.map(|own| own.1);
    let nodes = nodes(table, controller, net, ndn, notes);
    let out_of_band = table.out_of_band.or(table.controller.is_missing());
    if let (Some(at), true) = (table.out_of_band.present(), table.controller.is_missing())
        && !at.value
    {
        notes
            .wrong(at.location, "a controller that is added has links of its own")
            .hint("name a `controller`, or leave `out_of_band` out");
    }
    let ready =
        notes.count() == before && !net.partial && !table.controller.is_wrong() && !table.nodes.is_wrong();
    let (Some(_), Some(app_params), true) = (app, params, ready) else {
        return SdnNet { partial: true, ..SdnNet::default() };
    };
    let controller = match controller {
        Some(node) => {
            join(table, node, &nodes, out_of_band, net, notes);
            node
        }
        None => {
            let none = ControlLink::default();
            let port = port_of(table.link.present().map_or(&none, |at| &at.value), table.location, notes);
            net.add_hub(&nodes, ("controller", "control"), &port)
        }
    };
    if out_of_band {
        net.control_node = Some(controller);
    }
    refuse_traces(&nodes, net, notes);
    if notes.count() > before {
        return SdnNet { partial: true, ..SdnNet::default() };
    }
    let resolved = Sdn {
        app_params: app_params.into(),
        controller: net.name(controller),
        out_of_band: table.out_of_band.clone().filled(out_of_band),
        link: Field::Missing,
        nodes: net.list(nodes.iter().copied()),
        ..table.filled(&sdn::Config::default())
    };
    SdnNet { table: Some(resolved), hosts: Some((controller, nodes)), partial: false }
}

/// Notes what else the controller's node would do.
fn alone(
    location: Location,
    node: NodeId,
    flows: &[At<Flow>],
    net: &Net,
    icn: &IcnNet,
    ndn: &NdnNet,
    notes: &mut Notes,
) {
    let what = if flows.iter().any(|flow| ends(flow, net).contains(&node)) {
        "is an end of a flow"
    } else if icn.nodes().any(|known| known == node) {
        "is a node of [icn]"
    } else if ndn.nodes().binary_search(&node).is_ok() {
        "forwards named data"
    } else {
        return;
    };
    let name = &net.nodes[node.index()];
    notes
        .wrong(location, format!("`{name}` {what}, and cannot be the controller as well"))
        .hint("take another node, or leave `controller` out: one is added");
}

/// Nodes with an agent, in ascending order.
fn nodes(
    table: &At<Sdn>,
    controller: Option<NodeId>,
    net: &Net,
    ndn: &NdnNet,
    notes: &mut Notes,
) -> Vec<NodeId> {
    let before = notes.count();
    let mut set = BTreeSet::new();
    match table.nodes.present() {
        None => {
            let mut links = vec![0; net.nodes.len()];
            net.links
                .iter()
                .flat_map(|link| [link.ends.0, link.ends.1])
                .for_each(|end| links[end.index()] += 1);
            let inner = (0u32..).zip(links).filter(|(_, links)| *links > 1).map(|(node, _)| NodeId(node));
            set.extend(inner.chain(ndn.nodes().iter().copied()).filter(|node| Some(*node) != controller));
        }
        Some(list) => {
            for name in &list.value {
                if name.contains('*') {
                    let found = net.matching(name);
                    if found.is_empty() {
                        net.no_match(name, notes);
                    }
                    set.extend(found.into_iter().filter(|node| Some(*node) != controller));
                    continue;
                }
                let Some(node) = net.find_node(name, notes) else { continue };
                if Some(node) == controller {
                    notes
                        .wrong(name.location, format!("`{}` is the controller", shortened(name)))
                        .hint("leave it out: it does not report to itself");
                }
                set.insert(node);
            }
        }
    }
    if set.is_empty() && notes.count() == before && !net.partial && !table.nodes.is_wrong() {
        notes
            .wrong(
                table.nodes.present().map_or(table.location, |at| at.location),
                "no node reports to the controller",
            )
            .hint("list some under sdn.nodes");
    }
    set.into_iter().collect()
}

/// Notes ports of agents whose rate follows a trace or has a shaper: a controller limits rates, and these have none to
/// limit.
fn refuse_traces(nodes: &[NodeId], net: &Net, notes: &mut Notes) {
    let has_agent = |node: NodeId| nodes.binary_search(&node).is_ok();
    for link in &net.links {
        let ports = [(&*link.forward, link.ends.0), (&*link.backward, link.ends.1)];
        let controlled = |(port, owner): (&NetPort, NodeId)| {
            let location = port
                .keys
                .trace
                .present()
                .map(|at| at.location)
                .or(port.keys.shaping().map(|_| port.location))?;
            has_agent(owner).then_some((location, owner))
        };
        if let Some((location, owner)) = ports.into_iter().find_map(controlled) {
            let owner = &net.nodes[owner.index()];
            notes
                .wrong(
                    location,
                    format!("`{owner}` has an SDN agent, and its links have neither a trace nor a shaper"),
                )
                .hint("write a `rate`, or list nodes without such links under sdn.nodes");
        }
    }
}

/// Out of band, a link joins every node with the controller; in band, a way leads there.
fn join(
    table: &At<Sdn>,
    controller: NodeId,
    nodes: &[NodeId],
    out_of_band: bool,
    net: &Net,
    notes: &mut Notes,
) {
    if !out_of_band || net.partial {
        return;
    }
    let joined = |node: &NodeId| {
        net.links.iter().any(|link| link.ends == (*node, controller) || link.ends == (controller, *node))
    };
    if let Some(far) = nodes.iter().find(|node| !joined(node)) {
        let name = |node: NodeId| &net.nodes[node.index()];
        notes
            .wrong(table.location, format!("no link joins `{}` and `{}`", name(*far), name(controller)))
            .hint("out of band, every node that reports has a link to the controller");
    }
}

/// The default link of a controller: fast enough to have no influence.
fn port_of(link: &ControlLink, location: Location, notes: &mut Notes) -> NetPort {
    let usual = ControlLink::defaults();
    let buffer = link.buffer.or(*usual.buffer.resolved());
    if let (Some(at), Buffer::Bdp(_)) = (link.buffer.present(), buffer) {
        notes
            .wrong(at.location, "no flow passes a control link, so that it has no bandwidth-delay product")
            .hint("write packets or bytes");
    }
    let keys = Port { loss: link.loss.clone(), buffer: buffer.into(), ..Port::default() };
    let (rate, delay) = (link.rate.or(*usual.rate.resolved()), link.delay.or(*usual.delay.resolved()));
    NetPort::new(keys, rate, delay, location)
}
