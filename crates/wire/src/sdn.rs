//! Messages between an SDN controller and the agents at forwarders, over a QUIC connection that the agent opens.
//!
//! On the connection's first bidirectional stream the agent sends an [`Attach`], and the controller a [`Task`]; each
//! ends its direction of the stream. Ports and prefixes have the numbers of the controller's network; the task maps
//! them to links and names for the agent. Everything else is one [`ControlMessage`] per DATAGRAM frame [RFC9221], which
//! can be lost: `stack::sdn` retransmits what must arrive.

use contract::{Command, Control, Hop, Hops, Label, NameId, NodeId, PortId, Share, Status};
use units::{Duration, Rate, Time};

use crate::ndn::{Name, NameView};
use crate::reader::{Malformed, Reader, TEXT, put_text};

/// The application protocol of the connection (ALPN, RFC 7301).
pub const ALPN: &[u8] = b"thalweg-sdn/1";
/// Bytes of the number that identifies a process of an agent.
pub const INSTANCE: usize = 16;

/// Identification of an agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Attach {
    /// A random number of the agent's process, by which its controller notices a restart.
    pub instance: [u8; INSTANCE],
    /// The node, by its name in the controller's network; at most [`TEXT`] bytes.
    pub node: String,
}

impl Attach {
    /// Maximum bytes of an encoded identification.
    pub const LONGEST: usize = INSTANCE + 1 + TEXT;

    /// Appends the encoding.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.instance);
        put_text(&self.node, out);
    }

    /// Reads all of `bytes`.
    ///
    /// # Errors
    ///
    /// They are no identification.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::of(bytes);
        let attach = Self { instance: from.array()?, node: from.text()? };
        from.end(attach)
    }
}

/// A message between the state machines of controller and agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ControlMessage {
    /// When it was sent, by its sender's clock.
    pub sent_at: Time,
    /// The number of the message, or shares of traffic.
    pub label: Label,
    /// The message.
    pub frame: Control,
}

/// The configuration of an agent, with the meaning of the controller's numbers.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Task {
    /// Time between two statuses of a port.
    pub period: Duration,
    /// Time from the start of the agent to the first period.
    pub phase: Duration,
    /// Load threshold of signals, in millionths; `None` for no signals.
    pub signal_above: Option<u32>,
    /// Time between two decisions on signals; `None` for one with each status.
    pub detection: Option<Duration>,
    /// The node's ports, with the names of their links; at most [`Task::PORTS`].
    pub ports: Vec<(PortId, String)>,
    /// Prefixes of producers; at most [`Task::PREFIXES`].
    pub prefixes: Vec<Prefix>,
}

/// A prefix of a producer.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Prefix {
    /// Its number, below [`Prefix::NUMBERS`].
    pub id: NameId,
    /// Its name.
    pub name: Name,
    /// Configured next hops of the node, without commands; at most 255.
    pub hops: Vec<Hop>,
}

impl Prefix {
    /// Numbers of prefixes are below this, because they share a field with numbers of nodes, see [`Share::pack`].
    pub const NUMBERS: u32 = 1 << 31;
}

/// Flags of an encoded task: fields that are there.
const SIGNALS: u8 = 1;
const DETECTION: u8 = 2;

impl Task {
    /// Maximum ports of a node.
    pub const PORTS: usize = 4096;
    /// Maximum prefixes.
    pub const PREFIXES: usize = 4096;

    /// Maximum bytes of an encoded task.
    pub const LONGEST: usize = 1 << 20;

    /// Whether it keeps to the bounds of each field and of the whole.
    pub fn fits(&self) -> bool {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        bytes.len() <= Self::LONGEST
            && self.ports.len() <= Self::PORTS
            && self.prefixes.len() <= Self::PREFIXES
            && self.ports.iter().all(|(_, name)| name.len() <= TEXT)
            && self.prefixes.iter().all(|prefix| {
                prefix.hops.len() <= usize::from(u8::MAX)
                    && prefix.id.0 < Prefix::NUMBERS
                    && prefix.name.view().bytes().len() <= usize::from(u16::MAX)
            })
    }

    /// Appends the encoding.
    pub fn write(&self, out: &mut Vec<u8>) {
        let flag = |is_set: bool, flag: u8| if is_set { flag } else { 0 };
        out.push(flag(self.signal_above.is_some(), SIGNALS) | flag(self.detection.is_some(), DETECTION));
        out.extend_from_slice(&self.period.as_nanos().to_be_bytes());
        out.extend_from_slice(&self.phase.as_nanos().to_be_bytes());
        if let Some(above) = self.signal_above {
            out.extend_from_slice(&above.to_be_bytes());
        }
        if let Some(detection) = self.detection {
            out.extend_from_slice(&detection.as_nanos().to_be_bytes());
        }
        out.extend_from_slice(&(self.ports.len() as u16).to_be_bytes());
        for (port, name) in &self.ports {
            out.extend_from_slice(&port.0.to_be_bytes());
            put_text(name, out);
        }
        out.extend_from_slice(&(self.prefixes.len() as u16).to_be_bytes());
        for Prefix { id, name, hops } in &self.prefixes {
            out.extend_from_slice(&id.0.to_be_bytes());
            let name = name.view().bytes();
            out.extend_from_slice(&(name.len() as u16).to_be_bytes());
            out.extend_from_slice(name);
            write_hops(hops, out);
        }
    }

    /// Reads all of `bytes`.
    ///
    /// # Errors
    ///
    /// They are no task.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut from = Reader::of(bytes);
        let flags = from.byte()?;
        if flags & !(SIGNALS | DETECTION) != 0 {
            return Err(Malformed::Flags);
        }
        let (period, phase) = (from.duration()?, from.duration()?);
        let signal_above = if flags & SIGNALS != 0 { Some(from.u32()?) } else { None };
        let detection = if flags & DETECTION != 0 { Some(from.duration()?) } else { None };
        let count = from.count(Self::PORTS)?;
        // memory is allocated for received entries, not for the announced count
        let mut ports = Vec::new();
        for _ in 0..count {
            ports.push((PortId(from.u32()?), from.text()?));
        }
        let count = from.count(Self::PREFIXES)?;
        let mut prefixes = Vec::new();
        for _ in 0..count {
            let id = read_prefix(&mut from)?;
            let length = usize::from(from.u16()?);
            let name = NameView::read(from.take(length)?).map_err(|_| Malformed::Value)?.to_name();
            prefixes.push(Prefix { id, name, hops: read_hops(usize::from(u8::MAX), &mut from)? });
        }
        if period == Duration::ZERO || detection == Some(Duration::ZERO) {
            return Err(Malformed::Value);
        }
        from.end(Self { period, phase, signal_above, detection, ports, prefixes })
    }
}

impl ControlMessage {
    /// Appends the encoding.
    pub fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.sent_at.as_nanos().to_be_bytes());
        self.label.0.iter().for_each(|frame| out.extend_from_slice(&frame.to_be_bytes()));
        match &self.frame {
            Control::Status(status) => {
                out.push(0);
                out.extend_from_slice(&status.port.0.to_be_bytes());
                out.extend_from_slice(&status.rate.as_bps().to_be_bytes());
                for number in [status.load, status.occupancy, status.backlog] {
                    out.extend_from_slice(&number.to_be_bytes());
                }
                out.extend_from_slice(&status.shares.to_be_bytes());
            }
            Control::Shares { port, count } => {
                out.push(1);
                out.extend_from_slice(&port.0.to_be_bytes());
                out.push(*count);
            }
            Control::Signal { port } => {
                out.push(2);
                out.extend_from_slice(&port.0.to_be_bytes());
            }
            Control::Command(command) => {
                out.push(3);
                write_command(command, out);
            }
            Control::Ack => out.push(4),
            Control::Hello => out.push(5),
            Control::Installed(command) => {
                out.push(6);
                write_command(command, out);
            }
            Control::StateComplete { installed } => {
                out.push(7);
                out.extend_from_slice(&installed.to_be_bytes());
            }
        }
    }

    /// Reads all of `bytes`.
    ///
    /// # Errors
    ///
    /// They are no message.
    pub fn read(bytes: &[u8]) -> Result<Self, Malformed> {
        let from = &mut Reader::of(bytes);
        let (sent_at, label) = (from.time()?, from.label()?);
        let frame = match from.byte()? {
            0 => Control::Status(Status {
                port: PortId(from.u32()?),
                rate: Rate::from_bps(from.u64()?),
                load: from.u32()?,
                occupancy: from.u32()?,
                backlog: from.u32()?,
                shares: from.u16()?,
            }),
            1 => Control::Shares { port: PortId(from.u32()?), count: from.byte()? },
            2 => Control::Signal { port: PortId(from.u32()?) },
            3 => Control::Command(read_command(from)?),
            4 => Control::Ack,
            5 => Control::Hello,
            6 => Control::Installed(read_command(from)?),
            7 => Control::StateComplete { installed: from.u32()? },
            _ => return Err(Malformed::Value),
        };
        match frame {
            Control::Shares { count, .. } if usize::from(count) > Share::IN_A_LABEL => Err(Malformed::Value),
            frame => from.end(Self { sent_at, label, frame }),
        }
    }
}

fn write_command(command: &Command, out: &mut Vec<u8>) {
    let mut put = |code: u8, numbers: &[u32]| {
        out.push(code);
        numbers.iter().for_each(|number| out.extend_from_slice(&number.to_be_bytes()));
    };
    match command {
        Command::NextHops { prefix, hops } => {
            put(0, &[prefix.0]);
            write_hops(hops.list(), out);
        }
        Command::Route { to, via } => put(1, &[to.0, via.0]),
        Command::Queue { port, limit, mark_above } => put(2, &[port.0, *limit, *mark_above]),
        Command::Cap { port, rate } => {
            put(3, &[port.0]);
            out.extend_from_slice(&rate.as_bps().to_be_bytes());
        }
    }
}

fn read_command(from: &mut Reader<'_>) -> Result<Command, Malformed> {
    Ok(match from.byte()? {
        0 => Command::NextHops { prefix: read_prefix(from)?, hops: Hops::new(&read_hops(Hops::MAX, from)?) },
        1 => Command::Route { to: NodeId(from.u32()?), via: PortId(from.u32()?) },
        2 => Command::Queue { port: PortId(from.u32()?), limit: from.u32()?, mark_above: from.u32()? },
        3 => Command::Cap { port: PortId(from.u32()?), rate: Rate::from_bps(from.u64()?) },
        _ => return Err(Malformed::Value),
    })
}

fn read_prefix(from: &mut Reader<'_>) -> Result<NameId, Malformed> {
    let number = from.u32()?;
    if number < Prefix::NUMBERS { Ok(NameId(number)) } else { Err(Malformed::Value) }
}

fn write_hops(hops: &[Hop], out: &mut Vec<u8>) {
    let hops = &hops[..hops.len().min(usize::from(u8::MAX))];
    out.push(hops.len() as u8);
    for hop in hops {
        out.extend_from_slice(&hop.port.0.to_be_bytes());
        out.extend_from_slice(&hop.cost.to_be_bytes());
    }
}

fn read_hops(max: usize, from: &mut Reader<'_>) -> Result<Vec<Hop>, Malformed> {
    let count = usize::from(from.byte()?);
    if count > max {
        return Err(Malformed::Length);
    }
    let mut hops = Vec::new();
    for _ in 0..count {
        let hop = Hop { port: PortId(from.u32()?), cost: from.u32()? };
        // that number is no port's
        if hop.port.0 == u32::MAX {
            return Err(Malformed::Value);
        }
        hops.push(hop);
    }
    Ok(hops)
}

#[cfg(test)]
mod tests;
