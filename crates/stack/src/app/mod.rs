//! Applications above TCP or QUIC connections, at the client: requests with think time and incast, web pages, adaptive
//! video players (DASH).
//!
//! A client requests data over one or several connections, and waits for the responses. [`App`] is a sans-IO state
//! machine. The responses come from senders that send the requested bytes ([`contract::Header::Request`]).

mod abr;
mod connection;
mod player;
mod rounds;
mod sizes;
mod web;

use contract::Random;
use units::{Bytes, Duration, Time};

pub use abr::Rule;
pub use player::{Playback, Player};
pub use rounds::Rounds;
pub use sizes::{DATA_MINING, Sizes, WEB_SEARCH};
pub use web::{Object, Page};

pub(crate) use sizes::log_normal;

use connection::Connection;

/// Behaviour of a client.
#[derive(Clone, Debug, PartialEq)]
pub enum Config {
    /// Requests on every connection at once; the next round starts when all are answered, after a think time.
    Rounds(Rounds),
    /// Loads of a page.
    Page(Page),
    /// An adaptive video player.
    Player(Player),
}

/// A request that the client sends on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Request {
    /// Number of the connection.
    pub connection: usize,
    /// Bytes that the client has requested on it so far. A repeated request has the same number.
    pub total: u64,
    /// Of these, the bytes up to the end of the last answer that it abandoned; zero for none.
    pub abandoned: u64,
}

/// An exchange: a round of requests, the load of a page, or a segment of a video.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Exchange {
    /// When the client sent the first request.
    pub started_at: Time,
    /// When the last byte of the answer had arrived; [`Time::NEVER`] before.
    pub completed_at: Time,
    /// Bytes of the answer.
    pub bytes: u64,
    /// Of a segment: the number of its quality, from 0, and the level of the buffer when it had arrived.
    pub segment: Option<(u32, Duration)>,
    /// Requests for it that were abandoned.
    pub abandoned: u32,
}

/// A client with its connections.
///
/// # How it is driven
///
/// 1. [`App::start`] at its start. After it, and after every other input, drain [`App::take_requests`] and send the
///    requests.
/// 2. [`App::on_delivered`] when the bytes delivered on a connection reach [`App::next_event_at`]. Bytes of abandoned
///    answers that the sender does not send count as delivered.
/// 3. [`App::on_timer`] at or after [`App::wake`], with the bytes that have been delivered on each connection. An early
///    timer has no effect.
/// 4. [`App::stop`]: exchanges in progress are completed, and no new one begins.
pub struct App {
    shared: Shared,
    client: Client,
}

/// The parts that all kinds of clients have.
struct Shared {
    connections: Vec<Connection>,
    random: Random,
    requests: Vec<Request>,
    exchanges: Vec<Exchange>,
    stopped: bool,
}

enum Client {
    Rounds(rounds::State),
    Page(web::State),
    Player(Box<player::State>),
}

/// An event on a connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Event {
    /// The first byte of an answer arrived.
    FirstByte,
    /// A response is complete: the requested item.
    Complete(u32),
}

impl Shared {
    /// Requests `bytes` on a connection, at least one.
    fn request(&mut self, connection: usize, bytes: Bytes, item: u32, now: Time) {
        let total = self.connections[connection].request(bytes.as_u64().max(1), item, now);
        self.requests.push(Request {
            connection,
            total,
            abandoned: self.connections[connection].abandoned(),
        });
    }
}

impl App {
    /// A client with this number of connections, at least one. It does nothing before [`App::start`].
    pub fn new(config: &Config, connections: usize, random: Random) -> Self {
        let client = match config {
            Config::Rounds(rounds) => Client::Rounds(rounds::State::new(rounds)),
            Config::Page(page) => Client::Page(web::State::new(page)),
            Config::Player(player) => Client::Player(Box::new(player::State::new(player))),
        };
        let connections = (0..connections.max(1)).map(|_| Connection::default()).collect();
        let shared =
            Shared { connections, random, requests: Vec::new(), exchanges: Vec::new(), stopped: false };
        Self { shared, client }
    }

    /// Starts the client.
    pub fn start(&mut self, now: Time) {
        match &mut self.client {
            Client::Rounds(state) => state.begin(&mut self.shared, now),
            Client::Page(state) => state.begin(&mut self.shared, now),
            Client::Player(state) => state.begin(&mut self.shared, now),
        }
    }

    /// Starts no further exchange.
    pub fn stop(&mut self) {
        self.shared.stopped = true;
    }

    /// Handles the delivery of bytes on a connection, `total` so far.
    pub fn on_delivered(&mut self, connection: usize, total: u64, now: Time) {
        while let Some(event) = self.shared.connections[connection].advance(total) {
            match (&mut self.client, event) {
                (Client::Rounds(state), Event::Complete(_)) => state.on_answer(&mut self.shared, now),
                (Client::Page(state), Event::Complete(object)) => {
                    state.on_object(object, &mut self.shared, now);
                }
                (Client::Player(state), Event::Complete(request)) => {
                    state.on_answer(request, &mut self.shared, now);
                }
                (Client::Player(state), Event::FirstByte) => state.on_first_byte(now),
                (_, Event::FirstByte) => {}
            }
        }
        if let Client::Player(state) = &mut self.client {
            let loaded = self.shared.connections[connection].loaded(total);
            state.on_progress(loaded, &mut self.shared, now);
        }
    }

    /// Handles expired deadlines. `delivered` returns the bytes delivered on a connection.
    pub fn on_timer(&mut self, delivered: impl Fn(usize) -> u64, now: Time) {
        for (number, connection) in self.shared.connections.iter_mut().enumerate() {
            if let Some(total) = connection.retry(delivered(number), now) {
                let abandoned = connection.abandoned();
                self.shared.requests.push(Request { connection: number, total, abandoned });
            }
        }
        match &mut self.client {
            Client::Rounds(state) => state.on_timer(&mut self.shared, now),
            Client::Page(state) => state.on_timer(&mut self.shared, now),
            Client::Player(state) => state.on_timer(&mut self.shared, now),
        }
    }

    /// The next deadline.
    pub fn wake(&self) -> Time {
        let own = match &self.client {
            Client::Rounds(state) => state.wake(),
            Client::Page(state) => state.wake(),
            Client::Player(state) => state.wake(),
        };
        self.shared.connections.iter().map(Connection::wake).fold(own, Time::min)
    }

    /// The number of delivered bytes on a connection at which the client is notified; [`u64::MAX`] for none, 0 for
    /// every delivery.
    pub fn next_event_at(&self, connection: usize) -> u64 {
        let connection = &self.shared.connections[connection];
        match &self.client {
            // it is not known where an abandoned answer ends
            _ if connection.drains() => 0,
            Client::Player(state) if state.watches(&self.shared) => 0,
            _ => connection.next_event_at(),
        }
    }

    /// Takes the requests that are to be sent.
    pub fn take_requests(&mut self) -> impl Iterator<Item = Request> + '_ {
        self.shared.requests.drain(..)
    }

    /// The exchanges so far, the unfinished ones included, in the order of their start.
    pub fn exchanges(&self) -> &[Exchange] {
        &self.shared.exchanges
    }

    /// The playback up to `now`, if it is a player.
    pub fn playback(&self, now: Time) -> Option<Playback> {
        match &self.client {
            Client::Player(state) => Some(state.playback(now)),
            Client::Rounds(_) | Client::Page(_) => None,
        }
    }
}

#[cfg(test)]
mod tests;
