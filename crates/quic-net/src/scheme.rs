//! How QUIC carries the data of a scheme, by its name.

use contract::{EndpointId, ParamError};
use schemes::{Build, Entry};
use wire::stream::Transport;

/// The receiver's number, by which payloads and schemes identify it.
pub(crate) const RECEIVER: EndpointId = EndpointId(1);

/// How the scheme of this name carries data.
///
/// # Errors
///
/// A message for users: there is no such scheme, or it has no part at endpoints.
pub fn transport_of(name: &str) -> Result<Transport, String> {
    find(name).map(|(_, transport)| transport)
}

/// A message for users about a parameter.
pub(crate) fn parameter_error(error: ParamError) -> String {
    format!("{}: {}", error.name, error.message)
}

/// The scheme's entry and how QUIC carries its data, or a message for users.
pub(crate) fn find(name: &str) -> Result<(Entry, Transport), String> {
    let entry =
        schemes::find(name).ok_or_else(|| format!("there is no scheme `{}`", wire::printable(name)))?;
    match entry.build {
        Build::Stream { .. } => Ok((entry, Transport::Paced)),
        Build::Control(_) => Ok((entry, Transport::Windowed)),
        Build::Forwarder => Err(format!("`{name}` has no sender and receiver, but routers only")),
    }
}
