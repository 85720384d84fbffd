//! Routes: external prefixes, their next hops, and their numbers in the state machine.

use std::collections::BTreeMap;

use contract::{FaceId, NameId, Names, NextHop};
use units::{Duration, Time};
use wire::ndn::NameView;

/// The origin of a route.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Maker {
    /// The settings.
    Settings,
    /// A program, by a command, or an endpoint inside the process.
    Program,
    /// An SDN controller, by its configuration.
    Controller,
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
    /// The number of the prefix at an SDN controller; such a prefix is kept without next hops, too.
    controller_id: Option<NameId>,
}

impl Route {
    /// Its next hops. If a controller gave next hops, the hops of programs on this host keep their costs, and the hops
    /// of the settings have lower priority than the controller's.
    fn next_hops(&self) -> Vec<NextHop> {
        let of = |maker: Maker| self.hops.iter().filter(move |hop| hop.maker == maker).map(|hop| hop.next);
        let mut hops: Vec<NextHop> = of(Maker::Controller).collect();
        let max = hops.iter().map(|hop| hop.cost).max().unwrap_or(0);
        let new = |hops: &[NextHop], next: &NextHop| hops.iter().all(|hop| hop.face != next.face);
        for next in of(Maker::Settings).map(|next| NextHop { cost: next.cost.max(max), ..next }) {
            if new(&hops, &next) {
                hops.push(next);
            }
        }
        for next in of(Maker::Program) {
            if new(&hops, &next) {
                hops.push(next);
            }
        }
        hops
    }
}

/// All routes. Each has a number in the state machine, which is reused for another prefix only when nothing can be
/// pending under the old one.
#[derive(Debug)]
pub(super) struct Routes {
    all: BTreeMap<Box<[u8]>, Route>,
    /// Free numbers, with the time from which they can be used.
    free: Vec<(Time, NameId)>,
    /// The version, which increases with each change.
    state: u64,
    /// The next expiry of a route: read with each packet, computed with each change.
    expires: Time,
    /// Maximum time for which an Interest can be pending.
    max_lifetime: Duration,
    /// Maximum number of routes.
    max: usize,
}

impl Routes {
    /// No routes, and the names for the state machine: the root for names without a route, and `max` prefixes.
    pub(super) fn new(max: usize, max_lifetime: Duration) -> (Self, Names) {
        let mut names = Names::new();
        let ids: Vec<NameId> = (0..max).map(|number| names.intern(&format!("/{number}"))).collect();
        let free = ids.into_iter().rev().map(|id| (Time::ZERO, id)).collect();
        (Self { all: BTreeMap::new(), free, state: 1, expires: Time::NEVER, max_lifetime, max }, names)
    }

    /// The version, which increases with each change and is never 0.
    pub(super) const fn state(&self) -> u64 {
        self.state
    }

    /// Number of prefixes with routes.
    pub(super) fn len(&self) -> usize {
        self.all.len()
    }

    /// The number of the longest prefix of `name` with a route; the number of the root if no prefix has one.
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

    /// Adds a route, or changes the cost of an existing one. Returns false if the maximum number is reached.
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
            // routes of a controller exist beside the routes of others
            let same = |other: Maker| (other == Maker::Controller) == (maker == Maker::Controller);
            route.hops.retain(|known| known.next.face != next.face || !same(known.maker));
            route.hops.push(hop);
        } else {
            let Some(id) = self.number(now) else { return false };
            self.all.insert(prefix.bytes().into(), Route { id, hops: vec![hop], controller_id: None });
        }
        self.changed();
        true
    }

    fn changed(&mut self) {
        self.state += 1;
        let expires = self.all.values().flat_map(|route| &route.hops).map(|hop| hop.expires);
        self.expires = expires.min().unwrap_or(Time::NEVER);
    }

    /// A number for another prefix, if there is one.
    fn number(&mut self, now: Time) -> Option<NameId> {
        let free = self.free.iter().position(|(from, _)| *from <= now);
        let free = free.filter(|_| self.all.len() < self.max)?;
        Some(self.free.swap_remove(free).1)
    }

    /// Replaces all prefixes of a controller, with its numbers for them and their next hops. Returns how many did not
    /// fit.
    pub(super) fn set_controller_prefixes(
        &mut self,
        controller_id: &[(NameId, NameView<'_>, Vec<NextHop>)],
        now: Time,
    ) -> u64 {
        self.all.values_mut().for_each(|route| route.controller_id = None);
        self.retain(now, |_, hop| hop.maker != Maker::Controller);
        let mut without_room = 0;
        for (number, prefix, hops) in controller_id {
            if !self.all.contains_key(prefix.bytes()) {
                let Some(id) = self.number(now) else {
                    without_room += 1;
                    continue;
                };
                self.all.insert(prefix.bytes().into(), Route { id, hops: Vec::new(), controller_id: None });
            }
            if let Some(route) = self.all.get_mut(prefix.bytes()) {
                route.controller_id = Some(*number);
            }
            for next in hops {
                self.add(*prefix, *next, Maker::Controller, Time::NEVER, now);
            }
        }
        self.changed();
        without_room
    }

    /// The prefix with this number at the controller.
    pub(super) fn number_of(&self, controller_id: NameId) -> Option<NameId> {
        self.all.values().find(|route| route.controller_id == Some(controller_id)).map(|route| route.id)
    }

    /// For each prefix the controller's number of the longest prefix that covers it, if there is one.
    pub(super) fn controller_ids(&self) -> Vec<Option<NameId>> {
        let mut all = vec![None; self.max + 1];
        for (prefix, route) in &self.all {
            let above = self.above(prefix, |above| above.controller_id.is_some());
            if let Some(place) = all.get_mut(route.id.index()) {
                *place = above.and_then(|above| above.controller_id);
            }
        }
        all
    }

    /// The longest prefix of `prefix`, or itself, that is of this kind.
    fn above(&self, prefix: &[u8], is: impl Fn(&Route) -> bool) -> Option<&Route> {
        let mut at = NameView::read(prefix).ok()?;
        loop {
            if let Some(route) = self.all.get(at.bytes()).filter(|route| is(route)) {
                return Some(route);
            }
            at = at.split_last()?.0;
        }
    }

    /// Removes the route of a face. Returns whether there was one.
    pub(super) fn remove(&mut self, prefix: NameView<'_>, face: FaceId, now: Time) -> bool {
        let prefix = prefix.bytes();
        self.retain(now, |known, hop| known != prefix || hop.next.face != face)
    }

    /// Removes all routes of a face. Returns whether there were any.
    pub(super) fn close(&mut self, face: FaceId, now: Time) -> bool {
        self.retain(now, |_, hop| hop.next.face != face)
    }

    /// Removes expired routes. Returns whether there were any.
    pub(super) fn expire(&mut self, now: Time) -> bool {
        self.wake() <= now && self.retain(now, |_, hop| hop.expires > now)
    }

    /// When the next route expires.
    pub(super) const fn wake(&self) -> Time {
        self.expires
    }

    fn retain(&mut self, now: Time, keeps: impl Fn(&[u8], &Hop) -> bool) -> bool {
        let Self { all, free, max_lifetime, .. } = self;
        let mut changed = false;
        all.retain(|prefix, route| {
            let before = route.hops.len();
            route.hops.retain(|hop| keeps(prefix, hop));
            changed |= route.hops.len() < before;
            let keeps = !route.hops.is_empty() || route.controller_id.is_some();
            if !keeps {
                free.push((now + *max_lifetime, route.id));
            }
            keeps
        });
        if changed {
            self.changed();
        }
        changed
    }

    /// All routes for the state machine. A prefix of a controller without next hops inherits the next hops of the
    /// prefix above.
    pub(super) fn table(&self) -> Vec<(NameId, Vec<NextHop>)> {
        let hops = |prefix: &[u8]| {
            let with_hops = self.above(prefix, |above| !above.hops.is_empty());
            with_hops.map_or_else(Vec::new, Route::next_hops)
        };
        self.all.iter().map(|(prefix, route)| (route.id, hops(prefix))).collect()
    }

    /// Prefixes with their next hops and origins, for the status.
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

    fn view(text: &Name) -> NameView<'_> {
        text.view()
    }

    #[test]
    fn what_a_controller_says_comes_before_the_settings_and_behind_programs() {
        let (mut routes, _) = Routes::new(4, QUIET);
        let (film, root) = (name("/film"), name("/"));
        assert!(routes.add(view(&film), hop(1, 1), Maker::Settings, Time::NEVER, Time::ZERO));
        assert!(routes.add(view(&film), hop(2, 7), Maker::Settings, Time::NEVER, Time::ZERO));
        assert!(routes.add(view(&root), hop(3, 1), Maker::Settings, Time::NEVER, Time::ZERO));
        let id = routes.find(name("/film/x").view());
        let table = |routes: &Routes, id| {
            let table = routes.table();
            table.into_iter().find(|(of, _)| *of == id).map(|(_, hops)| hops).unwrap_or_default()
        };
        let controller_id =
            [(NameId(40), view(&film), vec![hop(0, 5), hop(1, 9)]), (NameId(41), view(&root), Vec::new())];
        assert_eq!(routes.set_controller_prefixes(&controller_id, Time::ZERO), 0);
        assert_eq!(table(&routes, id), [hop(0, 5), hop(1, 9), hop(2, 9)]);
        assert!(add(&mut routes, "/film", hop(6, 0), Time::ZERO));
        assert_eq!(table(&routes, id).last(), Some(&hop(6, 0)), "its cost is the minimum");
        assert_eq!((routes.number_of(NameId(40)), routes.number_of(NameId(9))), (Some(id), None));
        // another controller: the earlier controller's routes are removed, and the routes of the settings are restored
        let other = name("/other");
        assert_eq!(routes.set_controller_prefixes(&[(NameId(1), view(&other), Vec::new())], Time::ZERO), 0);
        assert_eq!(table(&routes, id), [hop(1, 1), hop(2, 7), hop(6, 0)]);
        let id = routes.find(name("/other/y").view());
        assert_eq!(table(&routes, id), [hop(3, 1)], "a prefix without next hops has those above it");
    }

    #[test]
    fn data_belong_to_the_longest_prefix_that_the_controller_knows() {
        let (mut routes, _) = Routes::new(3, QUIET);
        let film = name("/film");
        assert!(add(&mut routes, "/film/hd", hop(0, 1), Time::ZERO));
        assert!(add(&mut routes, "/b", hop(0, 1), Time::ZERO));
        assert_eq!(
            routes.set_controller_prefixes(&[(NameId(40), film.view(), vec![hop(1, 1)])], Time::ZERO),
            0
        );
        let served = routes.controller_ids();
        let of = |text: &str| served[routes.find(name(text).view()).index()];
        assert_eq!(
            [of("/film/x"), of("/film/hd/x"), of("/b/x"), of("/c")],
            [Some(NameId(40)), Some(NameId(40)), None, None]
        );
        // the maximum is reached, and a prefix of the controller is kept without next hops
        assert_eq!(
            routes.set_controller_prefixes(&[(NameId(7), name("/d").view(), Vec::new())], Time::ZERO),
            1
        );
        let later = Time::ZERO + QUIET;
        assert_eq!(routes.set_controller_prefixes(&[(NameId(7), name("/d").view(), Vec::new())], later), 0);
        assert!(!routes.close(FaceId(5), later));
        assert_eq!((routes.len(), routes.number_of(NameId(7)).is_some()), (3, true));
    }
}
