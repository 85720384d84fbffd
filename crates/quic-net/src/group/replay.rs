//! Replay protection: each datagram number is accepted once.

/// Size of the window: numbers below the highest one that are distinguished.
pub(crate) const WINDOW: u64 = 2048;
/// One word more than the window has, since it seldom begins where a word does.
const WORDS: usize = (WINDOW / 64) as usize + 1;

/// A sliding window over datagram numbers, of constant size.
#[derive(Clone, Debug)]
pub(crate) struct Replay {
    /// One past the highest number.
    end: u64,
    /// One bit per number, at its position modulo the window.
    seen: [u64; WORDS],
}

impl Default for Replay {
    fn default() -> Self {
        Self::new()
    }
}

impl Replay {
    /// Nothing was received yet.
    pub const fn new() -> Self {
        Self { end: 0, seen: [0; WORDS] }
    }

    /// Whether the number would be taken.
    pub fn is_fresh(&self, number: u64) -> bool {
        let (word, bit) = place(number);
        number >= self.end || (number + WINDOW >= self.end && self.seen[word] & bit == 0)
    }

    /// Takes the number, below 2⁶², of an authenticated datagram. Returns false if it is a duplicate, or too old to
    /// decide.
    #[inline]
    pub fn take(&mut self, number: u64) -> bool {
        if number == u64::MAX || !self.is_fresh(number) {
            return false;
        }
        if number >= self.end {
            // words that the window now enters hold numbers long gone
            let (first, last) = (self.end.div_ceil(64), number / 64);
            for word in first..=last.min(first + WORDS as u64 - 1) {
                self.seen[(word % WORDS as u64) as usize] = 0;
            }
            self.end = number + 1;
        }
        let (word, bit) = place(number);
        self.seen[word] |= bit;
        true
    }
}

/// The word and the bit of a number.
const fn place(number: u64) -> (usize, u64) {
    ((number / 64 % WORDS as u64) as usize, 1 << (number % 64))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::prelude::*;

    use super::*;

    #[test]
    fn each_number_is_taken_once_in_any_order() {
        let mut replay = Replay::new();
        for number in [0, 3, 1, 2, 100, 63, 64, 65] {
            assert!(replay.take(number), "{number}");
            assert!(!replay.take(number), "{number} again");
        }
    }

    #[test]
    fn what_is_too_old_to_tell_is_refused_and_a_jump_forgets_nothing_wrongly() {
        let mut replay = Replay::new();
        assert!(replay.take(10));
        assert!(replay.take(1 << 40));
        assert!(!replay.take(10));
        assert!(!replay.take((1 << 40) - WINDOW - 1));
        assert!(replay.take((1 << 40) - WINDOW + 1));
        assert!(!replay.take((1 << 40) - WINDOW + 1));
        assert!(!replay.take(u64::MAX));
    }

    proptest! {
        /// Never twice; and always the first time, where it is not too old to tell.
        #[test]
        fn it_is_a_set_of_the_latest_numbers(steps in proptest::collection::vec((0..3000u64, 0..4000u64), 1..400)) {
            let (mut replay, mut taken, mut max) = (Replay::new(), BTreeSet::new(), 0u64);
            for (forward, back) in steps {
                let number = (max + forward).saturating_sub(back);
                let expected = replay.is_fresh(number);
                let fresh = replay.take(number);
                prop_assert_eq!(expected, fresh);
                prop_assert!(!(fresh && taken.contains(&number)), "{number} was taken twice");
                if number + WINDOW > max {
                    prop_assert_eq!(fresh, !taken.contains(&number), "{} of {}", number, max);
                }
                if fresh {
                    taken.insert(number);
                }
                max = max.max(number);
            }
        }
    }
}
