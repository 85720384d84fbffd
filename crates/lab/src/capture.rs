//! Capture files of links, which other programs read.

use std::fs::File;
use std::io::{self, BufWriter};
use std::path::Path;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, OnceLock};

use contract::{LinkId, Packet, PortId};
use sim::{FlowKind, Tap};
use units::Time;

use crate::Plan;

/// The result of writing a file during a run, available after the run.
#[derive(Clone, Debug, Default)]
pub struct Written {
    records: Arc<AtomicU64>,
    failure: Arc<OnceLock<String>>,
}

impl Written {
    /// Packets or events written.
    pub fn records(&self) -> u64 {
        self.records.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.records.fetch_add(1, Ordering::Relaxed);
    }

    /// Why the file is not complete, if it is not.
    pub fn failure(&self) -> Option<&str> {
        self.failure.get().map(String::as_str)
    }

    /// Notes the result of a step of writing.
    pub fn note(&self, result: io::Result<()>) {
        if let Err(error) = result {
            // the first one says it
            let _ = self.failure.set(error.to_string());
        }
    }
}

/// A capture file in the pcapng format, with an interface for each direction of each link.
pub struct Capture {
    /// Taken when the file is closed.
    file: Option<wire::Capture<BufWriter<File>>>,
    /// By port, the interface's number.
    interfaces: Vec<(PortId, u32)>,
    /// By flow, what of a TCP packet's size is header.
    headers: Vec<u32>,
    captured: Written,
}

impl Capture {
    /// Begins a file of what passes `links`, at the far end of each. `began_ns` are nanoseconds since 1970 at the start
    /// of the run; 0 for a simulation.
    pub fn create(plan: &Plan, links: &[LinkId], path: &Path, began_ns: u64) -> io::Result<(Self, Written)> {
        let port = |link: &LinkId, backward: u32| PortId(2 * link.0 + backward);
        let names = links.iter().flat_map(|link| {
            let name = &plan.blueprint.links[link.index()].name;
            [name.to_string(), format!("{name}.backward")]
        });
        let ports = links.iter().flat_map(|link| [port(link, 0), port(link, 1)]);
        let file = wire::Capture::new(BufWriter::new(File::create(path)?), names, began_ns)?;
        let file =
            file.with_names(plan.blueprint.ndn.as_ref().map(|ndn| ndn.names.clone()).unwrap_or_default());
        let headers = plan.blueprint.flows.iter().map(|flow| match &*flow.kind {
            FlowKind::Tcp(config) => config.header.as_u64() as u32,
            _ => 0,
        });
        let captured = Written::default();
        Ok((
            Self {
                file: Some(file),
                interfaces: ports.zip(0u32..).collect(),
                headers: headers.collect(),
                captured: captured.clone(),
            },
            captured,
        ))
    }
}

impl Tap for Capture {
    fn pass(&mut self, at: Time, port: PortId, packet: &Packet, bytes: Option<&[u8]>) {
        let interface = self.interfaces.iter().find(|(of, _)| *of == port);
        let (Some(file), Some(&(_, interface))) = (&mut self.file, interface) else { return };
        let written = match bytes {
            Some(bytes) => file.real(at, interface, bytes),
            None => {
                let header = self.headers.get(packet.flow.index()).copied().unwrap_or(0);
                file.simulated(at, interface, packet, header)
            }
        };
        self.captured.count();
        self.captured.note(written);
    }
}

impl Drop for Capture {
    fn drop(&mut self) {
        if let Some(file) = self.file.take() {
            self.captured.note(file.finish().map(drop));
        }
    }
}
