//! Flows of transport stacks that are not ours: the controller, or the scheme that takes its place; the encoder of
//! media.

use std::sync::Arc;

use sim::Cast;
use stack::quic::FlowControl;
use stack::stream::EncoderModel;
use units::Bytes;

use super::model::{Machine, Transport, reject_keys};
use super::params::params;
use crate::schema::file::{Flow, NetworkWord, StackWord};
use crate::schema::quic::Quic;
use crate::schema::read::{At, Notes, nearest, shortened};
use crate::schema::video::Encoder;
use crate::stacks::Stack;

/// Largest send window: an upload without an end fills it at once.
const MAX_SEND_WINDOW: Bytes = Bytes::new(1_000_000_000);

/// Keys of flows whose endpoints are of another kind, or outside.
const OTHERS: [&str; 9] =
    ["tcp", "stream", "player", "rate", "source", "kernel", "commands", "prefix", "consumer"];

/// Reports a controller or a flow control of a stack on a flow without a stack.
pub(super) fn check(table: &Flow, notes: &mut Notes) {
    if let Some(quic) = table.quic.present()
        && table.stack.is_missing()
    {
        let hint = match table.scheme.present() {
            Some(_) => "write stack = \"quinn\"; over TCP it is tcp = { receive_window = \"1 MB\" }",
            None => "write stack = \"quinn\"",
        };
        notes.wrong(quic.location, "`quic` is flow control of a QUIC stack").hint(hint);
    }
    if let Some(own) = table.controller.present()
        && table.stack.is_missing()
    {
        notes
            .wrong(own.location, "`controller` is the congestion control of a transport stack")
            .hint("write stack = \"quinn\", or a `scheme`");
    }
}

/// The machine of a flow over `stack`; `None` when something is noted.
pub(super) fn machine(
    table: &At<Flow>,
    stack: &At<StackWord>,
    network: NetworkWord,
    cast: Cast,
    notes: &mut Notes,
) -> Option<Machine> {
    let before = notes.count();
    let name = stack.value.word();
    let Some(contained) = stack.value.contained() else {
        notes
            .wrong(stack.location, format!("this build does not contain the stack `{name}`"))
            .hint(format!("build it with the feature of that name: cargo build -p python --features {name}"));
        return None;
    };
    if network != NetworkWord::Ip || cast != Cast::Unicast {
        notes
            .wrong(stack.location, format!("`{name}` has one receiver, by address"))
            .hint("write to = \"NODE\" and leave `network` and `multicast` out");
    }
    let of = format!("stack = \"{name}\"");
    reject_keys(table, &OTHERS, &of, notes);
    let unfit: &[&str] =
        if contained.encoder.is_some() { &["size", "arrivals", "app", "quic"] } else { &["encoder"] };
    reject_keys(table, unfit, &of, notes);
    let packet = table.packet.or(Bytes::new(1500));
    let (min_packet, why) = contained.min_packet;
    if packet < min_packet {
        let location = table.packet.present().map_or(stack.location, |at| at.location);
        notes
            .wrong(location, format!("`{name}` needs a path that carries packets of {min_packet}"))
            .hint(why);
    }
    let encoder = contained.encoder.as_ref().and_then(|defaults| encoder(table, defaults, notes));
    let quic = contained.flow_control.map(|defaults| flow_control(table, defaults));
    let keys = controller(table, name, &contained, notes);
    if notes.count() > before {
        return None;
    }
    let keys = Flow {
        stack: table.stack.clone(),
        packet: table.packet.clone().filled(packet),
        size: table.size.clone(),
        encoder: encoder.into(),
        quic: quic.into(),
        ..keys?
    };
    Some(Machine::new(Transport::Stack, keys))
}

/// The table of flow control, complete.
fn flow_control(table: &At<Flow>, defaults: FlowControl) -> Arc<Quic> {
    let none = Quic::default();
    let written = table.quic.present().map_or(&none, |at| &*at.value);
    let receive_window = written.receive_window.or(defaults.receive_window);
    let send_window = FlowControl::send_window(receive_window).clamp(defaults.send_window, MAX_SEND_WINDOW);
    Arc::new(written.filled(&FlowControl { receive_window, send_window }))
}

/// The table of the encoder, complete.
fn encoder(table: &At<Flow>, defaults: &sim::Encoder, notes: &mut Notes) -> Option<Arc<Encoder>> {
    let written = table.encoder.present();
    let mut all = defaults.clone();
    if let Some(at) = written {
        at.set(&mut all);
    }
    if let Some(drop_after) = written.and_then(|at| at.drop_after.present()) {
        notes
            .wrong(drop_after.location, "frames wait inside of the stack, which drops none by age")
            .hint("leave `drop_after` out");
        return None;
    }
    let sim::Encoder { start, model: EncoderModel { min, max, .. }, .. } = all;
    if let Some(at) = written
        && !(min <= start && start <= max)
    {
        notes
            .wrong(at.location, format!("an encoder from {min} to {max} cannot start at {start}"))
            .hint("min ≤ start ≤ max");
        return None;
    }
    Some(Arc::new(written.map_or_else(Encoder::default, |at| at.value.as_ref().clone()).filled(defaults)))
}

/// The keys of the stack's own controller, or of the scheme that takes its place.
fn controller(table: &At<Flow>, name: &str, stack: &Stack, notes: &mut Notes) -> Option<Flow> {
    if let Some(scheme) = table.scheme.present() {
        if let Some(own) = table.controller.present() {
            notes.wrong(own.location, "a flow has a `scheme` or a `controller`").hint("write one of them");
        }
        if !stack.schemes.contains(&scheme.0.as_str()) {
            let hint = match stack.schemes {
                [] => "leave it out: the stack has its own congestion control".to_owned(),
                known => format!("take one of {}", known.join(", ")),
            };
            notes.wrong(scheme.location, format!("`{}` cannot control `{name}`", scheme.0)).hint(hint);
            return None;
        }
        let params = params(table, &schemes::find(&scheme.0)?, notes)?.into();
        return Some(Flow { scheme: table.scheme.clone(), params, ..Flow::default() });
    }
    if !table.scheme.is_missing() {
        return None;
    }
    reject_keys(table, &["params"], "a controller of the stack", notes);
    if let Some(own) = table.controller.present()
        && !stack.own.contains(&own.as_str())
    {
        notes
            .wrong(own.location, format!("`{name}` has no controller `{}` here", shortened(own)))
            .hint(hint(own, stack));
    }
    let controller = table.controller.clone().filled(stack.own[0].to_owned());
    Some(Flow { controller, ..Flow::default() })
}

fn hint(own: &str, stack: &Stack) -> String {
    if let Some((_, why)) = stack.refused.iter().find(|(name, _)| *name == own) {
        return (*why).to_owned();
    }
    if let Some(near) = nearest(own, stack.own.iter().copied()) {
        return format!("did you mean `{near}`?");
    }
    if stack.schemes.contains(&own) {
        return format!("write scheme = \"{own}\" for the scheme of the catalogue");
    }
    match stack.own {
        [only] => format!("the stack has {only}"),
        own => format!("the stack has {}; write `scheme` for one of Thalweg's", own.join(" and ")),
    }
}
