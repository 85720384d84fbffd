//! Reassembly of blocks from symbols, in bounded memory.

use std::collections::BTreeMap;

use raptorq::{EncodingPacket, ObjectTransmissionInformation, PayloadId, SourceBlockDecoder};

/// Storage of symbols of incomplete blocks when memory is short: the partial file.
pub(crate) trait Spill {
    /// Stores `bytes` of `block` at `offset`.
    fn put(&mut self, block: u32, offset: usize, bytes: &[u8]) -> std::io::Result<()>;
    /// Reads them back.
    fn get(&mut self, block: u32, offset: usize, bytes: &mut [u8]) -> std::io::Result<()>;
}

/// The result of a symbol.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum SymbolOutcome {
    /// It was new.
    New,
    /// It was a duplicate.
    Duplicate,
    /// There was no space: it must be retransmitted.
    NoRoom,
    /// It completed its block, with these bytes.
    Complete(Box<[u8]>),
    /// It completed its block, whose bytes are in the spill.
    CompleteSpilled,
}

/// Incomplete blocks.
#[derive(Debug)]
pub(crate) struct Assembly {
    symbol_bytes: usize,
    open: BTreeMap<u32, Open>,
    /// Blocks are moved to the spill above this number of bytes in memory.
    max_bytes: usize,
    slab_bytes: usize,
    repair_bytes: usize,
}

#[derive(Debug)]
struct Open {
    symbols: u16,
    /// Which source symbols have been received.
    own: Box<[u64]>,
    own_count: u16,
    /// The source symbols at their offsets; in the spill if `None`.
    slab: Option<Box<[u8]>>,
    /// Repair symbols.
    coded: Vec<(u32, Box<[u8]>)>,
}

/// Maximum number of incomplete blocks.
const MAX_OPEN: usize = 1 << 16;

impl Assembly {
    /// An assembly of blocks of symbols of this many bytes, which keeps about `max_bytes` in memory.
    pub(crate) fn new(symbol_bytes: u16, max_bytes: usize) -> Self {
        Self {
            symbol_bytes: usize::from(symbol_bytes),
            open: BTreeMap::new(),
            max_bytes,
            slab_bytes: 0,
            repair_bytes: 0,
        }
    }

    /// Whether a symbol of `block` can be accepted if at most `max` blocks may be incomplete.
    pub(crate) fn has_room(&self, block: u32, max: usize) -> bool {
        self.open.len() < max || self.open.contains_key(&block)
    }

    /// Number of missing symbols of `block`, of `symbols`.
    pub(crate) fn missing(&self, block: u32, symbols: u16) -> u16 {
        self.open.get(&block).map_or(symbols, |open| symbols.saturating_sub(open.there()).max(1))
    }

    /// Adds a symbol of a block with `symbols` source symbols.
    pub(crate) fn take(
        &mut self,
        block: u32,
        symbols: u16,
        number: u32,
        bytes: &[u8],
        spill: &mut dyn Spill,
    ) -> std::io::Result<SymbolOutcome> {
        if bytes.len() != self.symbol_bytes
            || (self.open.len() >= MAX_OPEN && !self.open.contains_key(&block))
        {
            return Ok(SymbolOutcome::NoRoom);
        }
        if !self.open.contains_key(&block) {
            self.begin(block, symbols, spill)?;
        }
        let Some(open) = self.open.get_mut(&block) else { return Ok(SymbolOutcome::NoRoom) };
        if number < u32::from(symbols) {
            if !open.take_own(number) {
                return Ok(SymbolOutcome::Duplicate);
            }
            let at = number as usize * self.symbol_bytes;
            match &mut open.slab {
                Some(slab) => slab[at..at + bytes.len()].copy_from_slice(bytes),
                None => spill.put(block, at, bytes)?,
            }
        } else {
            if open.coded.iter().any(|(other, _)| *other == number) {
                return Ok(SymbolOutcome::Duplicate);
            }
            open.coded.push((number, bytes.into()));
            self.repair_bytes += bytes.len();
        }
        if open.there() >= symbols {
            return self.complete(block, spill);
        }
        Ok(if self.make_room(block) { SymbolOutcome::New } else { SymbolOutcome::NoRoom })
    }

    /// Opens a block; moves another one to the spill if there are too many in memory.
    fn begin(&mut self, block: u32, symbols: u16, spill: &mut dyn Spill) -> std::io::Result<()> {
        let size = usize::from(symbols) * self.symbol_bytes;
        while self.slab_bytes > 0 && self.slab_bytes + size > self.max_bytes {
            self.shelve_oldest(spill)?;
        }
        self.slab_bytes += size;
        let open = Open {
            symbols,
            own: vec![0; usize::from(symbols).div_ceil(64)].into(),
            own_count: 0,
            slab: Some(vec![0; size].into()),
            coded: Vec::new(),
        };
        self.open.insert(block, open);
        Ok(())
    }

    fn shelve_oldest(&mut self, spill: &mut dyn Spill) -> std::io::Result<()> {
        let oldest = self.open.iter_mut().find(|(_, open)| open.slab.is_some());
        let Some((block, open)) = oldest else { return Ok(()) };
        if let Some(slab) = open.slab.take() {
            self.slab_bytes -= slab.len();
            for number in 0..open.symbols {
                if open.has_own(u32::from(number)) {
                    let at = usize::from(number) * self.symbol_bytes;
                    spill.put(*block, at, &slab[at..at + self.symbol_bytes])?;
                }
            }
        }
        Ok(())
    }

    /// Drops coded symbols of the highest blocks while there are too many. Returns false if the symbols of `block` were
    /// dropped. The lowest block keeps its symbols, so that it becomes complete eventually.
    fn make_room(&mut self, block: u32) -> bool {
        let mut retained = true;
        while self.repair_bytes > self.max_bytes {
            let Some((highest, open)) = self.open.iter_mut().rev().find(|(_, open)| !open.coded.is_empty())
            else {
                break;
            };
            self.repair_bytes -= open.coded.len() * self.symbol_bytes;
            open.coded.clear();
            retained &= *highest != block;
        }
        retained
    }

    /// Completes a block with enough symbols; sometimes decoding needs one more.
    fn complete(&mut self, block: u32, spill: &mut dyn Spill) -> std::io::Result<SymbolOutcome> {
        let Some(open) = self.open.get_mut(&block) else { return Ok(SymbolOutcome::Duplicate) };
        let all_own = open.own_count == open.symbols;
        let step = if all_own {
            match open.slab.take() {
                Some(slab) => {
                    self.slab_bytes -= slab.len();
                    SymbolOutcome::Complete(slab)
                }
                None => SymbolOutcome::CompleteSpilled,
            }
        } else {
            let mut slab = match &open.slab {
                Some(slab) => slab.clone(),
                None => vec![0; usize::from(open.symbols) * self.symbol_bytes].into(),
            };
            if open.slab.is_none() {
                for number in (0..open.symbols).filter(|number| open.has_own(u32::from(*number))) {
                    let at = usize::from(number) * self.symbol_bytes;
                    spill.get(block, at, &mut slab[at..at + self.symbol_bytes])?;
                }
            }
            match open.decode(&slab, self.symbol_bytes) {
                Some(bytes) => SymbolOutcome::Complete(bytes),
                None => return Ok(SymbolOutcome::New),
            }
        };
        self.forget(block);
        Ok(step)
    }

    /// Removes a block.
    fn forget(&mut self, block: u32) {
        if let Some(open) = self.open.remove(&block) {
            self.repair_bytes -= open.coded.len() * self.symbol_bytes;
            self.slab_bytes -= open.slab.map_or(0, |slab| slab.len());
        }
    }
}

impl Open {
    fn there(&self) -> u16 {
        self.own_count.saturating_add(u16::try_from(self.coded.len()).unwrap_or(u16::MAX))
    }

    fn has_own(&self, number: u32) -> bool {
        self.own[number as usize / 64] >> (number % 64) & 1 == 1
    }

    /// Marks a source symbol as received. Returns false for a duplicate.
    fn take_own(&mut self, number: u32) -> bool {
        let fresh = !self.has_own(number);
        self.own[number as usize / 64] |= 1 << (number % 64);
        self.own_count += u16::from(fresh);
        fresh
    }

    /// Decodes the block [RFC6330 §5.4]; `None` if one more symbol is needed.
    fn decode(&self, slab: &[u8], symbol_bytes: usize) -> Option<Box<[u8]>> {
        let own = (0..u32::from(self.symbols)).filter(|number| self.has_own(*number)).map(|number| {
            let at = number as usize * symbol_bytes;
            EncodingPacket::new(PayloadId::new(0, number), slab[at..at + symbol_bytes].to_vec())
        });
        let coded = self
            .coded
            .iter()
            .map(|(number, bytes)| EncodingPacket::new(PayloadId::new(0, *number), bytes.to_vec()));
        let mut decoder = SourceBlockDecoder::new(0, &code(self.symbols, symbol_bytes), slab.len() as u64);
        decoder.decode(own.chain(coded)).map(Vec::into_boxed_slice)
    }
}

/// The parameters of the code for one block of `symbols` symbols; block numbers differ from RFC 6330.
pub(crate) fn code(symbols: u16, symbol_bytes: usize) -> ObjectTransmissionInformation {
    let length = u64::from(symbols) * symbol_bytes as u64;
    ObjectTransmissionInformation::new(length, symbol_bytes as u16, 1, 1, 1)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use raptorq::SourceBlockEncoder;

    use super::*;

    /// A spill in memory.
    #[derive(Default)]
    struct Memory(BTreeMap<(u32, usize), Vec<u8>>);

    impl Spill for Memory {
        fn put(&mut self, block: u32, offset: usize, bytes: &[u8]) -> std::io::Result<()> {
            self.0.insert((block, offset), bytes.to_vec());
            Ok(())
        }

        fn get(&mut self, block: u32, offset: usize, bytes: &mut [u8]) -> std::io::Result<()> {
            bytes.copy_from_slice(&self.0[&(block, offset)]);
            Ok(())
        }
    }

    const SYMBOL: usize = 32;
    const SYMBOLS: u16 = 20;

    fn block(seed: u8) -> Vec<u8> {
        (0..SYMBOL * usize::from(SYMBOLS)).map(|at| (at as u8).wrapping_mul(31).wrapping_add(seed)).collect()
    }

    /// Own and coded symbols of a block, by number.
    fn symbols(seed: u8) -> Vec<Vec<u8>> {
        let encoder = SourceBlockEncoder::new(0, &code(SYMBOLS, SYMBOL), &block(seed));
        let coded = encoder.repair_packets(0, 40);
        encoder.source_packets().into_iter().chain(coded).map(|packet| packet.data().to_vec()).collect()
    }

    fn feed(
        assembly: &mut Assembly,
        spill: &mut Memory,
        at: u32,
        seed: u8,
        numbers: &[u32],
    ) -> Vec<SymbolOutcome> {
        let all = symbols(seed);
        let take = |number: &u32| assembly.take(at, SYMBOLS, *number, &all[*number as usize], spill);
        numbers.iter().map(take).collect::<Result<_, _>>().expect("memory does not fail")
    }

    #[test]
    fn own_symbols_in_any_order_make_the_block_without_decoding() {
        let (mut assembly, mut spill) = (Assembly::new(SYMBOL as u16, 1 << 20), Memory::default());
        let numbers: Vec<u32> = (0..20).rev().collect();
        let steps = feed(&mut assembly, &mut spill, 3, 1, &numbers);
        assert!(steps[..19].iter().all(|step| *step == SymbolOutcome::New));
        assert_eq!(steps[19], SymbolOutcome::Complete(block(1).into()));
        assert_eq!((assembly.slab_bytes, assembly.open.len()), (0, 0));
    }

    #[test]
    fn any_symbols_make_the_block() {
        let (mut assembly, mut spill) = (Assembly::new(SYMBOL as u16, 1 << 20), Memory::default());
        let numbers: Vec<u32> = (10..35).collect();
        let steps = feed(&mut assembly, &mut spill, 0, 2, &numbers);
        let complete = steps.iter().position(|step| *step == SymbolOutcome::Complete(block(2).into()));
        assert!(complete.is_some_and(|at| (19..=21).contains(&at)), "{complete:?}");
        assert_eq!(assembly.repair_bytes, steps.len().saturating_sub(complete.unwrap_or(0) + 1) * SYMBOL);
    }

    #[test]
    fn copies_are_of_no_use() {
        let (mut assembly, mut spill) = (Assembly::new(SYMBOL as u16, 1 << 20), Memory::default());
        let steps = feed(&mut assembly, &mut spill, 0, 2, &[4, 4, 30, 30]);
        assert_eq!(
            steps,
            [SymbolOutcome::New, SymbolOutcome::Duplicate, SymbolOutcome::New, SymbolOutcome::Duplicate]
        );
        assert_eq!(assembly.missing(0, SYMBOLS), 18);
        assert_eq!(assembly.missing(1, SYMBOLS), 20);
        assert_eq!(
            assembly.take(0, SYMBOLS, 5, &[0; 31], &mut spill).ok(),
            Some(SymbolOutcome::NoRoom),
            "of another length"
        );
    }

    #[test]
    fn what_does_not_fit_into_memory_is_shelved_and_decoded_from_there() {
        // room for two blocks
        let (mut assembly, mut spill) = (Assembly::new(SYMBOL as u16, 1300), Memory::default());
        for at in 0..10 {
            feed(&mut assembly, &mut spill, at, at as u8, &[0, 1, 2, 3, 4, 5, 6, 7, 8, 9]);
        }
        assert!(assembly.slab_bytes <= 1300);
        for at in 0..10 {
            let numbers: Vec<u32> = if at % 2 == 0 { (10..20).collect() } else { (20..34).collect() };
            let steps = feed(&mut assembly, &mut spill, at, at as u8, &numbers);
            let whole = block(at as u8);
            let shelved = (0..20).flat_map(|n| spill.0.get(&(at, n * SYMBOL)).cloned().unwrap_or_default());
            assert!(
                steps.contains(&SymbolOutcome::Complete(whole.clone().into()))
                    || (steps.contains(&SymbolOutcome::CompleteSpilled) && shelved.eq(whole)),
                "block {at}"
            );
        }
    }

    #[test]
    fn too_many_coded_symbols_are_given_up_from_the_end() {
        let (mut assembly, mut spill) = (Assembly::new(SYMBOL as u16, 1300), Memory::default());
        for at in 0..10 {
            feed(&mut assembly, &mut spill, at, at as u8, &[25, 26, 27, 28, 29, 30, 31, 32, 33, 34]);
        }
        assert!(assembly.repair_bytes <= 1300);
        assert_eq!(assembly.missing(0, SYMBOLS), 10, "the lowest block keeps what it has");
        assert_eq!(assembly.missing(9, SYMBOLS), 20, "the highest does not");
    }
}
