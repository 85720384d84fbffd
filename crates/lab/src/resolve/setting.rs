//! What flows, events and records are resolved in: the network, and the nodes that do more than forward.

use std::path::Path;

use units::Duration;

use super::icn::IcnNet;
use super::ndn::NdnNet;
use super::sdn::SdnNet;
use crate::topology::Net;

/// What flows are set into.
pub(super) struct Setting<'a> {
    pub(super) net: &'a Net,
    pub(super) icn: &'a IcnNet,
    pub(super) ndn: &'a NdnNet,
    /// Where paths in the scenario start.
    pub(super) folder: &'a Path,
    pub(super) sdn: &'a SdnNet,
    pub(super) seed: u64,
    pub(super) duration: Duration,
}
