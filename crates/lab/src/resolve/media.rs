//! The range of rates of a scheme for media whose stream has an encoder: where the scenario leaves it open, it contains
//! that of the encoder.

use contract::ParamValue;
use schemes::Entry;
use stack::stream::EncoderModel;
use units::{Rate, UnitText};

use crate::schema::file::Flow;
use crate::schema::read::{Notes, Read as _};

/// Schemes for media; their sources leave both ends of the range to what is sent (RFC 8698 §4.1: rates that the encoder
/// supports).
const MEDIA: [&str; 3] = ["gcc", "nada", "scream"];

/// Parameters in place of defaults that would keep the scheme from rates of the encoder.
pub(super) fn params(table: &Flow, entry: &Entry) -> Vec<(&'static str, ParamValue)> {
    let Some((min, max)) = range(table, entry) else { return Vec::new() };
    let default = |name: &str| {
        (entry.params)().iter().find(|info| info.name == name).and_then(|info| rate(&info.default))
    };
    let mut wider = Vec::new();
    if default("min_rate").is_some_and(|default| min < default) {
        wider.push(("min_rate", text(min)));
    }
    if default("max_rate").is_some_and(|default| max > default) {
        wider.push(("max_rate", text(max)));
    }
    wider
}

/// Warns of parameters that keep the scheme from rates of an encoder that are written, too.
pub(super) fn warn(table: &Flow, entry: &Entry, notes: &mut Notes) {
    let (Some((min, max)), Some(encoder), Some(params)) =
        (range(table, entry), table.encoder.present(), table.params.present())
    else {
        return;
    };
    let (name, params) = (entry.scheme.name, params.value.list());
    let written =
        |key: &str| params.iter().find(|(param, _)| param == key).and_then(|(_, value)| rate(value));
    if let (Some(at), Some(limit)) = (encoder.max.present(), written("max_rate").filter(|limit| *limit < max))
    {
        notes
            .warn(at.location, format!("the encoder never reaches {max}: `max_rate` of `{name}` is {limit}"))
            .hint("raise or leave out `max_rate`, or lower `max`");
    }
    if let (Some(at), Some(limit)) = (encoder.min.present(), written("min_rate").filter(|limit| *limit > min))
    {
        notes
            .warn(at.location, format!("the encoder never falls to {min}: `min_rate` of `{name}` is {limit}"))
            .hint("lower or leave out `min_rate`, or raise `min`");
    }
}

/// The rates of the encoder of a flow with a scheme for media.
fn range(table: &Flow, entry: &Entry) -> Option<(Rate, Rate)> {
    let encoder = table.encoder.present().filter(|_| MEDIA.contains(&entry.scheme.name))?;
    let defaults = EncoderModel::default();
    Some((encoder.min.or(defaults.min), encoder.max.or(defaults.max)))
}

fn rate(value: &ParamValue) -> Option<Rate> {
    match value {
        ParamValue::Text(text) => Rate::from_text(text).ok(),
        _ => None,
    }
}

fn text(rate: Rate) -> ParamValue {
    ParamValue::Text(rate.to_value().as_str().unwrap_or_default().to_owned())
}
