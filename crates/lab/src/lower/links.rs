//! Links with their queues, sizes in bandwidth-delay products resolved.

use std::collections::BTreeMap;

use sim::{Cast, FlowKind, FlowSpec, Limit, LinkSpec, PortSpec, QueueSpec};
use units::{Bytes, Duration};

use super::ndn::NdnNet;
use crate::schema::read::Notes;
use crate::schema::values::Buffer;
use crate::topology::{Net, NetPort, Paths, PortIndex};

/// What passes a port: the longest round trip of its flows without queues, and their largest packet.
#[derive(Clone, Copy, Default)]
struct Passing {
    round_trip: Duration,
    packet: Bytes,
}

/// The links of a network.
///
/// A buffer of k bdp holds k · rate · RTT / packet size packets, rounded up: RTT is the longest propagation round trip of
/// the flows whose data or acknowledgements pass the port, the packet the largest of theirs. Where no flow passes, it is
/// those of any flow.
pub(crate) fn build(
    net: &Net,
    flows: &[FlowSpec],
    ndn: &NdnNet,
    paths: &mut Paths<'_>,
    notes: &mut Notes,
) -> Vec<LinkSpec> {
    let relative = |port: &NetPort| matches!(port.buffer, Buffer::Bdp(_));
    let passing = if net.links.iter().any(|link| relative(&link.forward) || relative(&link.backward)) {
        passing(net, flows, ndn, paths)
    } else {
        BTreeMap::new()
    };
    let any = passing.values().fold(Passing::default(), |max, one| max.max(*one));
    let mut told = Vec::new();
    let mut port = |index: PortIndex, port: &NetPort| {
        let limit = match port.buffer {
            Buffer::Packets(n) => Limit::Packets(n),
            Buffer::Bytes(size) => Limit::Bytes(size),
            Buffer::Bdp(factor) => {
                let seen = passing.get(&index).copied().unwrap_or(any);
                let packets = bdp(factor, port, seen);
                if packets > 1e7 && !told.contains(&port.place) {
                    told.push(port.place);
                    notes
                        .wrong(port.place, format!("{factor} bdp are {packets:.0} packets here"))
                        .hint("at most 10000000 packets; lower the rate or the delay");
                }
                Limit::Packets(packets.min(1e7) as u32)
            }
        };
        PortSpec {
            rate: port.rate,
            delay: port.delay,
            loss: port.loss,
            queue: QueueSpec {
                limit,
                discipline: port.discipline.clone(),
                mark_above: port.mark_above,
                class_weights: port.classes.clone(),
            },
        }
    };
    net.links
        .iter()
        .enumerate()
        .map(|(i, link)| LinkSpec {
            name: link.name.clone(),
            ends: link.ends,
            forward: port(2 * i, &link.forward),
            backward: port(2 * i + 1, &link.backward),
        })
        .collect()
}

impl Passing {
    fn max(self, other: Self) -> Self {
        Self { round_trip: self.round_trip.max(other.round_trip), packet: self.packet.max(other.packet) }
    }
}

/// Packets of `factor` bandwidth-delay products.
fn bdp(factor: f64, port: &NetPort, seen: Passing) -> f64 {
    let packet = if seen.packet == Bytes::ZERO { 1500.0 } else { seen.packet.as_f64() };
    let packets = factor * port.rate.as_bps_f64() * seen.round_trip.as_secs_f64() / (8.0 * packet);
    // a product that is whole but for the last bits of a float is whole
    let nearest = packets.round();
    if (packets - nearest).abs() < 1e-6 * nearest.max(1.0) { nearest } else { packets.ceil() }
}

/// What passes each port that is passed.
fn passing(
    net: &Net,
    flows: &[FlowSpec],
    ndn: &NdnNet,
    paths: &mut Paths<'_>,
) -> BTreeMap<PortIndex, Passing> {
    debug_assert!(flows.iter().all(|flow| flow.from.index() < net.nodes.len()), "nodes of flows are checked");
    let mut ports: BTreeMap<PortIndex, Passing> = BTreeMap::new();
    for flow in flows {
        let packet = match &flow.kind {
            FlowKind::Tcp(config) => config.segment + config.header,
            FlowKind::Stream(config) => config.packet,
            FlowKind::Datagram(config) => config.packet,
            FlowKind::Ndn(config) => config.data,
        };
        if let FlowKind::Ndn(config) = &flow.kind {
            // to the nearest producer and back the same way
            let mut routes: Vec<Vec<PortIndex>> = Vec::new();
            routes.extend(ndn.servers(config.prefix).iter().filter_map(|node| paths.way(flow.from, *node)));
            let Some(way) = routes.into_iter().min_by_key(|way| paths.length(way)) else { continue };
            let back: Vec<PortIndex> = way.iter().map(|port| port ^ 1).collect();
            let seen = Passing { round_trip: paths.length(&way) + paths.length(&back), packet };
            for port in way.into_iter().chain(back) {
                let entry = ports.entry(port).or_default();
                *entry = entry.max(seen);
            }
        }
        for receiver in &flow.to {
            let back = paths.way(receiver.node, flow.from);
            let there = if flow.cast != Cast::Unicast {
                // a tree, grown by the engine or by name routers, follows the receivers' ways to the source in reverse
                back.as_ref().map(|way| way.iter().map(|port| port ^ 1).collect())
            } else {
                paths.way(flow.from, receiver.node)
            };
            let (Some(there), Some(back)) = (there, back) else { continue };
            let there: Vec<PortIndex> = there;
            let seen = Passing { round_trip: paths.length(&there) + paths.length(&back), packet };
            for port in there.into_iter().chain(back) {
                let entry = ports.entry(port).or_default();
                *entry = entry.max(seen);
            }
        }
    }
    ports
}
