//! SHA-256.

use sha2::{Digest as _, Sha256};

/// A SHA-256 digest.
pub type Digest = [u8; 32];

/// The digest of consecutive pieces.
pub fn sha256(pieces: &[&[u8]]) -> Digest {
    let mut hasher = Sha256::new();
    pieces.iter().for_each(|piece| hasher.update(piece));
    hasher.finalize().into()
}
