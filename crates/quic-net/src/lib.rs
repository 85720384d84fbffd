//! Sessions over QUIC (RFC 9000): files and streams of `thalweg send` and `thalweg recv`, by quinn-proto in one thread per endpoint.
//!
//! [`host::Host`] runs quinn's state machines on a [`driver::Platform`]: its clock, its sockets, its GSO batches.

mod certificate;
mod clock;
pub mod frames;
pub mod group;
pub mod host;
mod identity;
pub mod lane;
pub mod paced;
mod receive;
mod send;
mod session;
mod settings;
mod stream;
mod tls;
mod transport;

pub use certificate::NAME;
pub use host::is_attempt;
pub use identity::{Fingerprint, Identity, IdentityError};
pub use receive::receive;
pub use send::{check, send};
pub use session::{code, reason};
pub use settings::{Accept, Object, Objects, Proposal, Settings, objects};
pub use tls::{ALPN, Credentials};
pub use transport::{OUTER, group_listener};
