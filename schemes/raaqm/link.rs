//! Path numbers in Data: each hop adds the incoming face to the number.

use contract::{FaceId, LinkAlgorithm, LinkCx, Packet, ReturnPath};

/// The link part: path labels.
#[derive(Clone, Copy, Debug)]
pub struct Labels;

/// The number of a path that was `path` up to here and arrives on `face`. Different faces of a node give different
/// numbers; other paths collide with a probability of 2⁻⁶⁴.
pub(super) const fn extend(path: u64, face: FaceId) -> u64 {
    // our choice: the sources combine hashes of face numbers [HICN, CCNPL]; a multiplication by an odd number is
    // invertible
    (path.rotate_left(29) ^ (face.0 as u64 + 1)).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl LinkAlgorithm for Labels {
    fn on_data_in(&mut self, data: &mut Packet, path: &ReturnPath, _cx: &mut dyn LinkCx) {
        data.label.0[0] = extend(data.label.0[0], path.from);
    }

    fn has_deadlines(&self) -> bool {
        false
    }
}
