//! Sans-IO state machines of protocols (TCP, streams, NDN, ICN, SDN), and queue disciplines. They are generic over the
//! congestion control of `schemes`, and independent of schemes and drivers.

pub mod app;
pub mod datagram;
pub mod icn;
pub mod log;
pub mod ndn;
pub mod parts;
pub mod queue;
pub mod quic;
pub mod sdn;
pub mod stream;
pub mod tcp;

#[cfg(test)]
mod testing;
