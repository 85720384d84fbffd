//! The JSON Schema of scenario files, from the tables that the loader reads and the parameters of the catalogue.

use contract::{ParamInfo, ParamKind};
use schemars::generate::SchemaSettings;
use serde_json::{Map, Value, json};

use crate::file::File;

/// Keys without which a table says nothing; the empty name is the scenario itself.
const REQUIRED: &[(&str, &[&str])] = &[
    ("", &["topology", "flows"]),
    ("Topology", &["kind"]),
    ("Flow", &["name"]),
    ("TargetTable", &["node"]),
    ("NodeTable", &["name"]),
    ("Route", &["at", "to", "via"]),
    ("Churn", &["on", "off"]),
    ("Arrivals", &["rate", "size"]),
    ("Source", &["kind", "rate"]),
    ("Event", &["at"]),
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
    // a flow's parameters are those of its scheme
    let of_schemes: Vec<Value> = schemes::catalogue()
        .iter()
        .map(|entry| {
            let params: Map<String, Value> =
                (entry.params)().iter().map(|info| (info.name.to_owned(), param(info))).collect();
            json!({
                "if": { "properties": { "scheme": { "const": entry.scheme.name } }, "required": ["scheme"] },
                "then": { "properties": { "params": { "properties": params, "additionalProperties": false } } },
            })
        })
        .collect();
    schema["$defs"]["Flow"]["allOf"] = Value::Array(of_schemes);
    schema
}

/// A parameter of a scheme.
fn param(info: &ParamInfo) -> Value {
    let value = |param: &contract::ParamValue| match param {
        contract::ParamValue::Float(x) => json!(x),
        contract::ParamValue::Int(x) => json!(x),
        contract::ParamValue::Bool(x) => json!(x),
        contract::ParamValue::Text(x) => json!(x),
    };
    let mut schema = match info.kind {
        ParamKind::Number => json!({ "type": "number" }),
        ParamKind::Count => json!({ "type": "integer" }),
        ParamKind::Switch => json!({ "type": "boolean" }),
        ParamKind::Time | ParamKind::Rate | ParamKind::Size => json!({ "type": "string" }),
        ParamKind::Choice(words) => json!({ "type": "string", "enum": words }),
    };
    schema["description"] = info.doc.clone().into();
    schema["default"] = value(&info.default);
    if let (Some((low, high)), ParamKind::Number | ParamKind::Count) = (&info.range, info.kind) {
        schema["minimum"] = value(low);
        schema["maximum"] = value(high);
    }
    schema
}
