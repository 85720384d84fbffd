//! Generators and imported graphs.

use lab::Plan;
use sim::Control;
use units::{Duration, Rate};

fn plan(topology: &str, from: &str, to: &str) -> std::sync::Arc<Plan> {
    let text = format!(
        "duration = \"1 s\"\n[topology]\n{topology}\n[[flows]]\nname = \"f\"\nfrom = \"{from}\"\nto = \"{to}\"\n\
         source = {{ kind = \"constant\", rate = \"1 Mbit/s\" }}\n"
    );
    let name = format!("{}/tests/graphs/test.toml", env!("CARGO_MANIFEST_DIR"));
    let scenario = lab::load(&text, &name).unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    scenario.plan(None).expect("loaded means planned")
}

const LINK: &str = "link = { rate = \"10 Mbit/s\", delay = \"5 ms\" }";

/// Whether every node is reachable from the first.
fn connected(plan: &Plan) -> bool {
    let mut reached = vec![false; plan.blueprint.nodes.len()];
    reached[0] = true;
    for _ in 0..reached.len() {
        for link in &plan.blueprint.links {
            let (a, b) = (link.ends.0.index(), link.ends.1.index());
            let either = reached[a] || reached[b];
            (reached[a], reached[b]) = (either, either);
        }
    }
    reached.into_iter().all(|yes| yes)
}

#[test]
fn every_generator_names_its_nodes_and_links() {
    let cases = [
        (
            "kind = \"star\"\nleaves = 3",
            "leaf1",
            "leaf3",
            vec!["hub", "leaf1", "leaf2", "leaf3"],
            vec!["leaf1", "leaf2", "leaf3"],
        ),
        (
            "kind = \"chain\"\nhops = 2",
            "node1",
            "node3",
            vec!["node1", "node2", "node3"],
            vec!["link1", "link2"],
        ),
        (
            "kind = \"tree\"\narity = 2\ndepth = 2",
            "root",
            "leaf4",
            vec!["root", "inner1", "inner2", "leaf1", "leaf2", "leaf3", "leaf4"],
            vec!["inner1", "inner2", "leaf1", "leaf2", "leaf3", "leaf4"],
        ),
    ];
    for (topology, from, to, nodes, links) in cases {
        let plan = plan(&format!("{topology}\n{LINK}"), from, to);
        assert_eq!(plan.blueprint.nodes, nodes);
        let names: Vec<&str> = plan.blueprint.links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, links);
        assert!(connected(&plan));
    }
}

#[test]
fn a_dumbbell_has_as_many_pairs_as_its_flows_need() {
    let text = r#"
[topology]
kind = "dumbbell"
bottleneck = { rate = "10 Mbit/s", delay = "10 ms", buffer = "1 bdp" }
[[flows]]
name = "a"
count = 3
scheme = "reno"
[[flows]]
name = "b"
scheme = "reno"
[[flows]]
name = "c"
scheme = "reno"
from = "left6"
[[flows]]
name = "back"
scheme = "reno"
from = "right1"
"#;
    let plan =
        lab::load(text, "t").unwrap_or_else(|p| panic!("{p}")).plan(None).expect("loaded means planned");
    let blueprint = &plan.blueprint;
    assert_eq!(blueprint.nodes.len(), 14);
    let ends: Vec<(&str, &str)> = blueprint
        .flows
        .iter()
        .map(|flow| (&*blueprint.nodes[flow.from.index()], &*blueprint.nodes[flow.to[0].node.index()]))
        .collect();
    assert_eq!(
        ends,
        [
            ("left1", "right1"),
            ("left2", "right2"),
            ("left3", "right3"),
            ("left4", "right4"),
            ("left6", "right6"),
            ("right1", "left1"),
        ]
    );
    // 1 · 10 Mbit/s · 24 ms / 12 000 bit = 20 packets
    assert_eq!(blueprint.links[0].forward.queue.limit, sim::Limit::Packets(20));
    assert_eq!(blueprint.links[0].name, "bottleneck");
}

#[test]
fn a_parking_lot_has_one_long_path_and_one_path_per_hop() {
    let topology =
        "kind = \"parking_lot\"\nhops = 3\nbottleneck = { rate = \"10 Mbit/s\", delay = \"5 ms\" }";
    let plan = plan(topology, "left", "right");
    assert!(connected(&plan));
    assert_eq!(plan.blueprint.links.iter().filter(|link| link.name.starts_with("hop")).count(), 3);
    assert!(plan.blueprint.nodes.iter().any(|name| name == "out3"));
}

#[test]
fn random_graphs_are_connected_and_follow_their_seed() {
    let of = |seed: u32, degree: &str| {
        plan(&format!("kind = \"random\"\nnodes = 30\nseed = {seed}\n{degree}\n{LINK}"), "n1", "n30")
    };
    for seed in 1..20 {
        let sparse = of(seed, "edges = 29");
        assert!(connected(&sparse));
        assert_eq!(sparse.blueprint.links.len(), 29);
        let dense = of(seed, "degree = 25.0");
        assert!(connected(&dense));
        assert_eq!(dense.blueprint.links.len(), 375);
    }
    assert_eq!(of(3, "degree = 3.0"), of(3, "degree = 3.0"));
    assert_ne!(of(3, "degree = 3.0").blueprint.links, of(4, "degree = 3.0").blueprint.links);
}

#[test]
fn node_positions_do_not_overlap_and_are_inside_the_picture() {
    for topology in [
        "kind = \"star\"\nleaves = 7",
        "kind = \"random\"\nnodes = 25\ndegree = 3.0",
        "kind = \"tree\"\narity = 3\ndepth = 3",
    ] {
        let (from, to) = match topology {
            text if text.contains("random") => ("n1", "n2"),
            text if text.contains("tree") => ("root", "leaf1"),
            _ => ("hub", "leaf1"),
        };
        let plan = plan(&format!("{topology}\n{LINK}"), from, to);
        for (i, (x, y)) in plan.positions.iter().enumerate() {
            assert!((0.0..=1.0).contains(x) && (0.0..=1.0).contains(y));
            let apart = |other: &(f64, f64)| (x - other.0).abs() + (y - other.1).abs() > 0.005;
            assert!(plan.positions[i + 1..].iter().all(apart), "{topology} {i}");
        }
    }
}

#[test]
fn graphml_gives_nodes_links_rates_and_distances() {
    let keys = "kind = \"graphml\"\nfile = \"triangle.graphml\"\nrate_from_file = true";
    let plan = plan(&format!("{keys}\n{LINK}"), "Old_Town", "2");
    assert_eq!(plan.blueprint.nodes, ["Old_Town", "Old_Town_2", "2"]);
    let names: Vec<&str> = plan.blueprint.links.iter().map(|link| link.name.as_str()).collect();
    assert_eq!(names, ["Old_Town-Old_Town_2", "Old_Town_2-2", "2-Old_Town", "2-Old_Town_2"]);
    assert_eq!(plan.blueprint.links[0].forward.rate, Rate::from_mbps(1000));
    assert_eq!(plan.blueprint.links[1].forward.rate, Rate::from_mbps(10));
    assert_eq!(plan.blueprint.links[1].forward.delay, Duration::from_millis(5));
    // west is left, north is up
    assert!(plan.positions[0].0 < plan.positions[1].0 && plan.positions[2].1 < plan.positions[0].1);
}

#[test]
fn graphml_delays_follow_the_great_circle() {
    let topology = "kind = \"graphml\"\nfile = \"triangle.graphml\"\ndelay_by_distance = true\nlink = { rate = \"10 Mbit/s\" }";
    let plan = plan(topology, "Old_Town", "2");
    // 2° of longitude at 48° north: 148.8 km at 199 862 km/s
    let delay = plan.blueprint.links[0].forward.delay.as_secs_f64();
    assert!((delay - 744.5e-6).abs() < 1e-6, "{delay}");
}

/// Descriptions of the kinds of topology in the schema, and therefore in the reference.
fn documented(kind: &str) -> String {
    let schema = lab::schema();
    let key = &schema["$defs"]["Topology"]["properties"]["kind"];
    let location =
        key["enum"].as_array().expect("kinds").iter().position(|word| word == kind).expect("a kind");
    key["enumDescriptions"][location].as_str().expect("a text").to_owned()
}

#[test]
fn the_reference_has_the_names_that_generators_give() {
    let link = "link = { rate = \"10 Mbit/s\", delay = \"1 ms\" }";
    let middle = "bottleneck = { rate = \"10 Mbit/s\", delay = \"1 ms\" }";
    for (kind, keys) in [
        ("dumbbell", format!("pairs = 2\n{middle}")),
        ("parking_lot", format!("hops = 2\n{middle}")),
        ("star", format!("leaves = 2\n{link}")),
        ("chain", format!("hops = 2\n{link}")),
        ("tree", format!("arity = 2\ndepth = 2\n{link}")),
        ("random", format!("nodes = 4\nedges = 4\n{link}")),
    ] {
        let text = format!("[topology]\nkind = \"{kind}\"\n{keys}\n[[flows]]\nname = \"none\"\ncount = 0\n");
        let scenario = lab::load(&text, "test.toml").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
        let blueprint = scenario.plan(None).expect("it was loaded").blueprint.clone();
        let messages = documented(kind);
        let first = |name: &str| {
            let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
            if stem.len() == name.len() { format!("`{name}`") } else { format!("`{stem}1`") }
        };
        for node in &blueprint.nodes {
            assert!(messages.contains(&first(node)), "{kind}: {node}: {messages}");
        }
        for spec in &blueprint.links {
            let as_node = blueprint.nodes.contains(&spec.name) && messages.contains("named after");
            let as_nodes = spec.name.contains('-') && messages.contains("two nodes");
            assert!(
                as_node || as_nodes || messages.contains(&first(&spec.name)),
                "{kind}: {}: {messages}",
                spec.name
            );
        }
    }
}

#[test]
fn a_flow_counts_all_its_drops_by_reason_and_a_link_those_that_happen_at_it() {
    let text = "duration = \"5 s\"\n[topology]\nkind = \"custom\"\nlinks = [\n\
        { name = \"ab\", ends = [\"a\", \"b\"], rate = \"2 Mbit/s\", delay = \"5 ms\", buffer = \"5 packets\" },\n\
        { name = \"bc\", ends = [\"b\", \"c\"], rate = \"1500 kbit/s\", delay = \"50 ms\", buffer = \"5 packets\" },\n]\n\
        [[flows]]\nname = \"f\"\nfrom = \"a\"\nto = \"c\"\nsource = { kind = \"constant\", rate = \"1800 kbit/s\" }\n\
        [[events]]\nat = \"3 s\"\nlink = \"bc\"\nup = false\n";
    let scenario = lab::load(text, "test").unwrap_or_else(|diagnostics| panic!("{diagnostics}"));
    let plan = scenario.plan(None).expect("loaded means planned");
    let report = lab::run(&plan, &sim::Control::default()).report;
    let value = |key: &str| report.value(key).unwrap_or_else(|| panic!("{key}"));
    for reason in ["queue_full", "link_down"] {
        assert!(value(&format!("flow.f.drops_{reason}")) > 0.0, "{reason}");
        assert_eq!(
            value(&format!("flow.f.drops_{reason}")),
            value(&format!("link.bc.drops_{reason}")),
            "{reason}"
        );
    }
    // 450 packets of 1000 bytes in two seconds have no route at a, and at b those that were on link ab: at most two in
    // 9 ms
    assert!((450.0..=452.0).contains(&value("flow.f.drops_no_route")), "{}", value("flow.f.drops_no_route"));
    assert_eq!(report.value("link.bc.drops_no_route"), None);
    let sum = ["queue_full", "early", "random_loss", "link_down", "no_route", "hop_limit"]
        .map(|reason| value(&format!("flow.f.drops_{reason}")));
    assert_eq!(sum.iter().sum::<f64>(), value("flow.f.drops"));
}

const CLOS: &str = "link = { rate = \"1 Gbit/s\", delay = \"10 us\" }";

/// Links per node.
fn degrees(plan: &Plan) -> Vec<usize> {
    let mut degrees = vec![0; plan.blueprint.nodes.len()];
    for link in &plan.blueprint.links {
        degrees[link.ends.0.index()] += 1;
        degrees[link.ends.1.index()] += 1;
    }
    degrees
}

/// The number of shortest paths between two nodes, counted wave by wave.
fn shortest_paths(plan: &Plan, from: &str, to: &str) -> u64 {
    let node = |name: &str| plan.blueprint.nodes.iter().position(|known| known == name).expect("it is there");
    let (from, to) = (node(from), node(to));
    let mut paths = vec![0u64; plan.blueprint.nodes.len()];
    paths[from] = 1;
    let mut reached: Vec<bool> = paths.iter().map(|count| *count > 0).collect();
    while paths[to] == 0 {
        let mut next = vec![0u64; paths.len()];
        for link in &plan.blueprint.links {
            let (a, b) = (link.ends.0.index(), link.ends.1.index());
            next[b] += if reached[b] { 0 } else { paths[a] };
            next[a] += if reached[a] { 0 } else { paths[b] };
        }
        reached.iter_mut().zip(&next).for_each(|(reached, count)| *reached |= *count > 0);
        paths = next;
    }
    paths[to]
}

#[test]
fn a_fat_tree_has_its_switches_hosts_and_paths() {
    for k in [2, 4, 8] {
        let plan = plan(&format!("kind = \"fat_tree\"\nk = {k}\n{CLOS}"), "host1", "host2");
        let named = |stem: &str| plan.blueprint.nodes.iter().filter(|name| name.starts_with(stem)).count();
        // (k/2)² cores, k pods of k/2 and k/2 switches, k³/4 hosts; every switch has k links
        let counts = ["core", "agg", "edge", "host"].map(named);
        assert_eq!(counts, [k * k / 4, k * k / 2, k * k / 2, k * k * k / 4]);
        assert_eq!(plan.blueprint.links.len(), 3 * k * k * k / 4);
        for (name, degree) in plan.blueprint.nodes.iter().zip(degrees(&plan)) {
            let expected = if name.starts_with("host") { 1 } else { k };
            assert_eq!(degree, expected, "{name} of k = {k}");
        }
        assert!(connected(&plan));
    }
    // hosts 1 and 2 share an edge switch, 1 and 3 a pod with k/2 aggregation switches; between pods there is a path
    // over each of (k/2)² cores
    let plan = plan(&format!("kind = \"fat_tree\"\nk = 8\n{CLOS}"), "host1", "host128");
    assert_eq!(shortest_paths(&plan, "host1", "host2"), 1);
    assert_eq!(shortest_paths(&plan, "host1", "host5"), 4);
    assert_eq!(shortest_paths(&plan, "host1", "host128"), 16);
}

#[test]
fn a_leaf_spine_network_has_a_path_over_each_spine() {
    let plan = plan(
        &format!(
            "kind = \"leaf_spine\"\nspines = 3\nleaves = 4\nhosts = 5\n{CLOS}\nedge = {{ rate = \"100 Mbit/s\", delay = \"5 us\" }}"
        ),
        "host1",
        "host20",
    );
    assert_eq!((plan.blueprint.nodes.len(), plan.blueprint.links.len()), (3 + 4 + 20, 12 + 20));
    assert_eq!(shortest_paths(&plan, "host1", "host20"), 3);
    assert_eq!(shortest_paths(&plan, "host1", "host5"), 1);
    let link = |name: &str| plan.blueprint.links.iter().find(|link| link.name == name).expect("it is there");
    assert_eq!(link("spine3-leaf4").forward.rate, Rate::from_mbps(1000));
    assert_eq!(link("host20").forward.rate, Rate::from_mbps(100));
    let ends = link("host6").ends;
    let name = |id: contract::NodeId| plan.blueprint.nodes[id.index()].as_str();
    assert_eq!((name(ends.0), name(ends.1)), ("leaf2", "host6"));
}

/// Data packets of each link from a core switch down.
fn core_loads(text: &str) -> Vec<u64> {
    let plan = lab::load(text, "test.toml").unwrap_or_else(|error| panic!("{error}")).plan(None);
    let plan = plan.expect("loaded means planned");
    let trace = lab::run(&plan, &Control::default()).trace;
    let links = plan.blueprint.links.iter().enumerate();
    let down = links.filter(|(_, link)| link.name.starts_with("core"));
    down.map(|(i, _)| trace.ports[2 * i].sent_packets).collect()
}

fn many_flows(routing: &str, flows: u32) -> String {
    format!(
        "duration = \"1100 ms\"\n[topology]\nkind = \"fat_tree\"\nk = 4\n\
         link = {{ rate = \"1 Gbit/s\", delay = \"10 us\", buffer = \"10000 packets\" }}\n{routing}\n\
         [[flows]]\nname = \"f\"\ncount = {flows}\nfrom = \"host1\"\nto = \"host16\"\n\
         source = {{ kind = \"constant\", rate = \"8 kbit/s\" }}\n"
    )
}

#[test]
fn equal_paths_share_many_flows_evenly_and_a_flow_keeps_to_one() {
    // a packet of each of 2000 flows at 0 s and another at 1 s, over four cores: 1000 per core, with a deviation of
    // √(2000 · ¼ · ¾) = 19 flows of two packets each, of which four are allowed
    let loads: Vec<u64> = core_loads(&many_flows("", 2000)).into_iter().filter(|sent| *sent > 0).collect();
    assert_eq!((loads.len(), loads.iter().sum::<u64>()), (4, 4000));
    assert!(loads.iter().all(|sent| (844..=1156).contains(sent)), "{loads:?}");
    assert!(
        loads.iter().all(|sent| sent.is_multiple_of(2)),
        "both packets of a flow take one path: {loads:?}"
    );
    // another seed is another choice, of the same kind
    let other = core_loads(&many_flows("[routing]\necmp_seed = 7", 2000));
    assert!(other.iter().filter(|sent| **sent > 0).all(|sent| (844..=1156).contains(sent)), "{other:?}");
    assert_ne!(other.into_iter().filter(|sent| *sent > 0).collect::<Vec<_>>(), loads);
    // one flow takes one core
    assert_eq!(core_loads(&many_flows("", 1)).into_iter().filter(|sent| *sent > 0).collect::<Vec<_>>(), [2]);
}

/// The rates in Mbit/s and delays of both directions of a link.
fn directions(plan: &Plan, name: &str) -> [(u64, u64); 2] {
    let link = plan.blueprint.links.iter().find(|link| link.name == name);
    let link = link.unwrap_or_else(|| panic!("no link {name}"));
    [&link.forward, &link.backward]
        .map(|port| (port.rate.as_bps() / 1_000_000, port.delay.as_nanos() / 1_000_000))
}

/// In every generator a link that `links` names has the keys that are written there, and all others those of its
/// template; no other link changes.
#[test]
fn a_link_of_every_generator_can_differ_from_its_template() {
    let graph = format!("kind = \"graphml\"\nfile = \"triangle.graphml\"\nrate_from_file = true\n{LINK}");
    let distant = "kind = \"graphml\"\nfile = \"triangle.graphml\"\ndelay_by_distance = true\nlink = { rate = \"10 Mbit/s\" }";
    // the rate of the second one is that of the file
    let graph_links = ["Old_Town_2-2", "Old_Town-Old_Town_2"];
    let bottleneck = "bottleneck = { rate = \"10 Mbit/s\", delay = \"5 ms\" }";
    let cases = [
        (
            format!("kind = \"dumbbell\"\npairs = 2\n{bottleneck}"),
            "left1",
            "right1",
            ["bottleneck", "right2"],
        ),
        (format!("kind = \"parking_lot\"\nhops = 2\n{bottleneck}"), "left", "right", ["hop2", "in1"]),
        (format!("kind = \"star\"\nleaves = 3\n{LINK}"), "leaf1", "leaf2", ["leaf1", "leaf3"]),
        (format!("kind = \"chain\"\nhops = 2\n{LINK}"), "node1", "node3", ["link1", "link2"]),
        (format!("kind = \"tree\"\narity = 2\ndepth = 2\n{LINK}"), "root", "leaf4", ["inner1", "leaf4"]),
        (format!("kind = \"fat_tree\"\nk = 2\n{LINK}"), "host1", "host2", ["core1-agg1", "host2"]),
        (
            format!("kind = \"leaf_spine\"\nspines = 2\nleaves = 2\nhosts = 1\n{LINK}"),
            "host1",
            "host2",
            ["spine1-leaf2", "host1"],
        ),
        (format!("kind = \"random\"\nnodes = 4\nedges = 6\n{LINK}"), "n1", "n4", ["n1-n2", "n3-n4"]),
        (graph, "Old_Town", "2", graph_links),
        (distant.to_owned(), "Old_Town", "2", graph_links),
    ];
    for (topology, from, to, names) in cases {
        let before = plan(&topology, from, to);
        let [first, second] = names;
        let changed = format!(
            "{topology}\nlinks = [{{ name = \"{first}\", rate = \"3 Mbit/s\", backward = {{ delay = \"70 ms\" }} }}, \
             {{ name = \"{second}\", delay = \"9 ms\", loss = 0.25, buffer = \"7 packets\", queue = \"pie\" }}]"
        );
        let after = plan(&changed, from, to);
        let [(_, delay), _] = directions(&before, first);
        assert_eq!(directions(&after, first), [(3, delay), (3, 70)], "{topology}");
        let [(there, _), (back, _)] = directions(&before, second);
        assert_eq!(directions(&after, second), [(there, 9), (back, 9)], "{topology}");
        let of = |plan: &Plan, name: &str| {
            plan.blueprint.links.iter().find(|link| link.name == name).expect("it is there").clone()
        };
        for port in [of(&after, second).forward, of(&after, second).backward] {
            assert_eq!((port.loss, port.queue.limit), (0.25, sim::Limit::Packets(7)), "{topology}");
            assert!(port.queue.discipline.is_some(), "{topology}");
        }
        assert_eq!(before.blueprint.links.len(), after.blueprint.links.len());
        for link in before.blueprint.links.iter().filter(|link| !names.contains(&link.name.as_str())) {
            assert_eq!(&of(&after, &link.name), link, "{topology}");
        }
        // the printed plan gives the same plan
        let again = lab::load(&after.to_toml(), "plan").unwrap_or_else(|e| panic!("{e}"));
        assert_eq!(again.plan(None).expect("loaded").blueprint.links, after.blueprint.links);
    }
}

/// A pattern changes all links that it matches, and a later entry some of them again.
#[test]
fn links_that_differ_are_named_by_patterns_too() {
    let topology = format!(
        "kind = \"star\"\nleaves = 12\n{LINK}\nlinks = [{{ name = \"leaf1*\", rate = \"2 Mbit/s\" }}, \
         {{ name = \"leaf12\", delay = \"1 ms\" }}, {{ name = \"leaf11\", rate = \"1 Mbit/s\" }}]"
    );
    let plan = plan(&topology, "leaf1", "leaf2");
    let of = |name| directions(&plan, name)[0];
    assert_eq!(
        ["leaf1", "leaf2", "leaf10", "leaf11", "leaf12"].map(of),
        [(2, 5), (10, 5), (2, 5), (1, 5), (2, 1)]
    );
}
