//! Networks read from GraphML files, such as those of the Internet Topology Zoo.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use contract::NodeId;
use roxmltree::Node;
use units::{Duration, Rate, math};

use super::changes::{Maker, Template};
use super::{Defaults, Net, is_name, layout, listed, location_of, template};
use crate::files::{self, Wrong};
use crate::schema::file::Topology;
use crate::schema::read::{At, Notes, shortened};
use crate::schema::tree::Location;

/// Speed of light in fibre, two thirds of that in vacuum.
const METRES_PER_SECOND: f64 = 299_792_458.0 * 2.0 / 3.0;
const EARTH_RADIUS_M: f64 = 6_371_000.0;
/// The attribute of an edge that is its rate in bit/s.
const SPEED: &str = "LinkSpeedRaw";

/// The graph of a file: nodes by label, links by the labels of their ends. Labels are converted to names (other
/// characters become `_`) and made unique (`_2`, `_3` …). Links have the values of the template; their rate and delay
/// can be those of the file. Two directed edges between the same nodes, one in each direction, are one link. Edges from
/// a node to itself are ignored.
pub(super) fn build(topology: &At<Topology>, folder: &Path, notes: &mut Notes) -> Option<Net> {
    let file = topology.file.required("file", "a graphml topology", topology.location, notes)?;
    let graph = files::parsed(file, "take a file in GraphML", folder, notes, |text, _| graph(text))?;
    let by_distance = topology.delay_by_distance.or(false);
    let link = topology.link.present();
    let rate = link.and_then(|link| location_of(&link.forward.rate));
    let own = rate.is_some() || topology.link.is_wrong() || link.is_some_and(|link| link.forward.has_rate());
    let speeds = graph.edges.iter().filter(|edge| edge.speeds.is_some()).count();
    let from_file = topology.rate_from_file.or(!own && speeds > 0);
    warn_of_rates(topology, rate, speeds, &graph, notes);
    let defaults = Defaults {
        // placeholders until the values of the file are known
        rate: (from_file && !own).then_some(Rate::from_mbps(10)),
        delay: by_distance.then_some(Duration::ZERO),
        ..Defaults::default()
    };
    let mut make = Maker::new(topology, notes);
    let link = template(&topology.link, "link", defaults, topology.location, make.notes);
    let lost = network(&graph, &link, (from_file, by_distance), &mut make);
    let notes = &mut *make.notes;
    if from_file && !own && !lost.rates.is_empty() {
        let (count, names) = (lost.rates.len(), listed(lost.rates.iter().map(String::as_str)));
        notes
            .wrong(
                file.location,
                format!(
                    "{count} of {} links have no rate in the file (`{SPEED}`): {names}",
                    graph.edges.len()
                ),
            )
            .hint("write `rate` in `link` for them, and rate_from_file = true for the others");
    }
    if from_file && own && !lost.unreadable.is_empty() {
        let names = listed(lost.unreadable.iter().map(String::as_str));
        let message =
            format!("a rate of the file (`{SPEED}`) that is no number of bit/s is not used: {names}");
        notes.warn(file.location, message).hint("write it in bit/s, such as 10000000");
    }
    report_distances(topology, file, &graph, &link, &lost, notes);
    Some(make.finish())
}

/// Warns where rates of the file and of the scenario are both there, or none is.
fn warn_of_rates(
    topology: &Topology,
    rate: Option<Location>,
    speeds: usize,
    graph: &Graph,
    notes: &mut Notes,
) {
    let of_all = format!("{speeds} of {} links", graph.edges.len());
    match (topology.rate_from_file.present(), rate) {
        (None, Some(rate)) if speeds > 0 => notes
            .warn(rate, format!("all links have this rate, though {of_all} have one in the file (`{SPEED}`)"))
            .hint("write rate_from_file = true to use those, and `rate` for other links; false to confirm this one"),
        (Some(at), _) if at.value && speeds == 0 => notes
            .warn(at.location, format!("no link of the file has a rate (`{SPEED}`)"))
            .hint("leave `rate_from_file` out"),
        (Some(at), Some(rate)) if at.value && speeds == graph.edges.len() => notes
            .warn(rate, format!("this rate has no effect: all links have one in the file (`{SPEED}`)"))
            .hint("leave `rate` out, or write rate_from_file = false"),
        _ => {}
    }
}

/// Reports nodes without a location, and a delay without effect, where delays are by distance.
fn report_distances(
    topology: &Topology,
    file: &At<String>,
    graph: &Graph,
    link: &Template,
    lost: &Lost,
    notes: &mut Notes,
) {
    if !lost.nodes.is_empty() {
        let names: Vec<String> = lost.nodes.iter().map(|node| graph.nodes[*node].shown()).collect();
        let names = listed(names.iter().map(String::as_str));
        let nodes = format!(
            "{} of {} nodes have no latitude and longitude: {names}",
            lost.nodes.len(),
            graph.nodes.len()
        );
        let at = topology.delay_by_distance.present().map_or(file.location, |at| at.location);
        if link.link.forward.delay.is_missing() {
            notes.wrong(at, nodes).hint(
                "write `delay` in `link` for the links of these nodes, or add the coordinates to the file",
            );
        } else {
            let delay = link.ports.0.delay;
            notes
                .warn(
                    at,
                    format!(
                        "{nodes}; {} of {} links have `delay` of `link`, {delay}",
                        lost.links,
                        graph.edges.len()
                    ),
                )
                .hint("add the coordinates to the file for delays by distance");
        }
    } else if let (true, Some(delay), true) =
        (topology.delay_by_distance.or(false), location_of(&link.link.forward.delay), lost.distances > 0)
    {
        notes
            .warn(delay, "this delay has no effect: all nodes have a latitude and a longitude")
            .hint("leave `delay` out, or `delay_by_distance`");
    }
}

/// The graph of a file.
struct Graph {
    nodes: Vec<GraphNode>,
    edges: Vec<Edge>,
}

struct Edge {
    /// Ends by index.
    ends: (usize, usize),
    /// Rates of both directions in bit/s, if the file has one.
    speeds: Option<(f64, f64)>,
    /// A rate that is no number of bit/s.
    unreadable: Option<String>,
}

struct GraphNode {
    name: String,
    /// Latitude and longitude in degrees.
    location: Option<(f64, f64)>,
    /// A latitude or longitude that is no number of degrees.
    unreadable: Option<String>,
}

impl GraphNode {
    /// Its name in messages about its location.
    fn shown(&self) -> String {
        match &self.unreadable {
            Some(text) => format!("{} (`{}`)", self.name, shortened(text)),
            None => self.name.clone(),
        }
    }
}

/// The first graph of a GraphML text.
fn graph(text: &str) -> Result<Graph, Wrong> {
    let document = roxmltree::Document::parse(text).map_err(|error| error.to_string())?;
    let keys = document
        .descendants()
        .filter(|node| node.tag_name().name() == "key")
        .filter_map(|key| Some((key.attribute("id")?, Key::of(key)?)))
        .collect();
    let graph = document
        .descendants()
        .find(|node| node.tag_name().name() == "graph")
        .ok_or("there is no graph in it".to_owned())?;
    let reader = Reader { graph, keys };
    if let Some(edge) = reader.within("hyperedge").next() {
        let line = document.text_pos_at(edge.range().start).row as usize;
        let hint = "write an edge between each two of its nodes, or a node for what they share";
        return Err(Wrong::with_hint(line, "a link has two ends, and a hyperedge any number", hint));
    }
    let (nodes, ids) = reader.nodes()?;
    if nodes.is_empty() || nodes.len() > 100_000 {
        return Err(format!("it has {} nodes; 1 to 100000 are possible", nodes.len()).into());
    }
    let edges = reader.edges(&ids)?;
    if edges.len() > 200_000 {
        return Err(format!("it has {} links; at most 200000 are possible", edges.len()).into());
    }
    Ok(Graph { nodes, edges })
}

/// An attribute that elements of a graph have.
struct Key<'a> {
    /// Its name in lower case.
    name: String,
    /// The elements that have it: `node`, `edge`, `all`.
    of: &'a str,
    /// Its value where an element has none.
    default: Option<&'a str>,
}

impl<'a> Key<'a> {
    fn of(key: Node<'a, 'a>) -> Option<Self> {
        let default = key.children().find(|child| child.tag_name().name() == "default");
        Some(Self {
            name: key.attribute("attr.name")?.to_lowercase(),
            of: key.attribute("for").unwrap_or("all"),
            default: default.and_then(|default| default.text()),
        })
    }
}

/// The elements of a graph in a file.
struct Reader<'a> {
    graph: Node<'a, 'a>,
    /// Attributes by the keys that data have.
    keys: BTreeMap<&'a str, Key<'a>>,
}

impl<'a> Reader<'a> {
    /// The elements of that name, also of graphs within nodes.
    fn within(&self, name: &'static str) -> impl Iterator<Item = Node<'a, 'a>> + use<'a> {
        self.graph.descendants().filter(move |node| {
            node.tag_name().name() == name
                && node.parent().is_some_and(|parent| parent.tag_name().name() == "graph")
        })
    }

    /// The text of the first of these attributes that has one, by names in lower case.
    fn data(&self, node: Node<'_, '_>, wanted: &[&str]) -> Option<String> {
        let named = |name: &str, child: &Node<'_, '_>| {
            child.tag_name().name() == "data"
                && child.attribute("key").is_some_and(|key| match self.keys.get(key) {
                    Some(known) => known.name == name,
                    None => key.to_lowercase() == name,
                })
        };
        let texts = wanted.iter().filter_map(|name| node.children().find(|child| named(name, child))?.text());
        texts.map(str::trim).find(|text| !text.is_empty()).map(str::to_owned)
    }

    /// The text of the first of these attributes that has one, or else the first default.
    fn data_or_default(&self, node: Node<'_, '_>, wanted: &[&str]) -> Option<String> {
        let goes = |key: &&Key<'_>| key.of == "all" || key.of == node.tag_name().name();
        let default = |name: &&str| self.keys.values().filter(goes).find(|key| key.name == **name)?.default;
        let defaults = || wanted.iter().filter_map(default).map(str::trim).find(|text| !text.is_empty());
        self.data(node, wanted).or_else(|| defaults().map(str::to_owned))
    }

    /// The nodes, and their places in the list by id.
    fn nodes(&self) -> Result<(Vec<GraphNode>, BTreeMap<&'a str, usize>), String> {
        let (mut nodes, mut ids, mut taken) = (Vec::new(), BTreeMap::new(), BTreeSet::new());
        for node in self.within("node").filter(|node| !is_group(node)) {
            let id = node.attribute("id").ok_or("a node has no id")?;
            if ids.insert(id, nodes.len()).is_some() {
                return Err(format!("two nodes have the id `{}`", shortened(id)));
            }
            let label = self.data(node, &["label"]).or_else(|| drawn_label(node));
            let label = label.or_else(|| self.data(node, &["name"]));
            let mut unreadable = None;
            let mut degrees = |names: &[&str], max: f64| {
                let text = self.data_or_default(node, names)?;
                let read = files::number(&text).filter(|value| value.abs() <= max);
                if read.is_none() {
                    unreadable = Some(text);
                }
                read
            };
            let latitude = degrees(&["latitude", "lat"], 90.0);
            let longitude = degrees(&["longitude", "lon", "long", "lng"], 360.0);
            let name = unique(&label.unwrap_or_else(|| id.to_owned()), &mut taken);
            nodes.push(GraphNode { name, location: latitude.zip(longitude), unreadable });
        }
        Ok((nodes, ids))
    }

    /// The edges between two nodes.
    fn edges(&self, ids: &BTreeMap<&str, usize>) -> Result<Vec<Edge>, String> {
        let groups: BTreeSet<&str> =
            self.within("node").filter(is_group).filter_map(|node| node.attribute("id")).collect();
        let all_directed = self.graph.attribute("edgedefault") == Some("directed");
        let mut edges: Vec<Edge> = Vec::new();
        // directed edges whose other direction may follow
        let mut open: BTreeMap<(usize, usize), Vec<usize>> = BTreeMap::new();
        for edge in self.within("edge") {
            let end = |name: &str| {
                let id = edge.attribute(name).ok_or(format!("an edge has no {name}"))?;
                ids.get(id).copied().ok_or_else(|| {
                    let what =
                        if groups.contains(id) { "is a group: link a node in it" } else { "does not exist" };
                    format!("an edge names the node `{}`, which {what}", shortened(id))
                })
            };
            let (source, target) = (end("source")?, end("target")?);
            if source == target {
                continue;
            }
            let text = self.data_or_default(edge, &["linkspeedraw"]);
            let speed = text.as_deref().and_then(files::number).filter(|bps| (1.0..=1e13).contains(bps));
            let unreadable = text.filter(|_| speed.is_none());
            let directed = edge.attribute("directed").map_or(all_directed, |word| word == "true");
            // two directions are one link
            let other = open.get_mut(&(target, source)).filter(|_| directed);
            if let Some(forward) = other.and_then(|others| (!others.is_empty()).then(|| others.remove(0))) {
                let forward = &mut edges[forward];
                forward.speeds = match (forward.speeds, speed) {
                    (Some((there, _)), back) => Some((there, back.unwrap_or(there))),
                    (None, back) => back.map(|back| (back, back)),
                };
                forward.unreadable = forward.unreadable.take().or(unreadable);
                continue;
            }
            if directed {
                open.entry((source, target)).or_default().push(edges.len());
            }
            edges.push(Edge { ends: (source, target), speeds: speed.map(|bps| (bps, bps)), unreadable });
        }
        Ok(edges)
    }
}

/// Whether a node has a graph of its own that has nodes: it is a group of these, and no node of the network.
fn is_group(node: &Node<'_, '_>) -> bool {
    node.children()
        .filter(|child| child.tag_name().name() == "graph")
        .any(|inner| inner.children().any(|child| child.tag_name().name() == "node"))
}

/// The label that the editor yEd draws for a node, `y:NodeLabel`: the first that is not empty.
fn drawn_label(node: Node<'_, '_>) -> Option<String> {
    let labels = node.descendants().filter(|inner| inner.tag_name().name() == "NodeLabel");
    let words = |text: &str| text.split_whitespace().collect::<Vec<_>>().join(" ");
    labels.filter_map(|label| label.text().map(words)).find(|text| !text.is_empty())
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

/// What links do not find in a file.
#[derive(Default)]
struct Lost {
    /// Links without a rate.
    rates: Vec<String>,
    /// Links whose rate is no number.
    unreadable: Vec<String>,
    /// Nodes without a location that links need.
    nodes: BTreeSet<usize>,
    /// Number of links without a distance.
    links: usize,
    /// Number of links with one.
    distances: usize,
}

/// Adds nodes and links, with rates of the file and delays by distance if `from` says so.
fn network(graph: &Graph, link: &Template, from: (bool, bool), make: &mut Maker<'_>) -> Lost {
    let (from_file, by_distance) = from;
    for node in &graph.nodes {
        make.net.add_node(node.name.clone(), (0.5, 0.5));
    }
    let (mut taken, mut lost) = (BTreeSet::new(), Lost::default());
    for &Edge { ends: (source, target), speeds, ref unreadable } in &graph.edges {
        let (a, b) = (&graph.nodes[source], &graph.nodes[target]);
        let delay = a
            .location
            .zip(b.location)
            .map(|(a, b)| Duration::from_secs_f64(distance_m(a, b) / METRES_PER_SECOND));
        let name = unique(&format!("{}-{}", a.name, b.name), &mut taken);
        let label = match unreadable {
            Some(text) => format!("{name} (`{}`)", shortened(text)),
            None => name.clone(),
        };
        make.link_with(name, (NodeId(source as u32), NodeId(target as u32)), link, |ports, changed| {
            let (mut no_rate, mut no_delay) = (false, false);
            for (port, backward) in [(&mut ports.0, false), (&mut ports.1, true)] {
                if from_file && port.keys.trace.present().is_none() && !changed.has_rate(backward) {
                    match speeds {
                        Some((there, back)) => {
                            port.rate = Rate::from_bps_f64(if backward { back } else { there })
                        }
                        None => no_rate = true,
                    }
                }
                if by_distance && !changed.has_delay(backward) {
                    match delay {
                        Some(delay) => port.delay = delay,
                        None => no_delay = true,
                    }
                }
            }
            if no_rate {
                lost.unreadable.extend(unreadable.as_ref().map(|_| label.clone()));
                lost.rates.push(label);
            }
            if no_delay {
                lost.links += 1;
                lost.nodes.extend(
                    [source, target].into_iter().filter(|node| graph.nodes[*node].location.is_none()),
                );
            }
            lost.distances += usize::from(by_distance && delay.is_some());
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
    lost
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

    fn one_node(keys: &str, data: &str) -> GraphNode {
        let text = format!(
            "<graphml xmlns:y='http://www.yworks.com/xml/graphml'>{keys}<graph><node id='n0'>{data}</node></graph></graphml>"
        );
        graph(&text).expect("it is right").nodes.remove(0)
    }

    #[test]
    fn nodes_are_named_by_their_label_or_the_one_that_is_drawn() {
        let key = "<key id='d0' attr.name='label'/><key id='d1' attr.name='Name'/>";
        let drawn = "<data key='d9'><y:ShapeNode><y:NodeLabel> </y:NodeLabel><y:NodeLabel>New\n  York</y:NodeLabel></y:ShapeNode></data>";
        for (data, name) in [
            (format!("<data key='d0'>Rome</data>{drawn}"), "Rome"),
            (format!("<data key='d0'> </data>{drawn}<data key='d1'>Oslo</data>"), "New_York"),
            ("<data key='d1'>Oslo</data>".to_owned(), "Oslo"),
            ("<data key='d9'><y:ShapeNode/></data>".to_owned(), "n0"),
            (String::new(), "n0"),
        ] {
            assert_eq!(one_node(key, &data).name, name, "{data}");
        }
    }

    /// As yEd writes groups: nodes and edges within them at any depth, an edge between two of them in the outer graph,
    /// and one that ends at a group.
    #[test]
    fn nodes_in_groups_are_nodes_and_groups_are_none() {
        let file = |edge: &str| {
            format!(
                "<graphml xmlns:y='http://www.yworks.com/xml/graphml'><graph edgedefault='directed'><node id='n0'/>\
                 <node id='g' yfiles.foldertype='group'><data key='d'><y:NodeLabel>site</y:NodeLabel></data>\
                 <graph edgedefault='directed' id='g:'><node id='g::n0'><data key='d'><y:NodeLabel>a</y:NodeLabel></data></node>\
                 <node id='g::h'><graph><node id='g::h::n0'/></graph></node><node id='g::e'><graph/></node>\
                 <edge source='g::n0' target='g::h::n0'/></graph></node>{edge}</graph></graphml>"
            )
        };
        let read = graph(&file("<edge source='n0' target='g::n0'/>")).expect("it is right");
        let names: Vec<&str> = read.nodes.iter().map(|node| node.name.as_str()).collect();
        assert_eq!(names, ["n0", "a", "g__h__n0", "g__e"]);
        let ends: Vec<(usize, usize)> = read.edges.iter().map(|edge| edge.ends).collect();
        assert_eq!(ends, [(1, 2), (0, 1)]);
        let refused = graph(&file("<edge source='n0' target='g'/>")).map(|_| ()).expect_err("it is a group");
        assert_eq!(refused.message, "an edge names the node `g`, which is a group: link a node in it");
    }

    /// Ends of a link, and its rates there and back.
    type Rates = ((usize, usize), Option<(f64, f64)>);

    /// Edges of nodes a, b and c, as `a>b 5 directed`: their ends and rates.
    fn links(edgedefault: &str, keys: &str, edges: &str) -> Vec<Rates> {
        let edge = |row: &str| {
            let words: Vec<&str> = row.split_whitespace().collect();
            let (from, to) = words[0].split_once('>').expect("two ends");
            let directed = words.get(2).map(|word| format!(" directed='{}'", *word == "directed"));
            let speed = words.get(1).filter(|word| **word != "-");
            let data = speed.map(|bps| format!("<data key='s'>{bps}</data>")).unwrap_or_default();
            let directed = directed.unwrap_or_default();
            format!("<edge source='{from}' target='{to}'{directed}>{data}</edge>")
        };
        let edges: String = edges.split(',').map(edge).collect();
        let text = format!(
            "<graphml><key id='s' for='edge' attr.name='LinkSpeedRaw'>{keys}</key><graph edgedefault='{edgedefault}'>\
             <node id='a'/><node id='b'/><node id='c'/>{edges}</graph></graphml>"
        );
        graph(&text).expect("it is right").edges.iter().map(|edge| (edge.ends, edge.speeds)).collect()
    }

    #[test]
    fn two_directions_are_one_link_and_each_has_its_rate() {
        let both = |bps: f64| Some((bps, bps));
        for (edgedefault, edges, wanted) in [
            ("directed", "a>b 5,b>a 7", vec![((0, 1), Some((5.0, 7.0)))]),
            ("directed", "a>b 5,b>a -", vec![((0, 1), both(5.0))]),
            ("directed", "a>b -,b>a 7", vec![((0, 1), both(7.0))]),
            ("directed", "a>b -,b>a -", vec![((0, 1), None)]),
            ("directed", "a>b 5", vec![((0, 1), both(5.0))]),
            ("undirected", "a>b 5,b>a 7", vec![((0, 1), both(5.0)), ((1, 0), both(7.0))]),
            ("undirected", "a>b 5 directed,b>a 7 directed", vec![((0, 1), Some((5.0, 7.0)))]),
            ("directed", "a>b 5 undirected,b>a 7 undirected", vec![((0, 1), both(5.0)), ((1, 0), both(7.0))]),
            ("undirected", "a>b 5 directed,b>a 7", vec![((0, 1), both(5.0)), ((1, 0), both(7.0))]),
            // parallel links
            (
                "directed",
                "a>b 1,a>b 2,b>a 3,b>a 4",
                vec![((0, 1), Some((1.0, 3.0))), ((0, 1), Some((2.0, 4.0)))],
            ),
            ("directed", "a>b 1,b>a 2,b>a 3", vec![((0, 1), Some((1.0, 2.0))), ((1, 0), both(3.0))]),
            ("directed", "a>b 1,b>c 2,c>b 3", vec![((0, 1), both(1.0)), ((1, 2), Some((2.0, 3.0)))]),
        ] {
            assert_eq!(links(edgedefault, "", edges), wanted, "{edgedefault}: {edges}");
        }
    }

    #[test]
    fn an_attribute_that_is_not_written_has_its_default() {
        let of = |keys, edges| links("undirected", keys, edges);
        assert_eq!(
            of("<default>9</default>", "a>b 5,b>c"),
            [((0, 1), Some((5.0, 5.0))), ((1, 2), Some((9.0, 9.0)))]
        );
        assert_eq!(of("<default> </default>", "a>b"), [((0, 1), None)]);
        let keys = |of: &str| {
            format!(
                "<key id='a' for='{of}' attr.name='lat'><default>4.5</default></key>\
                 <key id='o' for='{of}' attr.name='lon'><default>-3</default></key>"
            )
        };
        for (of, own, wanted) in [
            ("node", "", Some((4.5, -3.0))),
            ("all", "<data key='a'>7</data>", Some((7.0, -3.0))),
            ("edge", "", None),
        ] {
            assert_eq!(one_node(&keys(of), own).location, wanted, "{of}");
        }
    }

    #[test]
    fn a_hyperedge_is_refused_with_its_line() {
        let text =
            "<graphml><graph>\n<node id='a'/>\n<hyperedge><endpoint node='a'/></hyperedge></graph></graphml>";
        let refused = graph(text).map(|_| ()).expect_err("it is no link");
        assert!(refused.line == 3 && refused.message.contains("hyperedge"), "{refused:?}");
    }

    #[test]
    fn latitude_and_longitude_have_several_names() {
        for (latitude, longitude) in
            [("Latitude", "Longitude"), ("lat", "lon"), ("Lat", "Long"), ("LATITUDE", "lng")]
        {
            let keys = format!("<key id='a' attr.name='{latitude}'/><key id='b' attr.name='{longitude}'/>");
            let node = one_node(&keys, "<data key='a'>4.885e1</data><data key='b'> -2.35 </data>");
            assert_eq!((node.location, node.unreadable), (Some((48.85, -2.35)), None), "{latitude}");
            for (value, other) in [("48,85", "2"), ("91", "2"), ("nan", "2"), ("48", "x")] {
                let node =
                    one_node(&keys, &format!("<data key='a'>{value}</data><data key='b'>{other}</data>"));
                assert!(node.location.is_none() && node.unreadable.is_some(), "{value} {other}");
            }
            assert!(one_node(&keys, "<data key='a'>1</data>").unreadable.is_none());
        }
    }

    #[test]
    fn labels_become_names_and_are_unique() {
        let mut taken = BTreeSet::new();
        assert_eq!(unique("New York", &mut taken), "New_York");
        assert_eq!(unique("New York", &mut taken), "New_York_2");
    }
}
