//! Nonces of Interests that are no longer pending: a loop that is longer than an entry of the PIT lives is known by them.

use contract::Name;

use super::table::Table;

/// The latest nonces, each with its name: at least half as many as there is room for. The name and nonce are one number of 64 bits
/// here; two different pairs meet in one with a probability of 2⁻⁶⁴ each.
///
/// They stand in two halves. When the younger is full, the older is emptied and takes its place: nothing is taken out one by one.
#[derive(Clone, Debug, Default)]
pub struct DeadNonces {
    young: Table,
    old: Table,
    half: usize,
}

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
        if self.young.len() == self.half {
            std::mem::swap(&mut self.young, &mut self.old);
            self.young.clear();
        }
        self.young.get_or_insert_with(mix(name, nonce), || 0);
    }

    /// Whether it is among them.
    #[inline]
    pub fn has(&self, name: Name, nonce: u32) -> bool {
        let key = mix(name, nonce);
        self.young.get(key).is_some() || self.old.get(key).is_some()
    }
}

/// A bijection of the name's key, then of the sum with the nonce.
#[inline]
const fn mix(name: Name, nonce: u32) -> u64 {
    let x = name.key().wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let x = (x ^ (x >> 31)).wrapping_add((nonce as u64) << 32 | nonce as u64);
    x.wrapping_mul(0x94d0_49bb_1331_11eb)
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
