//! Traffic sources of flows in an emulation, and their consequences for the settings of the flow.

use contract::Family;
use schemes::Build;
use sim::{Cast, FlowEmulation};
use units::Bytes;
use wire::UDP_HEADERS;
use wire::stream::{FEEDBACK, SEGMENT};

use crate::schema::file::{Flow, NetworkWord};
use crate::schema::read::{At, Notes, nearest, shortened};

/// Header of a TCP segment of Linux: IPv4, TCP, timestamps.
const KERNEL_HEADER: Bytes = Bytes::new(52);
/// Header of a segment of our live endpoints: IPv4, UDP, our own.
const LIVE_HEADER: Bytes = Bytes::new((UDP_HEADERS + SEGMENT) as u64);
/// A feedback packet of theirs.
const LIVE_FEEDBACK: Bytes = Bytes::new((UDP_HEADERS + FEEDBACK) as u64);

/// Who takes the place of the flow's machines.
pub(crate) fn outside(table: &Flow) -> Option<FlowEmulation> {
    if let Some(kernel) = table.kernel.given() {
        return Some(FlowEmulation::Kernel(kernel.value.clone()));
    }
    if table.live.or(false) {
        return Some(FlowEmulation::Live);
    }
    let commands = table.commands.given()?;
    let text = |field: &crate::schema::read::Field<String>| field.given().map(|at| at.value.clone());
    Some(FlowEmulation::Commands { sender: text(&commands.sender), receiver: text(&commands.receiver) })
}

/// Notes what does not go with ends outside.
pub(crate) fn check(table: &At<Flow>, network: NetworkWord, cast: Cast, notes: &mut Notes) {
    let kernel = table.kernel.given().map(|at| (at.place, "kernel"));
    let live = table.live.given().filter(|at| at.value).map(|at| (at.place, "live"));
    let commands = table.commands.given().map(|at| (at.place, "commands"));
    let mut written = [kernel, live, commands].into_iter().flatten();
    let Some((place, key)) = written.next() else { return };
    for (place, other) in written {
        notes.wrong(place, format!("a flow has `{key}` or `{other}`")).hint("write one of them");
    }
    let (fits, who, hint) = match key {
        "kernel" => (
            network == NetworkWord::Ip && cast == Cast::Unicast,
            "flows with one receiver, by address",
            "write to = \"NODE\" and leave `network` and `multicast` out",
        ),
        "live" => {
            (network != NetworkWord::Ndn, "flows by address, and groups by name", "leave `network` out")
        }
        _ => (network == NetworkWord::Ip, "flows by address", "leave `network` out"),
    };
    if !fits {
        notes.wrong(place, format!("`{key}` is for {who}")).hint(hint);
    }
    if let Some(kernel) = table.kernel.given() {
        let odd = kernel.is_empty() || kernel.len() > 15 || !kernel.chars().all(is_of_a_name);
        if odd {
            notes
                .wrong(kernel.place, format!("`{}` is no congestion control of a kernel", shortened(kernel)))
                .hint("such as \"reno\", \"cubic\" or \"bbr\"");
        }
        if let Some(source) = table.source.given() {
            notes
                .wrong(source.place, "a flow of the kernel's TCP has a scheme, not a source")
                .hint("leave `source` out");
        }
    }
    if key == "live" && table.scheme.is_missing() {
        notes
            .wrong(place, "a live flow has a scheme")
            .hint("write scheme = \"cubic\"; what has no congestion control does not go over sockets");
    }
    if let Some(commands) = table.commands.given()
        && commands.sender.is_missing()
        && commands.receiver.is_missing()
    {
        notes.wrong(commands.place, "there is no command").hint("write `sender`, `receiver` or both");
    }
}

/// Letters, digits and `_`, as names of kernel modules.
fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a flow has commands and nothing that takes their place in a simulation, which sends nothing then.
pub(crate) fn commands_alone(table: &Flow) -> bool {
    let others = table.scheme.is_missing() && table.source.is_missing() && table.kernel.is_missing();
    others && table.commands.given().is_some() && !table.live.or(false)
}

/// The scheme of a flow without `source`: what is written, or what is called as the kernel's. `None` when something is noted.
pub(crate) fn scheme(table: &At<Flow>, notes: &mut Notes) -> Option<String> {
    if let Some(scheme) = table.scheme.given() {
        return Some(scheme.0.clone());
    }
    if !table.scheme.is_missing() {
        return None;
    }
    let Some(kernel) = table.kernel.given() else {
        notes
            .wrong(table.place, "a flow needs `scheme` or `source`")
            .hint("write scheme = \"cubic\" or source = { kind = \"constant\", rate = \"1 Mbit/s\" }");
        return None;
    };
    let runs_over_tcp = |entry: &schemes::Entry| {
        matches!(entry.build, Build::Control(_)) && entry.scheme.families != [Family::Ndn]
    };
    if schemes::find(kernel).is_some_and(|entry| runs_over_tcp(&entry)) {
        return Some(kernel.value.clone());
    }
    let known = schemes::catalogue().into_iter().filter(runs_over_tcp).map(|entry| entry.scheme.name);
    let hint = match nearest(kernel, known) {
        Some(near) => format!("did you mean `{near}`?"),
        None => "write as `scheme` what takes its place there".to_owned(),
    };
    notes.wrong(kernel.place, format!("a simulation has no TCP with `{}`", shortened(kernel))).hint(hint);
    None
}

/// Header of a TCP segment where the scenario does not say it.
pub(crate) fn header(table: &Flow, otherwise: Bytes) -> Bytes {
    match () {
        () if !table.kernel.is_missing() => KERNEL_HEADER,
        () if table.live.or(false) => LIVE_HEADER,
        () => otherwise,
    }
}

/// Size of a feedback packet where the scenario does not say it.
pub(crate) fn feedback(table: &Flow, otherwise: Bytes) -> Bytes {
    if table.live.or(false) { LIVE_FEEDBACK } else { otherwise }
}
