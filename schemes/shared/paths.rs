//! Paths through the network in the view of an SDN controller.

use contract::{Net, NodeId, PortId};
use units::graph::Search;

/// The ports of the path of minimum delay from `from` to the nearest of `targets`, over links that are up and not
/// through `without`; the one with fewer links if delays are equal. `None` if there is no path, empty if `from` is a
/// target.
pub fn shortest(net: &Net, from: NodeId, targets: &[NodeId], without: NodeId) -> Option<Vec<PortId>> {
    if from == without {
        return None;
    }
    let mut search = Search::new(net.out.len(), (u64::MAX, u32::MAX));
    search.start(from.index(), (0, 0));
    while let Some((node, cost)) = search.settle() {
        let node = NodeId(node as u32);
        if targets.contains(&node) {
            return Some(trace_path(net, &search, node));
        }
        for link in net.links_from(node).filter(|link| link.to != without) {
            let through = (cost.0.saturating_add(link.delay.as_nanos()), cost.1 + 1);
            search.offer(link.to.index(), through, link.port);
        }
    }
    None
}

fn trace_path(net: &Net, search: &Search<(u64, u32), PortId>, to: NodeId) -> Vec<PortId> {
    let mut ports = Vec::new();
    let mut at = to;
    while let Some(link) = search.via(at.index()).and_then(|port| net.link(port)) {
        ports.push(link.port);
        at = link.from;
    }
    ports.reverse();
    ports
}

#[cfg(test)]
mod tests {
    use super::super::sdn_testing::net;
    use super::*;

    fn ports(path: Option<Vec<PortId>>) -> Option<Vec<u32>> {
        path.map(|path| path.iter().map(|port| port.0).collect())
    }

    #[test]
    fn the_path_of_minimum_delay_leaves_a_node_out_and_dead_links() {
        // 0 – 1 – 3 in 2 ms, 0 – 2 – 3 in 20 ms; port 2 i in one direction, 2 i + 1 in the other
        let mut net = net(4, &[(0, 1, 1), (1, 3, 1), (0, 2, 10), (2, 3, 10)]);
        let node = NodeId;
        let nobody = node(99);
        assert_eq!(ports(shortest(&net, node(0), &[node(3)], nobody)), Some(vec![0, 2]));
        assert_eq!(ports(shortest(&net, node(0), &[node(3)], node(1))), Some(vec![4, 6]));
        assert_eq!(ports(shortest(&net, node(0), &[node(2), node(3)], nobody)), Some(vec![0, 2]));
        assert_eq!(ports(shortest(&net, node(3), &[node(3)], nobody)), Some(vec![]));
        net.links[2].as_mut().expect("the link 1 – 3").rate = units::Rate::ZERO;
        assert_eq!(ports(shortest(&net, node(0), &[node(3)], nobody)), Some(vec![4, 6]));
        assert_eq!(shortest(&net, node(1), &[node(3)], node(0)), None);
    }
}
