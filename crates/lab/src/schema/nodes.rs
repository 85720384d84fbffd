//! Nodes of a network and members of groups: their tables, and the lists that have names or tables.

use std::sync::Arc;

use schemars::{Schema, SchemaGenerator, json_schema};

use crate::schema::bounds::share_of;
use crate::schema::read::{At, Field, MAX, Notes, Read, kind_of, mismatch, tables};
use crate::schema::traffic::Churn;
use crate::schema::tree::{Node, Value};
use crate::schema::values::Instant;

tables! {
    /// A node and its position in pictures.
    pub(crate) struct NetworkNode = "a node" {
        /// Its name.
        name: String,
        /// Horizontal position, from 0 (left) to 1 (right).
        x: f64 where share_of(0.0, 1.0),
        /// Vertical position, from 0 (top) to 1 (bottom).
        y: f64 where share_of(0.0, 1.0),
    }

    /// A receiver of a group with its own join and leave times.
    pub(crate) struct Member = "a receiver" {
        /// Its node, or a pattern such as "leaf*".
        node: String,
        /// Join time. Default: 0 s.
        start: Instant,
        /// Leave time. Default: the end of the run.
        stop: Instant,
        /// It leaves and joins at random times.
        churn: Arc<Churn>,
    }
}

/// How many nodes, or which.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Nodes {
    Count(u32),
    List(Vec<At<NetworkNode>>),
}

impl Read for Nodes {
    fn description() -> String {
        "a list of nodes, or their number".to_owned()
    }
    fn example() -> String {
        "[\"a\", \"b\"] or 20".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        match &node.value {
            Value::Integer(..) => u32::read(node, notes).map(Self::Count),
            Value::List(items) => {
                let mut list = Vec::new();
                for item in items.iter() {
                    let location = item.location;
                    let node = match &item.value {
                        Value::Text(name) => Some(NetworkNode {
                            location,
                            name: Field::Present(At { value: name.to_string(), location }),
                            ..NetworkNode::default()
                        }),
                        Value::Table(_) => NetworkNode::read(item, notes),
                        _ => {
                            notes
                                .wrong(location, format!("expected a node, found {}", kind_of(item)))
                                .hint("write its name, such as \"a\"");
                            None
                        }
                    };
                    list.extend(node.map(|value| At { value, location }));
                }
                Some(Self::List(list))
            }
            _ => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        match self {
            Self::Count(count) => count.to_value(),
            Self::List(list) => {
                list.iter().map(|node| name_or("name", node.to_table())).collect::<Vec<_>>().into()
            }
        }
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let table = NetworkNode::schema(generator);
        json_schema!({ "anyOf": [
            { "type": "integer", "minimum": 1, "maximum": MAX },
            { "type": "array", "items": { "anyOf": [{ "type": "string" }, table] } },
        ] })
    }
}

/// A table, or its name where it has nothing else.
fn name_or(key: &str, table: toml::Table) -> toml::Value {
    match table.get(key) {
        Some(name) if table.len() == 1 => name.clone(),
        _ => table.into(),
    }
}

/// One receiver, or a list.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Targets {
    pub(crate) list: Vec<At<Member>>,
    /// Whether it was written as a list.
    pub(crate) listed: bool,
}

impl Read for Targets {
    fn description() -> String {
        "a node or a list of nodes".to_owned()
    }
    fn example() -> String {
        "\"b\" or [\"d1\", \"d2\"]".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        match &node.value {
            Value::List(items) => {
                let list = items.iter().filter_map(|item| target(item, notes)).collect();
                Some(Self { list, listed: true })
            }
            Value::Text(_) | Value::Table(_) => {
                target(node, notes).map(|one| Self { list: vec![one], listed: false })
            }
            _ => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        let mut list: Vec<_> = self.list.iter().map(|target| name_or("node", target.to_table())).collect();
        if self.listed || list.len() != 1 { list.into() } else { list.remove(0) }
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let table = Member::schema(generator);
        json_schema!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "anyOf": [{ "type": "string" }, table] } },
        ] })
    }
}

fn target(item: &Node, notes: &mut Notes) -> Option<At<Member>> {
    let location = item.location;
    let value = match &item.value {
        Value::Text(name) => Member {
            location,
            node: Field::Present(At { value: name.to_string(), location }),
            ..Member::default()
        },
        _ => Member::read(item, notes)?,
    };
    Some(At { value, location })
}
