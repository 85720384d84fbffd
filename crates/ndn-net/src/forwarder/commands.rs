//! Management commands of programs on this host [NFD-mgmt]: registration of routes, and the status of the forwarder.

use contract::{FaceId, NextHop};
use units::{Duration, Time};
use wire::ndn::{Arguments, Command, Data, Interest, LinkHeader, NameView, Response, Unsigned, kind};

use super::Frames;
use super::node::Node;
use super::routes::Maker;

/// Default cost of a route [NFD-mgmt: RIB].
const COST: u64 = 0;
/// Flags of a route that names below inherit [NFD-mgmt: RIB].
const CHILD_INHERIT: u64 = 1;
/// Status codes of refused commands [NFD-mgmt: Control Command].
const BAD_REQUEST: u64 = 400;
const FORBIDDEN: u64 = 403;
const NOT_FOUND: u64 = 404;
const NOT_IMPLEMENTED: u64 = 501;
/// Status code if the maximum number of routes is reached.
const FULL: u64 = 503;
/// Answers are fresh for this long.
const FRESH_MS: u64 = 1000;

/// Whether an Interest is for the forwarder itself.
pub(super) fn is_ours(name: NameView<'_>) -> bool {
    Command::is_command(name) || is_status(name)
}

/// Whether a name does not leave the host [NFD: namespace-based scope control].
pub(super) fn stays_on_host(name: NameView<'_>) -> bool {
    name.components().next().is_some_and(|first| (first.kind, first.value) == (kind::GENERIC, b"localhost"))
}

/// `/localhost/thalweg/status`.
fn is_status(name: NameView<'_>) -> bool {
    let mut components = name.components().map(|component| component.value);
    stays_on_host(name) && components.by_ref().skip(1).take(2).eq([&b"thalweg"[..], b"status"])
}

impl Node {
    /// An Interest for the forwarder itself. Only programs on this host may command; neighbours' commands are refused,
    /// strangers' and endless ones ignored.
    pub(super) fn take_command(
        &mut self,
        face: FaceId,
        interest: &Interest<'_>,
        header: &LinkHeader,
        now: Time,
        frames: &mut dyn Frames,
    ) {
        // an answer is longer than the request, and the address of a stranger may be forged
        if self.is_stranger(face) || interest.name.bytes().len() > LONGEST_COMMAND {
            return self.count_command(false);
        }
        let mut content = Vec::new();
        if is_status(interest.name) {
            if !self.is_local(face) {
                return self.count_command(false);
            }
            self.count_command(true);
            content = self.status_text().into_bytes();
            content.truncate(LONGEST_STATUS);
        } else {
            let response = self.respond(face, interest, now);
            self.count_command(response.code == Response::OK);
            response.write(&mut content);
        }
        let mut name = interest.name.to_name();
        if is_status(interest.name) {
            // each answer has its own name, and answers a request for its prefix
            name.push_number(kind::VERSION, now.as_nanos() / 1_000_000);
        }
        let mut packet = Vec::with_capacity(content.len() + 256);
        Unsigned { name: name.view(), freshness_ms: FRESH_MS, content: &content, ..Unsigned::default() }
            .sign(&mut packet);
        debug_assert!(Data::read(&packet).is_ok(), "what is written can be read");
        self.answer(face, &packet, header.token, None, now, frames);
    }

    fn respond(&mut self, face: FaceId, interest: &Interest<'_>, now: Time) -> Response {
        let no = |code, text: &str| Response { code, text: text.to_owned(), arguments: None };
        let first = interest.name.components().next();
        if !self.is_local(face) || first.is_some_and(|first| first.value != b"localhost") {
            return no(FORBIDDEN, "only programs on this host may command");
        }
        let Ok(Command { module, verb, arguments }) = Command::read(interest.name) else {
            return no(BAD_REQUEST, "that is no command");
        };
        if !interest.intact() {
            return no(FORBIDDEN, "the digest is not right");
        }
        let Some(prefix) = arguments.name.clone().filter(|_| module == "rib") else {
            return no(NOT_IMPLEMENTED, "only rib/register and rib/unregister with a name are supported");
        };
        // a program registers routes to itself only; others are in the settings
        if arguments.face.is_some_and(|other| other != 0 && other != face_number(face)) {
            return no(FORBIDDEN, "a program can only register routes to itself");
        }
        let cost = arguments.cost.unwrap_or(COST);
        match verb.as_str() {
            "register" => {
                let life = arguments.expiration_ms.map(|ms| Duration::from_millis(ms.min(1 << 40)));
                let expires = life.map_or(Time::NEVER, |life| now + life);
                let next = NextHop { face, cost };
                if !self.routes.add(prefix.view(), next, Maker::Program, expires, now) {
                    return no(FULL, "the maximum number of routes is reached");
                }
            }
            "unregister" => {
                if !self.routes.remove(prefix.view(), face, now) {
                    return no(NOT_FOUND, "there is no such route");
                }
            }
            _ => return no(NOT_IMPLEMENTED, "only rib/register and rib/unregister are supported"),
        }
        self.rerouted();
        let done = Arguments {
            face: Some(face_number(face)),
            origin: Some(arguments.origin.unwrap_or(0)),
            cost: (verb == "register").then_some(cost),
            flags: (verb == "register").then_some(arguments.flags.unwrap_or(CHILD_INHERIT)),
            ..arguments
        };
        Response { code: Response::OK, text: "OK".to_owned(), arguments: Some(done) }
    }

    /// The status, with a word and a number per line.
    pub fn status_text(&self) -> String {
        let stats = self.stats();
        let mut text = String::new();
        let mut line = |name: &str, value: u64| text.push_str(&format!("{name} {value}\n"));
        for what in stack::ndn::Tally::ALL {
            line(what.name(), stats.machine.count(what));
        }
        line("pending", stats.machine.pending);
        line("pending_peak", stats.machine.pending_peak);
        line("stored", stats.machine.stored);
        line("names", stats.names.0 as u64);
        line("bytes", stats.names.1 as u64);
        line("queued", stats.queued as u64);
        line("strangers", stats.strays.strangers);
        line("full", stats.strays.full);
        line("crowded", stats.strays.crowded);
        line("long_names", stats.strays.long_names);
        for (prefix, next, maker) in self.routes.list() {
            let from = if maker == Maker::Settings { "" } else { " of a program" };
            text.push_str(&format!(
                "route {prefix} face {} cost {}{from}\n",
                face_number(next.face),
                next.cost
            ));
        }
        for port in &stats.ports {
            let counts = &port.counts;
            text.push_str(&format!(
                "face {} in {} out {} pending {} refused {} dropped {} marked {} malformed {}\n",
                port.name,
                counts.frames_in,
                counts.frames_out,
                port.pending,
                counts.refused,
                counts.dropped,
                counts.marked,
                counts.malformed
            ));
        }
        text
    }
}

/// The face number in management packets, where 0 is no face.
fn face_number(face: FaceId) -> u64 {
    u64::from(face.0) + 1
}

/// Maximum length of a command's name in bytes: an answer that contains it twice fits into a packet.
const LONGEST_COMMAND: usize = 4000;
/// Maximum bytes of a status in a Data packet.
const LONGEST_STATUS: usize = 8000;
