//! Consumers of named data: scheme or source, settings, and request pattern.

use contract::{Family, NameId, ParamList};
use schemes::Build;
use sim::FlowKind;
use stack::ndn::{ConsumerConfig, Gaps, Pattern};
use units::{Bytes, Duration, Rate, UnitText};

use super::ndn::NdnNet;
use super::transports::{Machine, refuse};
use crate::resolve::params::params;
use crate::schema::file::{Flow, Source, SourceWord};
use crate::schema::ndn::{Consumer, PatternWord};
use crate::schema::read::{At, Field, Notes};

/// The machine of a flow with network = "ndn"; `None` when something is noted.
pub(crate) fn machine(table: &At<Flow>, ndn: &NdnNet, notes: &mut Notes) -> Option<Machine> {
    for (key, place) in table.written() {
        let hint = match key {
            "to" | "multicast" | "receivers" => {
                "whoever serves the prefix answers, and Data comes back to the consumer"
            }
            "packet" => "the producer says how large its Data are",
            "rate" => "a consumer asks as fast as its law permits, or as its `source` says",
            "player" => "players play the frames of streams",
            "tcp" | "stream" | "arrivals" => "its settings are those of `consumer`",
            _ => continue,
        };
        notes.wrong(place, format!("`{key}` does not go with a consumer of named data")).hint(hint);
    }
    let prefix = table.prefix.required("prefix", "a consumer of named data", table.place, notes);
    let served = prefix.and_then(|prefix| ndn.server(prefix, notes));
    let law = law(table, ndn, notes);
    // without a server the sizes do not matter: something is noted
    let (payload, data) =
        served.map_or((Bytes::new(1024), Bytes::new(1100)), |served| (served.payload, served.data));
    let source = table.source.given().and_then(|source| rate(source, data, notes));
    let none = Consumer::default();
    let consumer = table.consumer.given().map_or(&none, |at| &at.value);
    let pattern = pattern(consumer, notes)?;
    let base = ConsumerConfig { data, ..ConsumerConfig::with_law(NameId(0), payload) };
    let base = match source {
        Some((rate, gaps)) => ConsumerConfig { rate, gaps, retries: 0, ..base },
        None => base,
    };
    let config = consumer.over(ConsumerConfig {
        interest: ndn.interest,
        lifetime: ndn.lifetime,
        pattern,
        size: table.size.or(Bytes::UNLIMITED),
        ..base
    });
    if let Some(phase) = consumer.tick_phase.given()
        && phase.value > Duration::ZERO
        && phase.value >= config.tick
    {
        notes
            .wrong(
                phase.place,
                format!("a clock that ticks each {} cannot be {} late", config.tick, phase.value),
            )
            .hint("`tick_phase` is less than `tick`");
    }
    if config.timeout.min > config.timeout.max {
        let place =
            consumer.min_rto.given().or(consumer.max_rto.given()).map_or(consumer.place, |at| at.place);
        let (min, max) = (config.timeout.min, config.timeout.max);
        notes
            .wrong(place, format!("`min_rto` of {min} is above `max_rto` of {max}"))
            .hint("lower one or raise the other");
    }
    let (scheme, params) = law?;
    Some((scheme, params, FlowKind::Ndn(config)))
}

/// The scheme and its parameters, or none with a source.
fn law(table: &At<Flow>, ndn: &NdnNet, notes: &mut Notes) -> Option<(Option<String>, ParamList)> {
    if let Some(source) = table.source.given() {
        if table.scheme.given().is_some() {
            notes.wrong(source.place, "a flow has a scheme or a source").hint("write one of them");
        }
        refuse(table, &["params"], "a source without congestion control", notes);
        return Some((None, Vec::new()));
    }
    if table.scheme.is_missing() && table.source.is_missing() {
        notes
            .wrong(table.place, "a flow needs `scheme` or `source`")
            .hint("write scheme = \"aimd\" or source = { kind = \"constant\", interests = 500 }");
    }
    let written = table.scheme.given()?;
    let name = &written.0;
    let entry = &schemes::find(name)?;
    let asks = entry.scheme.families.contains(&Family::Ndn) && matches!(entry.build, Build::Control(_));
    if !asks {
        notes
            .wrong(written.place, format!("`{name}` is no law of consumers of named data"))
            .hint("take a law of the family ndn, such as scheme = \"aimd\"");
        return None;
    }
    if entry.link.is_some() && entry.scheme.families == [Family::Ndn] && ndn.link.is_none() {
        notes
            .wrong(written.place, format!("`{name}` has a part in forwarders, which [ndn] does not say"))
            .hint(format!("write link = \"{name}\" under [ndn], or link = \"none\" to do without it"));
    }
    Some((Some(name.clone()), params(table, entry, notes)?))
}

/// Mean rate of Data, and gaps, of a consumer without a law.
fn rate(source: &At<Source>, data: Bytes, notes: &mut Notes) -> Option<(Rate, Gaps)> {
    let kind = source.kind.required("kind", "a source", source.place, notes);
    let gaps = kind.and_then(|kind| match kind.value {
        SourceWord::Constant => Some(Gaps::Even),
        SourceWord::Poisson => Some(Gaps::Exponential),
        SourceWord::Frames | SourceWord::Trace => {
            notes
                .wrong(kind.place, "a consumer of named data is constant or poisson")
                .hint("frames are what a stream carries");
            None
        }
        SourceWord::OnOff => {
            notes
                .wrong(kind.place, "a consumer of named data is constant or poisson")
                .hint("on- and off-times are those of its flow: see `churn`");
            None
        }
    });
    for (key, place) in source.written() {
        if !matches!(key, "kind" | "rate" | "interests") {
            notes
                .wrong(place, format!("`{key}` does not go with a consumer of named data"))
                .hint("leave it out");
        }
    }
    let rate = match (&source.rate, &source.interests) {
        (Field::Given(rate), Field::Given(interests)) => {
            notes
                .wrong(interests.place, format!("`rate` of {} and `interests`", rate.value))
                .hint("write one of them");
            None
        }
        (Field::Given(rate), _) => Some(rate.value),
        (_, Field::Given(interests)) => {
            let rate = Rate::from_bps_f64(interests.value * data.as_f64() * 8.0).max(Rate::from_bps(1));
            let max = Rate::from_text("10000 Gbit/s").unwrap_or(Rate::UNLIMITED);
            if rate > max {
                notes
                    .wrong(interests.place, format!("Data of this many Interests arrive at {rate}"))
                    .hint(format!("at most {max}"));
            }
            Some(rate)
        }
        (Field::Missing, Field::Missing) => {
            notes.wrong(source.place, "a source needs `rate` or `interests`").hint("write interests = 500");
            None
        }
        _ => None,
    };
    Some((rate?, gaps?))
}

fn pattern(consumer: &Consumer, notes: &mut Notes) -> Option<Pattern> {
    let word = consumer.pattern.or(PatternWord::Sequential);
    for (key, place) in consumer.written() {
        let of = match key {
            "batch" | "every" => PatternWord::Batches,
            "contents" | "segments" | "exponent" | "shift" => PatternWord::Zipf,
            _ => continue,
        };
        if of != word {
            notes
                .wrong(place, format!("`{key}` does not go with pattern = \"{}\"", word.word()))
                .hint(format!("it belongs to pattern = \"{}\"", of.word()));
        }
    }
    let place = consumer.pattern.given().map_or(consumer.place, |at| at.place);
    Some(match word {
        PatternWord::Sequential => Pattern::Sequential,
        PatternWord::Batches => {
            let size =
                consumer.batch.required("batch", "pattern = \"batches\"", place, notes).map(|at| at.value);
            let every =
                consumer.every.required("every", "pattern = \"batches\"", place, notes).map(|at| at.value);
            Pattern::Batches { size: size?, every: every? }
        }
        PatternWord::Zipf => {
            let contents = consumer.contents.required("contents", "pattern = \"zipf\"", place, notes);
            Pattern::Zipf {
                contents: contents?.value,
                segments: consumer.segments.or(1),
                exponent: consumer.exponent.or(1.0),
                shift: consumer.shift.or(0.0),
            }
        }
    })
}
