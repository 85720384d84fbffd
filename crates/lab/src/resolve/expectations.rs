//! Expectations: whether the result will exist, and its accepted values.

use super::setting::Setting;
use super::traffic::Traffic;
use crate::report::{METRICS, Sides, word};
use crate::schema::file::File;
use crate::schema::read::{Notes, shortened, suggestion};
use crate::schema::renames::unknown;
use crate::topology::Net;

/// Words of a key that no column has, by what stands first in the key.
const OF_A_FLOW: &[&str] = &["cov", "convergence", "power", "recovery"];
const OF_FLOWS: &[&str] = &[
    "count",
    "throughput_mean",
    "goodput_mean",
    "transfers",
    "unfinished",
    "completions",
    "fct_p50",
    "fct_p95",
    "fct_p99",
    "fairness",
    "fairness_mean",
    "fairness_min",
    "power",
    "recovery",
    "cov",
    "convergence",
];
const OF_A_RUN: &[&str] = &["packet_hops", "events_handled", "ended", "measured"];

/// That a name is no series but a column of the tables of every run, for people.
pub(super) fn column(name: &str) -> Option<String> {
    let here = |row: &&crate::Metric| row.name == name || word(row.name) == name;
    let row = METRICS.iter().filter(|row| !row.unit.is_empty()).find(here)?;
    let subject = match row.table {
        "flows" => "flow.NAME",
        "receivers" => "receiver.FLOW@NODE",
        "links" => "link.NAME",
        "nodes" => "node.NAME",
        "apps" => "app.NAME",
        _ => return None,
    };
    let word = word(row.name);
    Some(format!(
        "it is not a series but the result {subject}.{word}, which every run has: leave it out here"
    ))
}

/// Reports unknown result keys and malformed relations.
pub(super) fn check(file: &File, setting: &Setting<'_>, traffic: &Traffic, notes: &mut Notes) {
    check_relations(file, notes);
    for (key, text) in file.expect.present().map_or(&[][..], |expect| &expect.0) {
        match check_key(key, setting, traffic) {
            Err((message, hint)) => notes.wrong(key.location, message).maybe(hint),
            Ok(unit) => match Sides::read_in(text, unit) {
                Err((message, Some(hint))) => notes.wrong(text.location, message).hint(hint),
                // what is no relation at all is noted above
                _ => continue,
            },
        };
    }
}

/// Reports malformed relations, whatever their keys.
pub(super) fn check_relations(file: &File, notes: &mut Notes) {
    for (_, text) in file.expect.present().map_or(&[][..], |expect| &expect.0) {
        if let Err(message) = Sides::read(text) {
            notes
                .wrong(text.location, message)
                .hint("write \">= 0.9\", \"<= 20 ms\", \"0.9 .. 0.95\" or \"10 +- 1\"");
        }
    }
}

/// What is wrong with a key: a message, and a hint.
type Wrong = (String, Option<String>);

/// That nothing has this name, with one that is like it.
fn no(of: &str, name: &str, known: Vec<&str>) -> Wrong {
    (format!("no {of} is called `{}`", shortened(name)), suggestion(name, known))
}

/// Whether there is a receiver of this name, FLOW@NODE.
fn check_receiver(name: &str, net: &Net, traffic: &Traffic) -> Result<(), Wrong> {
    let known = || {
        let (flow, node) = name.split_once('@')?;
        let (flow, node) = (traffic.flow(flow)?, net.node(node)?);
        flow.to.iter().find(|receiver| **receiver == node)
    };
    let refused = name.split_once('@').is_some_and(|(flow, node)| {
        traffic.refused(flow) || (net.node(node).is_none() && !net.knows_all_nodes())
    });
    if known().is_none() && !refused {
        let hint = "write receiver.FLOW@NODE and a column of the table of receivers";
        return Err((format!("no receiver is called `{}`", shortened(name)), Some(hint.to_owned())));
    }
    Ok(())
}

/// Whether a node of this name forwards by name.
fn check_node(name: &str, setting: &Setting<'_>) -> Result<(), Wrong> {
    let Setting { net, icn, ndn, sdn, .. } = *setting;
    let node = net.node(name);
    let known = icn.knows(node) || node.is_some_and(|node| ndn.knows(node)) || sdn.knows(node);
    if !known && (node.is_some() || net.knows_all_nodes()) {
        let nodes = icn.nodes().chain(ndn.nodes().iter().copied()).chain(sdn.nodes());
        let of = if ndn.nodes().is_empty() {
            "node of the name-based network"
        } else {
            "node that forwards by name"
        };
        let known = nodes.map(|node| net.nodes[node.index()].as_str()).collect();
        return Err(no(of, name, known));
    }
    Ok(())
}

/// The unit of the result that has this key; the error is a message and a hint.
fn check_key(key: &str, setting: &Setting<'_>, traffic: &Traffic) -> Result<&'static str, Wrong> {
    let net = setting.net;
    let (subject, last) = key.rsplit_once('.').unwrap_or((key, ""));
    let (kind, name) = subject.split_once('.').unwrap_or((subject, ""));
    let (table, more) = match kind {
        "link" => {
            let link = name.strip_suffix(".backward").filter(|link| net.link(link).is_some()).unwrap_or(name);
            if net.link(link).is_none() && net.knows_all_links() {
                return Err((format!("no link is called `{}`", shortened(name)), net.link_hint(link)));
            }
            ("links", &[][..])
        }
        "flow" => {
            if !traffic.has_flow(name) && !traffic.refused(name) {
                if traffic.has_group(name) {
                    let message = format!("`{}` is a group of flows", shortened(name));
                    return Err((
                        message,
                        Some(format!("write flows.{name}.{last}, or flow.{name}.1.{last} for one of them")),
                    ));
                }
                return Err(no("flow", name, traffic.flow_names().collect()));
            }
            ("flows", OF_A_FLOW)
        }
        "flows" => {
            if !name.is_empty() && !traffic.has_group(name) && !traffic.refused(name) {
                return Err(no("group of flows", name, traffic.groups.keys().map(String::as_str).collect()));
            }
            ("flows", OF_FLOWS)
        }
        "receiver" => {
            check_receiver(name, net, traffic)?;
            ("receivers", &[][..])
        }
        "node" => {
            check_node(name, setting)?;
            ("nodes", &[][..])
        }
        "app" => {
            if !traffic.has_app(name) && !traffic.refused(name) {
                return Err(no("application", name, traffic.app_names().collect()));
            }
            ("apps", &[][..])
        }
        "run" if name.is_empty() => ("", OF_A_RUN),
        _ => {
            let hint = "write link.NAME.utilisation, flow.NAME.throughput, flows.fairness and the like";
            return Err((format!("`{}` is not a key of a result", shortened(key)), Some(hint.to_owned())));
        }
    };
    // a column that has no unit holds text
    let columns = || METRICS.iter().filter(|row| !row.unit.is_empty());
    let own = || columns().filter(|row| row.table == table);
    let of_summary = || columns().filter(|row| row.table == "summary" && more.contains(&word(row.name)));
    if let Some(row) = own().chain(of_summary()).find(|row| word(row.name) == last) {
        return Ok(row.unit);
    }
    let words: Vec<&str> = own().map(|row| word(row.name)).chain(more.iter().copied()).collect();
    let of = if kind == "flows" { "a group of flows".to_owned() } else { format!("a {kind}") };
    Err(unknown(last, format!("{} has no result `{}`", article(&of), shortened(last)), words))
}

/// `an app`, not `a app`.
fn article(of: &str) -> String {
    match of.strip_prefix("a ") {
        Some(rest) if rest.starts_with(['a', 'e', 'i', 'o']) => format!("an {rest}"),
        _ => of.to_owned(),
    }
}
