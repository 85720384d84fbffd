//! Lanes of shapers that treat flows apart: one for the Interests of a flow that come by one link and go by one other.

use std::collections::BTreeMap;

use contract::{FaceId, LaneId, NameId};

/// The numbers of the lanes: by the link that their Data leave by, the flow, and the link that they go to. A flow is a name without
/// its segment.
#[derive(Clone, Debug, Default)]
pub struct Lines(BTreeMap<(FaceId, NameId, FaceId), u32>);

impl Lines {
    /// The lane of a flow, which is made where there is none.
    pub fn lane(&mut self, down: FaceId, flow: NameId, up: FaceId) -> LaneId {
        let next = self.0.len() as u32;
        LaneId(*self.0.entry((down, flow, up)).or_insert(next))
    }

    /// The lanes of a flow whose Data leave by `down`, in the order of the links that they go to.
    pub fn of_flow(&self, down: FaceId, flow: NameId) -> impl Iterator<Item = LaneId> {
        let all = (down, flow, FaceId(0))..=(down, flow, FaceId(u32::MAX));
        self.0.range(all).map(|(_, number)| LaneId(*number))
    }

    /// How many there are.
    pub fn count(&self) -> u32 {
        self.0.len() as u32
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_flow_has_a_lane_for_each_link_that_it_goes_to() {
        let mut lines = Lines::default();
        let ways = [(1, 5, 0), (1, 5, 2), (1, 6, 0), (3, 5, 0), (1, 5, 0)];
        let lanes = ways.map(|(down, flow, up)| lines.lane(FaceId(down), NameId(flow), FaceId(up)).0);
        assert_eq!(lanes, [0, 1, 2, 3, 0]);
        assert_eq!(lines.of_flow(FaceId(1), NameId(5)).collect::<Vec<_>>(), [LaneId(0), LaneId(1)]);
        assert_eq!(lines.count(), 4);
    }
}
