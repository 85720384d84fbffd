//! Discrete-event simulator: an event loop over links, queues, routes, endpoints and the state machines of nodes, in
//! virtual time.
//!
//! A [`World`] is built from a [`Blueprint`] and leaves a [`Trace`]; it also runs emulations, driven by a real clock.

mod accounts;
mod agenda;
mod blueprint;
mod build;
mod delays;
mod fabric;
mod hosts;
mod packet_log;
mod rate_trace;
mod trace;
mod world;

pub use blueprint::{
    AppSpec, Blueprint, Cast, Change, Churn, ClockSpec, Emulation, Encoder, Ends, Factory, FlowEmulation,
    FlowKind, FlowSpec, GilbertElliott, IcnSpec, Impair, Jitter, Limit, LinkSpec, MakeEnds, Metric,
    NameRoute, NdnSpec, PortSpec, ProducerSpec, QueueSpec, ReceiverSpec, Record, Reorder, RouteSpec, SdnSpec,
    Shared, StackSpec, TokenBucket,
};
pub use delays::Delays;
pub use hosts::MANY_RECEIVERS;
pub use packet_log::{
    ActivityRow, ActivitySubject, EndpointRole, EndpointRow, HopRow, MeterRow, PacketEnd, PacketLog,
    PacketRow,
};
pub use rate_trace::{OPPORTUNITY_BYTES, RateTrace};
pub use trace::{
    AppRecord, Arrivals, Balance, CONNECTION_LOST, DROP_EVENTS, EventRecord, FlowRecord, MAX_PACKETS,
    NodeRecord, NodeRole, PacketRecord, PortRecord, ReceiverRecord, SERIES, SeriesRecord, Subject,
    TREE_EVENTS, Trace,
};
pub use world::{Control, ExternalPayloads, Observers, Tap, World};
