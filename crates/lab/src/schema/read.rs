//! From a TOML value with its place to a typed value. Errors and warnings are collected and do not stop the reading.

use std::ops::Deref;
use std::sync::Arc;

use schemars::{Schema, SchemaGenerator, json_schema};
use units::{Bytes, Drift, Duration, Offset, Rate, UnitText};

pub(crate) use crate::schema::hints::{nearest, shortened, suggestion};
use crate::schema::renames::{renamed, unknown};
use crate::schema::tree::{Node, Place, Table, Value};

/// An error or a warning before it is drawn.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Note {
    pub(crate) place: Place,
    pub(crate) message: String,
    pub(crate) warning: bool,
    pub(crate) hint: Option<String>,
}

/// Errors and warnings found so far.
#[derive(Default)]
pub(crate) struct Notes {
    errors: Vec<Note>,
    warnings: Vec<Note>,
}

/// An error or a warning just noted, to which a hint may be added.
pub(crate) struct Noted<'a>(&'a mut Note);

impl Noted<'_> {
    pub(crate) fn hint(self, hint: impl Into<String>) {
        self.0.hint = Some(hint.into());
    }

    pub(crate) fn maybe(self, hint: Option<String>) {
        self.0.hint = hint;
    }
}

impl Notes {
    /// Notes an error at a place: the scenario is refused.
    pub(crate) fn wrong(&mut self, place: Place, message: impl Into<String>) -> Noted<'_> {
        self.errors.push(Note { place, message: message.into(), warning: false, hint: None });
        Noted(self.errors.last_mut().expect("one was just pushed"))
    }

    /// Notes a warning at a place: the scenario is accepted, but something in it has no effect.
    pub(crate) fn warn(&mut self, place: Place, message: impl Into<String>) -> Noted<'_> {
        self.warnings.push(Note { place, message: message.into(), warning: true, hint: None });
        Noted(self.warnings.last_mut().expect("one was just pushed"))
    }

    /// The number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.errors.len()
    }

    /// All errors, and all warnings.
    pub(crate) fn into_lists(self) -> (Vec<Note>, Vec<Note>) {
        (self.errors, self.warnings)
    }
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) place: Place,
}

impl<T> Deref for At<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
    }
}

/// A value that no text has.
impl<T> From<T> for At<T> {
    fn from(value: T) -> Self {
        Self { value, place: Place::default() }
    }
}

/// A key of a table: not written, written wrongly (already noted), or read.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) enum Field<T> {
    #[default]
    Missing,
    Wrong,
    Given(At<T>),
}

/// A key that no text has.
impl<T> From<T> for Field<T> {
    fn from(value: T) -> Self {
        Self::of(value)
    }
}

/// A table that others share.
impl<T> From<T> for Field<Arc<T>> {
    fn from(value: T) -> Self {
        Self::of(Arc::new(value))
    }
}

impl<T> From<Option<T>> for Field<Arc<T>> {
    fn from(value: Option<T>) -> Self {
        value.map(Arc::new).into()
    }
}

impl<T> From<Option<T>> for Field<T> {
    fn from(value: Option<T>) -> Self {
        value.map_or(Self::Missing, Self::of)
    }
}

impl<T> Field<T> {
    /// A key that no text has.
    pub(crate) fn of(value: T) -> Self {
        Self::Given(At::from(value))
    }

    pub(crate) fn given(&self) -> Option<&At<T>> {
        match self {
            Self::Given(at) => Some(at),
            _ => None,
        }
    }

    /// The value of a key that a resolved tree always has.
    pub(crate) fn known(&self) -> &T {
        &self.given().expect("a resolved tree has this key").value
    }

    /// The same with `default` where nothing is written (or where it is wrong, which is noted already).
    pub(crate) fn filled(self, default: T) -> Self {
        if self.given().is_some() { self } else { Self::of(default) }
    }

    /// The same without a value that is not `wanted`.
    pub(crate) fn filter(self, wanted: impl FnOnce(&T) -> bool) -> Self {
        if self.given().is_some_and(|at| !wanted(&at.value)) { Self::Missing } else { self }
    }

    pub(crate) fn is_missing(&self) -> bool {
        matches!(self, Self::Missing)
    }

    pub(crate) fn is_wrong(&self) -> bool {
        matches!(self, Self::Wrong)
    }

    /// The value, or `default` when it is not written (or wrong, which is noted already).
    pub(crate) fn or(&self, default: T) -> T
    where
        T: Clone,
    {
        self.given().map_or(default, |at| at.value.clone())
    }

    /// The value; where it is not written, that is noted at `place`.
    pub(crate) fn required(&self, key: &str, of: &str, place: Place, notes: &mut Notes) -> Option<&At<T>>
    where
        T: Read,
    {
        if self.is_missing() {
            notes.wrong(place, format!("{of} needs `{key}`")).hint(format!("write {key} = {}", T::example()));
        }
        self.given()
    }
}

impl Field<bool> {
    /// Whether it is written, and true.
    pub(crate) fn is_on(&self) -> bool {
        self.given().is_some_and(|at| at.value)
    }
}

impl<T> Field<Vec<At<T>>> {
    /// The entries of a list; none where it is not written.
    pub(crate) fn items(&self) -> &[At<T>] {
        self.given().map_or(&[], |list| &list.value)
    }

    /// A list that no text has.
    pub(crate) fn list(items: impl IntoIterator<Item = T>) -> Self {
        Self::of(items.into_iter().map(At::from).collect())
    }
}

/// A type that stands in a scenario.
pub(crate) trait Read: Sized {
    /// What it is, with its article, for messages.
    fn what() -> String;

    /// A text that would do, as TOML.
    fn example() -> String;

    /// Reads it; notes what is wrong.
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
        .wrong(node.place, format!("expected {}, found {}", T::what(), kind_of(node)))
        .hint(format!("write it as {}", T::example()));
    None
}

impl Read for String {
    fn what() -> String {
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
    fn what() -> String {
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
    fn what() -> String {
        "a whole number".to_owned()
    }
    fn example() -> String {
        "10".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let whole = u64::read(node, notes)?;
        if whole > MAX {
            notes.wrong(node.place, format!("`{whole}` is too large")).hint("at most 1000000");
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
    fn what() -> String {
        "a whole number".to_owned()
    }
    fn example() -> String {
        "7".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Value::Integer(whole, written) = &node.value else { return mismatch(node, notes) };
        let Some(whole) = *whole else {
            notes
                .wrong(node.place, format!("`{}` is too large", shortened(written)))
                .hint("at most 9223372036854775807");
            return None;
        };
        if whole < 0 {
            notes.wrong(node.place, format!("`{whole}` is negative")).hint("write a whole number from 0");
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
    fn what() -> String {
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
                    .wrong(node.place, format!("`{read}` is not finite"))
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
            notes.wrong(node.place, error.message).hint(error.hint);
            None
        }
    }
}

macro_rules! quantities {
    ($($type:ty, $count:ident in $smallest:literal => $examples:tt;)*) => {$(
        impl Read for $type {
            fn what() -> String {
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
    fn what() -> String {
        T::what()
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

impl<T: Read> Read for Vec<At<T>> {
    fn what() -> String {
        format!("a list, each {}", T::what())
    }
    fn example() -> String {
        format!("[{}]", T::example())
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Some(items) = node.list() else { return mismatch(node, notes) };
        let before = notes.count();
        let read: Self = items
            .iter()
            .filter_map(|item| T::read(item, notes).map(|read| At { value: read, place: item.place }))
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

/// Notes the keys of `table` that are not in `known`; says which known ones they seem to mean.
pub(crate) fn refuse_unknown<'a>(table: &Table, known: &[&'a str], notes: &mut Notes) -> Vec<&'a str> {
    let mut meant = Vec::new();
    for entry in table.iter() {
        let key = &*entry.key;
        if !known.contains(&key) {
            let known = known.iter().copied();
            let (message, hint) = unknown(key, format!("unknown key `{}`", shortened(key)), known.clone());
            notes.wrong(entry.place, message).maybe(hint);
            meant.extend(renamed(key, known.clone()).or_else(|| nearest(key, known)));
        }
    }
    meant
}

/// Lines of a doc comment in one.
pub(crate) fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Declares tables of a scenario once: the struct, how it is read and written, and its schema. Each field is a [`Field`]; a check after
/// `where` gets the value and answers with a message and a hint.
macro_rules! tables {
    ($($(#[doc = $doc:literal])+ pub(crate) struct $Name:ident = $word:literal {
        $($(#[doc = $fdoc:literal])+ $field:ident : $type:ty $(where $check:expr)?,)*
    })*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $Name {
            pub(crate) place: $crate::schema::tree::Place,
            $($(#[doc = $fdoc])+ pub(crate) $field: $crate::schema::read::Field<$type>,)*
        }

        impl $Name {
            /// Its keys.
            pub(crate) const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Reads the keys of a table.
            pub(crate) fn from_table(
                table: &$crate::schema::tree::Table, place: $crate::schema::tree::Place, notes: &mut $crate::schema::read::Notes,
            ) -> Self {
                let mut read = Self { place, ..Self::default() };
                let meant = $crate::schema::read::refuse_unknown(table, Self::KEYS, notes);
                $(if let Some(node) = table.get(stringify!($field)) {
                    read.$field = match <$type as $crate::schema::read::Read>::read(node, notes) {
                        Some(inner) => {
                            let place = node.place;
                            #[allow(unused_mut, reason = "not every field has a check")]
                            let mut given = $crate::schema::read::Field::Given($crate::schema::read::At { value: inner, place });
                            $(
                                if let $crate::schema::read::Field::Given(at) = &given
                                    && let Err((message, hint)) = ($check)(&at.value)
                                {
                                    notes.wrong(place, message).hint(hint);
                                    given = $crate::schema::read::Field::Wrong;
                                }
                            )?
                            given
                        }
                        None => $crate::schema::read::Field::Wrong,
                    };
                } else if meant.contains(&stringify!($field)) {
                    // it is written, and that it is wrong is noted
                    read.$field = $crate::schema::read::Field::Wrong;
                })*
                read
            }

            /// The keys that are written, with their values, in the order in which they are declared.
            pub(crate) fn to_table(&self) -> toml::Table {
                let mut table = toml::Table::new();
                $(if let $crate::schema::read::Field::Given(at) = &self.$field {
                    table.insert(stringify!($field).to_owned(), $crate::schema::read::Read::to_value(&at.value));
                })*
                table
            }

            /// The keys that are written, with their places.
            #[allow(dead_code, reason = "not every table is asked")]
            pub(crate) fn written(&self) -> Vec<(&'static str, $crate::schema::tree::Place)> {
                let mut list = Vec::new();
                $(if let $crate::schema::read::Field::Given(at) = &self.$field {
                    list.push((stringify!($field), at.place));
                })*
                list
            }
        }

        impl $crate::schema::read::Read for $Name {
            fn what() -> String {
                concat!($word, " as a table").to_owned()
            }
            fn example() -> String {
                "{ … }".to_owned()
            }
            fn read(
                node: &$crate::schema::tree::Node, notes: &mut $crate::schema::read::Notes,
            ) -> Option<Self> {
                match node.table() {
                    Some(table) => Some(Self::from_table(table, node.place, notes)),
                    None => $crate::schema::read::mismatch(node, notes),
                }
            }
            fn to_value(&self) -> toml::Value {
                self.to_table().into()
            }
            fn schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                generator.subschema_for::<Self>()
            }
        }

        impl schemars::JsonSchema for $Name {
            fn schema_name() -> std::borrow::Cow<'static, str> {
                stringify!($Name).into()
            }
            fn json_schema(generator: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let mut properties = serde_json::Map::new();
                $({
                    let mut schema = <$type as $crate::schema::read::Read>::schema(generator);
                    let lines: &[&str] = &[$($fdoc),+];
                    let doc = $crate::schema::read::joined(lines);
                    if schema.get("$ref").is_some() {
                        schema = schemars::json_schema!({ "allOf": [schema] });
                    }
                    schema.insert("description".to_owned(), doc.into());
                    properties.insert(stringify!($field).to_owned(), schema.to_value());
                })*
                let lines: &[&str] = &[$($doc),+];
                let doc = $crate::schema::read::joined(lines);
                schemars::json_schema!({
                    "type": "object",
                    "description": doc,
                    "properties": properties,
                    "additionalProperties": false,
                })
            }
        }
    )*};
}
pub(crate) use tables;

/// Declares a choice of words that stand in a scenario.
macro_rules! words {
    ($($(#[doc = $doc:literal])+ pub(crate) enum $Name:ident = $what:literal {
        $($(#[doc = $vdoc:literal])+ $Variant:ident = $word:literal,)+
    })*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        pub(crate) enum $Name { $($(#[doc = $vdoc])+ $Variant,)+ }

        impl $Name {
            /// All of them.
            #[allow(dead_code, reason = "not every choice is gone through")]
            pub(crate) const ALL: &'static [Self] = &[$(Self::$Variant),+];

            /// All words.
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            pub(crate) const fn word(self) -> &'static str {
                match self { $(Self::$Variant => $word),+ }
            }
        }

        impl $crate::schema::read::Read for $Name {
            fn what() -> String {
                $what.to_owned()
            }
            fn example() -> String {
                format!("\"{}\"", Self::WORDS.join("\" or \""))
            }
            fn read(
                node: &$crate::schema::tree::Node, notes: &mut $crate::schema::read::Notes,
            ) -> Option<Self> {
                let Some(text) = node.text() else { return $crate::schema::read::mismatch(node, notes) };
                match text {
                    $($word => Some(Self::$Variant),)+
                    other => {
                        notes
                            .wrong(
                                node.place,
                                format!("`{}` is not {}", $crate::schema::read::shortened(other), $what),
                            )
                            .maybe($crate::schema::read::suggestion(other, Self::WORDS.iter().copied()));
                        None
                    }
                }
            }
            fn to_value(&self) -> toml::Value {
                self.word().into()
            }
            fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words = Self::WORDS;
                let meanings = [$({
                    let lines: &[&str] = &[$($vdoc),+];
                    $crate::schema::read::joined(lines)
                }),+];
                schemars::json_schema!({ "type": "string", "enum": words, "enumDescriptions": meanings })
            }
        }
    )*};
}
pub(crate) use words;
