//! Sans-IO state machines of protocols (TCP, streams, NDN, ICN, SDN), and queue disciplines. They are generic over the laws that `schemes`
//! gives; they know no scheme and no world.

pub mod datagram;
pub mod icn;
pub mod ndn;
pub mod parts;
pub mod queue;
pub mod sdn;
pub mod stream;
pub mod tcp;

#[cfg(test)]
mod testing;
