//! The tables of a scenario file: their keys, how values are read, and where each stands.

pub(crate) mod bounds;
pub(crate) mod emulation;
pub(crate) mod file;
pub(crate) mod hints;
mod json;
pub(crate) mod ndn;
pub(crate) mod read;
pub(crate) mod sdn;
pub(crate) mod source;
pub(crate) mod tcp;
pub(crate) mod tree;
pub(crate) mod values;
pub(crate) mod video;

pub use json::schema;
