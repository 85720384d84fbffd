//! Declarations of tables and of words: the types, their reading and printing, and their JSON Schema, from one list of
//! keys.

use crate::schema::hints::{nearest, shortened};
use crate::schema::notes::Notes;
use crate::schema::renames::{renamed, unknown};
use crate::schema::tree::Table;

/// Notes the keys of `table` that are not in `known`. Returns the known keys that they resemble.
pub(crate) fn refuse_unknown<'a>(table: &Table, known: &[&'a str], notes: &mut Notes) -> Vec<&'a str> {
    let mut suggested = Vec::new();
    for entry in table.iter() {
        let key = &*entry.key;
        if !known.contains(&key) {
            let known = known.iter().copied();
            let (message, hint) = unknown(key, format!("unknown key `{}`", shortened(key)), known.clone());
            notes.wrong(entry.location, message).maybe(hint);
            suggested.extend(renamed(key, known.clone()).or_else(|| nearest(key, known)));
        }
    }
    suggested
}

/// Lines of a doc comment in one.
pub(crate) fn joined(lines: &[&str]) -> String {
    lines.iter().map(|line| line.trim()).collect::<Vec<_>>().join(" ")
}

/// Declares tables of a scenario once: the struct, how it is read and written, and its schema. Each field is a
/// [`Field`]; a check after `where` gets the value and answers with a message and a hint.
macro_rules! tables {
    ($($(#[doc = $doc:literal])+ pub(crate) struct $Name:ident = $word:literal {
        $($(#[doc = $fdoc:literal])+ $field:ident : $type:ty $(where $check:expr)?,)*
    })*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $Name {
            pub(crate) location: $crate::schema::tree::Location,
            $($(#[doc = $fdoc])+ pub(crate) $field: $crate::schema::read::Field<$type>,)*
        }

        impl $Name {
            /// Its keys.
            pub(crate) const KEYS: &'static [&'static str] = &[$(stringify!($field)),*];

            /// Reads the keys of a table.
            pub(crate) fn from_table(
                table: &$crate::schema::tree::Table, location: $crate::schema::tree::Location, notes: &mut $crate::schema::read::Notes,
            ) -> Self {
                let mut read = Self { location, ..Self::default() };
                let suggested = $crate::schema::read::refuse_unknown(table, Self::KEYS, notes);
                $(if let Some(node) = table.get(stringify!($field)) {
                    read.$field = match <$type as $crate::schema::read::Read>::read(node, notes) {
                        Some(inner) => {
                            let location = node.location;
                            #[allow(unused_mut, reason = "not every field has a check")]
                            let mut given = $crate::schema::read::Field::Present($crate::schema::read::At { value: inner, location });
                            $(
                                if let $crate::schema::read::Field::Present(at) = &given
                                    && let Err((message, hint)) = ($check)(&at.value)
                                {
                                    notes.wrong(location, message).hint(hint);
                                    given = $crate::schema::read::Field::Wrong;
                                }
                            )?
                            given
                        }
                        None => $crate::schema::read::Field::Wrong,
                    };
                } else if suggested.contains(&stringify!($field)) {
                    // it is written, and that it is wrong is noted
                    read.$field = $crate::schema::read::Field::Wrong;
                })*
                read
            }

            /// The keys that are written, with their values, in the order in which they are declared.
            pub(crate) fn to_table(&self) -> toml::Table {
                let mut table = toml::Table::new();
                $(if let $crate::schema::read::Field::Present(at) = &self.$field {
                    table.insert(stringify!($field).to_owned(), $crate::schema::read::Read::to_value(&at.value));
                })*
                table
            }

            /// The keys that are written, with their places.
            #[allow(dead_code, reason = "not every table is asked")]
            pub(crate) fn written(&self) -> Vec<(&'static str, $crate::schema::tree::Location)> {
                let mut list = Vec::new();
                $(if let $crate::schema::read::Field::Present(at) = &self.$field {
                    list.push((stringify!($field), at.location));
                })*
                list
            }
        }

        impl $crate::schema::read::Read for $Name {
            fn description() -> String {
                concat!($word, " as a table").to_owned()
            }
            fn example() -> String {
                "{ … }".to_owned()
            }
            fn read(
                node: &$crate::schema::tree::Node, notes: &mut $crate::schema::read::Notes,
            ) -> Option<Self> {
                match node.table() {
                    Some(table) => Some(Self::from_table(table, node.location, notes)),
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
            fn description() -> String {
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
                                node.location,
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
