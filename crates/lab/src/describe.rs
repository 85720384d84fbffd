//! The catalogue as JSON: schemes, strategies, metrics, series. The command prints it, and the reference pages are
//! generated from it.

use contract::{Family, ParamInfo, ParamValue, SeriesInfo};
use schemes::Build;
use serde_json::{Value, json};

use crate::RENAMED;
use crate::report::{METRICS, Shown};

/// The catalogue of schemes: a list of `{name, title, families, transport, router, rack, documented, sources, params}`;
/// `router`: whether it needs a part in routers; `rack`: whether its flows over TCP have RACK-TLP by default.
pub fn schemes() -> Value {
    let rows = schemes::catalogue().into_iter().map(|entry| {
        json!({
            "name": entry.scheme.name,
            "title": entry.scheme.title,
            "families": entry.scheme.families.iter().map(|family| family.name()).collect::<Vec<_>>(),
            "transport": match entry.build {
                Build::Control(_) if entry.scheme.families == [Family::Ndn] => "ndn",
                Build::Control(_) => "tcp",
                Build::Stream { .. } => "stream",
                Build::Forwarder => "ndn",
            },
            "router": matches!(entry.build, Build::Stream { router: Some(_), .. }),
            "rack": entry.scheme.has_rack(),
            "documented": entry.scheme.documented.name(),
            "sources": entry.scheme.sources.iter().map(|source| json!({"key": source.key, "text": source.text})).collect::<Vec<_>>(),
            "params": (entry.params)().iter().map(param).collect::<Vec<_>>(),
        })
    });
    rows.collect()
}

/// The strategies of forwarders that are no schemes: a list of `{name, title, params}`.
pub fn strategies() -> Value {
    let rows = stack::ndn::strategies::ALL.iter().map(|entry| {
        let params: Vec<Value> = (entry.params)().iter().map(param).collect();
        json!({ "name": entry.name, "title": entry.title, "params": params })
    });
    rows.collect()
}

/// Every column and key of a result: a list of `{table, name, unit, definition, measured, display, factor, shown,
/// groups}`; the last two are `{place, heading, rank, unless_zero, in_full}`, or null for what is not printed there.
pub fn metrics() -> Value {
    let shown = |shown: Option<Shown>| {
        shown.map(|shown| {
            json!({
                "place": shown.place,
                "heading": shown.heading,
                "rank": shown.rank,
                "unless_zero": shown.unless_zero,
                "in_full": shown.in_full,
            })
        })
    };
    let rows = METRICS.iter().map(|row| {
        json!({
            "table": row.table,
            "name": row.name,
            "unit": row.unit,
            "definition": row.definition,
            "measured": row.measured,
            "display": row.display,
            "factor": row.factor(),
            "shown": shown(row.shown),
            "groups": shown(row.groups),
        })
    });
    rows.collect()
}

/// Every series that can be recorded: a list of `{name, unit, subject, definition, offered_by}`, offered by `any run`,
/// a transport or a scheme.
pub fn series() -> Value {
    let mut rows = Vec::new();
    let mut add = |offered_by: &str, series: &[SeriesInfo]| {
        rows.extend(series.iter().map(|(name, unit, subject, definition)| {
            json!({"name": name, "unit": unit, "subject": subject, "definition": definition, "offered_by": offered_by})
        }));
    };
    add("any run", sim::SERIES);
    add("any run", crate::report::DERIVED);
    add("tcp", stack::tcp::SERIES);
    add("stack", stack::tcp::SERIES);
    add("stream", stack::stream::SERIES);
    add("video", stack::stream::VIDEO_SERIES);
    add("encoder", stack::stream::ENCODER_SERIES);
    add("player", stack::stream::PLAYER_SERIES);
    add("ndn", stack::ndn::CONSUMER_SERIES);
    add("forwarders", stack::ndn::SERIES);
    for entry in schemes::catalogue() {
        add(entry.scheme.name, entry.scheme.series);
    }
    Value::Array(rows)
}

/// Names of earlier versions: a list of `[old, new]`.
pub fn renamed() -> Value {
    json!(RENAMED)
}

fn param(info: &ParamInfo) -> Value {
    json!({
        "name": info.name,
        "doc": info.doc,
        "kind": info.kind.name(),
        "default": value(&info.default),
        "range": info.range.as_ref().map(|(low, high)| [value(low), value(high)]),
        "source": info.source,
    })
}

fn value(value: &ParamValue) -> Value {
    match value {
        ParamValue::Float(x) => json!(x),
        ParamValue::Int(x) => json!(x),
        ParamValue::Bool(x) => json!(x),
        ParamValue::Text(x) => json!(x),
    }
}
