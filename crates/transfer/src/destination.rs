//! Where a receiver stores or passes on what it receives.

use std::io::Write;
use std::path::PathBuf;

use super::identity::Identity;

/// The destination of received data.
pub enum Destination {
    /// A folder; the name is the sender's or another one.
    Folder {
        /// The folder, which must exist.
        path: PathBuf,
        /// Another name.
        name: Option<String>,
        /// Whether an existing file is replaced when the new one is complete.
        replace: bool,
        /// The identity of this receiver, if it connects to the sender.
        me: Option<Identity>,
    },
    /// A program, which reads the data in order.
    Pipe(Box<dyn Write + Send>),
    /// A program that receives each piece of a live stream in one write; other objects are refused.
    Player(Box<dyn Write + Send>),
}
