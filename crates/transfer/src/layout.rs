//! Layout of an object: blocks of symbols.

/// The division of an object into blocks of symbols. A symbol fits into a packet. The last block has fewer symbols, and
/// its last symbol is padded with zeros.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Bytes of the object; `None` while it is produced. Then all blocks are full.
    pub length: Option<u64>,
    /// Bytes of a symbol.
    pub symbol_bytes: u16,
    /// Symbols of a full block.
    pub block_symbols: u16,
}

/// Bytes of a hash.
pub(crate) const HASH: usize = 32;
/// The level of a block stands above these bits of its number.
const LEVEL_AT: u32 = 24;

/// The number of a block: of the file on level 0, of hashes above ([`super::tree`]).
pub(crate) const fn id(level: u32, index: u32) -> u32 {
    level << LEVEL_AT | index
}

/// The level of a block of a file.
pub(crate) const fn level(of: u32) -> u32 {
    of >> LEVEL_AT
}

/// Its number on its level.
pub(crate) const fn index(of: u32) -> u32 {
    of & ((1 << LEVEL_AT) - 1)
}

/// Symbols of a block of a file. Blocks are small, so that one is complete soon and decoding it takes about a
/// millisecond.
const FILE_SYMBOLS: u16 = 256;
/// Symbols of a block of a stream, whose end is filled up with zeros and whose bytes wait until a block is full.
const STREAM_SYMBOLS: u16 = 64;
/// The most symbols of a block, however large a file.
const MAX_SYMBOLS: u16 = 4096;
/// Blocks beyond which blocks grow instead of becoming more.
const MANY_BLOCKS: u64 = 1 << 22;
/// The most blocks of an object.
const MAX_BLOCKS: u64 = (1 << LEVEL_AT) - 1;
/// Shortest and longest symbol.
const SYMBOL_BYTES: std::ops::RangeInclusive<u16> = 16..=9000;

impl Layout {
    /// The layout of a file of `length` bytes.
    pub fn of_file(length: u64, symbol_bytes: u16) -> Self {
        let symbols = length.div_ceil(u64::from(symbol_bytes));
        let mut block_symbols = FILE_SYMBOLS;
        while block_symbols < MAX_SYMBOLS && symbols / u64::from(block_symbols) >= MANY_BLOCKS {
            block_symbols *= 2;
        }
        Self { length: Some(length), symbol_bytes, block_symbols }
    }

    /// The layout of a stream without a known end.
    pub const fn of_stream(symbol_bytes: u16) -> Self {
        Self { length: None, symbol_bytes, block_symbols: STREAM_SYMBOLS }
    }

    /// Whether it is within limits: at most 36 MB per block and 512 MB for the hashes of blocks, of 32 bytes each; for
    /// a file of 1 GB the hashes take 0.1 MB.
    pub fn possible(&self) -> bool {
        let blocks = self.length.unwrap_or(0) / self.block_bytes().max(1) as u64;
        SYMBOL_BYTES.contains(&self.symbol_bytes)
            && (1..=MAX_SYMBOLS).contains(&self.block_symbols)
            && blocks < MAX_BLOCKS
    }

    /// Bytes of a full block.
    pub fn block_bytes(&self) -> usize {
        usize::from(self.symbol_bytes) * usize::from(self.block_symbols)
    }

    /// Number of blocks; the maximum possible number while the length is unknown.
    pub fn blocks(&self) -> u32 {
        let blocks = self.length.map_or(u64::MAX, |length| length.div_ceil(self.block_bytes() as u64));
        u32::try_from(blocks).unwrap_or(u32::MAX)
    }

    /// Where a block begins, in bytes.
    pub fn start(&self, block: u32) -> u64 {
        u64::from(block) * self.block_bytes() as u64
    }

    /// Bytes of the object in a block.
    pub fn bytes_in(&self, block: u32) -> usize {
        let rest = self.length.map_or(u64::MAX, |length| length.saturating_sub(self.start(block)));
        usize::try_from(rest).unwrap_or(usize::MAX).min(self.block_bytes())
    }

    /// Bytes of the hashes of a file's blocks, level by level.
    pub(crate) fn hash_levels(&self) -> Vec<u64> {
        let mut levels = Vec::new();
        let mut blocks = u64::from(self.blocks());
        while blocks > 0 {
            let bytes = blocks * HASH as u64;
            levels.push(bytes);
            blocks = if bytes <= self.block_bytes() as u64 {
                0
            } else {
                bytes.div_ceil(self.block_bytes() as u64)
            };
        }
        levels
    }

    /// The numbers of all blocks of hashes of a file, in the order in which they are of use.
    pub(crate) fn hash_blocks(&self) -> Vec<u32> {
        let blocks = |bytes: u64| bytes.div_ceil(self.block_bytes() as u64) as u32;
        let levels = (1..).zip(self.hash_levels());
        let mut all: Vec<u32> =
            levels.flat_map(|(level, bytes)| (0..blocks(bytes)).map(move |at| id(level, at))).collect();
        all.sort_unstable_by_key(|id| std::cmp::Reverse(*id));
        all
    }

    /// Bytes of a block of a file, or of its hashes; zero where there is no such block.
    pub(crate) fn size_of(&self, of: u32) -> usize {
        let Some(level) = (level(of) as usize).checked_sub(1) else { return self.bytes_in(of) };
        let bytes = self.hash_levels().get(level).copied().unwrap_or(0);
        let rest = bytes.saturating_sub(self.start(index(of)));
        usize::try_from(rest).unwrap_or(usize::MAX).min(self.block_bytes())
    }

    /// Symbols of a block, of hashes too. Blocks of a stream stay full when its end becomes known.
    pub fn symbols_in(&self, block: u32, stream: bool) -> u16 {
        if stream {
            return self.block_symbols;
        }
        let symbols = self.size_of(block).div_ceil(usize::from(self.symbol_bytes));
        u16::try_from(symbols).unwrap_or(self.block_symbols)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_cut_into_full_blocks_and_a_rest() {
        let layout = Layout::of_file(1_000_000, 1000);
        assert_eq!((layout.blocks(), layout.block_bytes()), (4, 256_000));
        assert_eq!(layout.start(3), 768_000);
        assert_eq!((layout.bytes_in(2), layout.bytes_in(3), layout.bytes_in(4)), (256_000, 232_000, 0));
        assert_eq!((layout.symbols_in(0, false), layout.symbols_in(3, false)), (256, 232));
        assert_eq!(Layout::of_file(768_001, 1000).symbols_in(3, false), 1);
        assert_eq!(Layout::of_file(0, 1000).blocks(), 0);
    }

    #[test]
    fn blocks_of_enormous_files_grow() {
        let layout = Layout::of_file(50_000_000_000_000, 1400);
        assert!(layout.possible());
        assert_eq!(layout.block_symbols, MAX_SYMBOLS);
    }

    #[test]
    fn impossible_layouts_are_found() {
        let good = Layout::of_file(1_000_000, 1000);
        assert!(good.possible() && Layout::of_stream(1000).possible());
        for bad in [
            Layout { symbol_bytes: 0, ..good },
            Layout { symbol_bytes: 10_000, ..good },
            Layout { block_symbols: 0, ..good },
            Layout { block_symbols: 5000, ..good },
            Layout { length: Some(u64::MAX), ..good },
        ] {
            assert!(!bad.possible(), "{bad:?}");
        }
    }
}
