//! Text such as `"50 Mbit/s"`, `"20 ms"`, `"1000 B"`, and its errors.

use std::fmt;

use crate::{Bytes, Drift, Duration, Offset, Rate};

/// Why a text is not a quantity.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct UnitError {
    /// What is wrong, without its place.
    pub message: String,
    /// A valid text.
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
    /// Its kind with an article: `a rate`.
    const WHAT: &'static str;
    /// Its units, largest first.
    const UNITS: &'static [&'static str];
    /// A valid text.
    const EXAMPLE: &'static str;

    /// Other notations of units in lower case: the notation, the unit, and the factor.
    const ALIASES: &'static [(&'static str, &'static str, f64)];

    /// The unit that a number without one most likely has: the unit of the example.
    fn unit_of(_value: f64) -> &'static str {
        Self::EXAMPLE.rsplit(' ').next().unwrap_or_default()
    }

    /// Reads a number with a unit. Fails for a number without a unit, an unknown unit, a value that is too large, and a
    /// negative value if the kind has none.
    fn from_text(text: &str) -> Result<Self, UnitError>;
}

impl UnitText for Rate {
    const WHAT: &'static str = "a rate";
    const UNITS: &'static [&'static str] = &["Gbit/s", "Mbit/s", "kbit/s", "bit/s"];
    const EXAMPLE: &'static str = "50 Mbit/s";
    const ALIASES: &'static [(&'static str, &'static str, f64)] = &[
        ("gbps", "Gbit/s", 1.0),
        ("gb/s", "Gbit/s", 1.0),
        ("gbits/s", "Gbit/s", 1.0),
        ("gbit", "Gbit/s", 1.0),
        ("gbits", "Gbit/s", 1.0),
        ("gbit/s", "Gbit/s", 1.0),
        ("g", "Gbit/s", 1.0),
        ("mbps", "Mbit/s", 1.0),
        ("mb/s", "Mbit/s", 1.0),
        ("mbits/s", "Mbit/s", 1.0),
        ("mbit", "Mbit/s", 1.0),
        ("mbits", "Mbit/s", 1.0),
        ("mbit/s", "Mbit/s", 1.0),
        ("m", "Mbit/s", 1.0),
        ("kbps", "kbit/s", 1.0),
        ("kb/s", "kbit/s", 1.0),
        ("kbits/s", "kbit/s", 1.0),
        ("kbit", "kbit/s", 1.0),
        ("kbits", "kbit/s", 1.0),
        ("kbit/s", "kbit/s", 1.0),
        ("k", "kbit/s", 1.0),
        ("bps", "bit/s", 1.0),
        ("b/s", "bit/s", 1.0),
        ("bits/s", "bit/s", 1.0),
        ("bit", "bit/s", 1.0),
        ("bits", "bit/s", 1.0),
        ("tbps", "Gbit/s", 1000.0),
        ("tbit/s", "Gbit/s", 1000.0),
    ];

    /// From 100 000 on it is a number of bit/s, as programs write rates: as many Mbit/s are 100 Gbit/s.
    fn unit_of(value: f64) -> &'static str {
        if value >= 1e5 { "bit/s" } else { "Mbit/s" }
    }

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
    const ALIASES: &'static [(&'static str, &'static str, f64)] = &[
        ("sec", "s", 1.0),
        ("secs", "s", 1.0),
        ("second", "s", 1.0),
        ("seconds", "s", 1.0),
        ("msec", "ms", 1.0),
        ("msecs", "ms", 1.0),
        ("millisecond", "ms", 1.0),
        ("milliseconds", "ms", 1.0),
        ("usec", "us", 1.0),
        ("usecs", "us", 1.0),
        ("microsecond", "us", 1.0),
        ("microseconds", "us", 1.0),
        ("μs", "us", 1.0),
        ("nsec", "ns", 1.0),
        ("nanosecond", "ns", 1.0),
        ("nanoseconds", "ns", 1.0),
        ("m", "min", 1.0),
        ("mins", "min", 1.0),
        ("minute", "min", 1.0),
        ("minutes", "min", 1.0),
        ("hr", "h", 1.0),
        ("hour", "h", 1.0),
        ("hours", "h", 1.0),
        ("d", "h", 24.0),
        ("day", "h", 24.0),
        ("days", "h", 24.0),
        ("s", "s", 1.0),
        ("ms", "ms", 1.0),
        ("us", "us", 1.0),
        ("ns", "ns", 1.0),
        ("h", "h", 1.0),
        ("min", "min", 1.0),
    ];

    /// A fraction is one of a second, as programs write times.
    fn unit_of(value: f64) -> &'static str {
        if value > 0.0 && value < 1.0 { "s" } else { "ms" }
    }

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
    const ALIASES: &'static [(&'static str, &'static str, f64)] = Duration::ALIASES;

    fn from_text(text: &str) -> Result<Self, UnitError> {
        signed::<Self>(text, &NANOS).map(Self::from_nanos)
    }
}

impl UnitText for Drift {
    const WHAT: &'static str = "a drift";
    const UNITS: &'static [&'static str] = &["ppm", "ppb"];
    const EXAMPLE: &'static str = "100 ppm";
    const ALIASES: &'static [(&'static str, &'static str, f64)] =
        &[("%", "ppm", 10_000.0), ("ppm", "ppm", 1.0), ("ppb", "ppb", 1.0)];

    fn from_text(text: &str) -> Result<Self, UnitError> {
        let ppb = signed::<Self>(text, &[("ppm", 1_000), ("ppb", 1)])?;
        let max = i64::from(Self::MAX.as_ppb());
        match i32::try_from(ppb) {
            Ok(ppb) if i64::from(ppb).abs() <= max => Ok(Self::from_ppb(ppb)),
            _ => {
                let hint = format!("at most {} either way", Self::MAX);
                Err(UnitError { message: format!("`{}` is too large", text.trim()), hint })
            }
        }
    }
}

/// `text` as an integer number of the smallest unit, possibly negative.
fn signed<T: UnitText>(text: &str, factors: &[(&str, u64)]) -> Result<i64, UnitError> {
    let (sign, size) = match text.trim().strip_prefix('-') {
        Some(rest) if !rest.starts_with(['-', '+']) => (-1, rest),
        _ => (1, text),
    };
    // 10¹⁸ is the maximum
    scaled::<T>(size, factors).map(|value| sign * value as i64)
}

impl UnitText for Bytes {
    const WHAT: &'static str = "a size";
    const UNITS: &'static [&'static str] = &["GB", "MB", "kB", "B"];
    const EXAMPLE: &'static str = "1500 B";
    const ALIASES: &'static [(&'static str, &'static str, f64)] = &[
        ("byte", "B", 1.0),
        ("bytes", "B", 1.0),
        ("b", "B", 1.0),
        ("kb", "kB", 1.0),
        ("k", "kB", 1.0),
        ("kbyte", "kB", 1.0),
        ("kbytes", "kB", 1.0),
        ("mb", "MB", 1.0),
        ("m", "MB", 1.0),
        ("mbyte", "MB", 1.0),
        ("mbytes", "MB", 1.0),
        ("gb", "GB", 1.0),
        ("g", "GB", 1.0),
        ("gbyte", "GB", 1.0),
        ("gbytes", "GB", 1.0),
        ("tb", "GB", 1000.0),
        ("kib", "KiB", 1.0),
        ("mib", "MiB", 1.0),
        ("gib", "GiB", 1.0),
    ];

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

/// `text` as an integer number of the smallest unit, at most 10¹⁸.
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
        let unit = T::unit_of(value);
        let hint = format!("write a number and {}, such as \"{trimmed} {unit}\"", one_of(T::UNITS));
        return Err(UnitError { message: format!("`{text}` has no unit"), hint });
    }
    let Some((_, factor)) = factors.iter().find(|(name, _)| *name == unit) else {
        let message = format!("`{unit}` is not a unit of {}", T::WHAT);
        let hint = suggested_unit::<T>(unit).map_or_else(hint, |(suggested_unit, times)| {
            let value = value * times;
            format!("did you mean `{suggested_unit}`? Write \"{value} {suggested_unit}\"")
        });
        return Err(UnitError { message, hint });
    };
    if value < 0.0 {
        return Err(fail(format!("`{text}` is negative")));
    }
    let total = value * *factor as f64;
    if !total.is_finite() || total > 1e18 {
        return Err(fail(format!("`{text}` is too large")));
    }
    // integers are exact, whatever their size
    match number.parse::<u64>() {
        Ok(whole) => Ok(whole * factor),
        Err(_) => Ok((total + 0.5) as u64),
    }
}

/// The unit that an unknown one probably means, and the factor. Case is ignored, except that a rate in `B` is one of
/// bytes.
fn suggested_unit<T: UnitText>(unit: &str) -> Option<(&'static str, f64)> {
    let lower = unit.to_lowercase();
    let of_bytes = lower.strip_suffix("/s").or_else(|| lower.strip_suffix("ps")).map(|size| size.trim_end());
    let in_bytes = unit.contains('B') || lower.contains("byte");
    if let Some(size) = of_bytes.filter(|_| in_bytes && T::UNITS.contains(&"bit/s")) {
        match size {
            "b" | "byte" | "bytes" => return Some(("bit/s", 8.0)),
            "kb" | "kbyte" | "kbytes" => return Some(("kbit/s", 8.0)),
            "mb" | "mbyte" | "mbytes" => return Some(("Mbit/s", 8.0)),
            "gb" | "gbyte" | "gbytes" => return Some(("Gbit/s", 8.0)),
            _ => {}
        }
    }
    T::ALIASES
        .iter()
        .find(|(alias, _, _)| *alias == lower)
        .map(|(_, suggested_unit, times)| (*suggested_unit, *times))
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
    fn errors_of_quantities_suggest_a_valid_form() {
        let error = Rate::from_text("50").expect_err("no unit");
        assert_eq!(error.message, "`50` has no unit");
        assert_eq!(error.hint, "write a number and Gbit/s, Mbit/s, kbit/s or bit/s, such as \"50 Mbit/s\"");
        assert_eq!(Rate::from_text("10 Mbits").expect_err("unit").message, "`Mbits` is not a unit of a rate");
        assert_eq!(Duration::from_text("-1 s").expect_err("sign").message, "`-1 s` is negative");
        assert_eq!(Bytes::from_text("1e30 GB").expect_err("size").message, "`1e30 GB` is too large");
        assert_eq!(Bytes::from_text("many").expect_err("word").message, "`many` is not a size");
    }

    #[test]
    fn units_as_others_write_them_are_understood_in_the_hint() {
        let hint = |error: UnitError| error.hint;
        let rate = |text: &str| hint(Rate::from_text(text).expect_err(text));
        for (text, wanted) in [
            ("50 Mbps", "50 Mbit/s"),
            ("50 mbps", "50 Mbit/s"),
            ("1.5 Gbps", "1.5 Gbit/s"),
            ("900 kbps", "900 kbit/s"),
            ("50 MBit/s", "50 Mbit/s"),
            ("50 Mb/s", "50 Mbit/s"),
            ("10 MB/s", "80 Mbit/s"),
            ("10 MBps", "80 Mbit/s"),
            ("10 Mbits/s", "10 Mbit/s"),
        ] {
            let unit = wanted.rsplit(' ').next().expect("a unit");
            assert_eq!(rate(text), format!("did you mean `{unit}`? Write \"{wanted}\""), "{text}");
        }
        let time = |text: &str| hint(Duration::from_text(text).expect_err(text));
        assert_eq!(time("10 sec"), "did you mean `s`? Write \"10 s\"");
        assert_eq!(time("20 msec"), "did you mean `ms`? Write \"20 ms\"");
        assert_eq!(time("2 days"), "did you mean `h`? Write \"48 h\"");
        let size = |text: &str| hint(Bytes::from_text(text).expect_err(text));
        assert_eq!(size("64 KB"), "did you mean `kB`? Write \"64 kB\"");
        assert_eq!(size("64 bytes"), "did you mean `B`? Write \"64 B\"");
        assert_eq!(time("20"), "write a number and h, min, s, ms, us or ns, such as \"20 ms\"");
        assert_eq!(rate("20"), "write a number and Gbit/s, Mbit/s, kbit/s or bit/s, such as \"20 Mbit/s\"");
        // a number without a unit gets the one that it most likely has
        for (number, unit) in [("1", "Mbit/s"), ("1000", "Mbit/s"), ("10000000", "bit/s"), ("1e9", "bit/s")] {
            assert!(rate(number).ends_with(&format!("such as \"{number} {unit}\"")), "{number}");
        }
        for (number, unit) in [("0.02", "s"), ("2e-2", "s"), ("1.5", "ms"), ("60", "ms")] {
            assert!(time(number).ends_with(&format!("such as \"{number} {unit}\"")), "{number}");
        }
        assert_eq!(
            rate("20 furlongs"),
            "write a number and Gbit/s, Mbit/s, kbit/s or bit/s, such as \"50 Mbit/s\""
        );
    }

    #[test]
    fn unknown_units_suggest_a_known_one() {
        fn check<T: UnitText>() {
            for (alias, suggested_unit, _) in T::ALIASES {
                assert!(T::from_text(&format!("1 {suggested_unit}")).is_ok(), "{alias} → {suggested_unit}");
                assert_eq!(*alias, alias.to_lowercase());
            }
        }
        check::<Rate>();
        check::<Duration>();
        check::<Bytes>();
        check::<Drift>();
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
