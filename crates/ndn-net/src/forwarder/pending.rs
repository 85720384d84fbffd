//! Limits of pending Interests: neither a face nor all strangers together can fill the pending Interest table.

use contract::FaceId;

/// Numbers of pending requests per face.
#[derive(Debug)]
pub(super) struct PendingCounts {
    faces: Vec<Face>,
    /// The sum over all strangers.
    strangers: usize,
}

#[derive(Clone, Copy, Debug)]
struct Face {
    requests: u32,
    stranger: bool,
}

impl PendingCounts {
    /// No pending requests. `strangers` has for each face whether it leads to a stranger.
    pub(super) fn new(strangers: impl IntoIterator<Item = bool>) -> Self {
        let faces = strangers.into_iter().map(|stranger| Face { requests: 0, stranger });
        Self { faces: faces.collect(), strangers: 0 }
    }

    /// Whether a face leads to a stranger.
    pub(super) fn is_stranger(&self, face: FaceId) -> bool {
        self.faces[face.index()].stranger
    }

    /// Number of pending requests of a face.
    pub(super) fn of(&self, face: FaceId) -> usize {
        self.faces[face.index()].requests as usize
    }

    /// Number of pending requests of all strangers.
    pub(super) const fn of_strangers(&self) -> usize {
        self.strangers
    }

    pub(super) fn begin(&mut self, face: FaceId) {
        let face = &mut self.faces[face.index()];
        face.requests += 1;
        self.strangers += usize::from(face.stranger);
    }

    pub(super) fn end(&mut self, face: FaceId) {
        let face = &mut self.faces[face.index()];
        face.requests -= 1;
        self.strangers -= usize::from(face.stranger);
    }
}
