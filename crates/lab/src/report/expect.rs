//! Relations of `[expect]`: `">= 0.9"`, `"0.9 .. 0.95"`, `"<= 20 ms"`.

use units::{Bytes, Duration, Rate, UnitText};

/// One row of `[expect]`.
#[derive(Clone, Debug, PartialEq)]
pub struct Expectation {
    /// Dotted key of a result, such as `link.bottleneck.utilisation`.
    pub key: String,
    /// The relation in the scenario's notation.
    pub text: String,
    /// The relation.
    pub sides: Sides,
}

/// An interval of accepted values.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Sides {
    /// Minimum value; minus infinity for none.
    pub low: f64,
    /// Whether `low` is accepted.
    pub low_included: bool,
    /// Maximum value; infinity for none.
    pub high: f64,
    /// Whether `high` is accepted.
    pub high_included: bool,
}

impl Sides {
    /// Whether `value` is in the interval; false for NaN.
    pub fn hold(&self, value: f64) -> bool {
        let above = if self.low_included { value >= self.low } else { value > self.low };
        let below = if self.high_included { value <= self.high } else { value < self.high };
        above && below
    }

    /// Reads `">= x"`, `"> x"`, `"<= x"`, `"< x"`, `"== x"`, `"x .. y"`, `"in x .. y"` or `"x +- y"`. A number may have
    /// a unit of rate, time or size, or `%`; it is converted to bit/s, seconds, bytes or 1. The error is a message.
    pub fn read(text: &str) -> Result<Self, String> {
        Self::read_by(text, |number| Ok(quantity(number)?.0))
    }

    /// Reads a relation of a result in `unit`, as [`crate::Metric`] has it. Fails for numbers in a unit of something
    /// else; the error is a message, and the units that go if it is for these.
    pub fn read_in(text: &str, unit: &str) -> Result<Self, (String, Option<String>)> {
        let mut hint = None;
        let read = Self::read_by(text, |number| {
            let (value, kind) = quantity(number)?;
            if kind == Kind::Plain || kind.unit() == unit {
                return Ok(value);
            }
            hint = Some(units_of(unit));
            Err(format!("`{}` is {}, and this result is {}", number.trim(), kind.what(), meaning(unit)))
        });
        read.map_err(|message| (message, hint))
    }

    /// Reads a relation with `number` for its numbers.
    fn read_by(text: &str, mut number: impl FnMut(&str) -> Result<f64, String>) -> Result<Self, String> {
        let all =
            Self { low: f64::NEG_INFINITY, low_included: true, high: f64::INFINITY, high_included: true };
        let text = text.trim();
        if let Some(rest) = text.strip_prefix(">=") {
            return Ok(Self { low: number(rest)?, ..all });
        }
        if let Some(rest) = text.strip_prefix("<=") {
            return Ok(Self { high: number(rest)?, ..all });
        }
        if let Some(rest) = text.strip_prefix("==") {
            let value = number(rest)?;
            return Ok(Self { low: value, high: value, ..all });
        }
        if let Some(rest) = text.strip_prefix('>') {
            return Ok(Self { low: number(rest)?, low_included: false, ..all });
        }
        if let Some(rest) = text.strip_prefix('<') {
            return Ok(Self { high: number(rest)?, high_included: false, ..all });
        }
        if let Some((low, high)) = text.strip_prefix("in ").unwrap_or(text).split_once("..") {
            let (low, high) = (number(low)?, number(high)?);
            return if low <= high {
                Ok(Self { low, high, ..all })
            } else {
                Err(format!("`{text}` is empty: its low end is above its high end"))
            };
        }
        if let Some((middle, by)) = text.split_once("+-").or_else(|| text.split_once('±')) {
            let (middle, by) = (number(middle)?, number(by)?);
            return if by >= 0.0 {
                Ok(Self { low: middle - by, high: middle + by, ..all })
            } else {
                Err(format!("`{text}` is empty: the tolerance after `+-` is negative"))
            };
        }
        Err(format!("`{text}` is not a relation"))
    }
}

/// What the unit of a number says that it is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Plain,
    Share,
    Rate,
    Time,
    Size,
}

impl Kind {
    /// The unit of the results that are of this kind.
    fn unit(self) -> &'static str {
        match self {
            Self::Plain => "",
            Self::Share => "1",
            Self::Rate => "bps",
            Self::Time => "s",
            Self::Size => "bytes",
        }
    }

    fn what(self) -> &'static str {
        match self {
            Self::Plain => "a number",
            Self::Share => "a share",
            Self::Rate => Rate::WHAT,
            Self::Time => Duration::WHAT,
            Self::Size => Bytes::WHAT,
        }
    }
}

/// What a result in `unit` is.
fn meaning(unit: &str) -> String {
    let kinds = [Kind::Share, Kind::Rate, Kind::Time, Kind::Size];
    match kinds.into_iter().find(|kind| kind.unit() == unit) {
        Some(kind) => kind.what().to_owned(),
        None => format!("a number of {unit}"),
    }
}

/// How numbers of a result in `unit` are written.
fn units_of(unit: &str) -> String {
    match unit {
        "bps" => format!("write {}, or a number of bit/s", Rate::UNITS.join(", ")),
        "s" => format!("write {}, or a number of seconds", Duration::UNITS.join(", ")),
        "bytes" => format!("write {}, or a number of bytes", Bytes::UNITS.join(", ")),
        "1" => "write a number such as 0.05, or 5 %".to_owned(),
        other => format!("write a number of {other}, without a unit"),
    }
}

/// A number, plain or with a unit, and what the unit says.
fn quantity(text: &str) -> Result<(f64, Kind), String> {
    let text = text.trim();
    let finite = |value: f64, kind| {
        if value.is_finite() { Ok((value, kind)) } else { Err(format!("`{text}` is not finite")) }
    };
    if let Ok(value) = text.parse::<f64>() {
        return finite(value, Kind::Plain);
    }
    if let Some(value) = text.strip_suffix('%').and_then(|rest| rest.trim().parse::<f64>().ok()) {
        return finite(value / 100.0, Kind::Share);
    }
    if let Ok(rate) = Rate::from_text(text) {
        return Ok((rate.as_bps_f64(), Kind::Rate));
    }
    if let Ok(span) = Duration::from_text(text) {
        return Ok((span.as_secs_f64(), Kind::Time));
    }
    if let Ok(size) = Bytes::from_text(text) {
        return Ok((size.as_f64(), Kind::Size));
    }
    Err(format!("`{text}` is not a number"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn relations_hold_where_they_say() {
        for (text, yes, no) in [
            (">= 0.9", 0.9, 0.89),
            ("> 0.9", 0.91, 0.9),
            ("<= 20 ms", 0.02, 0.021),
            ("< 1e3", 999.0, 1000.0),
            ("== 3", 3.0, 3.1),
            ("0.915 .. 0.945", 0.945, 0.946),
            ("in 0.915..0.945", 0.915, 0.914),
            ("20 Mbit/s +- 10 kbit/s", 20_010_000.0, 20_011_000.0),
            ("<= 5 %", 0.05, 0.051),
        ] {
            let sides = Sides::read(text).expect("a relation");
            assert!(sides.hold(yes), "{text} at {yes}");
            assert!(!sides.hold(no), "{text} at {no}");
            assert!(!sides.hold(f64::NAN));
        }
    }

    #[test]
    fn what_is_no_relation_is_refused() {
        for text in ["", "0.9", ">= many", "2 .. 1", "in 3", "in >= 3", "1 +- -1", ">= nan", "< inf"] {
            assert!(Sides::read(text).is_err(), "{text}");
        }
    }

    /// A result of each unit takes numbers without a unit and in units of its kind, on every side of a relation.
    #[test]
    fn a_relation_is_in_units_of_its_result() {
        let examples = [("bps", "2 Mbit/s"), ("s", "5 ms"), ("bytes", "3 kB"), ("1", "5 %")];
        for unit in ["bps", "s", "bytes", "1", "packets", "events", "bit/s²"] {
            for (of, number) in examples {
                for text in [
                    format!(">= {number}"),
                    format!("< {number}"),
                    format!("== {number}"),
                    format!("{number} .. 1e12"),
                    format!("0 .. {number}"),
                    format!("7 +- {number}"),
                ] {
                    let read = Sides::read_in(&text, unit);
                    if of == unit {
                        assert_eq!(read, Ok(Sides::read(&text).expect("a relation")), "{text} of {unit}");
                    } else {
                        let (message, hint) = read.expect_err(&text);
                        assert!(message.contains(number), "{message}");
                        assert!(hint.is_some_and(|hint| hint.starts_with("write ")), "{text} of {unit}");
                    }
                }
            }
            assert!(Sides::read_in(">= 5", unit).is_ok() && Sides::read_in("5 .. 7", unit).is_ok());
            assert_eq!(Sides::read_in(">= many", unit).expect_err("no number").1, None);
        }
    }
}
