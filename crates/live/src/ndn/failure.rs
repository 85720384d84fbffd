//! Errors for users.

use std::io;

use units::Duration;

use super::{Place, TransportError};

/// Why nothing was fetched or served.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// There is no forwarder.
    #[error("no forwarder at {place}: {error}")]
    NoForwarder {
        /// Where it should be.
        place: Place,
        /// What the system says.
        error: io::Error,
    },
    /// The connection broke.
    #[error("the connection to the forwarder broke: {0}")]
    Broken(#[from] TransportError),
    /// The forwarder knows no way.
    #[error("there is no route to {0}")]
    NoRoute(String),
    /// Nobody answered.
    #[error("nobody answered for {name} in {waited}")]
    Unanswered {
        /// What was asked for.
        name: String,
        /// How long it was waited for.
        waited: Duration,
    },
    /// It began, and then nothing came any more.
    #[error("nothing has come for {waited}; {had} of {all} segments are there")]
    Stalled {
        /// How long it was waited for.
        waited: Duration,
        /// Segments that came.
        had: u64,
        /// Segments of the whole.
        all: u64,
    },
    /// An answer came that is no use.
    #[error("the answer for {name} is of no use: {why}")]
    Useless {
        /// What was asked for.
        name: String,
        /// What is wrong with it.
        why: String,
    },
    /// It is not what it should be.
    #[error("{0}")]
    NotWhole(String),
    /// The forwarder does not want to send Interests here.
    #[error("the forwarder refused to register {name}: {code} {text}")]
    Refused {
        /// The prefix.
        name: String,
        /// The code of its answer.
        code: u64,
        /// Its sentence.
        text: String,
    },
    /// The law cannot be made.
    #[error("{0}")]
    Scheme(String),
    /// The file cannot be read.
    #[error("reading what is to be served: {0}")]
    Read(io::Error),
    /// The file cannot be written.
    #[error("writing what came: {0}")]
    Write(io::Error),
    /// Somebody asked to end it.
    #[error("stopped")]
    Stopped,
}

impl Failure {
    /// What could be done about it.
    pub const fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoForwarder { .. } => {
                "start one, such as `thalweg ndn forward` or `ndnd fw run`, or say where it is: --face unix:///… or udp://host:port"
            }
            Self::NoRoute(_) => {
                "does a producer serve it, and did it register its prefix with this forwarder?"
            }
            Self::Unanswered { .. } => {
                "forwarders that know no route often say nothing: does a producer serve it, and is there a route to it? Some producers \
                 have no metadata: --discovery prefix, or a name with a version (/v=…)"
            }
            Self::Refused { .. } => {
                "a forwarder decides who may register; over UDP it must allow commands to /localhop"
            }
            _ => return None,
        })
    }
}
