//! Structured values of a scenario file.

use schemars::{Schema, SchemaGenerator, json_schema};
use units::{Bytes, Duration, Time, UnitText};

use crate::schema::bounds::within;
use crate::schema::hints::comma_in_quantity;
use crate::schema::read::{At, MAX, Notes, Read, kind_of, mismatch, nearest, shortened, suggestion};
use crate::schema::tree::{Entry, Node, Value};

/// How much may wait in a queue, as written.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Buffer {
    Packets(u32),
    Bytes(Bytes),
    Bdp(f64),
}

impl Read for Buffer {
    fn description() -> String {
        "a buffer".to_owned()
    }
    fn example() -> String {
        "\"100 packets\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        const HINT: &str =
            "write a number and packets, bdp, MB, kB or B, such as \"100 packets\", \"1 bdp\" or \"64 kB\"";
        let written = match &node.value {
            Value::Text(written) | Value::Integer(_, written) | Value::Float(_, written) => written,
            _ => return mismatch(node, notes),
        };
        match buffer(written) {
            Ok(buffer) => Some(buffer),
            Err((message, hint)) => {
                let hint = comma_in_quantity(written).or(hint).unwrap_or_else(|| HINT.to_owned());
                notes.wrong(node.location, message).hint(hint);
                None
            }
        }
    }
    fn to_value(&self) -> toml::Value {
        match self {
            Self::Packets(packets) => format!("{packets} packets").into(),
            Self::Bytes(size) => size.to_value(),
            Self::Bdp(factor) => format!("{factor} bdp").into(),
        }
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "string", "examples": ["100 packets", "1 bdp", "64 kB"] })
    }
}

/// The error is a message and perhaps a hint.
fn buffer(text: &str) -> Result<Buffer, (String, Option<String>)> {
    let fail = |message: String| Err((message, None));
    let trimmed = text.trim();
    let of_number = |c: char| c.is_ascii_digit() || matches!(c, '.' | '-' | '+' | 'e' | 'E');
    let (number, unit) = trimmed.split_at(trimmed.find(|c| !of_number(c)).unwrap_or(trimmed.len()));
    let unit = unit.trim_start();
    match unit {
        "packets" | "packet" => match number.parse::<f64>() {
            Ok(n) if n < 0.0 => fail(format!("`{text}` is negative")),
            Ok(n) if n > 1e7 => fail(format!("`{text}` is too large: at most 10000000 packets")),
            Ok(n) if n == n.trunc() => Ok(Buffer::Packets(n as u32)),
            Ok(_) => fail(format!("`{text}` is not a whole number of packets")),
            Err(_) => fail(format!("`{text}` is not a buffer")),
        },
        "bdp" => match number.parse::<f64>() {
            Ok(n) if n < 0.0 => fail(format!("`{text}` is negative")),
            Ok(n) if n <= 1e4 => Ok(Buffer::Bdp(n)),
            Ok(_) => fail(format!("`{text}` is too large: at most 10000 bdp")),
            Err(_) => fail(format!("`{text}` is not a buffer")),
        },
        "unlimited" | "infinite" | "infinity" | "inf" | "none" => Err((
            format!("`{text}`: a queue has a limit"),
            Some("write more packets than can wait, such as \"1000000 packets\"".to_owned()),
        )),
        "" if number.parse::<f64>().is_ok() => Err((
            format!("`{text}` has no unit"),
            Some(format!(
                "write \"{trimmed} packets\", \"{trimmed} kB\" or \"{trimmed} bdp\", whichever is meant"
            )),
        )),
        _ => match Bytes::from_text(text) {
            Ok(size) if size.as_u64() <= 1_000_000_000_000 => Ok(Buffer::Bytes(size)),
            Ok(_) => fail(format!("`{text}` is too large: at most 1000 GB")),
            Err(error) if error.message.contains("is not a unit") => {
                let message = format!("`{unit}` is not a unit of a buffer");
                let suggested = match unit.to_lowercase().as_str() {
                    "p" | "pkt" | "pkts" | "pcks" | "pckts" | "segments" => Some("packets"),
                    _ => nearest(unit, ["packets", "bdp"]),
                };
                let hint = suggested
                    .map(|suggested| format!("did you mean `{suggested}`? Write \"{number} {suggested}\""));
                let of_bytes = Some(error.hint).filter(|hint| hint.starts_with("did you mean"));
                Err((message, hint.or(of_bytes)))
            }
            Err(error) => fail(error.message.replace("a size", "a buffer")),
        },
    }
}

/// Threshold of marking of one direction; `false` takes the link's own away.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct MarkAbove(pub(crate) Option<u32>);

impl Read for MarkAbove {
    fn description() -> String {
        "a whole number or false".to_owned()
    }
    fn example() -> String {
        "30".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        match &node.value {
            Value::Bool(false) => Some(Self(None)),
            Value::Integer(..) => u32::read(node, notes).map(|n| Self(Some(n))),
            _ => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        self.0.map_or(false.into(), |packets| packets.to_value())
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [{ "type": "integer", "minimum": 0, "maximum": MAX }, { "const": false }] })
    }
}

/// An instant of the run, or never.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Instant(pub(crate) Time);

impl Read for Instant {
    fn description() -> String {
        "a time".to_owned()
    }
    fn example() -> String {
        "\"10 s\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        if node.text() == Some("never") {
            return Some(Self(Time::NEVER));
        }
        let after = Duration::read(node, notes)?;
        if let Err((message, hint)) = within("0 s", "1000000000 s")(&after) {
            notes.wrong(node.location, message).hint(hint);
            return None;
        }
        Some(Self(Time::ZERO + after))
    }
    fn to_value(&self) -> toml::Value {
        if self.0 == Time::NEVER { "never".into() } else { self.0.saturating_since(Time::ZERO).to_value() }
    }
    fn schema(generator: &mut SchemaGenerator) -> Schema {
        Duration::schema(generator)
    }
}

/// The two nodes of a link.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Ends(pub(crate) At<String>, pub(crate) At<String>);

impl Read for Ends {
    fn description() -> String {
        "a list of two nodes".to_owned()
    }
    fn example() -> String {
        "[\"a\", \"b\"]".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let items = Vec::<At<String>>::read(node, notes)?;
        match <[At<String>; 2]>::try_from(items) {
            Ok([first, second]) => Some(Self(first, second)),
            Err(items) => {
                notes
                    .wrong(node.location, format!("a link has two ends, not {}", items.len()))
                    .hint("write ends = [\"a\", \"b\"]");
                None
            }
        }
    }
    fn to_value(&self) -> toml::Value {
        vec![self.0.to_value(), self.1.to_value()].into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "array", "items": { "type": "string" }, "minItems": 2, "maxItems": 2 })
    }
}

/// The nodes that copies of a flow send from, or patterns.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Senders(pub(crate) Vec<At<String>>);

impl Read for Senders {
    fn description() -> String {
        "a node or a list of nodes".to_owned()
    }
    fn example() -> String {
        "\"a\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        match &node.value {
            Value::List(_) => Vec::read(node, notes).map(Self),
            Value::Text(name) => Some(Self(vec![At { value: name.to_string(), location: node.location }])),
            _ => mismatch(node, notes),
        }
    }
    fn to_value(&self) -> toml::Value {
        match &self.0[..] {
            [only] => only.to_value(),
            _ => self.0.to_value(),
        }
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "anyOf": [
            { "type": "string" },
            { "type": "array", "items": { "type": "string" }, "minItems": 1 },
        ] })
    }
}

/// Names that other programs have for schemes, in lower case, and what to write.
const OF_OTHERS: &[(&[&str], &str)] = &[
    (&["ledbat++", "ledbatpp", "ledbat-pp"], "did you mean `ledbat_pp`?"),
    (&["newreno", "new_reno", "new-reno", "tcp_newreno", "tcpnewreno"], "did you mean `reno`?"),
    (&["stcp", "scalable_tcp", "tcp_scalable"], "did you mean `scalable`?"),
    (&["hstcp", "hs_tcp"], "did you mean `highspeed`?"),
    (
        &["tcp", "linux", "default"],
        "write the scheme that TCP runs: \"cubic\" as most systems do, or \"reno\"",
    ),
    (
        &["udp", "cbr", "iperf"],
        "write source = { kind = \"constant\", rate = \"10 Mbit/s\" } instead of a scheme",
    ),
    (
        &["rack", "tcp_rack", "rack_tlp"],
        "it detects losses: write scheme = \"cubic\" and tcp = { loss_detection = \"time\" }",
    ),
    (&["quic"], "write the scheme and its stack: scheme = \"cubic\", stack = \"quinn\""),
];

/// The name of a scheme of the catalogue.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct SchemeName(pub(crate) String);

impl Read for SchemeName {
    fn description() -> String {
        "the name of a scheme".to_owned()
    }
    fn example() -> String {
        "\"reno\"".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let catalogue = schemes::catalogue();
        let known: Vec<&str> = catalogue.iter().map(|entry| entry.scheme.name).collect();
        let of_others =
            |name: &str| OF_OTHERS.iter().find(|row| row.0.contains(&name.to_lowercase().as_str()));
        if let Some((name, (_, hint))) = node.text().and_then(|name| Some((name, of_others(name)?))) {
            notes.wrong(node.location, format!("no scheme is called `{}`", shortened(name))).hint(*hint);
            return None;
        }
        known_name::<Self>(node, "scheme", &known, notes).map(Self)
    }
    fn to_value(&self) -> toml::Value {
        self.0.to_value()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        let names: Vec<&str> = schemes::catalogue().iter().map(|entry| entry.scheme.name).collect();
        json_schema!({ "type": "string", "enum": names })
    }
}

/// One of the names of a list.
pub(crate) fn known_name<T: Read>(
    node: &Node,
    of: &str,
    known: &[&str],
    notes: &mut Notes,
) -> Option<String> {
    let Some(name) = node.text() else {
        mismatch::<T>(node, notes);
        return None;
    };
    if known.contains(&name) {
        return Some(name.to_owned());
    }
    notes
        .wrong(node.location, format!("no {of} is called `{}`", shortened(name)))
        .maybe(suggestion(name, known.iter().copied()));
    None
}

/// Expected results as written.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Expect(pub(crate) Vec<(At<String>, At<String>)>);

impl Read for Expect {
    fn description() -> String {
        "a table of expectations".to_owned()
    }
    fn example() -> String {
        "{ \"link.bottleneck.utilisation\" = \">= 0.9\" }".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Some(table) = node.table() else { return mismatch(node, notes) };
        let mut list = Vec::new();
        for Entry { key, location, node: item } in table.iter() {
            if item.table().is_some() {
                notes
                    .wrong(*location, format!("`{}` is the first part of a key only", shortened(key)))
                    .hint("put the whole dotted key in quotes: \"link.bottleneck.utilisation\" = \">= 0.9\"");
                continue;
            }
            let name = At { value: key.to_string(), location: *location };
            if let Some(text) = String::read(item, notes) {
                list.push((name, At { value: text, location: item.location }));
            }
        }
        Some(Self(list))
    }
    fn to_value(&self) -> toml::Value {
        let table: toml::Table =
            self.0.iter().map(|(name, text)| (name.value.clone(), text.to_value())).collect();
        table.into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({
            "type": "object",
            "additionalProperties": { "type": "string", "examples": [">= 0.9", "0.9 .. 0.95", "<= 20 ms"] },
        })
    }
}

/// One axis of a sweep: the key and its values.
pub(crate) type Axis = (At<String>, At<Vec<At<toml::Value>>>);

/// Axes of a sweep.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Sweep(pub(crate) Vec<Axis>);

impl Read for Sweep {
    fn description() -> String {
        "a table of keys and lists of values".to_owned()
    }
    fn example() -> String {
        "{ \"topology.bottleneck.buffer\" = [\"0.5 bdp\", \"1 bdp\"] }".to_owned()
    }
    fn read(node: &Node, notes: &mut Notes) -> Option<Self> {
        let Some(table) = node.table() else { return mismatch(node, notes) };
        let mut axes = Vec::new();
        for Entry { key, location, node: item } in table.iter() {
            let name = At { value: key.to_string(), location: *location };
            match &item.value {
                Value::List(items) if !items.is_empty() => {
                    let values = items
                        .iter()
                        .filter_map(|item| item.plain().map(|value| At { value, location: item.location }))
                        .collect();
                    axes.push((name, At { value: values, location: item.location }));
                }
                Value::List(_) => {
                    notes.wrong(item.location, "a sweep over no values").hint("list at least one");
                }
                Value::Table(_) => {
                    notes.wrong(*location, format!("`{}` is the first part of a key only", shortened(key))).hint(
                        "put the whole dotted key in quotes: \"topology.bottleneck.buffer\" = [\"1 bdp\"]",
                    );
                }
                _ => {
                    notes
                        .wrong(item.location, format!("expected a list of values, found {}", kind_of(item)))
                        .hint("put the values in brackets");
                }
            }
        }
        Some(Self(axes))
    }
    fn to_value(&self) -> toml::Value {
        let values = |list: &[At<toml::Value>]| list.iter().map(|at| at.value.clone()).collect::<Vec<_>>();
        let table: toml::Table =
            self.0.iter().map(|(key, list)| (key.value.clone(), values(&list.value).into())).collect();
        table.into()
    }
    fn schema(_: &mut SchemaGenerator) -> Schema {
        json_schema!({ "type": "object", "additionalProperties": { "type": "array", "minItems": 1 } })
    }
}
