//! Numbers in files: decimal fractions with or without exponent, exactly; times, sizes, and times that are those of a
//! calendar.

use units::{Bytes, Duration, UnitText};

use super::heading::Unit;
use crate::schema::hints::{comma_hint, shortened};

/// Times in seconds from here on count from 1970: it was reached in 2001.
pub(crate) const EPOCH_S: i128 = 1_000_000_000;

/// Most digits that count.
const DIGITS: usize = 30;

/// A decimal number times `10^power`, rounded to a whole one, halves away from zero; the largest or smallest one where
/// it does not fit. `None` for what is no number.
pub(crate) fn decimal(written: &str, power: i32) -> Option<i128> {
    let (negative, rest) = match written.strip_prefix(['-', '+']) {
        Some(rest) => (written.starts_with('-'), rest),
        None => (false, written),
    };
    let (number, exponent) = match rest.split_once(['e', 'E']) {
        Some((number, exponent)) => {
            let digits = exponent.strip_prefix(['-', '+']).unwrap_or(exponent);
            if digits.is_empty() || !digits.bytes().all(|c| c.is_ascii_digit()) {
                return None;
            }
            let sign = if exponent.starts_with('-') { -1 } else { 1 };
            (number, sign * digits.parse::<i32>().unwrap_or(i32::MAX).min(1_000_000))
        }
        None => (rest, 0),
    };
    let (whole, fraction) = number.split_once('.').unwrap_or((number, ""));
    let digits = || whole.bytes().chain(fraction.bytes());
    if digits().count() == 0 || !digits().all(|c| c.is_ascii_digit()) {
        return None;
    }
    let (mut mantissa, mut count, mut dropped) = (0i128, 0, 0);
    for digit in digits() {
        if count < DIGITS {
            mantissa = mantissa * 10 + i128::from(digit - b'0');
            count += usize::from(mantissa > 0);
        } else {
            dropped += 1;
        }
    }
    let places = i64::from(exponent) + i64::from(power) + dropped - fraction.len() as i64;
    let size = if mantissa == 0 {
        0
    } else if places >= 0 {
        let factor = u32::try_from(places).ok().and_then(|places| 10i128.checked_pow(places));
        factor.and_then(|factor| mantissa.checked_mul(factor)).unwrap_or(i128::MAX)
    } else {
        let divisor = u32::try_from(-places).ok().and_then(|places| 10i128.checked_pow(places));
        divisor
            .map_or(0, |divisor| mantissa / divisor + i128::from(mantissa % divisor >= divisor - divisor / 2))
    };
    Some(if negative { -size } else { size })
}

/// A decimal number. `None` for what is no number, and for one that is not finite.
pub(crate) fn number(written: &str) -> Option<f64> {
    decimal(written, 0)?;
    written.parse::<f64>().ok().filter(|value| value.is_finite())
}

/// Whether a value has its unit with it.
fn has_unit(written: &str) -> bool {
    written.ends_with(|c: char| c.is_alphabetic())
}

/// Names of powers of ten of a second, which columns and messages have.
fn unit_name(power: i32) -> &'static str {
    match power {
        9 => "seconds",
        6 => "milliseconds",
        3 => "microseconds",
        _ => "nanoseconds",
    }
}

/// A time in nanoseconds: a number whose unit is `10^power` ns, or one with its unit, such as `20 ms`. `what` is `time`
/// or `delay`.
pub(crate) fn nanos(written: &str, power: i32, what: &str) -> Result<i128, (String, Option<String>)> {
    let read = match decimal(written, power) {
        None if has_unit(written) => {
            Duration::from_text(written).ok().map(|time| i128::from(time.as_nanos()))
        }
        read => read,
    };
    let shown = shortened(written);
    match read {
        Some(time) if time < 0 => Err((format!("`{shown}` is negative"), None)),
        Some(time) => Ok(time),
        None => {
            let message = format!("`{shown}` is no {what} in {}", unit_name(power));
            let hint = if written.contains(',') {
                comma_hint(written)
            } else if written.contains(':') || written.matches('-').count() == 2 {
                Some(format!(
                    "dates and times of day are not read; write {} from the first line on",
                    unit_name(power)
                ))
            } else {
                None
            };
            Err((message, hint))
        }
    }
}

/// The unit of ten digits or more that count from 1970, if it is finer than `power`, in words and as in a heading; a
/// time in nanoseconds tells it.
pub(crate) fn epoch_unit(time: i128, power: i32) -> Option<(&'static str, &'static str)> {
    let in_column = time / 10i128.pow(power as u32);
    // 10¹⁸ to 10¹⁹ ns, 10¹⁵ to 10¹⁶ us, 10¹² to 10¹³ ms
    [(0, 9, "ns"), (3, 6, "us"), (6, 3, "ms")]
        .into_iter()
        .find(|(unit, places, _)| *unit < power && in_column >= EPOCH_S * 10i128.pow(*places))
        .map(|(unit, _, short)| (unit_name(unit), short))
}

/// A size in bytes from 1 to `max`: a number of this unit, or one with its own, such as `20 kB`.
pub(crate) fn bytes(written: &str, unit: Unit, max: u64) -> Result<u64, (String, Option<String>)> {
    let read = match decimal(written, 6 + unit.power) {
        Some(millionths) => Some(millionths.saturating_mul(unit.times))
            .filter(|size| size % 1_000_000 == 0 || size.abs() == i128::MAX)
            .map(|size| size / 1_000_000),
        None if has_unit(written) => Bytes::from_text(written).ok().map(|size| i128::from(size.as_u64())),
        None => None,
    };
    let shown = shortened(written);
    let fail = |message| Err((message, None));
    match read.map(|size| (size, u64::try_from(size))) {
        Some((_, Ok(size))) if (1..=max).contains(&size) => Ok(size),
        Some((0, _)) => fail(format!("`{shown}` is no size in bytes: at least 1")),
        Some((size, _)) if size < 0 => fail(format!("`{shown}` is negative")),
        Some(_) => fail(format!("`{shown}` is too large: at most {max} bytes")),
        None => Err((format!("`{shown}` is no size in bytes"), comma_hint(written))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn decimals_are_exact_and_have_exponents() {
        for (written, power, value) in [
            ("0", 9, 0),
            ("-0", 9, 0),
            ("1682712131.123456789", 9, 1_682_712_131_123_456_789),
            ("1e6", 0, 1_000_000),
            ("2.5E+6", 0, 2_500_000),
            ("1e-3", 9, 1_000_000),
            ("+.5", 1, 5),
            ("5.", 0, 5),
            ("0.5", 0, 1),
            ("-0.5", 0, -1),
            ("0.49999999999999999999999999999999999999", 0, 0),
            ("000000000000000000000000000000000000000000007", 0, 7),
            ("1e-999999999999", 9, 0),
            ("0e999999999999", 9, 0),
        ] {
            assert_eq!(decimal(written, power), Some(value), "{written}");
        }
        assert_eq!(decimal("1e999999999999", 0), Some(i128::MAX));
        assert_eq!(decimal("-1e99", 9), Some(-i128::MAX));
        for written in [
            "", "-", ".", "e5", "1e", "1e+", "1e5.5", "--1", "1_000", "0x10", "nan", "inf", "1 2", "1,5", "٣",
        ] {
            assert_eq!((decimal(written, 0), number(written)), (None, None), "{written}");
        }
        assert_eq!((number("1e-3"), number("1e999")), (Some(0.001), None));
    }

    #[test]
    fn times_and_sizes_may_have_their_unit() {
        assert_eq!(nanos("1e-3", 9, "time"), Ok(1_000_000));
        assert_eq!(nanos("250 ms", 9, "time"), Ok(250_000_000));
        assert_eq!(nanos("2.5", 6, "delay"), Ok(2_500_000));
        let wrong = |written| nanos(written, 9, "time").expect_err(written);
        assert_eq!(wrong("-1"), ("`-1` is negative".to_owned(), None));
        assert_eq!(wrong("soon").0, "`soon` is no time in seconds");
        assert!(wrong("0,5").1.is_some_and(|hint| hint.contains("decimal point")));
        assert!(wrong("2024-05-01T10:00:00").1.is_some_and(|hint| hint.contains("dates")));
        for (written, size) in
            [("20000", 20_000), ("2e4", 20_000), ("20000.0", 20_000), ("20 kB", 20_000), ("1 KiB", 1024)]
        {
            assert_eq!(bytes(written, Unit::ten_to(0), 1_000_000), Ok(size), "{written}");
        }
        for written in ["0", "-1", "0.5", "1e7", "20 km", "", "many", "1e999"] {
            assert!(bytes(written, Unit::ten_to(0), 1_000_000).is_err(), "{written}");
        }
        let (bits, kb) = (Unit { power: -3, times: 125 }, Unit::ten_to(3));
        for (written, unit, size) in
            [("8000", bits, Some(1000)), ("1", bits, None), ("1.5", kb, Some(1500)), ("20 B", kb, Some(20))]
        {
            assert_eq!(bytes(written, unit, 1_000_000).ok(), size, "{written}");
        }
    }

    #[test]
    fn a_calendar_in_a_finer_unit_is_recognised() {
        let of = |written: &str, power| {
            epoch_unit(decimal(written, power).expect("a number"), power).map(|unit| unit.0)
        };
        assert_eq!(of("1682712131", 9), None);
        assert_eq!(of("1604822400000", 9), Some("milliseconds"));
        assert_eq!(of("1604822400000000", 9), Some("microseconds"));
        assert_eq!(of("16048224000000000000", 9), Some("nanoseconds"));
        assert_eq!(of("1604822400000", 6), None);
        assert_eq!(of("1604822400000000", 6), Some("microseconds"));
        assert_eq!(of("1604822400000000000", 0), None);
    }
}
