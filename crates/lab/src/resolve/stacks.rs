//! Flows of transport stacks that are not ours: the controller, or the scheme that takes its place.

use sim::Cast;
use units::Bytes;

use super::params::params;
use super::transports::{Machine, Transport, refuse};
use crate::schema::file::{Flow, NetworkWord, StackWord};
use crate::schema::read::{At, Notes, nearest, shortened};
use crate::stacks::Stack;

/// Keys of flows whose endpoints are of another kind, or outside.
const OTHERS: [&str; 9] =
    ["tcp", "stream", "player", "rate", "source", "kernel", "commands", "prefix", "consumer"];

/// Notes a controller of a stack where there is none.
pub(super) fn check(table: &Flow, notes: &mut Notes) {
    if let Some(own) = table.controller.given()
        && table.stack.is_missing()
    {
        notes
            .wrong(own.place, "`controller` is the congestion control of a transport stack")
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
            .wrong(stack.place, format!("this build does not contain the stack `{name}`"))
            .hint(format!("build it with the feature of that name: cargo build -p python --features {name}"));
        return None;
    };
    if network != NetworkWord::Ip || cast != Cast::Unicast {
        notes
            .wrong(stack.place, format!("`{name}` has one receiver, by address"))
            .hint("write to = \"NODE\" and leave `network` and `multicast` out");
    }
    refuse(table, &OTHERS, &format!("stack = \"{name}\""), notes);
    let packet = table.packet.or(Bytes::new(1500));
    if packet < contained.min_packet {
        let place = table.packet.given().map_or(stack.place, |at| at.place);
        notes
            .wrong(place, format!("`{name}` needs a path that carries packets of {}", contained.min_packet))
            .hint("a UDP payload of 1200 B and 28 B of headers [RFC 9000 §14]");
    }
    let keys = controller(table, name, &contained, notes);
    if notes.count() > before {
        return None;
    }
    let keys = Flow {
        stack: table.stack.clone(),
        packet: table.packet.clone().filled(packet),
        size: table.size.clone(),
        ..keys?
    };
    Some(Machine::new(Transport::Stack, keys))
}

/// The keys of the stack's own controller, or of the scheme that takes its place.
fn controller(table: &At<Flow>, name: &str, stack: &Stack, notes: &mut Notes) -> Option<Flow> {
    if let Some(scheme) = table.scheme.given() {
        if let Some(own) = table.controller.given() {
            notes.wrong(own.place, "a flow has a `scheme` or a `controller`").hint("write one of them");
        }
        if !stack.schemes.contains(&scheme.0.as_str()) {
            notes
                .wrong(scheme.place, format!("`{}` cannot control `{name}`", scheme.0))
                .hint(format!("take one of {}", stack.schemes.join(", ")));
            return None;
        }
        let params = params(table, &schemes::find(&scheme.0)?, notes)?.into();
        return Some(Flow { scheme: table.scheme.clone(), params, ..Flow::default() });
    }
    if !table.scheme.is_missing() {
        return None;
    }
    refuse(table, &["params"], "a controller of the stack", notes);
    if let Some(own) = table.controller.given()
        && !stack.own.contains(&own.as_str())
    {
        notes
            .wrong(own.place, format!("`{name}` has no controller `{}` here", shortened(own)))
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
    format!("its own are {}; write `scheme` for one of the catalogue", stack.own.join(" and "))
}
