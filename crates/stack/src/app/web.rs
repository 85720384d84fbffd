//! Web pages: objects that depend on others, over one connection or several, and the page load time.

use std::collections::BTreeSet;
use std::sync::Arc;

use units::{Bytes, Duration, Time};

use super::{Exchange, Shared};
use crate::datagram::DurationDistribution;

/// An object of a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Object {
    /// Its size.
    pub size: Bytes,
    /// Numbers of the objects that must have arrived before it is requested, from 0, each less than its own.
    pub after: Vec<u32>,
    /// Time that the client computes between the arrival of the last of them and the request.
    pub delay: Duration,
}

/// Settings of a client that loads a page.
#[derive(Clone, Debug, PartialEq)]
pub struct Page {
    /// The objects of the page, at least one.
    pub objects: Arc<[Object]>,
    /// Whether a connection can have several unanswered requests, as in HTTP/2 and HTTP/3. The answers come in the
    /// order of the requests. Otherwise it has one at a time, as in HTTP/1.1.
    pub multiplex: bool,
    /// Think time between two loads; `None` for none.
    pub think: Option<DurationDistribution>,
    /// Number of loads; [`u32::MAX`] for no limit.
    pub count: u32,
}

pub(super) struct State {
    config: Page,
    /// For each object the number of objects that it waits for.
    pending_dependencies: Vec<u32>,
    /// Objects that others wait for, with those.
    children: Vec<Vec<u32>>,
    /// Objects that are computed, by the time at which they can be requested.
    ready: BTreeSet<(Time, u32)>,
    missing: usize,
    /// When the next object becomes ready, if a connection is free for it.
    due_at: Time,
    next_at: Time,
}

impl State {
    pub(super) fn new(config: &Page) -> Self {
        let mut children = vec![Vec::new(); config.objects.len()];
        for (number, object) in (0..).zip(config.objects.iter()) {
            object.after.iter().for_each(|&parent| children[parent as usize].push(number));
        }
        Self {
            config: config.clone(),
            pending_dependencies: Vec::new(),
            children,
            ready: BTreeSet::new(),
            missing: 0,
            due_at: Time::NEVER,
            next_at: Time::NEVER,
        }
    }

    pub(super) fn begin(&mut self, shared: &mut Shared, now: Time) {
        self.next_at = Time::NEVER;
        if shared.stopped || shared.exchanges.len() >= self.config.count as usize {
            return;
        }
        let objects = &self.config.objects;
        self.pending_dependencies = objects.iter().map(|object| object.after.len() as u32).collect();
        self.missing = objects.len();
        let roots = (0..).zip(objects.iter()).filter(|(_, object)| object.after.is_empty());
        self.ready.extend(roots.map(|(number, object)| (now + object.delay, number)));
        let bytes = objects.iter().map(|object| object.size.as_u64()).sum();
        shared.exchanges.push(Exchange {
            started_at: now,
            completed_at: Time::NEVER,
            bytes,
            segment: None,
            abandoned: 0,
        });
        self.request(shared, now);
    }

    /// Asks for objects that are ready, in the order in which they became ready, on the connection with the fewest open
    /// requests.
    fn request(&mut self, shared: &mut Shared, now: Time) {
        self.due_at = Time::NEVER;
        while let Some(&(at, object)) = self.ready.first() {
            if at > now {
                self.due_at = at;
                return;
            }
            let open = shared.connections.iter().map(super::Connection::open).enumerate();
            let Some((connection, open)) = open.min_by_key(|&(number, open)| (open, number)) else { return };
            if open > 0 && !self.config.multiplex {
                return;
            }
            self.ready.pop_first();
            let size = self.config.objects[object as usize].size;
            shared.request(connection, size, object, now);
        }
    }

    pub(super) fn on_object(&mut self, object: u32, shared: &mut Shared, now: Time) {
        for i in 0..self.children[object as usize].len() {
            let child = self.children[object as usize][i];
            let pending_dependencies = &mut self.pending_dependencies[child as usize];
            *pending_dependencies -= 1;
            if *pending_dependencies == 0 {
                self.ready.insert((now + self.config.objects[child as usize].delay, child));
            }
        }
        self.missing -= 1;
        if self.missing > 0 {
            return self.request(shared, now);
        }
        if let Some(load) = shared.exchanges.last_mut() {
            load.completed_at = now;
        }
        match &self.config.think {
            Some(think) => self.next_at = now + think.draw(&mut shared.random),
            None => self.begin(shared, now),
        }
    }

    pub(super) fn on_timer(&mut self, shared: &mut Shared, now: Time) {
        if self.next_at <= now {
            self.begin(shared, now);
        }
        self.request(shared, now);
    }

    pub(super) fn wake(&self) -> Time {
        self.due_at.min(self.next_at)
    }
}
