//! The text of a scenario: as given, or generated on request.

use std::sync::{Arc, OnceLock};

use toml_edit::{DocumentMut, InlineTable, Item, Table, TableLike, Value};

use crate::schema::tree::Step;

/// Where the text of a scenario comes from.
#[derive(Debug)]
pub(crate) struct Source {
    origin: Origin,
    text: OnceLock<Arc<str>>,
}

#[derive(Debug)]
enum Origin {
    Present,
    Values(toml::Table),
    Changed(Arc<Source>, Vec<Change>),
}

/// A change of a scenario's text.
#[derive(Clone, Debug)]
pub(crate) enum Change {
    Put(Vec<Step>, toml::Value),
    Remove(&'static str),
}

impl Source {
    /// A text.
    pub(crate) fn from_text(text: Arc<str>) -> Self {
        Self { origin: Origin::Present, text: OnceLock::from(text) }
    }

    /// Values without a text.
    pub(crate) fn values(values: toml::Table) -> Self {
        Self { origin: Origin::Values(values), text: OnceLock::new() }
    }

    /// Another source with some changes.
    pub(crate) fn changed(from: &Arc<Self>, changes: Vec<Change>) -> Self {
        // the changes of a change belong to what was changed first
        let (from, changes) = match &from.origin {
            Origin::Changed(first, earlier) => (first, earlier.iter().cloned().chain(changes).collect()),
            _ => (from, changes),
        };
        Self { origin: Origin::Changed(from.clone(), changes), text: OnceLock::new() }
    }

    /// Whether places of the tree are places of the text.
    pub(crate) fn is_given(&self) -> bool {
        matches!(self.origin, Origin::Present)
    }

    /// The text. Unchanged parts keep their form and comments.
    pub(crate) fn text(&self) -> &Arc<str> {
        self.text.get_or_init(|| match &self.origin {
            Origin::Present => unreachable!("a given text is there"),
            Origin::Values(values) => toml::to_string(values)
                .expect("text, numbers, switches, lists and tables can be written")
                .into(),
            Origin::Changed(from, changes) => changed(from.text(), changes).into(),
        })
    }
}

/// The text with some changes, everything else left as it is written.
fn changed(text: &str, changes: &[Change]) -> String {
    let Ok(mut document) = text.parse::<DocumentMut>() else { return text.to_owned() };
    for change in changes {
        match change {
            Change::Put(path, value) => {
                let value = value.to_string().parse().expect("a value reads back");
                put(document.as_item_mut(), path, value);
            }
            Change::Remove(key) => {
                document.remove(key);
            }
        }
    }
    document.to_string()
}

/// Puts the value at the end of `path` below `item`; tables that are not there are made.
fn put(item: &mut Item, path: &[Step], value: Value) {
    match path.split_first() {
        None => *item = Item::Value(value),
        Some((Step::Key(key), rest)) => {
            if let Some(table) = item.as_table_like_mut() {
                put_in(table, key, rest, value);
            }
        }
        Some((Step::Entry(at), rest)) => {
            if let Some(table) = item.as_array_of_tables_mut().and_then(|tables| tables.get_mut(*at)) {
                if let Some((Step::Key(key), rest)) = rest.split_first() {
                    put_in(table, key, rest, value);
                }
            } else if let Some(inner) = item.as_array_mut().and_then(|list| list.get_mut(*at)) {
                match (inner, rest.split_first()) {
                    (Value::InlineTable(table), Some((Step::Key(key), rest))) => {
                        put_in(table, key, rest, value);
                    }
                    (whole, _) => *whole = value,
                }
            }
        }
    }
}

fn put_in(table: &mut dyn TableLike, key: &str, rest: &[Step], value: Value) {
    if rest.is_empty() {
        table.insert(key, Item::Value(value));
        return;
    }
    let made = || match key {
        "expect" | "sweep" => Item::Table(Table::new()),
        _ => Item::Value(Value::InlineTable(InlineTable::new())),
    };
    put(table.entry(key).or_insert_with(made), rest, value);
}
