//! The name-based network: nodes that route by name, the name resolution system, and reachability.

use std::collections::BTreeSet;

use contract::NodeId;
use stack::icn;
use units::{Duration, Rate};

use super::endpoints::ends;
use crate::schema::file::{File, Flow, Icn, NetworkWord};
use crate::schema::link::Port;
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::tree::Location;
use crate::schema::values::Buffer;
use crate::topology::{Net, NetPort, Paths};

/// The name-based network of a plan.
#[derive(Default)]
pub(super) struct IcnNet {
    /// The resolved table; `None` where there is no such network, or where something about it is noted.
    pub(super) table: Option<Icn>,
    /// The node that runs the name resolution system, and the routers in ascending order.
    hosts: Option<(NodeId, Vec<NodeId>)>,
    /// Something about it is noted, so that what seems unknown may not be.
    partial: bool,
}

impl IcnNet {
    /// Nodes that do more than forward: the routers, then the name resolution system.
    pub(super) fn nodes(&self) -> impl Iterator<Item = NodeId> {
        self.hosts.iter().flat_map(|(resolver, routers)| routers.iter().copied().chain([*resolver]))
    }

    /// Whether a node does more than forward, as far as that is known; `None` is a node that is not there.
    pub(super) fn knows(&self, node: Option<NodeId>) -> bool {
        self.partial || self.nodes().any(|known| Some(known) == node)
    }

    /// Whether source and members of a group can reach name routers. Notes an error if not.
    pub(super) fn reach(
        &self,
        table: &At<Flow>,
        from: NodeId,
        to: &[NodeId],
        net: &Net,
        paths: &Paths<'_>,
        notes: &mut Notes,
    ) -> bool {
        let Some((resolver, routers)) = &self.hosts else { return true };
        let name = |node: NodeId| &net.nodes[node.index()];
        let location = |written: Option<Location>| written.unwrap_or(table.location);
        let (source, members) =
            (table.from.present().map(|at| at.location), table.to.present().map(|at| at.location));
        let hosts = to.iter().map(|receiver| (*receiver, location(members)));
        for (host, at) in [(from, location(source))].into_iter().chain(hosts) {
            let what = if host == *resolver {
                "runs the name resolution system"
            } else if routers.binary_search(&host).is_ok() {
                "routes by name"
            } else {
                continue;
            };
            notes
                .wrong(
                    at,
                    format!(
                        "`{}` {what}, and cannot be an endpoint of a flow that is sent by name",
                        name(host)
                    ),
                )
                .hint("take a host, or leave the node out of [icn]");
            return false;
        }
        // every node that the source reaches is reached by its members
        if !routers.iter().any(|router| paths.joined(from, *router)) {
            notes
                .wrong(location(source), format!("no router by name can be reached from `{}`", name(from)))
                .hint("list one in icn.routers that can");
            return false;
        }
        if !paths.joined(from, *resolver) {
            let resolver = name(*resolver);
            notes
                .wrong(
                    location(source),
                    format!("the resolver `{resolver}` cannot be reached from `{}`", name(from)),
                )
                .hint("join them by links");
            return false;
        }
        true
    }
}

/// The name-based network of a file, which has one when `[icn]` is written or a flow is sent by name. A resolver that
/// is not given becomes a node of `net`.
pub(super) fn build(file: &File, flows: &[At<Flow>], net: &mut Net, notes: &mut Notes) -> IcnNet {
    let before = notes.count();
    let ndn: Vec<&At<Flow>> =
        flows.iter().filter(|flow| flow.network.or(NetworkWord::Ip) == NetworkWord::Icn).collect();
    let none = Icn::default();
    let (table, location) = match &file.icn {
        Field::Present(at) => (&at.value, at.location),
        Field::Wrong => return IcnNet { partial: true, ..IcnNet::default() },
        Field::Missing => match ndn.first().and_then(|flow| flow.network.present()) {
            Some(network) => (&none, network.location),
            None => return IcnNet::default(),
        },
    };
    // entries without flows, as a printed plan has them, need not say how nothing is sent
    let some = flows.iter().any(|flow| flow.count.or(1) > 0);
    if some && flows.iter().all(|flow| flow.network.is_missing()) {
        notes
            .wrong(location, "no flow is sent by name")
            .hint("write network = \"icn\" in a flow, or leave [icn] out");
    }
    let hosts: BTreeSet<NodeId> = ndn.iter().flat_map(|flow| ends(flow, net)).collect();
    let resolver = table.resolver.present().and_then(|name| net.find_node(name, notes));
    let routers = routers(table, location, resolver, &hosts, net, notes);
    let settings = settings(table, notes);
    let (Some(&first), false) =
        (routers.first(), notes.count() > before || table.resolver.is_wrong() || net.partial)
    else {
        return IcnNet { partial: true, ..IcnNet::default() };
    };
    let resolver =
        resolver.unwrap_or_else(|| net.add_leaf(first, ("nrs", "nrs-link"), &resolver_port(location)));
    let routers: Vec<NodeId> = routers.into_iter().collect::<BTreeSet<_>>().into_iter().collect();
    let table = Icn { resolver: net.name(resolver), routers: net.list(routers.iter().copied()), ..settings };
    IcnNet { table: Some(table), hosts: Some((resolver, routers)), partial: false }
}

/// The routers in the order in which they are written; where they are not, all inner nodes but `hosts`.
fn routers(
    table: &Icn,
    location: Location,
    resolver: Option<NodeId>,
    hosts: &BTreeSet<NodeId>,
    net: &Net,
    notes: &mut Notes,
) -> Vec<NodeId> {
    let before = notes.count();
    let free = |node: &NodeId| Some(*node) != resolver && !hosts.contains(node);
    let mut list: Vec<NodeId> = Vec::new();
    for name in table.routers.items() {
        if name.contains('*') {
            let found = net.matching(name);
            if found.is_empty() {
                net.no_match(name, notes);
            }
            // all nodes are all that can; a node that is meant by its name would cease to be a router without a word
            if let Some(resolver) = resolver.filter(|node| name.value != "*" && found.contains(node)) {
                let (pattern, resolver) = (shortened(name), &net.nodes[resolver.index()]);
                notes
                    .wrong(
                        name.location,
                        format!("`{pattern}` matches `{resolver}`, which runs the name resolution system"),
                    )
                    .hint("list the routers without it, or leave `resolver` out for a node of its own");
            }
            list.extend(found.iter().filter(|node| free(node)));
            continue;
        }
        let node = net.find_node(name, notes);
        if node.is_some() && node == resolver {
            notes
                .wrong(name.location, format!("`{}` runs the name resolution system", shortened(name)))
                .hint("leave it out here or under `resolver`: a node routes by name or resolves names");
        }
        list.extend(node);
    }
    if table.routers.is_missing() {
        let mut links = vec![0; net.nodes.len()];
        net.links.iter().flat_map(|link| [link.ends.0, link.ends.1]).for_each(|end| links[end.index()] += 1);
        let inner = (0u32..).zip(links).filter(|(_, links)| *links > 1).map(|(node, _)| NodeId(node));
        list.extend(inner.filter(free));
    }
    if list.is_empty() && notes.count() == before && !net.partial && !table.routers.is_wrong() {
        let at = table.routers.present().map_or(location, |at| at.location);
        notes.wrong(at, "no node routes by name").hint(
            "list some nodes under icn.routers; they cannot be endpoints of flows that are sent by name",
        );
    }
    list
}

fn settings(table: &Icn, notes: &mut Notes) -> Icn {
    let filled = table.filled(&icn::Config::default());
    let (retry, refresh) = (*filled.initial_rto.resolved(), *filled.refresh.resolved());
    if retry > refresh
        && let Some(at) = table
            .initial_rto
            .present()
            .map(|at| at.location)
            .or(table.refresh.present().map(|at| at.location))
    {
        notes
            .wrong(at, format!("`initial_rto` of {retry} is above `refresh` of {refresh}"))
            .hint("lower one or raise the other");
    }
    filled
}

/// The default link of a resolver: fast enough to have no influence.
fn resolver_port(location: Location) -> NetPort {
    let keys = Port { buffer: Buffer::Packets(1000).into(), ..Port::default() };
    NetPort::new(keys, Rate::from_mbps(1000), Duration::from_millis(1), location)
}
