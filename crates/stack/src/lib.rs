//! The machines at the edges of the network and the queues in its middle. They are generic over the laws that `schemes`
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
