//! The tables of a scenario file: their keys, the reading of values, and their places in the text.

pub(crate) mod bounds;
pub(crate) mod bucket;
mod declare;
pub(crate) mod emulation;
mod field;
pub(crate) mod file;
pub(crate) mod hints;
pub(crate) mod impair;
mod json;
pub(crate) mod keys;
pub(crate) mod link;
pub(crate) mod ndn;
pub(crate) mod nodes;
mod notes;
pub(crate) mod params;
pub(crate) mod queue;
pub(crate) mod quic;
pub(crate) mod read;
pub(crate) mod renames;
pub(crate) mod sdn;
pub(crate) mod settings;
pub(crate) mod source;
pub(crate) mod tcp;
pub(crate) mod trace;
pub(crate) mod traffic;
pub(crate) mod tree;
pub(crate) mod values;
pub(crate) mod video;

pub use json::schema;
