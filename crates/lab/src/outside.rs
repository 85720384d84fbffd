//! The tables of a scenario file about programs outside of the network.

use units::Duration;

use crate::file::within;
use crate::read::{At, tables};

tables! {
    /// Commands of the shell that make a flow's traffic in an emulation. `{from}` and `{to}` stand for the addresses of its ends, `{to}` for that
    /// of the group where the flow has one, `{here}` for that of the node where the command runs, and `{port}` for the flow's port.
    pub(crate) struct Commands = "commands" {
        /// At the sender's node, from the flow's start until its stop.
        sender: String,
        /// At each receiver's node, from the beginning to the end.
        receiver: String,
    }

    /// What an emulation is told besides.
    pub(crate) struct Emulation = "an emulation" {
        /// Nodes that are network namespaces of the machine, or patterns such as "left*"; the ends of all flows with `kernel`,
        /// `live` or `commands` when not given.
        real: Vec<At<String>>,
        /// A run is valid when no more than a hundredth of the packets left later than this after their time; 2 ms when not given.
        max_lateness: Duration where within("1 us", "1000 s"),
    }
}
