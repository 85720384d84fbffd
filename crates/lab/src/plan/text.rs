//! A table as TOML that people read, with one node, link or route per line.

use std::fmt::Write;

use toml::{Table, Value};

/// The table as text.
pub(super) fn of(table: &Table) -> String {
    let mut out = String::new();
    let empty = |value: &Value| value.as_array().is_some_and(Vec::is_empty);
    // keys without a table of their own come first
    for (name, value) in table.iter().filter(|(_, value)| empty(value)) {
        line(&mut out, name, value);
    }
    for (name, value) in table {
        match value {
            _ if empty(value) => {}
            Value::Table(table) => {
                let _ = write!(out, "\n[{name}]\n");
                for (key, inner) in table {
                    line(&mut out, key, inner);
                }
            }
            Value::Array(items) => {
                for item in items {
                    let _ = write!(out, "\n[[{name}]]\n");
                    for (key, inner) in item.as_table().into_iter().flatten() {
                        line(&mut out, key, inner);
                    }
                }
            }
            _ => line(&mut out, name, value),
        }
    }
    out
}

/// One key; a list of tables has one table per line.
fn line(out: &mut String, key: &str, value: &Value) {
    let bare = !key.is_empty() && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_' || c == '-');
    let key = if bare { key.to_owned() } else { Value::from(key).to_string() };
    let _ = match value {
        Value::Array(items) if items.iter().any(Value::is_table) => {
            let rows: String = items.iter().map(|item| format!("  {item},\n")).collect();
            write!(out, "{key} = [\n{rows}]\n")
        }
        _ => writeln!(out, "{key} = {value}"),
    };
}
