//! Messages of the two sides, byte by byte. All numbers are big-endian.

use units::Duration;

use super::Manifest;
use super::layout::level;
use super::tree::PROOF;

/// The content of a packet.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Content<'a> {
    /// The announcement of the object.
    Announce(Manifest),
    /// A symbol of a block: the block's own up to the number of its symbols, a repair symbol from there on.
    Symbol {
        /// The block, from 0.
        block: u32,
        /// The symbol's number, below 2²⁴.
        number: u32,
        /// The symbol.
        bytes: &'a [u8],
    },
    /// A piece of a live stream.
    Chunk {
        /// Its number, from 0.
        number: u64,
        /// Milliseconds from the start of the stream until it was produced.
        at_ms: u32,
        /// Nothing follows it.
        last: bool,
        /// The piece.
        bytes: &'a [u8],
    },
    /// No content: the congestion controller required a packet.
    Nothing,
}

const ANNOUNCE: u8 = 1;
const SYMBOL: u8 = 2;
const CHUNK: u8 = 3;
const LAST_CHUNK: u8 = 4;

/// Bytes before a symbol.
pub(crate) const SYMBOL_HEADER: usize = 8;
/// Bytes before a piece of a live stream.
pub(crate) const CHUNK_HEADER: usize = 13;

/// Writes the header of a symbol.
///
/// | bytes | what |
/// | --- | --- |
/// | 0 | 2 |
/// | 1–4 | block |
/// | 5–7 | number of the symbol |
pub(crate) fn write_symbol_header(block: u32, number: u32, room: &mut [u8]) {
    room[0] = SYMBOL;
    room[1..5].copy_from_slice(&block.to_be_bytes());
    room[5..8].copy_from_slice(&number.to_be_bytes()[1..]);
}

/// Writes the header of a piece of a live stream.
///
/// | bytes | what |
/// | --- | --- |
/// | 0 | 3; 4 when nothing follows |
/// | 1–8 | number |
/// | 9–12 | milliseconds from the start of the stream |
pub(crate) fn write_chunk_header(number: u64, at_ms: u32, last: bool, room: &mut [u8]) {
    room[0] = if last { LAST_CHUNK } else { CHUNK };
    room[1..9].copy_from_slice(&number.to_be_bytes());
    room[9..13].copy_from_slice(&at_ms.to_be_bytes());
}

/// Writes an announcement: 1, and the manifest. Returns its length, or zero if it does not fit.
pub(crate) fn write_announce(manifest: &Manifest, room: &mut [u8]) -> usize {
    let mut bytes = vec![ANNOUNCE];
    manifest.write(&mut bytes);
    let Some(place) = room.get_mut(..bytes.len()) else { return 0 };
    place.copy_from_slice(&bytes);
    bytes.len()
}

/// Reads the content of a packet; `None` for an unknown kind.
pub(crate) fn read_content(bytes: &[u8]) -> Option<Content<'_>> {
    let Some((kind, rest)) = bytes.split_first() else { return Some(Content::Nothing) };
    match *kind {
        ANNOUNCE => Some(Content::Announce(Manifest::read(rest)?.0)),
        SYMBOL => {
            let (head, symbol) = rest.split_at_checked(SYMBOL_HEADER - 1)?;
            let block = u32::from_be_bytes([head[0], head[1], head[2], head[3]]);
            let number = u32::from_be_bytes([0, head[4], head[5], head[6]]);
            Some(Content::Symbol { block, number, bytes: symbol })
        }
        CHUNK | LAST_CHUNK => {
            let (head, piece) = rest.split_at_checked(CHUNK_HEADER - 1)?;
            let (number, at) = head.split_first_chunk::<8>()?;
            let at_ms = u32::from_be_bytes(*at.first_chunk()?);
            let last = *kind == LAST_CHUNK;
            Some(Content::Chunk { number: u64::from_be_bytes(*number), at_ms, last, bytes: piece })
        }
        _ => None,
    }
}

/// A message of a receiver.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Message {
    /// A report of missing blocks.
    Report(Report),
    /// It refuses the object, with the reason.
    Failed(String),
    /// Missing pieces of a live stream.
    Missing {
        /// All pieces below were received or skipped.
        next_expected: u64,
        /// The stream has ended, and every piece was delivered or skipped.
        finished: bool,
        /// The missing pieces, in order.
        numbers: Vec<u64>,
    },
    /// How the pieces of a live stream arrive.
    Arrival(Arrival),
    /// How much of a byte stream it has, from its beginning.
    Have {
        /// The object.
        id: u64,
        /// Bytes.
        bytes: u64,
        /// The proof of completion.
        proof: Option<[u8; PROOF]>,
    },
}

/// The piece of a live stream with the highest age since the last report, of those that were sent once, and the number
/// of late ones.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Arrival {
    pub(crate) number: u64,
    /// Time since it was read by the sender, minus the delay of the fastest piece so far.
    pub(crate) age: Duration,
    /// Late pieces until now.
    pub(crate) late: u64,
}

/// The report of a receiver of blocks.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Report {
    /// The proof that the object is complete and its hash is right.
    pub(crate) proof: Option<[u8; PROOF]>,
    /// The highest packet number that it has received: the report describes the state at that packet.
    pub(crate) seen: u64,
    /// Blocks below are complete.
    pub(crate) base: u32,
    /// The report covers blocks below: those that it does not list are complete.
    pub(crate) until: u32,
    /// It cannot store blocks from this one on yet.
    pub(crate) limit: u32,
    /// Number of complete and verified blocks.
    pub(crate) complete: u32,
    /// Incomplete blocks: blocks of hashes first, then in order.
    pub(crate) missing: Vec<MissingSymbols>,
}

/// Consecutive blocks that lack the same number of symbols.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct MissingSymbols {
    pub(crate) first: u32,
    pub(crate) blocks: u16,
    pub(crate) symbols: u16,
}

impl MissingSymbols {
    /// The numbers of the blocks. The other end may list more than there are numbers.
    pub(crate) fn numbers(&self) -> impl Iterator<Item = u32> + use<> {
        (self.first..=u32::MAX).take(usize::from(self.blocks))
    }
}

const REPORT: u8 = 1;
const FAILED: u8 = 2;
const MISSING: u8 = 3;
const HAVE: u8 = 4;
const ARRIVAL: u8 = 5;

/// Bytes of a report before its list.
const REPORT_HEADER: usize = 26 + PROOF;
/// Bytes of an entry.
const LACK_BYTES: usize = 8;
/// Maximum number of entries of a report, so that it fits into a message.
pub(crate) const MAX_LACKS: usize = (crate::MAX_MESSAGE_BYTES - REPORT_HEADER) / LACK_BYTES;
/// Maximum number of pieces that a message requests.
pub(crate) const MAX_MISSING: usize = (crate::MAX_MESSAGE_BYTES - 10) / 8;

impl Message {
    /// Writes it to the start of `room` and returns its length. Lists and texts are truncated to fit.
    ///
    /// | a report: bytes | what |
    /// | --- | --- |
    /// | 0 | 1 |
    /// | 1 | 1 if the object is complete |
    /// | 2–9 | highest packet number received; of a byte stream, the number of accepted bytes |
    /// | 10–13, 14–17, 18–21, 22–25 | base, until, limit, complete blocks |
    /// | 26–41 | proof of completion, otherwise zeros |
    /// | then | 4 bytes first block, 2 number of blocks, 2 missing symbols of each |
    ///
    /// A refusal is 2 and a text. Missing pieces are 3, 1 at the end, 8 bytes *below*, and 8 bytes per piece. The state
    /// of a byte stream is 4, 1 if it is complete, 8 bytes id, 8 bytes received length, 16 bytes proof. The arrival of
    /// live pieces is 5, 8 bytes number, 4 bytes age in microseconds, 8 bytes late pieces.
    pub(crate) fn write(&self, room: &mut [u8]) -> usize {
        let mut bytes = Vec::with_capacity(room.len());
        match self {
            Self::Report(report) => {
                bytes.extend([REPORT, u8::from(report.proof.is_some())]);
                bytes.extend(report.seen.to_be_bytes());
                for number in [report.base, report.until, report.limit, report.complete] {
                    bytes.extend(number.to_be_bytes());
                }
                bytes.extend(report.proof.unwrap_or_default());
                for entry in &report.missing[..report.missing.len().min(MAX_LACKS)] {
                    bytes.extend(entry.first.to_be_bytes());
                    bytes.extend(entry.blocks.to_be_bytes());
                    bytes.extend(entry.symbols.to_be_bytes());
                }
            }
            Self::Failed(why) => {
                bytes.push(FAILED);
                let end = (0..=why.len().min(room.len() - 1)).rev().find(|end| why.is_char_boundary(*end));
                bytes.extend(&why.as_bytes()[..end.unwrap_or(0)]);
            }
            Self::Missing { next_expected, finished, numbers } => {
                bytes.extend([MISSING, u8::from(*finished)]);
                bytes.extend(next_expected.to_be_bytes());
                bytes.extend(numbers.iter().take(MAX_MISSING).flat_map(|number| number.to_be_bytes()));
            }
            Self::Arrival(Arrival { number, age, late }) => {
                bytes.push(ARRIVAL);
                bytes.extend(number.to_be_bytes());
                bytes.extend(u32::try_from(age.as_nanos() / 1000).unwrap_or(u32::MAX).to_be_bytes());
                bytes.extend(late.to_be_bytes());
            }
            Self::Have { id, bytes: have, proof } => {
                bytes.extend([HAVE, u8::from(proof.is_some())]);
                bytes.extend(id.to_be_bytes());
                bytes.extend(have.to_be_bytes());
                bytes.extend(proof.unwrap_or_default());
            }
        }
        room[..bytes.len()].copy_from_slice(&bytes);
        bytes.len()
    }

    /// Reads a message; `None` for an unknown kind.
    pub(crate) fn read(bytes: &[u8]) -> Option<Self> {
        let (kind, rest) = bytes.split_first()?;
        match *kind {
            REPORT => Some(Self::Report(Report::read(rest)?)),
            FAILED => {
                // for users
                Some(Self::Failed(wire::printable(&String::from_utf8_lossy(rest))))
            }
            MISSING => {
                let (finished, rest) = rest.split_first()?;
                let (next_expected, list) = rest.split_first_chunk()?;
                let numbers = list.as_chunks().0.iter().map(|number| u64::from_be_bytes(*number)).collect();
                Some(Self::Missing {
                    next_expected: u64::from_be_bytes(*next_expected),
                    finished: *finished == 1,
                    numbers,
                })
            }
            ARRIVAL => {
                let (number, rest) = rest.split_first_chunk()?;
                let (age, rest) = rest.split_first_chunk()?;
                Some(Self::Arrival(Arrival {
                    number: u64::from_be_bytes(*number),
                    age: Duration::from_micros(u32::from_be_bytes(*age).into()),
                    late: u64::from_be_bytes(*rest.first_chunk()?),
                }))
            }
            HAVE => {
                let (whole, rest) = rest.split_first()?;
                let (id, rest) = rest.split_first_chunk()?;
                let (have, rest) = rest.split_first_chunk()?;
                let proof = rest.first_chunk().filter(|_| *whole == 1).copied();
                let (id, bytes) = (u64::from_be_bytes(*id), u64::from_be_bytes(*have));
                Some(Self::Have { id, bytes, proof })
            }
            _ => None,
        }
    }
}

impl Report {
    /// The first block of the file from `from` on that is missing according to this report; all blocks from its end on
    /// are missing.
    pub(crate) fn next_lacking(&self, from: u32) -> u32 {
        let from = from.max(self.base);
        if from >= self.until {
            return from;
        }
        let listed = self.missing.iter().filter(|entry| level(entry.first) == 0);
        let mut beyond = listed.filter(|entry| entry.first.saturating_add(entry.blocks.into()) > from);
        beyond.next().map_or(self.until, |entry| entry.first.max(from))
    }

    fn read(bytes: &[u8]) -> Option<Self> {
        let (head, list) = bytes.split_at_checked(REPORT_HEADER - 1)?;
        let half = |at: usize| u32::from_be_bytes(std::array::from_fn(|n| head[at + n]));
        let missing = list.as_chunks::<LACK_BYTES>().0.iter().map(|entry| MissingSymbols {
            first: u32::from_be_bytes([entry[0], entry[1], entry[2], entry[3]]),
            blocks: u16::from_be_bytes([entry[4], entry[5]]),
            symbols: u16::from_be_bytes([entry[6], entry[7]]),
        });
        Some(Self {
            proof: head.last_chunk().filter(|_| head[0] == 1).copied(),
            seen: u64::from_be_bytes(std::array::from_fn(|n| head[1 + n])),
            base: half(9),
            until: half(13),
            limit: half(17),
            complete: half(21),
            missing: missing.collect(),
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::MAX_MESSAGE_BYTES;

    #[test]
    fn words_are_read_as_they_were_written() {
        let entry = |first| MissingSymbols { first, blocks: 2, symbols: 300 };
        let messages = [
            Message::Report(Report::default()),
            Message::Report(Report {
                proof: Some([7; PROOF]),
                seen: 1 << 40,
                base: 1,
                until: 2,
                limit: 3,
                complete: 4,
                missing: vec![entry(5), entry(9)],
            }),
            Message::Failed("no room for größe.bin".to_owned()),
            Message::Missing { next_expected: 7, finished: false, numbers: vec![9, 11] },
            Message::Missing { next_expected: 7, finished: true, numbers: vec![] },
            Message::Arrival(Arrival { number: 1 << 40, age: Duration::from_micros(345_678), late: 9 }),
            Message::Have { id: 3, bytes: 1 << 50, proof: Some([9; PROOF]) },
            Message::Have { id: 3, bytes: 1 << 50, proof: None },
        ];
        for message in messages {
            let mut room = [0; MAX_MESSAGE_BYTES];
            let length = message.write(&mut room);
            assert_eq!(Message::read(&room[..length]), Some(message));
        }
    }

    #[test]
    fn a_report_says_what_is_lacking_next() {
        let entry = |first, blocks| MissingSymbols { first, blocks, symbols: 1 };
        let missing = vec![entry(super::super::layout::id(1, 0), 1), entry(12, 2), entry(20, 1)];
        let report = Report { base: 10, until: 30, missing, ..Report::default() };
        let next = [0, 11, 12, 13, 14, 20, 21, 29, 30, 99].map(|from| report.next_lacking(from));
        assert_eq!(next, [12, 12, 12, 13, 20, 20, 30, 30, 30, 99]);
    }

    #[test]
    fn long_lists_and_sentences_are_cut_to_fit() {
        let mut room = [0; MAX_MESSAGE_BYTES];
        let missing: Vec<MissingSymbols> =
            (0..1000).map(|first| MissingSymbols { first, blocks: 1, symbols: 1 }).collect();
        let length =
            Message::Report(Report { missing: missing.clone(), ..Report::default() }).write(&mut room);
        let Some(Message::Report(read)) = Message::read(&room[..length]) else {
            panic!("a report was written")
        };
        assert_eq!(read.missing, missing[..MAX_LACKS]);
        let length = Message::Failed("ö".repeat(1000)).write(&mut room);
        assert_eq!(Message::read(&room[..length]), Some(Message::Failed("ö".repeat(511))));
        let length = Message::Missing { next_expected: 0, finished: false, numbers: (0..1000).collect() }
            .write(&mut room);
        assert!(length <= MAX_MESSAGE_BYTES && length > MAX_MESSAGE_BYTES - 8);
    }

    #[test]
    fn a_refusal_cannot_command_a_terminal() {
        let mut room = [0; MAX_MESSAGE_BYTES];
        let message = "no room\x1b]0;owned\x07\nwhole: every byte arrived\u{9b}2J\u{202e}";
        let length = Message::Failed(message.to_owned()).write(&mut room);
        let Some(Message::Failed(read)) = Message::read(&room[..length]) else {
            panic!("a refusal was written")
        };
        assert_eq!(read, "no room\\x1b]0;owned\\x07\\nwhole: every byte arrived\\u{9b}2J\\u{202e}");
    }

    #[test]
    fn contents_are_read_as_they_were_written() {
        let mut room = [0; 100];
        write_symbol_header(70_000, 0x00ab_cdef, &mut room);
        room[8..11].copy_from_slice(b"abc");
        let symbol = Content::Symbol { block: 70_000, number: 0x00ab_cdef, bytes: b"abc" };
        assert_eq!(read_content(&room[..11]), Some(symbol));
        for last in [false, true] {
            write_chunk_header(1 << 33, 77, last, &mut room);
            room[13..15].copy_from_slice(b"xy");
            let chunk = Content::Chunk { number: 1 << 33, at_ms: 77, last, bytes: b"xy" };
            assert_eq!(read_content(&room[..15]), Some(chunk));
        }
        assert_eq!(read_content(&[]), Some(Content::Nothing));
        assert_eq!(read_content(&[9, 9]), None);
    }

    proptest::proptest! {
        #[test]
        fn whatever_comes_is_read_or_refused(bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..400)) {
            let _ = read_content(&bytes);
            if let Some(message) = Message::read(&bytes) {
                let mut room = [0; MAX_MESSAGE_BYTES];
                proptest::prop_assert!(message.write(&mut room) <= MAX_MESSAGE_BYTES);
            }
        }
    }
}
