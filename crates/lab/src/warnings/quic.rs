//! Warnings about flow control of QUIC stacks: receive windows with which a connection can end.

use sim::{FlowKind, FlowSpec, Limit};
use units::Bytes;

use super::{WarningPass, location_of, name_of};
use crate::schema::file::Flow;
use crate::schema::read::{At, Notes};
use crate::topology::{Paths, PortIndex};

/// Gaps in a stream with which quinn and noq close the connection (MAX_CHUNKS in connection/assembler.rs).
const GAPS: u64 = 1024;

/// Reports receive windows that let a flow fill the queue of its path, where the packets that this drops are so many
/// that the receiver closes the connection.
pub(super) fn build(pass: &WarningPass<'_>, notes: &mut Notes) {
    let mut paths = Paths::new(pass.net, pass.blueprint.metric, &pass.blueprint.routes);
    for table in pass.file.flows.items() {
        let flow = name_of(table).and_then(|name| pass.entries.get(name)?.first());
        if let Some(flow) = flow {
            pass.gaps(table, flow, &mut paths, notes);
        }
    }
}

impl WarningPass<'_> {
    fn gaps(&self, table: &At<Flow>, flow: &FlowSpec, paths: &mut Paths<'_>, notes: &mut Notes) {
        let (FlowKind::Stack(stack), Some(quic)) = (&*flow.kind, table.quic.present()) else { return };
        let Some(location) = location_of(&quic.receive_window) else { return };
        let window = stack.flow_control.receive_window;
        let Some(way) = flow.to.first().and_then(|to| paths.way(flow.from, to.node)) else { return };
        let Some(slowest) = self.slowest(&way) else { return };
        let back: Vec<PortIndex> = way.iter().rev().map(|port| port ^ 1).collect();
        let round_trip = paths.length(&way) + paths.length(&back);
        let under_way = self.rate(slowest).bytes_in(round_trip).as_u64();
        let held = under_way.saturating_add(self.queue(slowest, stack.packet));
        let (name, packets) = (&stack.name, held / stack.packet.as_u64().max(1));
        if window.as_u64() <= held || packets <= GAPS {
            return;
        }
        notes
            .warn(
                location,
                format!(
                    "the window is above what the path and its queue hold, {packets} packets: when slow start overflows the queue, \
                     `{name}` can close the connection, because it keeps at most {GAPS} gaps in a stream"
                ),
            )
            .hint(format!("write receive_window = \"{} kB\" or less", held / 1000));
    }

    /// What the queue of a port holds, with packets of this size.
    fn queue(&self, port: PortIndex, packet: Bytes) -> u64 {
        let link = &self.blueprint.links[port / 2];
        let spec = if port.is_multiple_of(2) { &link.forward } else { &link.backward };
        match spec.queue.limit {
            Limit::Packets(packets) => u64::from(packets).saturating_mul(packet.as_u64()),
            Limit::Bytes(bytes) => bytes.as_u64(),
        }
    }
}
