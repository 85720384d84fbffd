//! The topology `custom`: networks listed by nodes and links.

use std::collections::{BTreeMap, BTreeSet};

use contract::NodeId;
use units::{Duration, Rate};

use super::{Defaults, Net, NetPort, check_name, layout, ports};
use crate::schema::file::Topology;
use crate::schema::link::Link;
use crate::schema::nodes::{NetworkNode, Nodes};
use crate::schema::read::{At, Field, Notes, shortened, suggestion};

/// Where the scenario draws a node, if it does.
type Drawn = Option<(f64, f64)>;

/// The nodes and links of a `custom` topology.
pub(super) fn build(topology: &At<Topology>, notes: &mut Notes) -> Option<Net> {
    let links = topology.links.required("links", "a custom topology", topology.location, notes)?;
    let mut net = Net { nodes_lost: matches!(topology.nodes, Field::Wrong), ..Net::default() };
    let mut drawn = Vec::new();
    let listed = match topology.nodes.present() {
        Some(nodes) => match &nodes.value {
            Nodes::List(list) => {
                list_nodes(list, &mut net, &mut drawn, notes);
                true
            }
            Nodes::Count(_) => {
                notes
                    .wrong(nodes.location, "a custom topology lists its nodes")
                    .hint("write nodes = [\"a\", \"b\"], or leave it out");
                false
            }
        },
        None => false,
    };
    let cycle = report_cycles(links, notes);
    let mut names = BTreeSet::new();
    for link in links.iter() {
        let name = link.name.required("name", "a link", link.location, notes);
        if let Some(name) = name {
            check_name(name, "a link", notes);
            if !names.insert(name.value.clone()) {
                notes.wrong(name.location, format!("two links are called `{}`", shortened(name)));
            }
        }
        let ends = link.ends.required("ends", "a link", link.location, notes);
        let ports = ports_of(link, links, cycle, notes);
        net.links_lost |= name.is_none();
        let Some(ends) = ends else {
            net.nodes_lost |= !listed;
            net.links_lost = true;
            continue;
        };
        let mut end = |name: &At<String>| end_of_a_link(name, listed, &mut net, &mut drawn, notes);
        let (from, to) = (end(&ends.0), end(&ends.1));
        if from == to {
            notes
                .wrong(ends.1.location, format!("a link cannot lead from `{}` to itself", shortened(&ends.1)))
                .hint("name two different nodes");
        }
        if let Some(name) = name {
            net.add_link(name.value.clone(), (from, to), &ports);
        }
    }
    if net.nodes.is_empty() && net.knows_all_nodes() {
        notes.wrong(topology.location, "this topology has no nodes").hint("list at least one link");
    }
    net.positions = layout::layered(&net);
    for (position, fixed) in net.positions.iter_mut().zip(drawn) {
        *position = fixed.unwrap_or(*position);
    }
    Some(net)
}

/// Adds the nodes that are listed.
fn list_nodes(list: &[At<NetworkNode>], net: &mut Net, drawn: &mut Vec<Drawn>, notes: &mut Notes) {
    for node in list {
        let Some(name) = node.name.required("name", "a node", node.location, notes) else {
            net.nodes_lost = true;
            continue;
        };
        // a node with an invalid name is added as well, so that references to it are not reported too
        check_name(name, "a node", notes);
        if net.node(name).is_some() {
            notes.wrong(name.location, format!("two nodes are called `{}`", shortened(name)));
            continue;
        }
        net.add_node(name.value.clone(), (0.5, 0.5));
        drawn.push(node.x.present().zip(node.y.present()).map(|(x, y)| (x.value, y.value)));
    }
}

/// The ports of a link, whose missing values are another link's. Unknown values get a stand-in and no second message.
fn ports_of(link: &Link, links: &[At<Link>], cycle: bool, notes: &mut Notes) -> (NetPort, NetPort) {
    let values = if cycle { Link::default() } else { completed(link, links) };
    // an invalid `like` has its own message, so missing values are not reported too
    let unknown = cycle
        || !link.like.is_missing() && link.like.present().is_none_or(|like| named(like, links).is_none());
    let defaults = if unknown {
        Defaults {
            rate: Some(Rate::from_mbps(10)),
            delay: Some(Duration::from_millis(10)),
            ..Defaults::default()
        }
    } else {
        Defaults::default()
    };
    ports(&values, defaults, notes)
}

/// The node at an end of a link; one that is not there yet is added: with a message where
/// nodes are `listed`, or where its name is invalid.
fn end_of_a_link(
    name: &At<String>,
    listed: bool,
    net: &mut Net,
    drawn: &mut Vec<Drawn>,
    notes: &mut Notes,
) -> NodeId {
    if let Some(id) = net.node(name) {
        return id;
    }
    if listed {
        // the node is added, so that it is reported once
        net.find_node(name, notes);
    } else {
        check_name(name, "a node", notes);
    }
    drawn.push(None);
    net.add_node(name.value.clone(), (0.5, 0.5))
}

/// The link with missing values taken from the link that `like` names, and so on.
fn completed(link: &Link, all: &[At<Link>]) -> Link {
    let mut whole = link.clone();
    let mut model = &link.like;
    while let Some(found) = model.present().and_then(|name| named(name, all)) {
        whole = whole.completed(found);
        model = &found.like;
    }
    whole
}

fn named<'a>(name: &str, all: &'a [At<Link>]) -> Option<&'a At<Link>> {
    all.iter().find(|link| link.name.present().is_some_and(|at| at.value == name))
}

/// Reports links whose `like` names no link or forms a cycle. Returns whether there is a cycle.
fn report_cycles(links: &[At<Link>], notes: &mut Notes) -> bool {
    let known: Vec<&str> =
        links.iter().filter_map(|link| Some(link.name.present()?.value.as_str())).collect();
    let likes: BTreeMap<&str, &At<String>> = links
        .iter()
        .rev() // the first of two of one name is the one that is found
        .filter_map(|link| Some((link.name.present()?.value.as_str(), link.like.present()?)))
        .collect();
    let mut found = false;
    let mut reported = BTreeSet::new();
    for link in links {
        let Some(like) = link.like.present() else { continue };
        if !known.contains(&like.value.as_str()) {
            notes
                .wrong(like.location, format!("no link is called `{}`", shortened(like)))
                .maybe(suggestion(like, known.iter().copied()));
            continue;
        }
        let Some(name) = link.name.present() else { continue };
        let mut walk = vec![name.value.as_str()];
        let mut next = Some(like.value.as_str());
        while let Some(step) = next {
            if let Some(at) = walk.iter().position(|seen| *seen == step) {
                found = true;
                let cycle = &walk[at..];
                if cycle.iter().all(|name| reported.insert(*name)) {
                    notes
                        .wrong(
                            like.location,
                            format!("`like` forms a cycle of links: {} → {step}", cycle.join(" → ")),
                        )
                        .hint("write the values in one of them");
                }
                break;
            }
            walk.push(step);
            next = likes.get(step).map(|like| like.value.as_str());
        }
    }
    found
}
