//! Packet formats: IPv4 headers of real programs, generated headers for simulated packets, capture files for both, and
//! named data.
//!
//! Only the capture file and the reassembly of fragments have state. Parsers accept any input: bytes that are no packet
//! are `None` or a reason, never a panic.

mod frame;
mod ip;
mod named;
pub mod ndn;
mod pcapng;
mod printable;
mod reader;
pub mod sdn;
pub mod stream;
#[cfg(test)]
mod testing;
mod udp;

pub use frame::frame;
pub use ip::{
    IGMP, Ipv4, UDP_HEADERS, address_of, address_of_group, checksum, datagram, flow_of, group_of, mark,
    node_of, port_of,
};
pub use pcapng::{Capture, Way};
pub use printable::{is_control, printable};
pub use udp::between;
