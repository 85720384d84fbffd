//! Transport stacks that are not ours, as the two endpoints of a flow in the simulator. Each is a module with a feature
//! of its name: QUIC connections of `quinn` and `noq`, WebRTC media of `str0m`. Here is what they have in common, most
//! of it of a QUIC connection (RFC 9000, 9001, 9002).
//!
//! The sender is a client that uploads on one stream, the receiver is its server. A stack is sans-IO: it takes
//! datagrams and instants, and gives datagrams and deadlines. It implements [`Stack`], and [`ends`] drives it. Instants
//! come from the simulator's clock, after an arbitrary origin; a stack may use differences only. Random numbers of the
//! stack, of its connection ids and of TLS come from the endpoint's stream. A run is therefore a function of the
//! scenario and its seed.
//!
//! The datagrams are real: a handshake of TLS 1.3, encrypted packets, ACK frames, flow control, path MTU discovery. The
//! network carries their sizes, with headers of UDP and IPv4; their bytes wait in the flow's
//! [`DatagramStore`](wire::DatagramStore). A datagram that is longer than the path MTU does not leave.

pub mod clock;
mod counters;
mod endpoint;
#[cfg(feature = "noq")]
pub mod noq;
#[cfg(feature = "quinn")]
pub mod quinn;
mod secrets;
mod stack;
#[cfg(feature = "str0m")]
pub mod str0m;
pub mod tap;
pub mod tls;
pub mod wire;

pub use ::stack::log::Log;
pub use ::stack::quic::FlowControl;
use contract::{Destination, Endpoint, ParamError, ParamList};
use units::Bytes;

pub use self::counters::Counters;
use self::endpoint::{Client, Server};
pub use self::secrets::{Ids, Secrets};
pub use self::stack::{CLIENT, SERVER, SERVER_NAME, Stack, Transmit};
use self::wire::DatagramStore;

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The congestion control.
    pub controller: Controller,
    /// Largest IPv4 packet that the path carries.
    pub mtu: Bytes,
    /// Bytes to upload; [`Bytes::UNLIMITED`] for no end; zero for what the receiver requests
    /// ([`contract::Header::Request`]).
    pub size: Bytes,
    /// How much may be under way beside what the congestion control permits.
    pub flow_control: FlowControl,
}

/// Congestion control of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Controller {
    /// One of the stack's own.
    Own(String),
    /// A scheme of the catalogue with these parameters.
    Scheme(String, ParamList),
}

/// Makes an endpoint, given where it sends to.
pub type Factory = Box<dyn Fn(Destination) -> Box<dyn Endpoint + Send> + Send>;

/// The two ends of a flow, sender first, which writes to `log`. Each call of a factory begins a new connection.
///
/// # Errors
///
/// There is no such controller, or the scheme refuses its parameters.
pub fn ends<S: Stack>(config: &Config, log: Option<&Log>) -> Result<(Factory, Factory), ParamError> {
    controllers::<S>(&config.controller, 0)?;
    let (there, back) = (DatagramStore::default(), DatagramStore::default());
    let (client_config, server_wires) = (config.clone(), (back.clone(), there.clone()));
    let log = log.cloned();
    let client = move |to| -> Box<dyn Endpoint + Send> {
        Box::new(Client::<S>::new(&client_config, log.clone(), to, there.clone(), back.clone()))
    };
    let (mtu, flow_control) = (config.mtu, config.flow_control);
    let server = move |to| -> Box<dyn Endpoint + Send> {
        Box::new(Server::<S>::new(mtu, flow_control, to, server_wires.0.clone(), server_wires.1.clone()))
    };
    Ok((Box::new(client), Box::new(server)))
}

/// The controllers of one connection; what they draw is given by `seed`.
fn controllers<S: Stack>(controller: &Controller, seed: u64) -> Result<S::Controllers, ParamError> {
    let (name, found, known) = match controller {
        Controller::Own(name) => (name, S::own(name), S::OWN),
        Controller::Scheme(name, params) => (name, S::scheme(name, params, seed)?, S::SCHEMES),
    };
    found.ok_or_else(|| ParamError {
        name: "controller".to_owned(),
        message: format!("there is no controller `{name}` for {} here", S::NAME),
        hint: Some(format!("one of {}", known.join(", "))),
        conflicts_with: None,
    })
}

/// Headers of IPv4 and UDP.
pub const HEADERS: Bytes = Bytes::new(28);

/// Minimum path MTU: a UDP payload of 1200 bytes [RFC9000 §14].
pub const MIN_MTU: Bytes = Bytes::new(1228);
