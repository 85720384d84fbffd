//! The comparison of a packet of a script with those that leave.

use contract::{Ecn, EcnFeedback, TcpFlags};
use units::Time;

use super::Times;
use crate::connection::{Connection, Departure, Kind};
use crate::script::Packet;

/// Waits for what a script expects to leave, and takes it: several segments in a row may be one packet of the script,
/// as with segmentation offload. Returns its kind, or in one sentence what is different.
pub(super) fn departs(connection: &mut Connection, expected: &Packet, times: &Times) -> Result<Kind, String> {
    let latest = times.to + times.tolerance;
    let mut at = expected.start;
    loop {
        if !connection.run_until_departure(latest) {
            connection.run_before(latest);
            let next = connection.wake();
            let next = if next == Time::NEVER {
                "no timer is set".to_owned()
            } else {
                format!("the next timer expires at {}", seconds(next))
            };
            let part =
                if at > expected.start { format!(" after {}:{at}", expected.start) } else { String::new() };
            return Err(format!("nothing left{part} until {}; {next}", seconds(latest)));
        }
        let Some(departure) = connection.waiting.front().cloned() else { continue };
        let whole = !expected.is_empty() || expected.flags.syn;
        match departure.kind {
            Kind::Open if expected.flags.syn => {}
            Kind::Ack if !whole => {}
            // a probe of a closed window
            Kind::Data(start, end) if !whole && start == end && start + 1 == expected.start => {}
            Kind::Data(start, end)
                if !expected.flags.syn && start + 1 == at && end < expected.end && end > start => {}
            _ => {
                let after = if at > expected.start {
                    format!(" after {}:{at}", expected.start)
                } else {
                    String::new()
                };
                return Err(format!("{} left{after}", describe(&departure)));
            }
        }
        if let Some(difference) = difference(connection, expected, &departure, times) {
            return Err(difference);
        }
        connection.waiting.pop_front();
        match departure.kind {
            Kind::Data(_, end) if end + 1 < expected.end => at = end + 1,
            kind => return Ok(kind),
        }
    }
}

/// How a packet that left differs from what is expected, its bytes apart.
fn difference(
    connection: &Connection,
    expected: &Packet,
    departure: &Departure,
    times: &Times,
) -> Option<String> {
    let (at, name) = (departure.at, describe(departure));
    if !times.any && (at + times.tolerance < times.from || at > times.to + times.tolerance) {
        let expected = if times.from == times.to {
            seconds(times.from)
        } else {
            format!("{} to {}", seconds(times.from), seconds(times.to))
        };
        let tolerance = times.tolerance.as_nanos() as f64 / 1e6;
        return Some(format!("{name} left at {}; expected at {expected}, ± {tolerance} ms", seconds(at)));
    }
    if departure.kind == Kind::Open {
        return None;
    }
    if let Some(ack) = expected.ack
        && ack != departure.ack + 1
    {
        return Some(format!("{name} acknowledges {}; expected ack {ack}", departure.ack + 1));
    }
    let data = matches!(departure.kind, Kind::Data(..));
    if connection.config.ecn {
        let accurate = connection.config.ecn_feedback == EcnFeedback::Accurate;
        let bits = match (accurate, data) {
            (true, _) => 0b111,
            (false, true) => TcpFlags::CWR,
            (false, false) => TcpFlags::ECE,
        };
        let (ours, theirs) = (departure.ace & bits, expected.flags.ace & bits);
        if ours != theirs {
            return Some(format!("{name} has the ECN bits {ours:03b}; expected {theirs:03b}"));
        }
    }
    if data {
        let wanted = expected.marks.iter().find_map(|mark| match mark.as_str() {
            "ect0" => Some((Ecn::Capable, mark)),
            "ect1" => Some((Ecn::CapableL4s, mark)),
            "noecn" => Some((Ecn::NotCapable, mark)),
            "ce" => Some((Ecn::Marked, mark)),
            _ => None,
        });
        return wanted
            .filter(|wanted| wanted.0 != departure.ecn)
            .map(|wanted| format!("{name} is {}; expected [{}]", mark(departure.ecn), wanted.1));
    }
    let ours: Vec<_> = departure.blocks.iter().map(|block| (block.0 + 1, block.1 + 1)).collect();
    if expected.options.is_some() && ours != expected.blocks() {
        let text = |blocks: &[(u64, u64)]| {
            let texts: Vec<_> = blocks.iter().map(|block| format!("{}:{}", block.0, block.1)).collect();
            if texts.is_empty() { "no SACK".to_owned() } else { format!("SACK {}", texts.join(" ")) }
        };
        return Some(format!("{name} has {}; expected {}", text(&ours), text(expected.blocks())));
    }
    None
}

/// A packet that left, in words.
pub(super) fn describe(departure: &Departure) -> String {
    match departure.kind {
        Kind::Open => "SYN".to_owned(),
        Kind::Data(start, end) => format!("{}:{}({})", start + 1, end + 1, end - start),
        Kind::Ack => format!("ack {}", departure.ack + 1),
    }
}

const fn mark(ecn: Ecn) -> &'static str {
    match ecn {
        Ecn::NotCapable => "[noecn]",
        Ecn::Capable => "[ect0]",
        Ecn::CapableL4s => "[ect1]",
        Ecn::Marked => "[ce]",
    }
}

/// A time in seconds.
fn seconds(at: Time) -> String {
    let micros = at.as_nanos() / 1000;
    format!("{}.{:06} s", micros / 1_000_000, micros % 1_000_000)
}
