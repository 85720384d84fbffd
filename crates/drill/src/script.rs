//! A script as data, and its text.

use std::fmt;

use units::Duration;

use crate::code::Statement;
use crate::place::Place;

/// A script: options, a head of settings, events.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Script {
    /// Lines such as `--tolerance_usecs=20000`.
    pub options: Vec<Setting>,
    /// The shell commands before the first event.
    pub head: Vec<Shell>,
    /// What happens, in order.
    pub events: Vec<Event>,
}

/// A name with a value.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// Its place.
    pub place: Place,
    /// The name.
    pub name: String,
    /// The value, empty for a name without one.
    pub value: String,
}

/// Shell commands between backticks.
#[derive(Clone, Debug, PartialEq)]
pub struct Shell {
    /// The place of the first character of the commands.
    pub place: Place,
    /// The commands.
    pub text: String,
}

/// Something that happens at a time.
#[derive(Clone, Debug, PartialEq)]
pub struct Event {
    /// Its place.
    pub place: Place,
    /// When.
    pub when: When,
    /// What.
    pub what: What,
}

/// The time of an event.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    /// `*`: whenever.
    Any,
    /// `0.1`: this long after the start.
    At(Duration),
    /// `+.1`: this long after the last event.
    After(Duration),
    /// `0.1~0.2`: between these times.
    Between(Duration, Duration),
    /// `+.1~+.2`: between these times after the last event.
    AfterBetween(Duration, Duration),
    /// `0.1...0.2`: a system call begins at the first time and returns at the second.
    Blocks(Duration, Duration),
    /// `+.1...0.2`: a system call, at these times after the last event.
    AfterBlocks(Duration, Duration),
}

/// What happens.
#[derive(Clone, Debug, PartialEq)]
pub enum What {
    /// A packet arrives (`<`) or must leave (`>`).
    Packet(Direction, Packet),
    /// The program makes a system call.
    Call(Call),
    /// Assertions, with their text.
    Code(String, Vec<Statement>),
    /// Shell commands.
    Shell(Shell),
    /// A line of packetdrill's language that this drill cannot express: its text, and the feature that is missing.
    Beyond(String, String),
}

/// The direction of a packet, as seen by the TCP that is drilled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Direction {
    /// `<`: it arrives.
    In,
    /// `>`: it leaves.
    Out,
}

/// A TCP packet.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Packet {
    /// Words in brackets, such as `ect0`.
    pub marks: Vec<String>,
    /// Flags.
    pub flags: Flags,
    /// First byte of the payload; relative, so that the SYN has 0 and the first byte of data 1.
    pub start: u64,
    /// One past its last byte.
    pub end: u64,
    /// Next byte expected.
    pub ack: Option<u64>,
    /// The window field, not scaled.
    pub window: Option<u32>,
    /// Options; `None` for `<...>`, which stands for any.
    pub options: Option<Vec<TcpOption>>,
}

impl Packet {
    /// Length of its payload in bytes.
    pub const fn len(&self) -> u64 {
        self.end - self.start
    }

    /// Whether it has no payload.
    pub const fn is_empty(&self) -> bool {
        self.end == self.start
    }

    /// Its options, none of which is known if any are allowed.
    pub fn options(&self) -> &[TcpOption] {
        self.options.as_deref().unwrap_or_default()
    }

    /// The selective acknowledgements.
    pub fn blocks(&self) -> &[(u64, u64)] {
        let find = |option: &'_ TcpOption| matches!(option, TcpOption::Sack(_));
        match self.options().iter().find(|option| find(option)) {
            Some(TcpOption::Sack(blocks)) => blocks,
            _ => &[],
        }
    }

    /// The counters of its option of accurate ECN feedback, by name.
    pub fn counters(&self) -> &[(String, u32)] {
        let found = self.options().iter().find_map(|option| match option {
            TcpOption::AccEcn(counters) => Some(counters.as_slice()),
            _ => None,
        });
        found.unwrap_or_default()
    }

    /// Value and echo of the time stamps.
    pub fn time_stamps(&self) -> Option<(u32, u32)> {
        self.options().iter().find_map(|option| match option {
            TcpOption::TimeStamps(value, echo) => Some((*value, *echo)),
            _ => None,
        })
    }
}

/// Flags of a TCP packet.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Flags {
    /// `F`
    pub fin: bool,
    /// `S`
    pub syn: bool,
    /// `R`
    pub rst: bool,
    /// `P`
    pub psh: bool,
    /// `.`
    pub ack: bool,
    /// `U`
    pub urg: bool,
    /// The bits AE (`A`), CWR (`W`) and ECE (`E`), ECE in the lowest bit; also written as one digit [RFC9768 §3.1].
    pub ace: u8,
}

/// A TCP option.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum TcpOption {
    /// `mss 1460`
    Mss(u16),
    /// `nop`
    Nop,
    /// `eol`
    Eol,
    /// `wscale 7`
    WindowScale(u8),
    /// `sackOK`
    SackPermitted,
    /// `sack 1001:2001 3001:4001`
    Sack(Vec<(u64, u64)>),
    /// `TS val 100 ecr 200`
    TimeStamps(u32, u32),
    /// `ECN e1b 1 ceb 0 e0b 1`: counters of bytes [RFC9768 §3.2.3].
    AccEcn(Vec<(String, u32)>),
    /// Another one, with its text.
    Other(String),
}

/// A system call.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Call {
    /// Its name.
    pub name: String,
    /// Its arguments as written, with single spaces.
    pub arguments: Vec<String>,
    /// Its result; `None` for `...`.
    pub result: Option<i64>,
    /// The name of the error, such as `EAGAIN`.
    pub error: Option<String>,
}

/// Writes seconds without trailing zeros.
fn seconds(time: Duration, f: &mut fmt::Formatter<'_>) -> fmt::Result {
    let nanos = time.as_nanos();
    let (whole, part) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
    write!(f, "{whole}")?;
    if part > 0 {
        write!(f, ".{}", format!("{part:09}").trim_end_matches('0'))?;
    }
    Ok(())
}

impl fmt::Display for When {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (sign, from, between, to) = match *self {
            Self::Any => return f.write_str("*"),
            Self::At(at) => return seconds(at, f),
            Self::After(at) => ("+", at, "", None),
            Self::Between(from, to) => ("", from, "~", Some(to)),
            Self::AfterBetween(from, to) => ("+", from, "~+", Some(to)),
            Self::Blocks(from, to) => ("", from, "...", Some(to)),
            Self::AfterBlocks(from, to) => ("+", from, "...", Some(to)),
        };
        f.write_str(sign)?;
        seconds(from, f)?;
        match to {
            Some(to) => {
                f.write_str(between)?;
                seconds(to, f)
            }
            None => Ok(()),
        }
    }
}

impl fmt::Display for Flags {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let letters = [
            (self.fin, "F"),
            (self.syn, "S"),
            (self.rst, "R"),
            (self.ace & 0b001 > 0, "E"),
            (self.ace & 0b010 > 0, "W"),
            (self.ace & 0b100 > 0, "A"),
            (self.psh, "P"),
            (self.urg, "U"),
            (self.ack, "."),
        ];
        if letters.iter().all(|letter| !letter.0) {
            return f.write_str("-");
        }
        letters.iter().filter(|letter| letter.0).try_for_each(|letter| f.write_str(letter.1))
    }
}

impl fmt::Display for TcpOption {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Mss(mss) => write!(f, "mss {mss}"),
            Self::Nop => f.write_str("nop"),
            Self::Eol => f.write_str("eol"),
            Self::WindowScale(scale) => write!(f, "wscale {scale}"),
            Self::SackPermitted => f.write_str("sackOK"),
            Self::Sack(blocks) => {
                f.write_str("sack")?;
                blocks.iter().try_for_each(|(start, end)| write!(f, " {start}:{end}"))
            }
            Self::TimeStamps(value, echo) => write!(f, "TS val {value} ecr {echo}"),
            Self::AccEcn(counters) => {
                f.write_str("ECN")?;
                counters.iter().try_for_each(|(name, bytes)| write!(f, " {name} {bytes}"))
            }
            Self::Other(text) => f.write_str(text),
        }
    }
}

impl fmt::Display for Packet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.marks.is_empty() {
            write!(f, "[{}] ", self.marks.join(", "))?;
        }
        write!(f, "{} {}:{}({})", self.flags, self.start, self.end, self.len())?;
        if let Some(ack) = self.ack {
            write!(f, " ack {ack}")?;
        }
        if let Some(window) = self.window {
            write!(f, " win {window}")?;
        }
        match self.options.as_deref() {
            None => f.write_str(" <...>"),
            Some([]) => Ok(()),
            Some(options) => {
                let texts: Vec<_> = options.iter().map(TcpOption::to_string).collect();
                write!(f, " <{}>", texts.join(","))
            }
        }
    }
}

impl fmt::Display for Call {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}({}) = ", self.name, self.arguments.join(", "))?;
        match self.result {
            Some(result) => write!(f, "{result}")?,
            None => f.write_str("...")?,
        }
        self.error.iter().try_for_each(|error| write!(f, " {error}"))
    }
}

impl fmt::Display for What {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Packet(Direction::In, packet) => write!(f, "< {packet}"),
            Self::Packet(Direction::Out, packet) => write!(f, "> {packet}"),
            Self::Call(call) => call.fmt(f),
            Self::Code(text, _) => write!(f, "%{{{text}}}%"),
            Self::Shell(shell) => write!(f, "`{}`", shell.text),
            Self::Beyond(text, _) => f.write_str(text),
        }
    }
}

impl fmt::Display for Script {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Setting { name, value, .. } in &self.options {
            if value.is_empty() { writeln!(f, "--{name}")? } else { writeln!(f, "--{name}={value}")? }
        }
        self.head.iter().try_for_each(|shell| writeln!(f, "`{}`", shell.text))?;
        self.events.iter().try_for_each(|event| writeln!(f, "{} {}", event.when, event.what))
    }
}
