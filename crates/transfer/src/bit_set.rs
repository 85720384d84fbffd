//! A set of block numbers below a known bound.

/// A set of numbers below `bound`, of constant size.
#[derive(Clone, Debug, Default)]
pub(crate) struct BitSet {
    words: Vec<u64>,
    bound: u32,
}

impl BitSet {
    /// The empty set of numbers below `bound`.
    pub(crate) fn new(bound: u32) -> Self {
        Self { words: vec![0; bound.div_ceil(64) as usize], bound }
    }

    pub(crate) fn has(&self, number: u32) -> bool {
        self.words.get(number as usize / 64).is_some_and(|word| word >> (number % 64) & 1 == 1)
    }

    /// Inserts or removes a number. A number from the bound on is ignored.
    pub(crate) fn set(&mut self, number: u32, is_in: bool) {
        let Some(word) = self.words.get_mut(number as usize / 64).filter(|_| number < self.bound) else {
            return;
        };
        let bit = 1 << (number % 64);
        *word = if is_in { *word | bit } else { *word & !bit };
    }

    /// The first number from `from` on that is in the set, or that is not; the bound if no number is.
    pub(crate) fn next(&self, from: u32, is_in: bool) -> u32 {
        let mut at = from;
        while at < self.bound {
            let word = self.words[at as usize / 64];
            let rest = (if is_in { word } else { !word }) >> (at % 64);
            if rest != 0 {
                return (at + rest.trailing_zeros()).min(self.bound);
            }
            at = (at / 64 + 1).saturating_mul(64);
        }
        self.bound
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    proptest::proptest! {
        #[test]
        fn it_is_a_set(bound in 0u32..300, steps in proptest::collection::vec((0u32..310, proptest::bool::ANY), 0..300)) {
            let mut bits = BitSet::new(bound);
            let mut set = std::collections::BTreeSet::new();
            for (number, is_in) in steps {
                bits.set(number, is_in);
                if is_in && number < bound { set.insert(number); } else { set.remove(&number); }
            }
            for from in 0..310 {
                proptest::prop_assert_eq!(bits.has(from), set.contains(&from));
                let next = set.range(from..).next().copied().unwrap_or(bound);
                proptest::prop_assert_eq!(bits.next(from, true), next);
                let free = (from..bound).find(|number| !set.contains(number)).unwrap_or(bound);
                proptest::prop_assert_eq!(bits.next(from, false), free);
            }
        }
    }
}
