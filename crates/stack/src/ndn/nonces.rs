//! Nonces of Interests that are no longer pending (dead nonce list), which detect loops that last longer than a PIT entry.

use contract::Name;

/// The latest nonces, each with its name: at least half as many as there is room for. The name and nonce are one number of 64 bits
/// here; two different pairs meet in one with a probability of 2⁻⁶² each.
///
/// They stand in two halves. When the younger is full, the older is emptied and takes its place: nothing is taken out one by one. A line
/// of the processor's cache has cells of both, and those of four segments that follow one another: of the lists of hundreds of routers few
/// lines are near, so that what matters is how many are touched.
#[derive(Clone, Debug, Default)]
pub struct DeadNonces {
    /// A power of two of them, or none.
    lines: Box<[Line]>,
    /// 64 less the binary logarithm of their number.
    shift: u32,
    /// Which half of each line is the younger.
    young: usize,
    /// How many the younger half holds.
    len: usize,
    half: usize,
}

/// Cells of both halves. One of zero is empty.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([[u64; CELLS]; 2]);

/// Cells of a half in a line.
const CELLS: usize = 4;
/// The list grows when more than five of eight cells of a half are taken: from there on searches get long.
const FULL: usize = 5;
const OF: usize = 8;

impl DeadNonces {
    /// A list with room for `size`; with room for none it knows none.
    pub fn new(size: u32) -> Self {
        Self { half: (size as usize).div_ceil(2), ..Self::default() }
    }

    /// Adds a nonce.
    #[inline]
    pub fn add(&mut self, name: Name, nonce: u32) {
        if self.half == 0 {
            return;
        }
        if self.len == self.half {
            self.young ^= 1;
            self.len = 0;
            let young = self.young;
            self.lines.iter_mut().for_each(|line| line.0[young] = [0; CELLS]);
        }
        if (self.len + 1) * OF > self.lines.len() * CELLS * FULL {
            self.grow();
        }
        self.len += usize::from(self.put(mix(name, nonce), self.young));
    }

    /// Whether it is among them.
    #[inline]
    pub fn has(&self, name: Name, nonce: u32) -> bool {
        let key = mix(name, nonce);
        !self.lines.is_empty() && (self.holds(key, 0) || self.holds(key, 1))
    }

    #[inline]
    fn holds(&self, key: u64, half: usize) -> bool {
        let mut at = self.home(key);
        loop {
            for step in 0..CELLS {
                let cell = self.lines[at].0[half][(own(key) + step) % CELLS];
                if cell == key {
                    return true;
                }
                if cell == 0 {
                    return false;
                }
            }
            at = (at + 1) & (self.lines.len() - 1);
        }
    }

    /// Writes a key into the first cell that is empty. False where it was there.
    #[inline]
    fn put(&mut self, key: u64, half: usize) -> bool {
        let mut at = self.home(key);
        loop {
            for step in 0..CELLS {
                let cell = &mut self.lines[at].0[half][(own(key) + step) % CELLS];
                if *cell == key {
                    return false;
                }
                if *cell == 0 {
                    *cell = key;
                    return true;
                }
            }
            at = (at + 1) & (self.lines.len() - 1);
        }
    }

    /// The line of a key, if there is a cell left.
    #[inline]
    fn home(&self, key: u64) -> usize {
        (key >> self.shift) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let lines = (self.lines.len() * 2).max(2);
        let old = std::mem::replace(&mut self.lines, vec![Line::default(); lines].into_boxed_slice());
        self.shift = 64 - lines.trailing_zeros();
        for line in &old {
            for (half, cells) in line.0.iter().enumerate() {
                cells.iter().filter(|&&cell| cell != 0).for_each(|&cell| {
                    self.put(cell, half);
                });
            }
        }
    }
}

/// Above, where four neighbouring names stand; then which of them, and the nonce. Never zero, which stands for an empty cell.
#[inline]
const fn mix(name: Name, nonce: u32) -> u64 {
    let place = (name.key() / 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) & !0x3_ffff_ffff;
    let key = place | (name.key() % 4) << 32 | nonce as u64;
    if key == 0 { 1 } else { key }
}

/// The cell of a line that a key takes if it is empty.
#[inline]
const fn own(key: u64) -> usize {
    (key >> 32) as usize % CELLS
}

#[cfg(test)]
mod tests {
    use contract::NameId;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_knows_the_latest_and_nothing_that_is_long_gone(
            size in 0u32..12,
            added in prop::collection::vec((0u64..4, 0u32..6), 1..200),
        ) {
            let mut dead = DeadNonces::new(size);
            let half = size.div_ceil(2) as usize;
            let name = |segment| Name { prefix: NameId(3), segment };
            for end in 1..=added.len() {
                let (segment, nonce) = added[end - 1];
                dead.add(name(segment), nonce);
                // different ones, the latest first
                let mut latest: Vec<(u64, u32)> = Vec::new();
                for pair in added[..end].iter().rev().filter(|_| half > 0) {
                    if !latest.contains(pair) {
                        latest.push(*pair);
                    }
                }
                prop_assert!(latest.iter().take(half).all(|&(segment, nonce)| dead.has(name(segment), nonce)));
                let known = (0..24).filter(|i| dead.has(name(i / 6), (i % 6) as u32)).count();
                prop_assert!(known <= 2 * half, "{known} of {size}");
            }
        }
    }
}
