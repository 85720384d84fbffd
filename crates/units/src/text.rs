//! Text such as `"50 Mbit/s"`, `"20 ms"`, `"1000 B"`, and the errors it can have.

use std::fmt;

use crate::{Bytes, Drift, Duration, Offset, Rate};

/// Why a text is not a quantity. `hint` shows a text that would do.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong, without the place.
    pub message: String,
    /// What to write instead.
    pub hint: String,
}

impl fmt::Display for UnitError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.message)
    }
}

impl std::error::Error for UnitError {}

/// A quantity that is written with its unit.
pub trait UnitText: Sized {
    /// What it is, with its article: `a rate`.
    const WHAT: &'static str;
    /// The units it takes, largest first.
    const UNITS: &'static [&'static str];
    /// A text that would do.
    const EXAMPLE: &'static str;

    /// Reads a number and a unit. Fails on a bare number, an unknown unit, a too large value, and a negative one where there is none.
    fn from_text(text: &str) -> Result<Self, UnitError>;
}

impl UnitText for Rate {
    const WHAT: &'static str = "a rate";
    const UNITS: &'static [&'static str] = &["Gbit/s", "Mbit/s", "kbit/s", "bit/s"];
    const EXAMPLE: &'static str = "50 Mbit/s";

    fn from_text(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "unlimited" {
            return Ok(Self::UNLIMITED);
        }
        let factors = [("Gbit/s", 1_000_000_000), ("Mbit/s", 1_000_000), ("kbit/s", 1_000), ("bit/s", 1)];
        scaled::<Self>(text, &factors).map(Self::from_bps)
    }
}

impl UnitText for Duration {
    const WHAT: &'static str = "a time";
    const UNITS: &'static [&'static str] = &["h", "min", "s", "ms", "us", "ns"];
    const EXAMPLE: &'static str = "20 ms";

    fn from_text(text: &str) -> Result<Self, UnitError> {
        scaled::<Self>(text, &NANOS).map(Self::from_nanos)
    }
}

/// Units of time, in nanoseconds.
const NANOS: [(&str, u64); 7] = [
    ("h", 3_600_000_000_000),
    ("min", 60_000_000_000),
    ("s", 1_000_000_000),
    ("ms", 1_000_000),
    ("us", 1_000),
    ("µs", 1_000),
    ("ns", 1),
];

impl UnitText for Offset {
    const WHAT: &'static str = "an offset";
    const UNITS: &'static [&'static str] = Duration::UNITS;
    const EXAMPLE: &'static str = "-20 ms";

    fn from_text(text: &str) -> Result<Self, UnitError> {
        signed::<Self>(text, &NANOS).map(Self::from_nanos)
    }
}

impl UnitText for Drift {
    const WHAT: &'static str = "a drift";
    const UNITS: &'static [&'static str] = &["ppm", "ppb"];
    const EXAMPLE: &'static str = "100 ppm";

    fn from_text(text: &str) -> Result<Self, UnitError> {
        let ppb = signed::<Self>(text, &[("ppm", 1_000), ("ppb", 1)])?;
        let most = i64::from(Self::MOST.as_ppb());
        match i32::try_from(ppb) {
            Ok(ppb) if i64::from(ppb).abs() <= most => Ok(Self::from_ppb(ppb)),
            _ => {
                let hint = format!("at most {} either way", Self::MOST);
                Err(UnitError { message: format!("`{}` is too large", text.trim()), hint })
            }
        }
    }
}

/// `text` as a whole number of the smallest unit, which may have a minus before it.
fn signed<T: UnitText>(text: &str, factors: &[(&str, u64)]) -> Result<i64, UnitError> {
    let (sign, size) = match text.trim().strip_prefix('-') {
        Some(rest) if !rest.starts_with(['-', '+']) => (-1, rest),
        _ => (1, text),
    };
    // 10¹⁸ is the largest
    scaled::<T>(size, factors).map(|value| sign * value as i64)
}

impl UnitText for Bytes {
    const WHAT: &'static str = "a size";
    const UNITS: &'static [&'static str] = &["GB", "MB", "kB", "B"];
    const EXAMPLE: &'static str = "1500 B";

    fn from_text(text: &str) -> Result<Self, UnitError> {
        if text.trim() == "unlimited" {
            return Ok(Self::UNLIMITED);
        }
        let factors = [
            ("GB", 1_000_000_000),
            ("MB", 1_000_000),
            ("kB", 1_000),
            ("B", 1),
            ("GiB", 1 << 30),
            ("MiB", 1 << 20),
            ("KiB", 1 << 10),
        ];
        scaled::<Self>(text, &factors).map(Self::new)
    }
}

/// `text` as a whole number of the smallest unit. The largest value accepted is 10¹⁸.
fn scaled<T: UnitText>(text: &str, factors: &[(&str, u64)]) -> Result<u64, UnitError> {
    let hint = || format!("write a number and {}, such as \"{}\"", one_of(T::UNITS), T::EXAMPLE);
    let fail = |message: String| UnitError { message, hint: hint() };
    let trimmed = text.trim();
    let end = trimmed
        .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | '_' | 'e' | 'E')))
        .unwrap_or(trimmed.len());
    let (number, unit) = (trimmed[..end].replace('_', ""), trimmed[end..].trim());
    let Ok(value) = number.parse::<f64>() else {
        return Err(fail(format!("`{text}` is not {}", T::WHAT)));
    };
    if unit.is_empty() {
        return Err(fail(format!("`{text}` has no unit")));
    }
    let Some((_, factor)) = factors.iter().find(|(name, _)| *name == unit) else {
        return Err(fail(format!("`{unit}` is not a unit of {}", T::WHAT)));
    };
    if value < 0.0 {
        return Err(fail(format!("`{text}` is negative")));
    }
    let total = value * *factor as f64;
    if !total.is_finite() || total > 1e18 {
        return Err(fail(format!("`{text}` is too large")));
    }
    // whole numbers stay exact, whatever their size
    match number.parse::<u64>() {
        Ok(whole) => Ok(whole * factor),
        Err(_) => Ok((total + 0.5) as u64),
    }
}

fn one_of(units: &[&str]) -> String {
    match units {
        [] => String::new(),
        [only] => (*only).to_owned(),
        [rest @ .., last] => format!("{} or {last}", rest.join(", ")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn quantities_are_read_with_their_unit() {
        assert_eq!(Rate::from_text("50 Mbit/s"), Ok(Rate::from_mbps(50)));
        assert_eq!(Rate::from_text("0.5Gbit/s"), Ok(Rate::from_mbps(500)));
        assert_eq!(Duration::from_text("20 ms"), Ok(Duration::from_millis(20)));
        assert_eq!(Duration::from_text("1.5 s"), Ok(Duration::from_millis(1500)));
        assert_eq!(Bytes::from_text("64 KiB"), Ok(Bytes::new(65536)));
    }

    #[test]
    fn offsets_and_drifts_may_be_negative() {
        assert_eq!(Offset::from_text("-1 h"), Ok(Offset::behind(Duration::from_secs(3600))));
        assert_eq!(Offset::from_text("2.5 ms"), Ok(Offset::from_nanos(2_500_000)));
        assert_eq!(Drift::from_text("- 0.5 ppm"), Ok(Drift::from_ppb(-500)));
        assert_eq!(Drift::from_text("100 ppm"), Ok(Drift::from_ppm(100)));
        assert_eq!(Offset::from_text("--1 s").expect_err("two signs").message, "`--1 s` is not an offset");
        assert_eq!(Drift::from_text("100").expect_err("no unit").message, "`100` has no unit");
        let error = Drift::from_text("-200000 ppm").expect_err("a fifth");
        assert_eq!(
            (error.message.as_str(), error.hint.as_str()),
            ("`-200000 ppm` is too large", "at most 100000 ppm either way")
        );
    }

    #[test]
    fn wrong_quantities_say_what_would_do() {
        let error = Rate::from_text("50").expect_err("no unit");
        assert_eq!(error.message, "`50` has no unit");
        assert_eq!(error.hint, "write a number and Gbit/s, Mbit/s, kbit/s or bit/s, such as \"50 Mbit/s\"");
        assert_eq!(Rate::from_text("10 Mbits").expect_err("unit").message, "`Mbits` is not a unit of a rate");
        assert_eq!(Duration::from_text("-1 s").expect_err("sign").message, "`-1 s` is negative");
        assert_eq!(Bytes::from_text("1e30 GB").expect_err("size").message, "`1e30 GB` is too large");
        assert_eq!(Bytes::from_text("many").expect_err("word").message, "`many` is not a size");
    }

    #[test]
    fn printed_quantities_read_back() {
        for nanos in [0, 1, 999, 1_000, 1_500_000, 1_234_567_891, 60_000_000_000] {
            let span = Duration::from_nanos(nanos);
            assert_eq!(Duration::from_text(&span.to_string()), Ok(span));
        }
        for nanos in [0, 1, -1, -1_500_000, 3_600_000_000_000, -86_400_000_000_001] {
            let offset = Offset::from_nanos(nanos);
            assert_eq!(Offset::from_text(&offset.to_string()), Ok(offset));
        }
        for ppb in [0, 1, -1, 1_000, -100_000, 1_500, 100_000_000] {
            assert_eq!(Drift::from_text(&Drift::from_ppb(ppb).to_string()), Ok(Drift::from_ppb(ppb)));
        }
        for bps in [1, 999, 1_500, 900_000, 50_000_000, 1_000_000_000] {
            assert_eq!(Rate::from_text(&Rate::from_bps(bps).to_string()), Ok(Rate::from_bps(bps)));
        }
    }
}
