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

/// A number, plain or with a unit.
fn number(text: &str) -> Result<f64, String> {
    let text = text.trim();
    let finite =
        |value: f64| if value.is_finite() { Ok(value) } else { Err(format!("`{text}` is not finite")) };
    if let Ok(value) = text.parse::<f64>() {
        return finite(value);
    }
    if let Some(value) = text.strip_suffix('%').and_then(|rest| rest.trim().parse::<f64>().ok()) {
        return finite(value / 100.0);
    }
    if let Ok(rate) = Rate::from_text(text) {
        return Ok(rate.as_bps_f64());
    }
    if let Ok(span) = Duration::from_text(text) {
        return Ok(span.as_secs_f64());
    }
    if let Ok(size) = Bytes::from_text(text) {
        return Ok(size.as_f64());
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
}
