//! A 4-ary heap, whose four children of an entry are one cache line. The place of a popped entry stays open until the
//! next push fills it, so that handling one event and scheduling the next is one walk down the heap instead of two.

use super::{ABSENT, Key};

/// Entries, earliest first.
#[derive(Debug, Default)]
pub(super) struct Heap {
    /// The entry at place `p` is number `p % 4` of family `p / 4`. The root is at place [`ROOT`], and the children of
    /// place `p` are family `p - 2`. Places without an entry are [`ABSENT`].
    families: Vec<Family>,
    /// One past the last place with an entry; [`ROOT`] or zero without entries.
    end: usize,
    /// The root was popped, and its place is still open.
    open: bool,
}

/// Four entries with the same parent.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Family([Key; ARITY]);

const ARITY: usize = 4;
const ROOT: usize = 3;

impl Heap {
    /// Adds an entry.
    #[inline(never)]
    pub(super) fn push(&mut self, key: Key) {
        if self.open {
            self.open = false;
            self.sift_down(key);
        } else {
            self.append(key);
        }
    }

    /// Number of entries.
    pub(super) fn len(&self) -> usize {
        self.end.saturating_sub(ROOT) - usize::from(self.open)
    }

    /// Removes the earliest entry; `None` if no entry is left.
    #[inline(always)]
    pub(super) fn pop(&mut self) -> Option<Key> {
        let first = self.close();
        self.take(first)
    }

    /// Removes the earliest entry, as [`Heap::close`] has just returned it.
    #[inline(always)]
    pub(super) fn take(&mut self, first: Key) -> Option<Key> {
        self.open = first != ABSENT;
        self.open.then_some(first)
    }

    /// Fills the place of the entry that was popped last, if no push has. Returns the earliest entry; [`ABSENT`] if no
    /// entry is left.
    #[inline(always)]
    pub(super) fn close(&mut self) -> Key {
        if self.open {
            self.open = false;
            self.end -= 1;
            let last = std::mem::replace(self.at(self.end), ABSENT);
            if self.end > ROOT {
                self.sift_down(last);
            }
        }
        self.families.first().map_or(ABSENT, |Family(top)| top[ROOT])
    }

    /// The earliest entry; `None` if no entry is left.
    #[inline]
    pub(super) fn first(&self) -> Option<Key> {
        // if the root is open, the earliest entry is among its children
        let first = match self.families.get(usize::from(self.open)) {
            Some(Family(children)) if self.open => children.iter().copied().min().unwrap_or(ABSENT),
            Some(Family(top)) => top[ROOT],
            None => ABSENT,
        };
        (first != ABSENT).then_some(first)
    }

    #[inline]
    fn at(&mut self, place: usize) -> &mut Key {
        &mut self.families[place / ARITY].0[place % ARITY]
    }

    /// Adds an entry at the end and moves it up to its place.
    fn append(&mut self, key: Key) {
        let mut hole = self.end.max(ROOT);
        self.end = hole + 1;
        if hole / ARITY == self.families.len() {
            self.families.push(Family([ABSENT; ARITY]));
        }
        while hole > ROOT {
            let parent = hole / ARITY + 2;
            let above = *self.at(parent);
            if above <= key {
                break;
            }
            *self.at(hole) = above;
            hole = parent;
        }
        *self.at(hole) = key;
    }

    /// Puts `key` at the root and moves it down to its place.
    #[inline]
    fn sift_down(&mut self, key: Key) {
        let families = self.families.as_mut_slice();
        let mut hole = ROOT;
        while let Some(Family(four)) = families.get(hole - 2) {
            // arithmetic on the comparisons avoids mispredicted branches
            let left = usize::from(four[1] < four[0]);
            let right = 2 + usize::from(four[3] < four[2]);
            let other = usize::from(four[right] < four[left]);
            let min = left + (right - left) * other;
            let first = four[min];
            if first >= key {
                break;
            }
            families[hole / ARITY].0[hole % ARITY] = first;
            hole = (hole - 2) * ARITY + min;
        }
        families[hole / ARITY].0[hole % ARITY] = key;
    }
}
