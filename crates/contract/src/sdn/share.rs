//! Shares of a port's traffic, and their encoding in labels.

use super::Traffic;
use crate::{Label, NameId, NodeId};

/// The traffic of a class at a port in a period.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Share {
    /// The class.
    pub what: Traffic,
    /// Bytes.
    pub bytes: u32,
}

impl Share {
    /// Maximum number of shares in a label.
    pub const IN_A_LABEL: usize = 4;
    const NODE: u64 = 1 << 31;

    /// Up to [`Share::IN_A_LABEL`] shares as a label.
    pub fn pack(shares: &[Self]) -> Label {
        let mut label = Label::default();
        for (word, share) in label.0.iter_mut().zip(shares) {
            let what = match share.what {
                Traffic::Prefix(prefix) => u64::from(prefix.0),
                Traffic::Node(node) => u64::from(node.0) | Self::NODE,
            };
            *word = what << 32 | u64::from(share.bytes);
        }
        label
    }

    /// The first `count` shares of a label.
    pub fn unpack(label: &Label, count: usize) -> impl Iterator<Item = Self> + '_ {
        label.0.iter().take(count).map(|word| {
            let key = word >> 32;
            let number = (key & !Self::NODE) as u32;
            let what = match key & Self::NODE {
                0 => Traffic::Prefix(NameId(number)),
                _ => Traffic::Node(NodeId(number)),
            };
            Self { what, bytes: *word as u32 }
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn class_traffic_round_trips_through_a_label() {
        let shares = [
            Share { what: Traffic::Prefix(NameId(7)), bytes: 12_345 },
            Share { what: Traffic::Node(NodeId(7)), bytes: u32::MAX },
            Share { what: Traffic::Prefix(NameId(0)), bytes: 0 },
        ];
        let label = Share::pack(&shares);
        assert_eq!(Share::unpack(&label, 3).collect::<Vec<_>>(), shares);
        assert_eq!(Share::unpack(&label, 1).count(), 1);
    }
}
