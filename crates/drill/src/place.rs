//! Places in a script.

/// A place in a text, both numbers from 1.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Place {
    /// Number of the line.
    pub line: u32,
    /// Number of the character in it.
    pub column: u32,
}
