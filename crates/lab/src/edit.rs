//! One value of a scenario's text changed, everything else left as it is written.

use toml_edit::{DocumentMut, Item, Table, TableLike, Value};

use crate::read::{nearest, suggestion};

type Refusal = (String, Option<String>);

/// In the place of an entry's name: each entry of the list.
const EACH: &str = "*";

/// The text with `key` set to `value`. The error is a message and a hint.
pub(crate) fn set(text: &str, key: &str, value: &toml::Value) -> Result<String, Refusal> {
    let mut document: DocumentMut =
        text.parse().map_err(|error: toml_edit::TomlError| (error.to_string(), None))?;
    let value: Value =
        value.to_string().parse().map_err(|error: toml_edit::TomlError| (error.to_string(), None))?;
    let parts: Vec<&str> = key.split('.').collect();
    if parts.iter().any(|part| part.is_empty()) {
        return Err((
            format!("`{key}` is not a dotted key"),
            Some("write it as topology.bottleneck.rate".to_owned()),
        ));
    }
    place(document.as_item_mut(), &parts, key, value)?;
    Ok(document.to_string())
}

/// The text without its sweep.
pub(crate) fn without_sweep(text: &str) -> String {
    match text.parse::<DocumentMut>() {
        Ok(mut document) => {
            document.remove("sweep");
            document.to_string()
        }
        Err(_) => text.to_owned(),
    }
}

/// Puts the value at the end of `parts` below `item`; tables that are not there are made.
fn place(item: &mut Item, parts: &[&str], key: &str, value: Value) -> Result<(), Refusal> {
    let Some((first, rest)) = parts.split_first() else {
        *item = Item::Value(value);
        return Ok(());
    };
    if let Some(tables) = item.as_array_of_tables_mut() {
        if *first == EACH && !tables.is_empty() {
            return tables.iter_mut().try_for_each(|table| place_in(table, rest, key, value.clone()));
        }
        let names: Vec<String> = tables.iter().map(|table| name_of(table)).collect();
        let (at, used) = entry(&names, parts, key)?;
        let table = tables.get_mut(at).ok_or_else(|| gone(key))?;
        return place_in(table, &parts[used..], key, value);
    }
    if let Some(list) = item.as_array_mut() {
        let all_tables = !list.is_empty() && list.iter().all(Value::is_inline_table);
        if *first == EACH && all_tables {
            let tables = list.iter_mut().filter_map(Value::as_inline_table_mut);
            return tables.into_iter().try_for_each(|table| place_in(table, rest, key, value.clone()));
        }
        let names: Vec<String> = list
            .iter()
            .map(|value| match value {
                Value::InlineTable(table) => name_of(table),
                Value::String(text) => text.value().clone(),
                _ => String::new(),
            })
            .collect();
        let (at, used) = entry(&names, parts, key)?;
        let inner = list.get_mut(at).ok_or_else(|| gone(key))?;
        return match inner {
            Value::InlineTable(table) => place_in(table, &parts[used..], key, value),
            whole if parts.len() == used => {
                *whole = value;
                Ok(())
            }
            _ => Err((format!("`{key}`: there is nothing below `{}`", parts[..used].join(".")), None)),
        };
    }
    match item.as_table_like_mut() {
        Some(table) => place_in(table, parts, key, value),
        None => Err((
            format!("`{key}`: `{first}` is below a value, not a table"),
            rest.first().map(|_| "shorten the key".to_owned()),
        )),
    }
}

fn place_in(table: &mut dyn TableLike, parts: &[&str], key: &str, value: Value) -> Result<(), Refusal> {
    let Some((first, rest)) = parts.split_first() else {
        return Err((format!("`{key}` names a whole table"), Some("name a value in it".to_owned())));
    };
    if *first == "expect" || *first == "sweep" {
        // their keys are dotted themselves
        let name = rest.join(".");
        let made = table.entry(first).or_insert(Item::Table(Table::new()));
        return match made.as_table_like_mut() {
            Some(inner) if !name.is_empty() => {
                inner.insert(&name, Item::Value(value));
                Ok(())
            }
            _ => Err((format!("`{key}` names a whole table"), Some("name a value in it".to_owned()))),
        };
    }
    if rest.is_empty() {
        table.insert(first, Item::Value(value));
        return Ok(());
    }
    let inner = table.entry(first).or_insert_with(|| Item::Value(Value::InlineTable(Default::default())));
    place(inner, rest, key, value)
}

fn name_of(table: &dyn TableLike) -> String {
    ["name", "node"].iter().find_map(|key| table.get(key)?.as_str()).unwrap_or_default().to_owned()
}

/// Which entry of a list the parts name, and how many parts that takes: a name, which may have dots, or a number.
fn entry(names: &[String], parts: &[&str], key: &str) -> Result<(usize, usize), Refusal> {
    for used in (1..=parts.len()).rev() {
        let name = parts[..used].join(".");
        if let Some(at) = names.iter().position(|known| *known == name) {
            return Ok((at, used));
        }
    }
    let first = parts.first().copied().unwrap_or_default();
    if let Ok(at) = first.parse::<usize>()
        && at < names.len()
    {
        return Ok((at, 1));
    }
    let known = names.iter().map(String::as_str).filter(|name| !name.is_empty());
    let hint = match nearest(first, known.clone()) {
        Some(near) => Some(format!("did you mean `{near}`?")),
        None => suggestion(first, known.collect::<Vec<_>>()),
    };
    Err((format!("`{key}`: no entry is called `{first}`"), hint))
}

fn gone(key: &str) -> Refusal {
    (format!("`{key}` names nothing"), None)
}
