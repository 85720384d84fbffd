//! The columns of reasons for drops.

use contract::DropReason;

/// The column of each reason for a drop. The first [`AT_LINKS`] reasons occur at a link, the others at a node: only
/// `flows` has a column for them.
pub(super) const DROPS: [(&str, DropReason); DropReason::ALL.len()] = [
    ("drops_queue_full", DropReason::QueueFull),
    ("drops_early", DropReason::Early),
    ("drops_random_loss", DropReason::RandomLoss),
    ("drops_link_down", DropReason::LinkDown),
    ("drops_policed", DropReason::Policed),
    ("drops_corrupted", DropReason::Corrupted),
    ("drops_no_route", DropReason::NoRoute),
    ("drops_not_listening", DropReason::NotListening),
    ("drops_hop_limit", DropReason::HopLimit),
];

/// Number of reasons that occur at a link.
pub(super) const AT_LINKS: usize = 6;
