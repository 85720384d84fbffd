//! The manifest of a transfer, which the sender repeats periodically for late receivers.

use units::Duration;

use super::Layout;

/// The kind of an object.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// A file of known content.
    File,
    /// The output of a program of unknown length, all of which is delivered.
    Stream,
    /// A live stream: the output of a program, with a deadline for each piece.
    Live(Duration),
}

/// The description of an object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Manifest {
    /// Its kind.
    pub kind: Kind,
    /// Identifies the object: the beginning of the hash of a file, otherwise a random number.
    pub id: u64,
    /// The name that the sender proposes.
    pub name: String,
    /// Its division into blocks.
    pub layout: Layout,
    /// Of a file the root of the Merkle tree of its blocks, of a stream the BLAKE3 hash when it is known.
    pub hash: Option<[u8; 32]>,
    /// Interval of a receiver's reports.
    pub report_every: Duration,
}

/// The version of this format.
const VERSION: u8 = 2;
/// Bytes before the name.
const FIXED: usize = 64;
/// Maximum interval of reports.
const LONGEST_REPORT: Duration = Duration::from_secs(60);

impl Manifest {
    /// Writes it to the end of `into`: at most 64 + 255 bytes.
    ///
    /// | bytes | what |
    /// | --- | --- |
    /// | 0 | version, 2 |
    /// | 1 | kind: 0 file, 1 stream, 2 live |
    /// | 2–9 | id |
    /// | 10–17 | length; all ones when unknown |
    /// | 18–49 | hash; zeros when unknown |
    /// | 50–51 | bytes of a symbol |
    /// | 52–53 | symbols of a block |
    /// | 54–57 | milliseconds between reports |
    /// | 58–61 | deadline in milliseconds, of a live stream |
    /// | 62 | 1 when the hash is known |
    /// | 63 | bytes of the name, which follows |
    pub fn write(&self, into: &mut Vec<u8>) {
        let (kind, deadline) = match self.kind {
            Kind::File => (0, Duration::ZERO),
            Kind::Stream => (1, Duration::ZERO),
            Kind::Live(deadline) => (2, deadline),
        };
        let name = &self.name.as_bytes()[..self.name.len().min(255)];
        into.extend([VERSION, kind]);
        into.extend(self.id.to_be_bytes());
        into.extend(self.layout.length.unwrap_or(u64::MAX).to_be_bytes());
        into.extend(self.hash.unwrap_or_default());
        into.extend(self.layout.symbol_bytes.to_be_bytes());
        into.extend(self.layout.block_symbols.to_be_bytes());
        into.extend(millis(self.report_every).to_be_bytes());
        into.extend(millis(deadline).to_be_bytes());
        into.extend([u8::from(self.hash.is_some()), name.len() as u8]);
        into.extend(name);
    }

    /// Reads what [`Self::write`] wrote, with its length; `None` for other content, and for objects beyond the limits.
    pub fn read(bytes: &[u8]) -> Option<(Self, usize)> {
        let fixed: &[u8; FIXED] = bytes.first_chunk()?;
        let message = |at: usize| u64::from_be_bytes(std::array::from_fn(|n| fixed[at + n]));
        let half = |at: usize| u32::from_be_bytes(std::array::from_fn(|n| fixed[at + n]));
        let short = |at: usize| u16::from_be_bytes([fixed[at], fixed[at + 1]]);
        if fixed[0] != VERSION {
            return None;
        }
        let kind = match fixed[1] {
            0 => Kind::File,
            1 => Kind::Stream,
            2 => Kind::Live(Duration::from_millis(u64::from(half(58)))),
            _ => return None,
        };
        let length = Some(message(10)).filter(|length| *length != u64::MAX);
        let layout = Layout { length, symbol_bytes: short(50), block_symbols: short(52) };
        let hash = (fixed[62] == 1).then(|| std::array::from_fn(|n| fixed[18 + n]));
        let end = FIXED + usize::from(fixed[63]);
        let name = std::str::from_utf8(bytes.get(FIXED..end)?).ok()?.to_owned();
        let whole = kind != Kind::File || (length.is_some() && hash.is_some());
        let report_every = Duration::from_millis(u64::from(half(54)).max(1)).min(LONGEST_REPORT);
        let manifest = Self { kind, id: message(2), name, layout, hash, report_every };
        (whole && layout.possible()).then_some((manifest, end))
    }

    /// Whether `other` is the same object, so that a report or a partial file of one is valid for the other.
    pub fn same(&self, other: &Self) -> bool {
        let known = |manifest: &Self| (manifest.layout.length, manifest.hash);
        self.id == other.id
            && self.layout.symbol_bytes == other.layout.symbol_bytes
            && self.layout.block_symbols == other.layout.block_symbols
            && (self.kind != Kind::File || known(self) == known(other))
    }
}

fn millis(span: Duration) -> u32 {
    u32::try_from(span.as_nanos() / 1_000_000).unwrap_or(u32::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file() -> Manifest {
        Manifest {
            kind: Kind::File,
            id: 0x0102_0304_0506_0708,
            name: "größe.bin".to_owned(),
            layout: Layout::of_file(1_000_000, 1400),
            hash: Some([7; 32]),
            report_every: Duration::from_millis(50),
        }
    }

    #[test]
    fn what_is_written_is_read() {
        let stream = Manifest { kind: Kind::Stream, layout: Layout::of_stream(1300), hash: None, ..file() };
        let live = Manifest { kind: Kind::Live(Duration::from_millis(500)), ..stream.clone() };
        for manifest in [file(), stream, live] {
            let mut bytes = Vec::new();
            manifest.write(&mut bytes);
            let end = bytes.len();
            bytes.extend([1, 2, 3]);
            assert_eq!(Manifest::read(&bytes), Some((manifest, end)));
            for short in 0..end {
                assert_eq!(Manifest::read(&bytes[..short]), None);
            }
        }
    }

    #[test]
    fn what_nobody_could_hold_is_not_read() {
        let read = |change: &dyn Fn(&mut Vec<u8>)| {
            let mut bytes = Vec::new();
            file().write(&mut bytes);
            change(&mut bytes);
            Manifest::read(&bytes)
        };
        assert!(read(&|_| {}).is_some());
        assert_eq!(read(&|bytes| bytes[0] = 1), None, "another version");
        assert_eq!(read(&|bytes| bytes[1] = 3), None, "another kind");
        assert_eq!(read(&|bytes| bytes[10..18].fill(255)), None, "a file of unknown length");
        assert_eq!(read(&|bytes| bytes[62] = 0), None, "a file without a hash");
        assert_eq!(read(&|bytes| bytes[52..54].fill(0)), None, "blocks of no symbols");
        assert_eq!(read(&|bytes| bytes[64] = 0xff), None, "a name that is not text");
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..330)) {
            if let Some((manifest, _)) = Manifest::read(&bytes) {
                proptest::prop_assert!(manifest.layout.possible());
            }
        }
    }
}
