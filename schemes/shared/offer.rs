//! Encoding of the offered rate in Data: one word of the label, in bit/s of Data on the wire. Zero, as producers and
//! stores send it, is no limit.

use contract::Label;
use units::Rate;

/// The offered rate of a Data packet; `None` if no forwarder has set it, or the label is not one of these.
#[inline]
pub fn offered(label: Label) -> Option<Rate> {
    match label.0 {
        [0, ..] => None,
        [bps, 0, 0, 0] => Some(Rate::from_bps(bps)),
        _ => None,
    }
}

/// Lowers the offer of a Data packet to `rate`, if it is above [MIRCC].
#[inline]
pub fn stamp(label: &mut Label, rate: Rate) {
    let own = rate.as_bps().max(1);
    if offered(*label).is_none_or(|offer| offer.as_bps() > own) {
        *label = Label([own, 0, 0, 0]);
    }
}
