//! WebRTC media of str0m as endpoints of a simulated flow: the sender is a video source whose rate follows str0m's
//! bandwidth estimation, that is GCC on transport-wide feedback (draft-ietf-rmcat-gcc-02,
//! draft-holmer-rmcat-transport-wide-cc-extensions-01).
//!
//! str0m is sans-IO: it takes datagrams and instants, and gives datagrams and deadlines. Everything on the wire is its
//! own: connectivity checks of ICE (RFC 8445), a handshake of DTLS (RFC 6347), SRTP (RFC 3711), RTCP with feedback and
//! NACKs, retransmissions (RFC 4588), its pacer and its probes. The network carries the sizes of the datagrams, with
//! headers of UDP and IPv4; their bytes wait in the flow's [`DatagramStore`].
//!
//! str0m draws from the generator of the crate `fastrand` that belongs to the thread. Each call into it begins with a
//! seed from the endpoint's stream, and keys of DTLS come from the same stream. A run is therefore a function of the
//! scenario and its seed.

mod clock;
mod crypto;
mod dtls;
mod peer;
mod session;
mod source;

use contract::{Destination, Endpoint, ParamError};
use stack::stream::EncoderModel;
use units::{Bytes, Duration, Rate};

use self::peer::Receiver;
use self::source::Sender;
use crate::Factory;
use crate::wire::DatagramStore;

/// A flow.
#[derive(Clone, Debug, PartialEq)]
pub struct Config {
    /// The estimate with which str0m begins.
    pub start: Rate,
    /// Frames per second.
    pub frame_rate: u32,
    /// Sizes of frames; str0m probes for the highest rate.
    pub encoder: EncoderModel,
    /// Largest IPv4 packet that the path carries. str0m sends packets of up to 1150 bytes of UDP payload.
    pub mtu: Bytes,
}

impl Default for Config {
    /// 300 kbit/s at the start, as libwebrtc; 100 kbit/s to 2.5 Mbit/s and 30 frames per second, as a camera at 720p;
    /// frames as in RFC 8593.
    fn default() -> Self {
        Self {
            start: Rate::from_bps(300_000),
            frame_rate: 30,
            encoder: EncoderModel {
                min: Rate::from_bps(100_000),
                max: Rate::from_bps(2_500_000),
                ..EncoderModel::default()
            },
            mtu: Bytes::new(1500),
        }
    }
}

impl Config {
    /// Time between two frames.
    fn interval(&self) -> Duration {
        Duration::from_nanos(1_000_000_000 / u64::from(self.frame_rate))
    }
}

/// The two ends of a flow, sender first. Each call of a factory begins a new session.
///
/// # Errors
///
/// The rates are not in order, there are no frames, or the MTU is less than [`MIN_MTU`].
pub fn ends(config: &Config) -> Result<(Factory, Factory), ParamError> {
    check(config)?;
    let (there, back) = (DatagramStore::default(), DatagramStore::default());
    let (sender_config, receiver_config) = (config.clone(), config.clone());
    let receiver_wires = (back.clone(), there.clone());
    let sender = move |to: Destination| -> Box<dyn Endpoint + Send> {
        Box::new(Sender::new(&sender_config, to, there.clone(), back.clone()))
    };
    let receiver = move |to: Destination| -> Box<dyn Endpoint + Send> {
        Box::new(Receiver::new(&receiver_config, to, receiver_wires.0.clone(), receiver_wires.1.clone()))
    };
    Ok((Box::new(sender), Box::new(receiver)))
}

fn check(config: &Config) -> Result<(), ParamError> {
    let error = |name: &str, message: String, hint: &str| {
        let (name, hint) = (name.to_owned(), Some(hint.to_owned()));
        Err(ParamError { name, message, hint, conflicts_with: None })
    };
    let Config { start, frame_rate, encoder: EncoderModel { min, max, .. }, mtu } = config;
    if *min == Rate::ZERO || min > max || *max > MAX_RATE {
        let message = format!("the encoder cannot have rates from {min} to {max}");
        return error("max", message, "0 < min ≤ max ≤ 1 Gbit/s");
    }
    if start < min || start > max {
        return error("start", format!("{start} is no rate of the encoder"), "from min to max");
    }
    if !(1..=240).contains(frame_rate) {
        return error("frame_rate", format!("{frame_rate} frames per second"), "1 to 240");
    }
    if *mtu < MIN_MTU {
        let message = format!("packets of {mtu} are smaller than str0m's");
        return error("mtu", message, "at least 1178 B");
    }
    Ok(())
}

/// Its congestion control: bandwidth estimation on transport-wide feedback.
pub const OWN: &[&str] = &["gcc"];

/// Largest packet of str0m: 1150 bytes of UDP payload with its default settings.
pub const MIN_MTU: Bytes = Bytes::new(1178);

const MAX_RATE: Rate = Rate::from_mbps(1000);
