//! Emulation: real nodes, the traffic source of each flow, and its consequences for the settings of the flow.

use std::collections::BTreeSet;

use contract::{Family, NodeId};
use schemes::Build;
use sim::{Cast, Emulation as Settings};
use units::Bytes;
use wire::UDP_HEADERS;
use wire::stream::{FEEDBACK, SEGMENT};

use super::model::Transport;
use super::traffic::{ResolvedFlow, Traffic};
use crate::schema::emulation::Emulation;
use crate::schema::file::{File, Flow, NetworkWord};
use crate::schema::read::{At, Notes, nearest, shortened};
use crate::topology::Net;

/// Maximum number of flows with endpoints outside the simulation: each has its own port number.
const MAX_OUTSIDE: usize = 20_000;
/// Most real nodes: each is a namespace with a device.
const MAX_REAL: usize = 1_000;
/// The kernel refuses a smaller segment; our own headers take as much.
const MIN_PACKET: Bytes = Bytes::new(150);

/// Header of a TCP segment of Linux: IPv4, TCP, timestamps.
const KERNEL_HEADER: Bytes = Bytes::new(52);
/// Header of a segment of our live endpoints: IPv4, UDP, our own.
const LIVE_HEADER: Bytes = Bytes::new((UDP_HEADERS + SEGMENT) as u64);
/// A feedback packet of theirs.
const LIVE_FEEDBACK: Bytes = Bytes::new((UDP_HEADERS + FEEDBACK) as u64);

/// The keys that replace the state machines of a flow.
pub(super) fn emulation_keys(table: &Flow) -> Flow {
    let none = Flow::default();
    if !table.kernel.is_missing() {
        return Flow { kernel: table.kernel.clone(), ..none };
    }
    if table.live.or(false) {
        return Flow { live: table.live.clone(), ..none };
    }
    Flow { commands: table.commands.clone(), ..none }
}

/// Whether real programs, or sockets, take the place of a flow's machines.
pub(super) fn is_outside(table: &Flow) -> bool {
    !table.kernel.is_missing() || !table.live.is_missing() || !table.commands.is_missing()
}

/// Notes what does not go with ends outside.
pub(super) fn check(table: &At<Flow>, network: NetworkWord, cast: Cast, notes: &mut Notes) {
    let kernel = table.kernel.present().map(|at| (at.location, "kernel"));
    let live = table.live.present().filter(|at| at.value).map(|at| (at.location, "live"));
    let commands = table.commands.present().map(|at| (at.location, "commands"));
    let mut written = [kernel, live, commands].into_iter().flatten();
    let Some((location, key)) = written.next() else { return };
    for (location, other) in written {
        notes.wrong(location, format!("a flow has `{key}` or `{other}`")).hint("write one of them");
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
        notes.wrong(location, format!("`{key}` is for {who}")).hint(hint);
    }
    if let Some(kernel) = table.kernel.present() {
        let invalid = kernel.is_empty() || kernel.len() > 15 || !kernel.chars().all(is_of_a_name);
        if invalid {
            notes
                .wrong(
                    kernel.location,
                    format!("`{}` is no congestion control of a kernel", shortened(kernel)),
                )
                .hint("such as \"reno\", \"cubic\" or \"bbr\"");
        }
        if let Some(source) = table.source.present() {
            notes
                .wrong(source.location, "a flow of the kernel's TCP has a scheme, not a source")
                .hint("leave `source` out");
        }
    }
    if key == "live" && table.scheme.is_missing() && table.stack.is_missing() {
        notes
            .wrong(location, "a live flow has a scheme or a stack")
            .hint("write scheme = \"cubic\"; traffic without congestion control cannot be sent over sockets");
    }
    if let Some(commands) = table.commands.present()
        && commands.sender.is_missing()
        && commands.receiver.is_missing()
    {
        notes.wrong(commands.location, "there is no command").hint("write `sender`, `receiver` or both");
    }
}

/// Letters, digits and `_`, as names of kernel modules.
fn is_of_a_name(c: char) -> bool {
    c.is_ascii_alphanumeric() || c == '_'
}

/// Whether a flow has commands and nothing that takes their place in a simulation, which sends nothing then.
pub(crate) fn commands_alone(table: &Flow) -> bool {
    let others = table.scheme.is_missing() && table.source.is_missing() && table.kernel.is_missing();
    others && table.commands.present().is_some() && !table.live.or(false)
}

/// The scheme of a flow without `source`: that of the key, or that of the same name as the kernel's. `None` if an error
/// is noted.
pub(super) fn scheme(table: &At<Flow>, notes: &mut Notes) -> Option<String> {
    if let Some(scheme) = table.scheme.present() {
        return Some(scheme.0.clone());
    }
    if !table.scheme.is_missing() {
        return None;
    }
    let Some(kernel) = table.kernel.present() else {
        notes
            .wrong(table.location, "a flow needs `scheme` or `source`")
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
        None => "write `scheme`: the scheme that replaces it in a simulation".to_owned(),
    };
    notes.wrong(kernel.location, format!("a simulation has no TCP with `{}`", shortened(kernel))).hint(hint);
    None
}

/// Default header of a TCP segment.
pub(super) fn header(table: &Flow, otherwise: Bytes) -> Bytes {
    match () {
        () if !table.kernel.is_missing() => KERNEL_HEADER,
        () if table.live.or(false) => LIVE_HEADER,
        () => otherwise,
    }
}

/// Default size of a feedback packet.
pub(super) fn feedback(table: &Flow, otherwise: Bytes) -> Bytes {
    if table.live.or(false) { LIVE_FEEDBACK } else { otherwise }
}

/// The table `emulation`, with the defaults that depend on the flows; `None` if it is empty.
pub(super) fn build(file: &File, net: &Net, traffic: &Traffic, notes: &mut Notes) -> Option<Emulation> {
    let written = file.emulation.present();
    let outside = || traffic.flows.iter().filter(|flow| is_outside(&flow.table));
    let ends: BTreeSet<NodeId> =
        outside().flat_map(|flow| [flow.from].into_iter().chain(flow.to.iter().copied())).collect();
    let real = match written.and_then(|table| table.real.present()) {
        Some(names) => self::real(names, net, notes),
        None => ends.clone(),
    };
    let location =
        written.and_then(|table| table.real.present()).map_or(file.location, |names| names.location);
    if notes.count() == 0
        && let Some(missing) = ends.iter().find(|node| !real.contains(node))
    {
        let name = &net.nodes[missing.index()];
        notes
            .wrong(
                location,
                format!(
                    "`{name}` is an endpoint of a flow with `kernel`, `live` or `commands`, but not in `real`"
                ),
            )
            .hint("add it to `real`, or leave `real` out");
    }
    for (n, max, of) in
        [(outside().count(), MAX_OUTSIDE, "flows outside"), (real.len(), MAX_REAL, "real nodes")]
    {
        if n > max {
            notes.wrong(location, format!("{n} {of} are too many")).hint(format!("at most {max}"));
        }
    }
    if let Some(flow) = outside().find(|flow| packet_of(flow).is_some_and(|packet| packet < MIN_PACKET)) {
        notes
            .wrong(
                location,
                format!("packets of `{}` are too small for their headers", shortened(flow.name())),
            )
            .hint(format!("at least {MIN_PACKET}"));
    }
    let defaults = Settings::default();
    let table = written.map_or(Emulation::default(), |table| table.value.clone()).filled(&defaults);
    let says = !real.is_empty() || *table.max_lateness.resolved() != defaults.max_lateness;
    says.then(|| Emulation { real: net.list(real), ..table })
}

/// Nodes by name or pattern.
fn real(names: &At<Vec<At<String>>>, net: &Net, notes: &mut Notes) -> BTreeSet<NodeId> {
    let mut nodes = BTreeSet::new();
    for name in &names.value {
        if !name.contains('*') {
            nodes.extend(net.find_node(name, notes));
            continue;
        }
        let found = net.matching(name);
        if found.is_empty() {
            net.no_match(name, notes);
        }
        nodes.extend(found);
    }
    nodes
}

/// What a flow of TCP, or a live one, sends at a time.
fn packet_of(flow: &ResolvedFlow) -> Option<Bytes> {
    let live = flow.transport == Transport::Stream && !flow.table.live.is_missing();
    (live || flow.transport == Transport::Tcp).then_some(flow.packet)
}
