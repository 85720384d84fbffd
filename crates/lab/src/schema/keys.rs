//! The keys of a table: what `tables!` asks of a field, which is one key, or all keys of a table that is part of
//! another.

use schemars::{SchemaGenerator, json_schema};
use serde_json::{Map, Value as Json};

use units::{Duration, UnitText};

use crate::schema::hints::shortened;
use crate::schema::read::{At, Field, Notes, Read};
use crate::schema::tree::{Location, Node, Table, Tree, Value};

/// One key of a table ([`Field`]), or the keys of a table that is part of it. `name` is the name of the field.
pub(crate) trait Keys: Clone {
    /// Adds the names of its keys.
    fn names(name: &'static str, list: &mut Vec<&'static str>);

    /// Reads it from a table at `location`. A key in `suggested` is written with another name, which is noted already.
    fn read(
        name: &'static str,
        table: &Table,
        location: Location,
        suggested: &[&str],
        notes: &mut Notes,
    ) -> Self;

    /// Adds the keys that are written, with their values.
    fn write(&self, name: &'static str, table: &mut toml::Table);

    /// Adds the keys that are written, with their places.
    fn places(&self, name: &'static str, list: &mut Vec<(&'static str, Location)>);

    /// Adds the JSON Schema of its keys.
    fn properties(
        name: &str,
        doc: String,
        generator: &mut SchemaGenerator,
        properties: &mut Map<String, Json>,
    );

    /// Takes the keys that it lacks from `base`.
    fn over(self, base: &Self) -> Self;

    /// The keys that are written, without their places, and without those that have their default here and in `other`.
    fn beside(&self, other: &Self, defaults: &Self) -> Self;
}

impl<T: Read + Clone> Keys for Field<T> {
    fn names(name: &'static str, list: &mut Vec<&'static str>) {
        list.push(name);
    }
    fn read(name: &'static str, table: &Table, _: Location, suggested: &[&str], notes: &mut Notes) -> Self {
        match table.get(name) {
            Some(node) if is_bare_time::<T>(name, node) => {
                let written = written_number(node).unwrap_or_default();
                notes
                    .wrong(node.location, format!("`{}` has no unit", shortened(written)))
                    .hint(format!("write a number and h, min, s, ms, us or ns, such as \"{written} s\""));
                Self::Wrong
            }
            Some(node) => match T::read(node, notes) {
                Some(value) => Self::Present(At { value, location: node.location }),
                None => Self::Wrong,
            },
            None if suggested.contains(&name) => Self::Wrong,
            None => Self::Missing,
        }
    }
    fn write(&self, name: &'static str, table: &mut toml::Table) {
        if let Self::Present(at) = self {
            table.insert(name.to_owned(), at.value.to_value());
        }
    }
    fn places(&self, name: &'static str, list: &mut Vec<(&'static str, Location)>) {
        if let Self::Present(at) = self {
            list.push((name, at.location));
        }
    }
    fn properties(
        name: &str,
        doc: String,
        generator: &mut SchemaGenerator,
        properties: &mut Map<String, Json>,
    ) {
        let mut schema = T::schema(generator);
        if schema.get("$ref").is_some() {
            schema = json_schema!({ "allOf": [schema] });
        }
        schema.insert("description".to_owned(), doc.into());
        properties.insert(name.to_owned(), schema.to_value());
    }
    fn over(self, base: &Self) -> Self {
        if self.is_missing() { base.clone() } else { self }
    }
    fn beside(&self, other: &Self, defaults: &Self) -> Self {
        let value = |field: &Self| field.present().map(|at| at.value.to_value());
        let default = value(defaults);
        let usual = |field: &Self| value(field).is_none_or(|value| Some(value) == default);
        match self.present() {
            Some(at) if !(usual(self) && usual(other)) => Self::of(at.value.clone()),
            _ => Self::Missing,
        }
    }
}

/// Keys of times that are seconds rather than milliseconds.
const SECONDS: &[&str] = &["duration", "warmup", "start", "stop", "at", "start_spread"];

/// Whether the value of such a key has no unit.
fn is_bare_time<T: Read>(name: &str, node: &Node) -> bool {
    let number = || written_number(node).is_some_and(|number| number.parse::<f64>().is_ok_and(|x| x >= 1.0));
    SECONDS.contains(&name) && T::description() == Duration::WHAT && number()
}

/// A number as it is written, with quotation marks or without.
fn written_number(node: &Node) -> Option<&str> {
    match &node.value {
        Value::Text(written) | Value::Integer(_, written) | Value::Float(_, written) => Some(written.trim()),
        _ => None,
    }
}

/// The value of a default, which is declared as it would be written.
pub(crate) fn default_value<T: Read>(written: &str) -> T {
    let table = format!("it = {written}").parse().expect("a default is written as TOML");
    let tree = Tree::of_values(&table);
    let node = tree.root.get("it").expect("the table has this key");
    T::read(node, &mut Notes::default()).expect("a default is a value of its key")
}

/// The first sentence of a description.
pub(crate) fn brief(text: &str) -> String {
    text.split_once(". ").map_or_else(|| text.to_owned(), |(first, _)| format!("{first}."))
}

/// The description of a key: its doc comment, and its default as it is written.
pub(crate) fn described(lines: &[&str], default: Option<&&str>) -> String {
    let text = lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ");
    match default {
        None => text,
        Some(&("{}" | "[]")) => format!("{text} Default: none."),
        Some(written) => format!("{text} Default: {}.", written.trim_matches('"')),
    }
}
