//! From a TOML value with its place to a typed value. Errors and warnings are collected and do not stop the reading.

use std::sync::Arc;

use schemars::{Schema, SchemaGenerator, json_schema};
use units::{Bytes, Drift, Duration, Offset, Rate, UnitText};

pub(crate) use crate::schema::declare::{refuse_unknown, tables, words};
pub(crate) use crate::schema::field::{At, Field};
use crate::schema::hints::{comma_in_quantity, meant_number, meant_switch};
pub(crate) use crate::schema::hints::{nearest, shortened, suggestion};
pub(crate) use crate::schema::notes::{Note, Notes};
use crate::schema::tree::{Location, Node, Value};

/// A type that stands in a scenario.
pub(crate) trait Read: Sized {
    /// The description with its article, for messages.
    fn description() -> String;

    /// A text that would do, as TOML.
    fn example() -> String;

    /// Reads it, and notes errors.
    fn read(node: &Node, notes: &mut Notes) -> Option<Self>;

    /// As it is written, in the text that [`Read::read`] takes for the same value.
    fn to_value(&self) -> toml::Value;

    /// Its JSON schema.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

/// What a value is, in words.
pub(crate) fn kind_of(node: &Node) -> String {
    match &node.value {
        Value::Text(text) => format!("the text \"{}\"", shortened(text)),
        Value::Integer(_, written) | Value::Float(_, written) => format!("the number {}", shortened(written)),
        Value::Bool(switch) => format!("{switch}"),
        Value::Date(_) => "a date".to_owned(),
        Value::List(_) => "a list".to_owned(),
        Value::Table(_) => "a table".to_owned(),
    }
}

/// Notes that a value is of another kind.
pub(crate) fn mismatch<T: Read>(node: &Node, notes: &mut Notes) -> Option<T> {
    notes
        .wrong(node.location, format!("expected {}, found {}", T::description(), kind_of(node)))
        .hint(format!("write it as {}", meant(node, &T::example()).unwrap_or_else(T::example)));
    None
}

/// What a value of another kind most likely means, as TOML of the kind of `example`: `0.01` of "1%", `true` of "yes",
/// `"5"` of 5.
fn meant(node: &Node, example: &str) -> Option<String> {
    let kind = format!("it = {example}").parse::<toml::Table>().ok()?.remove("it")?;
    match (&node.value, kind) {
        (Value::Text(text), toml::Value::Float(_) | toml::Value::Integer(_)) => {
            let number = meant_number(text)?;
            let fits = example.contains('.') || number.fract() == 0.0;
            fits.then(|| number.to_string())
        }
        (Value::Text(text), toml::Value::Boolean(_)) => meant_switch(text).map(|switch| switch.to_string()),
        (Value::Integer(Some(0), _), toml::Value::Boolean(_)) => Some("false".to_owned()),
        (Value::Integer(Some(1), _), toml::Value::Boolean(_)) => Some("true".to_owned()),
        (Value::Integer(_, written) | Value::Float(_, written), toml::Value::String(form)) if form == "…" => {
            Some(format!("\"{}\"", shortened(written)))
        }
        (Value::Float(number, _), toml::Value::Integer(_))
            if number.fract() == 0.0 && number.abs() < 1e15 =>
        {
            Some(number.to_string())
        }
        _ => None,
    }
}

impl Read for String {
    fn description() -> String {
        "a text".to_owned()
    }
    fn example() -> String {
        "\"…\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        match &node.value {
            Value::Text(text) => Some(text.to_string()),
            _ => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        self.clone().into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string" })
    }
}

impl Read for bool {
    fn description() -> String {
        "true or false".to_owned()
    }
    fn example() -> String {
        "true".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        match node.value {
            Value::Bool(switch) => Some(switch),
            _ => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        (*self).into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "boolean" })
    }
}

impl Read for u32 {
    fn description() -> String {
        "a whole number".to_owned()
    }
    fn example() -> String {
        "10".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let whole = u64::read(node, notes)?;
        if whole > MAX {
            notes.wrong(node.location, format!("`{whole}` is too large")).hint("at most 1000000");
        }
        Self::try_from(whole).ok().filter(|_| whole <= MAX)
    }
    fn to_value(&self) -> toml::Value {
        i64::from(*self).into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": MAX })
    }
}

/// Maximum count in a scenario.
pub(crate) const MAX: u64 = 1_000_000;

impl Read for u64 {
    fn description() -> String {
        "a whole number".to_owned()
    }
    fn example() -> String {
        "7".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Value::Integer(whole, written) = &node.value else { return mismatch(node, notes) };
        let Some(whole) = *whole else {
            notes
                .wrong(node.location, format!("`{}` is too large", shortened(written)))
                .hint("at most 9223372036854775807");
            return None;
        };
        if whole < 0 {
            notes.wrong(node.location, format!("`{whole}` is negative")).hint("write a whole number from 0");
        }
        Self::try_from(whole).ok()
    }
    fn to_value(&self) -> toml::Value {
        i64::try_from(*self).unwrap_or(i64::MAX).into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0 })
    }
}

impl Read for f64 {
    fn description() -> String {
        "a number".to_owned()
    }
    fn example() -> String {
        "0.5".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let read = match node.value {
            Value::Float(read, _) => Some(read),
            Value::Integer(whole, _) => whole.map(|whole| whole as f64),
            _ => None,
        };
        match read {
            Some(read) if read.is_finite() => Some(read),
            Some(read) => {
                notes
                    .wrong(node.location, format!("`{read}` is not finite"))
                    .hint("write a number, such as 0.5");
                None
            }
            None => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        (*self).into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// Reads a quantity; a number without a unit gets the units that would do.
fn quantity<T: UnitText + Read>(node: &Node, notes: &mut Notes) -> Option<T> {
    let written = match &node.value {
        Value::Text(written) | Value::Integer(_, written) | Value::Float(_, written) => written,
        _ => return mismatch(node, notes),
    };
    match T::from_text(written) {
        Ok(read) => Some(read),
        Err(error) => {
            let (message, hint) = match comma_in_quantity(written) {
                Some(hint) => (format!("`{}` is not {}", shortened(written), T::WHAT), hint),
                None => (error.message, error.hint),
            };
            notes.wrong(node.location, message).hint(hint);
            None
        }
    }
}

macro_rules! quantities {
    ($($type:ty, $count:ident in $smallest:literal => $examples:tt;)*) => {$(
        impl Read for $type {
            fn description() -> String {
                <$type as UnitText>::WHAT.to_owned()
            }
            fn example() -> String {
                format!("\"{}\"", <$type as UnitText>::EXAMPLE)
            }
            fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
                quantity(node, notes)
            }
            fn to_value(&self) -> toml::Value {
                let text = self.to_string();
                let exact = Self::from_text(&text).is_ok_and(|read| read == *self);
                if exact { text.into() } else { format!("{} {}", self.$count(), $smallest).into() }
            }
            fn schema(_: &mut SchemaGenerator) -> Schema {
                json_schema!({
                    "type": "string",
                    "description": format!("{} with its unit: {}", <$type as UnitText>::WHAT, <$type as UnitText>::UNITS.join(", ")),
                    "examples": $examples,
                })
            }
        }
    )*};
}

quantities! {
    Rate, as_bps in "bit/s" => ["50 Mbit/s", "1 Gbit/s", "900 kbit/s"];
    Duration, as_nanos in "ns" => ["60 s", "20 ms", "500 us"];
    Offset, as_nanos in "ns" => ["20 ms", "-1 h"];
    Drift, as_ppb in "ppb" => ["100 ppm", "-50 ppb"];
    Bytes, as_u64 in "B" => ["1500 B", "64 kB", "10 MB"];
}

/// A table that several tables share, as the copies of a flow do.
impl<T: Read> Read for Arc<T> {
    fn description() -> String {
        T::description()
    }
    fn example() -> String {
        T::example()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        T::read(node, notes).map(Self::new)
    }
    fn to_value(&self) -> toml::Value {
        (**self).to_value()
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        T::schema(generator)
    }
}

impl<T: Read> Field<T> {
    /// The value; where it is not written, that is noted at `location`.
    pub(crate) fn required(
        &self,
        key: &str,
        of: &str,
        location: Location,
        notes: &mut Notes,
    ) -> Option<&At<T>> {
        if self.is_missing() {
            notes
                .wrong(location, format!("{of} needs `{key}`"))
                .hint(format!("write {key} = {}", T::example()));
        }
        self.present()
    }
}

impl<T: Read> Read for Vec<At<T>> {
    fn description() -> String {
        format!("a list, each {}", T::description())
    }
    fn example() -> String {
        format!("[{}]", T::example())
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Some(items) = node.list() else { return mismatch(node, notes) };
        let before = notes.count();
        let read: Self = items
            .iter()
            .filter_map(|item| T::read(item, notes).map(|read| At { value: read, location: item.location }))
            .collect();
        (notes.count() == before || !read.is_empty()).then_some(read)
    }
    fn to_value(&self) -> toml::Value {
        self.iter().map(|item| item.to_value()).collect::<Vec<_>>().into()
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let items = T::schema(generator);
        json_schema!({ "type": "array", "items": items })
    }
}
