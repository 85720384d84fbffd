//! The record of every packet of a run, as Parquet files that are written while the run proceeds.
//! `docs/reference/packet-record.md` defines them.

use std::fs::{self, File};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::{Arc, OnceLock};

use arrow_array::builder::{BooleanBuilder, Int64Builder, StringBuilder, UInt32Builder, UInt64Builder};
use arrow_array::{ArrayRef, RecordBatch};
use arrow_schema::{DataType, Field, Schema, SchemaRef};
use contract::{Header, Packet};
use lab::{Plan, Written};
use parquet::arrow::ArrowWriter;
use parquet::basic::{Compression, ZstdLevel};
use parquet::errors::ParquetError;
use parquet::file::properties::{EnabledStatistics, WriterProperties};
use serde_json::{Value, json};
use sim::{
    ActivityRow, ActivitySubject, Blueprint, Cast, EndpointRole, EndpointRow, FlowKind, FlowSpec, HopRow,
    MeterRow, NodeRole, PacketEnd, PacketLog, PacketRow, Subject, Trace,
};
use stack::app;
use stack::tcp::Demand;
use units::{Bytes, Time};

use crate::Error;

/// The format of the files, in `record.json`.
const FORMAT: u32 = 1;

/// Rows that are written together: the memory of a record.
const BATCH: usize = 1 << 15;
/// Rows of a row group.
const GROUP: usize = 1 << 18;

/// Begins the files of a record in `folder`, which is made if it does not exist. The first goes into a run; after the
/// run, the second completes them.
pub fn record(plan: &Plan, folder: &Path) -> Result<(Box<dyn PacketLog>, Record), Error> {
    fs::create_dir_all(folder).map_err(|source| Error::File { path: folder.to_owned(), source })?;
    let record = Record { folder: folder.to_owned(), written: Written::default(), endpoints: Arc::default() };
    let open = |name, columns| Rows::create(folder, name, columns, record.written.clone());
    let files = Files {
        packets: open("packets", PACKETS)?,
        hops: open("hops", HOPS)?,
        meters: open("meters", METERS)?,
        activity: open("activity", ACTIVITY)?,
        headers: plan.blueprint.flows.iter().map(Payload::of).collect(),
        endpoints: record.endpoints.clone(),
    };
    Ok((Box::new(files), record))
}

/// A record whose run proceeds or has ended.
pub struct Record {
    folder: PathBuf,
    written: Written,
    endpoints: Arc<OnceLock<Vec<EndpointRow>>>,
}

impl Record {
    /// Completes the record of a run that has ended. Fails if any of its rows could not be written.
    pub fn finish(self, plan: &Plan, trace: &Trace) -> Result<(), Error> {
        let failed = |path: PathBuf| move |source| Error::File { path, source };
        if let Some(failure) = self.written.failure() {
            return Err(failed(self.folder)(io::Error::other(failure.to_owned())));
        }
        let mut exchanges = Rows::create(&self.folder, "exchanges", EXCHANGES, self.written.clone())?;
        for (app, record) in (0u32..).zip(&trace.apps) {
            for (number, one) in (1u32..).zip(&record.exchanges) {
                let completed = (one.completed_at < Time::NEVER).then_some(one.completed_at);
                exchanges.push(&[
                    Cell::U32(Some(app)),
                    Cell::U32(Some(number)),
                    nanos(one.started_at),
                    Cell::I64(completed.map(signed)),
                    Cell::U64(Some(one.bytes)),
                    Cell::U32(one.segment.map(|(quality, _)| quality + 1)),
                    Cell::I64(one.segment.map(|(_, level)| level.as_nanos() as i64)),
                    Cell::U32(one.segment.map(|_| one.abandoned)),
                ]);
            }
        }
        drop(exchanges);
        if let Some(failure) = self.written.failure() {
            return Err(failed(self.folder)(io::Error::other(failure.to_owned())));
        }
        let path = self.folder.join("record.json");
        let endpoints = self.endpoints.get().map_or(&[][..], Vec::as_slice);
        fs::write(&path, names(plan, trace, endpoints).to_string()).map_err(failed(path))
    }
}

/// The content of `record.json`.
fn names(plan: &Plan, trace: &Trace, endpoints: &[EndpointRow]) -> Value {
    let blueprint = &plan.blueprint;
    let addresses = endpoints.iter().map(|row| {
        json!({
            "role": role(row.role),
            "node": row.address.node.0,
            "flow": row.flow.map(|flow| flow.0),
        })
    });
    json!({
        "format": FORMAT,
        "thalweg": env!("CARGO_PKG_VERSION"),
        "title": plan.title,
        "seed": blueprint.seed,
        "trace_hash": format!("{:016x}", trace.hash),
        "warmup_ns": signed(trace.warmup),
        "duration_ns": blueprint.duration.as_nanos(),
        "ended_ns": signed(trace.ended_at),
        "nodes": blueprint.nodes.iter().map(|name| name.as_str()).collect::<Vec<_>>(),
        "ports": ports(blueprint),
        "endpoints": addresses.collect::<Vec<_>>(),
        "flows": flows(plan, endpoints),
        "groups": plan.groups.iter().map(|group| {
            json!({"name": group.name, "flows": group.flows.iter().map(|flow| flow.0).collect::<Vec<_>>()})
        }).collect::<Vec<_>>(),
        "apps": apps(blueprint),
    })
}

/// Both directions of each link.
fn ports(blueprint: &Blueprint) -> Vec<Value> {
    let is_control = |ends: (contract::NodeId, contract::NodeId)| {
        let separate = blueprint.sdn.as_ref().filter(|sdn| sdn.out_of_band);
        separate.is_some_and(|sdn| ends.0 == sdn.controller || ends.1 == sdn.controller)
    };
    blueprint
        .links
        .iter()
        .flat_map(|link| {
            [("forward", link.ends), ("backward", (link.ends.1, link.ends.0))].map(
                |(direction, (from, to))| {
                    json!({
                        "link": link.name.as_str(),
                        "direction": direction,
                        "from": from.0,
                        "to": to.0,
                        "control": is_control(link.ends),
                    })
                },
            )
        })
        .collect()
}

/// The flows, with their endpoints.
fn flows(plan: &Plan, endpoints: &[EndpointRow]) -> Vec<Value> {
    let blueprint = &plan.blueprint;
    let mut groups = vec![""; blueprint.flows.len()];
    for group in &plan.groups {
        group.flows.iter().for_each(|flow| groups[flow.index()] = &group.name);
    }
    let mut senders = vec![None; blueprint.flows.len()];
    let mut receivers = vec![Vec::new(); blueprint.flows.len()];
    for row in endpoints {
        match (row.role, row.flow) {
            (EndpointRole::Sender, Some(flow)) => senders[flow.index()] = Some(row.address.endpoint.0),
            (EndpointRole::Receiver, Some(flow)) => receivers[flow.index()].push(row.address.endpoint.0),
            _ => {}
        }
    }
    let app_of =
        |flow: usize| blueprint.apps.iter().position(|app| app.flows.iter().any(|used| used.index() == flow));
    blueprint.flows.iter().enumerate().map(|(index, flow)| {
        let instant = |at: Time| (at < Time::NEVER).then(|| signed(at));
        json!({
            "name": flow.name.as_str(),
            "group": groups[index],
            "scheme": flow.scheme.as_deref(),
            "transport": transport(flow),
            "cast": match flow.cast {
                Cast::Unicast => "unicast",
                Cast::Multicast => "multicast",
                Cast::Named => "named",
            },
            "sender": senders[index],
            "receivers": receivers[index],
            "header_bytes": if let FlowKind::Tcp(config) = &*flow.kind { Some(config.header.as_u64()) } else { None },
            "size_bytes": size(flow).map(Bytes::as_u64),
            "start_ns": instant(flow.start),
            "stop_ns": instant(flow.stop),
            "app": app_of(index),
            "churns": flow.churn.is_some(),
            "encodes": flow.kind.encodes(),
            "plays": matches!(&*flow.kind, FlowKind::Stream(config) if config.player.is_some()),
        })
    }).collect()
}

/// The applications, with their flows.
fn apps(blueprint: &Blueprint) -> Vec<Value> {
    blueprint
        .apps
        .iter()
        .map(|app| {
            let flow = app.flows.first().map(|flow| &blueprint.flows[flow.index()]);
            json!({
                "name": app.name,
                "kind": match app.config {
                    app::Config::Rounds(_) => "requests",
                    app::Config::Page(_) => "page",
                    app::Config::Player(_) => "player",
                },
                "node": flow.and_then(|flow| flow.to.first()).map(|to| to.node.0),
                "flows": app.flows.iter().map(|flow| flow.0).collect::<Vec<_>>(),
            })
        })
        .collect()
}

/// What carries a flow.
fn transport(flow: &FlowSpec) -> &str {
    match &*flow.kind {
        FlowKind::Tcp(_) => "tcp",
        FlowKind::Stream(_) => "stream",
        FlowKind::Datagram(_) => "datagram",
        FlowKind::Ndn(_) => "ndn",
        FlowKind::Stack(stack) => &stack.name,
    }
}

/// The payload of a finite transfer.
fn size(flow: &FlowSpec) -> Option<Bytes> {
    let size = match &*flow.kind {
        FlowKind::Tcp(config) => match config.demand {
            Demand::Finite(size) => size,
            Demand::Bulk | Demand::Limited(_) => return None,
        },
        FlowKind::Ndn(config) => config.size,
        FlowKind::Stack(stack) if stack.encoder.is_none() && stack.size > Bytes::ZERO => stack.size,
        FlowKind::Stream(_) | FlowKind::Datagram(_) | FlowKind::Stack(_) => return None,
    };
    (size < Bytes::UNLIMITED).then_some(size)
}

const fn role(role: EndpointRole) -> &'static str {
    match role {
        EndpointRole::Sender => "sender",
        EndpointRole::Receiver => "receiver",
        EndpointRole::Producer => "producer",
        EndpointRole::Node(NodeRole::Router) => "router",
        EndpointRole::Node(NodeRole::Resolver) => "resolver",
        EndpointRole::Node(NodeRole::Forwarder) => "forwarder",
        EndpointRole::Node(NodeRole::Switch) => "switch",
        EndpointRole::Node(NodeRole::Controller) => "controller",
    }
}

/// A value of a row.
#[derive(Clone, Copy)]
enum Cell<'a> {
    U64(Option<u64>),
    U32(Option<u32>),
    I64(Option<i64>),
    Text(Option<&'a str>),
    Bool(bool),
}

/// The type of a column.
#[derive(Clone, Copy)]
enum Kind {
    U64,
    U32,
    I64,
    Text,
    Bool,
}

type Columns = &'static [(&'static str, Kind)];

const PACKETS: Columns = &[
    ("packet", Kind::U64),
    ("copy_of", Kind::U64),
    ("flow", Kind::U32),
    ("kind", Kind::Text),
    ("source", Kind::U32),
    ("source_node", Kind::U32),
    ("destination", Kind::U32),
    ("size_bytes", Kind::U32),
    ("payload_bytes", Kind::U32),
    ("number", Kind::U64),
    ("ack", Kind::U64),
    ("syn", Kind::Bool),
    ("fin", Kind::Bool),
    ("created_ns", Kind::I64),
    ("sent_ns", Kind::I64),
    ("ended_ns", Kind::I64),
    ("end", Kind::Text),
    ("taken_by", Kind::U32),
    ("drop_reason", Kind::Text),
    ("drop_port", Kind::U32),
    ("drop_node", Kind::U32),
    ("marked", Kind::Bool),
];

const HOPS: Columns = &[
    ("packet", Kind::U64),
    ("port", Kind::U32),
    ("offered_ns", Kind::I64),
    ("started_ns", Kind::I64),
    ("departed_ns", Kind::I64),
    ("arrived_ns", Kind::I64),
    ("dropped_ns", Kind::I64),
    ("drop_reason", Kind::Text),
    ("marked_ns", Kind::I64),
];

const METERS: Columns = &[
    ("time_ns", Kind::I64),
    ("endpoint", Kind::U32),
    ("counter", Kind::Text),
    ("change", Kind::I64),
    ("samples", Kind::U32),
];

const ACTIVITY: Columns = &[
    ("time_ns", Kind::I64),
    ("endpoint", Kind::U32),
    ("port", Kind::U32),
    ("event", Kind::Text),
    ("value", Kind::I64),
];

const EXCHANGES: Columns = &[
    ("app", Kind::U32),
    ("number", Kind::U32),
    ("started_ns", Kind::I64),
    ("completed_ns", Kind::I64),
    ("bytes", Kind::U64),
    ("quality", Kind::U32),
    ("buffer_ns", Kind::I64),
    ("abandoned", Kind::U32),
];

/// A column while its rows come.
enum Builder {
    U64(UInt64Builder),
    U32(UInt32Builder),
    I64(Int64Builder),
    Text(StringBuilder),
    Bool(BooleanBuilder),
}

impl Builder {
    fn new(kind: Kind) -> Self {
        match kind {
            Kind::U64 => Self::U64(UInt64Builder::with_capacity(BATCH)),
            Kind::U32 => Self::U32(UInt32Builder::with_capacity(BATCH)),
            Kind::I64 => Self::I64(Int64Builder::with_capacity(BATCH)),
            Kind::Text => Self::Text(StringBuilder::with_capacity(BATCH, 8 * BATCH)),
            Kind::Bool => Self::Bool(BooleanBuilder::with_capacity(BATCH)),
        }
    }

    /// Appends a cell, which is of the column's type.
    fn push(&mut self, cell: Cell<'_>) {
        match (self, cell) {
            (Self::U64(column), Cell::U64(value)) => column.append_option(value),
            (Self::U32(column), Cell::U32(value)) => column.append_option(value),
            (Self::I64(column), Cell::I64(value)) => column.append_option(value),
            (Self::Text(column), Cell::Text(value)) => column.append_option(value),
            (Self::Bool(column), Cell::Bool(value)) => column.append_value(value),
            _ => unreachable!("rows have the cells of their columns"),
        }
    }

    /// The cells so far; the column is empty afterwards.
    fn take(&mut self) -> ArrayRef {
        match self {
            Self::U64(column) => Arc::new(column.finish()),
            Self::U32(column) => Arc::new(column.finish()),
            Self::I64(column) => Arc::new(column.finish()),
            Self::Text(column) => Arc::new(column.finish()),
            Self::Bool(column) => Arc::new(column.finish()),
        }
    }
}

/// A file of rows, which gets its name when it is complete: when this is dropped.
struct Rows {
    path: PathBuf,
    schema: SchemaRef,
    columns: Vec<Builder>,
    rows: usize,
    /// `None` after a failure.
    writer: Option<ArrowWriter<File>>,
    written: Written,
}

impl Rows {
    fn create(folder: &Path, name: &str, columns: Columns, written: Written) -> Result<Self, Error> {
        let path = folder.join(format!("{name}.parquet"));
        let fields = columns.iter().map(|(name, kind)| match kind {
            Kind::U64 => Field::new(*name, DataType::UInt64, true),
            Kind::U32 => Field::new(*name, DataType::UInt32, true),
            Kind::I64 => Field::new(*name, DataType::Int64, true),
            Kind::Text => Field::new(*name, DataType::Utf8, true),
            Kind::Bool => Field::new(*name, DataType::Boolean, false),
        });
        let schema = Arc::new(Schema::new(fields.collect::<Vec<_>>()));
        let part = part(&path);
        let file = File::create(&part).map_err(|source| Error::File { path: part, source })?;
        // a run waits for its record: instants and numbers are hardly ever there twice, and nobody searches for a range
        // of them
        let settings = WriterProperties::builder()
            .set_compression(Compression::ZSTD(ZstdLevel::default()))
            .set_created_by(concat!("thalweg ", env!("CARGO_PKG_VERSION")).to_owned())
            .set_max_row_group_row_count(Some(GROUP))
            .set_dictionary_enabled(false)
            .set_statistics_enabled(EnabledStatistics::None);
        let words = columns.iter().filter(|(_, kind)| matches!(kind, Kind::Text));
        let settings = words.fold(settings, |settings, (name, _)| {
            settings.set_column_dictionary_enabled((*name).into(), true)
        });
        let writer = ArrowWriter::try_new(file, schema.clone(), Some(settings.build()))
            .map_err(|source| Error::Parquet { path: path.clone(), source })?;
        let columns = columns.iter().map(|(_, kind)| Builder::new(*kind)).collect();
        Ok(Self { path, schema, columns, rows: 0, writer: Some(writer), written })
    }

    fn push(&mut self, row: &[Cell<'_>]) {
        debug_assert_eq!(row.len(), self.columns.len(), "a row has a cell for each column");
        self.columns.iter_mut().zip(row).for_each(|(column, cell)| column.push(*cell));
        self.rows += 1;
        if self.rows == BATCH {
            self.write();
        }
    }

    /// Writes the rows so far.
    fn write(&mut self) {
        self.rows = 0;
        let columns = self.columns.iter_mut().map(Builder::take).collect();
        let Some(writer) = &mut self.writer else { return };
        let batch = RecordBatch::try_new(self.schema.clone(), columns).map_err(ParquetError::from);
        if let Err(error) = batch.and_then(|batch| writer.write(&batch)) {
            self.fail(io::Error::other(error));
        }
    }

    fn fail(&mut self, error: io::Error) {
        self.writer = None;
        self.written.note(Err(io::Error::other(format!("{}: {error}", self.path.display()))));
    }
}

impl Drop for Rows {
    fn drop(&mut self) {
        self.write();
        if let Some(writer) = self.writer.take() {
            let closed = writer.close().map_err(io::Error::other);
            if let Err(error) = closed.and_then(|_| fs::rename(part(&self.path), &self.path)) {
                self.fail(error);
            }
        }
    }
}

/// The name of a file that is not complete.
fn part(path: &Path) -> PathBuf {
    path.with_extension("parquet.part")
}

/// How much of a flow's packets is payload.
#[derive(Clone, Copy)]
enum Payload {
    /// All but this many bytes.
    Without(u32),
    /// What the packet itself says, or nothing.
    OfPacket,
}

impl Payload {
    fn of(flow: &FlowSpec) -> Self {
        match &*flow.kind {
            FlowKind::Tcp(config) => Self::Without(config.header.as_u64() as u32),
            FlowKind::Stream(_) | FlowKind::Datagram(_) => Self::Without(0),
            FlowKind::Ndn(_) | FlowKind::Stack(_) => Self::OfPacket,
        }
    }

    fn bytes(self, packet: &Packet) -> Option<u32> {
        match (packet.header, self) {
            (Header::Tcp(_) | Header::Stream(_) | Header::Datagram { .. }, Self::Without(header)) => {
                Some(packet.size_bytes.saturating_sub(header))
            }
            (Header::Data(data), _) => Some(data.payload_bytes),
            _ => None,
        }
    }
}

/// The files of a record.
struct Files {
    packets: Rows,
    hops: Rows,
    meters: Rows,
    activity: Rows,
    /// By flow.
    headers: Vec<Payload>,
    endpoints: Arc<OnceLock<Vec<EndpointRow>>>,
}

fn signed(at: Time) -> i64 {
    i64::try_from(at.as_nanos()).unwrap_or(i64::MAX)
}

fn nanos<'a>(at: Time) -> Cell<'a> {
    Cell::I64(Some(signed(at)))
}

fn nanos_of<'a>(at: Option<Time>) -> Cell<'a> {
    Cell::I64(at.map(signed))
}

impl PacketLog for Files {
    fn begin(&mut self, endpoints: &[EndpointRow]) {
        // it is called once
        let _ = self.endpoints.set(endpoints.to_vec());
    }

    fn packet(&mut self, row: &PacketRow) {
        let packet = &row.packet;
        let flow = packet.flow.index();
        let header = self.headers.get(flow).copied();
        let (number, ack, flags) = match packet.header {
            Header::Tcp(header) => (Some(header.seq), Some(header.ack), Some(header.flags)),
            Header::Datagram { seq } => (Some(seq), None, None),
            Header::Stream(header) | Header::StreamControl(header) => (Some(header.seq), None, None),
            Header::Request { total, .. } => (Some(total), None, None),
            Header::Interest(interest) => (Some(interest.name.key()), None, None),
            Header::Data(data) => (Some(data.name.key()), None, None),
            Header::Nack(nack) => (Some(nack.name.key()), None, None),
            Header::Feedback
            | Header::Player { .. }
            | Header::Signal(_)
            | Header::Control(_)
            | Header::External(_) => (None, None, None),
        };
        let destination = packet.to.is_address().then(|| packet.to.endpoint()).flatten();
        let (end, taken_by, dropped) = match row.end {
            PacketEnd::Delivered(endpoint) => ("delivered", Some(endpoint.0), None),
            PacketEnd::Dropped(why, place) => ("dropped", None, Some((why, place))),
            PacketEnd::InFlight => ("in_flight", None, None),
        };
        let (drop_port, drop_node) = match dropped {
            Some((_, Subject::Port(port))) => (Some(port.0), None),
            Some((_, Subject::Node(node))) => (None, Some(node.0)),
            _ => (None, None),
        };
        self.packets.push(&[
            Cell::U64(Some(row.number)),
            Cell::U64(row.copy_of),
            Cell::U32(header.map(|_| packet.flow.0)),
            Cell::Text(Some(packet.header.name())),
            Cell::U32(Some(packet.source.endpoint.0)),
            Cell::U32(Some(packet.source.node.0)),
            Cell::U32(destination.map(|endpoint| endpoint.0)),
            Cell::U32(Some(packet.size_bytes)),
            Cell::U32(header.and_then(|payload| payload.bytes(packet))),
            Cell::U64(number),
            Cell::U64(ack),
            Cell::Bool(flags.is_some_and(|flags| flags.syn)),
            Cell::Bool(flags.is_some_and(|flags| flags.fin)),
            nanos(row.created_at),
            nanos(row.sent_at),
            nanos_of(row.ended_at),
            Cell::Text(Some(end)),
            Cell::U32(taken_by),
            Cell::Text(dropped.map(|(why, _)| why.name())),
            Cell::U32(drop_port),
            Cell::U32(drop_node),
            Cell::Bool(packet.ecn == contract::Ecn::Marked),
        ]);
    }

    fn hop(&mut self, row: &HopRow) {
        self.hops.push(&[
            Cell::U64(Some(row.packet)),
            Cell::U32(Some(row.port.0)),
            nanos_of(row.offered_at),
            nanos_of(row.started_at),
            nanos_of(row.departed_at),
            nanos_of(row.arrived_at),
            nanos_of(row.dropped.map(|(at, _)| at)),
            Cell::Text(row.dropped.map(|(_, why)| why.name())),
            nanos_of(row.marked_at),
        ]);
    }

    fn meter(&mut self, row: &MeterRow) {
        self.meters.push(&[
            nanos(row.at),
            Cell::U32(Some(row.endpoint.0)),
            Cell::Text(Some(row.counter)),
            Cell::I64(Some(row.change)),
            Cell::U32(row.samples),
        ]);
    }

    fn activity(&mut self, row: &ActivityRow) {
        let (endpoint, port) = match row.subject {
            ActivitySubject::Endpoint(endpoint) => (Some(endpoint.0), None),
            ActivitySubject::Port(port) => (None, Some(port.0)),
        };
        self.activity.push(&[
            nanos(row.at),
            Cell::U32(endpoint),
            Cell::U32(port),
            Cell::Text(Some(row.event)),
            Cell::I64(row.value),
        ]);
    }
}
