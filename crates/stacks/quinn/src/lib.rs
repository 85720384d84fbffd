//! QUIC connections of quinn-proto (RFC 9000, 9001, 9002) as endpoints of a simulated flow: the sender is a client that uploads to its server.
//!
//! quinn-proto is sans-IO: it takes datagrams and instants, and gives datagrams and deadlines. An [`contract::Endpoint`] here drives one
//! `quinn_proto::Endpoint` with one connection. Instants are those of the simulator, after an arbitrary origin; quinn uses differences only. Random
//! numbers of quinn, of its connection ids and of TLS come from the endpoint's stream. A run is therefore a function of the scenario and its seed.
//!
//! The datagrams are real: a handshake of TLS 1.3, encrypted packets, ACK frames, flow control, path MTU discovery. The network carries their sizes, with
//! headers of UDP and IPv4; their bytes wait in the flow's `Wire`. A datagram that is longer than the path MTU does not leave.

mod endpoint;
mod tap;
mod tls;
mod wire;

use std::sync::Arc;

use contract::{Destination, Endpoint, ParamError, ParamList};
use quinn_proto::congestion::{ControllerFactory, CubicConfig, NewRenoConfig};
use units::Bytes;

use self::endpoint::{Client, Server};
use self::wire::Wire;

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The congestion control.
    pub controller: Controller,
    /// Largest IPv4 packet that the path carries.
    pub mtu: Bytes,
    /// Bytes to upload; [`Bytes::UNLIMITED`] for no end.
    pub size: Bytes,
}

/// Congestion control of a flow.
#[derive(Clone, Debug, PartialEq)]
pub enum Controller {
    /// One of quinn's own, see [`OWN`].
    Own(String),
    /// A scheme of the catalogue with these parameters, see [`thalweg_quic::NAMES`].
    Scheme(String, ParamList),
}

/// Controllers of quinn that a deterministic run can use. Its BBR draws the phase of its cycle from the operating system.
pub const OWN: &[&str] = &["cubic", "newreno"];

pub use thalweg_quic::NAMES;

/// Makes an endpoint, given where it sends to.
pub type Factory = Box<dyn Fn(Destination) -> Box<dyn Endpoint + Send> + Send>;

/// The two ends of a flow, sender first. Each call of a factory begins a new connection.
///
/// # Errors
///
/// There is no such controller, or the scheme refuses its parameters.
pub fn ends(config: &Config) -> Result<(Factory, Factory), ParamError> {
    config.controller.factory(0)?;
    let (there, back) = (Wire::default(), Wire::default());
    let (client_config, server_wires) = (config.clone(), (back.clone(), there.clone()));
    let client = move |to| -> Box<dyn Endpoint + Send> {
        Box::new(Client::new(&client_config, to, there.clone(), back.clone()))
    };
    let mtu = config.mtu;
    let server = move |to| -> Box<dyn Endpoint + Send> {
        Box::new(Server::new(mtu, to, server_wires.0.clone(), server_wires.1.clone()))
    };
    Ok((Box::new(client), Box::new(server)))
}

impl Controller {
    /// The controllers of one connection; those of the catalogue draw from `seed`.
    fn factory(&self, seed: u64) -> Result<Arc<dyn ControllerFactory + Send + Sync>, ParamError> {
        let unknown = |name: &str, known: &[&str]| ParamError {
            name: "controller".to_owned(),
            message: format!("there is no controller `{name}` for quinn here"),
            hint: Some(format!("one of {}", known.join(", "))),
            beside: None,
        };
        match self {
            Self::Own(name) => match name.as_str() {
                "cubic" => Ok(Arc::new(CubicConfig::default())),
                "newreno" => Ok(Arc::new(NewRenoConfig::default())),
                _ => Err(unknown(name, OWN)),
            },
            Self::Scheme(name, params) => {
                thalweg_quic::by_name(name, params, seed)?.ok_or_else(|| unknown(name, thalweg_quic::NAMES))
            }
        }
    }
}

/// Headers of IPv4 and UDP.
pub const HEADERS: Bytes = Bytes::new(28);

/// Minimum path MTU: a UDP payload of 1200 bytes [RFC9000 §14].
pub const MIN_MTU: Bytes = Bytes::new(1228);
