//! Nonces of Interests that are no longer pending: a loop that is longer than an entry of the PIT lives is known by them.

use contract::Name;

use super::table::Table;

/// The latest so many nonces, each with its name. The name and nonce are one number of 64 bits here; two different pairs meet in one
/// with a probability of 2⁻⁶⁴ each.
#[derive(Clone, Debug, Default)]
pub struct DeadNonces {
    places: Table,
    /// In the order of arrival, from `next` on.
    ring: Vec<u64>,
    next: usize,
    size: usize,
}

impl DeadNonces {
    /// A list of at most `size`.
    pub fn new(size: u32) -> Self {
        Self { size: size as usize, ..Self::default() }
    }

    /// Adds a nonce; the oldest goes if there are too many.
    #[inline]
    pub fn add(&mut self, name: Name, nonce: u32) {
        if self.size == 0 {
            return;
        }
        let key = mix(name, nonce);
        if !self.places.get_or_insert_with(key, || 0).1 {
            return;
        }
        if self.ring.len() < self.size {
            self.ring.push(key);
            return;
        }
        let oldest = std::mem::replace(&mut self.ring[self.next], key);
        self.places.remove(oldest);
        self.next = if self.next + 1 == self.size { 0 } else { self.next + 1 };
    }

    /// Whether it is among them.
    #[inline]
    pub fn has(&self, name: Name, nonce: u32) -> bool {
        self.places.get(mix(name, nonce)).is_some()
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether there are none.
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
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
    use std::collections::VecDeque;

    use contract::NameId;
    use proptest::prelude::*;

    use super::*;

    proptest! {
        #[test]
        fn it_is_the_latest_of_a_list(size in 0u32..8, ops in prop::collection::vec((0u64..4, 0u32..5), 1..200)) {
            let (mut dead, mut model) = (DeadNonces::new(size), VecDeque::new());
            let name = |segment| Name { prefix: NameId(3), segment };
            for (segment, nonce) in ops {
                dead.add(name(segment), nonce);
                if !model.contains(&(segment, nonce)) {
                    model.push_back((segment, nonce));
                }
                if model.len() > size as usize {
                    model.pop_front();
                }
                for segment in 0..4 {
                    for nonce in 0..5 {
                        prop_assert_eq!(dead.has(name(segment), nonce), model.contains(&(segment, nonce)));
                    }
                }
                prop_assert_eq!(dead.len(), model.len());
            }
        }
    }
}
