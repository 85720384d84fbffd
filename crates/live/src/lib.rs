//! The same machines over real sockets.
//!
//! A machine decides when what leaves; [`content`] says what its packets carry, and [`transfer`] carries files and live streams.

pub mod content;
pub mod transfer;
