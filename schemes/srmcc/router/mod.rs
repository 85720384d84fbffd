//! SRMCC in a router of the tree: averages its queues, counts flows, and aggregates the messages of its children into
//! one per cycle.

mod flows;
mod queues;
mod table;

use contract::{
    Branch, Count, GroupId, Header, Packet, PortView, Report, RouterAlgorithm, RouterCx, TransitCx,
};
use units::{Bytes, Rate, Time};

use super::headers::{Header as DataHeader, Mcc, rounds_between};
use super::{Params, Sampling};
use flows::Flows;
use queues::Queues;
use table::{Own, Row};

/// The part of a tree node, for all groups of the scheme [SRMCC §3.2].
#[derive(Clone, Debug)]
pub struct Router {
    params: Box<Params>,
    queues: Queues,
    flows: Flows,
    /// The newest header of each group, by group.
    headers: Vec<Option<DataHeader>>,
    /// The MCC table, by group.
    table: Vec<Option<Box<Row>>>,
    /// The earliest deadline of a row.
    next_message: Time,
}

impl Router {
    /// A tree node without measurements; data packets have the size `packet`.
    pub(crate) fn new(params: &Params, packet: Bytes) -> Self {
        Self {
            queues: Queues::new(params, packet),
            flows: Flows::new(params),
            headers: Vec::new(),
            table: Vec::new(),
            next_message: Time::NEVER,
            params: Box::new(params.clone()),
        }
    }

    /// Sends the aggregate of a row upstream.
    fn emit(&mut self, group: GroupId, cx: &mut RouterCx<'_, '_, '_>) {
        let Some(row) = self.table.get_mut(group.index()).and_then(Option::as_deref_mut) else { return };
        let mcc = row.emit(cx.now(), &self.params);
        cx.event("mcc", f64::from(group.0));
        cx.report(group, mcc.encode());
    }

    fn find_due(&mut self) {
        let rows = self.table.iter().flatten();
        self.next_message = rows.map(|row| row.next_message()).min().unwrap_or(Time::NEVER);
    }
}

impl RouterAlgorithm for Router {
    #[inline]
    fn on_arrival(&mut self, packet: &Packet, at: &mut TransitCx<'_>) {
        match packet.header {
            // the number of a group is that of its flow, whatever the addresses of its packets
            Header::Stream(_) => {
                if let Some(header) = DataHeader::decode(packet.label) {
                    *slot(&mut self.headers, packet.flow.index()) = Some(header);
                    self.flows.watch(at.port);
                }
                self.flows.saw_stream(packet, at);
            }
            Header::Tcp(_) | Header::Datagram { .. } | Header::External(_) => {
                self.flows.saw_unicast(packet, at)
            }
            // named data does not pass routers of a name-based multicast network
            Header::Feedback
            | Header::StreamControl(_)
            | Header::Player { .. }
            | Header::Request { .. }
            | Header::Signal(_)
            | Header::Interest(_)
            | Header::Data(_)
            | Header::Nack(_)
            | Header::Control(_) => {}
        }
    }

    #[inline]
    fn on_enqueue(&mut self, _packet: &mut Packet, port: &PortView, _at: &mut TransitCx<'_>) {
        if self.params.sampling == Sampling::Enqueue {
            self.queues.sample(port);
        }
    }

    fn on_report(&mut self, report: &Report<'_>, cx: &mut RouterCx<'_, '_, '_>) {
        let (now, group, entry) = (cx.now(), report.group, report.entry);
        if let Some(incoming) = entry.incoming {
            self.flows.watch(incoming);
        }
        let header = self.headers.get(group.index()).copied().flatten();
        let ahead = |mcc: &Mcc| header.is_some_and(|header| rounds_between(header.round, mcc.round) > 0);
        let known = entry.has(report.from);
        let Some(mcc) = Mcc::decode(report.label).filter(|mcc| known && !ahead(mcc)) else {
            return cx.count(Count::Ignored, 1);
        };
        // the shorter cycle: a child that has learnt of a longer one measured the current one by the one before
        let cycle = header.map_or(mcc.t_adapt, |header| header.t_adapt.min(mcc.t_adapt));
        let row = slot(&mut self.table, group.index()).get_or_insert_default();
        if !row.takes(mcc.round, header.map(|header| header.round), self.params.stale) {
            return cx.count(Count::Ignored, 1);
        }
        row.keep_children(&entry);
        row.add(report.from, &mcc, cycle, now, &self.params);

        if self.params.sampling == Sampling::Mcc {
            entry.branches.iter().for_each(|branch| self.queues.sample(&cx.port(branch.port)));
        }
        if row.wants_own() {
            let own = measure(&mut self.queues, &self.flows, report, cx);
            row.measured(own, self.params.occupancy);
        }
        if row.next_message() <= now {
            self.emit(group, cx);
        }
        self.find_due();
    }

    fn on_timer(&mut self, cx: &mut RouterCx<'_, '_, '_>) {
        if self.next_message > cx.now() {
            return;
        }
        for group in 0..self.table.len() {
            if self.table[group].as_ref().is_some_and(|row| row.next_message() <= cx.now()) {
                self.emit(GroupId(group as u32), cx);
            }
        }
        self.find_due();
    }

    #[inline]
    fn wake(&self) -> Time {
        self.next_message
    }
}

/// The measurements of a node for a group: maximum and minimum occupancy towards its children, and the fair share of
/// the incoming link.
fn measure(queues: &mut Queues, flows: &Flows, report: &Report<'_>, cx: &mut RouterCx<'_, '_, '_>) -> Own {
    let mut own = Own { max: 0.0, min: 1.0, fair: Rate::UNLIMITED };
    for Branch { port, .. } in report.entry.branches {
        let (max, min) = queues.occupancy(&cx.port(*port), report.group);
        (own.max, own.min) = (own.max.max(max), own.min.min(min));
    }
    cx.probe("occupancy", own.max);
    let Some(incoming) = report.entry.incoming else { return own };
    let capacity = cx.port(incoming).rate_in;
    // F = C_i / N_i(t)                                                                [SRMCC §3.2]
    let n = flows.count(incoming, report.neighbours, cx.now()).max(1);
    cx.probe("flows_seen", n as f64);
    if capacity != Rate::UNLIMITED {
        own.fair = Rate::from_bps((capacity.as_bps() / n).max(1));
        cx.probe("fair_rate", own.fair.as_bps_f64());
    }
    own
}

/// The element `index` of a table, which grows if necessary.
fn slot<T: Default>(table: &mut Vec<T>, index: usize) -> &mut T {
    if table.len() <= index {
        table.resize_with(index + 1, T::default);
    }
    &mut table[index]
}
