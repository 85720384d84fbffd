//! Messages of an SDN controller and the agents at real forwarders, as bodies of datagrams.
//!
//! Ports and prefixes have the numbers of the controller's network; the [`Task`] maps them to links and names for the agent.

use contract::{Command, Control, Hop, Hops, Label, NameId, NodeId, PortId, Share, Status};
use units::{Duration, Rate, Time};

use super::offer;
use super::read::{Malformed, Reader};
use crate::ndn::{Name, NameView};

/// A message between the state machines of controller and agent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Said {
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

impl Task {
    /// Maximum ports of a node.
    pub const PORTS: usize = 4096;
    /// Maximum prefixes.
    pub const PREFIXES: usize = 4096;

    /// Whether it fits into one datagram and keeps to the bounds of each field.
    pub fn fits(&self) -> bool {
        let mut bytes = Vec::new();
        self.write(&mut bytes);
        super::HEADING + bytes.len() + super::TAG <= super::LONGEST
            && self.ports.len() <= Self::PORTS
            && self.prefixes.len() <= Self::PREFIXES
            && self.ports.iter().all(|(_, name)| name.len() <= super::TEXT)
            && self.prefixes.iter().all(|prefix| {
                prefix.hops.len() <= usize::from(u8::MAX)
                    && prefix.id.0 < Prefix::NUMBERS
                    && prefix.name.view().bytes().len() <= usize::from(u16::MAX)
            })
    }

    pub(super) fn write(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.period.as_nanos().to_be_bytes());
        out.extend_from_slice(&self.phase.as_nanos().to_be_bytes());
        if let Some(above) = self.signal_above {
            out.extend_from_slice(&above.to_be_bytes());
        }
        out.extend_from_slice(&(self.ports.len() as u16).to_be_bytes());
        for (port, name) in &self.ports {
            out.extend_from_slice(&port.0.to_be_bytes());
            offer::text(name, out);
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

    pub(super) fn read(signals: bool, from: &mut Reader<'_>) -> Result<Self, Malformed> {
        let (period, phase) = (from.duration()?, from.duration()?);
        let signal_above = if signals { Some(from.u32()?) } else { None };
        let count = from.count(Self::PORTS)?;
        // memory is allocated for received entries, not for the announced count
        let mut ports = Vec::new();
        for _ in 0..count {
            ports.push((PortId(from.u32()?), from.text()?));
        }
        let count = from.count(Self::PREFIXES)?;
        let mut prefixes = Vec::new();
        for _ in 0..count {
            let id = read_prefix(from)?;
            let length = usize::from(from.u16()?);
            let name = NameView::read(from.take(length)?).map_err(|_| Malformed::Value)?.to_name();
            prefixes.push(Prefix { id, name, hops: read_hops(usize::from(u8::MAX), from)? });
        }
        if period == Duration::ZERO {
            return Err(Malformed::Value);
        }
        Ok(Self { period, phase, signal_above, ports, prefixes })
    }
}

impl Said {
    pub(super) fn write(&self, out: &mut Vec<u8>) {
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
            Control::Kept(command) => {
                out.push(6);
                write_command(command, out);
            }
            Control::Welcome { kept } => {
                out.push(7);
                out.extend_from_slice(&kept.to_be_bytes());
            }
        }
    }

    pub(super) fn read(from: &mut Reader<'_>) -> Result<Self, Malformed> {
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
            6 => Control::Kept(read_command(from)?),
            7 => Control::Welcome { kept: from.u32()? },
            _ => return Err(Malformed::Value),
        };
        match frame {
            Control::Shares { count, .. } if usize::from(count) > Share::IN_A_LABEL => Err(Malformed::Value),
            frame => Ok(Self { sent_at, label, frame }),
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
