//! Declarations of tables and of words: the types, their reading and printing, and their JSON Schema, from one list of
//! keys.

use crate::schema::hints::shortened;
use crate::schema::notes::Notes;
use crate::schema::renames::{likely, unknown_key};
use crate::schema::tree::Table;

/// Notes the keys of `table` that are not in `known`. Returns the known keys that they resemble.
pub(crate) fn refuse_unknown<'a>(table: &Table, known: &[&'a str], notes: &mut Notes) -> Vec<&'a str> {
    let mut suggested = Vec::new();
    for entry in table.iter() {
        let key = &*entry.key;
        if !known.contains(&key) {
            let known = known.iter().copied();
            let (message, hint) =
                unknown_key(key, format!("unknown key `{}`", shortened(key)), known.clone());
            notes.wrong(entry.location, message).maybe(hint);
            suggested.extend(likely(key, known));
        }
    }
    suggested
}

/// The type of a field of a table: a key, or a table whose keys are part of it.
macro_rules! field_type {
    ([] $type:ty) => { $crate::schema::read::Field<$type> };
    ([flat] $type:ty) => { $type };
}
pub(crate) use field_type;

/// Declares tables of a scenario once: the struct, how it is read and written, its defaults, and its schema. Each
/// field is a [`Field`], or, after `[flat]`, a table whose keys are part of this one. A default is written as in a
/// scenario. A check after `where` gets the value and answers with a message and a hint.
///
/// The schema of a table `in brief` has the first sentence of each key, and no default: the table that it is part of
/// has all of them.
macro_rules! tables {
    ($($(#[doc = $doc:literal])+ pub(crate) struct $Name:ident = $word:literal $(in $brief:ident)? {
        $(
            $(#[doc = $fdoc:literal])+
            $([$flat:ident])? $field:ident : $type:ty $(= $default:tt)? $(where $check:expr)?,
        )*
    })*) => {$(
        $(#[doc = $doc])+
        #[derive(Clone, Debug, Default, PartialEq)]
        pub(crate) struct $Name {
            pub(crate) location: $crate::schema::tree::Location,
            $($(#[doc = $fdoc])+ pub(crate) $field: $crate::schema::declare::field_type!([$($flat)?] $type),)*
        }

        #[allow(dead_code, reason = "not every table is asked for all of it")]
        impl $Name {
            /// Reads the keys of a table.
            pub(crate) fn from_table(
                table: &$crate::schema::tree::Table, location: $crate::schema::tree::Location, notes: &mut $crate::schema::read::Notes,
            ) -> Self {
                let mut keys = Vec::new();
                <Self as $crate::schema::keys::Keys>::names("", &mut keys);
                let suggested = $crate::schema::read::refuse_unknown(table, &keys, notes);
                $crate::schema::keys::Keys::read("", table, location, &suggested, notes)
            }

            /// The keys that are written, with their values, in the order in which they are declared.
            pub(crate) fn to_table(&self) -> toml::Table {
                let mut table = toml::Table::new();
                $crate::schema::keys::Keys::write(self, "", &mut table);
                table
            }

            /// The keys that are written, with their places.
            pub(crate) fn written(&self) -> Vec<(&'static str, $crate::schema::tree::Location)> {
                let mut list = Vec::new();
                $crate::schema::keys::Keys::places(self, "", &mut list);
                list
            }

            /// The keys that have a default, each with it.
            pub(crate) fn defaults() -> &'static Self {
                static DEFAULTS: std::sync::LazyLock<$Name> = std::sync::LazyLock::new(|| $Name {
                    $($($field: $crate::schema::keys::default_value::<$type>(stringify!($default)).into(),)?)*
                    ..$Name::default()
                });
                &DEFAULTS
            }

            fn all_properties(
                generator: &mut schemars::SchemaGenerator, in_brief: bool, properties: &mut serde_json::Map<String, serde_json::Value>,
            ) {
                $({
                    let default: &[&str] = &[$(stringify!($default))?];
                    let mut doc = $crate::schema::keys::described(&[$($fdoc),+], default.first());
                    if in_brief {
                        doc = $crate::schema::keys::brief(&doc);
                    }
                    <$crate::schema::declare::field_type!([$($flat)?] $type) as $crate::schema::keys::Keys>::properties(
                        stringify!($field), doc, generator, properties,
                    );
                })*
            }
        }

        impl $crate::schema::keys::Keys for $Name {
            fn names(_: &'static str, list: &mut Vec<&'static str>) {
                $(<$crate::schema::declare::field_type!([$($flat)?] $type) as $crate::schema::keys::Keys>::names(stringify!($field), list);)*
            }
            fn read(
                _: &'static str, table: &$crate::schema::tree::Table, location: $crate::schema::tree::Location, suggested: &[&str],
                notes: &mut $crate::schema::read::Notes,
            ) -> Self {
                let mut read = Self { location, ..Self::default() };
                $(
                    read.$field = $crate::schema::keys::Keys::read(stringify!($field), table, location, suggested, notes);
                    $(
                        if let Some(at) = read.$field.present()
                            && let Err((message, hint)) = ($check)(&at.value)
                        {
                            notes.wrong(at.location, message).hint(hint);
                            read.$field = $crate::schema::read::Field::Wrong;
                        }
                    )?
                )*
                read
            }
            fn write(&self, _: &'static str, table: &mut toml::Table) {
                $($crate::schema::keys::Keys::write(&self.$field, stringify!($field), table);)*
            }
            fn places(&self, _: &'static str, list: &mut Vec<(&'static str, $crate::schema::tree::Location)>) {
                $($crate::schema::keys::Keys::places(&self.$field, stringify!($field), list);)*
            }
            fn properties(
                _: &str, _: String, generator: &mut schemars::SchemaGenerator, properties: &mut serde_json::Map<String, serde_json::Value>,
            ) {
                Self::all_properties(generator, false, properties);
            }
            fn over(self, base: &Self) -> Self {
                Self {
                    location: if self.location == Default::default() { base.location } else { self.location },
                    $($field: $crate::schema::keys::Keys::over(self.$field, &base.$field),)*
                }
            }
            fn beside(&self, other: &Self, defaults: &Self) -> Self {
                Self {
                    location: Default::default(),
                    $($field: $crate::schema::keys::Keys::beside(&self.$field, &other.$field, &defaults.$field),)*
                }
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
                let brief: &[&str] = &[$(stringify!($brief))?];
                Self::all_properties(generator, !brief.is_empty(), &mut properties);
                schemars::json_schema!({
                    "type": "object",
                    "description": $crate::schema::keys::described(&[$($doc),+], None),
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
                    $crate::schema::keys::described(&[$($vdoc),+], None)
                }),+];
                schemars::json_schema!({ "type": "string", "enum": words, "enumDescriptions": meanings })
            }
        }
    )*};
}
pub(crate) use words;
