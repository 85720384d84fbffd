//! At the links: the node that answers an Interest, and those that its Data pass, write where the anticipated Data
//! would come from.

use contract::{Header, LinkAlgorithm, LinkCx, Name, NodeId, Packet, ReturnPath, Transit};

use super::Params;

/// The part at the links of a node.
#[derive(Clone, Copy, Debug)]
pub struct Prediction {
    anticipated: usize,
}

/// The node as a word of a label; 0 is none.
pub(super) const fn word(node: NodeId) -> u64 {
    node.0 as u64 + 1
}

/// The lead of an Interest, in the first word of its label and in the upper half of the first word of its Data's label:
/// how many segments after its own the first anticipated one is.
pub(super) const fn lead(first: u64) -> u64 {
    first >> 32
}

/// The source of Data, in the lower half of the first word of their label; 0 where no forwarder wrote it.
pub(super) const fn source(first: u64) -> u64 {
    first & 0xffff_ffff
}

impl Prediction {
    /// The part, with its parameters.
    pub const fn new(params: &Params) -> Self {
        Self { anticipated: params.anticipated as usize }
    }

    /// The names that Data anticipate, each with its word in the label.
    fn names(self, name: Name, first: u64) -> impl Iterator<Item = (usize, Name)> {
        // our choice: the names follow the segment at a distance, and the Interest carries the distance in their place
        let next = name.segment + lead(first);
        (0..self.anticipated).map(move |index| (1 + index, Name { segment: next + index as u64, ..name }))
    }
}

impl LinkAlgorithm for Prediction {
    fn on_data_in(&mut self, data: &mut Packet, _path: &ReturnPath, cx: &mut dyn LinkCx) {
        let Header::Data(answer) = data.header else { return };
        let first = data.label.0[0];
        if source(first) == 0 {
            return;
        }
        // a node that has the chunk writes itself, and one that is nearer to the consumer writes over it
        for (place, name) in self.names(answer.name, first) {
            if let Some(node) = cx.holder(name) {
                data.label.0[place] = word(node);
            }
        }
    }

    fn on_data_out(&mut self, data: &mut Packet, path: &Transit, cx: &mut dyn LinkCx) {
        let Header::Data(answer) = data.header else { return };
        let from_store = path.from == path.to;
        if !from_store && cx.face(path.from).link.is_some() {
            return;
        }
        // the Data carry the node that served them
        let me = word(data.source.node);
        let first = lead(path.interest_label.0[0]) << 32 | me;
        data.label.0[0] = first;
        for (place, name) in self.names(answer.name, first) {
            // the producer fills what no store has with itself
            data.label.0[place] = match cx.holder(name) {
                Some(node) => word(node),
                None if from_store => 0,
                None => me,
            };
        }
    }

    fn has_deadlines(&self) -> bool {
        false
    }
}
