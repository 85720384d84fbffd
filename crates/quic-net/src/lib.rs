//! Sessions over QUIC (RFC 9000): files and streams of `thalweg send` and `thalweg recv`, by quinn-proto in one thread
//! per endpoint.
//!
//! [`host::Host`] runs quinn's state machines on a [`driver::Platform`]: its clock, its sockets, its GSO batches.
//! [`sdn`] has the controller of a software-defined network and its channel to agents, on the same host.

mod certificate;
mod clock;
pub mod connection;
mod control;
pub mod frames;
pub mod group;
pub mod host;
mod identity;
mod log;
mod outcome;
pub mod paced;
mod patience;
mod receive;
mod scheme;
pub mod sdn;
mod send;
mod session;
mod settings;
mod stream;
pub mod testing;
mod tls;
mod transport;

pub use certificate::NAME;
pub use clock::{instant, span};
pub use control::{Control, Phase, Progress};
pub use host::is_attempt;
pub use identity::{Fingerprint, Identity, IdentityError};
pub use outcome::{Discarded, End, Outcome, Stats, Traffic};
pub use patience::{Patience, REPLACE_AFTER};
pub use receive::receive;
pub use scheme::transport_of;
pub use send::{check, send};
pub use session::{REPLACED, code, reason};
pub use settings::{
    Accept, Handshake, Limits, LoggedConnection, Logs, Object, Objects, Proposal, Scheme, Settings, objects,
};
pub use tls::{ALPN, Credentials, Pins};
pub use transport::{OUTER, group_server_config, server_config};
