//! Sessions over QUIC (RFC 9000): files and streams of `thalweg send` and `thalweg recv`, by quinn-proto in one thread per endpoint.
//!
//! [`host::Host`] runs quinn's state machines on a [`driver::Platform`]: its clock, its sockets, its GSO batches.

mod certificate;
mod clock;
mod frames;
pub mod host;
mod identity;
mod lane;
mod paced;
mod receive;
mod send;
mod session;
mod settings;
mod stream;
mod tls;
mod transport;

pub use certificate::NAME;
pub use identity::{Fingerprint, Identity, IdentityError};
pub use receive::receive;
pub use send::send;
pub use settings::{Accept, Object, Objects, Proposal, Settings, objects};
pub use tls::{ALPN, Credentials};
