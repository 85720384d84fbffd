//! The JSON Schema of scenario files, from the tables that the loader reads and the parameters of the catalogue.

use contract::ParamInfo;
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};
use stack::ndn;

use crate::schema::file::{File, Kind};
use crate::schema::params::param_schema;

/// Required keys by table; the empty name is the scenario itself.
const REQUIRED: &[(&str, &[&str])] = &[
    ("", &["topology", "flows"]),
    ("Topology", &["kind"]),
    ("Flow", &["name"]),
    ("Member", &["node"]),
    ("NetworkNode", &["name"]),
    ("Route", &["at", "to", "via"]),
    ("Clock", &["node"]),
    ("Churn", &["on", "off"]),
    ("Arrivals", &["rate", "size"]),
    ("ModelTrace", &["model"]),
    ("Bursts", &["to_bad", "to_good"]),
    ("Source", &["kind"]),
    ("Event", &["at"]),
    ("NodeStore", &["node"]),
    ("NameRoute", &["at", "prefix", "via"]),
    ("Producer", &["prefix", "node"]),
];

/// The JSON Schema (draft 2020-12) of a scenario, so that editors complete and check files.
pub fn schema() -> Value {
    let mut schema =
        SchemaSettings::draft2020_12().into_generator().into_root_schema_for::<File>().to_value();
    schema["title"] = "Thalweg scenario".into();
    for (table, keys) in REQUIRED {
        let table = if table.is_empty() { &mut schema } else { &mut schema["$defs"][*table] };
        table["required"] = json!(keys);
    }
    // the keys of a topology are those of its kind
    let kinds = Kind::ALL.iter().map(|kind| {
        let keys: Vec<&str> = ["kind"].iter().chain(kind.keys()).copied().collect();
        json!({
            "if": { "properties": { "kind": { "const": kind.word() } }, "required": ["kind"] },
            "then": { "propertyNames": { "enum": keys } },
        })
    });
    schema["$defs"]["Topology"]["allOf"] = kinds.collect();
    // a flow's parameters are those of its scheme, and a forwarder's those of its parts
    let catalogue = schemes::catalogue();
    let all = || catalogue.iter().map(|entry| (entry.scheme.name, (entry.params)()));
    let links = catalogue.iter().filter(|entry| entry.link.is_some());
    let strategies = catalogue.iter().filter(|entry| entry.strategy.is_some());
    let built_in = ndn::strategies::ALL.iter().map(|entry| (entry.name, (entry.params)()));
    let strategies = built_in.chain(strategies.map(|entry| (entry.scheme.name, (entry.params)())));
    let links = links.map(|entry| (entry.scheme.name, (entry.params)()));
    schema["$defs"]["Flow"]["allOf"] = all().map(|row| of("scheme", "params", row)).collect();
    schema["$defs"]["Ndn"]["allOf"] = strategies
        .map(|row| of("strategy", "strategy_params", row))
        .chain(links.map(|row| of("link", "link_params", row)))
        .collect();
    schema
}

/// Where `key` is this name, `params` has these keys.
fn of(key: &str, params: &str, (name, infos): (&str, Vec<ParamInfo>)) -> Value {
    let properties: Map<String, Value> =
        infos.iter().map(|info| (info.name.to_owned(), param_schema(info))).collect();
    json!({
        "if": { "properties": { key: { "const": name } }, "required": [key] },
        "then": { "properties": { params: { "properties": properties, "additionalProperties": false } } },
    })
}
