//! Packets as bytes: IPv4 headers of real programs, headers made up for simulated packets, and capture files that hold both.
//!
//! Nothing here keeps state but the capture file. Reading is total: bytes that are no packet are `None`, never a panic.

mod frame;
mod ip;
mod pcapng;
pub mod stream;

pub use frame::frame;
pub use ip::{Ipv4, address_of, checksum, flow_of, mark, node_of, port_of};
pub use pcapng::Capture;
