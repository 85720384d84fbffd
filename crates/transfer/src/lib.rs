//! Files and live streams, sans-IO: payload for any session, and sinks for it.
//!
//! A session carries the content of a [`Payload`] (paced schemes, which retransmit nothing) or a [`ByteSource`]
//! (windowed schemes: a reliable stream) to a [`Sink`] or [`ByteSink`]. [`Task`] makes them from the input of a user,
//! [`keep`] from an offer.
//!
//! | object | with a paced scheme | with a windowed scheme |
//! | --- | --- | --- |
//! | a file | [`Fountain`] over a [`FileStore`], to a [`Collector`] | [`BlockSource`], to a [`BlockSink`] |
//! | standard input, complete | [`Fountain`] over a [`PipeStore`] | [`Bytes`], to a [`Reassembly`] |
//! | standard input, with a deadline | [`LiveStream`], to a [`Playout`] | – |
//!
//! This crate uses neither sockets nor a clock: time and packets are inputs, so that tests lose, duplicate and reorder
//! them. Memory is bounded by constants, for any file size and any input.

mod assembly;
mod bit_set;
mod blocks;
mod bytes;
mod collector;
mod completed;
mod content;
mod credit;
mod destination;
mod folder;
mod fountain;
mod identity;
mod layout;
mod live_stream;
mod manifest;
mod messages;
mod names;
mod new_file;
mod object_receiver;
mod partial;
mod pipe_writer;
mod playout;
mod rate_limit;
mod reassembly;
mod rejection;
mod ring;
mod store;
mod tally;
mod task;
mod tree;

pub use blocks::{BlockSink, BlockSource};
pub use bytes::Bytes;
pub use collector::Collector;
pub use content::{
    ByteSink, ByteSource, Incoming, MAX_MESSAGE_BYTES, Outgoing, Pace, Pause, Payload, Sink, Status,
};
pub use destination::Destination;
pub use folder::{FolderFile, FolderFiles, Placed};
pub use fountain::{Fountain, Receivers};
pub use identity::Identity;
pub use layout::Layout;
pub use live_stream::LiveStream;
pub use manifest::{Kind, Manifest};
pub use names::{BadName, check_name, check_outermost_name};
pub use playout::Playout;
pub use rate_limit::RateLimited;
pub use reassembly::Reassembly;
pub use store::{Complete, FileStore, PipeStore, Store};
pub use tally::{Snapshot, Tallies, Tally, TransferSnapshot};
pub use task::{Source, Task, keep, offered};

/// Bytes of a secret, and of a value that only the two ends of a session know.
const KEY: usize = 32;

/// Reading or writing failed, or what arrived cannot be kept.
#[derive(Debug, thiserror::Error)]
pub enum TransferError {
    /// A file could not be read or written.
    #[error("{path}: {source}")]
    File {
        /// Where.
        path: String,
        /// The error of the system.
        source: std::io::Error,
    },
    /// The other side offers what is not taken.
    #[error("{0}")]
    Refused(String),
}

impl TransferError {
    /// Makes the error of an operation on the file at `path`.
    pub(crate) fn at(path: &std::path::Path) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.display().to_string();
        move |source| Self::File { path, source }
    }
}

#[cfg(test)]
mod live_stream_tests;
#[cfg(test)]
mod stream_tests;
#[cfg(test)]
mod testing;
#[cfg(test)]
mod tests;
