//! Parameters of schemes, of parts of forwarders and of queue disciplines: as written, and checked against their table.

use contract::{ParamInfo, ParamKind, ParamList, ParamValue};
use schemars::{Schema, SchemaGenerator, json_schema};
use schemes::Resolve;
use serde_json::{Value as Json, json};

use crate::schema::hints::{meant_number, meant_switch};
use crate::schema::read::{At, Notes, Read, kind_of, mismatch, shortened};
use crate::schema::renames::unknown;
use crate::schema::tree::{Entry, Node, Value};

/// Parameters of a scheme, or of another part that has some, as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Params(pub(crate) Vec<(At<String>, At<ParamValue>)>);

impl Read for Params {
    fn description() -> String {
        "a table of parameters".to_owned()
    }
    fn example() -> String {
        "{ beta = 0.7 }".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Some(table) = node.table() else { return mismatch(node, notes) };
        Some(Self::of(table.iter(), notes))
    }
    fn to_value(&self) -> toml::Value {
        let table: toml::Table =
            self.0.iter().map(|(name, value)| (name.value.clone(), plain(&value.value))).collect();
        table.into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": { "type": ["number", "string", "boolean"] } })
    }
}

impl Params {
    /// The entries of a table.
    pub(crate) fn of<'a>(entries: impl Iterator<Item = &'a Entry>, notes: &mut Notes) -> Self {
        let mut list = Vec::new();
        for Entry { key, location, node: item } in entries {
            let read = match &item.value {
                Value::Text(text) => Some(ParamValue::Text(text.to_string())),
                Value::Bool(switch) => Some(ParamValue::Bool(*switch)),
                Value::Integer(whole, _) => whole.map(ParamValue::Int),
                Value::Float(read, _) => Some(*read).filter(|read| read.is_finite()).map(ParamValue::Float),
                _ => None,
            };
            let Some(read) = read else {
                notes.wrong(
                    item.location,
                    format!("expected a number, a text or true or false, found {}", kind_of(item)),
                );
                continue;
            };
            let name = At { value: key.to_string(), location: *location };
            list.push((name, At { value: read, location: item.location }));
        }
        Self(list)
    }

    /// Names and values.
    pub(crate) fn list(&self) -> ParamList {
        self.0.iter().map(|(name, value)| (name.value.clone(), value.value.clone())).collect()
    }

    /// Those that are not default.
    pub(crate) fn changed(&self, infos: &[ParamInfo]) -> ParamList {
        let defaults = |name: &str, value: &ParamValue| {
            infos.iter().any(|info| info.name == name && info.default == *value)
        };
        let changed = self.0.iter().filter(|(name, value)| !defaults(name, value));
        changed.map(|(name, value)| (name.value.clone(), value.value.clone())).collect()
    }
}

/// The value of a parameter, as it is written.
pub(crate) fn plain(value: &ParamValue) -> toml::Value {
    match value {
        ParamValue::Float(number) => (*number).into(),
        ParamValue::Int(number) => (*number).into(),
        ParamValue::Bool(switch) => (*switch).into(),
        ParamValue::Text(text) => text.clone().into(),
    }
}

/// All parameters of `of`, in the order of its table, with `others` in place of the defaults of what is not written;
/// `None` when something is noted.
pub(crate) fn resolved_beside(
    written: Option<At<&Params>>,
    others: &[(&str, ParamValue)],
    of: &str,
    infos: &[ParamInfo],
    resolve: Resolve,
    notes: &mut Notes,
) -> Option<Params> {
    let before = notes.count();
    let mut list = Vec::new();
    for (name, value) in written.as_ref().map_or(&[][..], |params| &params.value.0) {
        if !infos.iter().any(|info| info.name == name.value) {
            let message = format!("`{of}` has no parameter `{}`", shortened(name));
            let (message, hint) = unknown(name, message, infos.iter().map(|info| info.name));
            notes.wrong(name.location, message).maybe(hint);
            continue;
        }
        let one = (name.value.clone(), value.value.clone());
        // whether it goes with the others is seen below
        if let Err(error) = resolve(std::slice::from_ref(&one))
            && error.conflicts_with.is_none()
        {
            let info = infos.iter().find(|info| info.name == name.value);
            let meant = info.and_then(|info| meant(info.kind, &value.value));
            notes.wrong(value.location, error.message).maybe(error.hint.or(meant));
        }
        list.push(one);
    }
    if notes.count() > before {
        return None;
    }
    for (name, value) in others {
        if !list.iter().any(|(written, _)| written == name) {
            list.push(((*name).to_owned(), value.clone()));
        }
    }
    let row = |name: &str| written.as_ref()?.value.0.iter().find(|(key, _)| key.value == name);
    match resolve(&list) {
        Ok(all) => Some(Params(
            all.into_iter()
                .map(|(name, value)| match row(&name) {
                    Some((key, at)) => {
                        (At { value: name, location: key.location }, At { value, location: at.location })
                    }
                    None => (name.into(), value.into()),
                })
                .collect(),
        )),
        Err(error) => {
            let of = |name: &str| Some(row(name)?.1.location);
            let location = of(&error.name)
                .or_else(|| of(error.conflicts_with?))
                .or(written.as_ref().map(|at| at.location));
            notes.wrong(location.unwrap_or_default(), error.message).maybe(error.hint);
            None
        }
    }
}

/// What to write where the kind of a value is not the kind of its parameter, if it is clear.
fn meant(kind: ParamKind, value: &ParamValue) -> Option<String> {
    let whole = |number: f64| {
        Some(number).filter(|number| number.fract() == 0.0 && (0.0..=f64::from(u32::MAX)).contains(number))
    };
    let meant = match (kind, value) {
        (ParamKind::Number, ParamValue::Text(text)) => meant_number(text)?.to_string(),
        (ParamKind::Count, ParamValue::Text(text)) => whole(meant_number(text)?)?.to_string(),
        (ParamKind::Count, ParamValue::Float(number)) => whole(*number)?.to_string(),
        (ParamKind::Switch, ParamValue::Text(text)) => meant_switch(text)?.to_string(),
        (ParamKind::Switch, ParamValue::Int(number @ 0..=1)) => (*number == 1).to_string(),
        _ => return None,
    };
    let quotes = if matches!(value, ParamValue::Text(_)) { ", without quotation marks" } else { "" };
    Some(format!("write {meant}{quotes}"))
}

/// The JSON Schema of a parameter.
pub(super) fn param_schema(info: &ParamInfo) -> Json {
    let value = |param: &ParamValue| match param {
        ParamValue::Float(x) => json!(x),
        ParamValue::Int(x) => json!(x),
        ParamValue::Bool(x) => json!(x),
        ParamValue::Text(x) => json!(x),
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
