//! System calls.

use super::{Drill, Judgement};
use crate::place::Place;
use crate::report::{Judged, Outcome};
use crate::script::{Call, What};
use crate::settings::Refusal;

/// Calls without an effect on what is judged here.
const IDLE: [&str; 22] = [
    "socket",
    "bind",
    "listen",
    "accept",
    "accept4",
    "fcntl",
    "poll",
    "ioctl",
    "getsockopt",
    "read",
    "readv",
    "recv",
    "recvfrom",
    "recvmsg",
    "epoll_create",
    "epoll_create1",
    "epoll_ctl",
    "epoll_wait",
    "pipe",
    "open",
    "getsockname",
    "sigaction",
];
/// Calls that write.
const WRITES: [&str; 7] = ["write", "writev", "send", "sendto", "sendmsg", "sendfile", "splice"];
/// Flags of calls that write which change what leaves.
const FLAGS: [&str; 5] = ["MSG_MORE", "MSG_EOR", "MSG_ZEROCOPY", "MSG_FASTOPEN", "MSG_OOB"];

/// Socket options without an effect here.
const IDLE_SOCKET_OPTIONS: [&str; 31] = [
    "SO_REUSEADDR",
    "SO_REUSEPORT",
    "SO_SNDBUF",
    "SO_SNDBUFFORCE",
    // its number, which packetdrill needs
    "32",
    "SO_RCVBUF",
    "SO_RCVBUFFORCE",
    "SO_RCVLOWAT",
    "SO_RCVTIMEO",
    "SO_SNDTIMEO",
    "SO_KEEPALIVE",
    "SO_PRIORITY",
    "SO_MARK",
    "SO_TIMESTAMPING",
    "SO_TIMESTAMP",
    "SO_TIMESTAMPNS",
    "SO_ERROR",
    "SO_ZEROCOPY",
    "SO_BINDTODEVICE",
    "IP_TOS",
    "IP_TTL",
    "IP_RECVERR",
    "IP_MTU_DISCOVER",
    "IPV6_MTU_DISCOVER",
    "IPV6_RECVERR",
    "IPV6_TCLASS",
    "TCP_QUICKACK",
    "TCP_NOTSENT_LOWAT",
    "TCP_INQ",
    "TCP_SYNCNT",
    "TCP_DEFER_ACCEPT",
];

impl Drill<'_> {
    /// Reads what the program sets on its socket before data flow: a controller, a maximum segment. Both are known when
    /// the connection opens.
    pub(super) fn look_ahead(&mut self) -> Result<(), Outcome> {
        let mut chosen: Option<String> = None;
        let mut wrote = false;
        for event in &self.script.events {
            let What::Call(call) = &event.what else { continue };
            wrote |= WRITES.contains(&call.name.as_str());
            if call.name != "setsockopt" || call.result.is_some_and(|result| result < 0) {
                continue;
            }
            let value = call.arguments.get(3).map_or("", |value| value.trim_matches(['[', ']', '"', ' ']));
            match call.arguments.get(2).map(String::as_str) {
                Some("TCP_CONGESTION") => {
                    let again = chosen.as_deref().is_some_and(|chosen| chosen != value);
                    if wrote || again {
                        let feature = "a controller that changes during the connection".to_owned();
                        return Err(Outcome::NotExpressible(event.place, feature));
                    }
                    if let Err(Refusal::Beyond(feature)) = self.settings.set_controller(value) {
                        return Err(Outcome::NotExpressible(event.place, feature));
                    }
                    chosen = Some(value.to_owned());
                }
                Some("TCP_MAXSEG") => match value.parse() {
                    Ok(limit) if limit > 0 => self.segment_limit = limit,
                    _ => {
                        let message = format!("`{value}` is no size of a segment");
                        return Err(Outcome::Invalid(event.place, message, "such as `[1000]`".to_owned()));
                    }
                },
                _ => {}
            }
        }
        Ok(())
    }

    pub(super) fn call(&mut self, place: Place, call: &Call) -> Judgement {
        let beyond = |feature: String| Err(Outcome::NotExpressible(place, feature));
        let descriptor = call.arguments.first();
        match call.name.as_str() {
            "listen" => {
                self.listener = descriptor.cloned();
                Ok(Judged::Skipped)
            }
            "connect" if self.connection.is_some() => Ok(Judged::Skipped),
            "connect" => {
                self.connect(place, true)?.start();
                Ok(Judged::Done)
            }
            "close" if descriptor == self.listener.as_ref() => Ok(Judged::Skipped),
            "shutdown" if call.arguments.get(1).is_some_and(|how| how == "SHUT_RD") => Ok(Judged::Skipped),
            "close" | "shutdown" => {
                self.closing = true;
                Ok(Judged::Skipped)
            }
            "setsockopt" => self.set_option(place, call),
            name if WRITES.contains(&name) => self.write(place, call),
            name if IDLE.contains(&name) => Ok(Judged::Skipped),
            name => beyond(format!("the system call `{name}`")),
        }
    }

    fn set_option(&mut self, place: Place, call: &Call) -> Judgement {
        let name = call.arguments.get(2).map_or("", String::as_str);
        let value = call.arguments.get(3).map_or("", |value| value.trim_matches(['[', ']', ' ']));
        match name {
            _ if call.result.is_some_and(|result| result < 0) => Ok(Judged::Skipped),
            "TCP_NODELAY" => {
                self.no_delay = value != "0";
                Ok(Judged::Skipped)
            }
            "TCP_CONGESTION" | "TCP_MAXSEG" => Ok(Judged::Done),
            _ if IDLE_SOCKET_OPTIONS.contains(&name) => Ok(Judged::Skipped),
            "SO_LINGER" => Ok(Judged::Skipped),
            "" => Err(Outcome::Invalid(
                place,
                "`setsockopt` names no option".to_owned(),
                "such as `setsockopt(4, SOL_TCP, TCP_NODELAY, [1], 4) = 0`".to_owned(),
            )),
            _ => Err(Outcome::NotExpressible(place, format!("the socket option `{name}`"))),
        }
    }

    /// The program writes as many bytes as the call returns.
    fn write(&mut self, place: Place, call: &Call) -> Judgement {
        if let Some(flag) = FLAGS.iter().find(|flag| call.arguments.iter().any(|text| text.contains(*flag))) {
            return Err(Outcome::NotExpressible(place, format!("the flag `{flag}`")));
        }
        let count = call.arguments.get(2).and_then(|count| count.parse::<u64>().ok());
        let bytes = match call.result {
            Some(result) => result.max(0) as u64,
            None => count.unwrap_or(0),
        };
        let (closing, no_delay) = (self.closing, self.no_delay);
        let Some(connection) = &mut self.connection else {
            let hint = "begin the connection with `< S 0:0(0) …`, or with `connect`".to_owned();
            return Err(Outcome::Invalid(
                place,
                "the program writes before there is a connection".to_owned(),
                hint,
            ));
        };
        if closing || bytes == 0 {
            return Ok(Judged::Skipped);
        }
        let state = connection.inspect();
        let partial = bytes % connection.config.segment.as_u64() > 0;
        connection.write(bytes);
        if partial && !no_delay && state.high > state.una {
            self.note("Nagle's algorithm is not part of this TCP: short segments leave at once");
        }
        Ok(Judged::Done)
    }
}
