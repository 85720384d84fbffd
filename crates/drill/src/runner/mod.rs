//! The execution of a script in virtual time.
//!
//! Rules that a real host does not need, because there is no clock and no other end here:
//!
//! - **Order.** Timers that expire before an event come before it; timers of the same instant come after it, as on a
//!   host, where timers are late.
//! - **Relative times** count from the last event; after a packet that leaves, from its departure.
//! - **The other end** is read from the first packet with SYN that arrives in the script: its options also hold where
//!   this end opens.
//! - **Echoes of time stamps** are in the script. Where it has none, an arriving acknowledgement echoes what an honest
//!   receiver would [RFC7323 §4.3], of the last transmission that can have arrived within the minimum round-trip time.
//! - **Not compared**: PSH, urgent data, windows, options other than SACK, ECN of acknowledgements without payload.
//! - **The end of a connection** has no equivalent: lines with FIN are skipped, and the script can still pass.

mod calls;
mod compare;

use std::collections::BTreeMap;

use contract::Ecn;
use units::{Duration, Time};

use crate::code::{self, Failure, Statement, Value};
use crate::connection::{Arrival, Connection, Kind};
use crate::info::{self, Info};
use crate::place::Place;
use crate::report::{Judged, Line, Outcome, Report};
use crate::script::{Direction, Event, Packet, Script, Setting, TcpOption, What, When};
use crate::settings::{Agreed, Refusal, Settings};
use crate::shell::{self, Unfollowed};
use crate::{Options, Problem};

/// Executes a script.
pub fn drill(script: &Script, options: &Options) -> Report {
    let mut drill = Drill {
        script,
        options,
        settings: Settings::new(options),
        connection: None,
        now: Time::ZERO,
        variables: BTreeMap::new(),
        listener: None,
        segment_limit: u64::MAX,
        no_delay: false,
        first_tick: None,
        closing: false,
        closed_there: false,
        reset: false,
        lines: Vec::new(),
        notes: Vec::new(),
        packets: 0,
        assertions: 0,
    };
    let outcome = match drill.run() {
        Err(outcome) => outcome,
        Ok(()) if drill.packets + drill.assertions == 0 => {
            let place = script.events.first().map_or(Place { line: 1, column: 1 }, |event| event.place);
            Outcome::NotExpressible(place, "nothing in this script is judged here".to_owned())
        }
        Ok(()) => Outcome::Pass,
    };
    Report {
        outcome,
        scheme: drill.settings.scheme,
        lines: drill.lines,
        packets: drill.packets,
        assertions: drill.assertions,
        notes: drill.notes,
    }
}

/// A script that is executed.
struct Drill<'a> {
    script: &'a Script,
    options: &'a Options,
    settings: Settings,
    connection: Option<Connection>,
    now: Time,
    /// What assertions have assigned.
    variables: BTreeMap<String, Value>,
    /// The descriptor of the listening socket.
    listener: Option<String>,
    /// Maximum payload of a segment that the program set.
    segment_limit: u64,
    /// The program turned off Nagle's algorithm, which does not exist here.
    no_delay: bool,
    /// The value of the time stamp of the SYN or SYN-ACK that left.
    first_tick: Option<u32>,
    /// The program has closed the connection.
    closing: bool,
    /// The other end has.
    closed_there: bool,
    /// The other end has reset it.
    reset: bool,
    lines: Vec<Line>,
    notes: Vec<String>,
    packets: u32,
    assertions: u32,
}

/// How an event ended: how it was judged, or why the script ends.
type Judgement = Result<Judged, Outcome>;

impl Drill<'_> {
    fn run(&mut self) -> Result<(), Outcome> {
        let script = self.script;
        for option @ Setting { name, value, .. } in &script.options {
            self.settings.set_option(name, value).map_err(|refusal| refused(option, refusal))?;
        }
        for shell in &script.head {
            shell::follow(shell, &mut self.settings).map_err(unfollowed)?;
        }
        self.look_ahead()?;
        for (number, event) in script.events.iter().enumerate() {
            let judged = self.event(number, event);
            let at = self.now.saturating_since(Time::ZERO);
            self.lines.push(Line {
                place: event.place,
                text: event.what.to_string(),
                at,
                judged: *judged.as_ref().unwrap_or(&Judged::Wrong),
                window: self.connection.as_ref().map(info::window),
            });
            judged?;
        }
        Ok(())
    }

    fn event(&mut self, number: usize, event: &Event) -> Judgement {
        if let What::Packet(Direction::Out, packet) = &event.what {
            return self.departure(event, packet);
        }
        let at = match event.when {
            When::Any => self.now,
            When::At(at) | When::Between(at, _) | When::Blocks(at, _) => Time::ZERO + at,
            When::After(after) | When::AfterBetween(after, _) | When::AfterBlocks(after, _) => {
                self.now + after
            }
        };
        self.now = self.now.max(at);
        if let Some(connection) = &mut self.connection {
            connection.run_before(self.now);
        }
        match &event.what {
            What::Packet(_, packet) => self.arrival(event.place, packet),
            What::Call(call) => self.call(event.place, call),
            What::Code(_, statements) => self.code(statements),
            What::Shell(shell) => {
                if !self.script.events[number..].iter().any(|event| self.is_judged(event)) {
                    return Ok(Judged::Skipped);
                }
                let mut changed = self.settings.clone();
                shell::follow(shell, &mut changed).map_err(unfollowed)?;
                if self.connection.is_none() {
                    self.settings = changed;
                } else if changed != self.settings {
                    let feature = "a setting that changes while the connection is open".to_owned();
                    return Err(Outcome::NotExpressible(shell.place, feature));
                }
                Ok(Judged::Skipped)
            }
            What::Beyond(_, feature) => Err(Outcome::NotExpressible(event.place, feature.clone())),
        }
    }

    /// Whether something in an event is compared.
    fn is_judged(&self, event: &Event) -> bool {
        matches!(event.what, What::Packet(Direction::Out, _) | What::Code(..))
    }

    fn note(&mut self, note: &str) {
        if !self.notes.iter().any(|known| known == note) {
            self.notes.push(note.to_owned());
        }
    }

    // ---- the connection

    /// Makes a connection from the first packet with SYN of the other end.
    fn connect(&mut self, place: Place, active: bool) -> Result<&mut Connection, Outcome> {
        let theirs = self.script.events.iter().find_map(|event| match &event.what {
            What::Packet(Direction::In, packet) if packet.flags.syn => Some(packet),
            _ => None,
        });
        let Some(theirs) = theirs else {
            let feature = "a connection that the other end never answers".to_owned();
            return Err(Outcome::NotExpressible(place, feature));
        };
        let agreed = self.agree(theirs, active);
        if agreed.segment == 0 {
            let message = "a segment has no space for data".to_owned();
            return Err(Outcome::Invalid(place, message, "`mss` is above 12".to_owned()));
        }
        let mut connection = Connection::new(&self.settings, self.options, agreed, active)
            .map_err(|message| Outcome::Invalid(place, message, String::new()))?;
        connection.now = self.now;
        Ok(self.connection.insert(connection))
    }

    fn agree(&self, theirs: &Packet, active: bool) -> Agreed {
        let has = |wanted: TcpOption| theirs.options().contains(&wanted);
        let mss = theirs.options().iter().find_map(|option| match option {
            TcpOption::Mss(mss) => Some(u64::from(*mss)),
            _ => None,
        });
        let window_scale = theirs.options().iter().find_map(|option| match option {
            TcpOption::WindowScale(scale) => Some(*scale),
            _ => None,
        });
        let time_stamps = self.settings.time_stamps && theirs.time_stamps().is_some();
        let whole = mss.unwrap_or(DEFAULT_MSS).min(OUR_MSS).min(self.segment_limit);
        // nothing leaves before this packet
        let first = self.script.events.iter().find_map(|event| match &event.what {
            What::Packet(Direction::In, packet) if !packet.flags.syn => packet.window,
            _ => None,
        });
        let first = first.filter(|_| !active).map(|window| u64::from(window) << window_scale.unwrap_or(0));
        Agreed {
            segment: whole.saturating_sub(if time_stamps { TIME_STAMPS } else { 0 }),
            window: first.unwrap_or_else(|| u64::from(theirs.window.unwrap_or(u32::from(u16::MAX)))),
            window_scale: window_scale.unwrap_or(0),
            sack: self.settings.sack && has(TcpOption::SackPermitted),
            time_stamps,
            ecn: if active {
                self.settings.ecn_answered(theirs.flags.ace)
            } else {
                self.settings.ecn_accepted(theirs.flags.ace)
            },
        }
    }

    // ---- packets that arrive

    fn arrival(&mut self, place: Place, packet: &Packet) -> Judgement {
        let beyond = |feature: &str| Err(Outcome::NotExpressible(place, feature.to_owned()));
        if packet.flags.rst {
            self.reset = true;
            self.note("a reset ends the connection, which is not judged");
            return Ok(Judged::Skipped);
        }
        if packet.flags.syn && !packet.flags.ack {
            if self.connection.is_some() {
                return beyond("a repeated SYN, or one while this end opens as well");
            }
            if !packet.is_empty() {
                return beyond("data in a SYN");
            }
            let arrival = Arrival { syn: true, ..Arrival::default() };
            let connection = self.connect(place, false)?;
            connection.arrive(&arrival, None);
            connection.start();
            return Ok(Judged::Done);
        }
        let Some(connection) = &mut self.connection else {
            return beyond("packets outside of a connection, which begins with `< S 0:0(0) …` or `connect`");
        };
        let Some(ack) = packet.ack else {
            return beyond("a packet without an acknowledgement number");
        };
        // the FIN that left is not part of the data
        let limit = if self.closing { connection.inspect().high } else { u64::MAX };
        let ack = ack.saturating_sub(1).min(limit);
        let scale = if packet.flags.syn { 0 } else { connection.agreed.window_scale };
        let window = packet.window.map(|window| (u64::from(window) << scale).min(u64::from(u32::MAX)) as u32);
        let stamps = packet.time_stamps().filter(|_| connection.agreed.time_stamps);
        let echo = stamps.map(|(_, echo)| echo);
        let echoed = self.first_tick.zip(echo).and_then(|(first, echo)| {
            echo.checked_sub(first).map(|ticks| connection.sent_at_tick(ticks, self.settings.tick))
        });
        let arrival = Arrival {
            syn: packet.flags.syn,
            psh: packet.flags.psh,
            ace: packet.flags.ace,
            ecn: ecn(packet),
            start: packet.start.saturating_sub(1),
            len: packet.len(),
            ack: Some(ack),
            blocks: packet.blocks().iter().map(|block| (block.0.saturating_sub(1), block.1 - 1)).collect(),
            window,
            time_stamp: stamps.map(|(value, _)| value),
            counters: packet.counters().to_vec(),
        };
        connection.arrive(&arrival, echoed);
        if packet.flags.fin {
            self.closed_there = true;
            self.note(NO_END);
        }
        Ok(Judged::Done)
    }

    // ---- packets that leave

    fn departure(&mut self, event: &Event, packet: &Packet) -> Judgement {
        let place = event.place;
        let beyond = |feature: &str| Err(Outcome::NotExpressible(place, feature.to_owned()));
        if packet.flags.rst || self.reset {
            return beyond("what happens at and after a reset");
        }
        let times = Times::new(event.when, self.now, &self.settings);
        let Some(connection) = &mut self.connection else {
            return beyond("packets without a connection");
        };
        let ends = packet.flags.fin && self.closing;
        let answers_end = self.closed_there
            && packet.is_empty()
            && packet.ack.is_some_and(|ack| ack == connection.expected() + 2);
        if (ends && packet.is_empty()) || answers_end {
            // no other packet may leave in its place
            if let Some(other) = connection.waiting.front() {
                return Err(Outcome::Fail(place, format!("{} left instead", compare::describe(other))));
            }
            self.now = self.now.max(times.from);
            connection.run_before(self.now);
            self.note(NO_END);
            return Ok(Judged::Skipped);
        }
        let result = compare::departs(connection, packet, &times);
        self.now = self.now.max(connection.now);
        match result {
            Ok(kind) => {
                if let Some((value, _)) = packet.time_stamps()
                    && kind == Kind::Open
                {
                    self.first_tick.get_or_insert(value);
                }
                self.packets += 1;
                Ok(Judged::Right)
            }
            Err(message) => Err(Outcome::Fail(place, message)),
        }
    }

    // ---- assertions

    fn code(&mut self, statements: &[Statement]) -> Judgement {
        if self.reset && !statements.is_empty() {
            let feature = "what happens at and after a reset".to_owned();
            return Err(Outcome::NotExpressible(statements[0].place, feature));
        }
        let info = Info { connection: self.connection.as_ref() };
        match code::run(statements, &mut self.variables, &info) {
            Ok(0) => Ok(Judged::Done),
            Ok(held) => {
                self.assertions += held;
                Ok(Judged::Right)
            }
            Err(Failure::False(place, message)) => Err(Outcome::Fail(place, message)),
            Err(Failure::Beyond(place, feature)) => Err(Outcome::NotExpressible(place, feature)),
            Err(Failure::Wrong(place, message, hint)) => Err(Outcome::Invalid(place, message, hint)),
        }
    }
}

/// The times at which a packet may leave.
pub(crate) struct Times {
    /// The time that the script says.
    pub(crate) from: Time,
    /// The end of its range.
    pub(crate) to: Time,
    /// The deviation that is accepted.
    pub(crate) tolerance: Duration,
    /// Any time is accepted.
    pub(crate) any: bool,
}

impl Times {
    fn new(when: When, now: Time, settings: &Settings) -> Self {
        let (from, to) = match when {
            When::Any => (now, now + LONGEST_WAIT),
            When::At(at) => (Time::ZERO + at, Time::ZERO + at),
            When::After(after) => (now + after, now + after),
            When::Between(from, to) | When::Blocks(from, to) => (Time::ZERO + from, Time::ZERO + to),
            When::AfterBetween(from, to) | When::AfterBlocks(from, to) => (now + from, now + to),
        };
        let share = from.saturating_since(now).scaled(settings.tolerance_percent / 100.0);
        Self { from, to, tolerance: settings.tolerance.max(share), any: when == When::Any }
    }
}

/// The mark of a packet.
fn ecn(packet: &Packet) -> Ecn {
    packet.marks.iter().fold(Ecn::NotCapable, |ecn, mark| match mark.as_str() {
        "ect0" | "ect01" => Ecn::Capable,
        "ect1" => Ecn::CapableL4s,
        "ce" => Ecn::Marked,
        _ => ecn,
    })
}

fn refused(option: &Setting, refusal: Refusal) -> Outcome {
    let Setting { place, name, value } = option;
    match refusal {
        Refusal::Unknown(hint) => Outcome::Invalid(*place, format!("the option `--{name}` is unknown"), hint),
        Refusal::Wrong(hint) => {
            Outcome::Invalid(*place, format!("`{value}` is no value of `--{name}`"), hint)
        }
        Refusal::Beyond(feature) => Outcome::NotExpressible(*place, feature),
    }
}

fn unfollowed(unfollowed: Unfollowed) -> Outcome {
    match unfollowed {
        Unfollowed::Wrong(Problem { place, message, hint }) => Outcome::Invalid(place, message, hint),
        Unfollowed::Beyond(place, feature) => Outcome::NotExpressible(place, feature),
    }
}

/// The payload of a segment for a host that says nothing [RFC9293 §3.7.1].
const DEFAULT_MSS: u64 = 536;
/// The payload of a segment on an Ethernet with IPv4.
const OUR_MSS: u64 = 1460;
/// The option with time stamps, in bytes.
const TIME_STAMPS: u64 = 12;
/// How long a packet with `*` is waited for.
const LONGEST_WAIT: Duration = Duration::from_secs(60);
/// A note.
const NO_END: &str = "the end of the connection is not judged: this TCP has no FIN";
