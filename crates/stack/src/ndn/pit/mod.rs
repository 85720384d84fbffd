//! The pending Interest table (PIT): downstream and upstream faces of each pending name.
//!
//! An entry is two cache lines in a slab, found by name through a hash table. It has room for one downstream and one
//! upstream; further records are in pools. Memory is proportional to the maximum number of entries.

mod deadlines;
mod records;
#[cfg(test)]
mod tests;

use contract::{
    Ecn, FaceId, FlowId, InRecord, Interest, Label, NackReason, Name, NameId, OutRecord, Packet, Pending,
};
use memory::{prefetch, push_in_large_pages};
use units::Time;

use self::deadlines::Deadlines;
pub use self::records::{In, Out};
use self::records::{NONE, Pool};
use super::table::Table;

/// The pending Interest table.
#[derive(Debug)]
#[repr(C)]
pub struct Pit {
    places: Table,
    entries: Vec<Entry>,
    deadlines: Deadlines,
    peak: usize,
    /// The first free entry; each free entry leads to the next.
    free: u32,
    ins: Pool<In>,
    outs: Pool<Out>,
}

/// One pending Interest.
#[derive(Clone, Copy, Debug)]
#[repr(C, align(64))]
pub struct Entry {
    /// The requested name.
    pub name: Name,
    /// The last expiry of its Interests.
    pub expires: Time,
    /// Its number in the ring of its lifetime.
    number: u32,
    /// The next free entry.
    after: u32,
    generation: u32,
    /// The ring of its lifetime.
    ring: u8,
    /// Whether the Interest is ECN-capable.
    pub capable: bool,
    /// Size of the latest Interest on the wire.
    pub size: u16,
    /// State of the strategy for this entry.
    pub strategy_note: u32,
    /// State of the link part for this entry.
    pub link_note: u32,
    /// The label of the latest Interest.
    pub label: Label,
    first_in: In,
    first_out: Out,
}

/// Cache lines of an entry.
const ENTRY_LINES: usize = 2;
const _: () = assert!(size_of::<Entry>() == 64 * ENTRY_LINES, "an entry is two cache lines");

impl Default for Pit {
    fn default() -> Self {
        Self {
            places: Table::new(),
            entries: Vec::new(),
            free: NONE,
            deadlines: Deadlines::default(),
            ins: Pool::default(),
            outs: Pool::default(),
            peak: 0,
        }
    }
}

impl Pit {
    /// An empty table.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of pending Interests.
    pub const fn len(&self) -> usize {
        self.places.len()
    }

    /// Whether no Interest is pending.
    pub const fn is_empty(&self) -> bool {
        self.places.is_empty()
    }

    /// Maximum number of pending Interests since [`Pit::rebase`].
    pub const fn peak(&self) -> usize {
        self.peak
    }

    /// Resets the maximum to the current number.
    pub fn rebase(&mut self) {
        self.peak = self.len();
    }

    /// Maximum number of entries up to now.
    #[inline]
    pub const fn size(&self) -> usize {
        self.entries.len()
    }

    /// Requests from memory what [`Pit::find`] reads.
    #[inline]
    pub fn prefetch_place(&self, name: Name) {
        self.places.prefetch(name.key());
    }

    /// Requests what an entry that is added or removed needs beside itself, in a small table.
    #[inline]
    pub fn prefetch_deadlines(&self) {
        self.deadlines.prefetch();
    }

    /// Requests the next entry to be used.
    #[inline]
    pub fn prefetch_free(&self) {
        if let Some(entry) = self.entries.get(self.free as usize) {
            prefetch(entry, ENTRY_LINES);
        }
    }

    /// Requests the entry of a name, if there is one.
    #[inline]
    pub fn prefetch_entry(&self, name: Name) {
        if let Some(entry) = self.places.get(name.key()).and_then(|slot| self.entries.get(slot as usize)) {
            prefetch(entry, ENTRY_LINES);
        }
    }

    /// Requests what the answers to the Interests after the Interest of an entry need, if answers come in the order of
    /// Interests.
    #[inline]
    pub fn prefetch_after(&self, pending: Pending) {
        let Some(&Entry { number, ring, .. }) = self.entries.get(pending.slot as usize) else { return };
        let after = |steps| self.entries.get(self.deadlines.after(number, ring, steps) as usize);
        if let Some(entry) = after(2) {
            prefetch(entry, ENTRY_LINES);
        }
        if let Some(entry) = after(1) {
            self.prefetch_place(entry.name);
        }
    }

    /// The entry of a name.
    #[inline(always)]
    pub fn find(&self, name: Name) -> Option<Pending> {
        let slot = self.places.get(name.key())?;
        Some(Pending { slot, generation: self.entries[slot as usize].generation })
    }

    /// An entry; `None` if it has ended.
    #[inline]
    pub fn entry(&self, pending: Pending) -> Option<&Entry> {
        self.entries.get(pending.slot as usize).filter(|entry| entry.generation == pending.generation)
    }

    /// An entry for modification; `None` if it has ended.
    #[inline]
    pub fn entry_mut(&mut self, pending: Pending) -> Option<&mut Entry> {
        self.entries.get_mut(pending.slot as usize).filter(|entry| entry.generation == pending.generation)
    }

    /// Makes the entry of a name that has none, for an Interest that arrives in `packet` from the downstream `from` and
    /// expires at `expires`.
    #[inline]
    pub fn insert(&mut self, interest: &Interest, packet: &Packet, from: FaceId, expires: Time) -> Pending {
        let Interest { name, nonce, lifetime_ms } = *interest;
        if self.free == NONE {
            self.add_free();
        }
        let slot = self.free;
        self.places.add(name.key(), slot);
        self.peak = self.peak.max(self.places.len());
        let entry = &mut self.entries[slot as usize];
        self.free = entry.after;
        entry.name = name;
        entry.expires = expires;
        (entry.strategy_note, entry.link_note) = (0, 0);
        entry.note(packet);
        entry.first_in = In { face: from.0, nonce, flow: packet.flow.0, next: NONE, expires };
        entry.first_out = Out::ABSENT;
        let generation = entry.generation;
        self.deadlines.add(&mut self.entries, slot, lifetime_ms);
        Pending { slot, generation }
    }

    /// Adds an entry that is free.
    #[cold]
    fn add_free(&mut self) {
        push_in_large_pages(&mut self.entries, Entry { after: self.free, ..Entry::FREE });
        self.free = self.entries.len() as u32 - 1;
    }

    /// Repeats the request of an entry. Its expiry becomes `expires`, `lifetime_ms` from now, if that is later.
    pub fn renew(&mut self, pending: Pending, lifetime_ms: u32, expires: Time) {
        if expires > self.entries[pending.slot as usize].expires {
            let Entry { number, ring, .. } = self.entries[pending.slot as usize];
            self.deadlines.remove(&self.entries, number, ring);
            self.entries[pending.slot as usize].expires = expires;
            self.deadlines.add(&mut self.entries, pending.slot, lifetime_ms);
        }
    }

    /// Removes an entry with all its records, if it has not ended. Calls `ends` with each of its out-records.
    #[inline(always)]
    pub fn end(&mut self, pending: Pending, ends: impl FnMut(Name, &Out)) {
        let Some(name) = self.entry(pending).map(|entry| entry.name) else { return };
        self.places.remove(name.key());
        self.end_taken(pending, ends);
    }

    /// Takes the entry of a name, which [`Pit::find`] does not find any more, for [`Pit::end_taken`].
    #[inline(always)]
    pub fn take(&mut self, name: Name) -> Option<Pending> {
        let slot = self.places.remove(name.key())?;
        Some(Pending { slot, generation: self.entries[slot as usize].generation })
    }

    /// Removes an entry that was taken, as [`Pit::end`].
    #[inline(always)]
    pub fn end_taken(&mut self, pending: Pending, mut ends: impl FnMut(Name, &Out)) {
        let Self { entries, free, deadlines, ins, outs, .. } = self;
        let entry = &mut entries[pending.slot as usize];
        entry.generation = entry.generation.wrapping_add(1);
        entry.after = std::mem::replace(free, pending.slot);
        let first_out = &entry.first_out;
        if first_out.face != NONE {
            let mut record = first_out;
            loop {
                ends(entry.name, record);
                let Some(next) = outs.after_this(record) else { break };
                record = next;
            }
            if first_out.next != NONE {
                outs.release_chain(first_out.next);
            }
        }
        if entry.first_in.next != NONE {
            ins.release_chain(entry.first_in.next);
        }
        let (number, ring) = (entry.number, entry.ring);
        deadlines.remove(entries, number, ring);
    }

    /// The first entry that has expired by `now`.
    #[inline]
    pub fn due(&self, now: Time) -> Option<Pending> {
        let (expires, slot) = self.deadlines.first(&self.entries)?;
        (expires <= now).then(|| Pending { slot, generation: self.entries[slot as usize].generation })
    }

    /// The next expiry; [`Time::NEVER`] without entries.
    #[inline]
    pub const fn wake(&self) -> Time {
        self.deadlines.earliest()
    }

    /// Writes the in-record of a face: an Interest arrived from there. Returns true if the face had none.
    #[inline]
    pub fn add_downstream(
        &mut self,
        pending: Pending,
        face: FaceId,
        nonce: u32,
        flow: FlowId,
        expires: Time,
    ) -> bool {
        let entry = &mut self.entries[pending.slot as usize];
        let record = In { face: face.0, nonce, flow: flow.0, next: NONE, expires };
        self.ins.write(&mut entry.first_in, record)
    }

    /// The first in-record, in the order of first arrivals; [`Pit::next_in`] gives the others.
    #[inline]
    pub fn first_in(&self, pending: Pending) -> Option<In> {
        self.entry(pending).map(|entry| entry.first_in).filter(|record| record.face != NONE)
    }

    /// The in-record after `record`.
    #[inline]
    pub fn next_in(&self, record: &In) -> Option<In> {
        self.ins.after(record)
    }

    /// The first out-record, in the order of first departures; [`Pit::next_out`] gives the others.
    #[inline]
    pub fn first_out(&self, pending: Pending) -> Option<Out> {
        self.entry(pending).map(|entry| entry.first_out).filter(|record| record.face != NONE)
    }

    /// The out-record after `record`.
    #[inline]
    pub fn next_out(&self, record: &Out) -> Option<Out> {
        self.outs.after(record)
    }

    /// All in-records of an entry.
    pub fn ins(&self, pending: Pending) -> impl Iterator<Item = In> {
        std::iter::successors(self.first_in(pending), |record| self.next_in(record))
    }

    /// All out-records of an entry.
    pub fn outs(&self, pending: Pending) -> impl Iterator<Item = Out> {
        std::iter::successors(self.first_out(pending), |record| self.next_out(record))
    }

    /// Removes the in-record of a face. Returns whether there was one.
    pub fn forget(&mut self, pending: Pending, face: FaceId) -> bool {
        let Some(entry) = self.entries.get_mut(pending.slot as usize) else { return false };
        entry.generation == pending.generation && self.ins.remove(&mut entry.first_in, face.0)
    }

    /// Writes the first out-record of an entry: the Interest is sent to a face now. Returns false without effect if the
    /// entry has ended or has an out-record.
    #[inline(always)]
    pub fn send_first(&mut self, pending: Pending, face: FaceId, nonce: u32, now: Time) -> bool {
        match self.entry_mut(pending) {
            Some(entry) if entry.first_out.face == NONE => {
                entry.first_out = Out { face: face.0, nonce, sent_at: now, ..Out::ABSENT };
                true
            }
            _ => false,
        }
    }

    /// Writes the out-record of a face: the Interest is sent there now. Returns the previous record.
    pub fn send(
        &mut self,
        pending: Pending,
        face: FaceId,
        nonce: u32,
        now: Time,
        queued: bool,
    ) -> Option<Out> {
        let entry = &mut self.entries[pending.slot as usize];
        let record = Out {
            face: face.0,
            nonce,
            next: NONE,
            sent_at: now,
            retransmitted: false,
            queued,
            refused: None,
        };
        if entry.first_out.face == NONE {
            entry.first_out = record;
            return None;
        }
        let old = self.outs.find(&entry.first_out, face.0);
        self.outs.write(&mut entry.first_out, Out { retransmitted: old.is_some(), ..record });
        old
    }

    /// The out-record of a face.
    #[inline]
    pub fn out_record(&self, pending: Pending, face: FaceId) -> Option<Out> {
        self.entry(pending).and_then(|entry| self.outs.find(&entry.first_out, face.0))
    }

    /// Records that the Interest that was queued for a face left now.
    pub fn leave(&mut self, pending: Pending, face: FaceId, now: Time) {
        self.change_out(pending, face, |record| (record.queued, record.sent_at) = (false, now));
    }

    /// Records a NACK from a face.
    pub fn refuse(&mut self, pending: Pending, face: FaceId, reason: NackReason) {
        self.change_out(pending, face, |record| (record.queued, record.refused) = (false, Some(reason)));
    }

    fn change_out(&mut self, pending: Pending, face: FaceId, change: impl FnOnce(&mut Out)) {
        let Some(entry) = self.entries.get_mut(pending.slot as usize) else { return };
        if entry.generation == pending.generation
            && let Some(record) = self.outs.find_mut(&mut entry.first_out, face.0)
        {
            change(record);
        }
    }
}

impl Entry {
    const FREE: Self = Self {
        name: Name { prefix: NameId(0), segment: 0 },
        expires: Time::ZERO,
        number: 0,
        after: NONE,
        generation: 0,
        ring: 0,
        capable: false,
        size: 0,
        strategy_note: 0,
        link_note: 0,
        label: Label([0; 4]),
        first_in: In { face: NONE, nonce: 0, flow: 0, next: NONE, expires: Time::ZERO },
        first_out: Out::ABSENT,
    };

    /// Keeps what the entry has of its latest Interest.
    #[inline]
    pub fn note(&mut self, packet: &Packet) {
        self.label = packet.label;
        self.size = u16::try_from(packet.size_bytes).unwrap_or(u16::MAX);
        self.capable = packet.ecn != Ecn::NotCapable;
    }
}

impl Out {
    const ABSENT: Self = Self {
        face: NONE,
        nonce: 0,
        next: NONE,
        sent_at: Time::ZERO,
        retransmitted: false,
        queued: false,
        refused: None,
    };
}

impl From<In> for InRecord {
    fn from(record: In) -> Self {
        Self { face: FaceId(record.face), nonce: record.nonce, expires: record.expires }
    }
}

impl From<Out> for OutRecord {
    fn from(record: Out) -> Self {
        let Out { face, nonce, sent_at, queued, retransmitted, refused, .. } = record;
        Self { face: FaceId(face), nonce, sent_at, queued, retransmitted, refused }
    }
}
