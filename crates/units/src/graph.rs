//! Graph algorithms: shortest paths (Dijkstra) and connected components, with ties broken in one documented order.
//!
//! Nodes are indices from 0. The caller has the edges in any form and iterates over them. Costs are any ordered type,
//! such as delay and then hops, if an edge never reduces the cost of a path.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

/// A search for shortest paths from one or more starts, driven by its caller:
///
/// ```
/// let edges = [(0, 1, 5), (0, 2, 1), (2, 1, 1)];
/// let mut search = units::graph::Search::new(3, u32::MAX);
/// search.start(0, 0);
/// while let Some((node, cost)) = search.settle() {
///     for (_, to, length) in edges.iter().filter(|edge| edge.0 == node) {
///         search.offer(*to, cost + length, node);
///     }
/// }
/// assert_eq!(search.cost(1), 2);
/// assert_eq!(search.via(1), Some(2));
/// ```
///
/// Nodes are settled in the order of cost, then index. Of several paths of equal cost to a node, the one that was
/// offered first stays. So the result depends on costs, indices and the order of edges at a node, and on nothing else.
#[derive(Clone, Debug)]
pub struct Search<C, V> {
    unreached: C,
    best: Vec<C>,
    via: Vec<Option<V>>,
    frontier: BinaryHeap<Reverse<(C, usize)>>,
    /// Nodes with a known path.
    reached: Vec<usize>,
}

impl<C: Copy + Ord, V: Copy> Search<C, V> {
    /// A search among `nodes` nodes. All of them have the cost `unreached`, which must exceed the cost of any path.
    pub fn new(nodes: usize, unreached: C) -> Self {
        let (best, via) = (vec![unreached; nodes], vec![None; nodes]);
        Self { unreached, best, via, frontier: BinaryHeap::new(), reached: Vec::new() }
    }

    /// Begins another search among the same nodes, in a time proportional to the nodes that the last one reached.
    pub fn restart(&mut self) {
        for node in self.reached.drain(..) {
            (self.best[node], self.via[node]) = (self.unreached, None);
        }
        self.frontier.clear();
    }

    /// Adds a start at `node` with cost `cost`.
    pub fn start(&mut self, node: usize, cost: C) {
        if cost < self.best[node] {
            self.reach(node, cost, None);
        }
    }

    /// The next node whose shortest path is final, with its cost; `None` when all reachable nodes are settled.
    pub fn settle(&mut self) -> Option<(usize, C)> {
        loop {
            let Reverse((cost, node)) = self.frontier.pop()?;
            if cost <= self.best[node] {
                return Some((node, cost));
            }
        }
    }

    /// Offers a path to `node` of cost `cost` with the last step `via`. It is kept if it is shorter than the known one.
    pub fn offer(&mut self, node: usize, cost: C, via: V) {
        if cost < self.best[node] {
            self.reach(node, cost, Some(via));
        }
    }

    fn reach(&mut self, node: usize, cost: C, via: Option<V>) {
        if self.best[node] == self.unreached {
            self.reached.push(node);
        }
        (self.best[node], self.via[node]) = (cost, via);
        self.frontier.push(Reverse((cost, node)));
    }

    /// The cost of the shortest path to `node` so far.
    pub fn cost(&self, node: usize) -> C {
        self.best[node]
    }

    /// Whether a path to `node` is known.
    pub fn reached(&self, node: usize) -> bool {
        self.best[node] < self.unreached
    }

    /// The last step of the shortest path to `node`; `None` for a start and for an unreachable node.
    pub fn via(&self, node: usize) -> Option<V> {
        self.via[node]
    }

    /// Costs and last steps of all nodes.
    pub fn finish(self) -> (Vec<C>, Vec<Option<V>>) {
        (self.best, self.via)
    }
}

/// The connected component of each node, identified by its lowest index. `neighbours` returns the nodes that share an
/// edge with a node, in either direction.
pub fn components<I: IntoIterator<Item = usize>>(
    nodes: usize,
    mut neighbours: impl FnMut(usize) -> I,
) -> Vec<usize> {
    let mut component = vec![usize::MAX; nodes];
    let mut open = Vec::new();
    for start in 0..nodes {
        if component[start] == usize::MAX {
            open.push(start);
        }
        while let Some(node) = open.pop() {
            if component[node] == usize::MAX {
                component[node] = start;
                open.extend(neighbours(node));
            }
        }
    }
    component
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// Links as `(a, b, length)`, in both directions.
    fn search(nodes: usize, links: &[(usize, usize, u64)], starts: &[usize]) -> Search<u64, usize> {
        let mut search = Search::new(nodes, u64::MAX);
        starts.iter().for_each(|&start| search.start(start, 0));
        while let Some((node, cost)) = search.settle() {
            for &(a, b, length) in links {
                if a == node {
                    search.offer(b, cost + length, a);
                }
                if b == node {
                    search.offer(a, cost + length, b);
                }
            }
        }
        search
    }

    #[test]
    fn of_equal_paths_the_one_through_the_lower_index_is_kept() {
        // 0 – 1 – 3 and 0 – 2 – 3 have equal length; 2 is listed first
        let found = search(5, &[(0, 2, 1), (2, 3, 1), (0, 1, 1), (1, 3, 1)], &[0]);
        assert_eq!((found.cost(3), found.via(3), found.via(0)), (2, Some(1), None));
        assert_eq!((found.reached(4), found.via(4)), (false, None));
    }

    #[test]
    fn a_search_that_is_restarted_equals_a_new_one() {
        let links = [(0, 1, 1), (1, 2, 1), (2, 3, 5)];
        let mut again = search(5, &links, &[0, 3]);
        again.restart();
        assert_eq!((again.settle(), again.reached(1), again.via(1)), (None, false, None));
        again.start(3, 0);
        while let Some((node, cost)) = again.settle() {
            links
                .iter()
                .filter(|link| link.1 == node)
                .for_each(|link| again.offer(link.0, cost + link.2, node));
        }
        assert_eq!(again.finish(), (vec![7, 6, 5, 0, u64::MAX], vec![Some(1), Some(2), Some(3), None, None]));
    }

    #[test]
    fn distances_are_to_the_nearest_start_and_a_start_may_have_a_shorter_path() {
        let links = [(0, 1, 1), (1, 2, 1), (2, 3, 5)];
        let found = search(4, &links, &[0, 3]);
        assert_eq!(found.finish(), (vec![0, 1, 2, 0], vec![None, Some(0), Some(1), None]));
        let mut late = Search::new(2, u64::MAX);
        late.start(0, 0);
        late.start(1, 9);
        assert_eq!(late.settle(), Some((0, 0)));
        late.offer(1, 4, 'x');
        assert_eq!((late.settle(), late.settle(), late.via(1)), (Some((1, 4)), None, Some('x')));
    }

    #[test]
    fn a_component_is_named_by_its_lowest_node() {
        let next = [vec![], vec![3], vec![4], vec![1, 5], vec![2], vec![3]];
        assert_eq!(components(6, |node| next[node].clone()), [0, 1, 2, 1, 2, 1]);
    }

    proptest! {
        #[test]
        fn costs_equal_those_of_bellman_ford(
            links in prop::collection::vec((0usize..8, 0usize..8, 0u64..5), 0..20),
            start in 0usize..8,
        ) {
            let mut cost = vec![u64::MAX; 8];
            cost[start] = 0;
            for _ in 0..8 {
                for &(a, b, length) in &links {
                    cost[b] = cost[b].min(cost[a].saturating_add(length));
                    cost[a] = cost[a].min(cost[b].saturating_add(length));
                }
            }
            let found = search(8, &links, &[start]);
            prop_assert_eq!(&found.finish().0, &cost);
            let joined = |node: usize| links.iter().filter_map(move |&(a, b, _)| {
                if a == node { Some(b) } else { (b == node).then_some(a) }
            });
            let component = components(8, |node| joined(node).collect::<Vec<_>>());
            for node in 0..8 {
                prop_assert_eq!(component[node] == component[start], cost[node] < u64::MAX);
            }
        }
    }
}
