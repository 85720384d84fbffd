//! Generated topologies.

use std::collections::BTreeSet;

use contract::{NodeId, Random};

use super::changes::{Maker, Template};
use super::{Defaults, Net, layout, template};
use crate::schema::file::{Kind, Topology};
use crate::schema::nodes::Nodes;
use crate::schema::read::{At, Notes};
use crate::schema::tree::Location;

/// Maximum number of nodes of a generated topology.
const MAX_NODES: u64 = 200_000;

/// The network of a generated topology. `pairs` is the number of host pairs that the flows of a dumbbell need.
pub(super) fn build(topology: &At<Topology>, kind: Kind, pairs: u32, notes: &mut Notes) -> Option<Net> {
    let mut make = Maker::new(topology, notes);
    generate(topology, kind, pairs, &mut make)?;
    Some(make.finish())
}

/// Makes the nodes and links; `None` after an error, which is noted.
fn generate(topology: &At<Topology>, kind: Kind, pairs: u32, make: &mut Maker<'_>) -> Option<()> {
    let at = topology.location;
    if matches!(kind, Kind::Dumbbell | Kind::ParkingLot) {
        let edge = template(&topology.edge, "edge", Defaults::EDGE, at, make.notes);
        let bottleneck = template(&topology.bottleneck, "bottleneck", Defaults::default(), at, make.notes);
        if kind == Kind::Dumbbell {
            dumbbell(topology.pairs.or(pairs.max(1)), &edge, &bottleneck, make);
        } else {
            let hops = topology.hops.required("hops", "a parking lot", at, make.notes)?.value;
            parking_lot(hops, &edge, &bottleneck, make);
        }
        return Some(());
    }
    let link = template(&topology.link, "link", Defaults::default(), at, make.notes);
    match kind {
        Kind::Star => star(topology.leaves.required("leaves", "a star", at, make.notes)?.value, &link, make),
        Kind::Chain => chain(topology.hops.required("hops", "a chain", at, make.notes)?.value, &link, make),
        Kind::Tree => {
            let arity = topology.arity.required("arity", "a tree", at, make.notes);
            let depth = topology.depth.required("depth", "a tree", at, make.notes);
            let (arity, depth) = (arity?, depth?);
            let size = (0..=depth.value).try_fold(0u64, |sum, level| {
                u64::from(arity.value).checked_pow(level).and_then(|width| sum.checked_add(width))
            });
            if size.is_none_or(|size| size > MAX_NODES) {
                make.notes
                    .wrong(depth.location, "this tree is too large")
                    .hint(format!("a network has at most {MAX_NODES} nodes"));
                return None;
            }
            tree(arity.value, depth.value, &link, make);
        }
        Kind::FatTree | Kind::LeafSpine => {
            let edge = match topology.edge.is_missing() {
                true => None,
                false => Some(template(&topology.edge, "edge", Defaults::EDGE, at, make.notes)),
            };
            clos(topology, kind, [&link, edge.as_ref().unwrap_or(&link)], make)?;
        }
        Kind::Random => random(topology, &link, at, make)?,
        Kind::Dumbbell | Kind::ParkingLot | Kind::Graphml | Kind::Custom => return None,
    }
    Some(())
}

/// The centre of part `i` of `n` equal parts of 0..1.
fn spread(i: u32, n: u32) -> f64 {
    (f64::from(i) + 0.5) / f64::from(n.max(1))
}

/// Nodes `left1` …, `router_left`, `router_right`, `right1` …. The link of a host has its name, the middle link is
/// `bottleneck`.
fn dumbbell(pairs: u32, edge: &Template, bottleneck: &Template, make: &mut Maker<'_>) {
    let lefts: Vec<NodeId> =
        (0..pairs).map(|i| make.net.add_node(format!("left{}", i + 1), (0.06, spread(i, pairs)))).collect();
    let router_left = make.net.add_node("router_left", (0.34, 0.5));
    let router_right = make.net.add_node("router_right", (0.66, 0.5));
    let rights: Vec<NodeId> =
        (0..pairs).map(|i| make.net.add_node(format!("right{}", i + 1), (0.94, spread(i, pairs)))).collect();
    make.link("bottleneck", (router_left, router_right), bottleneck);
    for (i, left) in (1..).zip(lefts) {
        make.link(format!("left{i}"), (left, router_left), edge);
    }
    for (i, right) in (1..).zip(rights) {
        make.link(format!("right{i}"), (router_right, right), edge);
    }
}

/// Nodes `router1` … in a row, joined by `hop1` …; `left` and `right` at the ends; `in`i before and `out`i behind
/// `hop`i.
fn parking_lot(hops: u32, edge: &Template, bottleneck: &Template, make: &mut Maker<'_>) {
    let x = |i: u32| 0.15 + 0.7 * f64::from(i) / f64::from(hops);
    let routers: Vec<NodeId> =
        (0..=hops).map(|i| make.net.add_node(format!("router{}", i + 1), (x(i), 0.5))).collect();
    for (i, pair) in (1..).zip(routers.windows(2)) {
        make.link(format!("hop{i}"), (pair[0], pair[1]), bottleneck);
    }
    let left = make.net.add_node("left", (0.04, 0.5));
    let right = make.net.add_node("right", (0.96, 0.5));
    make.link("left", (left, routers[0]), edge);
    make.link("right", (routers[hops as usize], right), edge);
    for i in 0..hops {
        let enter = make.net.add_node(format!("in{}", i + 1), (x(i), 0.15));
        let leave = make.net.add_node(format!("out{}", i + 1), (x(i + 1), 0.85));
        make.link(format!("in{}", i + 1), (enter, routers[i as usize]), edge);
        make.link(format!("out{}", i + 1), (routers[i as usize + 1], leave), edge);
    }
}

/// Nodes `hub`, and `leaf1` … around it. The link of a leaf has its name and its forward direction leads from the hub.
fn star(leaves: u32, link: &Template, make: &mut Maker<'_>) {
    let hub = make.net.add_node("hub", (0.5, 0.5));
    for (i, position) in (1..).zip(layout::circle(leaves as usize)) {
        let leaf = make.net.add_node(format!("leaf{i}"), position);
        make.link(format!("leaf{i}"), (hub, leaf), link);
    }
}

/// Nodes `node1` … in a row, joined by `link1` ….
fn chain(hops: u32, link: &Template, make: &mut Maker<'_>) {
    let nodes: Vec<NodeId> = (0..=hops)
        .map(|i| {
            make.net.add_node(format!("node{}", i + 1), (0.05 + 0.9 * f64::from(i) / f64::from(hops), 0.5))
        })
        .collect();
    for (i, pair) in (1..).zip(nodes.windows(2)) {
        make.link(format!("link{i}"), (pair[0], pair[1]), link);
    }
}

/// Nodes `root`, `inner1` … level by level, `leaf1` … at the bottom. A link has the name of its lower node, and its
/// forward direction leads down.
fn tree(arity: u32, depth: u32, link: &Template, make: &mut Maker<'_>) {
    let mut level = vec![make.net.add_node("root", (0.5, 0.05))];
    let (mut inner, mut leaves) = (0, 0);
    for d in 1..=depth {
        let mut below = Vec::new();
        let width = level.len() as u32 * arity;
        for parent in level {
            for _ in 0..arity {
                let name = if d == depth {
                    leaves += 1;
                    format!("leaf{leaves}")
                } else {
                    inner += 1;
                    format!("inner{inner}")
                };
                let y = 0.05 + 0.9 * f64::from(d) / f64::from(depth);
                let child = make.net.add_node(name.clone(), (spread(below.len() as u32, width), y));
                make.link(name, (parent, child), link);
                below.push(child);
            }
        }
        level = below;
    }
}

/// A fat tree or a leaf-spine network, whose links between switches and to hosts are given.
fn clos(topology: &At<Topology>, kind: Kind, links: [&Template; 2], make: &mut Maker<'_>) -> Option<()> {
    let at = topology.location;
    if kind == Kind::FatTree {
        let k = topology.k.required("k", "a fat tree", at, make.notes)?;
        if !k.value.is_multiple_of(2) {
            make.notes
                .wrong(k.location, format!("a fat tree cannot have switches of {} ports", k.value))
                .hint("`k` is even: half of the ports of a switch lead up, half down");
            return None;
        }
        fat_tree(k.value, links, make);
        return Some(());
    }
    let spines = topology.spines.required("spines", "a leaf-spine network", at, make.notes);
    let leaves = topology.leaves.required("leaves", "a leaf-spine network", at, make.notes);
    let hosts = topology.hosts.required("hosts", "a leaf-spine network", at, make.notes);
    let (spines, leaves, hosts) = (spines?.value, leaves?, hosts?.value);
    let size = u64::from(leaves.value) * u64::from(hosts + 1) + u64::from(spines);
    let joined = u64::from(leaves.value) * u64::from(hosts + spines);
    if size > MAX_NODES || joined > MAX_NODES {
        make.notes
            .wrong(leaves.location, format!("this network has {size} nodes and {joined} links"))
            .hint(format!("at most {MAX_NODES} of each"));
        return None;
    }
    leaf_spine(spines, leaves.value, hosts, links, make);
    Some(())
}

/// The fat tree of "A Scalable, Commodity Data Center Network Architecture" (SIGCOMM 2008, doi
/// 10.1145/1402958.1402967), §3. Aggregation switch i of each pod is joined with the core switches i·k/2 … i·k/2 + k/2
/// − 1. Forward directions lead down.
fn fat_tree(k: u32, [link, edge]: [&Template; 2], make: &mut Maker<'_>) {
    let half = k / 2;
    let row = |make: &mut Maker<'_>, name: &str, count: u32, y: f64| -> Vec<NodeId> {
        (0..count).map(|i| make.net.add_node(format!("{name}{}", i + 1), (spread(i, count), y))).collect()
    };
    let cores = row(make, "core", half * half, 0.06);
    let aggs = row(make, "agg", k * half, 0.36);
    let edges = row(make, "edge", k * half, 0.66);
    let hosts = row(make, "host", k * half * half, 0.94);
    for pod in 0..k {
        for i in 0..half {
            let agg = pod * half + i;
            for core in i * half..(i + 1) * half {
                let ends = (cores[core as usize], aggs[agg as usize]);
                make.link(format!("core{}-agg{}", core + 1, agg + 1), ends, link);
            }
            for below in pod * half..(pod + 1) * half {
                let ends = (aggs[agg as usize], edges[below as usize]);
                make.link(format!("agg{}-edge{}", agg + 1, below + 1), ends, link);
            }
        }
    }
    add_hosts(make, &edges, &hosts, edge);
}

/// Nodes `spine1` … above `leaf1` …, and `host1` … below, the same number at each leaf. Forward directions lead down.
fn leaf_spine(spines: u32, leaves: u32, hosts: u32, [link, edge]: [&Template; 2], make: &mut Maker<'_>) {
    let row = |make: &mut Maker<'_>, name: &str, count: u32, y: f64| -> Vec<NodeId> {
        (0..count).map(|i| make.net.add_node(format!("{name}{}", i + 1), (spread(i, count), y))).collect()
    };
    let tops = row(make, "spine", spines, 0.06);
    let below = row(make, "leaf", leaves, 0.5);
    let ends = row(make, "host", leaves * hosts, 0.94);
    for (s, &spine) in (1..).zip(&tops) {
        for (l, &leaf) in (1..).zip(&below) {
            make.link(format!("spine{s}-leaf{l}"), (spine, leaf), link);
        }
    }
    add_hosts(make, &below, &ends, edge);
}

/// Joins hosts with the switches above, the same number at each. The link of a host has its name.
fn add_hosts(make: &mut Maker<'_>, switches: &[NodeId], hosts: &[NodeId], edge: &Template) {
    let each = hosts.len() / switches.len().max(1);
    for (i, &host) in hosts.iter().enumerate() {
        make.link(format!("host{}", i + 1), (switches[i / each.max(1)], host), edge);
    }
}

/// Nodes `n1` … in a connected random graph: a random tree, then links between random pairs. A link is called `n1-n4`.
fn random(topology: &Topology, link: &Template, at: Location, make: &mut Maker<'_>) -> Option<()> {
    let notes = &mut *make.notes;
    let nodes = topology.nodes.required("nodes", "a random topology", at, notes)?;
    let n = match nodes.value {
        Nodes::Count(n) if (2..=10_000).contains(&n) => u64::from(n),
        Nodes::Count(n) => {
            notes
                .wrong(nodes.location, format!("`{n}` is out of range"))
                .hint("write a number of nodes from 2 to 10000");
            return None;
        }
        Nodes::List(_) => {
            notes.wrong(nodes.location, "a random topology takes a number of nodes").hint("write nodes = 20");
            return None;
        }
    };
    let (wanted, location) = match (topology.edges.present(), topology.degree.present()) {
        (Some(edges), Some(_)) => {
            notes.wrong(edges.location, "`edges` and `degree` say the same").hint("write one of them");
            return None;
        }
        (Some(edges), None) => (u64::from(edges.value), edges.location),
        (None, Some(degree)) => ((n as f64 * degree.value / 2.0 + 0.5) as u64, degree.location),
        (None, None) if topology.edges.is_missing() && topology.degree.is_missing() => {
            notes.wrong(at, "a random topology needs `degree` or `edges`").hint("write degree = 3.0");
            return None;
        }
        (None, None) => return None,
    };
    let max = (n * (n - 1) / 2).min(200_000);
    if wanted < n - 1 || wanted > max {
        notes
            .wrong(location, format!("{wanted} links cannot join {n} nodes"))
            .hint(format!("a connected graph of {n} nodes has {} to {max} links here", n - 1));
        return None;
    }

    let mut draw = Random::new(topology.seed.or(1), "topology", "graph");
    let mut pairs = BTreeSet::new();
    for i in 1..n {
        pairs.insert((draw.below(i), i));
    }
    if wanted * 2 > n * (n - 1) / 2 {
        // dense graph: choose links from all free pairs instead of searching for free pairs
        let mut free: Vec<(u64, u64)> = (0..n)
            .flat_map(|a| (a + 1..n).map(move |b| (a, b)))
            .filter(|pair| !pairs.contains(pair))
            .collect();
        while (pairs.len() as u64) < wanted {
            pairs.insert(free.swap_remove(draw.below(free.len() as u64) as usize));
        }
    }
    while (pairs.len() as u64) < wanted {
        let (a, b) = (draw.below(n), draw.below(n));
        if a != b {
            pairs.insert((a.min(b), a.max(b)));
        }
    }
    for i in 0..n {
        make.net.add_node(format!("n{}", i + 1), (0.5, 0.5));
    }
    for (a, b) in pairs {
        make.link(format!("n{}-n{}", a + 1, b + 1), (NodeId(a as u32), NodeId(b as u32)), link);
    }
    make.net.positions = layout::spring(&make.net);
    Some(())
}

impl Kind {
    /// Keys of a topology of this kind, beside `kind`.
    pub(crate) const fn keys(self) -> &'static [&'static str] {
        match self {
            Self::Dumbbell => &["pairs", "edge", "bottleneck", "links"],
            Self::ParkingLot => &["hops", "edge", "bottleneck", "links"],
            Self::Star => &["leaves", "link", "links"],
            Self::Chain => &["hops", "link", "links"],
            Self::Tree => &["arity", "depth", "link", "links"],
            Self::FatTree => &["k", "link", "edge", "links"],
            Self::LeafSpine => &["spines", "leaves", "hosts", "link", "edge", "links"],
            Self::Random => &["nodes", "degree", "edges", "seed", "link", "links"],
            Self::Graphml => &["file", "delay_by_distance", "rate_from_file", "link", "links"],
            Self::Custom => &["nodes", "links"],
        }
    }
}
