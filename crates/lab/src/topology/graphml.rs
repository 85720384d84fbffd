//! Networks read from GraphML files, such as those of the Internet Topology Zoo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use contract::NodeId;
use units::{Duration, Rate, math};

use super::changes::{Maker, Template};
use super::{Defaults, Net, is_name, layout, template};
use crate::schema::file::Topology;
use crate::schema::read::{At, Notes};

/// Maximum size of a file.
const MAX_BYTES: u64 = 32_000_000;

/// Speed of light in fibre, two thirds of that in vacuum.
const METRES_PER_SECOND: f64 = 299_792_458.0 * 2.0 / 3.0;
const EARTH_RADIUS_M: f64 = 6_371_000.0;

/// The graph of a file: nodes by label, links by the labels of their ends. Labels are converted to names (other characters become `_`) and
/// made unique (`_2`, `_3` …). An edge's `LinkSpeedRaw`, in bit/s, is its rate; other values are those of the template. Edges from a node
/// to itself are ignored.
pub(super) fn build(topology: &At<Topology>, folder: &Path, notes: &mut Notes) -> Option<Net> {
    let file = topology.file.required("file", "a graphml topology", topology.location, notes)?;
    let by_distance = topology.delay_by_distance.or(false);
    let defaults = Defaults {
        // a placeholder until the distance is known
        delay: by_distance.then_some(Duration::ZERO),
        ..Defaults::default()
    };
    let mut make = Maker::new(topology, notes);
    let link = template(&topology.link, "link", defaults, topology.location, make.notes);
    let notes = &mut *make.notes;
    let path = folder.join(&file.value);
    let length = std::fs::metadata(&path).map_or(0, |data| data.len());
    if length > MAX_BYTES {
        notes.wrong(file.location, format!("`{}` is too large", file.value)).hint("at most 32 MB");
        return None;
    }
    let text = match std::fs::read(&path).map(String::from_utf8) {
        Ok(Ok(text)) => text,
        Ok(Err(_)) => {
            notes.wrong(file.location, format!("`{}` is not UTF-8 text", file.value));
            return None;
        }
        Err(error) => {
            notes
                .wrong(file.location, format!("`{}` cannot be read: {}", file.value, error.kind()))
                .hint("the path is relative to the folder of the scenario");
            return None;
        }
    };
    match graph(&text).and_then(|graph| network(&graph, &link, by_distance, &mut make)) {
        Ok(()) => Some(make.finish()),
        Err(message) => {
            make.notes.wrong(file.location, format!("`{}`: {message}", file.value));
            None
        }
    }
}

/// The graph of a file.
struct Graph {
    nodes: Vec<GraphNode>,
    /// Ends by index, and the rate if the file has one.
    edges: Vec<(usize, usize, Option<f64>)>,
}

struct GraphNode {
    name: String,
    /// Latitude and longitude in degrees.
    location: Option<(f64, f64)>,
}

/// The first graph of a GraphML text; the error is a message.
fn graph(text: &str) -> Result<Graph, String> {
    let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
    let names: BTreeMap<&str, &str> = document
        .descendants()
        .filter(|node| node.tag_name().name() == "key")
        .filter_map(|key| Some((key.attribute("id")?, key.attribute("attr.name")?)))
        .collect();
    let graph = document
        .descendants()
        .find(|node| node.tag_name().name() == "graph")
        .ok_or("there is no graph in it")?;
    let data = |node: roxmltree::Node<'_, '_>, name: &str| {
        node.children()
            .filter(|child| child.tag_name().name() == "data")
            .find(|child| {
                child.attribute("key").is_some_and(|key| names.get(key).copied().unwrap_or(key) == name)
            })
            .and_then(|child| child.text().map(|text| text.trim().to_owned()))
    };
    let degrees = |node, name, max: f64| {
        data(node, name)
            .and_then(|text| text.parse::<f64>().ok())
            .filter(|value: &f64| value.is_finite() && value.abs() <= max)
    };

    let mut nodes = Vec::new();
    let mut ids = BTreeMap::new();
    let mut taken = BTreeSet::new();
    for node in graph.children().filter(|node| node.tag_name().name() == "node") {
        let id = node.attribute("id").ok_or("a node has no id")?;
        if ids.insert(id, nodes.len()).is_some() {
            return Err(format!("two nodes have the id `{id}`"));
        }
        let label = data(node, "label").filter(|label| !label.is_empty()).unwrap_or_else(|| id.to_owned());
        let location = degrees(node, "Latitude", 90.0).zip(degrees(node, "Longitude", 360.0));
        nodes.push(GraphNode { name: unique(&label, &mut taken), location });
    }
    if nodes.is_empty() || nodes.len() > 100_000 {
        return Err(format!("it has {} nodes; 1 to 100000 are possible", nodes.len()));
    }
    let mut edges = Vec::new();
    let directed = graph.attribute("edgedefault") == Some("directed");
    let mut seen = BTreeSet::new();
    for edge in graph.children().filter(|node| node.tag_name().name() == "edge") {
        let end = |name: &str| {
            let id = edge.attribute(name).ok_or(format!("an edge has no {name}"))?;
            ids.get(id).copied().ok_or(format!("an edge names the node `{id}`, which does not exist"))
        };
        let (source, target) = (end("source")?, end("target")?);
        // two directions of a directed graph are one link
        if source == target || (directed && seen.contains(&(target, source))) {
            continue;
        }
        seen.insert((source, target));
        let rate = data(edge, "LinkSpeedRaw").and_then(|text| text.parse::<f64>().ok());
        edges.push((source, target, rate.filter(|bps| *bps >= 1.0 && *bps <= 1e13)));
    }
    if edges.len() > 200_000 {
        return Err(format!("it has {} links; at most 200000 are possible", edges.len()));
    }
    Ok(Graph { nodes, edges })
}

/// Converts a label to a name that is not in `taken`.
fn unique(label: &str, taken: &mut BTreeSet<String>) -> String {
    let clean: String = label.chars().take(80).map(|c| if is_name(c) { c } else { '_' }).collect();
    let mut name = clean.clone();
    let mut number = 2u32;
    while !taken.insert(name.clone()) {
        name = format!("{clean}_{number}");
        number += 1;
    }
    name
}

fn network(graph: &Graph, link: &Template, by_distance: bool, make: &mut Maker<'_>) -> Result<(), String> {
    for node in &graph.nodes {
        make.net.add_node(node.name.clone(), (0.5, 0.5));
    }
    let mut taken = BTreeSet::new();
    for (source, target, rate) in &graph.edges {
        let (a, b) = (&graph.nodes[*source], &graph.nodes[*target]);
        let delay = if by_distance {
            let location = |node: &GraphNode| {
                node.location.ok_or(format!("node `{}` has no latitude and longitude", node.name))
            };
            Some(Duration::from_secs_f64(distance_m(location(a)?, location(b)?) / METRES_PER_SECOND))
        } else {
            None
        };
        let name = unique(&format!("{}-{}", a.name, b.name), &mut taken);
        make.link_with(name, (NodeId(*source as u32), NodeId(*target as u32)), link, |ports, changed| {
            for (port, backward) in [(&mut ports.0, false), (&mut ports.1, true)] {
                if let (Some(bps), None, false) = (rate, &port.trace, changed.has_rate(backward)) {
                    port.rate = Rate::from_bps_f64(*bps);
                }
                if let (Some(delay), false) = (delay, changed.has_delay(backward)) {
                    port.delay = delay;
                }
            }
        });
    }
    let locations: Option<Vec<(f64, f64)>> = graph
        .nodes
        .iter()
        .map(|node| node.location.map(|(latitude, longitude)| (longitude, -latitude)))
        .collect();
    make.net.positions = match locations {
        Some(locations) => layout::fitted(&locations),
        None => layout::spring(&make.net),
    };
    Ok(())
}

/// Great-circle distance between two points given in degrees, by the haversine formula.
fn distance_m(from: (f64, f64), to: (f64, f64)) -> f64 {
    let (lat1, lat2) = (from.0.to_radians(), to.0.to_radians());
    let (half_lat, half_lon) = ((lat2 - lat1) / 2.0, (to.1 - from.1).to_radians() / 2.0);
    let square = |x: f64| x * x;
    // hav = sin²(Δφ/2) + cos φ₁ · cos φ₂ · sin²(Δλ/2);  d = 2 R · asin √hav
    let hav = square(math::sin(half_lat)) + math::cos(lat1) * math::cos(lat2) * square(math::sin(half_lon));
    2.0 * EARTH_RADIUS_M * math::asin(hav.min(1.0).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paris_to_new_york_is_5837_kilometres() {
        let metres = distance_m((48.8566, 2.3522), (40.7128, -74.0060));
        assert!((metres - 5_837_000.0).abs() < 5_000.0, "{metres}");
    }

    #[test]
    fn labels_become_names_and_are_unique() {
        let mut taken = BTreeSet::new();
        assert_eq!(unique("New York", &mut taken), "New_York");
        assert_eq!(unique("New York", &mut taken), "New_York_2");
    }
}
