//! Path numbers in Data: each hop adds the incoming face to the number.

use contract::{FaceId, LinkCx, LinkLaw, Packet, Return};

/// Labels of paths.
#[derive(Clone, Copy, Debug)]
pub struct Labels;

/// The number of a path that is `path` up to here and comes in by `face`. Faces of the same node make different ones; other paths do but
/// for one chance in 2⁶⁴.
pub(super) const fn longer(path: u64, face: FaceId) -> u64 {
    // our choice: the sources combine hashes of face numbers [HICN, CCNPL]; a multiplication by an odd number loses nothing
    (path.rotate_left(29) ^ (face.0 as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl LinkLaw for Labels {
    fn on_data_in(&mut self, data: &mut Packet, way: &Return, _cx: &mut dyn LinkCx) {
        data.label.0[0] = longer(data.label.0[0], way.from);
    }

    fn has_deadlines(&self) -> bool {
        false
    }
}
