//! Errors for users.

use std::io;

use units::Duration;

use super::{FaceUri, TransportError};

/// Why a fetch or a producer failed.
#[derive(Debug, thiserror::Error)]
pub enum Failure {
    /// No forwarder is reachable.
    #[error("no forwarder at {place}: {error}")]
    NoForwarder {
        /// Its expected place.
        place: FaceUri,
        /// The error of the system.
        error: io::Error,
    },
    /// The connection to the forwarder failed.
    #[error("the connection to the forwarder failed: {0}")]
    Broken(#[from] TransportError),
    /// The forwarder has no route.
    #[error("there is no route to {0}")]
    NoRoute(String),
    /// No answer arrived.
    #[error("no answer for {name} within {waited}")]
    Unanswered {
        /// The requested name.
        name: String,
        /// The waiting time.
        waited: Duration,
    },
    /// The fetch started, and then no more Data arrived.
    #[error("no Data for {waited}; {received} of {all} segments have arrived")]
    Stalled {
        /// The waiting time.
        waited: Duration,
        /// Segments received.
        received: u64,
        /// Segments of the object.
        all: u64,
    },
    /// An answer is invalid.
    #[error("invalid answer for {name}: {why}")]
    Useless {
        /// The requested name.
        name: String,
        /// What is wrong.
        why: String,
    },
    /// The file differs from what was expected.
    #[error("{0}")]
    NotWhole(String),
    /// The forwarder refused to register the prefix.
    #[error("the forwarder refused to register {name}: {code} {text}")]
    Refused {
        /// The prefix.
        name: String,
        /// The status code of its response.
        code: u64,
        /// The status text.
        text: String,
    },
    /// The congestion controller cannot be made.
    #[error("{0}")]
    Scheme(String),
    /// The file cannot be read.
    #[error("reading the file to serve: {0}")]
    Read(io::Error),
    /// The file cannot be written.
    #[error("writing what came: {0}")]
    Write(io::Error),
    /// It was stopped.
    #[error("stopped")]
    Stopped,
}

impl Failure {
    /// A hint for users.
    pub const fn hint(&self) -> Option<&'static str> {
        Some(match self {
            Self::NoForwarder { .. } => {
                "start one, such as `thalweg ndn forward` or `ndnd fw run`, or name its address: --face unix:///… or udp://host:port"
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
