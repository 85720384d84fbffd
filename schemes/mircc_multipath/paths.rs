//! Division of a flow over its paths. The consumer, its node's strategy and its node's link part each keep this state
//! from the Data, and so agree without messages.

use contract::FaceId;
use units::Time;

use super::headers::Offer;
use super::{Classes, Params};

/// The state of the paths of one flow.
#[derive(Clone, Debug, Default)]
pub(crate) struct Paths {
    paths: Vec<Path>,
}

/// A path, identified by its first link.
#[derive(Clone, Copy, Debug)]
struct Path {
    face: FaceId,
    /// R₁ and R₂, in bit/s.
    primary: f64,
    secondary: f64,
    heard_at: Time,
}

/// The rate of a flow over one path, in bit/s.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub(crate) struct Share {
    /// In the first class.
    pub(crate) primary: f64,
    /// In the second class.
    pub(crate) secondary: f64,
}

impl Share {
    /// Sum of both classes.
    pub(crate) fn total(self) -> f64 {
        self.primary + self.secondary
    }
}

impl Paths {
    /// Takes the rates in Data.
    pub(crate) fn on_offer(&mut self, offer: &Offer, now: Time) {
        let path = Path {
            face: offer.path,
            primary: offer.primary.as_bps_f64(),
            secondary: offer.secondary.as_bps_f64(),
            heard_at: now,
        };
        match self.paths.iter_mut().find(|paths| paths.face == offer.path) {
            Some(paths) => *paths = path,
            None => {
                self.paths.push(path);
                self.paths.sort_unstable_by_key(|path| path.face);
            }
        }
    }

    /// Whether Data have arrived on `face`.
    pub(crate) fn has_path(&self, face: FaceId) -> bool {
        self.paths.iter().any(|path| path.face == face)
    }

    /// The rates over each path with recent Data, sorted by face.
    pub(crate) fn shares(&self, params: &Params, now: Time) -> impl Iterator<Item = (FaceId, Share)> + '_ {
        let path_timeout = params.path_timeout;
        let fresh = move |path: &&Path| now.saturating_since(path.heard_at) <= path_timeout;
        let count = self.paths.iter().filter(fresh).count();
        let single_path = count == 1 || params.classes == Classes::Primary;
        // P = maxₖ R₁ₖ, over the path k*
        let best = self
            .paths
            .iter()
            .filter(fresh)
            .fold(None, |best: Option<&Path>, path| match best {
                Some(best) if best.primary >= path.primary => Some(best),
                _ => Some(path),
            })
            .copied();
        // D = max(0, P − Σ R₂ₖ), as the first class over k*
        let leftovers: f64 = self.paths.iter().filter(fresh).map(|path| path.secondary).sum();
        let remainder = best.map_or(0.0, |best| (best.primary - leftovers).max(0.0));
        self.paths.iter().filter(fresh).map(move |path| {
            let share = if single_path {
                Share { primary: path.primary, secondary: 0.0 }
            } else {
                let is_best = best.is_some_and(|best| best.face == path.face);
                Share { primary: if is_best { remainder } else { 0.0 }, secondary: path.secondary }
            };
            (path.face, share)
        })
    }
}
