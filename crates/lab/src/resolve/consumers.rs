//! Consumers of named data: scheme or source, settings, and request pattern.

use contract::{Family, NameId, Need};
use schemes::Build;
use stack::ndn::ConsumerConfig;
use units::{Bytes, Duration, Rate, UnitText};

use super::model::{Machine, Transport, reject_keys};
use super::ndn::NdnNet;
use super::params::params;
use crate::schema::file::{Flow, Source, SourceWord};
use crate::schema::ndn::{Consumer, PatternWord};
use crate::schema::read::{At, Field, Notes};

/// The machine of a flow with network = "ndn"; `None` when something is noted.
pub(super) fn machine(table: &At<Flow>, ndn: &NdnNet, notes: &mut Notes) -> Option<Machine> {
    for (key, location) in table.written() {
        let hint = match key {
            "to" | "multicast" | "receivers" => {
                "the producer of the prefix answers, and Data return to the consumer"
            }
            "packet" => "the producer says how large its Data are",
            "rate" => "a consumer asks as fast as its controller permits, or as its `source` says",
            "player" => "players play the frames of streams",
            "tcp" | "stream" | "arrivals" | "app" => "its settings are those of `consumer`",
            _ => continue,
        };
        notes.wrong(location, format!("`{key}` does not go with a consumer of named data")).hint(hint);
    }
    let prefix = table.prefix.required("prefix", "a consumer of named data", table.location, notes);
    let served = prefix.and_then(|prefix| ndn.server(prefix, notes));
    let controller = controller(table, ndn, notes);
    // without a server the sizes do not matter: something is noted
    let (payload, data) =
        served.map_or((Bytes::new(1024), Bytes::new(1100)), |served| (served.payload, served.data));
    let source = table.source.present().map(|source| self::source(source, data, notes));
    let none = Consumer::default();
    let consumer = table.consumer.present().map_or(&none, |at| &at.value);
    let consumer = pattern(consumer, notes)?;
    let base = ConsumerConfig {
        interest: ndn.interest,
        lifetime: ndn.lifetime,
        ..ConsumerConfig::with_controller(NameId(0), payload)
    };
    // a source asks once
    let defaults = if matches!(source, Some(Some(_))) { ConsumerConfig { retries: 0, ..base } } else { base };
    let filled = consumer.filled(&defaults);
    let filled = Consumer { retries: filled.retries.clone().filter(|count| *count < u32::MAX), ..filled };
    if let Some(phase) = consumer.tick_phase.present()
        && phase.value > Duration::ZERO
        && phase.value >= filled.tick.or(defaults.tick)
    {
        notes
            .wrong(
                phase.location,
                format!(
                    "a clock that ticks each {} cannot be {} late",
                    filled.tick.or(defaults.tick),
                    phase.value
                ),
            )
            .hint("`tick_phase` is less than `tick`");
    }
    let (min, max) = (filled.min_rto.or(defaults.timeout.min), filled.max_rto.or(defaults.timeout.max));
    if min > max {
        let location = consumer
            .min_rto
            .present()
            .or(consumer.max_rto.present())
            .map_or(consumer.location, |at| at.location);
        notes
            .wrong(location, format!("`min_rto` of {min} is above `max_rto` of {max}"))
            .hint("lower one or raise the other");
    }
    let table = Flow {
        network: table.network.clone(),
        prefix: table.prefix.clone(),
        size: table.size.clone(),
        source: source.flatten().into(),
        consumer: filled.into(),
        ..controller?
    };
    Some(Machine { table, transport: Transport::Ndn, packet: data, trace: None })
}

/// The keys of the scheme and its parameters; none with a source.
fn controller(table: &At<Flow>, ndn: &NdnNet, notes: &mut Notes) -> Option<Flow> {
    if let Some(source) = table.source.present() {
        if table.scheme.present().is_some() {
            notes.wrong(source.location, "a flow has a scheme or a source").hint("write one of them");
        }
        reject_keys(table, &["params"], "a source without congestion control", notes);
        return Some(Flow::default());
    }
    if table.scheme.is_missing() && table.source.is_missing() {
        notes
            .wrong(table.location, "a flow needs `scheme` or `source`")
            .hint("write scheme = \"aimd\" or source = { kind = \"constant\", interests = 500 }");
    }
    let written = table.scheme.present()?;
    let name = &written.0;
    let entry = &schemes::find(name)?;
    let asks = entry.scheme.families.contains(&Family::Ndn) && matches!(entry.build, Build::Control(_));
    if !asks {
        notes
            .wrong(
                written.location,
                format!("`{name}` is not a congestion controller for consumers of named data"),
            )
            .hint("take a scheme of the family ndn, such as scheme = \"aimd\"");
        return None;
    }
    if entry.link.is_some() && entry.scheme.families == [Family::Ndn] && ndn.link.is_none() {
        notes
            .wrong(written.location, format!("`{name}` has a part in forwarders, but [ndn] does not name it"))
            .hint(format!("write link = \"{name}\" under [ndn], or link = \"none\" to do without it"));
    }
    let params = params(table, entry, notes)?;
    for need in entry.scheme.needs {
        if let Need::Deliveries { param, value } = need
            && let Some((_, given)) = params.0.iter().find(|(name, _)| name.value == *param)
            && given.value == (*value).into()
        {
            notes
                .wrong(
                    given.location,
                    format!(
                        "`{name}` with {param} = \"{value}\" needs to be told of deliveries, and consumers do not tell: its \
                         window would never grow"
                    ),
                )
                .hint(format!("leave out `{param}`, or use the scheme over TCP"));
        }
    }
    let params = params.into();
    Some(Flow { scheme: table.scheme.clone(), params, ..Flow::default() })
}

/// Gaps and mean rate of Data of a consumer without a controller.
fn source(source: &Source, data: Bytes, notes: &mut Notes) -> Option<Source> {
    let kind = source.kind.required("kind", "a source", source.location, notes);
    let hint = match kind.map(|kind| kind.value) {
        Some(SourceWord::Frames | SourceWord::Trace) => Some("frames are what a stream carries"),
        Some(SourceWord::OnOff) => Some("on- and off-times are those of its flow: see `churn`"),
        Some(SourceWord::Constant | SourceWord::Poisson) | None => None,
    };
    if let (Some(kind), Some(hint)) = (kind, hint) {
        notes.wrong(kind.location, "a consumer of named data is constant or poisson").hint(hint);
    }
    for (key, location) in source.written() {
        if !matches!(key, "kind" | "rate" | "interests") {
            notes
                .wrong(location, format!("`{key}` does not go with a consumer of named data"))
                .hint("leave it out");
        }
    }
    let rate = match (&source.rate, &source.interests) {
        (Field::Present(rate), Field::Present(interests)) => {
            notes
                .wrong(interests.location, format!("`rate` of {} and `interests`", rate.value))
                .hint("write one of them");
            None
        }
        (Field::Present(rate), _) => Some(rate.value),
        (_, Field::Present(interests)) => {
            let rate = Rate::from_bps_f64(interests.value * data.as_f64() * 8.0).max(Rate::from_bps(1));
            let max = Rate::from_text("10000 Gbit/s").unwrap_or(Rate::UNLIMITED);
            if rate > max {
                notes
                    .wrong(interests.location, format!("Data of this many Interests arrive at {rate}"))
                    .hint(format!("at most {max}"));
            }
            Some(rate)
        }
        (Field::Missing, Field::Missing) => {
            notes
                .wrong(source.location, "a source needs `rate` or `interests`")
                .hint("write interests = 500");
            None
        }
        _ => None,
    };
    kind.filter(|_| hint.is_none())?;
    Some(Source { kind: source.kind.clone(), rate: rate?.into(), ..Source::default() })
}

/// The settings with the keys of their pattern filled in.
fn pattern(consumer: &Consumer, notes: &mut Notes) -> Option<Consumer> {
    let usual = Consumer::defaults();
    let word = consumer.pattern.or(*usual.pattern.resolved());
    for (key, location) in consumer.written() {
        let of = match key {
            "batch" | "every" => PatternWord::Batches,
            "contents" | "segments" | "exponent" | "shift" => PatternWord::Zipf,
            _ => continue,
        };
        if of != word {
            notes
                .wrong(location, format!("`{key}` does not go with pattern = \"{}\"", word.word()))
                .hint(format!("it belongs to pattern = \"{}\"", of.word()));
        }
    }
    let location = consumer.pattern.present().map_or(consumer.location, |at| at.location);
    let mut filled = consumer.clone();
    filled.pattern = filled.pattern.filled(word);
    match word {
        PatternWord::Sequential => {}
        PatternWord::Batches => {
            let size = consumer.batch.required("batch", "pattern = \"batches\"", location, notes);
            let every = consumer.every.required("every", "pattern = \"batches\"", location, notes);
            size.and(every.map(|_| ()))?;
        }
        PatternWord::Zipf => {
            consumer.contents.required("contents", "pattern = \"zipf\"", location, notes)?;
            filled.segments = filled.segments.filled(*usual.segments.resolved());
            filled.exponent = filled.exponent.filled(*usual.exponent.resolved());
            filled.shift = filled.shift.filled(*usual.shift.resolved());
        }
    }
    Some(filled)
}
