//! Capture files in the pcapng format [draft-ietf-opsawg-pcapng]: a section, an interface for each direction of each
//! link, and a block for each packet. Times are in nanoseconds. The writer is small enough to need no library.

use std::io::{self, Write};

use contract::{Names, Packet};
use units::Time;

use crate::frame::frame;

/// Packets without link header, from the IP header on.
const LINKTYPE_RAW: u16 = 101;
/// Maximum length of a packet in the file; longer ones are truncated.
const SNAP: usize = 65_535;

/// Direction of a packet, as seen by the writer of the capture.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Way {
    /// It was received.
    In = 1,
    /// It was sent.
    Out = 2,
}

/// A capture file that is being written.
#[derive(Debug)]
pub struct Capture<W> {
    out: W,
    /// Nanoseconds since 1970 at the start of the run.
    began_ns: u64,
    buffer: Vec<u8>,
    packets: u64,
    /// Names of named data.
    names: Names,
}

impl<W: Write> Capture<W> {
    /// Starts a file. `interfaces` are the names of interfaces; packets refer to them by index. `began_ns` is the start
    /// of the run in nanoseconds since 1970, 0 for a simulation.
    pub fn new(
        mut out: W,
        interfaces: impl IntoIterator<Item = impl AsRef<str>>,
        began_ns: u64,
    ) -> io::Result<Self> {
        let mut section = Vec::new();
        section.extend_from_slice(&0x1a2b_3c4d_u32.to_le_bytes());
        section.extend_from_slice(&1u16.to_le_bytes());
        section.extend_from_slice(&0u16.to_le_bytes());
        section.extend_from_slice(&u64::MAX.to_le_bytes());
        option(&mut section, 4, concat!("thalweg ", env!("CARGO_PKG_VERSION")).as_bytes());
        option(&mut section, 0, &[]);
        block(&mut out, 0x0a0d_0d0a, &section)?;
        for name in interfaces {
            let mut interface = Vec::new();
            interface.extend_from_slice(&LINKTYPE_RAW.to_le_bytes());
            interface.extend_from_slice(&0u16.to_le_bytes());
            interface.extend_from_slice(&(SNAP as u32).to_le_bytes());
            option(&mut interface, 2, name.as_ref().as_bytes());
            // resolution of times: 10⁻⁹ s
            option(&mut interface, 9, &[9]);
            option(&mut interface, 0, &[]);
            block(&mut out, 1, &interface)?;
        }
        Ok(Self { out, began_ns, buffer: Vec::new(), packets: 0, names: Names::new() })
    }

    /// Adds the names of named data.
    pub fn with_names(self, names: Names) -> Self {
        Self { names, ..self }
    }

    /// Writes a simulated packet with generated headers. `header_bytes` is the header part of a TCP packet's size.
    pub fn simulated(
        &mut self,
        at: Time,
        interface: u32,
        packet: &Packet,
        header_bytes: u32,
    ) -> io::Result<()> {
        let mut bytes = std::mem::take(&mut self.buffer);
        let length = frame(packet, header_bytes, &self.names, &mut bytes);
        let written = self.write(at, interface, None, &bytes, length);
        self.buffer = bytes;
        written
    }

    /// Writes a packet of a real program.
    pub fn real(&mut self, at: Time, interface: u32, bytes: &[u8]) -> io::Result<()> {
        self.directed(at, interface, None, bytes)
    }

    /// Writes a packet with its direction, for interfaces with packets of both.
    pub fn directed(&mut self, at: Time, interface: u32, way: Option<Way>, bytes: &[u8]) -> io::Result<()> {
        let kept = &bytes[..bytes.len().min(SNAP)];
        self.write(at, interface, way, kept, u32::try_from(bytes.len()).unwrap_or(u32::MAX))
    }

    fn write(
        &mut self,
        at: Time,
        interface: u32,
        way: Option<Way>,
        bytes: &[u8],
        length: u32,
    ) -> io::Result<()> {
        let stamp = self.began_ns.saturating_add(at.as_nanos());
        let padding = bytes.len().next_multiple_of(4) - bytes.len();
        // flags, four bytes; end of options
        let options = way.map_or([0; 12], |way| [2, 0, 4, 0, way as u8, 0, 0, 0, 0, 0, 0, 0]);
        let options = if way.is_some() { &options[..] } else { &[] };
        let whole = (32 + bytes.len() + padding + options.len()) as u32;
        let mut head = [0u8; 28];
        for (place, word) in head.chunks_exact_mut(4).zip([
            6,
            whole,
            interface,
            (stamp >> 32) as u32,
            stamp as u32,
            bytes.len() as u32,
            length,
        ]) {
            place.copy_from_slice(&word.to_le_bytes());
        }
        self.out.write_all(&head)?;
        self.out.write_all(bytes)?;
        self.out.write_all(&[0; 3][..padding])?;
        self.out.write_all(options)?;
        self.out.write_all(&whole.to_le_bytes())?;
        self.packets += 1;
        Ok(())
    }

    /// Packets written so far.
    pub const fn packets(&self) -> u64 {
        self.packets
    }

    /// Flushes buffers, so that others can read the file while it grows.
    pub fn flush(&mut self) -> io::Result<()> {
        self.out.flush()
    }

    /// Ends the file.
    pub fn finish(mut self) -> io::Result<W> {
        self.out.flush()?;
        Ok(self.out)
    }
}

/// An option of a block: its code, its length, its value padded to a word.
fn option(block: &mut Vec<u8>, code: u16, value: &[u8]) {
    block.extend_from_slice(&code.to_le_bytes());
    block.extend_from_slice(&(value.len() as u16).to_le_bytes());
    block.extend_from_slice(value);
    block.resize(block.len().next_multiple_of(4), 0);
}

fn block(out: &mut impl Write, kind: u32, body: &[u8]) -> io::Result<()> {
    let whole = (12 + body.len()) as u32;
    out.write_all(&kind.to_le_bytes())?;
    out.write_all(&whole.to_le_bytes())?;
    out.write_all(body)?;
    out.write_all(&whole.to_le_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], at: usize) -> u32 {
        u32::from_le_bytes(bytes[at..at + 4].try_into().expect("four bytes"))
    }

    /// Kind and body of each block; a block ends with its length.
    fn blocks(mut bytes: &[u8]) -> Vec<(u32, &[u8])> {
        let mut list = Vec::new();
        while !bytes.is_empty() {
            let length = word(bytes, 4) as usize;
            assert_eq!(length % 4, 0);
            assert_eq!(word(bytes, length - 4) as usize, length);
            list.push((word(bytes, 0), &bytes[8..length - 4]));
            bytes = &bytes[length..];
        }
        list
    }

    #[test]
    fn a_file_is_a_section_its_interfaces_and_its_packets() {
        let mut capture = Capture::new(Vec::new(), ["core", "core.backward"], 1_000_000_007).expect("memory");
        capture.real(Time::from_nanos(5_000_000_000), 1, &[1, 2, 3, 4, 5]).expect("memory");
        assert_eq!(capture.packets(), 1);
        let bytes = capture.finish().expect("memory");
        let blocks = blocks(&bytes);
        assert_eq!(blocks.iter().map(|block| block.0).collect::<Vec<_>>(), [0x0a0d_0d0a, 1, 1, 6]);
        assert_eq!(word(blocks[0].1, 0), 0x1a2b_3c4d);
        assert_eq!(&blocks[2].1[12..25], b"core.backward");
        let packet = blocks[3].1;
        assert_eq!(word(packet, 0), 1);
        let stamp = u64::from(word(packet, 4)) << 32 | u64::from(word(packet, 8));
        assert_eq!(stamp, 6_000_000_007);
        assert_eq!((word(packet, 12), word(packet, 16)), (5, 5));
        assert_eq!(packet[20..28], [1, 2, 3, 4, 5, 0, 0, 0]);
        assert_eq!(packet.len(), 28);
    }

    #[test]
    fn a_packet_says_which_way_it_went_where_its_interface_does_not() {
        let mut capture = Capture::new(Vec::new(), ["face"], 0).expect("memory");
        capture.directed(Time::ZERO, 0, Some(Way::In), &[1, 2, 3, 4]).expect("memory");
        capture.directed(Time::ZERO, 0, Some(Way::Out), &[5]).expect("memory");
        let bytes = capture.finish().expect("memory");
        let blocks = blocks(&bytes);
        // after the padded packet: the option of flags, of four bytes, and the end of options
        assert_eq!(blocks[2].1[24..], [2, 0, 4, 0, 1, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(blocks[3].1[24..], [2, 0, 4, 0, 2, 0, 0, 0, 0, 0, 0, 0]);
    }
}
