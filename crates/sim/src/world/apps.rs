//! Applications during a run: their requests become packets to the senders of their flows, and they learn what has been
//! delivered.

use contract::{Cx, Destination, Ecn, EndpointId, Header, Label, Random};
use stack::app::{App, Request};
use units::Time;

use super::World;
use crate::agenda::{AgendaEvent, Kind};
use crate::build;
use crate::trace::AppRecord;
use crate::{AppSpec, Blueprint};

/// The applications of a run.
#[derive(Default)]
pub(super) struct Apps {
    list: Vec<Running>,
    /// The application and the number of the connection of each endpoint that receives one, in the order of endpoints.
    connections: Vec<(EndpointId, usize, usize)>,
}

struct Running {
    app: App,
    /// When its pending event is due; any other is stale.
    armed: Time,
    started: bool,
}

impl Apps {
    pub(super) fn new(blueprint: &Blueprint) -> Self {
        let running = |spec: &AppSpec| {
            let random = Random::new(blueprint.seed, &format!("app.{}", spec.name), "client");
            Running {
                app: App::new(&spec.config, spec.flows.len(), random),
                armed: spec.start,
                started: false,
            }
        };
        Self { list: blueprint.apps.iter().map(running).collect(), connections: Vec::new() }
    }

    fn connection(&self, endpoint: EndpointId) -> Option<(usize, usize)> {
        let at = self.connections.binary_search_by_key(&endpoint, |row| row.0).ok()?;
        Some((self.connections[at].1, self.connections[at].2))
    }

    /// The records of all applications at `now`.
    pub(super) fn records(&self, now: Time) -> Vec<AppRecord> {
        let record = |running: &Running| AppRecord {
            exchanges: running.app.exchanges().to_vec(),
            playback: running.app.playback(now),
        };
        self.list.iter().map(record).collect()
    }
}

impl World {
    /// Finds the endpoints of all connections.
    pub(super) fn connect_apps(&mut self) {
        for (number, spec) in self.blueprint.apps.iter().enumerate() {
            for (connection, &flow) in spec.flows.iter().enumerate() {
                for receiver in self.hosts.receivers_of(flow) {
                    let (_, endpoint) = self.hosts.receiver(receiver);
                    self.apps.connections.push((endpoint, number, connection));
                }
            }
        }
        self.apps.connections.sort_unstable_by_key(|row| row.0);
    }

    /// Handles the start, the stop or a deadline of an application. A stale event has no effect.
    pub(super) fn on_app(&mut self, number: usize) {
        let running = &mut self.apps.list[number];
        if running.armed != self.now {
            return;
        }
        running.armed = Time::NEVER;
        let spec = &self.blueprint.apps[number];
        if self.now >= spec.stop {
            running.app.stop();
        }
        let (hosts, now) = (&self.hosts, self.now);
        if running.started {
            let delivered = |connection: usize| hosts.answered(spec.flows[connection]);
            running.app.on_timer(delivered, now);
        } else {
            running.started = true;
            running.app.start(now);
        }
        self.accounts.count_event(now, AgendaEvent::new(Kind::Run, (build::RUN_APP + number) as u32));
        self.after_app(number);
    }

    /// Tells an application what has been delivered at one of its endpoints.
    #[cold]
    pub(super) fn on_news(&mut self, endpoint: EndpointId) {
        let Some((number, connection)) = self.apps.connection(endpoint) else { return };
        let spec = &self.blueprint.apps[number];
        let delivered = self.hosts.answered(spec.flows[connection]);
        let app = &mut self.apps.list[number].app;
        if self.now >= spec.stop {
            app.stop();
        }
        app.on_delivered(connection, delivered, self.now);
        self.after_app(number);
    }

    /// Sends the requests of an application, and schedules its next deadline.
    fn after_app(&mut self, number: usize) {
        let requests: Vec<Request> = self.apps.list[number].app.take_requests().collect();
        for request in requests {
            let spec = &self.blueprint.apps[number];
            let (flow, size) = (spec.flows[request.connection], spec.request);
            let sender = self.hosts.address(self.hosts.sender_of(flow));
            let Some(receiver) = self.hosts.receivers_of(flow).next() else { continue };
            let endpoint = self.hosts.receiver(receiver).1;
            let request = |cx: &mut Cx<'_>| {
                let Request { total, abandoned, .. } = request;
                let (to, header) = (Destination::from(sender), Header::Request { total, abandoned });
                cx.send(to, size, Ecn::NotCapable, header, Label::default());
            };
            let (state, machines) = self.hosts.running(endpoint);
            state.report(self.now, machines, &mut self.out, request);
            self.after(endpoint);
        }
        let flows = &self.blueprint.apps[number].flows;
        let running = &mut self.apps.list[number];
        for (connection, &flow) in flows.iter().enumerate() {
            self.hosts.set_news(flow, running.app.next_event_at(connection));
        }
        let wake = running.app.wake();
        if wake < running.armed {
            running.armed = wake.max(self.now);
            let what = AgendaEvent::new(Kind::Run, (build::RUN_APP + number) as u32);
            self.agenda.push(running.armed, what);
        }
    }
}
