//! Multicast trees: for each group, the reverse of its receivers' shortest paths to the source.
//!
//! A join grafts the branch from the receiver up to the first node on the tree. A leave prunes up to the first node
//! with other members or branches. Both take effect immediately and everywhere.

use contract::{EndpointId, FlowId, NodeId, PortId};

use super::fans::FanOfBranches;
use super::reverse;
use super::routing::{Edge, Routes};

/// The tree of one group.
#[derive(Debug)]
pub(super) struct Tree {
    source: NodeId,
    flow: FlowId,
    nodes: Vec<TreeNode>,
    /// By node: its member, if it is the only one and the node has no branch; otherwise [`NONE`].
    leaves: Vec<u32>,
}

const NONE: u32 = u32::MAX;

/// The branches and members of a group at a node.
#[derive(Clone, Debug, Default)]
pub(crate) struct TreeNode {
    /// Ports that forward a copy.
    pub branches: Vec<PortId>,
    /// Endpoints at this node that receive a copy.
    pub members: Vec<EndpointId>,
    /// This node's port towards the source.
    up: Option<PortId>,
    /// The fan of the branches.
    pub(super) fan: FanOfBranches,
}

impl Tree {
    pub(super) fn new(source: NodeId, flow: FlowId, nodes: usize) -> Self {
        Self { source, flow, nodes: vec![TreeNode::default(); nodes], leaves: vec![NONE; nodes] }
    }

    #[inline]
    pub(super) fn at(&self, node: NodeId) -> &TreeNode {
        &self.nodes[node.index()]
    }

    #[inline]
    pub(super) fn at_mut(&mut self, node: NodeId) -> &mut TreeNode {
        &mut self.nodes[node.index()]
    }

    /// The member at a node, if it is the only one and the node has no branch.
    #[inline]
    pub(super) fn only_member(&self, node: NodeId) -> Option<EndpointId> {
        let member = self.leaves[node.index()];
        (member != NONE).then_some(EndpointId(member))
    }

    /// Updates what [`Tree::only_member`] returns, after the branches or members of a node changed.
    fn update_leaf(&mut self, node: NodeId) {
        let TreeNode { branches, members, .. } = &self.nodes[node.index()];
        self.leaves[node.index()] = match members[..] {
            [member] if branches.is_empty() => member.0,
            _ => NONE,
        };
    }

    /// Adds a member and grafts its branch. A receiver without a route is a member without a branch.
    pub(super) fn join(&mut self, member: EndpointId, at: NodeId, routes: &Routes, edges: &[Edge]) {
        let node = &mut self.nodes[at.index()];
        if node.members.contains(&member) {
            return;
        }
        node.members.push(member);
        self.update_leaf(at);
        let mut at = at;
        // the bound ends the walk if static routes form a loop
        for _ in 0..self.nodes.len() {
            if at == self.source || self.nodes[at.index()].up.is_some() {
                return;
            }
            let Some(up) = routes.next(at, self.source, self.flow) else { return };
            self.nodes[at.index()].up = Some(up);
            let parent = edges[up.index()].to;
            self.nodes[parent.index()].branches.push(reverse(up));
            self.update_leaf(parent);
            at = parent;
        }
    }

    /// Removes a member and prunes branches without members.
    pub(super) fn leave(&mut self, member: EndpointId, at: NodeId, edges: &[Edge]) {
        self.nodes[at.index()].members.retain(|&other| other != member);
        self.update_leaf(at);
        let mut at = at;
        loop {
            let node = &mut self.nodes[at.index()];
            if !node.members.is_empty() || !node.branches.is_empty() {
                return;
            }
            let Some(up) = node.up.take() else { return };
            let parent = edges[up.index()].to;
            self.nodes[parent.index()].branches.retain(|&branch| branch != reverse(up));
            self.update_leaf(parent);
            at = parent;
        }
    }

    /// The ports that forward a copy, at all nodes.
    pub(super) fn branches(&self) -> impl Iterator<Item = PortId> {
        self.nodes.iter().flat_map(|node| &node.branches).copied()
    }

    /// Rebuilds the tree after routes changed.
    pub(super) fn rebuild(&mut self, routes: &Routes, edges: &[Edge]) {
        self.leaves.fill(NONE);
        let members: Vec<(NodeId, Vec<EndpointId>)> = (0u32..)
            .zip(&mut self.nodes)
            .map(|(node, state)| {
                state.branches.clear();
                state.up = None;
                (NodeId(node), std::mem::take(&mut state.members))
            })
            .filter(|(_, members)| !members.is_empty())
            .collect();
        for (node, members) in members {
            for member in members {
                self.join(member, node, routes, edges);
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::blueprint::Metric;

    #[test]
    fn branches_are_grafted_once_and_pruned_when_empty() {
        // 0 source, 1 router, 2 and 3 behind it
        let edge = |from, to| Edge::new(NodeId(from), NodeId(to), 1);
        let edges = [edge(0, 1), edge(1, 0), edge(1, 2), edge(2, 1), edge(1, 3), edge(3, 1)];
        let routes = Routes::new(4, &edges, Metric::Delay, &[], [NodeId(0)]);
        let mut tree = Tree::new(NodeId(0), FlowId(0), 4);
        tree.join(EndpointId(5), NodeId(2), &routes, &edges);
        tree.join(EndpointId(6), NodeId(3), &routes, &edges);
        tree.join(EndpointId(7), NodeId(3), &routes, &edges);
        assert_eq!(tree.at(NodeId(0)).branches, [PortId(0)]);
        assert_eq!(tree.at(NodeId(1)).branches, [PortId(2), PortId(4)]);
        tree.leave(EndpointId(6), NodeId(3), &edges);
        assert_eq!(tree.at(NodeId(1)).branches, [PortId(2), PortId(4)]);
        tree.leave(EndpointId(7), NodeId(3), &edges);
        assert_eq!(tree.at(NodeId(1)).branches, [PortId(2)]);
        tree.leave(EndpointId(5), NodeId(2), &edges);
        assert!(tree.at(NodeId(0)).branches.is_empty());
    }
}
