//! Packets.

use super::cursor::Cursor;
use super::unknown;
use crate::problem::Problem;
use crate::script::{Direction, Flags, Packet, TcpOption, What};

/// Words in brackets that are known.
const MARKS: [&str; 5] = ["ect0", "ect1", "ce", "noecn", "ect01"];
/// Words in brackets that are known and cannot be expressed.
const BEYOND_MARKS: [&str; 3] = ["flowlabel", "tos", "ttl"];
/// Protocols and tunnels that are not TCP.
const PROTOCOLS: [&str; 8] = ["udp", "icmp", "udplite", "sctp", "gre", "mpls", "ipv4", "ipv6"];

/// A packet and its direction, which comes next.
pub(super) fn packet(cursor: &mut Cursor<'_>, direction: Direction) -> Result<What, Problem> {
    let start = cursor.offset();
    cursor.advance();
    skip(cursor)?;
    let mut packet = Packet { options: Some(Vec::new()), ..Packet::default() };
    let mut beyond = None;
    while cursor.sees("[") {
        let place = cursor.place();
        let words = cursor.enclosed("[", "]", "list in brackets")?;
        if words.starts_with(|c: char| c.is_ascii_digit()) {
            return Ok(rest_of_line(cursor, start, "ICMP"));
        }
        for word in words.split(',').map(str::trim) {
            let name = word.split_whitespace().next().unwrap_or("");
            if BEYOND_MARKS.contains(&name) {
                beyond = Some(format!("the field `{name}` of the IP header"));
            } else if !MARKS.contains(&word) {
                return Err(unknown(place, "the mark", word, MARKS));
            }
            packet.marks.push(word.to_owned());
        }
        skip(cursor)?;
    }
    let place = cursor.place();
    let flags = cursor.eat_while(|c| !c.is_whitespace());
    if let Some(protocol) = PROTOCOLS.iter().find(|name| flags.split('(').next() == Some(name)) {
        return Ok(rest_of_line(cursor, start, &format!("packets of {protocol}")));
    }
    packet.flags = read_flags(flags).map_err(|wrong| {
        let hint = "flags are F S R P E W A U . or a digit for the three ECN bits, such as `S`, `S.`, `P.`, `E.`, `.5`";
        match wrong {
            Some(letter) => Problem::new(place, format!("`{letter}` in `{flags}` is no flag"), hint),
            None => Problem::new(place, "this packet has no flags", hint),
        }
    })?;
    skip(cursor)?;
    (packet.start, packet.end) = sequence(cursor)?;
    fields(cursor, &mut packet)?;
    if let Some(TcpOption::Other(text)) =
        packet.options().iter().find(|option| matches!(option, TcpOption::Other(_)))
    {
        let name = text.split_whitespace().next().unwrap_or("").to_owned();
        beyond = Some(format!("the TCP option `{name}`"));
    }
    Ok(match beyond {
        Some(feature) => What::Beyond(cursor.since(start).trim_end().to_owned(), feature),
        None => What::Packet(direction, packet),
    })
}

/// `1:1001(1000)`
fn sequence(cursor: &mut Cursor<'_>) -> Result<(u64, u64), Problem> {
    let place = cursor.place();
    let limit = u64::from(u32::MAX);
    let start = cursor.number("the first byte of the payload", limit)?;
    let wrong = |cursor: &Cursor<'_>| {
        Problem::new(cursor.place(), "the bytes of this packet are incomplete", "such as `1:1001(1000)`")
    };
    if !cursor.eat(":") {
        return Err(wrong(cursor));
    }
    let end = cursor.number("one past the last byte", limit)?;
    if !cursor.eat("(") {
        return Err(wrong(cursor));
    }
    let len = cursor.number("the number of bytes", limit)?;
    if !cursor.eat(")") {
        return Err(wrong(cursor));
    }
    if end.checked_sub(start) != Some(len) {
        let message = format!("from {start} to {end} there are not {len} bytes");
        return Err(Problem::new(place, message, "write `first:one past the last(number)`"));
    }
    Ok((start, end))
}

/// `ack 1 win 257 <options>`
fn fields(cursor: &mut Cursor<'_>, packet: &mut Packet) -> Result<(), Problem> {
    let limit = u64::from(u32::MAX);
    loop {
        // a packet may go over several lines, but the next event never begins with a letter or `<`
        skip(cursor)?;
        if cursor.sees("ack") {
            cursor.eat("ack");
            skip(cursor)?;
            packet.ack = Some(cursor.number("the acknowledgement number", limit)?);
        } else if cursor.sees("win") {
            cursor.eat("win");
            skip(cursor)?;
            packet.window = Some(cursor.number("the window", limit)? as u32);
        } else if cursor.sees("urg") {
            cursor.eat("urg");
            skip(cursor)?;
            cursor.number("the urgent pointer", limit)?;
        } else if cursor.sees("<") {
            packet.options = options(cursor)?;
            return Ok(());
        } else {
            return Ok(());
        }
    }
}

/// `<mss 1000,nop,wscale 7>`, or `<...>` for any.
fn options(cursor: &mut Cursor<'_>) -> Result<Option<Vec<TcpOption>>, Problem> {
    let place = cursor.place();
    let text = cursor.enclosed("<", ">", "list of options")?.trim();
    if text == "..." {
        return Ok(None);
    }
    let mut all = Vec::new();
    for text in text.split(',').map(str::trim).filter(|text| !text.is_empty()) {
        let mut words = text.split_whitespace();
        let name = words.next().unwrap_or("");
        let rest: Vec<_> = words.collect();
        let wrong = |hint: &str| Problem::new(place, format!("`{text}` is not an option"), hint);
        let option = match (name, rest.as_slice()) {
            (_, [word]) if word.chars().all(|c| c.is_ascii_uppercase()) => TcpOption::Other(text.to_owned()),
            ("nop", []) => TcpOption::Nop,
            ("eol", []) => TcpOption::Eol,
            ("sackOK", []) => TcpOption::SackPermitted,
            ("mss", [mss]) => TcpOption::Mss(
                mss.parse().map_err(|_| wrong("`mss` and a number of bytes, such as `mss 1460`"))?,
            ),
            ("wscale", [scale]) => match scale.parse() {
                Ok(scale @ 0..=14) => TcpOption::WindowScale(scale),
                _ => return Err(wrong("`wscale` and a number from 0 to 14")),
            },
            ("sack", blocks) => {
                let blocks: Option<Vec<_>> = blocks.iter().map(|block| read_block(block)).collect();
                match blocks {
                    Some(blocks) if !blocks.is_empty() && blocks.len() <= 4 => TcpOption::Sack(blocks),
                    _ => return Err(wrong("one to four blocks, such as `sack 1001:2001 3001:4001`")),
                }
            }
            ("TS", ["val", value, "ecr", echo]) => match (value.parse(), echo.parse()) {
                (Ok(value), Ok(echo)) => TcpOption::TimeStamps(value, echo),
                _ => return Err(wrong("two numbers, such as `TS val 100 ecr 200`")),
            },
            ("TS", _) => return Err(wrong("two numbers, such as `TS val 100 ecr 200`")),
            ("ECN", counters) => {
                let counters: Option<Vec<_>> = counters
                    .chunks(2)
                    .map(|pair| match pair {
                        [name, bytes] => Some(((*name).to_owned(), bytes.parse().ok()?)),
                        _ => None,
                    })
                    .collect();
                TcpOption::AccEcn(
                    counters.ok_or_else(|| wrong("counters of bytes, such as `ECN e1b 1 ceb 0 e0b 1`"))?,
                )
            }
            ("nop" | "eol" | "sackOK" | "mss" | "wscale", _) => {
                return Err(wrong("such as `mss 1460`, `wscale 7`, `sackOK`, `nop`"));
            }
            _ => TcpOption::Other(text.to_owned()),
        };
        all.push(option);
    }
    Ok(Some(all))
}

fn read_block(text: &str) -> Option<(u64, u64)> {
    let (start, end) = text.split_once(':')?;
    let (start, end): (u32, u32) = (start.parse().ok()?, end.parse().ok()?);
    (start < end).then_some((u64::from(start), u64::from(end)))
}

/// Flags of their letters; `Err` has the invalid letter, or `None` without letters.
fn read_flags(text: &str) -> Result<Flags, Option<char>> {
    let mut flags = Flags::default();
    if text.is_empty() {
        return Err(None);
    }
    for letter in text.chars() {
        match letter {
            'F' => flags.fin = true,
            'S' => flags.syn = true,
            'R' => flags.rst = true,
            'P' => flags.psh = true,
            'U' => flags.urg = true,
            '.' => flags.ack = true,
            'E' => flags.ace |= 0b001,
            'W' | 'C' => flags.ace |= 0b010,
            'A' => flags.ace |= 0b100,
            '0'..='7' => flags.ace |= letter as u8 - b'0',
            '-' if text == "-" => {}
            _ => return Err(Some(letter)),
        }
    }
    Ok(flags)
}

/// The rest of a line that cannot be expressed.
fn rest_of_line(cursor: &mut Cursor<'_>, start: usize, feature: &str) -> What {
    cursor.eat_while(|c| c != '\n');
    let text = cursor.since(start).split("//").next().unwrap_or("").trim_end().to_owned();
    What::Beyond(text, feature.to_owned())
}

fn skip(cursor: &mut Cursor<'_>) -> Result<(), Problem> {
    cursor.skip_blank()
}
