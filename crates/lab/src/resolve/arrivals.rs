//! Arrivals of flows: at random from the seed, or as a file lists them.

use std::sync::Arc;

use contract::{NodeId, Random};
use stack::app::Sizes;
use units::{Bytes, Duration, Time};

use super::endpoints::MAX_FLOWS;
use super::model::{Model, Transport};
use super::setting::Setting;
use super::sizes::{self, SizeKeys};
use crate::files::{self, Column, EPOCH_S, Heading, Remarks, Unit, Wrong, epoch_unit, is_heading};
use crate::schema::file::Flow;
use crate::schema::read::{At, Field, Notes, shortened};
use crate::schema::traffic::{Arrivals, SizeTable};
use crate::schema::values::Instant;
use crate::topology::Net;

/// A flow that arrives.
pub(super) struct Arrival {
    pub(super) at: Time,
    /// Its payload, if it has an end.
    pub(super) size: Option<Bytes>,
    /// When it stops.
    pub(super) stop: Time,
    /// Its sender and receiver, where a file names them.
    pub(super) ends: Option<(NodeId, NodeId)>,
}

/// The flows of `arrivals`. `None` when something is noted.
///
/// Gaps are exponential from the stream "arrivals" of the entry's name, sizes are from its stream "sizes", durations
/// from its stream "durations".
pub(super) fn arrivals(
    table: &Flow,
    model: &Model<'_>,
    arrivals: &At<Arc<Arrivals>>,
    setting: &Setting<'_>,
    notes: &mut Notes,
) -> Option<Vec<Arrival>> {
    let before = notes.count();
    refuse_others(table, notes);
    if model.transport == Transport::Ndn {
        notes
            .wrong(arrivals.location, "`arrivals` are flows over TCP, a stack, streams or datagrams")
            .hint("write `consumer` for requests of named data");
    }
    if arrivals.file.present().is_some() {
        return listed(table, model, arrivals, setting, notes).filter(|_| notes.count() == before);
    }
    let start = table.start.or(Instant(Time::ZERO)).0;
    let stop = table.stop.or(Instant(Time::NEVER)).0.min(Time::ZERO + setting.duration);
    let keys = keys(arrivals);
    let sized = matches!(model.transport, Transport::Tcp | Transport::Stack);
    let sizes = checked_sizes(arrivals, sized, setting, notes);
    check_rate(arrivals, sized, notes);
    let wrong = arrivals.rate.is_wrong() || arrivals.load.is_wrong() || arrivals.duration.is_wrong();
    if notes.count() > before || wrong {
        return None;
    }
    let sizes = match sizes {
        Some(sizes) => Some(SizeKeys { sizes: &sizes, ..keys }.distribution()),
        None if sized => return None,
        None => None,
    };
    let rate = match (arrivals.load.present(), &sizes) {
        (Some(load), Some(sizes)) => load.as_bps_f64() / 8.0 / sizes.mean(),
        _ => arrivals.rate.resolved().to_owned(),
    };
    let max = arrivals.count.or(u32::MAX) as usize;
    let expected = (rate * stop.saturating_since(start).as_secs_f64()).min(max as f64);
    if expected > MAX_FLOWS as f64 / 2.0 && max > MAX_FLOWS {
        notes
            .wrong(arrivals.location, format!("about {expected:.0} flows would arrive"))
            .hint(format!("at most {} are expected to; `count` bounds them", MAX_FLOWS / 2));
        return None;
    }
    Some(drawn(model, arrivals, sizes.as_ref(), rate, (start, stop), setting.seed))
}

/// Notes keys that do not go with arrivals.
fn refuse_others(table: &Flow, notes: &mut Notes) {
    for (key, location) in table.written() {
        if matches!(key, "count" | "size" | "rate" | "start_spread" | "churn" | "app") {
            notes
                .wrong(location, format!("`{key}` and `arrivals` do not go together"))
                .hint("write one of them");
        }
    }
}

/// The sizes of flows that end with their last byte; other flows have none.
fn checked_sizes(
    arrivals: &At<Arc<Arrivals>>,
    sized: bool,
    setting: &Setting<'_>,
    notes: &mut Notes,
) -> Option<Field<SizeTable>> {
    let keys = keys(arrivals);
    if sized {
        if let Some(duration) = arrivals.duration.present() {
            notes
                .wrong(duration.location, "flows over TCP or a stack end with their last byte")
                .hint("write `size` instead of `duration`");
        }
        sizes::checked(keys, "`arrivals`", arrivals.location, setting.folder, notes)
    } else {
        if let Some(location) = keys.written() {
            notes.wrong(location, "streams and datagrams have no size").hint("write `duration` instead");
        }
        arrivals.duration.required(
            "duration",
            "`arrivals` of streams and datagrams",
            arrivals.location,
            notes,
        );
        None
    }
}

/// Arrivals have a rate, or sizes and a load.
fn check_rate(arrivals: &At<Arc<Arrivals>>, sized: bool, notes: &mut Notes) {
    if let (Some(rate), Some(_)) = (arrivals.rate.present(), arrivals.load.present()) {
        notes.wrong(rate.location, "arrivals have a `rate` or a `load`").hint("write one of them");
    }
    if let (Some(load), false) = (arrivals.load.present(), sized) {
        notes.wrong(load.location, "a `load` needs flows with a size").hint("write `rate` instead");
    }
    if arrivals.load.is_missing() {
        arrivals.rate.required("rate", "`arrivals`", arrivals.location, notes);
    }
}

/// Draws what arrives within `span`, `rate` flows per second on average.
fn drawn(
    model: &Model<'_>,
    arrivals: &Arrivals,
    sizes: Option<&Sizes>,
    rate: f64,
    (start, stop): (Time, Time),
    seed: u64,
) -> Vec<Arrival> {
    let max = arrivals.count.or(u32::MAX) as usize;
    let path = format!("flow.{}", model.name.value);
    let mut gaps = Random::new(seed, &path, "arrivals");
    let mut drawn_sizes = Random::new(seed, &path, "sizes");
    let mut durations = Random::new(seed, &path, "durations");
    let mut list = Vec::new();
    let mut at = start;
    loop {
        at += Duration::from_secs_f64(gaps.exponential(1.0 / rate));
        if at >= stop || list.len() == max || list.len() > MAX_FLOWS {
            return list;
        }
        let until = arrivals.duration.present().map_or(Time::NEVER, |mean| {
            at + Duration::from_secs_f64(durations.exponential(mean.as_secs_f64()))
                .max(Duration::from_nanos(1))
        });
        let size = sizes.map(|sizes| sizes.draw(&mut drawn_sizes));
        list.push(Arrival { at, size, stop: until, ends: None });
    }
}

fn keys(arrivals: &Arrivals) -> SizeKeys<'_> {
    let Arrivals { size, size_shape, size_variation, sizes, .. } = arrivals;
    SizeKeys { size, shape: size_shape, variation: size_variation, sizes }
}

/// The flows that a file lists.
fn listed(
    table: &Flow,
    model: &Model<'_>,
    arrivals: &Arrivals,
    setting: &Setting<'_>,
    notes: &mut Notes,
) -> Option<Vec<Arrival>> {
    for (key, location) in arrivals.written() {
        if !matches!(key, "file" | "count") {
            notes
                .wrong(location, format!("`{key}` and `file` do not go together"))
                .hint("leave it out: the file lists starts and sizes");
        }
    }
    let file = arrivals.file.present()?;
    if !matches!(model.transport, Transport::Tcp | Transport::Stack) {
        notes
            .wrong(file.location, "a file lists payloads of flows over TCP or a stack")
            .hint("take a scheme that runs over TCP");
        return None;
    }
    const HINT: &str = "a line is a start in seconds and a size in bytes, or a start, two nodes and a size: 0.5,h1,h2,20000; \
         its heading may be start_s,bytes or start_s,from,to,bytes";
    let start = table.start.or(Instant(Time::ZERO)).0;
    let mut list = files::parsed(file, HINT, setting.folder, notes, |text, remarks| {
        read(text, start, setting.net, remarks)
    })?;
    let ends = [table.from.present().map(|at| at.location), table.to.present().map(|at| at.location)];
    if let Some(location) =
        ends.into_iter().flatten().next().filter(|_| list.iter().any(|flow| flow.ends.is_some()))
    {
        notes.wrong(location, "the file names senders and receivers").hint("leave `from` and `to` out");
        return None;
    }
    let stop = table.stop.or(Instant(Time::NEVER)).0.min(Time::ZERO + setting.duration);
    list.retain(|flow| flow.at < stop);
    list.truncate(arrivals.count.or(u32::MAX) as usize);
    Some(list)
}

/// Latest start.
const LATEST_S: i128 = 1_000_000_000;

/// Source and destination of a flow, where its file says them.
type Ends = Option<(NodeId, NodeId)>;

/// Columns of a list of flows: without ends and with them.
const COLUMNS: [&[&Column]; 2] =
    [&[&Column::TIME, &Column::SIZE], &[&Column::TIME, &Column::FROM, &Column::TO, &Column::SIZE]];
const HEAD_HINT: &str =
    "write the heading start_s,bytes or start_s,from,to,bytes, its columns in any order, each once";

/// A line of a list: its number, a time in nanoseconds, the ends, the size.
type Row = (usize, i128, Ends, u64);

/// The flows of a CSV file; times are after `start`. Times since 1970 are counted from the first one.
fn read(text: &str, start: Time, net: &Net, remarks: &mut Remarks) -> Result<Vec<Arrival>, Wrong> {
    let mut list: Vec<Row> = Vec::new();
    let mut heading: Option<Heading> = None;
    let (mut time_unit, mut size_unit) = (9, Unit::ten_to(0));
    for (index, (line, written)) in files::lines(text).enumerate() {
        let mut columns = files::columns(written);
        if index == 0 && is_heading(&columns) {
            let Some(read) = Heading::of(&columns, COLUMNS[usize::from(columns.len() == 4)]) else {
                let message = format!("`{}` are no columns of a list of flows", shortened(written));
                return Err(Wrong::with_hint(line, message, HEAD_HINT));
            };
            time_unit = read.units[0].map_or(9, |unit| unit.power);
            size_unit = read.units.last().copied().flatten().unwrap_or(size_unit);
            heading = Some(read);
            continue;
        }
        if let Some(heading) = &heading {
            columns = heading.arranged(columns);
        }
        let (at, ends, size) = match columns[..] {
            [at, size] => (at, None, size),
            [at, from, to, size] => (at, Some([from, to]), size),
            _ => return Err((line, format!("{} columns are neither two nor four", columns.len())).into()),
        };
        let at = files::nanos(at, time_unit, "time").map_err(|wrong| (line, wrong))?;
        let size = files::bytes(size, size_unit, 1_000_000_000_000_000).map_err(|wrong| (line, wrong))?;
        let ends = ends.map(|ends| ends_of(ends, net)).transpose().map_err(|message| (line, message))?;
        if list.first().is_some_and(|(_, _, first, _)| first.is_some() != ends.is_some()) {
            return Err((line, "some lines have two columns and others four".to_owned()).into());
        }
        list.push((line, at, ends, size));
    }
    counted(list, time_unit, start, remarks)
}

/// The sender and the receiver that a line names; the error is a message.
fn ends_of(names: [&str; 2], net: &Net) -> Result<(NodeId, NodeId), String> {
    match names.map(|name| net.node(name).ok_or(name)) {
        [Ok(from), Ok(to)] if from == to => {
            Err(format!("a flow cannot go from `{}` to itself", shortened(names[0])))
        }
        [Ok(from), Ok(to)] => Ok((from, to)),
        [Err(name), _] | [_, Err(name)] => Err(format!("no node is called `{}`", shortened(name))),
    }
}

/// The flows of lines in order of time, from `start` on.
fn counted(
    mut list: Vec<Row>,
    time_unit: i32,
    start: Time,
    remarks: &mut Remarks,
) -> Result<Vec<Arrival>, Wrong> {
    list.sort_by_key(|(_, at, ..)| *at);
    let Some(&(line, first, ..)) = list.first() else {
        return Err((0, "there are no flows in it".to_owned()).into());
    };
    let mut zero = 0;
    if first >= EPOCH_S * 1_000_000_000 {
        if let Some((unit, short)) = epoch_unit(first, time_unit) {
            let message = format!("its times look like {unit} since 1970, where seconds are expected");
            let hint = format!("name the unit in the heading: start_{short},bytes");
            return Err(Wrong::with_hint(line, message, hint));
        }
        zero = first;
        remarks.push((
            format!("its times start at {} s, and are counted from there", first / 1_000_000_000),
            "subtract the first time from all of them".to_owned(),
        ));
    }
    let flow = |(line, at, ends, size)| {
        let after: i128 = at - zero;
        let late = || (line, format!("a flow starts after {LATEST_S} s"));
        let after =
            u64::try_from(after).ok().filter(|_| after <= LATEST_S * 1_000_000_000).ok_or_else(late)?;
        let at = start + Duration::from_nanos(after);
        Ok(Arrival { at, size: Some(Bytes::new(size)), stop: Time::NEVER, ends })
    };
    list.into_iter().map(flow).collect()
}
