//! From a TOML value with its place to a typed value, every error and warning noted on the way instead of ending the reading.

use std::collections::BTreeMap;
use std::ops::Deref;

use schemars::{Schema, SchemaGenerator, json_schema};
use toml::Spanned;
use toml::de::{DeTable, DeValue};
use units::{Bytes, Drift, Duration, Offset, Rate, UnitText};

pub(crate) use crate::hints::{nearest, shortened, suggestion};
use crate::problems::{Problem, Span};

/// Errors and warnings found so far, and the key of every place.
#[derive(Default)]
pub(crate) struct Notes {
    problems: Vec<Problem>,
    warnings: Vec<Problem>,
    keys: BTreeMap<(usize, usize), String>,
}

/// An error or a warning just noted, to which a hint may be added.
pub(crate) struct Noted<'a>(&'a mut Problem);

impl Noted<'_> {
    pub(crate) fn hint(self, hint: impl Into<String>) {
        self.0.hint = Some(hint.into());
    }

    pub(crate) fn maybe(self, hint: Option<String>) {
        self.0.hint = hint;
    }
}

impl Notes {
    /// Notes about a text whose tree is `root`.
    pub(crate) fn about(root: &DeTable<'_>) -> Self {
        let mut notes = Self::default();
        index_table(root, "", &mut notes.keys);
        notes
    }

    /// Notes an error at a place: the scenario is refused.
    pub(crate) fn wrong(&mut self, span: Span, message: impl Into<String>) -> Noted<'_> {
        let problem = self.problem(span, message.into(), false);
        self.problems.push(problem);
        Noted(self.problems.last_mut().expect("one was just pushed"))
    }

    /// Notes a warning at a place: the scenario is accepted, but something in it has no effect.
    pub(crate) fn warn(&mut self, span: Span, message: impl Into<String>) -> Noted<'_> {
        let problem = self.problem(span, message.into(), true);
        self.warnings.push(problem);
        Noted(self.warnings.last_mut().expect("one was just pushed"))
    }

    fn problem(&self, span: Span, message: String, warning: bool) -> Problem {
        let key = self.keys.get(&(span.start, span.end)).cloned().unwrap_or_default();
        Problem { message, warning, key, span: Some(span), line: 0, column: 0, hint: None }
    }

    /// The number of errors so far.
    pub(crate) fn count(&self) -> usize {
        self.problems.len()
    }

    /// All errors, and all warnings.
    pub(crate) fn into_problems(self) -> (Vec<Problem>, Vec<Problem>) {
        (self.problems, self.warnings)
    }
}

fn index_table(table: &DeTable<'_>, path: &str, keys: &mut BTreeMap<(usize, usize), String>) {
    for (key, value) in table {
        let path =
            if path.is_empty() { key.get_ref().to_string() } else { format!("{path}.{}", key.get_ref()) };
        let span = key.span();
        keys.entry((span.start, span.end)).or_insert_with(|| path.clone());
        index_value(value, path, keys);
    }
}

fn index_value(value: &Spanned<DeValue<'_>>, path: String, keys: &mut BTreeMap<(usize, usize), String>) {
    match value.get_ref() {
        DeValue::Table(inner) => index_table(inner, &path, keys),
        DeValue::Array(items) => {
            let mut uses: BTreeMap<&str, usize> = BTreeMap::new();
            for name in items.iter().filter_map(|item| name_of(item.get_ref())) {
                *uses.entry(name).or_default() += 1;
            }
            for (i, item) in items.iter().enumerate() {
                // a name that two entries have does not say which
                let own = name_of(item.get_ref()).filter(|name| uses.get(name) == Some(&1));
                let entry = own.map_or_else(|| i.to_string(), str::to_owned);
                index_value(item, format!("{path}.{entry}"), keys);
            }
        }
        _ => {}
    }
    let span = value.span();
    keys.entry((span.start, span.end)).or_insert(path);
}

/// The name of an entry of a list, by which `--set` and `[sweep]` address it too: its `name`, or the `node` that it is about.
fn name_of<'a>(entry: &'a DeValue<'_>) -> Option<&'a str> {
    let table = entry.as_table()?;
    let name = ["name", "node"].iter().find_map(|key| table.get(*key)?.get_ref().as_str());
    name.filter(|name| !name.is_empty())
}

/// A value and its place.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct At<T> {
    pub(crate) value: T,
    pub(crate) span: Span,
}

impl<T> Deref for At<T> {
    type Target = T;
    fn deref(&self) -> &T {
        &self.value
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

impl<T> Field<T> {
    pub(crate) fn given(&self) -> Option<&At<T>> {
        match self {
            Self::Given(at) => Some(at),
            _ => None,
        }
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

    /// The value; where it is not written, that is noted at `span`.
    pub(crate) fn required(&self, key: &str, of: &str, span: Span, notes: &mut Notes) -> Option<&At<T>>
    where
        T: Read,
    {
        if self.is_missing() {
            notes.wrong(span, format!("{of} needs `{key}`")).hint(format!("write {key} = {}", T::example()));
        }
        self.given()
    }
}

/// A type that stands in a scenario.
pub(crate) trait Read: Sized {
    /// What it is, with its article, for messages.
    fn what() -> String;

    /// A text that would do, as TOML.
    fn example() -> String;

    /// Reads it; notes what is wrong.
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self>;

    /// Its JSON schema.
    fn schema(generator: &mut SchemaGenerator) -> Schema;
}

pub(crate) fn span_of<T>(value: &Spanned<T>) -> Span {
    let span = value.span();
    Span { start: span.start, end: span.end }
}

/// What a value is, in words.
pub(crate) fn kind_of(value: &DeValue<'_>) -> String {
    match value {
        DeValue::String(text) => format!("the text \"{}\"", shortened(text)),
        DeValue::Integer(number) => format!("the number {}", shortened(&number.to_string())),
        DeValue::Float(number) => format!("the number {}", shortened(&number.to_string())),
        DeValue::Boolean(switch) => format!("{switch}"),
        DeValue::Datetime(_) => "a date".to_owned(),
        DeValue::Array(_) => "a list".to_owned(),
        DeValue::Table(_) => "a table".to_owned(),
    }
}

/// Notes that a value is of another kind.
pub(crate) fn mismatch<T: Read>(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<T> {
    notes
        .wrong(span_of(value), format!("expected {}, found {}", T::what(), kind_of(value.get_ref())))
        .hint(format!("write it as {}", T::example()));
    None
}

pub(crate) fn integer(value: &DeValue<'_>) -> Option<i64> {
    let number = value.as_integer()?;
    i64::from_str_radix(number.as_str(), number.radix()).ok()
}

pub(crate) fn number(value: &DeValue<'_>) -> Option<f64> {
    match value {
        DeValue::Float(number) => number.as_str().parse().ok(),
        DeValue::Integer(_) => integer(value).map(|whole| whole as f64),
        _ => None,
    }
}

impl Read for String {
    fn what() -> String {
        "a text".to_owned()
    }
    fn example() -> String {
        "\"…\"".to_owned()
    }
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        match value.get_ref() {
            DeValue::String(text) => Some(text.to_string()),
            _ => mismatch(value, notes),
        }
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
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        value.get_ref().as_bool().or_else(|| mismatch(value, notes))
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
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        let whole = u64::read(value, notes)?;
        if whole > MOST {
            notes.wrong(span_of(value), format!("`{whole}` is too large")).hint("at most 1000000");
        }
        Self::try_from(whole).ok().filter(|_| whole <= MOST)
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "integer", "minimum": 0, "maximum": MOST })
    }
}

/// Greatest count in a scenario.
pub(crate) const MOST: u64 = 1_000_000;

impl Read for u64 {
    fn what() -> String {
        "a whole number".to_owned()
    }
    fn example() -> String {
        "7".to_owned()
    }
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        let DeValue::Integer(written) = value.get_ref() else { return mismatch(value, notes) };
        let Some(whole) = integer(value.get_ref()) else {
            notes
                .wrong(span_of(value), format!("`{}` is too large", shortened(&written.to_string())))
                .hint("at most 9223372036854775807");
            return None;
        };
        if whole < 0 {
            notes.wrong(span_of(value), format!("`{whole}` is negative")).hint("write a whole number from 0");
        }
        Self::try_from(whole).ok()
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
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        match number(value.get_ref()) {
            Some(read) if read.is_finite() => Some(read),
            Some(read) => {
                notes
                    .wrong(span_of(value), format!("`{read}` is not finite"))
                    .hint("write a number, such as 0.5");
                None
            }
            None => mismatch(value, notes),
        }
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "number" })
    }
}

/// Reads a quantity; a number without a unit gets the units that would do.
fn quantity<T: UnitText + Read>(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<T> {
    let written = match value.get_ref() {
        DeValue::String(text) => text.to_string(),
        DeValue::Integer(number) => number.to_string(),
        DeValue::Float(number) => number.to_string(),
        _ => return mismatch(value, notes),
    };
    match T::from_text(&written) {
        Ok(read) => Some(read),
        Err(error) => {
            notes.wrong(span_of(value), error.message).hint(error.hint);
            None
        }
    }
}

macro_rules! quantities {
    ($($type:ty => $examples:tt;)*) => {$(
        impl Read for $type {
            fn what() -> String {
                <$type as UnitText>::WHAT.to_owned()
            }
            fn example() -> String {
                format!("\"{}\"", <$type as UnitText>::EXAMPLE)
            }
            fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
                quantity(value, notes)
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
    Rate => ["50 Mbit/s", "1 Gbit/s", "900 kbit/s"];
    Duration => ["60 s", "20 ms", "500 us"];
    Offset => ["20 ms", "-1 h"];
    Drift => ["100 ppm", "-50 ppb"];
    Bytes => ["1500 B", "64 kB", "10 MB"];
}

impl<T: Read> Read for Vec<At<T>> {
    fn what() -> String {
        format!("a list, each {}", T::what())
    }
    fn example() -> String {
        format!("[{}]", T::example())
    }
    fn read(value: &Spanned<DeValue<'_>>, notes: &mut Notes) -> Option<Self> {
        let Some(items) = value.get_ref().as_array() else { return mismatch(value, notes) };
        let before = notes.count();
        let read: Self = items
            .iter()
            .filter_map(|item| T::read(item, notes).map(|read| At { value: read, span: span_of(item) }))
            .collect();
        (notes.count() == before || !read.is_empty()).then_some(read)
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        let items = T::schema(generator);
        json_schema!({ "type": "array", "items": items })
    }
}

/// Notes the keys of `table` that are not in `known`; says which known ones they seem to mean.
pub(crate) fn refuse_unknown<'a>(table: &DeTable<'_>, known: &[&'a str], notes: &mut Notes) -> Vec<&'a str> {
    let mut meant = Vec::new();
    for key in table.keys() {
        if !known.contains(&key.get_ref().as_ref()) {
            notes
                .wrong(span_of(key), format!("unknown key `{}`", shortened(key.get_ref())))
                .maybe(suggestion(key.get_ref(), known.iter().copied()));
            meant.extend(nearest(key.get_ref(), known.iter().copied()));
        }
    }
    meant
}

/// Lines of a doc comment in one.
pub(crate) fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Declares tables of a scenario once: the struct, its reader and its schema. Each field is a [`Field`]; a check after
/// `where` gets the value and answers with a message and a hint.
macro_rules! tables {
    ($($(#[doc = $doc:literal])+ pub(crate) struct $Name:ident = $word:literal {
        $($(#[doc = $fdoc:literal])+ $field:ident : $type:ty $(where $check:expr)?,)*
    })*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $Name {
            pub(crate) span: $crate::problems::Span,
            $($(#[doc = $fdoc])+ pub(crate) $field: $crate::read::Field<$type>,)*
        }

        impl $Name {
            /// Its keys.
            pub(crate) const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Reads the keys of a table.
            pub(crate) fn from_table(
                table: &toml::de::DeTable<'_>, span: $crate::problems::Span, notes: &mut $crate::read::Notes,
            ) -> Self {
                let mut read = Self { span, ..Self::default() };
                let meant = $crate::read::refuse_unknown(table, Self::KEYS, notes);
                $(if let Some(value) = table.get(stringify!($field)) {
                    read.$field = match <$type as $crate::read::Read>::read(value, notes) {
                        Some(inner) => {
                            let span = $crate::read::span_of(value);
                            #[allow(unused_mut, reason = "not every field has a check")]
                            let mut given = $crate::read::Field::Given($crate::read::At { value: inner, span });
                            $(
                                if let $crate::read::Field::Given(at) = &given
                                    && let Err((message, hint)) = ($check)(&at.value)
                                {
                                    notes.wrong(span, message).hint(hint);
                                    given = $crate::read::Field::Wrong;
                                }
                            )?
                            given
                        }
                        None => $crate::read::Field::Wrong,
                    };
                } else if meant.contains(&stringify!($field)) {
                    // it is written, and that it is wrong is noted
                    read.$field = $crate::read::Field::Wrong;
                })*
                read
            }

            /// The keys that are written, with their places.
            #[allow(dead_code, reason = "not every table is asked")]
            pub(crate) fn written(&self) -> Vec<(&'static str, $crate::problems::Span)> {
                let mut list = Vec::new();
                $(if let $crate::read::Field::Given(at) = &self.$field {
                    list.push((stringify!($field), at.span));
                })*
                list
            }
        }

        impl $crate::read::Read for $Name {
            fn what() -> String {
                concat!($word, " as a table").to_owned()
            }
            fn example() -> String {
                "{ … }".to_owned()
            }
            fn read(
                value: &toml::Spanned<toml::de::DeValue<'_>>, notes: &mut $crate::read::Notes,
            ) -> Option<Self> {
                match value.get_ref().as_table() {
                    Some(table) => Some(Self::from_table(table, $crate::read::span_of(value), notes)),
                    None => $crate::read::mismatch(value, notes),
                }
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
                    let mut schema = <$type as $crate::read::Read>::schema(generator);
                    let lines: &[&str] = &[$($fdoc),+];
                    let doc = $crate::read::joined(lines);
                    if schema.get("$ref").is_some() {
                        schema = schemars::json_schema!({ "allOf": [schema] });
                    }
                    schema.insert("description".to_owned(), doc.into());
                    properties.insert(stringify!($field).to_owned(), schema.to_value());
                })*
                let lines: &[&str] = &[$($doc),+];
                let doc = $crate::read::joined(lines);
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
            /// All words.
            pub(crate) const WORDS: &'static [&'static str] = &[$($word),+];

            /// The word.
            #[allow(dead_code, reason = "not every choice is printed")]
            pub(crate) const fn word(self) -> &'static str {
                match self { $(Self::$Variant => $word),+ }
            }
        }

        impl $crate::read::Read for $Name {
            fn what() -> String {
                $what.to_owned()
            }
            fn example() -> String {
                format!("\"{}\"", Self::WORDS.join("\" or \""))
            }
            fn read(
                value: &toml::Spanned<toml::de::DeValue<'_>>, notes: &mut $crate::read::Notes,
            ) -> Option<Self> {
                let Some(text) = value.get_ref().as_str() else { return $crate::read::mismatch(value, notes) };
                match text {
                    $($word => Some(Self::$Variant),)+
                    other => {
                        notes
                            .wrong(
                                $crate::read::span_of(value),
                                format!("`{}` is not {}", $crate::read::shortened(other), $what),
                            )
                            .maybe($crate::read::suggestion(other, Self::WORDS.iter().copied()));
                        None
                    }
                }
            }
            fn schema(_: &mut schemars::SchemaGenerator) -> schemars::Schema {
                let words = Self::WORDS;
                let meanings = [$({
                    let lines: &[&str] = &[$($vdoc),+];
                    $crate::read::joined(lines)
                }),+];
                schemars::json_schema!({ "type": "string", "enum": words, "enumDescriptions": meanings })
            }
        }
    )*};
}
pub(crate) use words;
