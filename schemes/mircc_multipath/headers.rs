//! Encoding of labels: Data carry the rates of both classes and the path by which they reached the consumer's node,
//! Interests carry their class.

use contract::{FaceId, Label};
use units::Rate;

/// The rates in Data.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Offer {
    /// For the first class.
    pub(crate) primary: Rate,
    /// For the second class.
    pub(crate) secondary: Rate,
    /// The link on which they arrived at the last node; at a consumer, its path.
    pub(crate) path: FaceId,
}

/// Class of an Interest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Class {
    /// The fair share of its flow.
    Primary,
    /// Capacity that other flows leave unused.
    Secondary,
}

/// The rates in a Data packet; `None` if no forwarder has set them, or the label is not one of these.
#[inline]
pub(crate) fn offered(label: Label) -> Option<Offer> {
    match label.0 {
        [primary, secondary, face, 0]
            if primary > 0 && secondary > 0 && face > 0 && face <= u64::from(u32::MAX) =>
        {
            Some(Offer {
                primary: Rate::from_bps(primary),
                secondary: Rate::from_bps(secondary),
                path: FaceId(face as u32 - 1),
            })
        }
        _ => None,
    }
}

/// Lowers the rates of a Data packet to the rates of its incoming link, and sets the link.
#[inline]
pub(crate) fn stamp(label: &mut Label, own: Offer) {
    let before = offered(*label);
    let min = |own: Rate, before: Option<Rate>| before.map_or(own, |before| before.min(own)).as_bps().max(1);
    *label = Label([
        min(own.primary, before.map(|offer| offer.primary)),
        min(own.secondary, before.map(|offer| offer.secondary)),
        u64::from(own.path.0) + 1,
        0,
    ]);
}

/// The class of an Interest; the first if the label has none.
#[inline]
pub(crate) fn class(label: Label) -> Class {
    if label == SECONDARY { Class::Secondary } else { Class::Primary }
}

/// Writes the class of an Interest.
#[inline]
pub(crate) fn classify(label: &mut Label, class: Class) {
    *label = match class {
        Class::Primary => PRIMARY,
        Class::Secondary => SECONDARY,
    };
}

const PRIMARY: Label = Label([1, 0, 0, 0]);
const SECONDARY: Label = Label([2, 0, 0, 0]);
