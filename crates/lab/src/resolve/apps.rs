//! Applications: defaults of their keys, the objects of a page, and which flows are the connections of which
//! application.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::{NodeId, Random};
use stack::app::{Player as Usual, Sizes};
use units::{Bytes, Duration, Rate};

use super::model::{Model, Transport};
use super::setting::Setting;
use super::sizes::{self, SizeKeys};
use super::traffic::ResolvedFlow;
use crate::files::{self, Column, Heading, Remarks, Unit, Wrong, is_heading};
use crate::schema::file::Flow;
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::traffic::{AbrWord, App, AppWord, Object};
use crate::schema::tree::Location;

use AppWord::{Incast, Page, Player, Requests};

/// Largest number of objects of a page.
const MAX_OBJECTS: usize = 10_000;
/// Connections of a browser to a server without multiplexing.
const CONNECTIONS: u32 = 6;
/// Size of a request on the wire.
const REQUEST: Bytes = Bytes::new(400);

/// Keys that belong to some kinds only.
const KEYS: &[(&str, &[AppWord])] = &[
    ("size", &[Requests, Incast]),
    ("size_shape", &[Requests, Incast]),
    ("size_variation", &[Requests, Incast]),
    ("sizes", &[Requests, Incast]),
    ("think", &[Requests, Incast, Page]),
    ("think_shape", &[Requests, Incast, Page]),
    ("think_fixed", &[Requests, Incast, Page]),
    ("connections", &[Page]),
    ("multiplex", &[Page]),
    ("objects", &[Page]),
    ("file", &[Page]),
    ("weight", &[Page]),
    ("number", &[Page]),
    ("page_seed", &[Page]),
    ("rates", &[Player]),
    ("segment", &[Player]),
    ("variation", &[Player]),
    ("abr", &[Player]),
    ("start_rate", &[Player]),
    ("buffer", &[Player]),
    ("buffer_at_top", &[Player]),
    ("startup", &[Player]),
    ("abandon", &[Player]),
];

/// An application of an entry: its table with every key but its name, and the number of flows that the entry makes.
pub(super) struct Client {
    table: At<Arc<App>>,
    /// The table of the last requested name.
    last: Arc<App>,
    named: Option<String>,
    pub(super) copies: u32,
    /// Whether all flows are connections of one application.
    pub(super) shared: bool,
}

impl Client {
    /// The table of the application with its name, which is `name` where none is written.
    pub(super) fn named(&mut self, name: &str) -> At<Arc<App>> {
        let own = self.table.name.clone().filled(name.to_owned());
        // connections share the table
        if self.named.as_deref() != Some(own.resolved().as_str()) {
            self.named = Some(own.resolved().clone());
            self.last = Arc::new(App { name: own, ..self.table.value.as_ref().clone() });
        }
        At { value: self.last.clone(), location: self.table.location }
    }
}

/// The application of an entry that has `senders` nodes to send from; `None` when something is noted.
pub(super) fn app(
    table: &At<Flow>,
    model: &Model<'_>,
    written: &At<Arc<App>>,
    senders: usize,
    setting: &Setting<'_>,
    notes: &mut Notes,
) -> Option<Client> {
    let before = notes.count();
    for (key, location) in table.written() {
        if matches!(key, "size" | "rate" | "churn" | "kernel" | "live" | "commands" | "encoder") {
            notes
                .wrong(location, format!("`{key}` and `app` do not go together"))
                .hint("leave it out: the application decides what is sent");
        }
    }
    if !matches!(model.transport, Transport::Tcp | Transport::Stack) {
        notes
            .wrong(written.location, "an application requests data over TCP or a QUIC stack")
            .hint("take a scheme that runs over TCP");
    }
    let kind = written.kind.required("kind", "`app`", written.location, notes)?.value;
    for (key, location) in written.written() {
        let Some((_, kinds)) = KEYS.iter().find(|row| row.0 == key) else { continue };
        if !kinds.contains(&kind) {
            let words: Vec<String> = kinds.iter().map(|kind| format!("\"{}\"", kind.word())).collect();
            notes
                .wrong(location, format!("`{key}` does not go with kind = \"{}\"", kind.word()))
                .hint(format!("it belongs to kind = {}", words.join(" or ")));
        }
    }
    if let (Page, Some(count)) = (kind, table.count.present()) {
        notes
            .wrong(count.location, "the connections of a page are counted by the application")
            .hint("write `connections` in `app` instead");
    }
    if let (Some(shape), true) = (written.think_shape.present(), written.think_fixed.is_on()) {
        notes.wrong(shape.location, "times of fixed length have no shape").hint("write one of them");
    }
    for (key, shape) in [
        ("think_shape", written.think_shape.present().map(|at| at.location)),
        ("think_fixed", written.think_fixed.present().map(|at| at.location)),
    ] {
        if let (Some(location), true) = (shape, written.think.is_missing()) {
            notes.wrong(location, format!("`{key}` needs `think`")).hint("write think = \"1 s\"");
        }
    }
    let mut filled =
        App { request: written.request.clone().filled(REQUEST), ..written.value.as_ref().clone() };
    filled.think_fixed = filled.think_fixed.filter(|fixed| *fixed);
    let filled = match kind {
        Requests | Incast => {
            let keys = keys(written);
            let sizes = sizes::checked(keys, "`app`", written.location, setting.folder, notes)?;
            App { sizes, ..filled }
        }
        Page => page(filled, written, setting, notes)?,
        Player => player(filled, written, model.transport == Transport::Tcp, notes)?,
    };
    if notes.count() > before {
        return None;
    }
    let multiplex = written.multiplex.is_on();
    let copies = match kind {
        Page => written.connections.or(if multiplex { 1 } else { CONNECTIONS }),
        Requests | Incast | Player => table.count.or(senders.max(1) as u32),
    };
    let shared = matches!(kind, Page | Incast);
    if let Some(name) = written.name.present()
        && !shared
        && copies > 1
    {
        notes
            .wrong(name.location, "each copy of the flow is an application of its own")
            .hint("leave `name` out: applications have the names of their flows");
        return None;
    }
    let table = At { value: Arc::new(filled), location: written.location };
    Some(Client { last: table.value.clone(), named: None, table, copies, shared })
}

/// The keys of the sizes of answers.
pub(crate) fn keys(table: &App) -> SizeKeys<'_> {
    let App { size, size_shape, size_variation, sizes, .. } = table;
    SizeKeys { size, shape: size_shape, variation: size_variation, sizes }
}

/// A page with its objects.
fn page(filled: App, written: &At<Arc<App>>, setting: &Setting<'_>, notes: &mut Notes) -> Option<App> {
    let sources = [
        ("objects", written.objects.present().map(|at| at.location)),
        ("file", written.file.present().map(|at| at.location)),
    ];
    let model = [
        ("weight", written.weight.present().map(|at| at.location)),
        ("number", written.number.present().map(|at| at.location)),
        ("page_seed", written.page_seed.present().map(|at| at.location)),
    ];
    let listed: Vec<(&str, Location)> =
        sources.iter().filter_map(|(key, location)| location.map(|location| (*key, location))).collect();
    let of_model = model.iter().find_map(|(key, location)| location.map(|location| (*key, location)));
    if let (Some((key, location)), Some((other, _))) = (of_model, listed.first()) {
        notes
            .wrong(location, format!("`{key}` and `{other}` do not go together"))
            .hint("leave one of them out: the model makes the objects, or you list them");
        return None;
    }
    if let [_, (_, location)] = listed[..] {
        notes.wrong(location, "a page has `objects` or a `file`").hint("write one of them");
        return None;
    }
    let objects = if let Some(list) = written.objects.present() {
        checked(&list.value, notes)?
    } else if let Some(file) = written.file.present() {
        const HINT: &str = "a line is a size in bytes, a delay in milliseconds and the numbers of earlier objects: 20000,5,1 3";
        files::parsed(file, HINT, setting.folder, notes, read)?
    } else if written.objects.is_wrong() || written.file.is_wrong() {
        return None;
    } else {
        median(
            written.weight.or(Bytes::new(MEDIAN_BYTES)),
            written.number.or(MEDIAN_OBJECTS),
            written.page_seed.or(1),
        )
    };
    if objects.is_empty() || objects.len() > MAX_OBJECTS {
        let location = listed.first().map_or(written.location, |(_, location)| *location);
        notes
            .wrong(location, format!("a page of {} objects", objects.len()))
            .hint(format!("from 1 to {MAX_OBJECTS} objects"));
        return None;
    }
    Some(App {
        objects: Field::list(objects),
        multiplex: filled.multiplex.filled(false),
        connections: 1.into(),
        file: Field::Missing,
        weight: Field::Missing,
        number: Field::Missing,
        page_seed: Field::Missing,
        ..filled
    })
}

/// Objects as written, each with its size, and after earlier ones only.
fn checked(list: &[At<Object>], notes: &mut Notes) -> Option<Vec<Object>> {
    let before = notes.count();
    for (number, object) in (1u32..).zip(list) {
        object.size.required("size", "an object", object.location, notes);
        for parent in object.after.items() {
            if parent.value == 0 || parent.value >= number {
                notes
                    .wrong(
                        parent.location,
                        format!("object {number} cannot wait for object {}", parent.value),
                    )
                    .hint("write the number of an earlier object, counted from 1");
            }
        }
    }
    let complete = list.iter().all(|object| object.size.present().is_some());
    (notes.count() == before && complete).then(|| list.iter().map(|object| object.value.clone()).collect())
}

/// The objects of a CSV file.
fn read(text: &str, _remarks: &mut Remarks) -> Result<Vec<Object>, Wrong> {
    let parents = Column { names: &["after", "parents", "needs"], units: &[] };
    let mut objects = Vec::new();
    let (mut size_unit, mut delay_unit) = (Unit::ten_to(0), 6);
    let mut heading: Option<Heading> = None;
    for (index, (line, written)) in files::lines(text).enumerate() {
        let mut cells = files::columns(written);
        if index == 0 && is_heading(&cells) {
            let known = [&Column::SIZE, &Column::DELAY, &parents];
            let Some(read) = Heading::of(&cells, &known[..cells.len().clamp(1, 3)]) else {
                let message = format!("`{}` are no columns of a page", shortened(written));
                return Err(Wrong::with_hint(
                    line,
                    message,
                    "write the heading bytes,delay_ms,after, or none",
                ));
            };
            size_unit = read.units[0].unwrap_or(size_unit);
            delay_unit = read.units.get(1).copied().flatten().map_or(6, |unit| unit.power);
            heading = Some(read);
            continue;
        }
        if let Some(heading) = &heading {
            cells = heading.arranged(cells);
        }
        let mut columns = cells.into_iter();
        let first = columns.next().unwrap_or_default();
        let size = files::bytes(first, size_unit, 10_000_000_000).map_err(|wrong| (line, wrong))?;
        let delay = columns.next().filter(|delay| !delay.is_empty()).unwrap_or("0");
        let wrong = |(message, hint)| Wrong { line, message, hint };
        let delay_ns = files::nanos(delay, delay_unit, "delay").map_err(wrong)?;
        let delay_ns = u64::try_from(delay_ns).ok().filter(|delay| *delay <= 1_000_000_000_000);
        let delay = Duration::from_nanos(
            delay_ns.ok_or_else(|| (line, format!("`{}` is more than 1000 s", shortened(delay))))?,
        );
        let mut after = Vec::new();
        for word in columns.next().unwrap_or_default().split_whitespace() {
            let parent = word.parse::<u32>().ok().filter(|n| *n >= 1 && *n as usize <= objects.len());
            after.push(
                parent.ok_or_else(|| {
                    (line, format!("`{}` is no number of an earlier object", shortened(word)))
                })?,
            );
        }
        if columns.next().is_some() {
            return Err((line, "more than three columns".to_owned()).into());
        }
        objects.push(object(size, delay, after));
    }
    if objects.is_empty() { Err((0, "there are no objects in it".to_owned()).into()) } else { Ok(objects) }
}

fn object(size: u64, delay: Duration, after: Vec<u32>) -> Object {
    Object {
        size: Bytes::new(size).into(),
        after: if after.is_empty() { Field::Missing } else { Field::list(after) },
        delay: if delay == Duration::ZERO { Field::Missing } else { delay.into() },
        ..Object::default()
    }
}

/// The median desktop page of October 2024: bytes and requests [HTTP Archive, Web Almanac 2024, Page Weight].
const MEDIAN_BYTES: u64 = 2_652_000;
const MEDIAN_OBJECTS: u32 = 71;
/// Types of its objects: their share of the bytes in kB, and their number. Bytes of HTML, CSS, scripts, images and
/// fonts, and the numbers of scripts and images are from the same source; the numbers of style sheets and fonts are
/// assumed, and other objects are the rest.
const TYPES: [(u64, u32); 6] = [(18, 1), (78, 8), (613, 24), (1054, 18), (131, 4), (758, 16)];

/// A page by the model: the document; style sheets and scripts, which it names; half of the images, which it names, and
/// half, which scripts name in turn; fonts, which style sheets name; other objects, which scripts name. Sizes of a type
/// are log-normal with a coefficient of variation of 1, except the document's.
fn median(weight: Bytes, number: u32, seed: u64) -> Vec<Object> {
    let mut random = Random::new(seed, "page", "objects");
    let (size_scale, count_scale) =
        (weight.as_f64() / MEDIAN_BYTES as f64, f64::from(number - 1) / f64::from(MEDIAN_OBJECTS - 1));
    // counts are rounded so that they sum up
    let mut counts = [1u32; 6];
    let (mut exact, mut given) = (0.0, 0);
    for (count, (_, typical)) in counts.iter_mut().zip(TYPES).skip(1) {
        exact += f64::from(typical) * count_scale;
        *count = exact.round() as u32 - given;
        given += *count;
    }
    let mut objects = Vec::new();
    let mut firsts = [1u32; 6];
    for (kind, (kilobytes, typical)) in TYPES.into_iter().enumerate() {
        firsts[kind] = objects.len() as u32 + 1;
        let mean = kilobytes as f64 * 1e3 * size_scale / f64::from(typical) / count_scale.max(1e-9);
        let mean = if kind == 0 { kilobytes as f64 * 1e3 * size_scale } else { mean };
        for i in 0..counts[kind] {
            let named_by = |parent: usize| match counts[parent] {
                0 => 1,
                count => firsts[parent] + i % count,
            };
            let after = match kind {
                0 => vec![],
                1 | 2 => vec![1],
                3 if i % 2 == 0 => vec![1],
                4 => vec![named_by(1)],
                _ => vec![named_by(2)],
            };
            let sizes = Sizes::LogNormal { mean: Bytes::new(mean.max(1.0) as u64), variation: 1.0 };
            let size = if kind == 0 { mean.max(1.0) as u64 } else { sizes.draw(&mut random).as_u64() };
            objects.push(object(size, Duration::ZERO, after));
        }
    }
    objects
}

/// A player with every key.
fn player(filled: App, written: &At<Arc<App>>, over_tcp: bool, notes: &mut Notes) -> Option<App> {
    let rates = written.rates.required("rates", "a player", written.location, notes)?;
    if rates.value.is_empty() {
        notes
            .wrong(rates.location, "a player needs a rate")
            .hint("write rates = [\"1 Mbit/s\", \"3 Mbit/s\"]");
        return None;
    }
    let falls = rates.value.windows(2).find(|pair| pair[0].value >= pair[1].value);
    if let Some(pair) = falls {
        notes
            .wrong(pair[1].location, format!("{} is not above {}", pair[1].value, pair[0].value))
            .hint("write the rates in ascending order");
        return None;
    }
    if let Some(zero) =
        rates.value.iter().find(|rate| rate.value == Rate::ZERO || rate.value > Rate::from_mbps(10_000))
    {
        notes
            .wrong(zero.location, format!("`{}` is out of range", zero.value))
            .hint("write a rate from 1 bit/s to 10 Gbit/s");
        return None;
    }
    let defaults = Usual::default();
    let segment = written.segment.or(defaults.segment);
    let buffer = written.buffer.or(defaults.buffer);
    let top = written.buffer_at_top.or(defaults.buffer_at_top.max(buffer));
    if let Some(at) = written.buffer_at_top.present()
        && top < buffer
    {
        notes
            .wrong(at.location, format!("`buffer_at_top` of {top} is below `buffer` of {buffer}"))
            .hint("lower one or raise the other");
    }
    if let Some(abandon) = written.abandon.present().filter(|at| at.value && !over_tcp) {
        notes
            .wrong(abandon.location, "a player over a QUIC stack does not abandon requests")
            .hint("leave `abandon` out, or write a `scheme` without `stack`, which is over TCP");
    }
    let startup = written.startup.or(segment);
    if let Some(at) = written.startup.present()
        && startup > buffer
    {
        notes
            .wrong(
                at.location,
                format!("playback would never start: `startup` of {startup} is above `buffer` of {buffer}"),
            )
            .hint("lower one or raise the other");
    }
    Some(App {
        segment: filled.segment.filled(segment),
        variation: filled.variation.filled(defaults.variation),
        abr: filled.abr.filled(AbrWord::Dynamic),
        start_rate: filled.start_rate.filled(defaults.start),
        buffer: filled.buffer.filled(buffer),
        buffer_at_top: filled.buffer_at_top.filled(top),
        startup: filled.startup.filled(startup),
        abandon: filled.abandon.filled(over_tcp),
        ..filled
    })
}

/// Notes flows of one application that differ in what they do, when, or where they lead.
pub(super) fn check(flows: &[ResolvedFlow], notes: &mut Notes) {
    let mut known: BTreeMap<&str, &ResolvedFlow> = BTreeMap::new();
    for flow in flows {
        let Some(app) = flow.table.app.present() else { continue };
        let Some(first) = known.insert(app.name.resolved(), flow) else { continue };
        let player = *app.kind.resolved() == Player;
        if same(first, flow) && !player {
            continue;
        }
        let name = shortened(app.name.resolved());
        let message = if player {
            format!("the player `{name}` has one connection")
        } else if client(first) == client(flow) {
            format!("two applications are called `{name}`")
        } else {
            format!("the connections of `{name}` lead to different nodes")
        };
        notes
            .wrong(app.location, message)
            .hint("write the same `to` and the same keys in `app` for all connections of an application");
        return;
    }
}

fn client(flow: &ResolvedFlow) -> Option<NodeId> {
    flow.to.first().copied()
}

/// Whether two flows may be connections of one application.
fn same(one: &ResolvedFlow, other: &ResolvedFlow) -> bool {
    let [a, b] = [one, other].map(|flow| &flow.table);
    let tables = a.app.present().zip(b.app.present());
    let identical = tables.is_some_and(|(a, b)| Arc::ptr_eq(a, b) || a.to_table() == b.to_table());
    let times = |flow: &Flow| [&flow.start, &flow.stop].map(|at| at.present().map(|at| at.value.0));
    client(one) == client(other) && identical && times(a) == times(b)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn sizes(objects: &[Object]) -> Vec<u64> {
        objects.iter().map(|object| object.size.resolved().as_u64()).collect()
    }

    fn parents(object: &Object) -> Vec<u32> {
        object.after.items().iter().map(|at| at.value).collect()
    }

    /// 1 document, 8 style sheets, 24 scripts, 18 images, 4 fonts, 16 others.
    #[test]
    fn the_model_page_has_the_objects_of_its_types_and_their_graph() {
        let page = median(Bytes::new(MEDIAN_BYTES), MEDIAN_OBJECTS, 1);
        assert_eq!(page.len(), 71);
        assert_eq!((sizes(&page)[0], parents(&page[0])), (18_000, vec![]));
        assert!(page[1..33].iter().all(|object| parents(object) == [1]));
        // images by the document, then by the second script
        assert_eq!([33, 34].map(|i| parents(&page[i])), [vec![1], vec![11]]);
        // the first font by the first style sheet, the first other object by the first script
        assert_eq!([51, 55].map(|i| parents(&page[i])), [vec![2], vec![10]]);
        assert_eq!(page, median(Bytes::new(MEDIAN_BYTES), MEDIAN_OBJECTS, 1));
        assert_ne!(page, median(Bytes::new(MEDIAN_BYTES), MEDIAN_OBJECTS, 2));
    }

    #[test]
    fn the_model_page_scales() {
        for number in [5, 10, 71, 200] {
            assert_eq!(median(Bytes::new(1_000_000), number, 1).len(), number as usize);
        }
        let weights: Vec<u64> =
            (0..200).map(|seed| sizes(&median(Bytes::new(1_000_000), 40, seed)).iter().sum()).collect();
        let mean = weights.iter().sum::<u64>() as f64 / 200.0;
        assert!((mean / 1e6 - 1.0).abs() < 0.05, "{mean}");
    }

    #[test]
    fn a_file_lists_sizes_delays_and_parents() {
        let page =
            read("bytes,delay_ms,after\n1000\n200,5\n300,0.5,1 2\n", &mut Remarks::new()).expect("objects");
        assert_eq!(sizes(&page), [1000, 200, 300]);
        assert_eq!((parents(&page[2]), *page[2].delay.resolved()), (vec![1, 2], Duration::from_micros(500)));
        for (text, line) in [("x", 1), ("5,x", 1), ("5\n6,0,2", 2), ("5,0,1,7", 1), ("", 0), ("5\n6,0,0", 2)]
        {
            assert_eq!(read(text, &mut Remarks::new()).expect_err(text).line, line, "{text}");
        }
    }
}
