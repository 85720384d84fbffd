//! Parameters of schemes, declared once for the Rust struct, the scenario loader, Python, and the docs.

use std::fmt;

use units::{Bytes, Duration, Rate, UnitText};

/// A parameter's value as a scenario gives it.
#[derive(Clone, Debug, PartialEq)]
pub enum ParamValue {
    /// `0.7`
    Float(f64),
    /// `2`
    Int(i64),
    /// `true`
    Bool(bool),
    /// `"20 ms"`, `"printed"`
    Text(String),
}

impl fmt::Display for ParamValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Float(x) => write!(f, "{x}"),
            Self::Int(x) => write!(f, "{x}"),
            Self::Bool(x) => write!(f, "{x}"),
            Self::Text(x) => f.write_str(x),
        }
    }
}

impl From<f64> for ParamValue {
    fn from(x: f64) -> Self {
        Self::Float(x)
    }
}

impl From<i64> for ParamValue {
    fn from(x: i64) -> Self {
        Self::Int(x)
    }
}

impl From<bool> for ParamValue {
    fn from(x: bool) -> Self {
        Self::Bool(x)
    }
}

impl From<&str> for ParamValue {
    fn from(x: &str) -> Self {
        Self::Text(x.to_owned())
    }
}

/// The values that a scenario sets, by name; the others have their defaults.
pub type ParamList = Vec<(String, ParamValue)>;

/// Error of a parameter.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParamError {
    /// Name of the parameter.
    pub name: String,
    /// What is wrong.
    pub message: String,
    /// What to write instead.
    pub hint: Option<String>,
    /// Another parameter with which the value is incompatible.
    pub conflicts_with: Option<&'static str>,
}

impl fmt::Display for ParamError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "`{}`: {}", self.name, self.message)
    }
}

impl std::error::Error for ParamError {}

/// A row of a scheme's table of parameters.
#[derive(Clone, Debug, PartialEq)]
pub struct ParamInfo {
    /// Its name: TOML key, Python keyword and Rust field.
    pub name: &'static str,
    /// Its meaning.
    pub doc: String,
    /// Kind of its value.
    pub kind: ParamKind,
    /// Its default value.
    pub default: ParamValue,
    /// Minimum and maximum value allowed.
    pub range: Option<(ParamValue, ParamValue)>,
    /// Its source: paper and section, or `our choice: reason`.
    pub source: &'static str,
}

/// Kind of value a parameter takes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ParamKind {
    /// A number without a unit.
    Number,
    /// A whole number.
    Count,
    /// `true` or `false`.
    Switch,
    /// A time with its unit.
    Time,
    /// A rate with its unit.
    Rate,
    /// A size with its unit.
    Size,
    /// One of several words.
    Choice(&'static [&'static str]),
}

impl ParamKind {
    /// Its name in tables.
    pub fn name(self) -> String {
        match self {
            Self::Number => "number".to_owned(),
            Self::Count => "count".to_owned(),
            Self::Switch => "switch".to_owned(),
            Self::Time => "time".to_owned(),
            Self::Rate => "rate".to_owned(),
            Self::Size => "size".to_owned(),
            Self::Choice(words) => words.join(" | "),
        }
    }
}

/// A type that a parameter can have.
pub trait Param: Sized + PartialOrd {
    /// Its kind.
    const KIND: ParamKind;

    /// Reads a value; the error is a message and a hint.
    fn read(value: &ParamValue) -> Result<Self, (String, Option<String>)>;

    /// Writes a value in the form that `read` accepts.
    fn write(&self) -> ParamValue;
}

fn wrong<T>(value: &ParamValue, wanted: &str) -> Result<T, (String, Option<String>)> {
    Err((format!("`{value}` is not {wanted}"), None))
}

impl Param for f64 {
    const KIND: ParamKind = ParamKind::Number;
    fn read(value: &ParamValue) -> Result<Self, (String, Option<String>)> {
        match value {
            ParamValue::Float(x) if x.is_finite() => Ok(*x),
            ParamValue::Int(x) => Ok(*x as f64),
            other => wrong(other, "a number"),
        }
    }
    fn write(&self) -> ParamValue {
        ParamValue::Float(*self)
    }
}

impl Param for u32 {
    const KIND: ParamKind = ParamKind::Count;
    fn read(value: &ParamValue) -> Result<Self, (String, Option<String>)> {
        match value {
            ParamValue::Int(x) => Self::try_from(*x).or_else(|_| wrong(value, "a count")),
            other => wrong(other, "a whole number"),
        }
    }
    fn write(&self) -> ParamValue {
        ParamValue::Int(i64::from(*self))
    }
}

impl Param for bool {
    const KIND: ParamKind = ParamKind::Switch;
    fn read(value: &ParamValue) -> Result<Self, (String, Option<String>)> {
        match value {
            ParamValue::Bool(x) => Ok(*x),
            other => wrong(other, "true or false"),
        }
    }
    fn write(&self) -> ParamValue {
        ParamValue::Bool(*self)
    }
}

macro_rules! quantity {
    ($($type:ty => $kind:expr;)*) => {$(
        impl Param for $type {
            const KIND: ParamKind = $kind;
            fn read(value: &ParamValue) -> Result<Self, (String, Option<String>)> {
                match value {
                    ParamValue::Text(text) => <$type>::from_text(text).map_err(|e| (e.message, Some(e.hint))),
                    other => Err((
                        format!("`{other}` has no unit"),
                        Some(format!("write it as text with its unit, such as \"{}\"", <$type>::EXAMPLE)),
                    )),
                }
            }
            fn write(&self) -> ParamValue {
                ParamValue::Text(self.to_string())
            }
        }
    )*};
}

quantity! {
    Duration => ParamKind::Time;
    Rate => ParamKind::Rate;
    Bytes => ParamKind::Size;
}

/// A struct of parameters, as [`params!`](crate::params) makes it.
pub trait ParamTable: Default {
    /// Every parameter, in the order of declaration.
    fn table() -> Vec<ParamInfo>;

    /// Sets a parameter by name. Fails for an unknown name, a wrong kind, or a value out of range.
    fn set(&mut self, name: &str, value: &ParamValue) -> Result<(), ParamError>;

    /// All parameters in the notation of scenarios.
    fn list(&self) -> ParamList;

    /// Checks the order of ordered parameters, and limits that depend on a switch. Fails on the first that is violated.
    fn check(&self) -> Result<(), ParamError>;

    /// The defaults with the values of `given`.
    fn with(given: &[(String, ParamValue)]) -> Result<Self, ParamError> {
        let mut params = Self::default();
        given.iter().try_for_each(|(name, value)| params.set(name, value))?;
        params.check()?;
        Ok(params)
    }
}

/// The defaults of a table with the values of `given`, for parts that have no struct of parameters. Fails as
/// [`ParamTable::with`] does.
pub fn resolve_params(table: &[ParamInfo], given: &[(String, ParamValue)]) -> Result<ParamList, ParamError> {
    let mut list: ParamList = table.iter().map(|info| (info.name.to_owned(), info.default.clone())).collect();
    for (name, value) in given {
        let fail = |(message, hint)| ParamError { name: name.clone(), message, hint, conflicts_with: None };
        let Some(at) = table.iter().position(|info| info.name == name) else {
            return Err(fail(("no such parameter".to_owned(), None)));
        };
        let info = &table[at];
        list[at].1 = match info.kind {
            ParamKind::Number => checked::<f64>(info, value),
            ParamKind::Count => checked::<u32>(info, value),
            ParamKind::Switch => checked::<bool>(info, value),
            ParamKind::Time => checked::<Duration>(info, value),
            ParamKind::Rate => checked::<Rate>(info, value),
            ParamKind::Size => checked::<Bytes>(info, value),
            ParamKind::Choice(words) => match value {
                ParamValue::Text(word) if words.contains(&word.as_str()) => Ok(value.clone()),
                other => Err((
                    format!("`{other}` is not one of the choices"),
                    Some(format!("choose {}", words.join(", "))),
                )),
            },
        }
        .map_err(fail)?;
    }
    Ok(list)
}

/// A value in the form that [`Param::write`] gives it, if it is in the range.
fn checked<P: Param>(info: &ParamInfo, value: &ParamValue) -> Result<ParamValue, (String, Option<String>)> {
    let read = P::read(value)?;
    if let Some((low, high)) = &info.range
        && !(read >= P::read(low)? && read <= P::read(high)?)
    {
        let hint = format!("it must lie within {low} and {high}: {}", info.doc);
        return Err((format!("`{value}` is out of range"), Some(hint)));
    }
    Ok(read.write())
}

/// Declares a scheme's parameters: a struct, its defaults, range checks and the table of the docs. Pairs that must be
/// ordered follow, one `order` each, and then values that are limited unless a switch is on, one `limit` each.
///
/// ```
/// contract::params! {
///     /// Share of the window kept after a loss.
///     beta: f64 = 0.7, within 0.0..=1.0, from "RFC9438 §4.6";
///     /// Release bandwidth sooner for new flows.
///     fast_convergence: bool = true, from "RFC9438 §4.7";
///     /// Minimum window.
///     min: u32 = 2, from "RFC5681 §3.1";
///     /// Maximum window.
///     max: u32 = 1000, from "our choice: an example";
///     order min <= max;
///     limit beta <= 0.9 unless fast_convergence;
/// }
/// ```
#[macro_export]
macro_rules! params {
    ($($(#[doc = $doc:literal])+ $name:ident : $type:ty = $default:expr
        $(, within $low:literal ..= $high:literal)?, from $source:literal;)*
        $(order $less:ident <= $more:ident;)*
        $(limit $limited:ident <= $maximum:literal unless $switch:ident;)*) => {
        /// Parameters, as a scenario sets them.
        #[derive(Clone, Debug, PartialEq)]
        pub struct Params {
            $($(#[doc = $doc])+ pub $name: $type,)*
        }

        impl Default for Params {
            fn default() -> Self {
                Self { $($name: $default,)* }
            }
        }

        impl $crate::ParamTable for Params {
            fn table() -> Vec<$crate::ParamInfo> {
                #[allow(unused_variables, reason = "a scheme may have no parameters")]
                let defaults = Self::default();
                vec![$($crate::ParamInfo {
                    name: stringify!($name),
                    doc: [$($doc),+].iter().map(|line: &&str| line.trim()).collect::<Vec<_>>().join(" "),
                    kind: <$type as $crate::Param>::KIND,
                    default: $crate::Param::write(&defaults.$name),
                    #[allow(unused_mut, unused_assignments, reason = "not every parameter has a range")]
                    range: { let mut range = None; $(range = Some(($low.into(), $high.into()));)? range },
                    source: $source,
                },)*]
            }

            fn set(&mut self, name: &str, value: &$crate::ParamValue) -> Result<(), $crate::ParamError> {
                #[allow(unused_variables, reason = "a scheme may have no parameters")]
                let fail = |(message, hint): (String, Option<String>)| $crate::ParamError {
                    name: name.to_owned(), message, hint, conflicts_with: None,
                };
                match name {
                    $(stringify!($name) => {
                        let read = <$type as $crate::Param>::read(value).map_err(fail)?;
                        #[allow(unused_variables, reason = "not every parameter has a range")]
                        let what = [$($doc),+];
                        $(
                            let low = <$type as $crate::Param>::read(&$low.into()).map_err(fail)?;
                            let high = <$type as $crate::Param>::read(&$high.into()).map_err(fail)?;
                            if !(read >= low && read <= high) {
                                let what = what.map(|line: &str| line.trim()).join(" ");
                                return Err(fail((
                                    format!("`{value}` is out of range"),
                                    Some(format!("it must lie within {} and {}: {what}", $low, $high)),
                                )));
                            }
                        )?
                        self.$name = read;
                        Ok(())
                    })*
                    _ => Err($crate::ParamError {
                        name: name.to_owned(),
                        message: "no such parameter".to_owned(),
                        hint: None,
                        conflicts_with: None,
                    }),
                }
            }

            fn list(&self) -> $crate::ParamList {
                vec![$((stringify!($name).to_owned(), $crate::Param::write(&self.$name)),)*]
            }

            fn check(&self) -> Result<(), $crate::ParamError> {
                $(if self.$less > self.$more {
                    let (less, more) = ($crate::Param::write(&self.$less), $crate::Param::write(&self.$more));
                    return Err($crate::ParamError {
                        name: stringify!($less).to_owned(),
                        message: format!(
                            "`{}` of {less} is above `{}` of {more}", stringify!($less), stringify!($more)
                        ),
                        hint: Some("lower one or raise the other".to_owned()),
                        conflicts_with: Some(stringify!($more)),
                    });
                })*
                $(if !self.$switch && self.$limited > $maximum {
                    return Err($crate::ParamError {
                        name: stringify!($limited).to_owned(),
                        message: format!(
                            "{} is above {}, which needs `{}`",
                            $crate::Param::write(&self.$limited), $maximum, stringify!($switch)
                        ),
                        hint: Some(format!("lower it, or set `{} = true`", stringify!($switch))),
                        conflicts_with: Some(stringify!($switch)),
                    });
                })*
                Ok(())
            }
        }
    };
}

/// Declares a parameter whose values are words.
///
/// ```
/// contract::choice! {
///     /// How the deviation is updated.
///     pub enum Deviation {
///         /// As usual.
///         Standard = "standard",
///         /// As printed.
///         Printed = "printed",
///     }
/// }
/// ```
#[macro_export]
macro_rules! choice {
    ($(#[doc = $doc:literal])+ pub enum $name:ident { $($(#[doc = $vdoc:literal])+ $variant:ident = $word:literal),+ $(,)? }) => {
        $(#[doc = $doc])+
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd)]
        pub enum $name { $($(#[doc = $vdoc])+ $variant),+ }

        impl $crate::Param for $name {
            const KIND: $crate::ParamKind = $crate::ParamKind::Choice(&[$($word),+]);
            fn read(value: &$crate::ParamValue) -> Result<Self, (String, Option<String>)> {
                match value {
                    $($crate::ParamValue::Text(word) if word == $word => Ok(Self::$variant),)+
                    other => Err((
                        format!("`{other}` is not one of the choices"),
                        Some(format!("choose {}", [$($word),+].join(", "))),
                    )),
                }
            }
            fn write(&self) -> $crate::ParamValue {
                $crate::ParamValue::Text(match self { $(Self::$variant => $word),+ }.to_owned())
            }
        }
    };
}

#[cfg(test)]
mod tests {
    use super::*;

    crate::choice! {
        /// How it is done.
        pub enum Way {
            /// One.
            This = "this",
            /// The other.
            That = "that",
        }
    }

    crate::params! {
        /// Share kept.
        beta: f64 = 0.7, within 0.0..=1.0, from "RFC9438 §4.6";
        /// Longest wait.
        patience: Duration = Duration::from_millis(200), within "1 ms"..="10 s", from "our choice: as Linux";
        /// The way.
        way: Way = Way::This, from "our choice: there are two";
        /// Minimum window.
        min: u32 = 2, from "RFC5681 §3.1";
        /// Maximum window.
        max: u32 = 100, from "our choice: as good as any";
        order min <= max;
    }

    #[test]
    fn parameters_round_trip_through_text() {
        let mut params = Params::default();
        params.set("patience", &"1500 ms".into()).expect("in range");
        params.set("way", &"that".into()).expect("a choice");
        assert_eq!(Params::with(&params.list()), Ok(params));
    }

    #[test]
    fn wrong_parameters_are_refused_by_name() {
        let mut params = Params::default();
        let error = params.set("beta", &1.5.into()).expect_err("out of range");
        assert_eq!(error.to_string(), "`beta`: `1.5` is out of range");
        assert_eq!(error.hint.as_deref(), Some("it must lie within 0 and 1: Share kept."));
        assert!(params.set("patience", &5i64.into()).expect_err("no unit").message.contains("has no unit"));
        assert!(params.set("bta", &0.5.into()).is_err());
        assert_eq!(params, Params::default());
    }
    #[test]
    fn a_table_without_a_struct_is_resolved_alike() {
        let mut table = Params::table();
        table.truncate(3);
        let given = [("patience".to_owned(), "1500 ms".into()), ("way".to_owned(), "that".into())];
        let list = resolve_params(&table, &given).expect("in range");
        assert_eq!(list, Params::with(&given).expect("in range").list()[..3]);
        for (name, value) in
            [("beta", 1.5.into()), ("patience", 5i64.into()), ("way", "none".into()), ("bta", 0.5.into())]
        {
            let given = [(name.to_owned(), value)];
            let (one, other) = (resolve_params(&table, &given), Params::with(&given));
            assert_eq!(one.map_err(|error| (error.name, error.message, error.hint)).expect_err("refused"), {
                let error = other.expect_err("refused");
                (error.name, error.message, error.hint)
            });
        }
    }

    #[test]
    fn ordered_parameters_are_checked_together() {
        let given = |min: i64, max: i64| {
            let list = [("min", min), ("max", max)];
            Params::with(&list.map(|(name, value)| (name.to_owned(), value.into())))
        };
        assert!(given(100, 100).is_ok() && given(500, 1000).is_ok());
        let error = given(500, 200).expect_err("the wrong way round");
        assert_eq!(error.message, "`min` of 500 is above `max` of 200");
        assert_eq!((error.name.as_str(), error.conflicts_with), ("min", Some("max")));
        // each is set by itself, before it is known what else is
        let mut params = Params::default();
        assert_eq!(params.set("min", &500i64.into()), Ok(()));
        assert_eq!(params.check().expect_err("above the default").conflicts_with, Some("max"));
    }
}
