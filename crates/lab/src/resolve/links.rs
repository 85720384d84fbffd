//! Links with their queues, sizes in bandwidth-delay products resolved.

use std::collections::BTreeMap;
use std::sync::Arc;

use contract::NodeId;
use sim::Cast;
use units::{Bytes, Duration};

use super::ndn::NdnNet;
use super::traffic::ResolvedFlow;
use crate::schema::keys::Keys;
use crate::schema::link::{Link, Port};
use crate::schema::read::{At, Field, Notes};
use crate::schema::values::{Buffer, Ends};
use crate::topology::{Net, NetLink, NetPort, Paths, PortIndex};

/// What passes a port: the longest round trip of its flows without queues, and their largest packet.
#[derive(Clone, Copy, Default)]
struct PortLoad {
    round_trip: Duration,
    packet: Bytes,
}

/// The links of a network.
///
/// A buffer of k bdp holds k · rate · RTT / packet size packets, rounded up: RTT is the longest propagation round trip
/// of the flows whose data or acknowledgements pass the port, the packet the largest of theirs. Where no flow passes,
/// it is those of any flow.
pub(super) fn build(
    net: &Net,
    flows: &[ResolvedFlow],
    ndn: &NdnNet,
    paths: &mut Paths<'_>,
    notes: &mut Notes,
) -> Vec<At<Link>> {
    let relative = |port: &NetPort| matches!(port.buffer(), Buffer::Bdp(_));
    let loads = if net.links.iter().any(|link| relative(&link.forward) || relative(&link.backward)) {
        port_loads(net, flows, ndn, paths)
    } else {
        BTreeMap::new()
    };
    let any = loads.values().fold(PortLoad::default(), |max, one| max.max(*one));
    let mut noted = Vec::new();
    let mut limit = |index: PortIndex, port: &NetPort| {
        let Buffer::Bdp(factor) = port.buffer() else { return port.buffer() };
        let seen = loads.get(&index).copied().unwrap_or(any);
        let packets = bdp(factor, port, seen);
        if packets > 1e7 && !noted.contains(&port.location) {
            noted.push(port.location);
            notes
                .wrong(port.location, format!("{factor} bdp are {packets:.0} packets here"))
                .hint("at most 10000000 packets; lower the rate or the delay");
        }
        Buffer::Packets(packets.min(1e7) as u32)
    };
    let mut links = Vec::<At<Link>>::with_capacity(net.links.len());
    let mut before: Option<(&NetLink, [Buffer; 2])> = None;
    for (i, link) in net.links.iter().enumerate() {
        let limits = [limit(2 * i, &link.forward), limit(2 * i + 1, &link.backward)];
        let like = before.replace((link, limits)).filter(|(last, same)| {
            let shares =
                Arc::ptr_eq(&last.forward, &link.forward) && Arc::ptr_eq(&last.backward, &link.backward);
            shares && *same == limits
        });
        let table = match links.last().filter(|_| like.is_some()) {
            Some(last) => named(last, link, net),
            None => table(link, limits, net),
        };
        links.push(table.into());
    }
    links
}

/// The table of a link whose properties are those of another one.
fn named(like: &Link, link: &NetLink, net: &Net) -> Link {
    Link { name: link.name.clone().into(), ends: ends(link, net), ..like.clone() }
}

fn ends(link: &NetLink, net: &Net) -> Field<Ends> {
    let name = |node: NodeId| net.nodes[node.index()].clone().into();
    Ends(name(link.ends.0), name(link.ends.1)).into()
}

/// The table of a link whose directions have these limits.
fn table(link: &NetLink, limits: [Buffer; 2], net: &Net) -> Link {
    let forward = port(&link.forward, &link.forward, limits[0]);
    // what this direction lacks and the other has is taken away
    let backward = port(&link.backward, &link.forward, limits[1]);
    let differs = backward.to_table() != forward.to_table();
    Link {
        name: link.name.clone().into(),
        ends: ends(link, net),
        backward: differs.then_some(backward).into(),
        forward,
        ..Link::default()
    }
}

/// The keys of a direction, without those that have their default here and in the `other` direction.
fn port(port: &NetPort, other: &NetPort, limit: Buffer) -> Port {
    Port {
        rate: port.keys.trace.is_missing().then_some(port.rate).into(),
        delay: port.delay.into(),
        loss: port.keys.loss.or(0.0).into(),
        buffer: limit.into(),
        ..port.keys.beside(&other.keys, Port::defaults())
    }
}

impl PortLoad {
    fn max(self, other: Self) -> Self {
        Self { round_trip: self.round_trip.max(other.round_trip), packet: self.packet.max(other.packet) }
    }
}

/// Packets of `factor` bandwidth-delay products.
fn bdp(factor: f64, port: &NetPort, seen: PortLoad) -> f64 {
    let packet = if seen.packet == Bytes::ZERO { 1500.0 } else { seen.packet.as_f64() };
    let packets = factor * port.served().as_bps_f64() * seen.round_trip.as_secs_f64() / (8.0 * packet);
    // a product that is whole except for the last bits of a float is whole
    let nearest = packets.round();
    if (packets - nearest).abs() < 1e-6 * nearest.max(1.0) { nearest } else { packets.ceil() }
}

/// What passes each port that is passed.
fn port_loads(
    net: &Net,
    flows: &[ResolvedFlow],
    ndn: &NdnNet,
    paths: &mut Paths<'_>,
) -> BTreeMap<PortIndex, PortLoad> {
    debug_assert!(flows.iter().all(|flow| flow.from.index() < net.nodes.len()), "nodes of flows are checked");
    let mut ports: BTreeMap<PortIndex, PortLoad> = BTreeMap::new();
    for flow in flows {
        let packet = flow.packet;
        if let Some(prefix) = flow.table.prefix.present() {
            // to the nearest producer and back the same way
            let mut routes: Vec<Vec<PortIndex>> = Vec::new();
            routes.extend(ndn.servers(prefix).iter().filter_map(|node| paths.way(flow.from, *node)));
            let Some(way) = routes.into_iter().min_by_key(|way| paths.length(way)) else { continue };
            let back: Vec<PortIndex> = way.iter().map(|port| port ^ 1).collect();
            let seen = PortLoad { round_trip: paths.length(&way) + paths.length(&back), packet };
            for port in way.into_iter().chain(back) {
                let entry = ports.entry(port).or_default();
                *entry = entry.max(seen);
            }
        }
        for &receiver in &flow.to {
            let back = paths.way(receiver, flow.from);
            let there = if flow.cast != Cast::Unicast {
                // a tree, grown by the engine or by name routers, follows the receivers' ways to the source in reverse
                back.as_ref().map(|way| way.iter().map(|port| port ^ 1).collect())
            } else {
                paths.way(flow.from, receiver)
            };
            let (Some(there), Some(back)) = (there, back) else { continue };
            let there: Vec<PortIndex> = there;
            let seen = PortLoad { round_trip: paths.length(&there) + paths.length(&back), packet };
            for port in there.into_iter().chain(back) {
                let entry = ports.entry(port).or_default();
                *entry = entry.max(seen);
            }
        }
    }
    ports
}
