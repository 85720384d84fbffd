//! The state machine of a flow: its transport, its scheme and their settings.

use std::path::Path;
use std::sync::Arc;

use contract::{EcnUse, Family};
use schemes::{Build, Entry};
use sim::Cast;
use stack::tcp::LossDetection;
use stack::{stream, tcp};
use units::{Bytes, Time};

use super::churn::{check_churn, churn, refuse_both};
use super::model::{Machine, Model, Transport, reject_keys};
use super::ndn::NdnNet;
use super::params::{out_of_band, params};
use super::{Trace, consumers, emulation, linux, stacks, video};
use crate::schema::file::{Flow, NetworkWord, Source, SourceWord, Stream};
use crate::schema::nodes::Member;
use crate::schema::read::{At, Field, Notes};
use crate::schema::settings::Setting;
use crate::schema::tcp::{LikeWord, Tcp};
use crate::schema::tree::Location;
use crate::schema::values::SchemeName;
use crate::topology::{Net, NetPort, check_name};

/// The settings of an entry without endpoints and times; `None` after an error, which is noted. Classes are looked up
/// in `net`.
pub(super) fn model<'a>(
    table: &'a At<Flow>,
    net: Option<&Net>,
    ndn: &NdnNet,
    folder: &Path,
    notes: &mut Notes,
) -> Option<Model<'a>> {
    let before = notes.count();
    let name = table.name.required("name", "a flow", table.location, notes);
    if let Some(name) = name {
        check_name(name, "a flow", notes);
    }
    if let Some(group) = table.group.present() {
        check_name(group, "a group", notes);
    }
    let listed = table.to.present().is_some_and(|to| to.listed || to.list.iter().any(is_pattern));
    let network = table.network.or(NetworkWord::Ip);
    let cast = match network {
        NetworkWord::Icn => Cast::Named,
        NetworkWord::Ndn => Cast::Unicast,
        NetworkWord::Ip if table.multicast.or(listed) => Cast::Multicast,
        NetworkWord::Ip => Cast::Unicast,
    };
    check_cast(table, network, cast, notes);
    check_times(table, notes);
    check_class(table, net, notes);

    stacks::check(table, notes);
    emulation::check(table, network, cast, notes);
    let machine = if let Some(stack) = table.stack.present() {
        stacks::machine(table, stack, network, cast, notes)
    } else if table.stack.is_wrong() {
        None
    } else if network == NetworkWord::Ndn {
        consumers::machine(table, ndn, notes)
    } else {
        machine(table, cast, folder, notes)
    };
    if notes.count() > before {
        return None;
    }
    let Machine { table: keys, transport, packet, trace } = machine?;
    let scheme = keys.scheme.present().map(|scheme| scheme.0.as_str());
    let all = keys.params.present().map(|params| params.list()).unwrap_or_default();
    if let (Some(scheme), Some(net)) = (scheme, net)
        && out_of_band(scheme, &all)
    {
        check_out_of_band(table, scheme, net, notes);
    }
    let Flow { kernel, live, commands, .. } = emulation::emulation_keys(table);
    let addressed = network != NetworkWord::Ndn;
    let table = Flow {
        churn: table.churn.present().map(|at| churn(at)).into(),
        class: table.class.clone().filled(0),
        multicast: Field::from(addressed.then_some(cast != Cast::Unicast)),
        network: table.network.clone().filled(network),
        kernel,
        live,
        commands,
        ..keys
    };
    Some(Model { name: name?, transport, cast, packet, table, trace })
}

/// Notes keys of groups where the flow's packets are not addressed so.
fn check_cast(table: &Flow, network: NetworkWord, cast: Cast, notes: &mut Notes) {
    if let Some(multicast) = table.multicast.present()
        && cast == Cast::Named
        && !multicast.value
    {
        notes
            .wrong(multicast.location, "a flow that is sent by name is always sent to a group")
            .hint("leave `multicast` out, or write network = \"ip\"");
    }
    if let Some(receivers) = table.receivers.present()
        && cast == Cast::Unicast
        && network != NetworkWord::Ndn
    {
        notes
            .wrong(receivers.location, "`receivers` are the members of a group")
            .hint("write `to` as a list");
    }
}

/// Notes a stop before the start, and times of churn.
fn check_times(table: &Flow, notes: &mut Notes) {
    let (start, stop) = (table.start.present(), table.stop.present());
    if let Some(stop) = stop
        && start.map_or(Time::ZERO, |at| at.value.0) >= stop.value.0
    {
        notes
            .wrong(stop.location, "this flow stops before it starts")
            .hint("`stop` is an instant of the run, not a length");
    }
    let of_members = table.receivers.present().and_then(|receivers| receivers.churn.present());
    for churn in [table.churn.present(), of_members].into_iter().flatten() {
        check_churn(churn, notes);
    }
}

/// Notes a class that no queue of the network has.
fn check_class(table: &Flow, net: Option<&Net>, notes: &mut Notes) {
    if let (Some(class), Some(net)) = (table.class.present(), net)
        && class.value > 0
    {
        let classes = |port: &NetPort| port.keys.classes.items().len();
        let max = net.links.iter().map(|link| classes(&link.forward).max(classes(&link.backward))).max();
        // where a refused link may have classes, who uses them is right
        let known = !net.partial || max.is_some_and(|max| max > 0);
        if known && max.unwrap_or(0) <= class.value as usize {
            notes
                .wrong(class.location, format!("no queue has a class {}", class.value))
                .hint("write a class that a link's `classes` has, counted from 0");
        }
    }
}

/// Control packets out of band need a class that they have for themselves.
fn check_out_of_band(table: &At<Flow>, scheme: &str, net: &Net, notes: &mut Notes) {
    let location = table.params.present().map_or(table.location, |at| at.location);
    let what = format!("`{scheme}` sends its control packets out of band");
    if table.live.or(false) {
        notes
            .wrong(location, format!("{what}, which is simulated only"))
            .hint("take the parameters for control packets in band");
    } else if !net.partial && net.links.iter().all(|link| link.forward.keys.classes.items().len() < 2) {
        notes
            .wrong(location, format!("{what}, and no queue has classes"))
            .hint("write classes = [1, 1] on links: control packets take the last class, where no data wait");
    }
}

/// What goes with a scheme.
const PARTS: [&str; 8] = ["params", "tcp", "stream", "player", "encoder", "size", "rate", "app"];

fn machine(table: &At<Flow>, cast: Cast, folder: &Path, notes: &mut Notes) -> Option<Machine> {
    for (key, location) in table.written() {
        if matches!(key, "prefix" | "consumer") && !table.network.is_wrong() {
            notes
                .wrong(location, format!("`{key}` goes with network = \"ndn\""))
                .hint("write it, or leave the key out");
        }
    }
    // where it is said that it is sent by name
    let named = table.network.present().filter(|_| cast == Cast::Named).map(|at| at.location);
    let streams = |scheme: &At<SchemeName>| {
        schemes::find(&scheme.0).is_some_and(|entry| matches!(entry.build, Build::Stream { .. }))
    };
    let carries = table.scheme.present().is_some_and(streams);
    if let Some(source) = table.source.present().filter(|_| !carries) {
        return sender_without_control(table, source, named, notes);
    }
    if table.source.is_wrong() {
        return None;
    }
    if emulation::commands_alone(table) {
        reject_keys(table, &PARTS, "`commands` without a `scheme`", notes);
        // a simulation does not replace commands
        let keys = Flow { packet: table.packet.clone().filled(Bytes::new(1500)), ..Flow::default() };
        return Some(Machine::new(Transport::Datagram, keys));
    }
    let scheme = &emulation::scheme(table, notes)?;
    let entry = &schemes::find(scheme)?;
    let params = params(table, entry, notes);
    let (transport, keys, trace) = match entry.build {
        Build::Control(_) => {
            check_window(table, scheme, entry, named, cast, notes)?;
            (Transport::Tcp, over_tcp(table, notes)?, None)
        }
        Build::Stream { .. } => {
            if reject_wrong_family(table, entry, cast, notes) {
                return None;
            }
            reject_keys(
                table,
                &["tcp", "size", "rate", "app"],
                &format!("`{scheme}`, which is a stream"),
                notes,
            );
            let (keys, trace) = over_stream(table, entry, cast, folder, notes)?;
            (Transport::Stream, keys, trace)
        }
        Build::Forwarder => {
            let location = table.scheme.present().map_or(table.location, |scheme| scheme.location);
            notes
                .wrong(location, format!("`{scheme}` has parts in NDN forwarders alone"))
                .hint("write a congestion controller, such as scheme = \"cubic\"");
            return None;
        }
    };
    let scheme = table.scheme.clone().filled(SchemeName(scheme.clone()));
    let keys = Flow { scheme, params: params?.into(), ..keys };
    Some(Machine { trace, ..Machine::new(transport, keys) })
}

/// A source without congestion control. `named` is where it says that it is sent by name.
fn sender_without_control(
    table: &At<Flow>,
    source: &Source,
    named: Option<Location>,
    notes: &mut Notes,
) -> Option<Machine> {
    let frames = |source: &Source| {
        source.kind.present().is_some_and(|kind| matches!(kind.value, SourceWord::Frames | SourceWord::Trace))
    };
    if let Some(scheme) = table.scheme.present().filter(|_| frames(source)) {
        notes
            .wrong(scheme.location, format!("`{}` is no stream, and carries no frames", scheme.0))
            .hint("take the scheme of a stream, such as scheme = \"tfrc\"");
        return None;
    }
    if let Some(location) = named {
        notes
            .wrong(location, "a source without congestion control cannot be sent by name")
            .hint("leave `network` out, or take a scheme for groups instead of the source");
    }
    if let Some(scheme) = table.scheme.present() {
        notes.wrong(scheme.location, "a flow has a scheme or a source").hint("write one of them");
    }
    reject_keys(table, &PARTS, "a source without congestion control", notes);
    let source = datagrams(source, notes)?.into();
    let keys = Flow { packet: table.packet.clone().filled(Bytes::new(1000)), source, ..Flow::default() };
    Some(Machine::new(Transport::Datagram, keys))
}

/// Notes what does not go with a scheme that runs over TCP; `None` for one that runs over named data alone.
fn check_window(
    table: &At<Flow>,
    scheme: &str,
    entry: &Entry,
    named: Option<Location>,
    cast: Cast,
    notes: &mut Notes,
) -> Option<()> {
    if !entry.scheme.families.contains(&Family::Ip) {
        let location = table.scheme.present().map_or(table.location, |scheme| scheme.location);
        notes
            .wrong(location, format!("`{scheme}` is a congestion controller for consumers of named data"))
            .hint("write network = \"ndn\" and the `prefix` that it asks for");
        return None;
    }
    if let Some(location) = named {
        notes
            .wrong(location, format!("`{scheme}` runs over TCP and cannot be used with network = \"icn\""))
            .hint("leave `network` out, or take a scheme for groups");
    } else if cast == Cast::Multicast {
        let location =
            table.multicast.present().map(|at| at.location).or(table.to.present().map(|at| at.location));
        notes
            .wrong(
                location.unwrap_or(table.location),
                format!("`{scheme}` runs over TCP, which has one receiver"),
            )
            .hint("write to = \"NODE\" without brackets, or take a scheme for groups");
    }
    reject_keys(table, &["stream", "player", "encoder"], &format!("`{scheme}`, which runs over TCP"), notes);
    Some(())
}

/// Notes a stream over a network whose family its catalogue row does not list. Returns whether it is noted.
fn reject_wrong_family(table: &At<Flow>, entry: &Entry, cast: Cast, notes: &mut Notes) -> bool {
    let (family, what) = match cast {
        Cast::Named => (Family::Icn, "groups by name"),
        Cast::Multicast => (Family::Multicast, "groups over IP"),
        Cast::Unicast => (Family::Ip, "one receiver over IP"),
    };
    let families = entry.scheme.families;
    if families.contains(&family) {
        return false;
    }
    let hint = if cast == Cast::Named {
        "leave `network` out, or take a scheme of the family icn, such as \"srmcc\"".to_owned()
    } else if families.contains(&Family::Icn) {
        format!("write network = \"icn\", or take a scheme of the family {}", family.name())
    } else {
        format!("take a scheme of the family {}", family.name())
    };
    let network = table.network.present().map(|at| at.location).filter(|_| cast == Cast::Named);
    let location = network.or(table.scheme.present().map(|at| at.location)).unwrap_or(table.location);
    notes.wrong(location, format!("`{}` is not made for {what}", entry.scheme.name)).hint(hint);
    true
}

/// The keys of a flow over TCP.
fn over_tcp(table: &Flow, notes: &mut Notes) -> Option<Flow> {
    let none = Tcp::default();
    let tcp = table.tcp.present().map_or(&none, |at| &at.value);
    let default = if linux::is_wanted(table) { tcp::Config::linux() } else { tcp::Config::default() };
    let header = tcp.header.or(emulation::header(table, default.header));
    let packet = table.packet.or(default.segment + default.header);
    if packet <= header {
        let location =
            table.packet.present().map(|at| at.location).or(tcp.header.present().map(|at| at.location));
        notes
            .wrong(
                location.unwrap_or(tcp.location),
                format!("a packet of {packet} has no space after a header of {header}"),
            )
            .hint("`packet` is the size on the wire, header included");
        return None;
    }
    if let (Some(_), Some(rate)) = (table.size.present(), table.rate.present()) {
        notes
            .wrong(rate.location, "a flow has a size or a rate")
            .hint("`size` ends the flow, `rate` limits its application; write one of them");
        return None;
    }
    let ecn = table.scheme.present().and_then(|scheme| schemes::ecn_use(&scheme.value.0));
    let needs = ecn.unwrap_or(EcnUse { feedback: default.ecn_feedback, l4s: default.l4s });
    // with SACK it has no effect, and a value that differs would look like a wish
    let sack = tcp.sack.or(default.sack);
    let without_sack = !sack;
    let timer = if without_sack { default.recovery_timer } else { tcp::Config::default().recovery_timer };
    let entry = table.scheme.present().and_then(|scheme| schemes::find(&scheme.value.0));
    // RACK, its probes and F-RTO need SACK; a probe without RACK would look like a wish as well
    let rack =
        default.loss_detection == LossDetection::Time || entry.is_some_and(|entry| entry.scheme.has_rack());
    let detection = if rack && sack { LossDetection::Time } else { LossDetection::Count };
    let chosen = tcp.loss_detection.present().map_or(detection, |at| at.value.to_setting());
    let probes = rack && sack && chosen == LossDetection::Time;
    let defaults = tcp::Config {
        header,
        loss_detection: detection,
        tail_probe: probes,
        recovery_timer: timer,
        frto: default.frto && sack,
        ecn: default.ecn || ecn.is_some(),
        ecn_feedback: needs.feedback,
        l4s: needs.l4s,
        ..default
    };
    // nothing is left open that the kernel could fill in
    let like = table.kernel.present().map(|_| LikeWord::Standard);
    let filled = Tcp { like: like.into(), ..tcp.filled(&defaults) };
    let (min, max) = (filled.min_rto.or(defaults.min_rto), filled.max_rto.or(defaults.max_rto));
    if min > max {
        let location = tcp.min_rto.present().or(tcp.max_rto.present()).map_or(tcp.location, |at| at.location);
        notes
            .wrong(location, format!("`min_rto` of {min} is above `max_rto` of {max}"))
            .hint("lower one or raise the other");
    }
    Some(Flow {
        size: table.size.clone(),
        rate: table.rate.clone(),
        packet: table.packet.clone().filled(packet),
        tcp: filled.into(),
        ..Flow::default()
    })
}

/// The keys of a flow that is a stream, and the frames that a file lists.
fn over_stream(
    table: &Flow,
    entry: &Entry,
    cast: Cast,
    folder: &Path,
    notes: &mut Notes,
) -> Option<(Flow, Option<(String, Trace)>)> {
    let before = notes.count();
    if let (Some(encoder), Some(_)) = (table.encoder.present(), table.source.present()) {
        notes
            .wrong(encoder.location, "a stream carries the frames of an `encoder` or of a `source`")
            .hint("write one of them: the encoder follows the scheme, the source does not");
        return None;
    }
    let encoder = table.encoder.present().map(|encoder| video::encoder(encoder, notes));
    let video = table.source.present().map(|source| video::video(source, folder, notes));
    // errors of the video have been noted
    let has_types = match &video {
        Some(Some((_, Some((_, trace))))) => !trace.types.is_empty(),
        Some(Some((source, None))) => !source.pattern.is_missing(),
        None => encoder.is_none(),
        Some(None) => true,
    };
    let player = video::player(table, has_types, entry.scheme.name, cast, notes);
    if notes.count() > before {
        return None;
    }
    let default = stream::Config::default();
    let defaults = stream::Config {
        feedback: emulation::feedback(table, default.feedback),
        reorder: entry.scheme.reorder,
        ..default
    };
    let (source, trace) = video.flatten().unzip();
    let keys = Flow {
        packet: table.packet.clone().filled(defaults.packet),
        stream: table.stream.present().map_or(&Stream::default(), |at| &at.value).filled(&defaults).into(),
        source: source.into(),
        encoder: encoder.flatten().map(Arc::new).into(),
        player: player.into(),
        ..Flow::default()
    };
    Some((keys, trace.flatten()))
}

/// A source without congestion control.
fn datagrams(source: &Source, notes: &mut Notes) -> Option<Source> {
    let of = "a source";
    let kind = source.kind.required("kind", of, source.location, notes).map(|at| at.value);
    if let Some(kind @ (SourceWord::Frames | SourceWord::Trace)) = kind {
        notes
            .wrong(source.location, format!("kind = \"{}\" is what a stream carries", kind.word()))
            .hint("add the scheme of a stream, such as scheme = \"tfrc\"");
        return None;
    }
    let before = notes.count();
    if let Some(kind) = kind {
        video::refuse_others(source, kind, false, notes);
    }
    if source.interests.present().is_some() {
        return None;
    }
    source.rate.required("rate", of, source.location, notes);
    if notes.count() > before || source.rate.is_wrong() {
        return None;
    }
    if kind? == SourceWord::OnOff {
        source.on.required("on", "an on_off source", source.location, notes);
        source.off.required("off", "an on_off source", source.location, notes);
        refuse_both(&source.shape, &source.fixed, notes);
    }
    let fixed = source.fixed.clone().filter(|fixed| *fixed);
    (notes.count() == before).then(|| Source { fixed, ..source.clone() })
}

pub(super) fn is_pattern(target: &At<Member>) -> bool {
    target.node.present().is_some_and(|name| name.contains('*'))
}
