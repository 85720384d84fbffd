//! Nonces of Interests that are no longer pending (dead nonce list), which detect loops that last longer than a PIT
//! entry.

use contract::Name;
use memory::prefetch;

/// The latest nonces with their names, at least half as many as the capacity. Name and nonce are combined into a key of
/// 64 bits; the probability that two different pairs have the same key is 2⁻⁶².
///
/// The keys are in two halves. When the younger half is full, the older half is cleared and becomes the younger, so
/// that keys are not removed one by one. A cache line of the processor contains cells of both halves and of four
/// consecutive segments, which keeps the number of touched cache lines small in networks of hundreds of routers.
#[derive(Clone, Debug, Default)]
pub struct DeadNonces {
    /// Cache lines; the number is a power of two, or zero.
    lines: Box<[Line]>,
    /// 64 minus the binary logarithm of the number of lines.
    shift: u32,
    /// Index of the younger half.
    young: usize,
    /// Number of keys in the younger half.
    len: usize,
    half: usize,
    /// With so many keys in the younger half the list grows before the next one.
    limit: usize,
    /// With so many keys in the younger half there is something to do before the next one.
    ready: usize,
}

/// The cells of both halves. Zero is an empty cell.
#[derive(Clone, Copy, Debug, Default)]
#[repr(align(64))]
struct Line([[u64; CELLS]; 2]);

/// Cells per half in a line.
const CELLS: usize = 4;
/// At most five of eight cells of a half are used, because searches become slow beyond that.
const FULL: usize = 5;
const OF: usize = 8;

impl DeadNonces {
    /// A list with capacity `size`; with zero it stores nothing.
    pub fn new(size: u32) -> Self {
        Self { half: (size as usize).div_ceil(2), ..Self::default() }
    }

    /// Requests from memory what a search for a nonce of a name reads first, and its addition.
    #[inline]
    pub fn prefetch(&self, name: Name, nonce: u32) {
        if let Some(line) = self.lines.get(self.home(mix(name, nonce))) {
            prefetch(line, 1);
        }
    }

    /// Adds a nonce.
    #[inline]
    pub fn add(&mut self, name: Name, nonce: u32) {
        if self.len >= self.ready && !self.prepare() {
            return;
        }
        let (key, young) = (mix(name, nonce), self.young);
        let home = self.home(key);
        match self.lines.get_mut(home).map(|line| &mut line.0[young % 2][own(key)]) {
            Some(cell) if *cell == 0 => {
                *cell = key;
                self.len += 1;
            }
            _ => self.len += usize::from(self.put(key, young)),
        }
    }

    /// Makes room for a key in the younger half. Returns false if the list stores nothing.
    #[cold]
    fn prepare(&mut self) -> bool {
        if self.half == 0 {
            return false;
        }
        if self.len == self.half {
            self.young ^= 1;
            self.len = 0;
            let young = self.young;
            self.lines.iter_mut().for_each(|line| line.0[young] = [0; CELLS]);
        }
        if self.len >= self.limit {
            self.grow();
        }
        self.ready = self.half.min(self.limit);
        true
    }

    /// Whether the list contains a nonce of a name.
    #[inline]
    pub fn has(&self, name: Name, nonce: u32) -> bool {
        let key = mix(name, nonce);
        // an empty list has no line
        let Some(Line([first, second])) = self.lines.get(self.home(key)) else { return false };
        if first[own(key)] == 0 && second[own(key)] == 0 {
            return false;
        }
        self.holds(key, 0) || self.holds(key, 1)
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

    /// Writes a key into the first empty cell. Returns false if it is present.
    #[cold]
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

    /// The line where the search for a key starts.
    #[inline]
    fn home(&self, key: u64) -> usize {
        (key >> self.shift) as usize
    }

    #[cold]
    fn grow(&mut self) {
        let lines = (self.lines.len() * 2).max(2);
        let old = std::mem::replace(&mut self.lines, vec![Line::default(); lines].into_boxed_slice());
        self.shift = 64 - lines.trailing_zeros();
        self.limit = lines * CELLS * FULL / OF;
        for line in &old {
            for (half, cells) in line.0.iter().enumerate() {
                for &key in cells.iter().filter(|&&key| key != 0) {
                    let home = (key >> self.shift) as usize;
                    match &mut self.lines[home].0[half][own(key)] {
                        free if *free == 0 => *free = key,
                        _ => {
                            self.put(key, half);
                        }
                    }
                }
            }
        }
    }
}

/// The key of a name and nonce. The upper bits select the line, which four consecutive names share; the lower bits are
/// the name's cell and the nonce. It is never zero, the value of an empty cell.
#[inline]
const fn mix(name: Name, nonce: u32) -> u64 {
    let place = (name.key() / 4).wrapping_mul(0x9e37_79b9_7f4a_7c15) & !0x3_ffff_ffff;
    let key = place | (name.key() % 4) << 32 | nonce as u64;
    if key == 0 { 1 } else { key }
}

/// The preferred cell of a key in its line.
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
        fn recent_nonces_are_known_and_old_ones_removed(
            size in 0u32..12,
            added in prop::collection::vec((0u64..4, 0u32..6), 1..200),
        ) {
            let mut dead = DeadNonces::new(size);
            let half = size.div_ceil(2) as usize;
            let name = |segment| Name { prefix: NameId(3), segment };
            for end in 1..=added.len() {
                let (segment, nonce) = added[end - 1];
                dead.add(name(segment), nonce);
                // distinct pairs, the latest first
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
