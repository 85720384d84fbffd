//! Bounds of values of a scenario file.

use units::UnitText;

/// A quantity between two others.
pub(crate) fn within<T: UnitText + PartialOrd + std::fmt::Display>(
    low: &'static str,
    high: &'static str,
) -> impl Fn(&T) -> Result<(), (String, String)> {
    move |value| {
        let (min, max) = (T::from_text(low), T::from_text(high));
        match (min, max) {
            (Ok(min), Ok(max)) if *value < min || *value > max => {
                Err((format!("`{value}` is out of range"), format!("it must lie within {low} and {high}")))
            }
            _ => Ok(()),
        }
    }
}

/// A count between two others.
pub(crate) fn count(low: u32, high: u32) -> impl Fn(&u32) -> Result<(), (String, String)> {
    move |value| {
        if (low..=high).contains(value) {
            return Ok(());
        }
        Err((format!("`{value}` is out of range"), format!("it must lie within {low} and {high}")))
    }
}

/// A number between two others.
pub(crate) fn share_of(low: f64, high: f64) -> impl Fn(&f64) -> Result<(), (String, String)> {
    move |value| {
        if *value >= low && *value <= high {
            return Ok(());
        }
        Err((format!("`{value}` is out of range"), format!("it must lie within {low} and {high}")))
    }
}
