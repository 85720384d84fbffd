//! Transcendental functions with equal bits on every platform (pure-Rust `libm`).
//!
//! `+ − × ÷ √` are equal on all platforms; everything else uses this module, and clippy refuses the functions of the
//! standard library.

/// Cube root of `x`.
pub fn cbrt(x: f64) -> f64 {
    libm::cbrt(x)
}

/// `x³`.
pub fn cube(x: f64) -> f64 {
    x * x * x
}

/// `eˣ`.
pub fn exp(x: f64) -> f64 {
    libm::exp(x)
}

/// Natural logarithm of `x` > 0.
pub fn ln(x: f64) -> f64 {
    libm::log(x)
}

/// `x` to the power of `y`.
pub fn pow(x: f64, y: f64) -> f64 {
    libm::pow(x, y)
}

/// Sine of `x` radians.
pub fn sin(x: f64) -> f64 {
    libm::sin(x)
}

/// Cosine of `x` radians.
pub fn cos(x: f64) -> f64 {
    libm::cos(x)
}

/// Angle in radians whose sine is `x`, −1 ≤ x ≤ 1.
pub fn asin(x: f64) -> f64 {
    libm::asin(x)
}
