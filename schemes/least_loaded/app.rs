//! The app: selects the route that moves, and its new next hop.

use std::collections::BTreeMap;

use contract::{AppCx, Command, Count, MILLION, Net, NodeId, PortId, Requirements, Share, Traffic};
use units::Time;

use super::Params;

/// The app.
#[derive(Clone, Debug)]
pub struct App {
    params: Params,
    /// Time of the last move at each node.
    last_move: BTreeMap<NodeId, Time>,
}

/// A possible move, and the resulting load.
#[derive(Clone, Copy, Debug, PartialEq)]
struct Move {
    to: NodeId,
    via: PortId,
    /// The maximum of the remaining load of the congested port and the load of the new path.
    load: f64,
}

impl App {
    /// The app, with its parameters.
    pub(crate) fn new(params: &Params) -> Self {
        Self { params: params.clone(), last_move: BTreeMap::new() }
    }

    /// The best move off a port; `None` if none improves the load sufficiently.
    fn best(&self, port: PortId, cx: &mut AppCx<'_, '_>) -> Option<(NodeId, Move)> {
        let (net, cache, now) = (cx.net(), cx.cache(), cx.now());
        let link = net.link(port)?;
        let cached = cache.fresh(port, now, self.params.max_age)?;
        let present = ratio(cached.status.load);
        let total: u64 = cached.shares.iter().map(|share| u64::from(share.bytes)).sum();
        // the minimum max(ρ', ρ − ρ_d)                                                                 [OURS]
        let mut best: Option<Move> = None;
        for &Share { what, bytes } in &cached.shares {
            let Traffic::Node(to) = what else { continue };
            // the destination's part of the load, as a rate
            let part = present * f64::from(bytes) / total.max(1) as f64;
            let bits = part * link.rate.as_bps_f64();
            for other in net.links_from(link.from).filter(|link| link.port != port) {
                cx.count(Count::Operations, 1);
                let Some(path) = route(net, other.port, to, link.from) else { continue };
                let Some(destination) = self.heaviest(&path, bits, cx) else { continue };
                let load = destination.max(present - part);
                if best.is_none_or(|best| load < best.load) {
                    best = Some(Move { to, via: other.port, load });
                }
            }
        }
        best.filter(|best| best.load + self.params.margin <= present).map(|best| (link.from, best))
    }

    /// The maximum load on a path with `bits` per second added; `None` if a load is unknown.
    fn heaviest(&self, path: &[PortId], bits: f64, cx: &AppCx<'_, '_>) -> Option<f64> {
        let net = cx.net();
        let mut max: f64 = 0.0;
        for port in path {
            let link = net.link(*port)?;
            let load = match cx.cache().fresh(*port, cx.now(), self.params.max_age) {
                Some(cached) => ratio(cached.status.load),
                // hosts do not report, and have only one link
                None if !net.has_agent(link.from) => 0.0,
                None => return None,
            };
            max = max.max(load + bits / link.rate.as_bps_f64());
        }
        Some(max)
    }
}

impl contract::App for App {
    fn requirements(&self) -> Requirements {
        Requirements { signal_above: Some((self.params.threshold * f64::from(MILLION)) as u32) }
    }

    fn on_signal(&mut self, port: PortId, cx: &mut AppCx<'_, '_>) {
        let Some(at) = cx.net().link(port).map(|link| link.from) else { return };
        let settling = |last_move: &Time| cx.now() < *last_move + self.params.min_move_interval;
        if self.last_move.get(&at).is_some_and(settling) {
            return;
        }
        if let Some((node, Move { to, via, .. })) = self.best(port, cx) {
            self.last_move.insert(node, cx.now());
            cx.count(Count::Reroutes, 1);
            cx.command(node, Command::Route { to, via });
        }
    }
}

/// The ports of the route to `to` from `first` on; `None` if they are unknown or return to `origin`.
fn route(net: &Net, first: PortId, to: NodeId, origin: NodeId) -> Option<Vec<PortId>> {
    let mut ports = vec![first];
    let mut at = net.link(first)?.to;
    while at != to {
        if at == origin || ports.len() > net.out.len() {
            return None;
        }
        let next = *net.routes.get(&(at, to))?;
        at = net.link(next)?.to;
        ports.push(next);
    }
    Some(ports)
}

fn ratio(millionths: u32) -> f64 {
    f64::from(millionths) / f64::from(MILLION)
}
