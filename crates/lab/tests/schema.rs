//! The JSON Schema says what the loader reads.

use serde_json::Value;

fn definitions(schema: &Value) -> &serde_json::Map<String, Value> {
    schema["$defs"].as_object().expect("tables are definitions")
}

#[test]
fn every_key_has_a_description_and_every_reference_leads_somewhere() {
    let schema = lab::schema();
    let tables = std::iter::once(&schema).chain(definitions(&schema).values());
    for table in tables {
        assert_eq!(table["additionalProperties"], Value::Bool(false));
        for (key, property) in table["properties"].as_object().expect("tables have keys") {
            assert!(property["description"].as_str().is_some_and(|text| !text.is_empty()), "{key}");
        }
    }
    let text = schema.to_string();
    for reference in text.split("\"$ref\":\"").skip(1) {
        let target = reference.split('"').next().expect("a string ends");
        let name = target.strip_prefix("#/$defs/").expect("references are local");
        assert!(definitions(&schema).contains_key(name), "{name}");
    }
}

#[test]
fn the_keys_of_every_scenario_are_in_the_schema() {
    let schema = lab::schema();
    let folder = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../../scenarios");
    for entry in std::fs::read_dir(folder).expect("the folder is at the root") {
        let path = entry.expect("an entry of the folder").path();
        if path.extension().is_none_or(|ending| ending != "toml") {
            continue;
        }
        let scenario =
            lab::load_bytes(&std::fs::read(&path).expect("just listed"), "s").expect("it is right");
        let plan = scenario.plan(None).expect("loaded means planned");
        let written = serde_json::to_value(scenario.tree()).expect("plain values");
        for tree in [written, plan.to_json()] {
            check(&tree, &schema, &schema, &path.display().to_string());
        }
    }
}

/// Whether the keys of a tree are properties of its schema, as far as there are properties.
fn check(tree: &Value, schema: &Value, root: &Value, at: &str) {
    let schema = resolved(schema, root);
    match tree {
        Value::Object(map) => {
            let Some(properties) = schema["properties"].as_object() else { return };
            for (key, value) in map {
                let property = properties.get(key).unwrap_or_else(|| panic!("{at}.{key}"));
                check(value, property, root, &format!("{at}.{key}"));
            }
        }
        Value::Array(items) => {
            for item in items {
                check(item, &schema["items"], root, at);
            }
        }
        _ => {}
    }
}

fn resolved<'a>(schema: &'a Value, root: &'a Value) -> &'a Value {
    let inner = schema["allOf"].get(0).unwrap_or(schema);
    match inner["$ref"].as_str() {
        Some(target) => &root["$defs"][target.trim_start_matches("#/$defs/")],
        None => inner,
    }
}
