//! The layout of nodes in drawings. It is deterministic.

use contract::NodeId;
use units::math;

use super::Net;

/// `n` positions on a circle, clockwise from the top.
pub(super) fn circle(n: usize) -> Vec<(f64, f64)> {
    (0..n)
        .map(|i| {
            let angle = std::f64::consts::TAU * i as f64 / n as f64;
            (0.5 + 0.44 * math::sin(angle), 0.5 - 0.44 * math::cos(angle))
        })
        .collect()
}

/// Neighbours of each node, in the order of links.
fn neighbours(net: &Net) -> Vec<Vec<usize>> {
    let mut lists = vec![Vec::new(); net.nodes.len()];
    for link in &net.links {
        lists[link.ends.0.index()].push(link.ends.1.index());
        lists[link.ends.1.index()].push(link.ends.0.index());
    }
    lists
}

/// Columns from left to right by the number of links from the first node; within a column close to neighbours on the
/// left.
pub(super) fn layered(net: &Net) -> Vec<(f64, f64)> {
    let near = neighbours(net);
    let mut layer = vec![usize::MAX; near.len()];
    let mut columns: Vec<Vec<usize>> = Vec::new();
    for start in 0..near.len() {
        if layer[start] != usize::MAX {
            continue;
        }
        layer[start] = 0;
        let mut wave = vec![start];
        let mut depth = 0;
        while !wave.is_empty() {
            if columns.len() <= depth {
                columns.push(Vec::new());
            }
            columns[depth].extend(&wave);
            depth += 1;
            let mut next = Vec::new();
            for node in wave {
                for &other in &near[node] {
                    if layer[other] == usize::MAX {
                        layer[other] = depth;
                        next.push(other);
                    }
                }
            }
            wave = next;
        }
    }
    let mut locations = vec![(0.5, 0.5); near.len()];
    let last = columns.len().saturating_sub(1).max(1) as f64;
    for (depth, mut column) in columns.into_iter().enumerate() {
        if depth > 0 {
            let mean = |node: usize| {
                let left: Vec<f64> =
                    near[node].iter().filter(|n| layer[**n] < layer[node]).map(|n| locations[*n].1).collect();
                left.iter().sum::<f64>() / left.len().max(1) as f64
            };
            let heights: Vec<f64> = column.iter().map(|node| mean(*node)).collect();
            let mut order: Vec<usize> = (0..column.len()).collect();
            order.sort_by(|a, b| heights[*a].total_cmp(&heights[*b]).then(a.cmp(b)));
            column = order.into_iter().map(|i| column[i]).collect();
        }
        let count = column.len() as f64;
        for (i, node) in column.into_iter().enumerate() {
            locations[node] = (0.05 + 0.9 * depth as f64 / last, (i as f64 + 0.5) / count);
        }
    }
    locations
}

/// A spring layout: nodes repel each other and links attract; layered if the network is large.
pub(super) fn spring(net: &Net) -> Vec<(f64, f64)> {
    let n = net.nodes.len();
    if !(3..=150).contains(&n) {
        return layered(net);
    }
    let mut locations = circle(n);
    // distance of equilibrium in a unit square
    let rest = (1.0 / n as f64).sqrt();
    for round in 0..200 {
        let mut moves = vec![(0.0, 0.0); n];
        for a in 0..n {
            for b in a + 1..n {
                let (dx, dy) = (locations[a].0 - locations[b].0, locations[a].1 - locations[b].1);
                let push = rest * rest / (dx * dx + dy * dy).max(1e-6);
                moves[a] = (moves[a].0 + dx * push, moves[a].1 + dy * push);
                moves[b] = (moves[b].0 - dx * push, moves[b].1 - dy * push);
            }
        }
        for link in &net.links {
            let (a, b) = (link.ends.0.index(), link.ends.1.index());
            let (dx, dy) = (locations[a].0 - locations[b].0, locations[a].1 - locations[b].1);
            let pull = (dx * dx + dy * dy).sqrt() / rest;
            moves[a] = (moves[a].0 - dx * pull, moves[a].1 - dy * pull);
            moves[b] = (moves[b].0 + dx * pull, moves[b].1 + dy * pull);
        }
        let reach = 0.1 * (1.0 - f64::from(round) / 200.0);
        for (location, (dx, dy)) in locations.iter_mut().zip(moves) {
            let length = (dx * dx + dy * dy).sqrt();
            if length > 0.0 {
                let step = length.min(reach) / length;
                *location = (location.0 + dx * step, location.1 + dy * step);
            }
        }
    }
    fitted(&locations)
}

/// A position beside a node, on the side with most distance to other nodes and links.
pub(super) fn beside(net: &Net, node: NodeId) -> (f64, f64) {
    /// Distance downwards; half of it to the right, because figures are about twice as wide as high.
    const AWAY: f64 = 0.16;
    /// Minimum distance from the edge.
    const MARGIN: f64 = 0.02;
    let seen = |(x, y): (f64, f64)| (2.0 * x, y);
    let (x, y) = net.positions[node.index()];
    let side = |(dx, dy): (f64, f64)| {
        // the circle has a radius of 0.44
        let location = (x + AWAY / 2.0 * (dx - 0.5) / 0.44, y + AWAY * (dy - 0.5) / 0.44);
        (location.0.clamp(MARGIN, 1.0 - MARGIN), location.1.clamp(MARGIN, 1.0 - MARGIN))
    };
    let location = |node: NodeId| seen(net.positions[node.index()]);
    let nodes = net.positions.iter().map(|location| (seen(*location), seen(*location)));
    let links = net.links.iter().map(|link| (location(link.ends.0), location(link.ends.1)));
    let drawn: Vec<_> = nodes.chain(links).collect();
    let room = |side: (f64, f64)| {
        let gaps = drawn.iter().map(|(from, to)| squared_distance(seen(side), *from, *to));
        gaps.fold(f64::INFINITY, f64::min)
    };
    // starts at the top, clockwise; a later position must be better
    let best = circle(8).into_iter().map(side).map(|side| (room(side), side));
    best.fold((-1.0, (x, y)), |best, next| if next.0 > best.0 + 1e-9 { next } else { best }).1
}

/// Squared distance of a position from the line between two others.
fn squared_distance(location: (f64, f64), from: (f64, f64), to: (f64, f64)) -> f64 {
    let (dx, dy) = (to.0 - from.0, to.1 - from.1);
    let (px, py) = (location.0 - from.0, location.1 - from.1);
    let length = dx * dx + dy * dy;
    let along = if length > 0.0 { ((px * dx + py * dy) / length).clamp(0.0, 1.0) } else { 0.0 };
    let (rx, ry) = (px - along * dx, py - along * dy);
    rx * rx + ry * ry
}

/// Positions moved and scaled into the unit square with a margin.
pub(super) fn fitted(locations: &[(f64, f64)]) -> Vec<(f64, f64)> {
    let bounds = |pick: fn(&(f64, f64)) -> f64| {
        let low = locations.iter().map(pick).fold(f64::INFINITY, f64::min);
        let high = locations.iter().map(pick).fold(f64::NEG_INFINITY, f64::max);
        (low, high)
    };
    let into = |value: f64, (low, high): (f64, f64)| {
        if high > low { 0.05 + 0.9 * (value - low) / (high - low) } else { 0.5 }
    };
    let (xs, ys) = (bounds(|p| p.0), bounds(|p| p.1));
    locations.iter().map(|(x, y)| (into(*x, xs), into(*y, ys))).collect()
}
