//! The offer of a sender: the scheme and all parameters that both ends must agree on.

use contract::{ParamList, ParamValue};

use super::ABOUT;
use crate::reader::{Malformed, Reader, put_text};

/// The offer of a sender: parameters of a transfer.
#[derive(Clone, Debug, PartialEq)]
pub struct Offer {
    /// Name of the scheme, at most [`TEXT`](super::TEXT) bytes.
    pub scheme: String,
    /// Its parameters; names and texts of at most [`TEXT`](super::TEXT) bytes, not more than 255.
    pub params: ParamList,
    /// Transport of the data.
    pub transport: Transport,
    /// Bytes of a data packet with all its headers, including IP and UDP.
    pub packet: u16,
    /// Data packets are ECN-capable (ECT).
    pub ecn: bool,
    /// Bytes of the whole flow, if known.
    pub size: Option<u64>,
    /// For the receiving application, at most [`ABOUT`] bytes.
    pub about: Vec<u8>,
}

/// Transport of data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Transport {
    /// Paced packets one way, feedback the other, without retransmission.
    Paced,
    /// Segments and acknowledgements of a byte stream.
    Windowed,
}

const ECN: u8 = 1;
const SIZE: u8 = 2;
const WINDOWED: u8 = 4;

impl Offer {
    /// Appends the offer. Values that are too long for their field are truncated.
    pub fn encode(&self, out: &mut Vec<u8>) {
        let windowed = self.transport == Transport::Windowed;
        let mut flags = 0;
        for (is, flag) in [(self.ecn, ECN), (self.size.is_some(), SIZE), (windowed, WINDOWED)] {
            flags |= if is { flag } else { 0 };
        }
        out.push(flags);
        out.extend_from_slice(&self.packet.to_be_bytes());
        out.extend_from_slice(&self.size.unwrap_or(0).to_be_bytes());
        put_text(&self.scheme, out);
        let params = &self.params[..self.params.len().min(usize::from(u8::MAX))];
        out.push(params.len() as u8);
        for (name, value) in params {
            put_text(name, out);
            match value {
                ParamValue::Float(x) => {
                    out.push(0);
                    out.extend_from_slice(&x.to_bits().to_be_bytes());
                }
                ParamValue::Int(x) => {
                    out.push(1);
                    out.extend_from_slice(&x.to_be_bytes());
                }
                ParamValue::Bool(x) => out.extend_from_slice(&[2, u8::from(*x)]),
                ParamValue::Text(x) => {
                    out.push(3);
                    put_text(x, out);
                }
            }
        }
        let about = &self.about[..self.about.len().min(ABOUT)];
        out.extend_from_slice(&(about.len() as u16).to_be_bytes());
        out.extend_from_slice(about);
    }

    /// Reads what [`Self::encode`] appended.
    ///
    /// # Errors
    ///
    /// [`Malformed`] if the bytes are anything else, or something follows.
    pub fn decode(bytes: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Reader::of(bytes);
        let flags = from.byte()?;
        if flags & !(ECN | SIZE | WINDOWED) != 0 {
            return Err(Malformed::Flags);
        }
        let packet = from.u16()?;
        let size = from.u64()?;
        let scheme = from.text()?;
        let mut params = ParamList::new();
        for _ in 0..from.byte()? {
            let name = from.text()?;
            let value = match from.byte()? {
                0 => ParamValue::Float(f64::from_bits(from.u64()?)),
                1 => ParamValue::Int(from.u64()? as i64),
                2 => ParamValue::Bool(from.byte()? != 0),
                3 => ParamValue::Text(from.text()?),
                _ => return Err(Malformed::Value),
            };
            params.push((name, value));
        }
        let about = usize::from(from.u16()?);
        if about > ABOUT {
            return Err(Malformed::Length);
        }
        let offer = Self {
            scheme,
            params,
            transport: if flags & WINDOWED != 0 { Transport::Windowed } else { Transport::Paced },
            packet,
            ecn: flags & ECN != 0,
            size: (flags & SIZE != 0).then_some(size),
            about: from.take(about)?.to_vec(),
        };
        from.end(offer)
    }
}
