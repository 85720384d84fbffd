//! A simulated flow over TCP as a script for packetdrill: what arrived at its sender, and what left.

use std::fs;
use std::io;
use std::path::Path;
use std::sync::{Arc, Mutex};

use contract::{EndpointId, FlowId, Header};
use drill::{Passed, Recorded};
use sim::{
    ActivityRow, Cast, EndpointRole, EndpointRow, FlowKind, FlowSpec, HopRow, MeterRow, PacketEnd, PacketLog,
    PacketRow,
};
use units::Time;

use crate::Plan;

/// The flows of which a script can be written, in the order of the plan: those over TCP with one receiver.
pub fn drillable(plan: &Plan) -> impl Iterator<Item = (&str, FlowId)> {
    let over_tcp = |flow: &FlowSpec| matches!(&*flow.kind, FlowKind::Tcp(_)) && flow.cast == Cast::Unicast;
    let flows = (0u32..).map(FlowId).zip(&plan.blueprint.flows);
    flows.filter(move |(_, flow)| over_tcp(flow)).map(|(id, flow)| (flow.name.as_str(), id))
}

/// The packets of one flow, recorded while a run proceeds.
pub struct DrillScript {
    flow: FlowId,
    rows: Arc<Mutex<Vec<Row>>>,
}

/// A packet with its rank among those of the same instant: arrivals first, then by number.
struct Row {
    rank: (Time, bool, u64),
    packet: Passed,
}

/// The log that a run fills.
struct FlowLog {
    flow: FlowId,
    header: u64,
    sender: Option<EndpointId>,
    arrived: u64,
    rows: Arc<Mutex<Vec<Row>>>,
}

impl DrillScript {
    /// Begins the record of a flow over TCP. The log goes into a run; after the run, [`DrillScript::write`] writes the
    /// script.
    pub fn begin(plan: &Plan, flow: FlowId) -> (Box<dyn PacketLog>, Self) {
        let rows = Arc::default();
        let header = match &*plan.blueprint.flows[flow.index()].kind {
            FlowKind::Tcp(config) => config.header.as_u64(),
            _ => 0,
        };
        let log = FlowLog { flow, header, sender: None, arrived: 0, rows: Arc::clone(&rows) };
        (Box::new(log), Self { flow, rows })
    }

    /// The script, for a run that has ended.
    ///
    /// # Errors
    ///
    /// Why the flow has none, see [`drill::export`].
    pub fn script(&self, plan: &Plan) -> Result<drill::Exported, String> {
        let spec = &plan.blueprint.flows[self.flow.index()];
        let FlowKind::Tcp(config) = &*spec.kind else { return Err("the flow is not over TCP".to_owned()) };
        let mut rows = self.rows.lock().map_err(|_| "the record of the run failed".to_owned())?;
        rows.sort_by_key(|row| row.rank);
        drill::export(&Recorded {
            title: format!("{}: flow {}", plan.title, spec.name),
            config: config.clone(),
            scheme: spec.scheme.as_deref().unwrap_or_default().to_owned(),
            params: spec.params.clone(),
            packets: rows.iter().map(|row| row.packet.clone()).collect(),
        })
    }

    /// Writes the script to `path`. Returns the number of packets in it, and whether the flow has more.
    ///
    /// # Errors
    ///
    /// As [`DrillScript::script`], or if the file cannot be written.
    pub fn write(&self, plan: &Plan, path: &Path) -> io::Result<(usize, bool)> {
        let script = self.script(plan).map_err(io::Error::other)?;
        fs::write(path, &script.text)?;
        Ok((script.packets, script.shortened))
    }
}

impl FlowLog {
    fn push(&mut self, left: bool, at: Time, number: u64, row: &PacketRow) {
        let Header::Tcp(header) = row.packet.header else { return };
        let packet = Passed {
            at,
            left,
            header,
            payload: row.packet.size().as_u64().saturating_sub(self.header),
            ecn: row.packet.ecn,
        };
        if let Ok(mut rows) = self.rows.lock() {
            rows.push(Row { rank: (at, left, number), packet });
        }
    }
}

impl PacketLog for FlowLog {
    fn begin(&mut self, endpoints: &[EndpointRow]) {
        let is_sender = |row: &&EndpointRow| row.flow == Some(self.flow) && row.role == EndpointRole::Sender;
        self.sender = endpoints.iter().find(is_sender).map(|row| row.address.endpoint);
    }

    fn packet(&mut self, row: &PacketRow) {
        if row.packet.flow != self.flow {
            return;
        }
        if Some(row.packet.source.endpoint) == self.sender && row.copy_of.is_none() {
            self.push(true, row.created_at, row.number, row);
        }
        if let (PacketEnd::Delivered(to), Some(at)) = (row.end, row.ended_at)
            && Some(to) == self.sender
        {
            self.arrived += 1;
            self.push(false, at, self.arrived, row);
        }
    }

    fn hop(&mut self, _row: &HopRow) {}

    fn meter(&mut self, _row: &MeterRow) {}

    fn activity(&mut self, _row: &ActivityRow) {}
}
