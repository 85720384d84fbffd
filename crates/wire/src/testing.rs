//! What tests of formats share.

use units::Time;

/// The bytes of hexadecimal digits, with blanks anywhere.
pub(crate) fn hex(text: &str) -> Vec<u8> {
    let digits: Vec<u8> = text.bytes().filter(|byte| !byte.is_ascii_whitespace()).collect();
    let pairs = digits.chunks(2).map(|pair| std::str::from_utf8(pair).expect("hexadecimal digits"));
    pairs.map(|pair| u8::from_str_radix(pair, 16).expect("hexadecimal digits")).collect()
}

/// A time.
pub(crate) fn at(nanos: u64) -> Time {
    Time::from_nanos(nanos)
}
