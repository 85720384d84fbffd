//! Mapping between external names and numbers of the state machine, with bounds.
//!
//! The state machine's names are a tree of prefixes that only grows, and a number under each. A stranger must not be
//! able to fill memory with names. Therefore only prefixes of routes are prefixes of the state machine (`routes.rs`);
//! the rest of a name is a number that is reused when nothing is pending or stored under the name.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use contract::{FaceId, Name, NameId};
use units::Time;
use wire::ndn::Token;

use super::pending::PendingCounts;

/// The selectors of an Interest: the same name with other selectors is another request.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Selectors {
    pub(super) can_be_prefix: bool,
    pub(super) must_be_fresh: bool,
}

impl Selectors {
    /// All combinations.
    pub(super) const ALL: [Self; WAYS as usize] = [
        Self { can_be_prefix: false, must_be_fresh: false },
        Self { can_be_prefix: true, must_be_fresh: false },
        Self { can_be_prefix: false, must_be_fresh: true },
        Self { can_be_prefix: true, must_be_fresh: true },
    ];

    const fn number(self) -> u64 {
        self.can_be_prefix as u64 | (self.must_be_fresh as u64) << 1
    }
}

/// Number of combinations.
const WAYS: u64 = 4;

/// A name with selectors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Request {
    pub(super) slot: u32,
    pub(super) way: Selectors,
}

impl Request {
    /// The request with this name in the state machine.
    pub(super) fn of(name: Name) -> Self {
        Self { slot: (name.segment / WAYS) as u32, way: Selectors::ALL[(name.segment % WAYS) as usize] }
    }
}

/// The entry of a name.
#[derive(Debug)]
struct Entry {
    name: Arc<[u8]>,
    /// The longest prefix with a route, by its number in the state machine.
    prefix: NameId,
    /// The version of the routes for which this prefix was found.
    routes: u64,
    states: Vec<SelectorState>,
}

/// The state of a request: a name with selectors.
#[derive(Debug, Default)]
struct SelectorState {
    way: Selectors,
    /// The latest Interest, as it is forwarded except for its nonce.
    interest: Option<Arc<[u8]>>,
    /// The downstreams of the request.
    downstreams: Vec<Downstream>,
    /// The earliest time at which all their deadlines have passed; never without downstreams.
    until: Time,
    content: Option<CachedData>,
}

/// A downstream, and the token that is returned with the answer.
#[derive(Clone, Copy, Debug)]
struct Downstream {
    face: FaceId,
    token: Token,
}

/// Data in the content store.
#[derive(Clone, Debug)]
pub(super) struct CachedData {
    pub(super) packet: Arc<[u8]>,
    pub(super) fresh_until: Time,
}

/// Bounds of the table.
#[derive(Clone, Copy, Debug)]
pub(super) struct Bounds {
    /// Maximum number of names.
    pub(super) names: usize,
    /// Maximum bytes of names, Interests and Data.
    pub(super) bytes: usize,
    /// Of these, Data.
    pub(super) contents: usize,
}

/// All names that are pending or stored, or were so recently.
#[derive(Debug)]
pub(super) struct Table {
    slots: BTreeMap<Arc<[u8]>, u32>,
    entries: Vec<Option<Entry>>,
    free: Vec<u32>,
    /// The position at which the search for unused names continues.
    hand: usize,
    bytes: usize,
    /// Of these, Data.
    contents: usize,
    bounds: Bounds,
    /// Requests with downstreams that wait, by deadline.
    deadlines: BTreeSet<(Time, u32, u8)>,
    pending_counts: PendingCounts,
    /// Names that end in an implicit digest.
    digests: usize,
}

/// Maximum number of names that are checked to remove one. Usually half of the names can be removed, so that two checks
/// are enough; this limits the work in other cases.
const MAX_PROBES: usize = 64;
/// Bytes accounted for each name in addition to its own.
const OVERHEAD: usize = 128;
/// Bytes accounted for each downstream, here and in the state machine.
pub(super) const DOWNSTREAM: usize = 128;

impl Table {
    /// No names yet.
    pub(super) fn new(bounds: Bounds, pending_counts: PendingCounts) -> Self {
        Self {
            slots: BTreeMap::new(),
            entries: Vec::new(),
            free: Vec::new(),
            hand: 0,
            bytes: 0,
            contents: 0,
            bounds,
            deadlines: BTreeSet::new(),
            pending_counts,
            digests: 0,
        }
    }

    /// Numbers of pending requests.
    pub(super) const fn pending_counts(&self) -> &PendingCounts {
        &self.pending_counts
    }

    /// Whether stored Data exceed their limit.
    pub(super) const fn keeps_too_much(&self) -> bool {
        self.contents > self.bounds.contents
    }

    /// Number of names.
    pub(super) fn len(&self) -> usize {
        self.slots.len()
    }

    /// Bytes of names and of everything that is stored under them.
    pub(super) const fn bytes(&self) -> usize {
        self.bytes
    }

    /// Whether an Interest may have requested by the implicit digest of a Data packet.
    pub(super) const fn has_digests(&self) -> bool {
        self.digests > 0
    }

    /// The slot of a name.
    pub(super) fn find(&self, name: &[u8]) -> Option<u32> {
        self.slots.get(name).copied()
    }

    /// The slot of a name, which is created if necessary; `None` if there is no space for it and `added` bytes.
    /// `needed` returns whether a name of the state machine is pending or stored; a name for which neither is true with
    /// any selectors can be removed.
    pub(super) fn open(&mut self, name: &[u8], added: usize, needed: impl Fn(Name) -> bool) -> Option<u32> {
        let known = self.find(name);
        let cost = added + if known.is_none() { name.len() + OVERHEAD } else { 0 };
        let mut probes = MAX_PROBES;
        while (known.is_none() && self.slots.len() >= self.bounds.names)
            || self.bytes + cost > self.bounds.bytes
        {
            if probes == 0 || self.entries.is_empty() {
                return None;
            }
            probes -= 1;
            let at = self.hand;
            self.hand = (self.hand + 1) % self.entries.len();
            if Some(at as u32) != known && self.entries[at].is_some() && !self.is_needed(at as u32, &needed) {
                self.forget(at as u32);
            }
        }
        if known.is_some() {
            return known;
        }
        let name: Arc<[u8]> = name.into();
        let entry = Entry { name: Arc::clone(&name), prefix: NameId(0), routes: 0, states: Vec::new() };
        self.bytes += name.len() + OVERHEAD;
        self.digests += usize::from(ends_in_digest(&name));
        let slot = match self.free.pop() {
            Some(slot) => {
                self.entries[slot as usize] = Some(entry);
                slot
            }
            None => {
                self.entries.push(Some(entry));
                self.entries.len() as u32 - 1
            }
        };
        self.slots.insert(name, slot);
        Some(slot)
    }

    /// Whether a name is pending or stored with any selectors.
    pub(super) fn is_needed(&self, slot: u32, needed: impl Fn(Name) -> bool) -> bool {
        Selectors::ALL.iter().any(|way| self.name(Request { slot, way: *way }).is_some_and(&needed))
    }

    fn forget(&mut self, slot: u32) {
        let Some(entry) = self.entries[slot as usize].take() else { return };
        let held: usize = entry.states.iter().map(SelectorState::bytes).sum();
        for states in &entry.states {
            self.contents -= states.kept_bytes();
            self.deadlines.remove(&(states.until, slot, states.way.number() as u8));
            states.downstreams.iter().for_each(|one| self.pending_counts.end(one.face));
        }
        self.bytes -= entry.name.len() + OVERHEAD + held;
        self.digests -= usize::from(ends_in_digest(&entry.name));
        self.slots.remove(&entry.name);
        self.free.push(slot);
    }

    fn entry(&self, slot: u32) -> Option<&Entry> {
        self.entries.get(slot as usize)?.as_ref()
    }

    /// The name of a request in the state machine.
    pub(super) fn name(&self, Request { slot, way }: Request) -> Option<Name> {
        let entry = self.entry(slot)?;
        Some(Name { prefix: entry.prefix, segment: u64::from(slot) * WAYS + way.number() })
    }

    /// The version of the routes for which the prefix of a name was found; 0 for a new name.
    pub(super) fn routed_by(&self, slot: u32) -> u64 {
        self.entry(slot).map_or(0, |entry| entry.routes)
    }

    /// Sets the prefix of a name that was found in version `routes` of the routes. Data that were stored under another
    /// prefix are removed, because the state machine no longer finds them.
    pub(super) fn route(&mut self, slot: u32, prefix: NameId, routes: u64) {
        let Some(entry) = self.entries.get_mut(slot as usize).and_then(Option::as_mut) else { return };
        entry.routes = routes;
        if entry.prefix != prefix {
            entry.prefix = prefix;
            for states in &mut entry.states {
                let freed = states.content.take().map_or(0, |stored| stored.packet.len());
                self.bytes -= freed;
                self.contents -= freed;
            }
        }
    }

    fn state(&self, request: Request) -> Option<&SelectorState> {
        self.entry(request.slot)?.states.iter().find(|states| states.way == request.way)
    }

    fn state_mut(&mut self, request: Request) -> Option<&mut SelectorState> {
        let entry = self.entries.get_mut(request.slot as usize)?.as_mut()?;
        let at = entry.states.iter().position(|states| states.way == request.way);
        let at = at.unwrap_or_else(|| {
            entry.states.push(SelectorState {
                way: request.way,
                until: Time::NEVER,
                ..SelectorState::default()
            });
            entry.states.len() - 1
        });
        Some(&mut entry.states[at])
    }

    /// Whether a face waits for the answer.
    pub(super) fn is_waiting(&self, request: Request, face: FaceId) -> bool {
        self.state(request).is_some_and(|states| states.downstreams.iter().any(|one| one.face == face))
    }

    /// Stores the latest Interest of a request, with the token and the deadline of its downstream.
    pub(super) fn add_downstream(
        &mut self,
        request: Request,
        interest: Arc<[u8]>,
        from: FaceId,
        token: Token,
        until: Time,
    ) {
        let added = interest.len();
        let Some(states) = self.state_mut(request) else { return };
        let known = states.downstreams.iter().any(|one| one.face == from);
        states.downstreams.retain(|one| one.face != from);
        states.downstreams.push(Downstream { face: from, token });
        let freed = states.interest.replace(interest).map_or(0, |old| old.len());
        let later = states.until == Time::NEVER || states.until < until;
        self.bytes = self.bytes + added - freed;
        if !known {
            self.bytes += DOWNSTREAM;
            self.pending_counts.begin(from);
        }
        if later {
            self.watch(request, until);
        }
    }

    /// Sets the time at which a request is checked.
    pub(super) fn watch(&mut self, request: Request, until: Time) {
        let Some(states) = self.state_mut(request) else { return };
        let old = std::mem::replace(&mut states.until, until);
        let way = request.way.number() as u8;
        self.deadlines.remove(&(old, request.slot, way));
        if until < Time::NEVER {
            self.deadlines.insert((until, request.slot, way));
        }
    }

    /// A request whose check is due by `now`.
    pub(super) fn due(&self, now: Time) -> Option<Request> {
        let (until, slot, way) = *self.deadlines.first()?;
        (until <= now).then(|| Request { slot, way: Selectors::ALL[usize::from(way)] })
    }

    /// Removes a downstream whose Interest the state machine did not accept.
    pub(super) fn not_taken(&mut self, request: Request, face: FaceId) {
        let Some(states) = self.state_mut(request) else { return };
        let before = states.downstreams.len();
        states.downstreams.retain(|one| one.face != face);
        if states.downstreams.len() < before {
            self.bytes -= DOWNSTREAM;
            self.pending_counts.end(face);
        }
    }

    /// The latest Interest of a request.
    pub(super) fn interest(&self, request: Request) -> Option<&Arc<[u8]>> {
        self.state(request)?.interest.as_ref()
    }

    /// The token of a downstream.
    pub(super) fn token(&self, request: Request, face: FaceId) -> Token {
        let downstreams = self.state(request).map(|states| &states.downstreams[..]).unwrap_or_default();
        downstreams.iter().find(|one| one.face == face).map_or(Token::default(), |one| one.token)
    }

    /// Removes all downstreams.
    pub(super) fn remove_downstreams(&mut self, request: Request) {
        if self.state(request).is_none() {
            return;
        }
        self.watch(request, Time::NEVER);
        let Some(states) = self.state_mut(request) else { return };
        let downstreams = std::mem::take(&mut states.downstreams);
        let freed = states.interest.take().map_or(0, |old| old.len());
        self.bytes -= freed + downstreams.len() * DOWNSTREAM;
        downstreams.iter().for_each(|one| self.pending_counts.end(one.face));
    }

    /// Stores the Data that answer a request, or removes them.
    pub(super) fn keep(&mut self, request: Request, content: Option<CachedData>) {
        let added = content.as_ref().map_or(0, |stored| stored.packet.len());
        let Some(states) = self.state_mut(request) else { return };
        let freed = std::mem::replace(&mut states.content, content).map_or(0, |old| old.packet.len());
        self.bytes = self.bytes + added - freed;
        self.contents = self.contents + added - freed;
    }

    /// Stored Data.
    pub(super) fn stored(&self, request: Request) -> Option<&CachedData> {
        self.state(request)?.content.as_ref()
    }
}

impl SelectorState {
    fn bytes(&self) -> usize {
        let interest = self.interest.as_ref().map_or(0, |interest| interest.len());
        interest + self.kept_bytes() + self.downstreams.len() * DOWNSTREAM
    }

    fn kept_bytes(&self) -> usize {
        self.content.as_ref().map_or(0, |stored| stored.packet.len())
    }
}

/// Whether the last component of a name is an implicit digest.
fn ends_in_digest(name: &[u8]) -> bool {
    wire::ndn::NameView::read(name)
        .ok()
        .and_then(|name| name.last())
        .is_some_and(|last| last.kind == wire::ndn::kind::IMPLICIT_DIGEST)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn table(names: usize) -> Table {
        Table::new(Bounds { names, bytes: 100_000, contents: 100_000 }, pending_counts())
    }

    /// Four faces, of which the last two are strangers'.
    fn pending_counts() -> PendingCounts {
        PendingCounts::new([false, false, true, true])
    }

    fn at(seconds: u64) -> Time {
        Time::ZERO + units::Duration::from_secs(seconds)
    }

    fn request(slot: u32) -> Request {
        Request { slot, way: Selectors::ALL[0] }
    }

    #[test]
    fn the_same_name_has_one_place_and_four_ways_to_ask_for_it() {
        let mut table = table(10);
        let slot = table.open(b"abc", 0, |_| true).expect("there is room");
        assert_eq!(table.open(b"abc", 0, |_| true), Some(slot));
        table.route(slot, NameId(7), 1);
        let names: Vec<Name> =
            Selectors::ALL.iter().filter_map(|way| table.name(Request { slot, way: *way })).collect();
        assert!(names.windows(2).all(|pair| pair[0] != pair[1]) && names.len() == 4);
        for (name, way) in names.iter().zip(Selectors::ALL) {
            assert_eq!((name.prefix, Request::of(*name)), (NameId(7), Request { slot, way }));
        }
    }

    #[test]
    fn names_that_nobody_needs_make_room_and_the_others_stay() {
        let mut table = table(8);
        for name in 0..8u8 {
            assert!(table.open(&[name], 0, |_| true).is_some());
        }
        assert_eq!(table.open(b"new", 0, |_| true), None, "all are needed");
        let needed = |name: Name| name.segment / 4 != 3;
        let slot = table.open(b"new", 0, needed).expect("the fourth is not needed");
        assert_eq!((slot, table.len()), (3, 8));
        assert_eq!((table.find(&[3]), table.find(&[2])), (None, Some(2)));
    }

    #[test]
    fn bytes_are_counted_and_bounded() {
        let mut table = Table::new(Bounds { names: 100, bytes: 3000, contents: 700 }, pending_counts());
        let slot = table.open(b"a", 1000, |_| true).expect("there is room");
        let empty = table.bytes();
        table.add_downstream(request(slot), vec![0; 1000].into(), FaceId(1), Token::default(), at(4));
        assert_eq!(table.bytes(), empty + 1000 + DOWNSTREAM);
        table.add_downstream(request(slot), vec![0; 600].into(), FaceId(1), Token::default(), at(4));
        table.keep(request(slot), Some(CachedData { packet: vec![0; 800].into(), fresh_until: Time::ZERO }));
        assert_eq!(table.bytes(), empty + 1400 + DOWNSTREAM);
        assert!(table.keeps_too_much(), "there is room for 700 bytes of Data");
        assert_eq!(table.open(b"b", 2000, |_| true), None);
        table.remove_downstreams(request(slot));
        table.keep(request(slot), None);
        assert_eq!(table.bytes(), empty);
        assert!(!table.keeps_too_much());
        assert!(table.open(b"b", 2000, |_| false).is_some());
    }

    #[test]
    fn each_downstream_has_its_own_token() {
        let mut table = table(2);
        let slot = table.open(b"a", 0, |_| true).expect("there is room");
        let token = |byte| Token::new(&[byte]).expect("it is short");
        for (face, byte) in [(1, 11), (2, 22), (1, 33)] {
            table.add_downstream(request(slot), vec![0; 10].into(), FaceId(face), token(byte), at(4));
        }
        assert_eq!(table.token(request(slot), FaceId(1)), token(33));
        assert_eq!(table.token(request(slot), FaceId(2)), token(22));
        assert!(table.token(request(slot), FaceId(3)).is_empty());
        table.add_downstream(request(slot), vec![0; 10].into(), FaceId(2), Token::default(), at(4));
        assert!(table.token(request(slot), FaceId(2)).is_empty());
    }

    #[test]
    fn faces_are_counted_until_nobody_waits_any_longer() {
        let mut table = table(8);
        let pending_counts = |table: &Table| [0, 1, 2, 3].map(|face| table.pending_counts().of(FaceId(face)));
        let slots: Vec<u32> = (0..3u8).filter_map(|name| table.open(&[name], 0, |_| true)).collect();
        for (slot, face) in [(0, 0), (0, 2), (0, 2), (1, 2), (2, 3)] {
            table.add_downstream(
                request(slots[slot]),
                vec![0; 10].into(),
                FaceId(face),
                Token::default(),
                at(4),
            );
        }
        assert_eq!((pending_counts(&table), table.pending_counts().of_strangers()), ([1, 0, 2, 1], 3));
        assert!(table.is_waiting(request(slots[0]), FaceId(2)));
        table.not_taken(request(slots[0]), FaceId(0));
        table.not_taken(request(slots[0]), FaceId(1));
        assert_eq!(pending_counts(&table), [0, 0, 2, 1]);
        table.remove_downstreams(request(slots[0]));
        table.remove_downstreams(request(slots[0]));
        assert_eq!((pending_counts(&table), table.pending_counts().of_strangers()), ([0, 0, 1, 1], 2));
        table.forget(slots[1]);
        table.forget(slots[2]);
        assert_eq!(
            (pending_counts(&table), table.pending_counts().of_strangers(), table.due(at(9))),
            ([0; 4], 0, None)
        );
    }

    #[test]
    fn what_is_pending_is_looked_at_when_the_last_who_waits_gives_up() {
        let mut table = table(8);
        let slots: Vec<u32> = (0..2u8).filter_map(|name| table.open(&[name], 0, |_| true)).collect();
        let add_downstream = |table: &mut Table, slot: usize, face, until| {
            table.add_downstream(
                request(slots[slot]),
                vec![0; 10].into(),
                FaceId(face),
                Token::default(),
                at(until),
            );
        };
        add_downstream(&mut table, 0, 0, 4);
        add_downstream(&mut table, 0, 1, 2);
        add_downstream(&mut table, 1, 1, 3);
        assert_eq!(table.due(at(2)), None);
        assert_eq!(table.due(at(9)), Some(request(slots[1])));
        table.watch(request(slots[1]), at(5));
        assert_eq!(table.due(at(9)), Some(request(slots[0])));
        table.remove_downstreams(request(slots[0]));
        table.remove_downstreams(request(slots[1]));
        assert_eq!(table.due(at(9)), None);
    }

    #[test]
    fn a_stranger_who_asks_for_ever_new_names_fills_nothing() {
        let mut table = Table::new(Bounds { names: 1000, bytes: 1 << 20, contents: 0 }, pending_counts());
        for n in 0..50_000u32 {
            // the last request is pending
            let needed = |name: Name| (name.segment / 4).abs_diff(u64::from(n % 1000)) < 100;
            if let Some(slot) = table.open(&n.to_be_bytes(), 60, needed) {
                table.add_downstream(request(slot), vec![0; 60].into(), FaceId(0), Token::default(), at(4));
            }
            assert!(table.len() <= 1000 && table.bytes() <= 1 << 20);
        }
        assert!(table.entries.len() <= 1000);
    }
}
