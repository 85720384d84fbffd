//! Captures in memory, which tests read block by block.

use std::io::{self, Write};
use std::net::SocketAddr;
use std::sync::{Arc, Mutex, PoisonError};

use contract::Ecn;
use wire::checksum;

/// A capture file in memory that a test can read while it is written.
#[derive(Clone, Debug, Default)]
pub struct CaptureFile(Arc<Mutex<Vec<u8>>>);

impl Write for CaptureFile {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner).extend_from_slice(bytes);
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// A packet of a capture.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CapturedPacket {
    /// The number of its interface.
    pub interface: u32,
    /// Its time in nanoseconds since 1970.
    pub at_ns: u64,
    /// 1 for received, 2 for sent; 0 if its interface shows the direction.
    pub direction: u32,
    /// The packet from its IP header on.
    pub bytes: Vec<u8>,
}

impl CaptureFile {
    /// The packets so far. Panics unless each block is whole.
    pub fn packets(&self) -> Vec<CapturedPacket> {
        let file = self.0.lock().unwrap_or_else(PoisonError::into_inner).clone();
        let word = |at: usize| u32::from_le_bytes(file[at..at + 4].try_into().expect("four bytes"));
        let (mut at, mut packets) = (0, Vec::new());
        while at < file.len() {
            let length = word(at + 4) as usize;
            assert_eq!(word(at + length - 4) as usize, length, "a block ends with its length");
            if word(at) == 6 {
                let captured = word(at + 20) as usize;
                // behind the packet, the head of the option and its four bytes
                let option = 32 + captured.next_multiple_of(4);
                packets.push(CapturedPacket {
                    interface: word(at + 8),
                    at_ns: u64::from(word(at + 12)) << 32 | u64::from(word(at + 16)),
                    direction: if length > option { word(at + option) } else { 0 },
                    bytes: file[at + 28..at + 28 + captured].to_vec(),
                });
            }
            at += length;
        }
        packets
    }
}

impl CapturedPacket {
    /// Source, destination, ECN field and payload of a UDP datagram over IPv4. Panics unless it is one with correct
    /// checksums.
    pub fn datagram(&self) -> (SocketAddr, SocketAddr, Ecn, &[u8]) {
        let bytes = &self.bytes;
        let ip = wire::Ipv4::read(bytes).expect("it is IPv4");
        let (from, to) = ip.ports.expect("it is UDP");
        assert_eq!(checksum(&[&bytes[..20]]), 0);
        let mut pseudo = bytes[12..20].to_vec();
        pseudo.extend_from_slice(&[0, 17, bytes[24], bytes[25]]);
        assert_eq!(checksum(&[&pseudo, &bytes[20..]]), 0);
        ((ip.source, from).into(), (ip.destination, to).into(), ip.ecn, &bytes[28..])
    }
}
