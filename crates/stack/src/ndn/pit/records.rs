//! Records of an entry: the first is in the entry, the others are a linked list in a pool.

use contract::NackReason;
use units::Time;

/// Stands for no face and no record.
pub(super) const NONE: u32 = u32::MAX;

/// An in-record: a downstream face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct In {
    /// The face.
    pub face: u32,
    /// Nonce of its latest Interest.
    pub nonce: u32,
    /// Flow of its latest Interest; Data for this face count for this flow.
    pub flow: u32,
    pub(super) next: u32,
    /// When its Interest expires.
    pub expires: Time,
}

/// An out-record: an upstream face.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Out {
    /// The face.
    pub face: u32,
    /// Nonce that was sent last.
    pub nonce: u32,
    pub(super) next: u32,
    /// The Interest was sent more than once.
    pub retransmitted: bool,
    /// The Interest is queued in an Interest queue.
    pub queued: bool,
    /// Reason of the NACK that it returned.
    pub refused: Option<NackReason>,
    /// When the Interest was last sent.
    pub sent_at: Time,
}

/// A record of a face in a linked list.
pub(super) trait Record: Copy {
    fn face(&self) -> u32;
    fn next(&self) -> u32;
    /// Clears the record: no face and no next record.
    fn clear(&mut self);
    fn set_next(&mut self, next: u32);
}

macro_rules! record {
    ($($type:ty),*) => {$(
        impl Record for $type {
            #[inline]
            fn face(&self) -> u32 {
                self.face
            }
            #[inline]
            fn next(&self) -> u32 {
                self.next
            }
            fn clear(&mut self) {
                (self.face, self.next) = (NONE, NONE);
            }
            #[inline]
            fn set_next(&mut self, next: u32) {
                self.next = next;
            }
        }
    )*};
}
record!(In, Out);

/// Records beyond the first ones of their entries.
#[derive(Debug)]
pub(super) struct Pool<R> {
    records: Vec<R>,
    /// The first free record; each free record leads to the next.
    free: u32,
}

impl<R> Default for Pool<R> {
    fn default() -> Self {
        Self { records: Vec::new(), free: NONE }
    }
}

impl<R: Record> Pool<R> {
    #[inline]
    pub(super) fn after(&self, record: &R) -> Option<R> {
        self.after_this(record).copied()
    }

    /// The record after this one, without a copy.
    #[inline]
    pub(super) fn after_this(&self, record: &R) -> Option<&R> {
        // without a visit of the pool, which is rarely needed
        if record.next() == NONE { None } else { self.records.get(record.next() as usize) }
    }

    #[inline]
    pub(super) fn find(&self, first: &R, face: u32) -> Option<R> {
        if first.face() == face {
            return Some(*first);
        }
        let mut at = first.next();
        while let Some(record) = self.records.get(at as usize) {
            if record.face() == face {
                return Some(*record);
            }
            at = record.next();
        }
        None
    }

    pub(super) fn find_mut<'a>(&'a mut self, first: &'a mut R, face: u32) -> Option<&'a mut R> {
        if first.face() == face {
            return Some(first);
        }
        let mut at = first.next();
        while self.records.get(at as usize)?.face() != face {
            at = self.records[at as usize].next();
        }
        self.records.get_mut(at as usize)
    }

    /// Overwrites the record of a face, or appends one. Returns true if the face had none.
    #[inline]
    pub(super) fn write(&mut self, first: &mut R, mut record: R) -> bool {
        if first.face() == NONE || first.face() == record.face() {
            let new = first.face() == NONE;
            record.set_next(first.next());
            *first = record;
            return new;
        }
        self.write_further(first, record)
    }

    fn write_further(&mut self, first: &mut R, mut record: R) -> bool {
        if let Some(old) = self.find_mut(first, record.face()) {
            record.set_next(old.next());
            *old = record;
            return false;
        }
        let index = match self.records.get(self.free as usize) {
            Some(free) => {
                let index = std::mem::replace(&mut self.free, free.next());
                self.records[index as usize] = record;
                index
            }
            None => {
                self.records.push(record);
                self.records.len() as u32 - 1
            }
        };
        if first.next() == NONE {
            first.set_next(index);
            return true;
        }
        let mut last = first.next();
        while self.records[last as usize].next() != NONE {
            last = self.records[last as usize].next();
        }
        self.records[last as usize].set_next(index);
        true
    }

    /// Removes the record of a face; the order of the others stays. Returns whether there was one.
    pub(super) fn remove(&mut self, first: &mut R, face: u32) -> bool {
        if first.face() == face {
            let index = first.next();
            match self.records.get(index as usize).copied() {
                Some(next) => {
                    *first = next;
                    self.release(index);
                }
                None => first.clear(),
            }
            return true;
        }
        let (mut before, mut at) = (NONE, first.next());
        while let Some(record) = self.records.get(at as usize).copied() {
            if record.face() == face {
                match self.records.get_mut(before as usize) {
                    Some(before) => before.set_next(record.next()),
                    None => first.set_next(record.next()),
                }
                self.release(at);
                return true;
            }
            (before, at) = (at, record.next());
        }
        false
    }

    /// Frees a record and all records after it.
    #[cold]
    pub(super) fn release_chain(&mut self, mut at: u32) {
        while let Some(record) = self.records.get(at as usize) {
            let next = record.next();
            self.release(at);
            at = next;
        }
    }

    fn release(&mut self, index: u32) {
        self.records[index as usize].set_next(self.free);
        self.free = index;
    }
}

#[cfg(test)]
impl<R> Pool<R> {
    /// Number of records in the pool, free ones included.
    pub(super) fn len(&self) -> usize {
        self.records.len()
    }
}
