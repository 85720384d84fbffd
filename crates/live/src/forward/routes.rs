//! Routes: prefixes of the world outside, their next hops, and the numbers by which the machine knows them.

use std::collections::BTreeMap;

use contract::{FaceId, NameId, Names, NextHop};
use units::{Duration, Time};
use wire::ndn::NameView;

/// Who made a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// The settings.
    Settings,
    /// A program, by a command.
    Program,
}

#[derive(Clone, Copy, Debug)]
struct Hop {
    next: NextHop,
    maker: Maker,
    expires: Time,
}

#[derive(Debug)]
struct Route {
    id: NameId,
    hops: Vec<Hop>,
}

/// All routes. The machine knows each by a number, which it gives to another prefix only when nothing can be pending under the old one.
#[derive(Debug)]
pub(super) struct Routes {
    all: BTreeMap<Box<[u8]>, Route>,
    /// Numbers that are free, with the instant from which they are.
    free: Vec<(Time, NameId)>,
    /// Grows with every change.
    state: u64,
    /// When the next route expires: asked for with every packet, found with every change.
    expires: Time,
    /// How long something can be pending.
    quiet: Duration,
    /// Most routes.
    most: usize,
}

impl Routes {
    /// No routes yet, and the names that the machine gets: the root for what has no route, and `most` prefixes.
    pub(super) fn new(most: usize, quiet: Duration) -> (Self, Names) {
        let mut names = Names::new();
        let ids: Vec<NameId> = (0..most).map(|number| names.intern(&format!("/{number}"))).collect();
        let free = ids.into_iter().rev().map(|id| (Time::ZERO, id)).collect();
        (Self { all: BTreeMap::new(), free, state: 1, expires: Time::NEVER, quiet, most }, names)
    }

    /// Grows with every change; never 0.
    pub(super) const fn state(&self) -> u64 {
        self.state
    }

    /// How many prefixes have routes.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of the longest prefix of `name` that has a route; that of the root where none has.
    pub(super) fn find(&self, name: NameView<'_>) -> NameId {
        let mut at = name;
        loop {
            if let Some(route) = self.all.get(at.bytes()) {
                return route.id;
            }
            match at.split_last() {
                Some((above, _)) => at = above,
                None => return Names::ROOT,
            }
        }
    }

    /// Adds a route, or gives a known one another cost. False where there is no room.
    pub(super) fn add(
        &mut self,
        prefix: NameView<'_>,
        next: NextHop,
        maker: Maker,
        expires: Time,
        now: Time,
    ) -> bool {
        let hop = Hop { next, maker, expires };
        if let Some(route) = self.all.get_mut(prefix.bytes()) {
            route.hops.retain(|known| known.next.face != next.face);
            route.hops.push(hop);
        } else {
            let free = self.free.iter().position(|(from, _)| *from <= now);
            let Some(free) = free.filter(|_| self.all.len() < self.most) else { return false };
            let (_, id) = self.free.swap_remove(free);
            self.all.insert(prefix.bytes().into(), Route { id, hops: vec![hop] });
        }
        self.changed();
        true
    }

    fn changed(&mut self) {
        self.state += 1;
        let expires = self.all.values().flat_map(|route| &route.hops).map(|hop| hop.expires);
        self.expires = expires.min().unwrap_or(Time::NEVER);
    }

    /// Removes the route of a face. Whether there was one.
    pub(super) fn remove(&mut self, prefix: NameView<'_>, face: FaceId, now: Time) -> bool {
        let prefix = prefix.bytes();
        self.retain(now, |known, hop| known != prefix || hop.next.face != face)
    }

    /// Removes all routes of a face. Whether there were any.
    pub(super) fn close(&mut self, face: FaceId, now: Time) -> bool {
        self.retain(now, |_, hop| hop.next.face != face)
    }

    /// Removes what has expired. Whether there was something.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        self.wake() <= now && self.retain(now, |_, hop| hop.expires > now)
    }

    /// When the next route expires.
    pub(super) const fn wake(&self) -> Time {
        self.expires
    }

    fn retain(&mut self, now: Time, stays: impl Fn(&[u8], &Hop) -> bool) -> bool {
        let Self { all, free, quiet, .. } = self;
        let mut changed = false;
        all.retain(|prefix, route| {
            let before = route.hops.len();
            route.hops.retain(|hop| stays(prefix, hop));
            changed |= route.hops.len() < before;
            if route.hops.is_empty() {
                free.push((now + *quiet, route.id));
            }
            !route.hops.is_empty()
        });
        if changed {
            self.changed();
        }
        changed
    }

    /// All of them, as the machine takes them.
    pub(super) fn table(&self) -> Vec<(NameId, Vec<NextHop>)> {
        let hops = |route: &Route| route.hops.iter().map(|hop| hop.next).collect();
        self.all.values().map(|route| (route.id, hops(route))).collect()
    }

    /// Prefixes with their next hops and who made them, for people.
    pub(super) fn list(&self) -> impl Iterator<Item = (NameView<'_>, NextHop, Maker)> {
        self.all.iter().flat_map(|(prefix, route)| {
            let view = NameView::read(prefix).unwrap_or_default();
            route.hops.iter().map(move |hop| (view, hop.next, hop.maker))
        })
    }
}

#[cfg(test)]
mod tests {
    use wire::ndn::Name;

    use super::*;

    const QUIET: Duration = Duration::from_secs(4);

    fn hop(face: u32, cost: u64) -> NextHop {
        NextHop { face: FaceId(face), cost }
    }

    fn name(text: &str) -> Name {
        text.parse().expect("a name")
    }

    fn add(routes: &mut Routes, prefix: &str, next: NextHop, now: Time) -> bool {
        routes.add(name(prefix).view(), next, Maker::Program, Time::NEVER, now)
    }

    #[test]
    fn the_longest_prefix_wins_and_the_root_means_none() {
        let (mut routes, names) = Routes::new(4, QUIET);
        assert_eq!(names.count(), 5);
        assert!(
            add(&mut routes, "/a", hop(0, 1), Time::ZERO) && add(&mut routes, "/a/b", hop(1, 1), Time::ZERO)
        );
        let find = |routes: &Routes, text: &str| routes.find(name(text).view());
        assert_eq!(find(&routes, "/a/b/c"), find(&routes, "/a/b"));
        assert_ne!(find(&routes, "/a/b"), find(&routes, "/a/x"));
        assert_eq!(find(&routes, "/b"), Names::ROOT);
        assert!(add(&mut routes, "/", hop(2, 1), Time::ZERO));
        assert_ne!(find(&routes, "/b"), Names::ROOT, "a route for all is a prefix like any");
    }

    #[test]
    fn a_number_rests_before_another_prefix_gets_it() {
        let (mut routes, _) = Routes::new(1, QUIET);
        assert!(add(&mut routes, "/a", hop(0, 1), Time::ZERO));
        assert!(!add(&mut routes, "/b", hop(0, 1), Time::ZERO), "there is one number");
        assert!(routes.remove(name("/a").view(), FaceId(0), Time::ZERO));
        assert!(!add(&mut routes, "/b", hop(0, 1), Time::ZERO), "it rests");
        assert!(add(&mut routes, "/b", hop(0, 1), Time::ZERO + QUIET));
    }

    #[test]
    fn routes_end_with_their_face_and_with_time() {
        let (mut routes, _) = Routes::new(4, QUIET);
        let later = Time::ZERO + Duration::from_secs(1);
        assert!(routes.add(name("/a").view(), hop(0, 1), Maker::Settings, Time::NEVER, Time::ZERO));
        assert!(routes.add(name("/a").view(), hop(1, 2), Maker::Program, later, Time::ZERO));
        assert!(add(&mut routes, "/b", hop(2, 1), Time::ZERO));
        let state = routes.state();
        assert_eq!(routes.wake(), later);
        assert!(!routes.expire(Time::ZERO) && routes.expire(later));
        assert!(routes.close(FaceId(2), later) && !routes.close(FaceId(2), later));
        assert_eq!((routes.len(), routes.state()), (1, state + 2));
        assert_eq!(routes.table()[0].1, [hop(0, 1)]);
        assert_eq!(routes.list().count(), 1);
    }
}
